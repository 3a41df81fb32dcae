// This module decides in each cycle what the state of `sha3_core` does.
//
// Protocol: a start is taken while idle or instead of output, a block when the state can take it, and words of
// output leave by a valid/ready handshake. `wipe_i` is taken in every state but the error.
//
// Time: it depends on handshakes and on the function, never on data. A block takes 24 rounds, or the last 12 of
// them.
//
// Reset: the module begins with a wipe of one cycle. Hardening: the states differ in at least three bits, and the
// count and the mark of a complete message have a copy. An illegal state, a difference, or an error elsewhere
// ends in `StError`, which only a reset leaves.

`include "assert.svh"

module sha3_control
  import sha3_pkg::*;
#(
  // `RoundsPerCycle` is 1 or 2.
  parameter int unsigned RoundsPerCycle = 1,
  // `Hardened` = 0 builds a control that continues from an illegal state, to show that the test detects it.
  parameter bit          Hardened       = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // These are the start of a message and a wipe.
  input  logic       start_valid_i,
  output logic       start_ready_o,
  input  logic       wipe_i,
  output logic       idle_o,
  // This is an error of the block; `error_o` stays until reset.
  input  logic       fail_i,
  output logic       error_o,

  // These belong to the function of the message: 12 rounds, and the last lane of its rate.
  input  logic       is_short_i,
  input  logic [4:0] last_lane_i,

  // These are the blocks of the message.
  input  logic       block_valid_i,
  // The message ends with this block.
  input  logic       block_final_i,
  output logic       take_block_o,
  // These are the words of output.
  output logic       word_valid_o,
  input  logic       word_ready_i,

  // These signals say what the state does. The block is added to the output of a round, or to the state as it
  // is.
  output logic [4:0] round_o,        // It counts in groups of `RoundsPerCycle`.
  output logic       permute_o,
  output logic       add_block_o,
  output logic       turn_o,
  output logic       clear_o
);
  // This is a [6,3,3] code without the zero word, so no upset of one or two bits turns one state into another.
  // Synthesis must keep the codes.
  typedef enum logic [5:0] {
    // StIdle waits for a start.
    StIdle    = 6'b001011,
    // StAbsorb waits for a block, which is added to the state.
    StAbsorb  = 6'b010101,
    // StRounds makes the rounds, and ends in the last one.
    StRounds  = 6'b011110,
    // StSqueeze offers the first lane as a word of output, and ends after the last lane of the rate.
    StSqueeze = 6'b100110,
    // StTurn turns the ring to its beginning, and ends when it is there.
    StTurn    = 6'b101101,
    // StWipe clears the state in one cycle.
    StWipe    = 6'b111000,
    // StError waits for a reset.
    StError   = 6'b110011
  } state_e;

  localparam logic [4:0] LastRound  = 5'(24 / RoundsPerCycle - 1);
  localparam logic [4:0] ShortRound = 5'(12 / RoundsPerCycle);
  localparam logic [4:0] LastTurn   = 5'(RateLanes - 1);

  // The register keeps synthesis from recoding the states, whose codes have to stay three bits apart.
  state_e state_d, state_q;
  // A reset begins with a wipe, and no message is taken until it is over: state and block have no reset, and keep what
  // they had before it until the wipe.
  sparse_fsm #(.state_t(state_e), .Reset(StWipe), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic [4:0] count_d, count_q;  // This counts rounds, or turns of the ring.
  logic       final_d, final_q;  // The message is complete in the state.

  // Both have a copy. An upset would leave out rounds, or give output before the message is complete.
  logic differs, counts_differ;
  shadow_register #(.Width(6)) u_count (
    .clk_i, .rst_ni, .write_i(1'b1), .d_i({count_d, final_d}), .q_o({count_q, final_q}), .differs_o(counts_differ)
  );
  assign differs = Hardened & counts_differ;

  // States are decoded once, by equality. Any other value is an error, whatever has caused it.
  logic in_idle, in_absorb, in_rounds, in_squeeze, in_turn, in_wipe;
  logic starts, takes, moves, is_last_round;
  logic [4:0] first_round;

  assign in_idle    = state_q == StIdle;
  assign in_absorb  = state_q == StAbsorb;
  assign in_rounds  = state_q == StRounds;
  assign in_squeeze = state_q == StSqueeze;
  assign in_turn    = state_q == StTurn;
  assign in_wipe    = state_q == StWipe;

  assign first_round   = is_short_i ? ShortRound : 5'd0;
  assign is_last_round = count_q == LastRound;
  assign start_ready_o = in_idle | in_squeeze;
  assign starts        = start_valid_i & start_ready_o;
  assign word_valid_o  = in_squeeze;
  assign moves         = (in_squeeze & word_ready_i) | in_turn;

  // The next block enters in the cycle of the last round. If it is late, the state waits for it.
  assign takes = block_valid_i & (in_absorb | (in_rounds & is_last_round & ~final_q));

  // A message is absorbed block by block, and squeezed without end: after each rate of output the ring turns to
  // its beginning, and the rounds follow. A start is taken while idle or instead of output, a wipe everywhere.
  always_comb begin
    state_d = state_q;
    count_d = count_q;
    final_d = takes ? block_final_i : final_q;

    unique case (state_q)
      StIdle, StAbsorb: count_d = first_round;
      StRounds: begin
        count_d = count_q + 1'b1;
        if (is_last_round) begin
          count_d = final_q ? 5'd0 : first_round;
          state_d = final_q ? StSqueeze : StAbsorb;
        end
      end
      StSqueeze, StTurn: if (moves) begin
        count_d = count_q + 1'b1;
        if (count_q == last_lane_i) state_d = StTurn;
        if (count_q == LastTurn) begin
          count_d = first_round;
          state_d = StRounds;
        end
      end
      StWipe:  state_d = StIdle;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase

    if (takes) state_d = StRounds;
    if (starts) begin
      state_d = StAbsorb;
      final_d = 1'b0;
    end
    // A wipe has priority over a start, but not over an error.
    if (wipe_i && !error_o) state_d = StWipe;
    if ((fail_i && Hardened) || differs) state_d = StError;
  end

  // The control signals are decoded from state and count, and from whether there is a block.
  assign idle_o       = in_idle;
  assign error_o      = ~(in_idle | in_absorb | in_rounds | in_squeeze | in_turn | in_wipe);
  assign round_o      = count_q;
  assign permute_o    = in_rounds;
  assign add_block_o  = takes;
  assign take_block_o = takes;
  assign turn_o       = moves;
  assign clear_o      = in_wipe | error_o | starts;

  // A control that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Nobody starts a message, gives a block or takes a word in the error.
  `ASSERT(ErrorOffersNothing_A, error_o |-> !start_ready_o && !word_valid_o && !take_block_o)
  // A wipe is never lost, or secrets would stay.
  `ASSERT(WipeIsTaken_A, wipe_i && !error_o |=> clear_o)
  // Output of fewer rounds would tell more about the state than a digest may.
  `ASSERT(OutputFollowsTheLastRound_A,
          $rose(word_valid_o) |-> $past(in_rounds) && $past(count_q) == LastRound)
  // Rounds follow each other, so none is left out.
  `ASSERT(NoRoundIsLeftOut_A,
          in_rounds && $past(in_rounds) && $past(count_q) < LastRound && !differs |->
          count_q == $past(count_q) + 5'd1)
  // Every block, and every further rate of output, gets all rounds from the first one of its function on.
  `ASSERT(RoundsBeginWithTheFirst_A,
          in_rounds && (!$past(in_rounds) || $past(count_q) == LastRound) && !differs |->
          count_q == $past(first_round))
  // Output in the middle of a message would be the digest of another message.
  `ASSERT(OutputIsOfAWholeMessage_A, word_valid_o |-> final_q || differs)
  // Only whole blocks are added to the state.
  `ASSERT(OnlyBlocksAreAdded_A, add_block_o |-> block_valid_i)
  // The ring of the rate is back at its beginning before rounds work on it.
  `ASSERT(TheRingTurnsWhole_A,
          in_rounds && $past(in_squeeze || in_turn) && !differs |-> $past(count_q) == LastTurn)
endmodule
