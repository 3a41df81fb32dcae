// A multiplexer of two clocks, with the interface that Ibex expects. Ibex selects between resets
// with it, and only a test of a chip switches it.
//
// It may glitch when `sel_i` changes. Nothing here changes it while the system runs.
module prim_clock_mux2 #(
  // A choice for a technology, which has no effect here.
  parameter bit NoFpgaBufG = 1'b0
) (
  input  logic clk0_i,
  input  logic clk1_i,
  input  logic sel_i,
  output logic clk_o
);
  assign clk_o = sel_i ? clk1_i : clk0_i;
endmodule
