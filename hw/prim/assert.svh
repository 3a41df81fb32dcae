// This file has the macro of the assertions in all RTL files. The name of an assertion states the property, and
// ends with `_A`.
//
// `ASSERT(Name, Property)` promises that the property holds at each rising edge of `clk_i` outside of reset, so
// a module with assertions needs the ports `clk_i` and `rst_ni`. A failure is an error of the simulation that
// names the instance. Synthesis removes assertions: the tool, not the design, defines SYNTHESIS, so no netlist
// depends on an assertion.

// This guard of the preprocessor lets any number of files include this one.
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
