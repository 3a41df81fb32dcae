// A clock gate with the interface that Ibex expects: the clock stops while no register needs it.
//
// The enable passes a latch that is transparent while the clock is low, so that a change of the
// enable during the high phase cannot shorten a pulse.
module prim_clock_gating #(
  // Choices for a technology, which have no effect here.
  parameter bit NoFpgaGate    = 1'b0,
  parameter bit FpgaBufGlobal = 1'b1
) (
  input  logic clk_i,
  input  logic en_i,
  input  logic test_en_i,
  output logic clk_o
);
  logic enable;

  // The latch: transparent while the clock is low.
  always_latch begin
    if (!clk_i) enable = en_i | test_en_i;
  end

  assign clk_o = clk_i & enable;
endmodule
