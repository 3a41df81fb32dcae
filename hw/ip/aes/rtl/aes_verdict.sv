// This module is the verdict on a tag: the tag is compared in two consecutive cycles, and is right only if both
// say so.
//
// Protocol: `valid_i` says that the tag is there; it stays until `clear_i`, as do `judges_i` and the inputs of
// the comparison. `pending_o` is high until the verdict is final. `fails_o` is a pulse for a wrong tag.
//
// Time: a right tag takes two cycles, a wrong one is known in the first or the second. Reset: there is no
// verdict.
//
// Hardening: any two codes of the verdict differ in three bits or more, so no upset of one or two bits makes a
// tag right. Every other code is an error until reset. With `Hardened` = 0 single bits decide.

`include "assert.svh"

module aes_verdict #(
  // `Hardened` = 0 has two bits of the code decide.
  parameter bit Hardened = 1'b1
) (
  input  logic clk_i,
  input  logic rst_ni,
  // A start and a drop clear the verdict.
  input  logic clear_i,
  // The tag is there, and stays until it is cleared.
  input  logic valid_i,
  // The tag is that of a decryption, and has to be judged.
  input  logic judges_i,
  // The tags are equal in this cycle.
  input  logic equal_i,
  // The tag is there, but the verdict is not final.
  output logic pending_o,
  // The tag of the message is right.
  output logic matches_o,
  // This is a pulse when a tag is found to be wrong.
  output logic fails_o,
  // This is an upset; it stays until reset.
  output logic error_o
);
  typedef enum logic [4:0] {
    // VeNone says that there is no tag. The first comparison ends it.
    VeNone  = 5'b00110,
    // VeOnce says that the tag was equal in the first cycle. The second comparison ends it.
    VeOnce  = 5'b01001,
    // VeRight says that the tag was equal twice. It stays until a clear.
    VeRight = 5'b10101,
    // VeOther says that the tag is wrong, or is not to be judged. It stays until a clear.
    VeOther = 5'b11010
  } verdict_e;

  // A code that an upset has made stays, so this register is no state machine.
  verdict_e verdict_d, verdict_q;
  logic [4:0] code;
  flop_cell #(.Width(5), .Reset(VeNone)) u_flop (.clk_i, .rst_ni, .d_i(verdict_d), .q_o(code));
  assign verdict_q = verdict_e'(code);
  logic is_none, is_once, is_right, is_other;

  assign is_none   = verdict_q == VeNone;
  assign is_once   = verdict_q == VeOnce;
  assign is_right  = verdict_q == VeRight;
  assign is_other  = verdict_q == VeOther;
  assign error_o   = Hardened & ~(is_none | is_once | is_right | is_other);
  assign pending_o = valid_i & (is_none | is_once);
  // Without the hardening two bits decide, so that tests can show what the codes are for.
  assign matches_o = Hardened ? is_right : verdict_q[4] & ~verdict_q[3];
  assign fails_o   = judges_i & pending_o & ~equal_i & ~clear_i;

  // A verdict is final until the next message, because a second comparison would give an upset a second chance.
  always_comb begin
    verdict_d = verdict_q;
    if (is_none && valid_i) verdict_d = !judges_i || !equal_i ? VeOther : VeOnce;
    if (is_once)            verdict_d = valid_i && judges_i && equal_i ? VeRight : VeOther;
    if (clear_i && !error_o) verdict_d = VeNone;
  end

  // One comparison that an upset has made equal is not enough for a right tag.
  `ASSERT(ATagIsRightInTwoCycles_A, $rose(matches_o) && Hardened |-> $past(equal_i, 1) && $past(equal_i, 2))
  // A code that an upset has made illegal cannot become a verdict again.
  `ASSERT(ErrorIsForGood_A, error_o |=> error_o)
  // A right tag needs a tag; without one nothing was authenticated.
  `ASSERT(AVerdictHasATag_A, matches_o && !error_o |-> valid_i)
  // Software that is told twice counts a forgery twice (SP 800-38D, appendix C, limits their number).
  `ASSERT(AFailureIsToldOnce_A, fails_o |=> !fails_o)
  // A verdict does not change while software may read it.
  `ASSERT(AVerdictStays_A, matches_o && valid_i && !clear_i |=> matches_o || error_o)
endmodule
