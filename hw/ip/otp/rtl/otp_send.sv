// Sends the device secret or a key to the key slot of an engine, word by word. No core sees the
// words.
//
// Interface: `start_i` is a strobe while `idle_o` is set. Reads of the shadow stay until their
// grant, and bring data one cycle later. Words to the engine have valid and ready, and stay until
// they are taken. A word takes three cycles if nobody waits, so a key of eight words takes 24. When
// its field is closed meanwhile, nothing more of it leaves, and `key_abort_o` tells the receiver to
// forget what it has. Reset clears the word and leads to `StIdle`.
//
// Hardening: any two codes of the state differ in four bits, and the row has a complement; a
// difference is an error until reset. The word itself is not redundant.

`include "assert.svh"

module otp_send
  import otp_pkg::*;
#(
  // 0 builds a variant that continues from an illegal state, to show that the tests detect it.
  parameter bit Hardened = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // Starts a transfer of eight rows. It is a strobe while the block is idle.
  input  logic                start_i,
  input  row_t                first_row_i,
  // The field of `row_o` may not be read now.
  input  logic                closed_i,
  output logic                idle_o,
  // The block is in an illegal state, until reset.
  output logic                error_o,

  // Reads of the shadow. A request stays until its grant, and data come in the cycle after.
  output logic                read_o,
  output row_t                row_o,
  input  logic                grant_i,
  input  logic [DataBits-1:0] data_i,

  // Words to the engines. A word stays until it is taken, or until the field is closed.
  output logic                key_valid_o,
  input  logic                key_ready_i,
  output logic [DataBits-1:0] key_data_o,
  output logic [2:0]          key_word_o,
  // The receiver has to forget all words of this key.
  output logic                key_abort_o
);
  // States; any two codes differ in four bits.
  typedef enum logic [7:0] {
    // Waits for a start.
    StIdle  = 8'he1,
    // Asks for a word of the shadow, until the grant.
    StRead  = 8'hd2,
    // Takes the word for one cycle.
    StTake  = 8'h33,
    // Offers the word until the engine takes it. The eighth word leads to `StIdle`.
    StOffer = 8'hb4,
    // The block was upset. Only a reset ends this state.
    StError = 8'h55
  } state_e;

  // The register keeps these codes: synthesis would choose some that are one bit apart.
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(4)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  // The row of the word that is sent, and its complement: an upset of the row would send another
  // key.
  row_t row_d, row_q;
  logic is_astray;
  shadow_register #(.Width($bits(row_t))) u_row (
    .clk_i, .rst_ni, .write_i(1'b1), .d_i(row_d), .q_o(row_q), .differs_o(is_astray)
  );
  logic [DataBits-1:0] data_d, data_q;
  logic in_idle, in_read, in_take, in_offer, is_error;

  assign in_idle  = state_q == StIdle;
  assign in_read  = state_q == StRead;
  assign in_take  = state_q == StTake;
  assign in_offer = state_q == StOffer;
  assign is_error = Hardened ? ~(in_idle | in_read | in_take | in_offer) | is_astray : state_q == StError;

  // Reads and offers eight words, one after the other. A closed field ends the transfer, and an
  // error has priority over everything.
  always_comb begin
    state_d = state_q;
    row_d   = row_q;
    data_d  = in_offer & ~key_ready_i ? data_q : '0;
    unique case (state_q)
      StIdle: if (start_i) begin
        state_d = StRead;
        row_d   = first_row_i;
      end
      StRead:  if (grant_i) state_d = StTake;
      StTake: begin
        state_d = StOffer;
        data_d  = data_i;
      end
      StOffer: if (key_ready_i) begin
        state_d = (row_q[2:0] == 3'd7) ? StIdle : StRead;
        row_d   = row_q + 1'b1;
      end
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (closed_i & ~in_idle) begin
      state_d = StIdle;
      data_d  = '0;
    end
    if (is_error) state_d = StError;
  end

  // The word is cleared as soon as it was taken.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_q <= '0;
    end else begin
      data_q <= data_d;
    end
  end

  assign idle_o      = in_idle;
  assign error_o     = is_error;
  assign read_o      = in_read & ~closed_i;
  assign row_o       = row_q;
  assign key_valid_o = in_offer & ~closed_i;
  assign key_data_o  = closed_i ? '0 : data_q;
  assign key_word_o  = row_q[2:0];
  assign key_abort_o = (closed_i & ~in_idle) | is_error;

  // A closed field shows nothing at the port to the engines, in the same cycle.
  `ASSERT(NothingOfAClosedField_A, closed_i |-> !key_valid_o && key_data_o == '0)
  // An offered word does not change until it is taken, as valid and ready demand, unless the
  // transfer is aborted.
  `ASSERT(AWordStays_A, key_valid_o && !key_ready_i |=> key_abort_o || (key_valid_o && $stable({key_data_o, key_word_o})))
  // A word does not stay in the register after it was taken.
  `ASSERT(ATakenWordIsCleared_A, key_valid_o && key_ready_i |=> key_data_o == '0)
  // An error lasts until reset.
  `ASSERT(ErrorIsTheEnd_A, is_error |=> is_error)
endmodule
