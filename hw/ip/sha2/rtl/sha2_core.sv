// This module is the compression function of SHA-256 (words of 32 bits), or of SHA-384 and SHA-512 (words of 64
// bits), without padding and without a bus (FIPS 180-4 §6).
//
// Protocol: every port is a handshake; a transfer happens in a cycle with valid and ready. A command starts a
// block or gives the state out (`sha2_pkg`), and the words of the block follow. A missing word stalls the whole
// core, and nothing is lost.
//
// Time: a block takes `StateCycles + RoundCycles` cycles: 68 or 84 divided by the rounds a cycle. The working
// variables and the state make two lanes, `a` to `d` and `e` to `h`. At the start of a block they turn through
// one adder for each word that enters: state plus variables becomes the state, and the variables.
//
// The core is small because no multiplexer follows an adder. Every sum has one operand that is a register or
// another sum, and one that is a function of few signals, which costs nothing in a look-up table with six
// inputs. Where an adder has to pass a value through, its first operand was cleared a cycle before. The sums of
// §6.2.2 are divided so that each step has this form.
//
// Reset: the control begins with a wipe, which sets all registers of data to zero. Hardening: see
// `sha2_control`. Upsets of data are not detected, and nothing is masked.

`include "assert.svh"

module sha2_core
  import sha2_pkg::*;
#(
  parameter int unsigned WordBits       = 32,  // This is the width of a word, 32 or 64 bits.
  parameter int unsigned RoundsPerCycle = 1,   // This is 1, 2 or 4.
  // With `Overlaps` the state of the block before is given out while the next one enters, also by commands of
  // first and resumed blocks. A reader that has no use for it has to be ready all the same.
  parameter bit          Overlaps       = 1'b0,
  // `Hardened` = 0 lets illegal states continue.
  parameter bit          Hardened       = 1'b1,
  localparam int unsigned LaneBits      = WordBits * RoundsPerCycle
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  // These ports take commands. A wipe is taken at any time, and ends in idle unless there was an error.
  input  logic                     cmd_valid_i,
  output logic                     cmd_ready_o,
  input  cmd_e                     cmd_i,
  // With words of 64 bits this selects the first state of SHA-384.
  input  logic                     is_384_i,
  input  logic                     wipe_i,
  output logic                     idle_o,
  // An error stays until reset.
  output logic                     error_o,

  // These are words of the message, with the first one in the upper bits.
  input  logic                     msg_valid_i,
  output logic                     msg_ready_o,
  input  logic [LaneBits-1:0]      msg_i,

  // These are states that enter and leave: words of both lanes, from the end of each: (H3, H7), (H2, H6), and
  // so on. `state_o` is defined while `state_valid_o` is high, and internal at other times.
  input  logic                     state_valid_i,
  output logic                     state_ready_o,
  input  logic [1:0][LaneBits-1:0] state_i,
  output logic                     state_valid_o,
  input  logic                     state_ready_i,
  output logic [1:0][LaneBits-1:0] state_o
);
  localparam int unsigned R           = RoundsPerCycle;
  localparam int unsigned RoundCycles = ((WordBits == 32) ? 64 : 80) / R;
  localparam int unsigned StateCycles = 4 / R;
  localparam int unsigned CountBits   = $clog2(RoundCycles);
  // The schedule keeps W[t-1] to W[t-Depth].
  localparam int unsigned Depth       = 16 - R;
  // With this option the adder of the second lane chooses what enters it. With one round a cycle this would
  // cost more than it saves.
  localparam bit          Chooses     = Overlaps && R > 1 && WordBits == 32;
  localparam int unsigned Kinds       = 2**StateCycles;

  // This is a word of the hash function, not one of the message port.
  typedef logic [WordBits-1:0] word_t;

  // The control says what each register does in this cycle.
  logic [CountBits-1:0] count;
  logic step, move_state, from_first, from_outside, from_kept, take_word;
  enters_e enters;
  logic clear_ahead, clear_sum, clear_vars, clear_entering, clear_words;

  sha2_control #(
    .RoundCycles(RoundCycles),
    .StateCycles(StateCycles),
    .WordCycles (16 / R),
    .Overlaps   (Overlaps),
    .Hardened   (Hardened)
  ) u_control (
    .clk_i, .rst_ni,
    .cmd_valid_i, .cmd_ready_o, .cmd_i, .wipe_i, .idle_o, .error_o,
    .msg_valid_i, .msg_ready_o,
    .state_valid_i, .state_ready_o, .state_valid_o, .state_ready_i,
    .count_o         (count),
    .step_o          (step),
    .move_state_o    (move_state),
    .from_first_o    (from_first),
    .from_outside_o  (from_outside),
    .from_kept_o     (from_kept),
    .enters_o        (enters),
    .take_word_o     (take_word),
    .clear_ahead_o   (clear_ahead),
    .clear_sum_o     (clear_sum),
    .clear_vars_o    (clear_vars),
    .clear_entering_o(clear_entering),
    .clear_words_o   (clear_words)
  );

  // These are the functions of §4.1.2 and §4.1.3, with the rotation of §3.2.
  function automatic word_t rotr(word_t x, int unsigned n);
    return (x >> n) | (x << (WordBits - n));
  endfunction
  // Ch chooses bits of `y` or `z` by `x`, and Maj takes the majority of the three bits.
  function automatic word_t ch(word_t x, word_t y, word_t z);
    return (x & y) ^ (~x & z);
  endfunction
  function automatic word_t maj(word_t x, word_t y, word_t z);
    return (x & y) ^ (x & z) ^ (y & z);
  endfunction
  // The four sigmas are sums of rotations, two of them with a shift; the distances are those of the width of
  // the words.
  function automatic word_t upper_sigma0(word_t x);
    if (WordBits == 32) return rotr(x, 2) ^ rotr(x, 13) ^ rotr(x, 22);
    else                return rotr(x, 28) ^ rotr(x, 34) ^ rotr(x, 39);
  endfunction
  function automatic word_t upper_sigma1(word_t x);
    if (WordBits == 32) return rotr(x, 6) ^ rotr(x, 11) ^ rotr(x, 25);
    else                return rotr(x, 14) ^ rotr(x, 18) ^ rotr(x, 41);
  endfunction
  function automatic word_t lower_sigma0(word_t x);
    if (WordBits == 32) return rotr(x, 7) ^ rotr(x, 18) ^ (x >> 3);
    else                return rotr(x, 1) ^ rotr(x, 8) ^ (x >> 7);
  endfunction
  function automatic word_t lower_sigma1(word_t x);
    if (WordBits == 32) return rotr(x, 17) ^ rotr(x, 19) ^ (x >> 10);
    else                return rotr(x, 19) ^ rotr(x, 61) ^ (x >> 6);
  endfunction
  // This gives `x` if `wanted` is set, and zero otherwise.
  function automatic word_t only_if(logic wanted, word_t x);
    return {WordBits{wanted}} & x;
  endfunction

  // This is the message schedule, §6.2.2 step 1: W[t] = σ1(W[t-2]) + ahead[t]. The part ahead[t] = W[t-16] +
  // σ0(W[t-15]) + W[t-7] was summed a cycle before, and is zero for a word that comes from outside.
  word_t w_q [1:Depth];       // These are W[t-1], W[t-2] and so on.
  word_t w   [R];             // These are W[t], W[t+1] and so on.
  word_t ahead_q [R];
  (* keep *) word_t ahead_d [R];
  (* keep *) word_t ahead_part [R];

  for (genvar j = 0; j < R; j++) begin : g_schedule
    // `ahead` is named first, so that Yosys gives this register to the carry chain: a choice there would need
    // look-up tables of its own, 32 a round.
    word_t ahead, w_2, w_7, word;
    if (j < 2) begin : g_2_kept
      assign w_2 = w_q[2-j];
    end else begin : g_2_new
      assign w_2 = w[j-2];
    end
    if (R + j < 7) begin : g_7_kept
      assign w_7 = w_q[7-R-j];
    end else begin : g_7_new
      assign w_7 = w[R+j-7];
    end
    assign word          = take_word ? msg_i[WordBits*(R-1-j) +: WordBits] : lower_sigma1(w_2);
    assign ahead         = ahead_q[j];
    assign w[j]          = ahead + word;
    assign ahead_part[j] = w_q[16-R-j] + lower_sigma0(w_q[15-R-j]);
    assign ahead_d[j]    = ahead_part[j] + w_7;

    // A word that is taken from outside is added to zero.
    always_ff @(posedge clk_i) begin
      if (clear_ahead) ahead_q[j] <= '0;
      else if (step)   ahead_q[j] <= ahead_d[j];
    end
  end

  // The window of words moves on by `R` places in each cycle.
  for (genvar k = 1; k <= Depth; k++) begin : g_window
    if (k <= R) begin : g_new
      // The newest words have a clear, because they feed the sums of the next cycle.
      always_ff @(posedge clk_i) begin
        if (clear_words) w_q[k] <= '0;
        else if (step)   w_q[k] <= w[R-k];
      end
    end else begin : g_old
      // The older words have no reset, so that they may become a shift register; a wipe moves zeros through it.
      always_ff @(posedge clk_i) begin
        if (step) w_q[k] <= w_q[k-R];
      end
    end
  end

  // These are the working variables: v_q[0] is `a`, and v_q[7] is `h`.
  word_t v_q [8];
  word_t v_d [8];
  word_t sum_q [R];           // This is W[t] + K[t], and `h` where it is known a cycle before.
  (* keep *) word_t sum_d [R];
  (* keep *) word_t sum_part [R];
  word_t turned [2][R];       // These words enter the lanes.

  // The bits of the first state are sorted by the groups of words in which they are one. Those of a kind are
  // cleared when another group enters.
  if (Chooses) begin : g_choice
    logic [StateCycles-1:0] here;  // This is the group that enters.
    logic [Kinds-1:0] zeros;
    always_comb begin
      here = '0;
      for (int g = 0; g < StateCycles; g++) begin
        here[g] = from_first & step & (int'(count) % StateCycles == (StateCycles - g) % StateCycles);
      end
      for (int kind = 0; kind < Kinds; kind++) zeros[kind] = |(here & ~StateCycles'(kind));
    end
  end else begin : g_no_choice
    enters_e unused_enters;
    assign unused_enters = enters;
  end

  // This function joins the bits of all kinds to a word.
  function automatic word_t all_of(word_t part [Kinds]);
    all_of = '0;
    for (int kind = 0; kind < Kinds; kind++) all_of |= part[kind];
  endfunction

  // This function has a one for each bit of a kind in word `i` of a group of the second lane.
  function automatic word_t bits_of(int unsigned kind, int unsigned i);
    bits_of = '1;
    for (int unsigned g = 0; g < StateCycles; g++) begin
      word_t first;
      first   = InitialHash512[4 + g*R + i][63 -: WordBits];
      bits_of &= (((kind >> g) & 1) != 0) ? first : ~first;
    end
  endfunction

  // This is one of the rounds of a cycle (§6.2.2 step 3). It takes its variables from the registers or from the
  // round before.
  for (genvar j = 0; j < R; j++) begin : g_round
    word_t a, b, c, d, e, f, g, h, k;
    (* keep *) word_t t1_part, t1, a_part, a_next, e_next;
    if (j == 0) begin : g_from_registers
      assign {a, b, c, d} = {v_q[0], v_q[1], v_q[2], v_q[3]};
      assign {e, f, g, h} = {v_q[4], v_q[5], v_q[6], v_q[7]};
    end else begin : g_from_round
      assign {a, b, c, d} = {g_round[j-1].a_next, g_round[j-1].a, g_round[j-1].b, g_round[j-1].c};
      assign {e, f, g, h} = {g_round[j-1].e_next, g_round[j-1].e, g_round[j-1].f, g_round[j-1].g};
    end

    assign k           = RoundConstants[int'(count) * R + j][63 -: WordBits];
    assign sum_part[j] = w[j] + k;

    // While the state moves, `sum_q` is zero, and so is T1.
    if (R <= 2) begin : g_early
      assign sum_d[j] = sum_part[j] + v_q[7-R-j];
      assign t1_part  = sum_q[j] + only_if(!move_state, upper_sigma1(e));
    end else begin : g_late
      (* keep *) word_t with_h;
      assign sum_d[j] = sum_part[j];
      assign with_h   = sum_q[j] + only_if(!move_state, h);
      assign t1_part  = with_h + only_if(!move_state, upper_sigma1(e));
    end
    // T1 and T2 are never separate sums: each term is added where the path is short.
    assign t1     = t1_part + only_if(!move_state, ch(e, f, g));
    if (Chooses) begin : g_entering_beside
      // This takes one look-up table for each bit: the first state enters as ones, and a clear of the registers
      // makes the zeros.
      word_t entering;
      always_comb begin
        unique case (enters)
          EntersNothing: entering = d;
          EntersKept:    entering = state_o[1][WordBits*j +: WordBits];
          EntersOutside: entering = state_i[1][WordBits*j +: WordBits];
          EntersFirst:   entering = '1;
        endcase
      end
      assign e_next = t1 + entering;
    end else begin : g_entering
      assign e_next = t1 + (move_state ? turned[1][R-1-j] : d);
    end
    assign a_part = t1 + only_if(!move_state, upper_sigma0(a));
    assign a_next = a_part + (move_state ? turned[0][R-1-j] : maj(a, b, c));

    // This sum is computed a cycle before its round, so that the longest path has one addition less.
    always_ff @(posedge clk_i) begin
      if (clear_sum) sum_q[j] <= '0;
      else if (step) sum_q[j] <= sum_d[j];
    end
  end

  // In each cycle `R` new variables enter each lane, and the others move on by `R` places.
  for (genvar i = 0; i < 4; i++) begin : g_next
    if (i < R) begin : g_made
      assign v_d[i]   = g_round[R-1-i].a_next;
      assign v_d[4+i] = g_round[R-1-i].e_next;
    end else begin : g_moved
      assign v_d[i]   = v_q[i-R];
      assign v_d[4+i] = v_q[4+i-R];
    end
  end

  for (genvar i = 0; i < 8; i++) begin : g_var
    if (Chooses && i >= 4 && i - 4 < R) begin : g_first
      word_t part [Kinds];
      for (genvar kind = 0; kind < Kinds; kind++) begin : g_kind
        word_t q;
        // The zeros of the first state clear their bits.
        always_ff @(posedge clk_i) begin
          if (clear_entering || g_choice.zeros[kind]) q <= '0;
          else if (step) q <= v_d[i];
        end
        assign part[kind] = q & bits_of(kind, i - 4);
      end
      assign v_q[i] = all_of(part);
    end else begin : g_whole
      // Registers that take a new value are cleared more often than those that shift one on.
      always_ff @(posedge clk_i) begin
        if ((i % 4 < R) ? clear_entering : clear_vars) v_q[i] <= '0;
        else if (step) v_q[i] <= v_d[i];
      end
    end
  end

  // This is the state: §6.2.2 step 4, and its way in and out.
  word_t state_q [2][StateCycles][R];

  for (genvar lane = 0; lane < 2; lane++) begin : g_lane
    for (genvar i = 0; i < R; i++) begin : g_word
      (* keep *) word_t sum;
      word_t first_512, first_384, first;
      logic [1:0] group;
      // `count` goes up to zero, from the last words of a lane to the first ones.
      assign group     = 2'((StateCycles - (int'(count) % StateCycles)) % StateCycles);
      assign first_512 = InitialHash512[4*lane + int'(group)*R + i][63 -: WordBits];
      assign first_384 = InitialHash384[4*lane + int'(group)*R + i][63 -: WordBits];
      assign first     = (WordBits == 64 && is_384_i) ? first_384 : first_512;
      if (Overlaps) begin : g_beside
        // The adder makes the state that leaves, and the one that enters passes beside it.
        assign sum = v_q[4*lane + 4-R + i] + state_q[lane][StateCycles-1][i];
        // For the second lane the adder of the variables chooses.
        assign turned[lane][i] = (Chooses && lane == 1) ? '0 : only_if(from_kept, sum) |
                                 only_if(from_outside, state_i[lane][WordBits*(R-1-i) +: WordBits]) |
                                 only_if(from_first, first);
      end else begin : g_through
        // Without `Overlaps` the word that enters passes through the adder, as its other operand is zero then.
        assign sum = v_q[4*lane + 4-R + i] +
                     (only_if(from_kept, state_q[lane][StateCycles-1][i]) |
                      only_if(from_outside, state_i[lane][WordBits*(R-1-i) +: WordBits]) |
                      only_if(from_first, first));
        assign turned[lane][i] = sum;
      end
      assign state_o[lane][WordBits*(R-1-i) +: WordBits] = sum;

      for (genvar s = 0; s < StateCycles; s++) begin : g_turn
        // A lane of the state is a shift register of whole words, which a wipe fills with zeros.
        if (Chooses && lane == 1 && s == 0) begin : g_first
          word_t part [Kinds];
          for (genvar kind = 0; kind < Kinds; kind++) begin : g_kind
            word_t q;
            // This word also enters the variables, because T1 is zero while the state moves.
            always_ff @(posedge clk_i) begin
              if (g_choice.zeros[kind]) q <= '0;
              else if (step & (move_state | clear_words)) q <= v_d[4*lane + i];
            end
            assign part[kind] = q & bits_of(kind, i);
          end
          assign state_q[lane][s][i] = all_of(part);
        end else begin : g_whole
          always_ff @(posedge clk_i) begin
            if (step & (move_state | clear_words)) begin
              state_q[lane][s][i] <= (s == 0) ? turned[lane][i] : state_q[lane][(s == 0) ? 0 : s-1][i];
            end
          end
        end
      end
    end
  end

  // After a wipe all registers of the datapath are zero.
  logic is_clear;
  // This block looks at all registers of the datapath at once for the assertion below; synthesis removes it.
  always_comb begin
    is_clear = 1'b1;
    for (int i = 0; i < 8; i++) is_clear &= v_q[i] == '0;
    for (int k = 1; k <= Depth; k++) is_clear &= w_q[k] == '0;
    for (int j = 0; j < R; j++) is_clear &= (sum_q[j] | ahead_q[j]) == '0;
    for (int s = 0; s < StateCycles; s++) begin
      for (int i = 0; i < R; i++) is_clear &= (state_q[0][s][i] | state_q[1][s][i]) == '0;
    end
  end
  // A wipe that left a word would leave a part of a key.
  `ASSERT(WipeLeavesNothing_A, idle_o && $past(clear_words) |-> is_clear)
  // A block from a loaded state must not start with the variables of the block before.
  `ASSERT(AWipeClearsTheVariables_A, clear_vars |=> v_q[0] == '0 && v_q[4] == '0)
  // A sum that is not zero would be added to the state while it moves.
  `ASSERT(SumIsClearWhileStateMoves_A, move_state |-> sum_q[0] == '0)
  // A state that waits for its reader does not change, unless an upset or a wipe ends it.
  `ASSERT(StateWaitsForItsReader_A,
          state_valid_o && !state_ready_i && !wipe_i |=> $stable(state_o) || error_o)
  // Without a step the variables wait for a word of the message, and no round is made twice.
  `ASSERT(VariablesWaitForAStep_A, !step && !clear_vars && !clear_entering |=> $stable(v_q[3]))
  // So do the words of the schedule, which would be those of other rounds.
  `ASSERT(WordsWaitForAStep_A, !step && !clear_words |=> $stable(w_q[Depth]))
endmodule
