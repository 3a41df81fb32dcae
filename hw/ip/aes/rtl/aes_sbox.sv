// This module is SubBytes on a byte and, with `Inverts`, its inverse (FIPS 197 §5.1.1, §5.3.2). It is
// combinational.
//
// Both directions share one table of inverses, with the affine transformation after it or its inverse in front:
// 48 look-up tables, where two whole tables take 64. SubBytes without the inverse is one table of 32. Synthesis
// that sees what is around takes more look-up tables, so the hierarchy has to stay.

(* keep_hierarchy *)
module aes_sbox
  import aes_pkg::*;
#(
  // With `Inverts` the input `inverse_i` chooses the direction; without it the module only has SubBytes.
  parameter bit Inverts = 1'b0
) (
  input  logic       inverse_i,
  input  logic [7:0] byte_i,
  output logic [7:0] byte_o
);
  if (Inverts) begin : g_both
    logic [7:0] in, out;
    assign in     = inverse_i ? inverse_affine(byte_i) : byte_i;
    aes_inverse u_inverse (.byte_i(in), .byte_o(out));
    assign byte_o = inverse_i ? out : affine(out);
  end else begin : g_forward
    localparam table_t Table = make_sbox();
    assign byte_o = Table[byte_i];
  end
endmodule
