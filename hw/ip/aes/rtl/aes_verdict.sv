// The verdict on a tag: the tag is compared in two cycles, and right only if both say so.
//
// Any two codes of the verdict differ in three bits, so no upset of one or two bits makes a tag right. A code that is none
// is an error.

`include "assert.svh"

module aes_verdict #(
  parameter bit Hardened = 1'b1
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clear_i,    // at a start and at a drop
  input  logic valid_i,    // the tag is there, and stays
  input  logic judges_i,   // it is that of a decryption
  input  logic equal_i,
  output logic pending_o,  // the tag is there, but not the verdict
  output logic matches_o,
  output logic fails_o,    // a pulse
  output logic error_o     // an upset, until reset
);
  typedef enum logic [4:0] {
    VeNone  = 5'b00110,  // no tag
    VeOnce  = 5'b01001,  // equal in the first cycle
    VeRight = 5'b10101,
    VeOther = 5'b11010   // wrong, or not to be judged
  } verdict_e;

  verdict_e verdict_d;
  (* fsm_encoding = "none" *) verdict_e verdict_q;
  logic is_none, is_once, is_right, is_other;

  assign is_none   = verdict_q == VeNone;
  assign is_once   = verdict_q == VeOnce;
  assign is_right  = verdict_q == VeRight;
  assign is_other  = verdict_q == VeOther;
  assign error_o   = Hardened & ~(is_none | is_once | is_right | is_other);
  assign pending_o = valid_i & (is_none | is_once);
  // Without the hardening a bit decides.
  assign matches_o = Hardened ? is_right : verdict_q[4] & ~verdict_q[3];
  assign fails_o   = judges_i & pending_o & ~equal_i & ~clear_i;

  // A verdict is final until the next message: a second comparison would give an upset a second chance.
  always_comb begin
    verdict_d = verdict_q;
    if (is_none && valid_i) verdict_d = !judges_i || !equal_i ? VeOther : VeOnce;
    if (is_once)            verdict_d = valid_i && judges_i && equal_i ? VeRight : VeOther;
    if (clear_i && !error_o) verdict_d = VeNone;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) verdict_q <= VeNone;
    else         verdict_q <= verdict_d;
  end

  `ASSERT(ATagIsRightInTwoCycles_A, $rose(matches_o) && Hardened |-> $past(equal_i, 1) && $past(equal_i, 2))
  `ASSERT(ErrorIsForGood_A, error_o |=> error_o)
  `ASSERT(AVerdictHasATag_A, matches_o && !error_o |-> valid_i)
  // Software that is told twice counts a forgery twice (SP 800-38D, appendix C limits them).
  `ASSERT(AFailureIsToldOnce_A, fails_o |=> !fails_o)
  `ASSERT(AVerdictStays_A, matches_o && valid_i && !clear_i |=> matches_o || error_o)
endmodule
