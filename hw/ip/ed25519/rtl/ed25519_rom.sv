// This module has tables, constants and microcode in one memory with two ports, which `data/generate.py` makes.
//
// A number uses 64 bits of a word, and a microinstruction all 72: two block RAMs of series 7. A word comes a
// cycle after its address. There is no reset and no parity.

`include "assert.svh"

module ed25519_rom
  import ed25519_rom_pkg::*;
#(
  // `Blinded` has another comb, and another program for it.
  parameter bit Blinded = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // The first port has instructions, the second one numbers.
  input  logic [9:0]  code_address_i,
  output logic [71:0] code_o,
  input  logic [9:0]  number_address_i,
  output logic [63:0] number_o
);
  logic [71:0] memory [RomWords];

  initial begin
    for (int i = 0; i < int'(RomWords); i++) memory[i] = Blinded ? ed25519_rom_blinded_pkg::Rom[i] : Rom[i];
  end

  // The outputs are the registers of the block RAM.
  always_ff @(posedge clk_i) begin
    code_o   <= memory[code_address_i];
    number_o <= memory[number_address_i][63:0];
  end

  // An instruction of another address would be executed without notice.
  `ASSERT(AWordIsOfItsAddress_A, 1'b1 |=> code_o == (Blinded ? ed25519_rom_blinded_pkg::Rom[$past(code_address_i)] :
                                                            Rom[$past(code_address_i)]))
endmodule
