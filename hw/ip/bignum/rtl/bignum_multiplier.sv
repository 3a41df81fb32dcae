// This module computes the product of two signed words. It takes new operands in each cycle, and gives the
// product two cycles later.
//
// Chunks of 17 bits are unsigned, except for the top one, which has the sign: each product of two chunks fits
// the signed 18-bit multiplier of every DSP block. There is no reset and no handshake: the caller knows when a
// product is its own.

`include "assert.svh"

module bignum_multiplier
  import bignum_pkg::*;
#(
  // `W` is the width of a word without its sign; the product takes (W / 17)² DSP blocks.
  parameter int unsigned W = 68
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic signed [W:0]     a_i,
  input  logic signed [W:0]     b_i,
  output logic signed [2*W+1:0] product_o
);
  // DSP48E1 multiplies 25 by 18 bits, signed (UG479), so 17 unsigned bits are the most that fit both factors.
  localparam int unsigned Chunks = W / ChunkBits;

  logic signed [2*ChunkBits+1:0] part_q [Chunks][Chunks];
  logic signed [2*W+1:0]         row [Chunks];
  logic signed [2*W+1:0]         sum;

  // Each pair of chunks has its own DSP block.
  for (genvar i = 0; i < Chunks; i++) begin : gen_row
    for (genvar j = 0; j < Chunks; j++) begin : gen_part
      logic signed [ChunkBits:0] a, b;
      assign a = (i == Chunks - 1) ? a_i[ChunkBits*i +: ChunkBits+1] : {1'b0, a_i[ChunkBits*i +: ChunkBits]};
      assign b = (j == Chunks - 1) ? b_i[ChunkBits*j +: ChunkBits+1] : {1'b0, b_i[ChunkBits*j +: ChunkBits]};
      // Data have no reset. The caller gives zeros when it has no operands.
      always_ff @(posedge clk_i) part_q[i][j] <= a * b;
    end
  end

  // The products are added by a tree: those of a row, then the rows.
  always_comb begin
    for (int i = 0; i < int'(Chunks); i++) begin
      row[i] = '0;
      for (int j = 0; j < int'(Chunks); j++) begin
        row[i] = row[i] + ((2*W+2)'(part_q[i][j]) <<< (ChunkBits * unsigned'(j)));
      end
    end
    sum = '0;
    for (int i = 0; i < int'(Chunks); i++) sum = sum + (row[i] <<< (ChunkBits * unsigned'(i)));
  end

  // The sum of the parts takes the second cycle.
  always_ff @(posedge clk_i) product_o <= sum;

`ifndef SYNTHESIS
  // This counts cycles since the reset. Before the third one the parts and the product belong to no operands.
  logic [3:0] settled_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) settled_q <= '0;
    else         settled_q <= {settled_q[2:0], 1'b1};
  end
`endif

  // Every number of the engine is made of these products.
  `ASSERT(IsTheProduct_A, settled_q != '1 || product_o == (2*W+2)'($past(a_i, 2)) * (2*W+2)'($past(b_i, 2)))
endmodule
