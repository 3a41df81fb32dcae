// Corrects one fault of a code word and detects two (Hsiao's code, `otp_pkg::check_bits`).
//
// The block is combinational; clock and reset are for assertions. Columns of data have weight three
// and those of check bits one. So a syndrome of even weight is no single fault, and neither is one
// of odd weight that is no column. Three faults or more may be miscorrected.

`include "assert.svh"

module otp_secded
  import otp_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  code_t                code_i,
  output logic [DataBits-1:0]  data_o,
  // The check bits that belong to `data_o`.
  output logic [CheckBits-1:0] check_o,
  // Exactly one cell was wrong, and it was corrected.
  output logic                 fixed_o,
  // More than one cell was wrong, so `data_o` means nothing.
  output logic                 broken_o
);
  logic [CheckBits-1:0] syndrome;
  logic [DataBits-1:0]  flips;
  assign syndrome = check_bits(code_i[DataBits-1:0]) ^ code_i[CodeBits-1:DataBits];

  // A fault of one data bit has the column of this bit as its syndrome.
  for (genvar i = 0; i < DataBits; i++) begin : gen_flips
    localparam logic [CheckBits-1:0] Column = check_bits(32'(1) << i);
    assign flips[i] = syndrome == Column;
  end
  assign data_o   = code_i[DataBits-1:0] ^ flips;
  // A fault of one check bit has a syndrome with a single one.
  assign check_o  = code_i[CodeBits-1:DataBits] ^ ($onehot(syndrome) ? syndrome : '0);
  assign fixed_o  = (|flips) | $onehot(syndrome);
  assign broken_o = (syndrome != '0) & ~fixed_o;

`ifdef SYNTHESIS
  logic unused_clocks;
  assign unused_clocks = clk_i ^ rst_ni;
`endif

  // The corrected code word differs from the cells in one bit if a fault was reported, and in none
  // otherwise.
  `ASSERT(ACorrectedWordIsNear_A, 1'b1 |=> broken_o ||
          $countones({check_o, data_o} ^ code_i) == {31'b0, fixed_o})
  // The corrected word has matching check bits.
  `ASSERT(ACorrectedWordIsAWord_A, 1'b1 |=> broken_o || check_o == check_bits(data_o))
endmodule
