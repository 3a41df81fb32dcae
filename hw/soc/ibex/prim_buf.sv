// A wire that a netlist must not lose: Ibex has it where logic is redundant on purpose. It is
// combinational.
module prim_buf #(
  parameter int Width = 1
) (
  input  logic [Width-1:0] in_i,
  output logic [Width-1:0] out_o
);
  // Ibex compares copies of a value with each other. If they were merged, they could no longer
  // differ.
  (* keep = "true" *) logic [Width-1:0] kept;
  assign kept  = in_i;
  assign out_o = kept;
endmodule
