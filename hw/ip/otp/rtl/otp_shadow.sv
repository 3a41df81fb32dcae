// The shadow of the words: a memory of code words, which the load fills after reset.
//
// A read has its word in the next cycle; one read and one write are possible in each cycle. The
// memory has no reset, because nothing of it is shown before it is filled. A simple dual port
// memory with a registered output is a block RAM of an FPGA. Each word keeps its check bits, and
// `otp_secded` behind the read port corrects a single upset.

`include "assert.svh"

module otp_shadow
  import otp_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_ni,
  input  logic  write_i,
  input  row_t  write_row_i,
  input  code_t code_i,
  input  row_t  read_row_i,
  // The code word of the row that was asked for in the cycle before.
  output code_t code_o
// Port for writes, and port for reads with one cycle of latency.
);
  (* ram_style = "block" *) code_t rows_q [1 << $bits(row_t)];
  code_t read_q;

  // A read of the row that is written in the same cycle returns the old word.
  always_ff @(posedge clk_i) begin
    if (write_i) rows_q[write_row_i] <= code_i;
    read_q <= rows_q[read_row_i];
  end
  assign code_o = read_q;

`ifdef SYNTHESIS
  logic unused_reset;
  assign unused_reset = rst_ni;
`endif

  // A written word is in its row in the next cycle.
  `ASSERT(AWordIsKept_A, write_i |=> rows_q[$past(write_row_i)] == $past(code_i))
  // A word is read as it was before a write of the same cycle, and never as the word of another row.
  `ASSERT(AReadIsOfItsRow_A, 1'b1 |=> code_o == $past(rows_q[read_row_i]))
endmodule
