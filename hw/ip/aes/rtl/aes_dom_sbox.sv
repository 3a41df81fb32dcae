// This module is SubBytes and its inverse (FIPS 197 §5.1.1, §5.3.2) on a byte in two shares, masked to the
// first order by domain-oriented masking (Groß, Mangard, Korak, 2016). The inversion is made in a tower of
// fields.
//
// Each multiplication has a register for the terms of one share, and one for those of both shares, to which
// fresh random bits are added in front of the register. So no signal, with all its glitches, depends on both
// shares of a value without a fresh mask (`tb/test_aes_dom_sbox.py` enumerates them).
//
// Protocol: the input has to come from registers that hold the byte in the basis of the tower already, because
// a change of basis in front of a multiplication would show it bits of both shares. The input is stable for
// five cycles. In four of them `step_i` has one bit set, in the order 0 to 3, and `random_i` is fresh in each.
// The output is there in the fifth cycle. The caller may start the next byte after it, so throughput is a byte
// in five cycles.
//
// Reset: there is none. All registers are data; the wipe after a reset lets them take new values.

`include "assert.svh"

(* keep_hierarchy *)
module aes_dom_sbox
  import aes_masked_pkg::*;
#(
  // With `Remasks` = 0 the first stage does not add its random bits. This is a variant for tests, and every
  // test of masking has to notice it.
  parameter bit Remasks = 1'b1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            inverse_i,
  // At most one bit of `step_i` is set: that of the stage that stores in this cycle.
  input  logic [3:0]      step_i,
  // These bits have to be fresh in each cycle with a step.
  input  logic [7:0]      random_i,
  // The shares come from registers as `to_sbox` of the byte.
  input  logic [1:0][7:0] tower_i,
  output logic [1:0][7:0] byte_o
);
  // Names that begin with `inner` are registers with terms of one share, those with `cross` have terms of both.
  // The digit is the stage; `h` and `l` are the high and the low half of a result.
  gf16_t [1:0] high, low, norm, norm_q, inner1_q, cross1_q, inverse, inner4h_q, cross4h_q, inner4l_q, cross4l_q;
  gf4_t  [1:0] norm4, inner2_q, cross2_q, inner3h_q, cross3h_q, inner3l_q, cross3l_q;
  gf16_t       mask1, blind1;

  // Each term of both shares gets a fresh mask. Each pair of registers that make a share gets another mask,
  // which their sum cancels. Without the second one the terms of one share, which have no mask of their own,
  // would meet those of the other share in the glitches of the next stage.
  assign mask1  = Remasks ? random_i[3:0] : '0;
  assign blind1 = random_i[7:4];

  for (genvar i = 0; i < 2; i++) begin : g_share
    localparam int J = 1 - i;
    logic [7:0] result, unmapped;

    assign high[i] = tower_i[i][7:4];
    assign low[i]  = tower_i[i][3:0];

    // The first stage makes the norm of h z + l in GF(2^8), which is V h^2 + h l + l^2. The second stage makes
    // the norm of that in the half field.
    assign norm[i]  = inner1_q[i] ^ cross1_q[i];
    assign norm4[i] = inner2_q[i] ^ cross2_q[i];
    // The inverse in GF(2^2) is a square. Multiplied with the conjugate of the norm it gives the inverse of the
    // norm.
    assign inverse[i] = {inner3h_q[i] ^ cross3h_q[i], inner3l_q[i] ^ cross3l_q[i]};

    // Each stage stores in its own step. Products of one share need no mask; those of both shares get one.
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

    // The last change of basis and the affine transformation are linear, so each share is transformed by
    // itself. The constant 63 is added to share 0 only.
    assign unmapped  = {inner4h_q[i] ^ cross4h_q[i], inner4l_q[i] ^ cross4l_q[i]};
    assign result    = from_tower(unmapped);
    assign byte_o[i] = inverse_i ? result : affine_part(result) ^ (i == 0 ? 8'h63 : 8'h00);
  end

  // Two stages in one cycle would use the same random bits twice, and would combine values of different bytes.
  `ASSERT(AStageAtATime_A, $onehot0(step_i))
endmodule
