// This module is the state machine of the block cipher: it loads a block, counts its rounds, and waits for the
// reader of the result.
//
// Protocol: a block is loaded in a cycle with `block_valid_i` and `block_ready_o`, and a result is taken in one
// with `result_valid_o` and `result_ready_i`. The next block can be loaded in the cycle in which a result is
// taken. `len_i` and `decrypt_i` have to be stable while a block is under way.
//
// Time: the result comes 10, 12 or 14 cycles after the block (FIPS 197 table 3). No bit of key or text decides
// about it.
//
// Reset: the module is idle. Hardening: the state has codes with a distance of three bits, and the count of
// rounds has a copy. An upset ends in StError and offers neither a result nor an idle engine. `Hardened` = 0
// removes this.

`include "assert.svh"

module aes_control
  import aes_pkg::*;
#(
  // `Hardened` = 0 has illegal states return to StIdle, and there is no copy.
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // The configuration of the cipher. In a decryption the keys of the rounds are used from the last one to the
  // first one.
  input  key_len_e   len_i,
  input  logic       decrypt_i,
  // A stop has priority over everything but an error.
  input  logic       stop_i,
  // The key schedule is not complete while `keys_busy_i` is high, and no block is taken.
  input  logic       keys_busy_i,
  // `fail_i` reports an error of the key schedule; `error_o` stays until reset.
  input  logic       fail_i,
  output logic       error_o,
  output logic       idle_o,

  input  logic       block_valid_i,
  output logic       block_ready_o,
  output logic       result_valid_o,
  input  logic       result_ready_i,

  // With `loads_o` the state of the cipher becomes the block plus the first round key.
  output logic       loads_o,
  // With `steps_o` the state becomes that after a round.
  output logic       steps_o,
  // `round_o` says which round key is used in this cycle.
  output logic [3:0] round_o
);
  // Any two codes differ in three bits.
  typedef enum logic [4:0] {
    // StIdle waits for a block.
    StIdle  = 5'b00110,
    // StRound counts rounds, and ends when the result of the last one is taken.
    StRound = 5'b10101,
    // StError waits for a reset.
    StError = 5'b11010
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic [3:0] count_d, count_q;
  logic       in_idle, in_round, is_last, differs;
  logic [3:0] last_round;

  assign in_idle    = state_q == StIdle;
  assign in_round   = state_q == StRound;
  // Every other code is an error.
  assign error_o    = ~(in_idle | in_round);
  assign last_round = rounds(len_i);

  // An upset of the count must not release the result of too few rounds, not even in its own cycle; so
  // `differs` is a part of this condition.
  assign is_last        = in_round & (count_q == last_round) & ~differs;
  assign result_valid_o = is_last;
  assign block_ready_o  = (in_idle & ~keys_busy_i) | (is_last & result_ready_i);
  assign loads_o        = block_valid_i & block_ready_o;
  assign steps_o        = in_round & ~is_last;
  assign idle_o         = in_idle & ~keys_busy_i;
  // While the module is idle the first round key is read, so that it is there when a block comes.
  assign round_o        = in_round ? (decrypt_i ? last_round - count_q : count_q)
                                   : (decrypt_i ? last_round : 4'd0);

  // A block in its last round waits for its reader. Then the next block takes its place, if there is one.
  always_comb begin
    state_d = state_q;
    count_d = count_q;
    unique case (state_q)
      StIdle: state_d = StIdle;
      StRound: begin
        if (!is_last)            count_d = count_q + 4'd1;
        else if (result_ready_i) state_d = StIdle;
        // These counts do not exist, so an upset has made one of them.
        if (Hardened && (count_q == '0 || count_q > last_round)) state_d = StError;
      end
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    // A block may be loaded in the cycle in which the result before is taken, so this is not a part of a state.
    if (loads_o) begin
      state_d = StRound;
      count_d = 4'd1;
    end
    if (stop_i && !error_o) state_d = StIdle;
    if ((fail_i || differs) && Hardened) state_d = StError;
  end

  // The copy detects an upset of the count, which would leave out rounds or repeat them.
  register_copy #(.Width(4), .Reset(4'd1), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (count_d),
    .value_i(count_q),
    .differs_o(differs)
  );

  // No bit of key or text decides about the state, so the time of a block depends only on the length of the
  // key.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= 4'd1;
    end else begin
      count_q <= count_d;
    end
  end

  // An engine that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Nobody takes a result, gives a block or believes that the engine is idle in the error state.
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !block_ready_o && !result_valid_o && !idle_o)
  // A stop ends every block in one cycle; otherwise a dropped message could still give a result.
  `ASSERT(AStopIsTaken_A, stop_i && !error_o && !fail_i && !differs |=> in_idle)
  // A result is not lost while its reader waits.
  `ASSERT(AResultWaitsForItsReader_A, result_valid_o && !result_ready_i && !stop_i && !fail_i |=> result_valid_o || differs)
  // The last round follows the last but one. An attacker who could skip rounds would get the key by
  // cryptanalysis.
  `ASSERT(NoRoundIsLeftOut_A, $rose(is_last) |-> $past(count_q) == last_round - 4'd1)
  // Every block starts with round 1, so all rounds are executed.
  `ASSERT(RoundsBeginWithTheFirst_A, $rose(in_round) && !differs |-> count_q == 4'd1)
endmodule
