// This module gives a block of output: to registers until all four words were read, or to the stream in words
// of 64 bits.
//
// Protocol: the block is offered with `valid_i` and stays until `ready_o`. A read of a shown word is a cycle
// with `read_i`. A word of the stream moves in a cycle with `dst_valid_o` and `dst_ready_i`.
//
// Time: four reads or one to two words of the stream take a block; the next block can follow in the next cycle.
//
// Reset: no word was read. Hardening: the flags of the words have a copy, and no word leaves by the stream in
// the cycle of an upset. The data are not protected.

`include "assert.svh"

module aes_output
  import aes_pkg::*;
#(
  // `Hardened` = 0 removes the copy of the flags.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The block goes to the stream, or to registers if this is low.
  input  logic        to_stream_i,
  // A drop forgets which words were taken.
  input  logic        clear_i,

  // The block is stable until `ready_o`.
  input  logic        valid_i,
  output logic        ready_o,
  input  block_t      block_i,
  // The block has 1 to 16 bytes; those past the end are zero.
  input  logic [4:0]  bytes_i,
  // It is the last block of the message.
  input  logic        last_i,

  // This is a read of a word of a register. `shown_o` says that a block is there for it.
  input  logic        read_i,
  input  logic [1:0]  index_i,
  output logic        shown_o,
  output word_t       word_o,

  // This is the stream.
  output logic        dst_valid_o,
  input  logic        dst_ready_i,
  output logic [63:0] dst_data_o,
  output logic        dst_last_o,
  output logic [3:0]  dst_bytes_o,
  // `error_o` reports an upset of the flags.
  output logic        error_o
);
  // Each bit says that a word of the block was taken.
  logic [3:0]  read_d, read_q;
  // The first word of the stream is out.
  logic        half;
  logic        is_final, takes;
  logic [63:0] pair;

  assign half    = read_q[0];
  assign shown_o = valid_i & ~to_stream_i;
  // One multiplexer serves both ports.
  assign pair    = !valid_i ? '0 : (to_stream_i ? half : index_i[1]) ? block_i[15:8] : block_i[7:0];
  assign word_o  = !shown_o ? '0 : index_i[0] ? pair[63:32] : pair[31:0];

  assign dst_valid_o = valid_i & to_stream_i & ~error_o;
  assign is_final    = half | (bytes_i <= 5'd8);
  assign dst_data_o  = to_stream_i ? pair : '0;
  assign dst_last_o  = last_i & is_final;
  // A block of eight bytes or more begins with a whole word; the second word has the rest.
  assign dst_bytes_o = half ? 4'(bytes_i - 5'd8) : (bytes_i[4] || bytes_i[3]) ? 4'd8 : bytes_i[3:0];
  assign takes       = dst_valid_o & dst_ready_i;

  // Words may be read in any order and again; the block goes when each of them was read once.
  always_comb begin
    read_d = read_q;
    if (shown_o && read_i) read_d[index_i] = 1'b1;
    if (takes) read_d = is_final ? '1 : 4'b0011;
    if (clear_i || ready_o) read_d = '0;
  end
  assign ready_o = takes ? is_final : shown_o & read_i & (&(read_q | (4'd1 << index_i)));

  // An upset of these flags would show a word twice or leave one out, so they have a copy.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) read_q <= '0;
    else         read_q <= read_d;
  end

  register_copy #(.Width(4), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (read_d),
    .value_i(read_q),
    .differs_o(error_o)
  );

  // A word of the stream does not change while its receiver waits; otherwise the receiver could take parts of
  // two words.
  `ASSERT(AStreamWordWaits_A, dst_valid_o && !dst_ready_i && !clear_i |=> !dst_valid_o || $stable(dst_data_o))
  // A block goes only if there is one.
  `ASSERT(ABlockIsTakenWhole_A, ready_o |-> valid_i)
  // A result leaves by one port only, so no reader of the registers sees what belongs to the stream.
  `ASSERT(AResultHasOnePort_A, dst_valid_o |-> !shown_o)
  // Without a block both ports show zeros and nothing of an earlier message.
  `ASSERT(NothingIsShownWithoutABlock_A, !valid_i |-> word_o == '0 && dst_data_o == '0)
  // The last word of the stream ends its block, or the receiver would end a message before it is complete.
  `ASSERT(TheLastWordEndsItsBlock_A, dst_valid_o && dst_ready_i && dst_last_o |-> ready_o)
  // A word of the stream has one to eight bytes.
  `ASSERT(AWordHasBytes_A, 1'b1 |=> !dst_valid_o || (dst_bytes_o != '0 && dst_bytes_o <= 4'd8))
endmodule
