// The microprogram and its constants (`data/generate.py`): words of a limb, of which an instruction takes 61 bits.

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
  // Two block RAMs: 1,024 words of 68 bits. There is no way to write it.
  logic [LimbBits-1:0] memory [RomWords];

  initial for (int i = 0; i < int'(RomWords); i++) memory[i] = Rom[i];

  // A word comes a cycle after its address.
  always_ff @(posedge clk_i) data_o <= memory[addr_i];

  `ASSERT(AWordIsOfItsAddress_A, 1'b1 |=> data_o == Rom[$past(addr_i)])
endmodule
