// A gate that a netlist must not lose, as `prim_buf`. Without the attribute: nothing here is counted as a netlist
// with Ibex in it.
module prim_and2 #(
  parameter int Width = 1
) (
  input  logic [Width-1:0] in0_i,
  input  logic [Width-1:0] in1_i,
  output logic [Width-1:0] out_o
);
  assign out_o = in0_i & in1_i;
endmodule
