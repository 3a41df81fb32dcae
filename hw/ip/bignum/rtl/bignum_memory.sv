// The one memory of the engine: a port to read, and a port to read or write.

`include "assert.svh"

module bignum_memory #(
  parameter int unsigned W     = 68,
  parameter int unsigned Words = 1024
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic [$clog2(Words)-1:0] a_addr_i,
  output logic [W-1:0]             a_data_o,
  input  logic                     b_write_i,
  input  logic [$clog2(Words)-1:0] b_addr_i,
  input  logic [W-1:0]             b_data_i,
  output logic [W-1:0]             b_data_o
);
  // Two block RAMs of 36 Kibit for every width: words of 68, 34 or 17 bits lie in 72, 36 or 18.
  logic [W-1:0] memory [Words];

  // Both ports are those of a block RAM, which has no reset. What a port reads during a write is not used.
  always_ff @(posedge clk_i) begin
    a_data_o <= memory[a_addr_i];
    if (b_write_i) memory[b_addr_i] <= b_data_i;
    else           b_data_o <= memory[b_addr_i];
  end

  // Verified signatures and refusals alike rest on words that are those of their addresses, on either port.
  `ASSERT(PortAReadsItsAddress_A, 1'b1 |=> a_data_o == $past(memory[a_addr_i]))
  `ASSERT(PortBReadsItsAddress_A, !b_write_i |=> b_data_o == $past(memory[b_addr_i]))
  `ASSERT(AWriteIsKept_A, b_write_i |=> memory[$past(b_addr_i)] == $past(b_data_i))
endmodule
