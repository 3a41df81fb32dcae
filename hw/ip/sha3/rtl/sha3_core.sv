// This module is SHA-3, SHAKE, cSHAKE, KMAC and TurboSHAKE without a bus: the sponge of Keccak-p[1600]
// (FIPS 202 §4).
//
// Protocol: every port is a handshake; a transfer happens in a cycle with valid and ready. A start names the
// function, the words of the message follow, and then words of output leave, as many as the reader takes. A
// start or a wipe ends the output.
//
// Time: a block takes 24 rounds (12 with `is_short`), one or two in a cycle. Words of the next block are
// collected meanwhile, and are added to the output of the last round, so blocks follow each other without a
// cycle between. The rate is a ring that turns by a lane for each word of output.
//
// The core is small because each bit of a round takes one look-up table after the parities: θ, ρ, π and χ of a
// bit are a function of three bits of the state and of three of θ's sums. The block, the ring and the round
// meet in one more table for each bit, and words of a message reach their lane through an enable, without a
// multiplexer.
//
// Reset: the control begins with a wipe, which sets state and block to zero. Hardening: see `sha3_control` and
// `sha3_block`. An error of one of them stops both.

`include "assert.svh"

module sha3_core
  import sha3_pkg::*;
#(
  parameter int unsigned RoundsPerCycle = 1,  // This is 1 or 2.
  // `Hardened` = 0 lets illegal states continue.
  parameter bit          Hardened       = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // A start begins a message. A wipe is taken at any time, and ends in idle unless there was an error.
  input  logic       start_valid_i,
  output logic       start_ready_o,
  input  function_t  function_i,
  input  logic       wipe_i,
  output logic       idle_o,
  // An error stays until reset.
  output logic       error_o,

  // This is the message, with the first byte in the lower bits. The last word has 0 to 8 bytes; what follows
  // them in the word is ignored.
  input  logic       msg_valid_i,
  output logic       msg_ready_o,
  input  lane_t      msg_i,
  input  logic       msg_last_i,
  input  logic [3:0] msg_bytes_i,

  // This is the digest, or output without end. `word_o` is defined while `word_valid_o` is high, and internal
  // at other times.
  output logic       word_valid_o,
  input  logic       word_ready_i,
  output lane_t      word_o
);
  localparam int unsigned R = RoundsPerCycle;

  function_t  function_q;
  logic       block_valid, block_final, take_block, starts, clear, block_error, control_error;
  logic [4:0] round;
  logic       permute, add_block, turn;
  lane_t      block [RateLanes];

  assign starts  = start_valid_i & start_ready_o;
  assign error_o = control_error | block_error;

  // The function of a message is fixed at its start.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)     function_q <= '0;
    else if (starts) function_q <= function_i;
  end

  // The control says what the state does in this cycle.
  sha3_control #(
    .RoundsPerCycle(RoundsPerCycle),
    .Hardened      (Hardened)
  ) u_control (
    .clk_i, .rst_ni,
    .start_valid_i, .start_ready_o, .wipe_i, .idle_o,
    .fail_i       (block_error),
    .error_o      (control_error),
    .is_short_i   (function_q.is_short),
    .last_lane_i  (last_lane(function_q.rate)),
    .block_valid_i(block_valid),
    .block_final_i(block_final),
    .take_block_o (take_block),
    .word_valid_o, .word_ready_i,
    .round_o      (round),
    .permute_o    (permute),
    .add_block_o  (add_block),
    .turn_o       (turn),
    .clear_o      (clear)
  );

  // The block collects and pads the words of the message.
  sha3_block #(.Hardened(Hardened)) u_block (
    .clk_i, .rst_ni,
    .start_i    (starts),
    .clear_i    (clear),
    .fail_i     (control_error),
    .error_o    (block_error),
    .suffix_i   (function_q.suffix),
    .last_lane_i(last_lane(function_q.rate)),
    .msg_valid_i, .msg_ready_o, .msg_i, .msg_last_i,
    .msg_bytes_i(msg_bytes_i),
    .valid_o    (block_valid),
    .final_o    (block_final),
    .take_i     (take_block),
    .block_o    (block)
  );

  // This is the rotation of a lane, upwards.
  function automatic lane_t rotl(lane_t lane, int unsigned n);
    return (lane << n) | (lane >> (64 - n));
  endfunction

  // --- rounds ---

  lane_t state_q [Lanes];
  lane_t permuted [Lanes];

  // These are the lanes before and after each step of the round.
  for (genvar r = 0; r < R; r++) begin : g_round
    lane_t lanes [Lanes];
    lane_t parity [5];
    lane_t sum [5];
    lane_t moved [Lanes];
    lane_t moved_sum [Lanes];
    lane_t row [Lanes];
    lane_t next [Lanes];

    if (r == 0) begin : g_from_state
      assign lanes = state_q;
    end else begin : g_from_round
      assign lanes = g_round[r-1].next;
    end

    // θ (§3.2.1) adds the sum of two columns to each lane of a third one.
    for (genvar x = 0; x < 5; x++) begin : g_column
      assign parity[x] = lanes[x] ^ lanes[x+5] ^ lanes[x+10] ^ lanes[x+15] ^ lanes[x+20];
      assign sum[x]    = parity[(x+4)%5] ^ rotl(parity[(x+1)%5], 1);
    end

    for (genvar y = 0; y < 5; y++) begin : g_row
      for (genvar x = 0; x < 5; x++) begin : g_lane
        // ρ and π (§3.2.2, §3.2.3) are wires. They move a lane and its sum before these are added, in χ.
        assign moved[y+5*((2*x+3*y)%5)]     = rotl(lanes[x+5*y], Rotations[x+5*y]);
        assign moved_sum[y+5*((2*x+3*y)%5)] = rotl(sum[x], Rotations[x+5*y]);
        sha3_lane u_lane (
          .lane_i({moved[(x+2)%5+5*y], moved[(x+1)%5+5*y], moved[x+5*y]}),
          .sum_i ({moved_sum[(x+2)%5+5*y], moved_sum[(x+1)%5+5*y], moved_sum[x+5*y]}),
          .lane_o(row[x+5*y])
        );
        // ι (§3.2.5) adds a constant to the first lane.
        if (x + y == 0) begin : g_first
          assign next[0] = row[0] ^ RoundConstants[int'(round) * R + r];
        end else begin : g_other
          assign next[x+5*y] = row[x+5*y];
        end
      end
    end
  end
  assign permuted = g_round[R-1].next;

  // --- the state ---

  for (genvar l = 0; l < Lanes; l++) begin : g_state
    if (l < RateLanes) begin : g_rate
      lane_t state_d;
      // Four sources meet in one function of six signals: a round with or without the next block, the block by
      // itself, and the next lane of the ring.
      always_comb begin
        unique case ({permute, add_block})
          2'b10:   state_d = permuted[l];
          2'b11:   state_d = permuted[l] ^ block[l];
          2'b01:   state_d = state_q[l] ^ block[l];
          default: state_d = state_q[(l+1)%RateLanes];
        endcase
      end
      // The state has no reset, because the reset begins with a wipe.
      always_ff @(posedge clk_i) begin
        if (clear)                              state_q[l] <= '0;
        else if (permute || add_block || turn) state_q[l] <= state_d;
      end
    end else begin : g_capacity
      // No block reaches these lanes, and no output comes from them.
      always_ff @(posedge clk_i) begin
        if (clear)        state_q[l] <= '0;
        else if (permute) state_q[l] <= permuted[l];
      end
    end
  end

  assign word_o = state_q[0];

  // After a wipe all registers of state and block are zero, and no block reaches the capacity.
  logic is_clear, capacity_is_free;
  // This block looks at all of them at once for the assertions below; synthesis removes it.
  always_comb begin
    is_clear         = 1'b1;
    capacity_is_free = 1'b1;
    for (int l = 0; l < int'(Lanes); l++) is_clear &= state_q[l] == '0;
    for (int l = 0; l < int'(RateLanes); l++) begin
      is_clear &= block[l] == '0;
      if (5'(l) > last_lane(function_q.rate)) capacity_is_free &= block[l] == '0;
    end
  end

  // A wipe that left a lane would leave a part of a secret.
  `ASSERT(WipeLeavesNothing_A, $past(clear) |-> is_clear)
  // The security of a sponge rests on a capacity that no message reaches.
  `ASSERT(CapacityIsNotReached_A, take_block |-> capacity_is_free)
  // A word that waits for its reader does not change, unless an upset, a wipe or a start ends the output.
  `ASSERT(AWordWaitsForItsReader_A,
          word_valid_o && !word_ready_i && !wipe_i && !starts |=> $stable(word_o) || error_o)
  // An error of the control reaches the block, so no word is taken after it.
  `ASSERT(AnErrorOfTheControlStopsTheBlock_A, control_error && Hardened |=> block_error)
  // An error of the block reaches the control, so no output leaves after it.
  `ASSERT(AnErrorOfTheBlockStopsTheControl_A, block_error && !control_error && Hardened |=> control_error)
  // Nothing but a round, a block or a turn changes the first lane, so no output is of half a step.
  `ASSERT(TheRateWaits_A, !clear && !permute && !add_block && !turn |=> $stable(state_q[0]))
  // Only rounds reach the capacity. Output turns the rate, and must not shift a lane of the capacity into it.
  `ASSERT(TheCapacityChangesInRounds_A, !clear && !permute |=> $stable(state_q[RateLanes]))
endmodule
