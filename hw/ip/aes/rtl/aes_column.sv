// MixColumns of a column (FIPS 197 §5.1.3), and what its inverse takes in front (§5.3.3). The hierarchy has to stay, as
// that of `aes_sbox`.

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
