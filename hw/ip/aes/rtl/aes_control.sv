// The state machine of the block cipher: loads a block, counts its rounds, and waits for the reader of its result.

`include "assert.svh"

module aes_control
  import aes_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  key_len_e   len_i,
  input  logic       decrypt_i,     // keys in the order of decryption: the last one first
  input  logic       stop_i,        // priority over everything but an error
  input  logic       keys_busy_i,   // the schedule is not there: no block is taken
  input  logic       fail_i,        // an error of the key schedule
  output logic       error_o,       // until reset
  output logic       idle_o,

  input  logic       block_valid_i,
  output logic       block_ready_o,
  output logic       result_valid_o,
  input  logic       result_ready_i,

  output logic       loads_o,       // the state becomes the block and the first key
  output logic       steps_o,       // the state becomes that after a round
  output logic [3:0] round_o        // whose key is used
);
  // Any two codes differ in three bits.
  typedef enum logic [4:0] {
    StIdle  = 5'b00110,
    StRound = 5'b10101,
    StError = 5'b11010
  } state_e;

  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;
  logic [3:0] count_d, count_q;
  logic       in_idle, in_round, is_last, differs;
  logic [3:0] last_round;

  assign in_idle    = state_q == StIdle;
  assign in_round   = state_q == StRound;
  assign error_o    = ~(in_idle | in_round);
  assign last_round = rounds(len_i);

  // An upset of the count does not give a result of fewer rounds, not even in its own cycle.
  assign is_last        = in_round & (count_q == last_round) & ~differs;
  assign result_valid_o = is_last;
  assign block_ready_o  = (in_idle & ~keys_busy_i) | (is_last & result_ready_i);
  assign loads_o        = block_valid_i & block_ready_o;
  assign steps_o        = in_round & ~is_last;
  assign idle_o         = in_idle & ~keys_busy_i;
  assign round_o        = in_round ? (decrypt_i ? last_round - count_q : count_q)
                                   : (decrypt_i ? last_round : 4'd0);

  // A block in the last round waits for its reader; then the next one takes its place, or none.
  always_comb begin
    state_d = state_q;
    count_d = count_q;
    unique case (state_q)
      StIdle: state_d = StIdle;
      StRound: begin
        if (!is_last)            count_d = count_q + 4'd1;
        else if (result_ready_i) state_d = StIdle;
        // Rounds that do not exist: an upset of the count.
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

  aes_copy #(.Bits(4), .Reset(4'd1), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (count_d),
    .value_i(count_q),
    .differs_o(differs)
  );

  // No bit of key or text decides here: the time of a block depends on its length of key only.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      count_q <= 4'd1;
    end else begin
      state_q <= state_d;
      count_q <= count_d;
    end
  end

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !block_ready_o && !result_valid_o && !idle_o)
  `ASSERT(AStopIsTaken_A, stop_i && !error_o && !fail_i && !differs |=> in_idle)
  `ASSERT(AResultWaitsForItsReader_A, result_valid_o && !result_ready_i && !stop_i && !fail_i |=> result_valid_o || differs)
  `ASSERT(NoRoundIsLeftOut_A, $rose(is_last) |-> $past(count_q) == last_round - 4'd1)
  `ASSERT(RoundsBeginWithTheFirst_A, $rose(in_round) && !differs |-> count_q == 4'd1)
endmodule
