// Tells the boot sequencer what the verification unit has decided (hw/ip/boot_sequencer): once, a refusal with its reason
// before it.
//
// It keeps nothing that releases. The word that does is made of the release in the cycle in which it is given; the
// sequencer takes one decision, so an upset of what is kept here cannot give another one.

`include "assert.svh"

module svu_decision
  import boot_sequencer_regs_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  // The verification unit.
  input  logic        release_i,
  input  logic        refused_i,
  input  logic [15:0] reason_i,

  // `boot_sequencer_core`.
  output logic        decide_o,
  output logic        explain_o,
  output logic [31:0] word_o
);
  logic explained_q, decided_q;

  // A reason is written before its refusal, because it is fixed from then on.
  assign explain_o = refused_i & ~explained_q & ~decided_q;
  assign decide_o  = ~decided_q & (refused_i ? explained_q : release_i);
  assign word_o    = explain_o               ? {16'd0, reason_i} :
                     release_i && !refused_i ? boot_sequencer_word__release : boot_sequencer_word__refuse;

  // What was told.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      explained_q <= 1'b0;
      decided_q   <= 1'b0;
    end else begin
      explained_q <= explained_q | explain_o;
      decided_q   <= decided_q | decide_o;
    end
  end

  `ASSERT(TheWordThatReleasesNeedsARelease_A,
          word_o == boot_sequencer_word__release && !explain_o |-> release_i && !refused_i)
  `ASSERT(OneWriteAtATime_A, !(decide_o && explain_o))
  `ASSERT(OneDecision_A, decide_o |=> !decide_o && !explain_o)
endmodule
