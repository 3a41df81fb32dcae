// Between the DMA engine and the hash engine: joins lists to one message. A list of the DMA engine ends its message; while
// `hold_i` is set the end of a list is not passed on, so that the next list continues the message. The message of a payload
// can so be hashed in parts, while storage still delivers the rest.
//
// Every list but the last has to be whole words: a hash takes less than a word only at its end. Any other list in front of
// another one ends the message without a digest.

`include "assert.svh"

module tee_stream #(
  // 0 builds a variant that passes a part of a word in the middle of a message, to show that the test detects it.
  parameter bit RefusesParts = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Stable while a list is carried out.
  input  logic        hold_i,

  // From the DMA engine.
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_data_i,
  input  logic        in_last_i,
  input  logic [3:0]  in_bytes_i,
  input  logic        in_abort_i,

  // To the hash engine.
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_data_o,
  output logic        out_last_o,
  output logic [3:0]  out_bytes_o,
  output logic        out_abort_o
);
  localparam logic [3:0] WordBytes = 4'd8;

  // A list that ends in the middle of the message, and what its last word has.
  logic ends_inside, is_empty, is_part, part_q;
  assign ends_inside = in_valid_i & in_last_i & hold_i;
  assign is_empty    = in_bytes_i == '0;
  assign is_part     = ends_inside & RefusesParts & ~is_empty & (in_bytes_i != WordBytes);

  // An empty word has no place in the middle of a message: it is taken here. So is a part of a word, which the hash engine
  // would take for a whole one.
  assign out_valid_o = in_valid_i & ~(ends_inside & is_empty) & ~is_part;
  assign in_ready_o  = out_ready_i | (ends_inside & is_empty) | is_part;
  assign out_last_o  = in_last_i & ~hold_i;
  assign out_data_o  = in_data_i;
  assign out_bytes_o = in_bytes_i;

  // The hash engine forgets the message in the cycle after a part was taken.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) part_q <= 1'b0;
    else         part_q <= is_part;
  end
  assign out_abort_o = in_abort_i | part_q;

  `ASSERT(NoEndWhileHeld_A, out_valid_o && hold_i |-> !out_last_o)
  `ASSERT(WordsInsideAreWhole_A, out_valid_o && in_last_i && hold_i |-> out_bytes_o == WordBytes)
  `ASSERT(APartEndsTheMessage_A, ends_inside && !is_empty && in_bytes_i != WordBytes |=> out_abort_o)
  `ASSERT(AnAbortPasses_A, in_abort_i |-> out_abort_o)
  `ASSERT(NothingIsTakenUnseen_A, in_valid_i && in_ready_o |-> (out_valid_o && out_ready_i) || ends_inside)
  `ASSERT(NothingIsMade_A, out_valid_o |-> in_valid_i)
endmodule
