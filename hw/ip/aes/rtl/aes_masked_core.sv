// The block cipher in two shares: first-order masking with fresh random bits in every cycle.
//
// The ports are those of `aes_core`, and the random bits. Key and block get their masks at the port; only a result
// that is complete is unmasked. A round takes five cycles, those of its S-boxes, and a result one more: 51, 61 or 71
// cycles a block. Four of the S-boxes expand the key.

`include "assert.svh"

module aes_masked_core
  import aes_pkg::*;
  import aes_masked_pkg::*;
#(
  parameter bit Decrypts = 1'b1,
  parameter bit Remasks  = 1'b1,  // for tests only: see aes_dom_sbox
  parameter bit Hardened = 1'b1
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic [127:0] random_i,     // fresh in every cycle

  // Words of the key, or of what overwrites the schedule, while idle.
  input  logic         key_write_i,
  input  logic [5:0]   key_index_i,
  input  word_t        key_word_i,
  input  logic         expand_i,
  output logic         idle_o,       // no block, no expansion

  // Fixed from the expansion on, and the direction from a cycle before the first block.
  input  key_len_e     len_i,
  input  logic         decrypt_i,

  input  logic         stop_i,       // ends a block and an expansion
  output logic         error_o,      // until reset

  input  logic         block_valid_i,  // gets its mask at the port
  output logic         block_ready_o,
  input  block_t       block_i,

  output logic         result_valid_o,  // the sum of the shares is at the port
  input  logic         result_ready_i,
  output block_t       result_o
);
  // Any two codes differ in three bits.
  typedef enum logic [5:0] {
    StIdle   = 6'b001011,
    StRound  = 6'b010101,
    StResult = 6'b100110,
    StFirst  = 6'b101101,  // reads the last word of the key
    StExpand = 6'b111000,
    StError  = 6'b110011
  } state_e;

  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;
  logic       in_idle, in_round, in_result, in_first, in_expand, decrypt, is_last, ends_step, loads;
  logic [3:0] count_d, count_q;              // the round
  logic [3:0] last_round, round;
  logic [2:0] step_d, step_q;                // of the S-boxes
  logic [2:0] phase_d, phase_q;              // of the key schedule, as in `aes_keys`
  logic [5:0] index_d, index_q, old_index, last_index;
  logic [7:0] rcon_d, rcon_q;
  logic       is_start, needs_sub, write, differs;

  assign in_idle    = state_q == StIdle;
  assign in_round   = state_q == StRound;
  assign in_result  = state_q == StResult;
  assign in_first   = state_q == StFirst;
  assign in_expand  = state_q == StExpand;
  assign error_o    = ~(in_idle | in_round | in_result | in_first | in_expand);
  assign decrypt    = Decrypts & decrypt_i;
  assign last_round = rounds(len_i);
  assign is_last    = count_q == last_round;
  assign ends_step  = step_q == 3'd4;

  assign idle_o         = in_idle;
  assign result_valid_o = in_result;
  assign block_ready_o  = in_idle | (in_result & result_ready_i);
  assign loads          = block_valid_i & block_ready_o;

  // --- the key schedule (FIPS 197 §5.2), as in `aes_keys`, but five cycles for a word with SubWord ---

  assign old_index  = in_first ? 6'(key_words(len_i)) - 6'd1 : index_q - 6'(key_words(len_i));
  assign last_index = {last_round, 2'b11};
  assign is_start   = phase_q == 3'd0;
  assign needs_sub  = is_start | ((len_i == Key256) & (phase_q == 3'd4));
  assign write      = in_expand & (ends_step | ~needs_sub);
  assign round      = in_round ? (decrypt ? last_round - count_q : count_q)
                    : (in_first || in_expand) ? old_index[5:2] : (decrypt ? last_round : 4'd0);

  // Rounds and words. `step_q` counts the cycles of the S-boxes, `count_q` rounds.
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
        // Rounds that do not exist: an upset of the count.
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
    if (loads) begin
      state_d = StRound;
      count_d = 4'd1;
    end
    if (stop_i && !error_o) state_d = StIdle;
    if (differs && Hardened) state_d = StError;
  end

  aes_copy #(.Bits(24), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i ({count_d, step_d, index_d, phase_d, rcon_d}),
    .value_i({count_q, step_q, index_q, phase_q, rcon_q}),
    .differs_o(differs)
  );

  // Control depends on lengths, direction and ports, and never on a share.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      count_q <= '0;
      step_q  <= '0;
      index_q <= '0;
      phase_q <= '0;
      rcon_q  <= '0;
    end else begin
      state_q <= state_d;
      count_q <= count_d;
      step_q  <= step_d;
      index_q <= index_d;
      phase_q <= phase_d;
      rcon_q  <= rcon_d;
    end
  end

  // --- shares ---

  block_t [1:0] key, sub, sub_in;
  block_t [1:0] state_q_shares;              // in the basis of the S-boxes, but not a result
  word_t  [1:0] previous_q, word_q;          // the word before, and in that basis
  logic [3:0]   steps;
  // After an error a wipe lets the S-boxes take what it has written.
  assign steps = error_o ? {3'b0, key_write_i} << key_index_i[1:0]
               : ((in_round || (in_expand && needs_sub)) && !ends_step) ? 4'd1 << step_q : '0;

  for (genvar s = 0; s < 2; s++) begin : g_share
    block_t shifted, added, whole, mixed;
    word_t  old, sub_word, key_word, expanded, next;

    assign old      = key[s][4*old_index[1:0] +: 4];
    assign sub_word = {sub[s][3], sub[s][2], sub[s][1], sub[s][0]};
    assign expanded = old ^ (needs_sub ? sub_word : previous_q[s]) ^ (s == 0 ? {24'b0, rcon_q & {8{is_start}}} : '0);
    // A word of the key gets its mask here.
    assign key_word = in_expand ? expanded : s == 0 ? key_word_i ^ random_i[31:0] : random_i[31:0];

    aes_key_memory u_memory (
      .clk_i, .rst_ni,
      .write_i(write | ((in_idle | error_o) & key_write_i)),
      .index_i(in_expand ? index_q : key_index_i),
      .word_i (key_word),
      .round_i(round),
      .key_o  (key[s])
    );

    // The word before, and in the basis of the S-boxes.
    assign next = in_first ? old : in_expand ? expanded : '0;
    always_ff @(posedge clk_i) begin
      if (in_first || write || in_idle || error_o) begin
        previous_q[s] <= next;
        for (int i = 0; i < 4; i++) word_q[s][8*i +: 8] <= to_sbox(next[8*i +: 8], 1'b0, s == 0);
      end
    end

    // What the S-boxes see is stable in all their cycles.
    for (genvar i = 0; i < 16; i++) begin : g_in
      if (i < 4) begin : g_both
        assign sub_in[s][i] = in_expand ? word_q[s][8*((i + 32'(is_start)) % 4) +: 8] : state_q_shares[s][i];
      end else begin : g_state
        assign sub_in[s][i] = state_q_shares[s][i];
      end
    end

    assign shifted = decrypt ? inverse_shift_rows(sub[s]) : shift_rows(sub[s]);
    assign added   = shifted ^ key[s];
    assign whole   = added ^ (decrypt ? inverse_part(added) : key[s]);
    assign mixed   = mix_columns(whole) ^ (decrypt ? '0 : key[s]);

    // Without a reset: the wipe after a reset overwrites it. A block gets its mask here. The state is stored as the S-boxes
    // need it, but not the result.
    block_t entering, stored;
    assign entering = in_round ? mixed : key[s] ^ random_i ^ (s == 0 ? block_i : '0);
    for (genvar i = 0; i < 16; i++) begin : g_stored
      assign stored[i] = (in_round && is_last) ? added[i] : to_sbox(entering[i], decrypt, s == 0);
    end
    always_ff @(posedge clk_i) begin
      if (loads || error_o || (in_round && ends_step)) state_q_shares[s] <= stored;
    end
  end

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

  // Only the result is unmasked, and only when it is one.
  for (genvar i = 0; i < 16; i++) begin : g_result
    assign result_o[i] = (state_q_shares[0][i] ^ state_q_shares[1][i]) & {8{in_result}};
  end

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !block_ready_o && !result_valid_o && !idle_o)
  `ASSERT(NothingIsUnmaskedBeforeTheEnd_A, !result_valid_o |-> result_o == '0)
  `ASSERT(AResultIsOfTheLastRound_A, in_result |-> count_q == last_round)
  `ASSERT(RoundsBeginWithTheFirst_A, $rose(in_round) && !differs |-> count_q == 4'd1 && step_q == '0)
  // What the S-boxes need for their masking.
  `ASSERT(SharesAreStableWhileTheyAreSubstituted_A, steps != '0 && !stop_i && !differs && !error_o |=> $stable(sub_in) || error_o)
endmodule
