// One block RAM: the ranges of a list in its lower half, words that were read in its upper half.
//
// 512 words of 70 bits, a port to write and a port to read. It has no reset, and no contents leave that were not
// written since the list began, because the users count them.

`include "assert.svh"

module dma_buffer (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        write_i,
  input  logic [8:0]  write_at_i,
  input  logic [69:0] write_data_i,
  input  logic        read_i,
  input  logic [8:0]  read_at_i,
  output logic [69:0] read_data_o
);
  logic [69:0] mem [512];
  logic [69:0] data_q;

  // The output keeps its word until the next read.
  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_at_i] <= write_data_i;
    if (read_i)  data_q <= mem[read_at_i];
  end
  assign read_data_o = data_q;

  // Of use in assertions only.
  logic unused_reset;
  assign unused_reset = rst_ni;

  `ASSERT(NoWordIsReadWhileItIsWritten_A, 1'b1 |=> !(write_i && read_i && write_at_i == read_at_i))
  `ASSERT(AWordStays_A, !read_i |=> $stable(read_data_o))
endmodule
