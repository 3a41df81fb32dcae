// This module is the one memory of the engine, with a port to read, and a port to read or write.
//
// A word comes a cycle after its address. A write is visible to reads in the next cycle. There is no reset: the
// control overwrites the memory after one. Nothing is hardened here; the memory has no parity.

`include "assert.svh"

module bignum_memory #(
  // `W` is the width of a word, and `Words` their number.
  parameter int unsigned W     = 68,
  parameter int unsigned Words = 1024
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // Port a only reads.
  input  logic [$clog2(Words)-1:0] a_addr_i,
  output logic [W-1:0]             a_data_o,
  // Port b writes if `b_write_i` is set, and reads otherwise.
  input  logic                     b_write_i,
  input  logic [$clog2(Words)-1:0] b_addr_i,
  input  logic [W-1:0]             b_data_i,
  output logic [W-1:0]             b_data_o
);
  // A limb of 68 bits, or its words of 34 or 17, lies in 72 bits of a block RAM, so all widths take the same
  // number of RAMs.
  logic [W-1:0] memory [Words];

  // Both ports are those of a block RAM, which has no reset. What port b shows after a write is not used.
  always_ff @(posedge clk_i) begin
    a_data_o <= memory[a_addr_i];
    if (b_write_i) memory[b_addr_i] <= b_data_i;
    else           b_data_o <= memory[b_addr_i];
  end

  // Verified signatures and refusals rely on words that are those of their addresses, on either port.
  `ASSERT(PortAReadsItsAddress_A, 1'b1 |=> a_data_o == $past(memory[a_addr_i]))
  `ASSERT(PortBReadsItsAddress_A, !b_write_i |=> b_data_o == $past(memory[b_addr_i]))
  // What is written is what is read later.
  `ASSERT(AWriteIsKept_A, b_write_i |=> memory[$past(b_addr_i)] == $past(b_data_i))
endmodule
