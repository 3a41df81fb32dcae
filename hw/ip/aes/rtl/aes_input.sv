// This module collects a block of input: words of 32 bits from registers in any order, or words of 64 bits from
// the stream. The stream carries the text only, and has to end where the length of the text says.
//
// Protocol: a word is taken in a cycle with `store_i` and `free_o`, or with `str_valid_i` and `str_ready_o`.
// `valid_o` offers the whole block, which is stable until `ready_i`. `from_stream_i` may change only while no
// block is wanted.
//
// Time: four stores or two words of the stream fill a block, and it is offered in the next cycle.
//
// Reset: no word is there. Hardening: the flags of the words have a copy, because an upset would send an
// incomplete block to the cipher. The data are not protected.

`include "assert.svh"

module aes_input
  import aes_pkg::*;
#(
  // `Hardened` = 0 removes the copy of the flags.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // `wants_i` says that a block is wanted. It comes from the stream or from registers; this is stable while it
  // is wanted.
  input  logic        wants_i,
  input  logic        from_stream_i,
  // This counts the bytes of the phase from this block on.
  input  logic [31:0] left_i,
  // A drop clears the flags, so that half a block does not become a part of the next message.
  input  logic        clear_i,
  // A wipe stores the words of the store port whatever the state is.
  input  logic        wipe_i,
  // `free_o` says that a store would be taken.
  output logic        free_o,
  // `bad_end_o` says that the stream ended too early or too late.
  output logic        bad_end_o,

  // This is the store of a word of a register. It is ignored unless `free_o` is high.
  input  logic        store_i,
  input  logic [1:0]  index_i,
  input  word_t       word_i,

  input  logic        str_valid_i,
  output logic        str_ready_o,
  input  logic [63:0] str_data_i,
  input  logic        str_last_i,
  input  logic [3:0]  str_bytes_i,

  // The block is complete, or the stream has ended in it.
  output logic        valid_o,
  input  logic        ready_i,
  output block_t      block_o,
  // `error_o` reports an upset.
  output logic        error_o
);
  logic [3:0][31:0] words_q;
  // Each bit says that a word of the block has come.
  logic [3:0]       there_d, there_q;
  logic [63:0]      data;
  // The first word of the stream is there.
  logic             half;
  logic             is_end, moves, full;
  logic [4:0]       bytes_before;

  assign full        = &there_q;
  assign valid_o     = full;
  assign block_o     = words_q;
  assign free_o      = wants_i & ~from_stream_i & ~full;
  assign str_ready_o = wants_i & from_stream_i & ~full;
  assign moves       = str_valid_i & str_ready_o;

  // The word with the last byte of the text has to be marked as the last one, and to have exactly as many bytes
  // as are left.
  assign half         = there_q[0];
  assign bytes_before = {1'b0, half, 3'b0};
  assign is_end       = left_i <= 32'(bytes_before) + 32'd8;
  assign bad_end_o    = moves & ((str_last_i != is_end) |
                                 (is_end & (32'(str_bytes_i) + 32'(bytes_before) != left_i)));

  // This block follows which words are there. The last word of the stream completes the block even if it is the
  // first one.
  always_comb begin
    there_d = there_q;
    if (clear_i || ready_i)     there_d = '0;
    else if (moves)             there_d = (half || str_last_i) ? '1 : 4'b0011;
    else if (store_i && !full)  there_d[index_i] = 1'b1;
  end
  // After a reset no word of a block is there.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) there_q <= '0;
    else         there_q <= there_d;
  end

  // The copy detects an upset of the flags.
  register_copy #(.Width(4), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (there_d),
    .value_i(there_q),
    .differs_o(error_o)
  );

  // Data have no reset: the wipe after a reset overwrites them. A word of the stream fills the two words of its
  // half.
  assign data = moves ? str_data_i : {word_i, word_i};
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 4; i++) begin
      if (moves ? half == i[1] : ((store_i && free_o) || wipe_i) && index_i == 2'(i)) words_q[i] <= data[32*(i%2) +: 32];
    end
  end

  // The cipher gets the block that was collected, however long it waits.
  `ASSERT(ABlockIsNotReplaced_A, valid_o && !ready_i && !clear_i && !wipe_i |=> $stable(block_o) && valid_o)
  // No word is taken that no phase of a message has asked for.
  `ASSERT(NothingIsTakenUnasked_A, moves || (store_i && free_o) |-> wants_i)
  // No word of a block is lost before the block is taken, unless an upset is reported.
  `ASSERT(AWordStaysUntilItsBlockIsTaken_A, !ready_i && !clear_i |=> (there_q & $past(there_q)) == $past(there_q) || error_o)
  // A stream that ends without an error ends in the last block of the text.
  `ASSERT(AStreamEndsWithItsText_A, moves && str_last_i && !bad_end_o |-> left_i <= 32'd16)
  // A block comes from one port only, so that registers and stream never mix their words in it.
  `ASSERT(ABlockHasOnePort_A, !(free_o && str_ready_o))
  // A drop leaves no word for the next message.
  `ASSERT(ADropForgets_A, clear_i |=> !valid_o || error_o)
endmodule
