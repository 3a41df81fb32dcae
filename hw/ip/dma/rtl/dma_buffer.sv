// One block RAM: its lower half has the ranges of a list, its upper half words that were read.
//
// The memory has 512 words of 70 bits, a port to write and a port to read, each usable in every
// cycle. A read has its word in the next cycle. There is no reset. No contents leave that were not
// written since the list began, because the users count the words. Contents have no check bits.

`include "assert.svh"

module dma_buffer (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Port for writes, and port for reads. The output keeps its word until the next read.
  input  logic        write_i,
  input  logic [8:0]  write_at_i,
  input  logic [69:0] write_data_i,
  input  logic        read_i,
  input  logic [8:0]  read_at_i,
  output logic [69:0] read_data_o
);
  logic [69:0] mem [512];
  logic [69:0] data_q;

  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_at_i] <= write_data_i;
    if (read_i)  data_q <= mem[read_at_i];
  end
  assign read_data_o = data_q;

  // Only assertions use the reset.
  logic unused_reset;
  assign unused_reset = rst_ni;

  // The result of such a read would depend on the memory of the target.
  `ASSERT(NoWordIsReadWhileItIsWritten_A, 1'b1 |=> !(write_i && read_i && write_at_i == read_at_i))
  // The word that is read is used for several cycles.
  `ASSERT(AWordStays_A, !read_i |=> $stable(read_data_o))
  // What is hashed is what was read from memory, word by word.
  `ASSERT(AWordIsKept_A, write_i |=> mem[$past(write_at_i)] == $past(write_data_i))
  `ASSERT(AReadIsOfItsPlace_A, read_i |=> read_data_o == $past(mem[read_at_i]))
endmodule
