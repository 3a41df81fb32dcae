// SubBytes or its inverse on a byte, as a table (FIPS 197 §5.1.1, §5.3.2).
//
// 32 look-up tables and the multiplexers between them. Mapping that sees what is around it takes more; so the hierarchy
// has to stay.

(* keep_hierarchy *)
module aes_sbox
  import aes_pkg::*;
#(
  parameter bit Inverse = 1'b0
) (
  input  logic [7:0] byte_i,
  output logic [7:0] byte_o
);
  localparam table_t Table = Inverse ? make_inverse_sbox() : make_sbox();
  assign byte_o = Table[byte_i];
endmodule
