// Tables, constants and microcode in one memory with two ports (data/generate.py).
//
// A number has 64 bits of a word, a microinstruction 72: two block RAMs of series 7.

`include "assert.svh"

module ed25519_rom
  import ed25519_rom_pkg::*;
#(
  parameter bit Blinded = 1'b0  // another comb, and another program for it
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [9:0]  code_address_i,
  output logic [71:0] code_o,
  input  logic [9:0]  number_address_i,
  output logic [63:0] number_o
);
  logic [71:0] memory [RomWords];

  initial begin
    for (int i = 0; i < int'(RomWords); i++) memory[i] = Blinded ? ed25519_rom_blinded_pkg::Rom[i] : Rom[i];
  end

  // Words come a cycle after their addresses.
  always_ff @(posedge clk_i) begin
    code_o   <= memory[code_address_i];
    number_o <= memory[number_address_i][63:0];
  end

  `ASSERT(AWordIsOfItsAddress_A, 1'b1 |=> code_o == (Blinded ? ed25519_rom_blinded_pkg::Rom[$past(code_address_i)] :
                                                            Rom[$past(code_address_i)]))
endmodule
