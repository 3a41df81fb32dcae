// This module is the sum of three sums, a product and a bit. It fits one look-up table of six inputs, and the
// hierarchy keeps it there, as in `aes_three`. It is combinational, and a part of GHASH.

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
