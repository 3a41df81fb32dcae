// The sum of three sums, a product and a bit: one look-up table, as `aes_three`.

(* keep_hierarchy *)
module aes_rest (
  input  logic [2:0] part_i,
  input  logic       a_i,
  input  logic       b_i,
  input  logic       bit_i,
  output logic       out_o
);
  assign out_o = (^part_i) ^ (a_i & b_i) ^ bit_i;
endmodule
