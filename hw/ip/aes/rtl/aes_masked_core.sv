// This module is the block cipher in two shares: first-order masking with fresh random bits in every cycle
// (FIPS 197; the S-boxes are `aes_dom_sbox`).
//
// Protocol: the ports are those of `aes_core`, and random bits. Key and block get their masks at the port. Only
// a complete result is unmasked, and it stays at the port until it is taken or stopped.
//
// Time: a round takes the five cycles of its S-boxes, and a result one more. So a block takes 51, 61 or 71
// cycles. Four of the S-boxes expand the key as well; a word with SubWord takes five cycles, any other word
// one.
//
// Reset: the core is idle. Shares and key memory have no reset; a wipe after the reset has to overwrite them.
//
// Hardening: the linear layers work on each share by itself, and the S-boxes add fresh masks, against
// first-order analysis of power. The states differ in three bits, and all counters have a copy; an upset ends
// in StError. Upsets of shares are not detected.

`include "assert.svh"

module aes_masked_core
  import aes_pkg::*;
  import aes_masked_pkg::*;
#(
  // Without `Decrypts` the core only encrypts.
  parameter bit Decrypts = 1'b1,
  // `Remasks` = 0 is a variant for tests only, which `aes_dom_sbox` describes.
  parameter bit Remasks  = 1'b1,
  // `Hardened` = 0 removes the detection of upsets.
  parameter bit Hardened = 1'b1
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  // These bits have to be fresh in every cycle.
  input  logic [127:0] random_i,

  // These ports take words of the key, or of what overwrites the schedule, while the core is idle. `idle_o`
  // says that neither a block nor an expansion is under way.
  input  logic         key_write_i,
  input  logic [5:0]   key_index_i,
  input  word_t        key_word_i,
  input  logic         expand_i,
  output logic         idle_o,

  // The length is fixed from the expansion on, and the direction from a cycle before the first block.
  input  key_len_e     len_i,
  input  logic         decrypt_i,

  // A stop ends a block and an expansion. An error stays until reset.
  input  logic         stop_i,
  output logic         error_o,

  // A block is taken when valid and ready are both high, and gets its mask in this cycle.
  input  logic         block_valid_i,
  output logic         block_ready_o,
  input  block_t       block_i,

  // A result is the sum of its two shares, and is at the port until it is taken or stopped.
  output logic         result_valid_o,
  input  logic         result_ready_i,
  output block_t       result_o
);
  // Any two codes differ in three bits.
  typedef enum logic [5:0] {
    // StIdle waits for a block or an expansion.
    StIdle   = 6'b001011,
    // StRound executes the rounds, and ends after the last cycle of the last one.
    StRound  = 6'b010101,
    // StResult shows the result, and ends when it is taken.
    StResult = 6'b100110,
    // StFirst takes one cycle, in which it reads the last word of the key.
    StFirst  = 6'b101101,
    // StExpand makes the words of the schedule, and ends after the last one.
    StExpand = 6'b111000,
    // StError waits for a reset.
    StError  = 6'b110011
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic       in_idle, in_round, in_result, in_first, in_expand, decrypt, is_last, ends_step, loads;
  // This counts rounds.
  logic [3:0] count_d, count_q;
  logic [3:0] last_round, round;
  // This counts the cycles of the S-boxes.
  logic [2:0] step_d, step_q;
  // This is the phase of the key schedule, the index of a word modulo Nk.
  logic [2:0] phase_d, phase_q;
  logic [5:0] index_d, index_q, old_index, last_index;
  logic [7:0] rcon_d, rcon_q;
  logic       is_start, needs_sub, write, differs, counts_differ;
  // This opens the gate of the result: it equals `in_result`, but comes from a register of its own.
  logic       open_q;

  assign in_idle    = state_q == StIdle;
  assign in_round   = state_q == StRound;
  assign in_result  = state_q == StResult;
  assign in_first   = state_q == StFirst;
  assign in_expand  = state_q == StExpand;
  // Every other code is an error.
  assign error_o    = ~(in_idle | in_round | in_result | in_first | in_expand);
  assign decrypt    = Decrypts & decrypt_i;
  assign last_round = rounds(len_i);
  assign is_last    = count_q == last_round;
  // The S-boxes have their output in the fifth cycle.
  assign ends_step  = step_q == 3'd4;

  assign idle_o         = in_idle;
  assign result_valid_o = in_result & open_q;
  assign block_ready_o  = in_idle | (result_valid_o & result_ready_i);
  assign loads          = block_valid_i & block_ready_o;

  // --- the key schedule (FIPS 197 §5.2) ---

  // It is the same as in `aes_keys`, but a word with SubWord takes five cycles.

  assign old_index  = in_first ? 6'(key_words(len_i)) - 6'd1 : index_q - 6'(key_words(len_i));
  assign last_index = {last_round, 2'b11};
  assign is_start   = phase_q == 3'd0;
  assign needs_sub  = is_start | ((len_i == Key256) & (phase_q == 3'd4));
  // A word without SubWord is written in its first cycle, any other in its fifth one.
  assign write      = in_expand & (ends_step | ~needs_sub);
  // The memory shows the key of the round, or the old word of an expansion; while idle it shows the first round
  // key.
  assign round      = in_round ? (decrypt ? last_round - count_q : count_q)
                    : (in_first || in_expand) ? old_index[5:2] : (decrypt ? last_round : 4'd0);

  // This block counts rounds and words. `step_q` counts the cycles of the S-boxes, `count_q` rounds.
  always_comb begin
    state_d = state_q;
    count_d = count_q;
    step_d  = '0;
    index_d = index_q;
    phase_d = phase_q;
    rcon_d  = rcon_q;
    unique case (state_q)
      StIdle: if (expand_i) begin
        state_d = StFirst;
        index_d = 6'(key_words(len_i));
        phase_d = '0;
        rcon_d  = 8'h01;
      end
      StRound: begin
        step_d = ends_step ? '0 : step_q + 3'd1;
        if (ends_step) begin
          count_d = is_last ? count_q : count_q + 4'd1;
          if (is_last) state_d = StResult;
        end
        // These counts do not exist, so an upset has made one of them.
        if (Hardened && (count_q == '0 || count_q > last_round || step_q > 3'd4)) state_d = StError;
      end
      StResult: if (result_ready_i) state_d = StIdle;
      StFirst:  state_d = StExpand;
      StExpand: begin
        step_d = (ends_step || !needs_sub) ? '0 : step_q + 3'd1;
        if (write) begin
          index_d = index_q + 6'd1;
          phase_d = (phase_q == 3'(key_words(len_i) - 4'd1)) ? '0 : phase_q + 3'd1;
          if (is_start) rcon_d = xtime(rcon_q);
          if (index_q == last_index) state_d = StIdle;
        end
        if (Hardened && (index_q > last_index || step_q > 3'd4)) state_d = StError;
      end
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    // A block may be loaded in the cycle in which the result before is taken, so this is not a part of a state.
    if (loads) begin
      state_d = StRound;
      count_d = 4'd1;
    end
    if (stop_i && !error_o) state_d = StIdle;
    if (differs && Hardened) state_d = StError;
  end

  // The copy detects upsets of all counters and of the round constant.
  register_copy #(.Width(24), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i ({count_d, step_d, index_d, phase_d, rcon_d}),
    .value_i({count_q, step_q, index_q, phase_q, rcon_q}),
    .differs_o(counts_differ)
  );
  // The gate of the result has the state as its copy.
  assign differs = counts_differ | (Hardened & (open_q != in_result));

  // Control depends on lengths, direction and ports, and never on a share, so the time does not depend on
  // secrets.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      step_q  <= '0;
      index_q <= '0;
      phase_q <= '0;
      rcon_q  <= '0;
      open_q  <= 1'b0;
    end else begin
      count_q <= count_d;
      step_q  <= step_d;
      index_q <= index_d;
      phase_q <= phase_d;
      rcon_q  <= rcon_d;
      open_q  <= state_d == StResult;
    end
  end

  // --- shares ---

  block_t [1:0] key, sub, sub_in;
  // The state is stored in the basis of the S-boxes, but a result is not.
  block_t [1:0] state_q_shares;
  // `previous_q` is the word of the schedule before this one, and `word_q` the same word in the basis of the
  // S-boxes.
  word_t  [1:0] previous_q, word_q;
  logic [3:0]   steps;
  // The S-boxes store in four of five cycles. After an error a wipe lets them store what it has written, a
  // stage for each word, so that they keep nothing of the key.
  assign steps = error_o ? {3'b0, key_write_i} << key_index_i[1:0]
               : ((in_round || (in_expand && needs_sub)) && !ends_step) ? 4'd1 << step_q : '0;

  // Each share has its own linear layers, key schedule and memory. Shares meet in the S-boxes only.
  for (genvar s = 0; s < 2; s++) begin : g_share
    block_t shifted, added, whole, mixed;
    word_t  old, sub_word, key_word, expanded, next;

    assign old      = key[s][4*old_index[1:0] +: 4];
    assign sub_word = {sub[s][3], sub[s][2], sub[s][1], sub[s][0]};
    assign expanded = old ^ (needs_sub ? sub_word : previous_q[s]) ^ (s == 0 ? {24'b0, rcon_q & {8{is_start}}} : '0);
    // A word of the key gets its mask here: one share is the random word, the other one its sum with the key.
    assign key_word = in_expand ? expanded : s == 0 ? key_word_i ^ random_i[31:0] : random_i[31:0];

    aes_key_memory u_memory (
      .clk_i, .rst_ni,
      .write_i(write | ((in_idle | error_o) & key_write_i)),
      .index_i(in_expand ? index_q : key_index_i),
      .word_i (key_word),
      .round_i(round),
      .key_o  (key[s])
    );

    // This is the word before, and the same word in the basis of the S-boxes. Both become zero while the core
    // is idle.
    assign next = in_first ? old : in_expand ? expanded : '0;
    always_ff @(posedge clk_i) begin
      if (in_first || write || in_idle || error_o) begin
        previous_q[s] <= next;
        for (int i = 0; i < 4; i++) word_q[s][8*i +: 8] <= to_sbox(next[8*i +: 8], 1'b0, s == 0);
      end
    end

    // The S-boxes need an input that is stable in all of their cycles. The first four also substitute words of
    // the schedule; `is_start` rotates the word (RotWord).
    for (genvar i = 0; i < 16; i++) begin : g_in
      if (i < 4) begin : g_both
        assign sub_in[s][i] = in_expand ? word_q[s][8*((i + 32'(is_start)) % 4) +: 8] : state_q_shares[s][i];
      end else begin : g_state
        assign sub_in[s][i] = state_q_shares[s][i];
      end
    end

    // As in `aes_core`, the key is added before MixColumns, and an encryption moves it behind it.
    assign shifted = decrypt ? inverse_shift_rows(sub[s]) : shift_rows(sub[s]);
    assign added   = shifted ^ key[s];
    assign whole   = added ^ (decrypt ? inverse_part(added) : key[s]);
    assign mixed   = mix_columns(whole) ^ (decrypt ? '0 : key[s]);

    // The state has no reset: the wipe after a reset overwrites it. A block gets its mask here. The state is
    // stored in the basis that the S-boxes need, but the result in that of the standard.
    block_t entering, stored;
    assign entering = in_round ? mixed : key[s] ^ random_i ^ (s == 0 ? block_i : '0);
    for (genvar i = 0; i < 16; i++) begin : g_stored
      assign stored[i] = (in_round && is_last) ? added[i] : to_sbox(entering[i], decrypt, s == 0);
    end
    always_ff @(posedge clk_i) begin
      if (loads || error_o || (in_round && ends_step)) state_q_shares[s] <= stored;
    end
  end

  // Each S-box gets eight random bits of its own in every cycle.
  for (genvar i = 0; i < 16; i++) begin : g_sub
    logic [1:0][7:0] in, out;
    assign in        = {sub_in[1][i], sub_in[0][i]};
    assign sub[0][i] = out[0];
    assign sub[1][i] = out[1];
    aes_dom_sbox #(.Remasks(Remasks)) u_sbox (
      .clk_i, .rst_ni,
      .inverse_i(decrypt & in_round),
      .step_i   (steps),
      .random_i (random_i[8*i +: 8]),
      .tower_i  (in),
      .byte_o   (out)
    );
  end

  // Only a result is unmasked, and only in the state that shows it. One share passes a gate before it meets the
  // other one: a cell that had both as its inputs would glitch with their sum, which is a value of an inner round.
  // A register opens the gate, so the gate itself does not glitch while rounds are made. It opens at the edge at
  // which the shares become a result; a layout has to open it later than the shares change, and close it earlier.
  block_t gated;
  aes_share_gate u_gate (
    .open_i (open_q),
    .share_i(state_q_shares[0]),
    .share_o(gated)
  );
  assign result_o = (gated ^ state_q_shares[1]) & {128{result_valid_o}};

  // An engine that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Nobody takes a result, gives a block or believes that the core is idle in the error state.
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !block_ready_o && !result_valid_o && !idle_o)
  // Values of inner rounds are never unmasked: one of them would reveal the key.
  `ASSERT(NothingIsUnmaskedBeforeTheEnd_A, !result_valid_o |-> result_o == '0)
  // A result of fewer rounds would reveal the key.
  `ASSERT(AResultIsOfTheLastRound_A, in_result |-> count_q == last_round)
  // Every block starts with round 1 and step 0, so all rounds are executed whole.
  `ASSERT(RoundsBeginWithTheFirst_A, $rose(in_round) && !differs |-> count_q == 4'd1 && step_q == '0)
  // The masking of the S-boxes relies on an input that does not change while they work.
  `ASSERT(SharesAreStableWhileTheyAreSubstituted_A, steps != '0 && !stop_i && !differs && !error_o |=> $stable(sub_in) || error_o)
  // While rounds are made one share is behind a closed gate, so no cell has both.
  `ASSERT(OneShareIsBehindAGate_A, !in_result && !differs |-> gated == '0)
endmodule
