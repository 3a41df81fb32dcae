// Takes a signature into the memory, and reports how much of it is there.
//
// The signature has to have the length of SLH-DSA-SHA2-128s. A signature that ends early or is too
// long is dropped up to its end and reported. A word is taken in each cycle in which one is
// offered. Reset and `clear_i` drop the signature.
//
// Hardening: any two states differ in three bits, and every other code is `error_o` until reset.

`include "assert.svh"

module slh_dsa_ingest
  import slh_dsa_pkg::*;
#(
  // 0 builds a block that continues from an illegal state, to show that the test detects it.
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // Drops the signature.
  input  logic       clear_i,
  // A new signature begins.
  input  logic       start_i,
  // The state does not exist. This lasts until reset.
  output logic       error_o,

  // Words of eight bytes; the last one has none to eight.
  input  logic       word_valid_i,
  output logic       word_ready_o,
  input  logic       word_last_i,
  input  logic [3:0] word_bytes_i,

  // The word belongs into the memory, at this half.
  output logic       write_o,
  output half_t      write_at_o,

  // Number of halves that are there.
  output half_t      filled_o,
  // The last word came. The signature was too short, or bytes follow it.
  output logic       ended_o,
  output logic       is_short_o,
  output logic       is_long_o
);
  // A [6,3,3] code, as in `sha2_control`: any two states differ in at least three bits.
  typedef enum logic [5:0] {
    // Waits for a start.
    StIdle  = 6'b001011,
    // Takes words up to the last one.
    StTake  = 6'b010101,
    // Only a reset ends this state.
    StError = 6'b110011
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_take, moves, is_full, is_whole;
  assign in_idle      = state_q == StIdle;
  assign in_take      = state_q == StTake;
  assign error_o      = ~(in_idle | in_take);
  assign word_ready_o = in_take;
  assign moves        = word_valid_i & in_take;
  assign is_full      = filled_o == SignatureHalves;
  assign is_whole     = word_bytes_i == 4'd8;
  // A part of a word completes no half: the half would be what the memory had before.
  assign write_o      = moves & ~is_full & is_whole;
  assign write_at_o   = filled_o;

  // Words are taken from a start to the last word.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  state_d = StIdle;
      StTake:  if (moves && word_last_i) state_d = StIdle;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (start_i && !error_o) state_d = StTake;
    if (clear_i && !error_o) state_d = StIdle;
  end

  // Halves that are there, and the kind of the end.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filled_o   <= '0;
      ended_o    <= 1'b0;
      is_short_o <= 1'b0;
      is_long_o  <= 1'b0;
    end else begin
      if (start_i || clear_i) begin
        filled_o   <= '0;
        ended_o    <= 1'b0;
        is_short_o <= 1'b0;
        is_long_o  <= 1'b0;
      end else if (moves) begin
        if (write_o) filled_o <= filled_o + 10'd1;
        if (is_full && word_bytes_i != '0) is_long_o <= 1'b1;
        if (word_last_i) begin
          ended_o    <= 1'b1;
          // The last word may have no bytes.
          is_short_o <= ~is_full & ~(is_whole & (filled_o == SignatureHalves - 10'd1));
        end
      end
    end
  end

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Halves past the last one would be written over the key.
  `ASSERT(NoMoreHalvesThanASignatureHas_A, write_o |-> write_at_o < SignatureHalves)
  // A word with missing bytes is never written.
  `ASSERT(OnlyWholeWordsAreWritten_A, write_o |-> word_bytes_i == 4'd8)
  // A signature is too short or too long, and never both.
  `ASSERT(AnEndIsOfOneKind_A, !(is_short_o && is_long_o))
  // A signature without a fault has all its halves.
  `ASSERT(ACompleteSignatureIsFull_A, $rose(ended_o) && !is_short_o |-> filled_o == SignatureHalves)
  // No word of an earlier signature is taken as a part of the next one.
  `ASSERT(NothingIsTakenWhileIdle_A, in_idle |-> !word_ready_o)
endmodule
