// Walks chains: each step hashes I, q, i, j and the value before, which is one block (RFC 8554
// §4.6).
//
// The value of the first step comes from the memory by `lms_first`, and all others from the core,
// into registers. The end of a chain goes from the core into the memory. The next chain is taken
// when the last block is fed, so that steps follow each other without a cycle between them: 34
// cycles a step with two rounds a cycle.
//
// Interface: jobs, ends, commands and lanes have valid and ready. Reset and `wipe_i` drop
// everything.
//
// Hardening: any two states differ in three bits, and every other code is `error_o` until reset.

`include "assert.svh"

module lms_lane
  import xmss_pkg::*;
  import lms_pkg::*;
#(
  // 0 builds a lane that continues from an illegal state, to show that the test detects it.
  parameter bit Hardened = 1'b1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // Drops everything.
  input  logic         wipe_i,
  // The state does not exist. This lasts until reset.
  output logic         error_o,

  // Properties of the signature: I, values of 24 bytes, the largest digit.
  input  logic [127:0] identifier_i,
  input  logic         is_short_i,
  input  logic [7:0]   last_i,

  // A chain whose value is in the memory.
  input  logic         job_valid_i,
  output logic         job_ready_o,
  input  chain_t       job_i,

  // Chains whose ends are not in the memory yet: the chain that is walked, and the chain whose end
  // is still in the core.
  output logic [1:0]      holds_o,
  output logic [1:0][8:0] chain_o,
  // A step was computed.
  output logic         step_o,

  // The value of a first step, from `lms_first`.
  output logic         want_o,
  // A word would be taken in this cycle.
  output logic         free_o,
  input  logic         word_valid_i,
  // The bus does not have q.
  input  logic         busy_i,
  input  logic [63:0]  word_i,

  // An end of a chain, by rows.
  output logic         write_valid_o,
  input  logic         write_ready_i,
  output address_t     write_place_o,

  // The hash core, by `lms_share`.
  output logic         cmd_valid_o,
  input  logic         cmd_ready_i,
  output logic         lane_valid_o,
  input  logic         lane_ready_i,
  output logic [63:0]  lane_o,
  input  logic         block_end_i,
  input  logic         awaits_i,
  input  logic         save_valid_i,
  output logic         save_ready_o,
  input  logic         save_row_i,
  input  row_t         save_i
);
  // A [6,3,3] code, as in `sha2_control`: any two states differ in at least three bits.
  typedef enum logic [5:0] {
    // Waits for a chain.
    StIdle  = 6'b001011,
    // Offers the block of a step.
    StIssue = 6'b010101,
    // Feeds the block. The last step of a chain leads to `StIdle`.
    StFeed  = 6'b011110,
    // Only a reset ends this state.
    StError = 6'b110011
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_issue, in_feed;
  assign in_idle  = state_q == StIdle;
  assign in_issue = state_q == StIssue;
  assign in_feed  = state_q == StFeed;
  assign error_o  = ~(in_idle | in_issue | in_feed);

  // The chain of the step, and the chain of the end that is still in the core.
  logic [8:0] chain_q, end_q;
  // j, the number of the step.
  logic [7:0] step_q;
  // The step is the first one of its chain; the state that leaves the core is the end of a chain.
  logic       first_q, ends_q;
  logic       is_last, takes_job;

  assign is_last     = step_q + 8'd1 == last_i;
  assign job_ready_o = in_idle & ~wipe_i;
  assign takes_job   = job_valid_i & job_ready_o;
  assign step_o      = block_end_i;
  assign cmd_valid_o = in_issue;

  // Each step is one block.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  if (takes_job) state_d = StIssue;
      StIssue: if (cmd_ready_i) state_d = StFeed;
      StFeed:  if (block_end_i) state_d = is_last ? StIdle : StIssue;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (wipe_i && !error_o) state_d = StIdle;
  end

  // The step, and the use of its result.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      chain_q <= '0;
      end_q   <= '0;
      step_q  <= '0;
      first_q <= 1'b0;
      ends_q  <= 1'b0;
    end else begin
      if (block_end_i) begin
        step_q  <= step_q + 8'd1;
        first_q <= 1'b0;
        ends_q  <= is_last;
        end_q   <= chain_q;
      end
      if (takes_job) begin
        chain_q <= job_i.chain;
        step_q  <= job_i.digit;
        first_q <= 1'b1;
      end
    end
  end

  assign holds_o = {awaits_i & ends_q, ~in_idle};
  assign chain_o = {end_q, chain_q};

  // --- results ---
  // A result is the value of the next step, or an end.
  logic [63:0] value_q [4];
  assign write_valid_o = save_valid_i & ends_q;
  assign write_place_o = end_q;
  assign save_ready_o  = ~ends_q | write_ready_i;

  // These registers have no reset, because a step begins after its value. The last pair of 24 bytes
  // is zero.
  always_ff @(posedge clk_i) begin
    if (save_valid_i && !save_row_i) {value_q[2], value_q[0]} <= save_i;
    if (save_valid_i && save_row_i) value_q[1] <= save_i.low;
    if (is_short_i)                      value_q[3] <= '0;
    else if (save_valid_i && save_row_i) value_q[3] <= save_i.high;
  end

  // --- lanes of the block ---
  // Lanes of the block. 16, 4, 2 and 1 bytes precede the value, so it is shifted by a byte.
  logic        active_q, valid_q, loads, is_value, from_bus, may_load, is_length;
  logic [2:0]  at_q;
  logic [1:0]  front, back;
  logic [63:0] lane_q, first, lane;

  assign is_value  = (at_q >= 3'd2) & (at_q < (is_short_i ? 3'd6 : 3'd7));
  assign from_bus  = (is_value & first_q) | (at_q == 3'd2);
  assign is_length = at_q == 3'd7;
  assign want_o    = active_q & in_feed & first_q & (at_q == 3'd2);
  assign free_o    = ~valid_q | lane_ready_i;

  // A value is there when it has left the core, or when it is on the bus, which has q at other
  // times.
  always_comb begin
    may_load = 1'b1;
    if (is_value) may_load = first_q ? word_valid_i : ~awaits_i & ~(busy_i & (at_q == 3'd2));
  end
  assign loads = active_q & free_o & may_load;

  // Seven sources in two stages of four: one look-up table selects one of four.
  assign front = {at_q[2] | at_q[1], (at_q == 3'd1) | (at_q == 3'd4)};
  assign back  = from_bus ? 2'd3 : (at_q == 3'd5) ? 2'd1 : (at_q == 3'd6) ? 2'd2 : 2'd0;
  assign first = front[1] ? (front[0] ? {value_q[1][55:0], value_q[2][63:56]} : {value_q[0][55:0], value_q[1][63:56]}) :
                            (front[0] ? identifier_i[63:0] : identifier_i[127:64]);
  always_comb begin
    // The marker of the padding follows the value.
    lane = back[1] ? (back[0] ? word_i : {value_q[3][55:0], ~is_short_i, 7'b0}) :
                     (back[0] ? {value_q[2][55:0], value_q[3][63] | is_short_i, value_q[3][62:56]} : first);
    // After q, which every lane has from the bus, come i, j and the first byte.
    if (at_q == 3'd2) lane[24:0] = {chain_q, step_q, first_q ? word_i[7:0] : value_q[0][63:56]};
  end
  assign lane_valid_o = valid_q;
  assign lane_o       = lane_q;

  // The next lane waits in a register.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      valid_q  <= 1'b0;
      at_q     <= '0;
    end else if (wipe_i) begin
      active_q <= 1'b0;
      valid_q  <= 1'b0;
      at_q     <= '0;
    end else begin
      if (lane_ready_i) valid_q <= 1'b0;
      if (loads) begin
        valid_q  <= 1'b1;
        at_q     <= at_q + 3'd1;
        active_q <= ~is_length;
      end
      if (takes_job || (block_end_i && !is_last)) active_q <= 1'b1;
    end
  end
  // The last lane is the length. It sets and resets the register, so it needs no place in the
  // selection.
  always_ff @(posedge clk_i) begin
    if (loads && is_length) lane_q <= is_short_i ? 64'd376 : 64'd440;
    else if (loads)         lane_q <= lane;
  end

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // A lane with an error gets no more work and no core.
  `ASSERT(AnErrorTakesNoJob_A, error_o |-> !job_ready_o && !cmd_valid_o)
  // A chain at its end has no step. It would be walked past its end.
  `ASSERT(AChainHasAStep_A, takes_job |-> job_i.digit < last_i)
  // No step is beyond the end of its chain.
  `ASSERT(AStepIsBeforeTheEnd_A, in_issue |-> step_q < last_i)
  // A word that was brought is taken only by a first step.
  `ASSERT(AWordIsForAFirstStep_A, word_valid_i |-> from_bus && first_q && active_q)
  // While a value is brought to another lane, the bus does not have q.
  `ASSERT(QIsOnTheBus_A, loads && at_q == 3'd2 |-> !busy_i)
  // An offered lane does not change until it is taken.
  `ASSERT(ALaneWaits_A, lane_valid_o && !lane_ready_i && !wipe_i |=> lane_valid_o && $stable(lane_o))
endmodule
