// This module is MixColumns of one column (FIPS 197 §5.1.3), combinational. Decryption uses it as well: the
// inverse of MixColumns is `inverse_part` followed by the same matrix (§5.3.3).
//
// The hierarchy has to stay for the reason that `aes_sbox` gives: synthesis that sees what is around takes more
// look-up tables.

(* keep_hierarchy *)
module aes_column
  import aes_pkg::*;
(
  input  logic [3:0][7:0] column_i,
  output logic [3:0][7:0] column_o
);
  logic [3:0] high;
  for (genvar r = 0; r < 4; r++) begin : g_row
    localparam int B = (r + 1) % 4;
    localparam int C = (r + 2) % 4;
    localparam int D = (r + 3) % 4;
    assign high[r]     = column_i[r][7] ^ column_i[B][7];
    assign column_o[r] = {column_i[r][6:0] ^ column_i[B][6:0], 1'b0} ^ {3'b0, high[r], high[r], 1'b0, high[r], high[r]} ^
                         column_i[B] ^ column_i[C] ^ column_i[D];
  end
endmodule
