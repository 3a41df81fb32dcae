// Assertions of modules that only a simulated machine runs, because they contain a core.
//
// `MACHINE_ASSERT(Name, property)` is like `ASSERT` of hw/prim, but for a machine: it is on if the
// tool defines MACHINE_ASSERTIONS, and empty otherwise. The property is checked at each rising edge
// of `clk_i` while `rst_ni` is high. A machine is read with SYNTHESIS, which its cores need, and
// Ibex has a macro ASSERT as well; neither affects this one. Assertions of blocks with a bench are
// off in a machine: all of them would take a quarter of its speed.

`ifndef HARTLOCK_MACHINE_ASSERT_SVH
`define HARTLOCK_MACHINE_ASSERT_SVH

`ifdef MACHINE_ASSERTIONS
`define MACHINE_ASSERT(Name, Property) \
  Name: assert property (@(posedge clk_i) disable iff (!rst_ni) (Property)) \
  else $error("%m does not hold");
`else
`define MACHINE_ASSERT(Name, Property)
`endif

`endif
