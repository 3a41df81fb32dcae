// Joins lists of the DMA engine to one message of the hash engine. The end of a list is the end of
// a message. While `hold_i` is set the end of a list is not passed on, so that the next list
// continues the message. In this way a payload can be hashed in parts, while storage still delivers
// the rest.
//
// Every list but the last one has to have whole words, because a hash takes less than a word only
// at its end. A list with a part of a word in front of another list ends the message without a
// digest.
//
// The stream has valid and ready and passes without a register. Reset forgets an abort that is due.

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

  // A list that ends within the message, and the size of its last word.
  logic ends_inside, is_empty, is_part, part_q;
  assign ends_inside = in_valid_i & in_last_i & hold_i;
  assign is_empty    = in_bytes_i == '0;
  assign is_part     = ends_inside & RefusesParts & ~is_empty & (in_bytes_i != WordBytes);

  // An empty word has no place within a message, so it is taken here. So is a part of a word, which
  // the hash engine would take for a whole one.
  assign out_valid_o = in_valid_i & ~(ends_inside & is_empty) & ~is_part;
  assign in_ready_o  = out_ready_i | (ends_inside & is_empty) | is_part;
  assign out_last_o  = in_last_i & ~hold_i;
  assign out_data_o  = in_data_i;
  assign out_bytes_o = in_bytes_i;

  // The hash engine drops the message in the cycle after a part was taken.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) part_q <= 1'b0;
    else         part_q <= is_part;
  end
  assign out_abort_o = in_abort_i | part_q;

  // The end of a list is never passed on while software holds the message.
  `ASSERT(NoEndWhileHeld_A, out_valid_o && hold_i |-> !out_last_o)
  // Within a message there are only whole words.
  `ASSERT(WordsInsideAreWhole_A, out_valid_o && in_last_i && hold_i |-> out_bytes_o == WordBytes)
  // A part of a word within a message leads to no digest.
  `ASSERT(APartEndsTheMessage_A, ends_inside && !is_empty && in_bytes_i != WordBytes |=> out_abort_o)
  // An abort of the DMA engine reaches the hash engine.
  `ASSERT(AnAbortPasses_A, in_abort_i |-> out_abort_o)
  // A word that the hash engine does not see is one that ends a list.
  `ASSERT(NothingIsTakenUnseen_A, in_valid_i && in_ready_o |-> (out_valid_o && out_ready_i) || ends_inside)
  // No word is offered that the DMA engine has not offered.
  `ASSERT(NothingIsMade_A, out_valid_o |-> in_valid_i)
endmodule
