// Decides in each cycle what the state of `sha3_core` does.
//
// Timing depends on handshakes and on the function, never on data. The state is sparse (any two codes differ in at
// least three bits). An illegal state or a detected error ends in `StError`, which only a reset leaves.

`include "assert.svh"

module sha3_control
  import sha3_pkg::*;
#(
  parameter int unsigned RoundsPerCycle = 1,
  // 0 builds a control that continues from an illegal state, to show that the test detects it.
  parameter bit          Hardened       = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       start_valid_i,
  output logic       start_ready_o,
  input  logic       wipe_i,
  output logic       idle_o,
  input  logic       fail_i,         // an error of the block
  output logic       error_o,

  input  logic       is_short_i,
  input  logic [4:0] last_lane_i,

  input  logic       block_valid_i,
  input  logic       block_final_i,  // with it the message ends
  output logic       take_block_o,
  output logic       word_valid_o,
  input  logic       word_ready_i,

  // What the state does. The block is added to the output of a round, or to the state as it is.
  output logic [4:0] round_o,        // in groups of `RoundsPerCycle`
  output logic       permute_o,
  output logic       add_block_o,
  output logic       turn_o,
  output logic       clear_o
);
  // A [6,3,3] code without the zero word, so that no single or double upset turns one state into
  // another. Synthesis must keep the codes.
  typedef enum logic [5:0] {
    StIdle    = 6'b001011,
    StAbsorb  = 6'b010101,  // the state waits for a block
    StRounds  = 6'b011110,
    StSqueeze = 6'b100110,  // the first lane is a word of output
    StTurn    = 6'b101101,  // turns the ring to its beginning
    StWipe    = 6'b111000,
    StError   = 6'b110011
  } state_e;

  localparam logic [4:0] LastRound  = 5'(24 / RoundsPerCycle - 1);
  localparam logic [4:0] ShortRound = 5'(12 / RoundsPerCycle);
  localparam logic [4:0] LastTurn   = 5'(RateLanes - 1);

  // The attribute keeps synthesis from recoding the states, whose codes have to stay three bits apart.
  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;
  logic [4:0] count_d, count_q;  // rounds, or turns of the ring
  logic       final_d, final_q;  // the message is complete in the state

  // States are decoded once, by equality. Any other value is an error, for any cause.
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

  // A message is absorbed block by block, and squeezed without end: after each rate of output the ring turns to its
  // beginning, and the rounds follow. A start is taken while idle or instead of output, a wipe everywhere.
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
        // Rounds that do not exist: an upset of the count.
        if (Hardened && count_q > LastRound) state_d = StError;
      end
      StSqueeze, StTurn: if (moves) begin
        count_d = count_q + 1'b1;
        if (count_q == last_lane_i) state_d = StTurn;
        if (count_q == LastTurn) begin
          count_d = first_round;
          state_d = StRounds;
        end
        if (Hardened && count_q > LastTurn) state_d = StError;
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
    // Priority over a command, but not over an error.
    if (wipe_i && !error_o) state_d = StWipe;
    if (fail_i && Hardened) state_d = StError;
  end

  // A reset begins with a wipe. No message is taken until it is over.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      // State and block have no reset, and keep what they had before it.
      state_q <= StWipe;
      count_q <= '0;
      final_q <= 1'b0;
    end else begin
      state_q <= state_d;
      count_q <= count_d;
      final_q <= final_d;
    end
  end

  // Control signals, decoded from state and count, and from whether there is a block.
  assign idle_o       = in_idle;
  assign error_o      = ~(in_idle | in_absorb | in_rounds | in_squeeze | in_turn | in_wipe);
  assign round_o      = count_q;
  assign permute_o    = in_rounds;
  assign add_block_o  = takes;
  assign take_block_o = takes;
  assign turn_o       = moves;
  assign clear_o      = in_wipe | error_o | starts;

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(ErrorOffersNothing_A, error_o |-> !start_ready_o && !word_valid_o && !take_block_o)
  `ASSERT(WipeIsTaken_A, wipe_i && !error_o |=> clear_o)
  `ASSERT(OutputFollowsTheLastRound_A,
          $rose(word_valid_o) |-> $past(in_rounds) && $past(count_q) == LastRound)
  `ASSERT(NoRoundIsLeftOut_A,
          in_rounds && $past(in_rounds) && $past(count_q) < LastRound && count_q <= LastRound |->
          count_q == $past(count_q) + 5'd1)
  `ASSERT(OutputIsOfAWholeMessage_A, word_valid_o |-> final_q)
  `ASSERT(OnlyBlocksAreAdded_A, add_block_o |-> block_valid_i)
endmodule
