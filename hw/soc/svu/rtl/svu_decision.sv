// Tells the boot sequencer the decision of the verification unit (hw/ip/boot_sequencer): once, and
// a refusal with its reason before it.
//
// The block keeps nothing that releases. The word of a release is formed from the release in the
// cycle in which it is given. The sequencer takes one decision, so an upset of the registers here
// cannot give another one.
//
// A release is written in the cycle in which it is seen, a refusal one cycle after its reason.
// Reset forgets what was told.

`include "assert.svh"

module svu_decision
  import boot_sequencer_regs_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  // The verification unit. All three are levels.
  input  logic        release_i,
  input  logic        refused_i,
  input  logic [15:0] reason_i,

  // `boot_sequencer_core`: strobes of one cycle, which it takes at once.
  output logic        decide_o,
  output logic        explain_o,
  output logic [31:0] word_o
);
  // The reason was written, and the decision was.
  logic explained_q, decided_q;

  // A reason is written before its refusal, because it is fixed from then on.
  assign explain_o = refused_i & ~explained_q & ~decided_q;
  assign decide_o  = ~decided_q & (refused_i ? explained_q : release_i);
  assign word_o    = explain_o               ? {16'd0, reason_i} :
                     release_i && !refused_i ? boot_sequencer_word__release : boot_sequencer_word__refuse;

  // Marks of what was written, until reset.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      explained_q <= 1'b0;
      decided_q   <= 1'b0;
    end else begin
      explained_q <= explained_q | explain_o;
      decided_q   <= decided_q | decide_o;
    end
  end

  // The word that releases is only ever written while the unit releases and does not refuse.
  `ASSERT(TheWordThatReleasesNeedsARelease_A,
          word_o == boot_sequencer_word__release && !explain_o |-> release_i && !refused_i)
  // The sequencer takes a decision or a reason, never both.
  `ASSERT(OneWriteAtATime_A, !(decide_o && explain_o))
  // Nothing is written after the decision.
  `ASSERT(OneDecision_A, decide_o |=> !decide_o && !explain_o)
  // Nothing is decided while the unit has neither released nor refused.
  `ASSERT(NoDecisionUnasked_A, decide_o |-> release_i || refused_i)
  // The reason that is shown is the unit's own.
  `ASSERT(AReasonIsTheUnits_A, explain_o |-> word_o == {16'd0, reason_i})
endmodule
