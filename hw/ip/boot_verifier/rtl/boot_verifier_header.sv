// Judges the header of a first stage while its words pass (spec/first-stage.md §6, §7).
//
// Each rule has three bits: a broken field sets the first one and clears the second one, and the
// last word of the rule sets the third one if no field broke it. So a rule that was left out is not
// kept, and the upset of one bit does not make a rule kept: before the last word the other two bits
// contradict it, and after it the third one does as well.
//
// Interface: `word_i` is a strobe for the word `index_i`, at most one a cycle. Its effect shows in
// the next cycle. `clear_i` and reset keep no rule.

`include "assert.svh"

module boot_verifier_header
  import boot_verifier_pkg::*;
#(
  // Algorithm and parameter set that the header has to repeat, and the name of the system on a
  // chip.
  parameter logic [31:0]  Algorithm  = 32'd17,
  parameter logic [31:0]  Parameters = 32'd1,
  parameter logic [255:0] Soc        = SocName,
  // 0 builds rules of two bits, to show that the campaign of upsets finds what they miss.
  parameter bit           Hardened   = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Begins a header. Then words pass in order, each once.
  input  logic                clear_i,
  // A word passes: its number and its eight bytes.
  input  logic                word_i,
  input  logic [4:0]          index_i,
  input  logic [63:0]         data_i,
  // Facts of the device: its board (valid for words 8 to 11), floor and lifecycle.
  input  logic [63:0]         board_i,
  input  logic                board_good_i,
  input  logic [6:0]          floor_i,
  // Development, production or returned: at most one bit is set.
  input  logic [2:0]          lifecycle_i,

  // The three bits of each rule.
  output logic [NumRules-1:0] broken_o,
  output logic [NumRules-1:0] intact_o,
  output logic [NumRules-1:0] kept_o,
  // The first rule that is not kept.
  output rule_e               first_o,
  // Words of the header that name the key of the next stage.
  output logic                next_word_o,
  output logic                next_last_o
);
  logic [NumRules-1:0] breaks, ends, broken_d, broken_q, intact_d, intact_q, kept_d, kept_q;
  // The next key has no algorithm, so its digest has to be zero as well.
  logic next_is_none_d, next_is_none_q;
  logic is_above, is_reserved, is_digest;

  // The version has to be at least the floor. A floor is below 128.
  assign is_above    = (data_i[63:7] != '0) | (data_i[6:0] >= floor_i);
  assign is_reserved = index_i inside {5'd6, 5'd7, [5'd17:5'd19], [5'd24:5'd31]};
  assign is_digest   = index_i inside {[5'd20:5'd23]};

  // The rules that this word breaks, and those whose last word it is.
  always_comb begin
    breaks         = '0;
    ends           = '0;
    next_is_none_d = next_is_none_q;
    unique case (index_i)
      5'd0:    breaks[RuleTag] = data_i != HeaderTag[0];
      5'd1:    begin
        breaks[RuleTag] = data_i != HeaderTag[1];
        ends[RuleTag]   = 1'b1;
      end
      // The algorithm is part of what is signed, so that no lead of another algorithm fits this
      // signed part.
      5'd2:    begin
        breaks[RuleAlgorithm] = data_i != {Parameters, Algorithm};
        ends[RuleAlgorithm]   = 1'b1;
      end
      // Word 3 is the size of the code, which the core judges.
      5'd4:    begin
        breaks[RuleFloor] = ~is_above;
        ends[RuleFloor]   = 1'b1;
      end
      5'd5:    begin
        breaks[RuleReserved]  = data_i[63:32] != '0;
        breaks[RuleMask]      = (data_i[2:0] == '0) | (data_i[31:3] != '0);
        ends[RuleMask]        = 1'b1;
        breaks[RuleLifecycle] = (data_i[2:0] & lifecycle_i) == '0;
        ends[RuleLifecycle]   = 1'b1;
      end
      5'd8, 5'd9, 5'd10, 5'd11: begin
        breaks[RuleBoard] = (data_i != board_i) | ~board_good_i;
        ends[RuleBoard]   = index_i == 5'd11;
      end
      5'd12, 5'd13, 5'd14, 5'd15: begin
        breaks[RuleSoc] = data_i != Soc[64*index_i[1:0] +: 64];
        ends[RuleSoc]   = index_i == 5'd15;
      end
      // A stage without a successor has zeros in all of these words.
      5'd16:   begin
        next_is_none_d   = data_i == '0;
        breaks[RuleNext] = (data_i != '0) & ~is_pair(data_i[31:0], data_i[63:32]);
      end
      default: ;
    endcase
    // Fields that later versions of the form may use are zero in this version.
    if (is_reserved) begin
      breaks[RuleReserved] = data_i != '0;
      ends[RuleReserved]   = index_i == 5'd31;
    end
    if (is_digest) begin
      breaks[RuleNext] = next_is_none_q & (data_i != '0);
      ends[RuleNext]   = index_i == 5'd23;
    end
  end

  // A rule is kept after its last word if no word broke it.
  always_comb begin
    broken_d = broken_q;
    intact_d = intact_q;
    kept_d   = kept_q;
    if (word_i) begin
      broken_d = broken_q | breaks;
      intact_d = intact_q & ~breaks;
      kept_d   = kept_q | (ends & ~(broken_q | breaks) & (intact_q | {NumRules{~Hardened}}));
    end
    if (clear_i) begin
      broken_d = '0;
      intact_d = '1;
      kept_d   = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      broken_q       <= '0;
      intact_q       <= '0;
      kept_q         <= '0;
      next_is_none_q <= 1'b0;
    end else begin
      broken_q <= broken_d;
      intact_q <= intact_d;
      kept_q   <= kept_d;
      if (word_i) next_is_none_q <= next_is_none_d;
    end
  end

  // The first rule that is not kept, in the order in which a refusal reports them.
  always_comb begin
    first_o = RuleLifecycle;
    for (int rule = int'(NumRules) - 1; rule >= 0; rule--) begin
      if (broken_q[rule] | ~intact_q[rule] | ~kept_q[rule]) first_o = rule_e'(rule);
    end
  end

  assign broken_o    = broken_q;
  assign intact_o    = intact_q;
  assign kept_o      = kept_q;
  assign next_word_o = word_i & (is_digest | (index_i == 5'd16));
  assign next_last_o = index_i == 5'd23;

  // No rule is both broken and kept.
  `ASSERT(NoRuleIsBoth_A, word_i |=> (broken_q & kept_q) == '0)
  // The first two bits of a rule are always opposite, so an upset of one of them shows.
  `ASSERT(ARuleIsBrokenOrIntact_A, word_i |=> (broken_q ^ intact_q) == '1)
  // A broken rule stays broken until the next header.
  `ASSERT(WhatIsBrokenStays_A, !clear_i && broken_q != '0 |=> (broken_q & $past(broken_q)) == $past(broken_q))
  // No rule of an earlier header counts.
  `ASSERT(AClearKeepsNoRule_A, clear_i |=> kept_q == '0)
endmodule
