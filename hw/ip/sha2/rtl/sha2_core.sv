// SHA-256 (words of 32 bits), or SHA-384 and SHA-512 (of 64), without a bus (FIPS 180-4 §6).
//
// A block takes `StateCycles + RoundCycles` cycles, a quotient of 68 (or 84) by the rounds a cycle.
// The working variables and the state make two lanes, `a` to `d` and `e` to `h`. At the start of a
// block they turn through one adder for each word that enters: state plus variables becomes the
// state, and the variables.
//
// It is small because no multiplexer follows an adder. Every sum has one operand that is a
// register or another sum, and one that is a function of few signals, which costs nothing in a look-up
// table with six inputs. Where an adder has to pass a value through, its first operand was
// cleared the cycle before. The sums of §6.2.2 are divided so that each step has this form.

`include "assert.svh"

module sha2_core
  import sha2_pkg::*;
#(
  parameter int unsigned WordBits       = 32,  // 32 or 64
  parameter int unsigned RoundsPerCycle = 1,   // 1, 2 or 4
  // The state of the block before is given out while the next one enters, by commands of first and resumed blocks
  // too. A reader that has no use for it has to be ready.
  parameter bit          Overlaps       = 1'b0,
  parameter bit          Hardened       = 1'b1,
  localparam int unsigned LaneBits      = WordBits * RoundsPerCycle
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  // Commands. A wipe is taken at any time, and ends in idle unless there was an error.
  input  logic                     cmd_valid_i,
  output logic                     cmd_ready_o,
  input  cmd_e                     cmd_i,
  input  logic                     is_384_i,  // with words of 64 bits: the first state is SHA-384's
  input  logic                     wipe_i,
  output logic                     idle_o,
  output logic                     error_o,   // until reset

  // Message words, the first in the upper bits.
  input  logic                     msg_valid_i,
  output logic                     msg_ready_o,
  input  logic [LaneBits-1:0]      msg_i,

  // State in and out: words of both lanes, from the end of each: (H3, H7), (H2, H6), ...
  // `state_o` is defined while `state_valid_o`, and is internal at other times.
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
  // W[t-1] to W[t-Depth] are kept.
  localparam int unsigned Depth       = 16 - R;
  // The adder of the second lane chooses what enters it. With one round a cycle this would cost more than it saves.
  localparam bit          Chooses     = Overlaps && R > 1 && WordBits == 32;
  localparam int unsigned Kinds       = 2**StateCycles;

  // A word of the hash function, not of the message port.
  typedef logic [WordBits-1:0] word_t;

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

  // §3.2 and §4.1.2, §4.1.3.
  function automatic word_t rotr(word_t x, int unsigned n);
    return (x >> n) | (x << (WordBits - n));
  endfunction
  function automatic word_t ch(word_t x, word_t y, word_t z);
    return (x & y) ^ (~x & z);
  endfunction
  function automatic word_t maj(word_t x, word_t y, word_t z);
    return (x & y) ^ (x & z) ^ (y & z);
  endfunction
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
  // `x` if `wanted`, otherwise zero.
  function automatic word_t only_if(logic wanted, word_t x);
    return {WordBits{wanted}} & x;
  endfunction

  // The message schedule, §6.2.2 step 1: W[t] = σ1(W[t-2]) + ahead[t], where
  // ahead[t] = W[t-16] + σ0(W[t-15]) + W[t-7] was summed a cycle before, and is zero for a word
  // that comes from outside.
  word_t w_q [1:Depth];       // W[t-1], W[t-2], ...
  word_t w   [R];             // W[t], W[t+1], ...
  word_t ahead_q [R];
  (* keep *) word_t ahead_d [R];
  (* keep *) word_t ahead_part [R];

  for (genvar j = 0; j < R; j++) begin : g_schedule
    // `ahead` is named first, so that Yosys gives this register to the carry chain: a choice there would need look-up tables of
    // its own, 32 a round.
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

  for (genvar k = 1; k <= Depth; k++) begin : g_window
    if (k <= R) begin : g_new
      // The newest words, with a clear: they feed the sums of the next cycle.
      always_ff @(posedge clk_i) begin
        if (clear_words) w_q[k] <= '0;
        else if (step)   w_q[k] <= w[R-k];
      end
    end else begin : g_old
      // Without a reset, so that it may become a shift register; a wipe moves zeros through it.
      always_ff @(posedge clk_i) begin
        if (step) w_q[k] <= w_q[k-R];
      end
    end
  end

  // Working variables: v_q[0] is `a`, v_q[7] is `h`.
  word_t v_q [8];
  word_t v_d [8];
  word_t sum_q [R];           // W[t] + K[t], and `h` where it is known a cycle before
  (* keep *) word_t sum_d [R];
  (* keep *) word_t sum_part [R];
  word_t turned [2][R];       // words that enter the lanes

  // Bits of the first state by the groups of words in which they are one. Those of a kind are cleared in the other groups.
  if (Chooses) begin : g_choice
    logic [StateCycles-1:0] here;  // the group that enters
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

  function automatic word_t all_of(word_t part [Kinds]);
    all_of = '0;
    for (int kind = 0; kind < Kinds; kind++) all_of |= part[kind];
  endfunction

  // The bits of a kind in word `i` of a group of the second lane.
  function automatic word_t bits_of(int unsigned kind, int unsigned i);
    bits_of = '1;
    for (int unsigned g = 0; g < StateCycles; g++) begin
      word_t first;
      first   = InitialHash512[4 + g*R + i][63 -: WordBits];
      bits_of &= (((kind >> g) & 1) != 0) ? first : ~first;
    end
  endfunction

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

    // §6.2.2 step 3. While the state moves, sum_q is zero and so is T1.
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
      // One look-up table a bit: the first state is made of ones, and a clear of the registers takes those that are zero.
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

    // Computed a cycle before its round, so that the longest path has one addition less.
    always_ff @(posedge clk_i) begin
      if (clear_sum) sum_q[j] <= '0;
      else if (step) sum_q[j] <= sum_d[j];
    end
  end

  // `R` new variables enter each lane, and the others move on by `R` places.
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

  // The state: §6.2.2 step 4, and its way in and out.
  word_t state_q [2][StateCycles][R];

  for (genvar lane = 0; lane < 2; lane++) begin : g_lane
    for (genvar i = 0; i < R; i++) begin : g_word
      (* keep *) word_t sum;
      word_t first_512, first_384, first;
      logic [1:0] group;
      // `count` goes up to zero, from the last words of a lane to the first.
      assign group     = 2'((StateCycles - (int'(count) % StateCycles)) % StateCycles);
      assign first_512 = InitialHash512[4*lane + int'(group)*R + i][63 -: WordBits];
      assign first_384 = InitialHash384[4*lane + int'(group)*R + i][63 -: WordBits];
      assign first     = (WordBits == 64 && is_384_i) ? first_384 : first_512;
      if (Overlaps) begin : g_beside
        // The adder makes the state that leaves, and the one that enters passes it.
        assign sum = v_q[4*lane + 4-R + i] + state_q[lane][StateCycles-1][i];
        // Of the second lane the adder of the variables chooses.
        assign turned[lane][i] = (Chooses && lane == 1) ? '0 : only_if(from_kept, sum) |
                                 only_if(from_outside, state_i[lane][WordBits*(R-1-i) +: WordBits]) |
                                 only_if(from_first, first);
      end else begin : g_through
        assign sum = v_q[4*lane + 4-R + i] +
                     (only_if(from_kept, state_q[lane][StateCycles-1][i]) |
                      only_if(from_outside, state_i[lane][WordBits*(R-1-i) +: WordBits]) |
                      only_if(from_first, first));
        assign turned[lane][i] = sum;
      end
      assign state_o[lane][WordBits*(R-1-i) +: WordBits] = sum;

      for (genvar s = 0; s < StateCycles; s++) begin : g_turn
        // A shift register of whole lanes, which a wipe fills with zeros.
        if (Chooses && lane == 1 && s == 0) begin : g_first
          word_t part [Kinds];
          for (genvar kind = 0; kind < Kinds; kind++) begin : g_kind
            word_t q;
            // What enters the variables, because T1 is zero while the state moves.
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
  // All registers of the datapath at once, for the assertion below; synthesis removes it.
  always_comb begin
    is_clear = 1'b1;
    for (int i = 0; i < 8; i++) is_clear &= v_q[i] == '0;
    for (int k = 1; k <= Depth; k++) is_clear &= w_q[k] == '0;
    for (int j = 0; j < R; j++) is_clear &= (sum_q[j] | ahead_q[j]) == '0;
    for (int s = 0; s < StateCycles; s++) begin
      for (int i = 0; i < R; i++) is_clear &= (state_q[0][s][i] | state_q[1][s][i]) == '0;
    end
  end
  `ASSERT(WipeLeavesNothing_A, idle_o && $past(clear_words) |-> is_clear)
  `ASSERT(AWipeClearsTheVariables_A, clear_vars |=> v_q[0] == '0 && v_q[4] == '0)
  `ASSERT(SumIsClearWhileStateMoves_A, move_state |-> sum_q[0] == '0)
  `ASSERT(StateWaitsForItsReader_A,
          state_valid_o && !state_ready_i && !wipe_i |=> $stable(state_o) || error_o)
endmodule
