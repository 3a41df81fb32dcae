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
  if (Inverse) begin : g_inverse
    assign byte_o = InverseSbox[byte_i];
  end else begin : g_forward
    assign byte_o = Sbox[byte_i];
  end
endmodule
