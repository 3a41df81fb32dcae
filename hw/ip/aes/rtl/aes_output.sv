// Gives a block of output: to registers, until all four words were read, or to the stream in words of 64 bits.

`include "assert.svh"

module aes_output
  import aes_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        to_stream_i,   // else to registers
  input  logic        clear_i,       // a drop: the words that were taken count no more

  input  logic        valid_i,       // the block stays until `ready_o`
  output logic        ready_o,
  input  block_t      block_i,
  input  logic [4:0]  bytes_i,       // 1 to 16; those past the end are zero
  input  logic        last_i,        // of the message

  input  logic        read_i,        // of a word that is shown
  input  logic [1:0]  index_i,
  output logic        shown_o,
  output word_t       word_o,

  output logic        dst_valid_o,
  input  logic        dst_ready_i,
  output logic [63:0] dst_data_o,
  output logic        dst_last_o,
  output logic [3:0]  dst_bytes_o,
  output logic        error_o         // an upset
);
  logic [3:0]  read_d, read_q;               // words of the block that were taken
  logic        half;                         // the first word of the stream is out
  logic        is_final, takes;
  logic [63:0] pair;

  assign half    = read_q[0];
  assign shown_o = valid_i & ~to_stream_i;
  // One multiplexer for both ports.
  assign pair    = !valid_i ? '0 : (to_stream_i ? half : index_i[1]) ? block_i[15:8] : block_i[7:0];
  assign word_o  = !shown_o ? '0 : index_i[0] ? pair[63:32] : pair[31:0];

  assign dst_valid_o = valid_i & to_stream_i & ~error_o;
  assign is_final    = half | (bytes_i <= 5'd8);
  assign dst_data_o  = to_stream_i ? pair : '0;
  assign dst_last_o  = last_i & is_final;
  // Nine bytes and more are a whole word and the rest.
  assign dst_bytes_o = half ? 4'(bytes_i - 5'd8) : (bytes_i[4] || bytes_i[3]) ? 4'd8 : bytes_i[3:0];
  assign takes       = dst_valid_o & dst_ready_i;

  // Words may be read in any order and again; the block goes when each was read once.
  always_comb begin
    read_d = read_q;
    if (shown_o && read_i) read_d[index_i] = 1'b1;
    if (takes) read_d = is_final ? '1 : 4'b0011;
    if (clear_i || ready_o) read_d = '0;
  end
  assign ready_o = takes ? is_final : shown_o & read_i & (&(read_q | (4'd1 << index_i)));

  // An upset here would show a word twice or leave one out, so it has a copy.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) read_q <= '0;
    else         read_q <= read_d;
  end

  aes_copy #(.Bits(4), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (read_d),
    .value_i(read_q),
    .differs_o(error_o)
  );

  `ASSERT(AStreamWordWaits_A, dst_valid_o && !dst_ready_i && !clear_i |=> !dst_valid_o || $stable(dst_data_o))
  `ASSERT(ABlockIsTakenWhole_A, ready_o |-> valid_i)
  `ASSERT(AResultHasOnePort_A, dst_valid_o |-> !shown_o)
  `ASSERT(NothingIsShownWithoutABlock_A, !valid_i |-> word_o == '0 && dst_data_o == '0)
endmodule
