// Takes a signature into the memory, and says how much of it is there.
//
// It has to be as long as one of SLH-DSA-SHA2-128s. One that ends early or goes on is dropped up to its end, and named.

`include "assert.svh"

module slh_dsa_ingest
  import slh_dsa_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       clear_i,  // drops the signature
  input  logic       start_i,  // a new one
  output logic       error_o,  // until reset

  input  logic       word_valid_i,
  output logic       word_ready_o,
  input  logic       word_last_i,
  input  logic [3:0] word_bytes_i,

  output logic       write_o,  // the word belongs into the memory
  output half_t      write_at_o,

  output half_t      filled_o,    // halves that are there
  output logic       ended_o,     // the last word came
  output logic       is_short_o,  // too early
  output logic       is_long_o    // bytes follow the signature
);
  // A [6,3,3] code, as in `sha2_control`.
  typedef enum logic [5:0] {
    StIdle  = 6'b001011,
    StTake  = 6'b010101,
    StError = 6'b110011
  } state_e;
  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;

  logic in_idle, in_take, moves, is_full, is_whole;
  assign in_idle      = state_q == StIdle;
  assign in_take      = state_q == StTake;
  assign error_o      = ~(in_idle | in_take);
  assign word_ready_o = in_take;
  assign moves        = word_valid_i & in_take;
  assign is_full      = filled_o == SignatureHalves;
  assign is_whole     = word_bytes_i == 4'd8;
  // A part of a word completes nothing: its half would be what the memory had before.
  assign write_o      = moves & ~is_full & is_whole;
  assign write_at_o   = filled_o;

  // Words are taken from a start to the last one.
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

  // What is there, and how it ended.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= StIdle;
      filled_o   <= '0;
      ended_o    <= 1'b0;
      is_short_o <= 1'b0;
      is_long_o  <= 1'b0;
    end else begin
      state_q <= state_d;
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
          // The last word may have no byte.
          is_short_o <= ~is_full & ~(is_whole & (filled_o == SignatureHalves - 10'd1));
        end
      end
    end
  end

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Halves past the last one would be written over the key.
  `ASSERT(NoMoreHalvesThanASignatureHas_A, write_o |-> write_at_o < SignatureHalves)
  `ASSERT(OnlyWholeWordsAreWritten_A, write_o |-> word_bytes_i == 4'd8)
  `ASSERT(AnEndIsOfOneKind_A, !(is_short_o && is_long_o))
  `ASSERT(ACompleteSignatureIsFull_A, $rose(ended_o) && !is_short_o |-> filled_o == SignatureHalves)
  `ASSERT(NothingIsTakenWhileIdle_A, in_idle |-> !word_ready_o)
endmodule
