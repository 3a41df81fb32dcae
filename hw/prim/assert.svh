// Assertions of every RTL file, through one macro.
//
// `ASSERT(Name, property)` holds at each rising edge of `clk_i` outside reset. A name states the property
// and ends with `_A`. Synthesis removes it: the tool, not the design, defines SYNTHESIS, so no
// netlist depends on an assertion.

`ifndef HARTLOCK_ASSERT_SVH
`define HARTLOCK_ASSERT_SVH

`ifdef SYNTHESIS
`define ASSERT(Name, Property)
`else
`define ASSERT(Name, Property) \
  Name: assert property (@(posedge clk_i) disable iff (!rst_ni) (Property)) \
  else $error("%m does not hold");
`endif

`endif
