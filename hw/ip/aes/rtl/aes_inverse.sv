// This module is the inverse in GF(2^8) as a combinational table, with zero for zero (FIPS 197 §5.1.1).
//
// The hierarchy has to stay for the reason that `aes_sbox` gives.

(* keep_hierarchy *)
module aes_inverse
  import aes_pkg::*;
(
  input  logic [7:0] byte_i,
  output logic [7:0] byte_o
);
  localparam table_t Table = make_inverses();
  assign byte_o = Table[byte_i];
endmodule
