// The shadow of the words: a memory of code words, filled at reset. It has no reset; nothing of it is shown before it is
// filled. A simple dual port memory with a registered output is a block RAM.

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
  output code_t code_o      // of the row of the cycle before
);
  (* ram_style = "block" *) code_t rows_q [1 << $bits(row_t)];
  code_t read_q;

  // Reads the old word of a row that is written in the same cycle.
  always_ff @(posedge clk_i) begin
    if (write_i) rows_q[write_row_i] <= code_i;
    read_q <= rows_q[read_row_i];
  end
  assign code_o = read_q;

`ifdef SYNTHESIS
  logic unused_reset;
  assign unused_reset = rst_ni;
`endif

  `ASSERT(AWordIsKept_A, write_i |=> rows_q[$past(write_row_i)] == $past(code_i))
endmodule
