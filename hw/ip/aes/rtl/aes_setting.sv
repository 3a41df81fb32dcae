// This module is a register of the configuration with its copy. Both take the word of the bus, so that an upset
// is seen from the write on, and not only while a message uses the value.
//
// `value_o` changes in the cycle after `write_i`. A reset sets it to `Reset`. An upset of the register or the
// copy is shown by `differs_o` as long as they differ.

`include "assert.svh"

module aes_setting #(
  // `Bits` is the width, and `Reset` the value after a reset. With `Hardened` = 0 there is no copy.
  parameter int unsigned     Bits     = 1,
  parameter logic [Bits-1:0] Reset    = '0,
  parameter bit              Hardened = 1'b1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // A write is taken in every cycle with `write_i`; the caller decides when it is allowed.
  input  logic            write_i,
  input  logic [Bits-1:0] value_i,
  output logic [Bits-1:0] value_o,
  output logic            differs_o
);
  // Only a write changes the value.
  logic [Bits-1:0] value_d, value_q;
  assign value_d = write_i ? value_i : value_q;
  flop_cell #(.Width(Bits), .Reset(Reset)) u_flop (.clk_i, .rst_ni, .d_i(value_d), .q_o(value_q));
  assign value_o = value_q;

  register_copy #(.Width(Bits), .Reset(Reset), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (write_i),
    .next_i (value_i),
    .value_i(value_q),
    .differs_o
  );

  // If both registers lost a write they would still be equal, and the copy would not notice it.
  `ASSERT(AWriteIsTaken_A, write_i |=> value_o == $past(value_i))
endmodule
