// A register with a copy that holds the complement, and the comparison of both.
//
// Both take a value with `write_i` and otherwise keep their own, so that an upset of one never passes to the other. An
// upset of one bit, or of several bits of one of the two, is visible from its cycle to the next write: `differs_o` is
// combinational. Bits that are upset in both, at the same place, are not detected. The user decides what a difference
// means; usually it is an error until reset, and outputs are masked in the same cycle.
//
// The copy holds the complement, so that synthesis does not merge the two, and an event that sets or clears many bits
// changes them in opposite ways. The registers are in leaf cells (`flop_cell`).

`include "assert.svh"

module shadow_register #(
  parameter int unsigned      Width = 1,
  parameter logic [Width-1:0] Reset = '0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             write_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o,
  // The register and the complement of its copy differ in a bit.
  output logic             differs_o
);
  logic [Width-1:0] value, inverse, value_d, inverse_d;

  assign value_d   = write_i ? d_i  : value;
  assign inverse_d = write_i ? ~d_i : inverse;
  flop_cell #(.Width(Width), .Reset(Reset))  u_flop (.clk_i, .rst_ni, .d_i(value_d),   .q_o(value));
  flop_cell #(.Width(Width), .Reset(~Reset)) u_copy (.clk_i, .rst_ni, .d_i(inverse_d), .q_o(inverse));
  assign q_o       = value;
  assign differs_o = value != ~inverse;

  // A difference stays until a write: the copy does not follow an upset of the register.
  `ASSERT(ADifferenceStays_A, differs_o && !write_i |=> differs_o)
endmodule
