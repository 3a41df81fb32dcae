// This module is the sum of three products of bits: one look-up table of six inputs. Synthesis that sees what
// is around takes more of them, so the hierarchy has to stay. It is combinational, and a part of GHASH.

(* keep_hierarchy *)
module aes_three (
  input  logic [2:0] a_i,
  input  logic [2:0] b_i,
  output logic       out_o
);
  assign out_o = ^(a_i & b_i);
endmodule
