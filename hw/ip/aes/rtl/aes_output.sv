// Gives a block of output: to registers, until all four words were read, or to the stream in words of 64 bits.

`include "assert.svh"

module aes_output
  import aes_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        to_stream_i,
  input  logic        clear_i,

  input  logic        valid_i,
  output logic        ready_o,
  input  block_t      block_i,
  input  logic [4:0]  bytes_i,
  input  logic        last_i,

  input  logic        read_i,        // of a word that is shown
  input  logic [1:0]  index_i,
  output logic        shown_o,
  output word_t       word_o,

  output logic        dst_valid_o,
  input  logic        dst_ready_i,
  output logic [63:0] dst_data_o,
  output logic        dst_last_o,
  output logic [3:0]  dst_bytes_o
);
  logic [3:0] read_d, read_q;
  logic       half, is_final, takes;
  logic [3:0][31:0] words;

  assign words   = block_i;
  assign half    = read_q[0];
  assign shown_o = valid_i & ~to_stream_i;
  assign word_o  = shown_o ? words[index_i] : '0;

  assign dst_valid_o = valid_i & to_stream_i;
  assign is_final    = half | (bytes_i <= 5'd8);
  assign dst_data_o  = !dst_valid_o ? '0 : half ? block_i[15:8] : block_i[7:0];
  assign dst_last_o  = last_i & is_final;
  // Nine bytes and more are a whole word and the rest.
  assign dst_bytes_o = half ? 4'(bytes_i - 5'd8) : (bytes_i[4] || bytes_i[3]) ? 4'd8 : bytes_i[3:0];
  assign takes       = dst_valid_o & dst_ready_i;

  always_comb begin
    read_d = read_q;
    if (shown_o && read_i) read_d[index_i] = 1'b1;
    if (takes) read_d = is_final ? '1 : 4'b0011;
  end
  assign ready_o = &read_d & (takes | (shown_o & read_i));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                 read_q <= '0;
    else if (clear_i || ready_o) read_q <= '0;
    else                         read_q <= read_d;
  end

  `ASSERT(AStreamWordWaits_A, dst_valid_o && !dst_ready_i && !clear_i |=> !dst_valid_o || $stable(dst_data_o))
  `ASSERT(ABlockIsTakenWhole_A, ready_o |-> valid_i)
endmodule
