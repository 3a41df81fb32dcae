// SubBytes and its inverse on a byte in two shares, masked to the first order: domain-oriented masking
// (Groß, Mangard, Korak, 2016), an inversion in a tower of fields.
//
// Each multiplication has a register for the terms of a share, and one for those of both shares, to which a fresh random
// bit is added before it. So no signal, with all its glitches, depends on both shares of a value without a
// fresh mask (`tb/test_aes_dom_sbox.py` enumerates them). Input comes from registers that have the tower's
// basis already: a change of basis in front of a multiplication would show it bits of both shares. It is stable for five
// cycles; `step_i` names the four in which a stage stores, each with random bits of its own. The output is there in the
// fifth.

`include "assert.svh"

(* keep_hierarchy *)
module aes_dom_sbox
  import aes_masked_pkg::*;
#(
  // Without it random bits are ignored in the first stage: a variant that every test of masking has to notice.
  parameter bit Remasks = 1'b1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            inverse_i,
  input  logic [3:0]      step_i,     // one-hot, or none
  input  logic [7:0]      random_i,   // fresh in each of these cycles
  input  logic [1:0][7:0] tower_i,    // the shares, `to_sbox` of the byte; from registers
  output logic [1:0][7:0] byte_o
);
  gf16_t [1:0] high, low, norm, norm_q, inner1_q, cross1_q, inverse, inner4h_q, cross4h_q, inner4l_q, cross4l_q;
  gf4_t  [1:0] norm4, inner2_q, cross2_q, inner3h_q, cross3h_q, inner3l_q, cross3l_q;
  gf16_t       mask1, blind1;

  // Each term of both shares gets a fresh mask, and each pair of registers that make a share another one, which
  // their sum cancels. Without the second the terms of one share, which have no mask of their own, meet those of the other
  // in the glitches of the next stage.
  assign mask1  = Remasks ? random_i[3:0] : '0;
  assign blind1 = random_i[7:4];

  for (genvar i = 0; i < 2; i++) begin : g_share
    localparam int J = 1 - i;
    logic [7:0] result, unmapped;

    assign high[i] = tower_i[i][7:4];
    assign low[i]  = tower_i[i][3:0];

    // The norm of h z + l: V h^2 + h l + l^2, then that of the half field.
    assign norm[i]  = inner1_q[i] ^ cross1_q[i];
    assign norm4[i] = inner2_q[i] ^ cross2_q[i];
    // Its inverse is its square, and times the conjugate that of the norm.
    assign inverse[i] = {inner3h_q[i] ^ cross3h_q[i], inner3l_q[i] ^ cross3l_q[i]};

    always_ff @(posedge clk_i) begin
      if (step_i[0]) begin
        inner1_q[i] <= multiply16(high[i], low[i]) ^ multiply16(4'h8, square16(high[i])) ^ square16(low[i]) ^
                       blind1;
        cross1_q[i] <= multiply16(high[i], low[J]) ^ mask1 ^ blind1;
      end
      if (step_i[1]) begin
        norm_q[i]   <= norm[i];
        inner2_q[i] <= multiply4(norm[i][3:2], norm[i][1:0]) ^ scale4(square4(norm[i][3:2])) ^ square4(norm[i][1:0]) ^
                       random_i[3:2];
        cross2_q[i] <= multiply4(norm[i][3:2], norm[J][1:0]) ^ random_i[1:0] ^ random_i[3:2];
      end
      if (step_i[2]) begin
        inner3h_q[i] <= multiply4(norm_q[i][3:2], square4(norm4[i]));
        cross3h_q[i] <= multiply4(norm_q[i][3:2], square4(norm4[J])) ^ random_i[1:0];
        inner3l_q[i] <= multiply4(norm_q[i][3:2] ^ norm_q[i][1:0], square4(norm4[i]));
        cross3l_q[i] <= multiply4(norm_q[i][3:2] ^ norm_q[i][1:0], square4(norm4[J])) ^ random_i[3:2];
      end
      if (step_i[3]) begin
        inner4h_q[i] <= multiply16(high[i], inverse[i]);
        cross4h_q[i] <= multiply16(high[i], inverse[J]) ^ random_i[3:0];
        inner4l_q[i] <= multiply16(high[i] ^ low[i], inverse[i]);
        cross4l_q[i] <= multiply16(high[i] ^ low[i], inverse[J]) ^ random_i[7:4];
      end
    end

    assign unmapped  = {inner4h_q[i] ^ cross4h_q[i], inner4l_q[i] ^ cross4l_q[i]};
    assign result    = from_tower(unmapped);
    assign byte_o[i] = inverse_i ? result : affine_part(result) ^ (i == 0 ? 8'h63 : 8'h00);
  end

  `ASSERT(AStageAtATime_A, $onehot0(step_i))
endmodule
