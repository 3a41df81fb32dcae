// An AND gate with the interface that Ibex expects. A netlist must not lose it, as `prim_buf`. It
// has no attribute for that, because nothing here is counted as a netlist with Ibex in it. It is
// combinational.
module prim_and2 #(
  parameter int Width = 1
) (
  input  logic [Width-1:0] in0_i,
  input  logic [Width-1:0] in1_i,
  output logic [Width-1:0] out_o
);
  assign out_o = in0_i & in1_i;
endmodule
