// This module has the microprogram and its constants, which `data/generate.py` makes. A word has the 68 bits of
// a limb, of which an instruction takes the lower ones.
//
// A word comes a cycle after its address. There is no reset, no parity and no way to write it.

`include "assert.svh"

module bignum_rom
  import bignum_pkg::*;
  import bignum_rom_pkg::*;
(
  input  logic                clk_i,
  input  logic                rst_ni,
  input  address_t            addr_i,
  output logic [LimbBits-1:0] data_o
);
  // The ROM takes two block RAMs: 1,024 words of 68 bits.
  logic [LimbBits-1:0] memory [RomWords];

  initial for (int i = 0; i < int'(RomWords); i++) memory[i] = Rom[i];

  // The output is the register of the block RAM.
  always_ff @(posedge clk_i) data_o <= memory[addr_i];

  // An instruction or a constant of another address would be executed or used without notice.
  `ASSERT(AWordIsOfItsAddress_A, 1'b1 |=> data_o == Rom[$past(addr_i)])
endmodule
