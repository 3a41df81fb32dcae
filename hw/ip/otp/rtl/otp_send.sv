// Sends the device secret or a key to a key slot of an engine, word by word, past every core.
//
// When its field is closed meanwhile, nothing more of it leaves, and the receiver is told to forget what it has.

`include "assert.svh"

module otp_send
  import otp_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_i,      // while idle
  input  row_t                first_row_i,  // of eight
  input  logic                closed_i,     // the field of `row_o` is
  output logic                idle_o,
  output logic                error_o,  // an illegal state; until reset

  // Reads of the shadow: data in the cycle after a grant.
  output logic                read_o,  // stays until its grant
  output row_t                row_o,
  input  logic                grant_i,
  input  logic [DataBits-1:0] data_i,

  // To the engines.
  output logic                key_valid_o,  // stays until it is taken, or the field is closed
  input  logic                key_ready_i,
  output logic [DataBits-1:0] key_data_o,
  output logic [2:0]          key_word_o,
  output logic                key_abort_o  // forget what came of this key
);
  // Any two differ in four bits.
  typedef enum logic [7:0] {
    StIdle  = 8'he1,
    StRead  = 8'hd2,
    StTake  = 8'h33,
    StOffer = 8'hb4,
    StError = 8'h55
  } state_e;

  // The attribute keeps the encoding.
  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;
  row_t row_not_q;          // its complement: another key is not sent in place of this one
  row_t row_d, row_q;  // of the word that is sent
  logic [DataBits-1:0] data_d, data_q;
  logic in_idle, in_read, in_take, in_offer, is_error;

  assign in_idle  = state_q == StIdle;
  assign in_read  = state_q == StRead;
  assign in_take  = state_q == StTake;
  assign in_offer = state_q == StOffer;
  assign is_error = Hardened ? ~(in_idle | in_read | in_take | in_offer) | (row_q != ~row_not_q) : state_q == StError;

  // Eight words, each until it is taken.
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

  // The word is cleared when it was taken.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      row_q     <= '0;
      row_not_q <= '1;
      data_q  <= '0;
    end else begin
      state_q <= state_d;
      row_q     <= row_d;
      row_not_q <= ~row_d;
      data_q  <= data_d;
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

  `ASSERT(NothingOfAClosedField_A, closed_i |-> !key_valid_o && key_data_o == '0)
  `ASSERT(AWordStays_A, key_valid_o && !key_ready_i |=> key_abort_o || (key_valid_o && $stable({key_data_o, key_word_o})))
  `ASSERT(ATakenWordIsCleared_A, key_valid_o && key_ready_i |=> key_data_o == '0)
  `ASSERT(ErrorIsTheEnd_A, is_error |=> is_error)
endmodule
