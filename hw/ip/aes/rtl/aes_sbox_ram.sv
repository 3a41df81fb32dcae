// This module is SubBytes and its inverse on two bytes, with both tables in one block RAM with two ports
// (FIPS 197 §5.1.1, §5.3.2).
//
// Results come a cycle after their bytes and stay until the next load, so the RAM is the register of the state.
// There is no reset: the output keeps its value until the first load.

`include "assert.svh"

module aes_sbox_ram
  import aes_pkg::*;
(
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            load_i,
  input  logic            inverse_i,
  input  logic [1:0][7:0] byte_i,
  output logic [1:0][7:0] byte_o
);
  localparam table_t Forward = make_sbox();
  localparam table_t Inverse = make_inverse_sbox();

  (* rom_style = "block" *) logic [7:0] memory [512];

  // Both directions share a RAM, so that an S-box takes one and not two. The direction is the top bit of the
  // address.
  initial begin
    for (int i = 0; i < 256; i++) begin
      memory[i]       = Forward[i];
      memory[256 + i] = Inverse[i];
    end
  end

  // The output has no reset, because a block RAM has none: the wipe after a reset overwrites it.
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      byte_o[0] <= memory[{inverse_i, byte_i[0]}];
      byte_o[1] <= memory[{inverse_i, byte_i[1]}];
    end
  end

  // The result is that of the chosen table, so no byte is substituted in the wrong direction.
  `ASSERT(BytesAreOfTheirTable_A, load_i |=> byte_o[1] ==
          ($past(inverse_i) ? Inverse[$past(byte_i[1])] : Forward[$past(byte_i[1])]))
  // The state of a block that waits for its reader is nowhere else, so it must stay here.
  `ASSERT(BytesStayWithoutALoad_A, !load_i |=> $stable(byte_o))
endmodule
