// This module keeps a digest, or a block of output, until software has read it.
//
// Protocol: `collect_i` begins, and words of the core are then taken until the last lane. While `valid_o` is
// high, `lane_o` is the lane `lane_i` in the same cycle, and zero for lanes past the end.
//
// Time: a lane is taken in each cycle in which the core has one. The memory is distributed and has neither a
// reset nor a clear. So a clear hides it at once and overwrites it in the next 32 cycles, also after a reset.
//
// Reset: nothing is shown, and a clear begins. Nothing is hardened here.

`include "assert.svh"

module sha3_output
  import sha3_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,

  // The next lanes are collected, beginning with the first one.
  input  logic       collect_i,
  // This is stable until the next collection.
  input  logic [4:0] last_lane_i,
  // Only the lower half of the last lane belongs to the digest.
  input  logic       is_half_i,
  // A clear hides everything at once.
  input  logic       clear_i,
  // The module collects, or overwrites the memory.
  output logic       busy_o,
  output logic       valid_o,

  // These are the words of the core.
  input  logic       word_valid_i,
  output logic       word_ready_o,
  input  lane_t      word_i,

  // This is the port of software.
  input  logic [4:0] lane_i,
  output lane_t      lane_o
);
  lane_t      memory [32];
  logic [4:0] count_q;
  logic       collects_q, clears_q, valid_q, moves, is_last;

  assign word_ready_o = collects_q & ~clears_q;
  assign moves        = word_valid_i & word_ready_o;
  assign is_last      = count_q == last_lane_i;
  assign busy_o       = collects_q | clears_q;
  assign valid_o      = valid_q;
  // Lanes past the end may belong to an earlier message, so they are hidden.
  assign lane_o       = (valid_q && lane_i <= last_lane_i) ? memory[lane_i] : '0;

  // The memory has one write port, for output and for zeros.
  always_ff @(posedge clk_i) begin
    if (moves || clears_q) begin
      memory[count_q] <= clears_q ? '0 : {(is_half_i && is_last) ? 32'b0 : word_i[63:32], word_i[31:0]};
    end
  end

  // A reset begins with a clear.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q    <= '0;
      collects_q <= 1'b0;
      clears_q   <= 1'b1;
      valid_q    <= 1'b0;
    end else if (clear_i) begin
      count_q    <= '0;
      collects_q <= 1'b0;
      clears_q   <= 1'b1;
      valid_q    <= 1'b0;
    end else if (collect_i) begin
      count_q    <= '0;
      collects_q <= 1'b1;
      valid_q    <= 1'b0;
    end else begin
      count_q <= count_q + 5'(moves | clears_q);
      if (clears_q && count_q == '1) clears_q <= 1'b0;
      if (moves && is_last) begin
        collects_q <= 1'b0;
        valid_q    <= 1'b1;
      end
    end
  end

  // A digest that was dropped cannot be read, although it is still in the memory.
  `ASSERT(AClearHidesEverything_A, clear_i |=> !valid_o && lane_o == '0)
  // Software sees a digest only when all of it is there.
  `ASSERT(NothingIsShownWhileItIsCollected_A, word_ready_o |-> !valid_o)
  // A collection during a clear would be overwritten by zeros.
  `ASSERT(CollectsNothingDuringAClear_A, collect_i |-> !clears_q || clear_i)
  // Nothing of an earlier, longer digest is shown.
  `ASSERT(ShowsNothingPastTheEnd_A, lane_i > last_lane_i |-> lane_o == '0)
  // A digest is shown only after its last lane, never a part of it.
  `ASSERT(ADigestHasAllItsLanes_A, 1'b1 |=> !(valid_o && !$past(valid_o)) || count_q == 5'(last_lane_i + 5'd1))
  // A clear overwrites the memory, because what is only hidden could be read after a fault.
  `ASSERT(AClearOverwrites_A, clears_q |=> memory[$past(count_q)] == '0)
endmodule
