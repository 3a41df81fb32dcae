// Controls a verification (RFC 8554 §5.4.2 and §6.3): for each level it checks the types, has the
// message hashed and the root computed, and compares the roots.
//
// The verdict is a constant of 64 bits. It only results from two walks over all words of each root,
// without a difference in any of them and after the right numbers of chain steps, of values without
// a step and of nodes. The result of a level is the begin of the next one, and the number of levels
// that are left is part of each count. With two passes the second walk of a level is over a root
// that was computed again, in another order.
//
// Interface: `start_i` is a strobe, which is taken while `idle_o` is set. Types are stable until
// `done_o`. Reset begins with a clear of all parts, and so does an abort.
//
// Hardening: any two states differ in four bits, and every other code is `alert_o` until reset. The
// verdict is not a flag: a difference that was found, or a step that was left out, leaves a value
// that is not the constant. Without `Hardened` the verdict follows a flag.

`include "assert.svh"

module lms_control
  import xmss_pkg::*;
  import lms_pkg::*;
#(
  // Number of lanes, whose steps are counted.
  parameter int unsigned Lanes    = 1,
  // 0 builds a control whose verdict is a flag, and which continues from an illegal state.
  parameter bit          Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Ends everything, in every state.
  input  logic        abort_i,
  // Another part was upset.
  input  logic        fail_i,
  // A state that does not exist was found. It lasts until reset.
  output logic        alert_o,
  // A start is taken.
  output logic        idle_o,
  // All parts forget everything.
  output logic        clear_o,

  // The request.
  input  logic        start_i,
  // The types that the requester expects, and the types in the key.
  input  logic [31:0] expected_i,
  input  logic [31:0] key_type_i,
  // Each root is computed twice.
  input  logic        two_passes_i,

  // Properties of this level: its types and their parameters.
  output logic [3:0]   tree_code_o,
  output logic [3:0]   ots_code_o,
  output tree_t        tree_o,
  output ots_t         ots_o,
  // The level signs the message.
  output logic         is_last_o,
  // I of this level's key.
  output logic [127:0] identifier_o,
  // The place of the key of the next level.
  output address_t     next_key_o,
  // This is the second pass.
  output logic         is_turned_o,

  // Commands, each for one cycle: a signature is expected, the next level of it, the message is to
  // be hashed, the root is to be computed.
  output logic        receive_o,
  output logic        next_o,
  output logic        message_o,
  output logic        root_o,
  // The last command was carried out.
  input  logic        stream_done_i,

  // The signature: C came, the key of the next level came with these types, the signature ended, or
  // a fault.
  input  logic        has_random_i,
  input  logic        has_key_i,
  input  logic [3:0]  next_tree_i,
  input  logic [3:0]  next_ots_i,
  input  logic        ended_i,
  input  error_e      sig_error_i,

  // Counts that follow from the digits, and counts of what was done in this pass.
  input  logic             summed_i,
  input  logic [13:0]      steps_expected_i,
  input  logic [8:0]       kept_expected_i,
  // Lanes that computed a step in this cycle.
  input  logic [Lanes-1:0] steps_i,
  // Values without a step.
  input  logic [8:0]       kept_i,
  // A node was computed in this cycle.
  input  logic             node_i,

  // The memory: a read stays until its grant, and the row comes in the next cycle.
  output logic        read_o,
  input  logic        read_ready_i,
  output address_t    read_place_o,
  output logic        read_row_o,
  input  row_t        read_data_i,

  // The root that was computed: a row of it, and a word for the requester while there is a verdict.
  output logic        result_row_o,
  input  row_t        result_i,
  input  logic [2:0]  root_index_i,
  output logic [31:0] root_word_o,

  // There is a verdict, or a refusal.
  output logic        done_o,
  output error_e      error_o,
  output logic [63:0] verdict_o
);
  // States as words of an extended Hamming code: any two differ in four bits.
  typedef enum logic [7:0] {
    // Waits for the first start.
    StIdle    = 8'h0f,
    // Checks both types, in one cycle.
    StCheck   = 8'h33,
    // Reads I of this level.
    StLoad    = 8'h3c,
    // Waits for C, and with a level below for its key: they are hashed next.
    StHead    = 8'h55,
    // Has the message hashed.
    StMessage = 8'h5a,
    // Has the root computed, and waits for all that is compared.
    StRun     = 8'h66,
    // Mixes the counts into the verdict, in one cycle.
    StCount   = 8'h69,
    // Compares the eight words of the roots.
    StWalk    = 8'h96,
    // Leads to the second walk, or to the second pass.
    StTurn    = 8'h99,
    // Leads to the next level, in one cycle.
    StNext    = 8'ha5,
    // Shows the result until the next start.
    StDone    = 8'haa,
    // Clears all parts after reset, an abort or a refusal.
    StClear   = 8'hc3,
    // Judges two walks, in one cycle.
    StJudge   = 8'hcc,
    // Only a reset ends this state.
    StError   = 8'hf0
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StClear), .MinDistance(4)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_check, in_load, in_head, in_message, in_run, in_count, in_walk, in_turn, in_judge, in_next, in_done, in_clear;
  assign in_idle    = state_q == StIdle;
  assign in_check   = state_q == StCheck;
  assign in_load    = state_q == StLoad;
  assign in_head    = state_q == StHead;
  assign in_message = state_q == StMessage;
  assign in_run     = state_q == StRun;
  assign in_count   = state_q == StCount;
  assign in_walk    = state_q == StWalk;
  assign in_turn    = state_q == StTurn;
  assign in_judge   = state_q == StJudge;
  assign in_next    = state_q == StNext;
  assign in_done    = state_q == StDone;
  assign in_clear   = state_q == StClear;

  // --- levels and types ---
  // The level, the number of the last one, and the number of levels below this one.
  logic [2:0] level_q, last_level, left;
  // Types of this level.
  logic [3:0] tree_q, ots_q;
  logic       is_known;
  tree_t      expected_tree;
  ots_t       expected_ots;
  logic       unused_expected;
  address_t   key;
  // The refusal of this signature, which stays until the next start.
  error_e     error_q;

  assign expected_tree = tree_of(expected_i[3:0]);
  assign expected_ots  = ots_of(expected_i[19:16]);
  // A key has one hash function (SP 800-208 §4), and at most eight levels (RFC 8554 §6).
  assign is_known      = expected_tree.is_known & expected_ots.is_known & ({expected_i[27:20], expected_i[15:4]} == '0) &
                         (expected_tree.is_short == expected_ots.is_short) & (expected_i[31:28] <= 4'd8);
  // The other fields are decoded again when the types are those of a level.
  assign unused_expected = ^{expected_tree.height, expected_ots.log_width, expected_ots.chains};
  assign last_level    = (expected_i[31:28] == '0) ? '0 : 3'(expected_i[31:28] - 4'd1);
  assign left          = last_level - level_q;
  assign is_last_o     = left == '0;
  assign tree_code_o   = tree_q;
  assign ots_code_o    = ots_q;
  assign tree_o        = tree_of(tree_q);
  assign ots_o         = ots_of(ots_q);
  // Keys in signatures have two areas in turn, so that one is written while the other is in use.
  assign key           = (level_q == '0) ? KeyPlace : NextPlace | 9'({level_q[0], 1'b0});
  assign next_key_o    = NextPlace | 9'({~level_q[0], 1'b0});

  // --- walks over words: I, and the comparison ---
  // The walks read words of the key: I, and T[1] for the comparison.
  logic [2:0]  at_q;
  // The word of the key. T[1] follows six words.
  logic [3:0]  key_word;
  logic        has_row_q, second_q, starts, reads, is_end, steps_on, past_root;
  logic [31:0] key_value, root_value, difference;
  logic [63:0] verdict_q;

  assign key_word     = 4'(at_q) + 4'd6;
  assign reads        = in_load | in_walk;
  assign read_o       = reads & ~has_row_q;
  assign read_place_o = in_load ? key : key | 9'(key_word[3]);
  // I is in the second and in the third pair of the key.
  assign read_row_o   = in_load ? ~at_q[0] : key_word[1];
  assign steps_on     = reads & has_row_q;
  assign is_end       = at_q == (in_load ? 3'd1 : 3'd7);

  function automatic logic [31:0] word_of(row_t row, logic [1:0] index);
    unique case (index)
      2'b00:   return row.low[63:32];
      2'b01:   return row.low[31:0];
      2'b10:   return row.high[63:32];
      default: return row.high[31:0];
    endcase
  endfunction
  logic [2:0] root_index;
  assign root_index   = in_done ? root_index_i : at_q;
  assign result_row_o = root_index[1];
  assign key_value    = word_of(read_data_i, {key_word[2], key_word[0]});
  assign root_value   = word_of(result_i, {root_index[2], root_index[0]});
  // A root of 24 bytes has six words.
  assign past_root    = tree_o.is_short & (root_index > 3'd5);
  // The computed root is shown only after a comparison.
  assign root_word_o  = (in_done && (error_q == NoError || error_q == ErrorMismatch) && !past_root) ? root_value : '0;

  // --- the verdict ---
  // Counts of hashes, which a verdict needs besides equal roots: a fault that leaves out work is
  // found.
  // Steps of chains in this pass, and nodes: the leaf and the path.
  logic [13:0] steps_q;
  logic [4:0]  nodes_q;
  logic [3:0]  steps;
  // A difference is mixed in during this cycle.
  logic        mixes;
  // A step of the verdict. After a count and eight words, twice and without a difference, the
  // constant is what is left.
  function automatic logic [63:0] mix(logic [63:0] verdict, logic [31:0] differs);
    return {verdict[56:0], verdict[63:57]} ^ {differs, differs[15:0], differs[31:16]} ^ 64'h9e37_79b9_7f4a_7c15;
  endfunction
  localparam logic [63:0] Begin = 64'h6861_7274_6c6f_636b;
  // The value that a level without a fault leaves. Levels below it are part of both counts.
  function automatic logic [63:0] passed(logic [2:0] below);
    logic [63:0] value;
    value = Begin;
    for (int i = 0; i < 18; i++) value = mix(value, (i % 9 == 0) ? {below, 29'b0} : '0);
    return value;
  endfunction
  localparam logic [63:0] Passed = passed('0);

  logic [63:0] level_passed;
  logic        has_passed;
  assign level_passed = passed(left);
  assign has_passed   = verdict_q == level_passed;
  assign mixes        = in_count | (in_walk & has_row_q);

  // Lanes that computed a step in this cycle.
  always_comb begin
    steps = '0;
    for (int lane = 0; lane < Lanes; lane++) steps = steps + 4'(steps_i[lane]);
  end

  // The difference that is mixed in: of the counts, or of a word of the root.
  always_comb begin
    difference = past_root ? '0 : key_value ^ root_value;
    if (in_count) begin
      difference = {left, steps_q ^ steps_expected_i, kept_i ^ kept_expected_i, nodes_q ^ (tree_o.height + 5'd1), 1'b0};
    end
  end

  // --- the sequence ---
  // There is a fault, and it ends the verification.
  logic   is_refused, refuses;
  error_e refusal;
  assign starts = start_i & (in_idle | in_done) & ~fail_i;
  // Faults of the types, or of the signature.
  always_comb begin
    is_refused = sig_error_i != NoError;
    refusal    = sig_error_i;
    if (in_check) begin
      is_refused = ~is_known | (key_type_i != expected_i);
      refusal    = is_known ? ErrorKeyType : ErrorType;
    end
  end
  assign refuses = is_refused & ~abort_i & (in_check | in_load | in_head | in_message | in_run);

  // `computes_q`: the command of this state was given.
  logic begins_run, was_clear_q, computes_q;
  assign begins_run = in_run & ~computes_q;

  // The steps of a verification. A refusal ends it early, and an abort does so in every state.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle, StDone: state_d = state_q;
      StCheck:   state_d = StLoad;
      StLoad:    if (steps_on && is_end) state_d = StHead;
      StHead:    if (has_random_i && (is_last_o || has_key_i)) state_d = StMessage;
      StMessage: if (stream_done_i && computes_q) state_d = StRun;
      StRun:     if (computes_q && stream_done_i && summed_i && (is_last_o ? ended_i : has_key_i)) state_d = StCount;
      StCount:   state_d = StWalk;
      StWalk:    if (steps_on && is_end) state_d = second_q ? StJudge : StTurn;
      StTurn:    state_d = two_passes_i ? StRun : StCount;
      StJudge:   state_d = (is_last_o || !has_passed) ? StDone : StNext;
      StNext:    state_d = StLoad;
      StClear:   if (was_clear_q) state_d = (error_q == NoError) ? StIdle : StDone;
      StError:   state_d = StError;
      default:   state_d = Hardened ? StError : StIdle;
    endcase
    // After a refusal all work that is under way is cleared first.
    if (refuses) state_d = StClear;
    if (starts) state_d = StCheck;
    if (abort_i && !alert_o) state_d = StClear;
    if (fail_i && Hardened)  state_d = StError;
  end

  assign alert_o     = ~(in_idle | in_check | in_load | in_head | in_message | in_run | in_count | in_walk | in_turn | in_judge | in_next |
                         in_done | in_clear);
  assign idle_o      = in_idle | in_done;
  assign clear_o     = in_clear | alert_o;
  assign receive_o   = starts;
  assign next_o      = in_next;
  assign message_o   = in_message & ~computes_q;
  assign root_o      = begins_run;
  assign is_turned_o = second_q;
  assign done_o      = in_done;
  assign error_o     = alert_o ? ErrorUpset : error_q;
  // Without the hardening the verdict is the constant whenever the flag of an error is clear.
  assign verdict_o   = !(in_done && error_q == NoError) ? '0 : Hardened ? verdict_q : Passed;

  // The level, the position in a walk, counts of hashes and the refusal.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      was_clear_q  <= 1'b0;
      level_q      <= '0;
      tree_q       <= '0;
      ots_q        <= '0;
      at_q         <= '0;
      has_row_q    <= 1'b0;
      second_q     <= 1'b0;
      computes_q   <= 1'b0;
      steps_q      <= '0;
      nodes_q      <= '0;
      error_q      <= NoError;
    end else begin
      was_clear_q <= in_clear;
      if (starts || in_clear || alert_o) begin
        level_q    <= '0;
        at_q       <= '0;
        has_row_q  <= 1'b0;
        second_q   <= 1'b0;
        computes_q <= 1'b0;
        steps_q    <= '0;
        nodes_q    <= '0;
        if (starts) begin
          tree_q <= expected_i[3:0];
          ots_q  <= expected_i[19:16];
        end
        if (starts || alert_o || abort_i) error_q <= NoError;
      end else begin
        if (abort_i)  error_q <= NoError;
        // A row is there for one cycle only.
        has_row_q <= read_o & read_ready_i;
        if (steps_on) at_q <= is_end ? '0 : at_q + 3'd1;
        if (message_o || root_o) computes_q <= 1'b1;
        if ((in_message && state_d == StRun) || (in_turn && two_passes_i) || in_next) computes_q <= 1'b0;
        if (in_turn) second_q <= 1'b1;
        if (in_next) begin
          second_q  <= 1'b0;
          level_q   <= level_q + 3'd1;
          tree_q    <= next_tree_i;
          ots_q     <= next_ots_i;
        end
        if ((in_turn && two_passes_i) || in_next) {steps_q, nodes_q} <= '0;
        else begin
          steps_q <= steps_q + 14'(steps);
          nodes_q <= nodes_q + 5'(node_i);
        end
        if (refuses) error_q <= refusal;
        if (in_judge && !has_passed) error_q <= ErrorMismatch;
      end
    end
  end

  // The verdict. A level without a fault leaves the begin of the next one; any other result stays
  // wrong.
  always_ff @(posedge clk_i) begin
    if (starts || in_clear || alert_o) verdict_q <= Begin;
    else if (in_next)                  verdict_q <= verdict_q ^ level_passed ^ Begin;
    else if (mixes)                    verdict_q <= mix(verdict_q, difference);
  end

  // I of this level has no reset, because it is read before it is used.
  always_ff @(posedge clk_i) begin
    if (in_load && has_row_q && !at_q[0]) identifier_o[127:64] <= read_data_i.low;
    if (in_load && has_row_q && at_q[0])  identifier_o[63:0]   <= read_data_i.high;
  end

  // A root is compared only after it was computed.
  `ASSERT(AComparisonIsOfARoot_A, in_count || in_walk |-> stream_done_i && computes_q)
  // A fault that hits the same work twice in the same way would pass twice.
  `ASSERT(TheSecondPassHasAnotherOrder_A, root_o && second_q |-> is_turned_o)
  // Work that continued after a refusal would write into the next signature.
  `ASSERT(ARefusalForgetsTheWork_A, refuses |=> clear_o)
  // An upset lasts until reset.
  `ASSERT(ErrorIsForGood_A, alert_o && Hardened |=> alert_o)
  // An upset never shows a verdict.
  `ASSERT(AnUpsetHasNoVerdict_A, alert_o |-> verdict_o == '0 && !done_o)
  // A verdict is the constant of two walks on each level, or zero.
  `ASSERT(AVerdictIsOfTwoWalks_A, verdict_o != '0 |-> verdict_o == Passed && second_q && error_q == NoError)
  // Nothing of a computation is shown before it was compared.
  `ASSERT(ARootFollowsAComparison_A, root_word_o != '0 |-> done_o && (error_q == NoError || error_q == ErrorMismatch))
  // The key of a level is used only after the level above has verified it.
  `ASSERT(ALevelFollowsAVerifiedOne_A, in_next |-> has_passed)
endmodule
