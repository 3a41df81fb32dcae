// Controls a verification (FIPS 205 §9.3, algorithm 20): it checks the types, has the message
// hashed and the root computed, compares the roots and forms the verdict.
//
// The verdict is the constant of `xmss_control`. It only results from two walks over all words of
// the root, without a difference in any of them and after the right numbers of chain steps and
// other hashes. A root has four words, and a walk goes over them twice. With two passes the second
// walk is over a root that was computed again, in another order.
//
// Interface: `start_i` is a strobe, which is taken while `idle_o` is set. Types are stable until
// `done_o`. Reset begins with a clear of all parts, and so does an abort.
//
// Hardening: any two states differ in four bits, and every other code is `alert_o` until reset. The
// verdict is not a flag: a difference that was found, or a step that was left out, leaves a value
// that is not the constant. Without `Hardened` the verdict follows a flag.

`include "assert.svh"

module slh_dsa_control
  import slh_dsa_pkg::*;
  import xmss_pkg::error_e;
  import xmss_pkg::NoError;
  import xmss_pkg::ErrorMismatch;
  import xmss_pkg::ErrorType;
  import xmss_pkg::ErrorKeyType;
  import xmss_pkg::ErrorShort;
  import xmss_pkg::ErrorLong;
  import xmss_pkg::ErrorUpset;
#(
  // 0 builds a control whose verdict is a flag, and which continues from an illegal state.
  parameter bit Hardened = 1'b1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // Ends everything, in every state.
  input  logic         abort_i,
  // Another part was upset.
  input  logic         fail_i,
  // A state that does not exist was found. It lasts until reset.
  output logic         alert_o,
  // A start is taken.
  output logic         idle_o,
  // All parts forget everything.
  output logic         clear_o,

  // The request.
  input  logic         start_i,
  // The type that the requester expects, and the type of the key.
  input  logic [31:0]  expected_i,
  input  logic [31:0]  key_type_i,
  // The root is computed twice; this is the second pass.
  input  logic         two_passes_i,
  output logic         is_turned_o,

  // Signature and message are expected.
  output logic         receive_o,
  // The message digest is there.
  input  logic         hashed_i,
  // Starts a pass.
  output logic         schedule_o,
  // The root of the pass is there.
  input  logic         finished_i,

  // The signature has ended, and was too short or too long.
  input  logic         ended_i,
  input  logic         is_short_i,
  input  logic         is_long_i,

  // The root that was computed, and halves of the root in the key. A half comes in the cycle after
  // its grant.
  input  logic [3:0][31:0] root_i,
  output logic         read_o,
  input  logic         read_ready_i,
  output half_t        read_at_o,
  input  logic [63:0]  read_data_i,

  // The number of steps that follows from the digits.
  input  logic [11:0]  steps_expected_i,
  // Steps of chains, and other hashes, of all lanes in this cycle.
  input  logic [3:0]   steps_i,
  input  logic [3:0]   nodes_i,

  // There is a verdict, or a refusal.
  output logic         done_o,
  output error_e       error_o,
  output logic [63:0]  verdict_o,

  // A word of the computed root, after a comparison.
  input  logic [2:0]   root_index_i,
  output logic [31:0]  root_o
);
  // States as words of an extended Hamming code: any two differ in four bits.
  typedef enum logic [7:0] {
    // Waits for the first start.
    StIdle    = 8'h0f,
    // Checks both types, in one cycle.
    StCheck   = 8'h33,
    // Waits for the message digest.
    StMessage = 8'h3c,
    // Waits for the root of this pass, and for the end of the signature.
    StRun     = 8'h55,
    // Mixes the counts into the verdict, in one cycle.
    StCount   = 8'h5a,
    // Compares the words of the roots, each of them twice.
    StWalk    = 8'h66,
    // Leads to the second walk, or to the second pass.
    StTurn    = 8'h69,
    // Judges two walks, in one cycle.
    StJudge   = 8'h96,
    // Shows the result until the next start.
    StDone    = 8'h99,
    // Clears all parts after reset, an abort or a refusal.
    StClear   = 8'ha5,
    // Only a reset ends this state.
    StError   = 8'hf0
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StClear), .MinDistance(4)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_check, in_message, in_run, in_count, in_walk, in_turn, in_judge, in_done, in_clear;
  logic was_clear_q, starts;
  assign in_idle    = state_q == StIdle;
  assign in_check   = state_q == StCheck;
  assign in_message = state_q == StMessage;
  assign in_run     = state_q == StRun;
  assign in_count   = state_q == StCount;
  assign in_walk    = state_q == StWalk;
  assign in_turn    = state_q == StTurn;
  assign in_judge   = state_q == StJudge;
  assign in_done    = state_q == StDone;
  assign in_clear   = state_q == StClear;

  // --- a walk over the words of both roots ---
  logic [2:0]  at_q;
  // A half came; this is the second walk; the word is compared; the walk ends.
  logic        has_half_q, second_q, steps_on, ends_walk;
  logic [31:0] word, key_word, difference;
  error_e      error_q;
  logic [63:0] verdict_q;

  // The word of the computed root, and the word of the key that it is compared with.
  assign word      = root_i[in_done ? ~root_index_i[1:0] : ~at_q[1:0]];
  assign key_word  = at_q[0] ? read_data_i[31:0] : read_data_i[63:32];
  assign read_o    = in_walk & ~has_half_q;
  assign read_at_o = RootAt | {9'd0, at_q[1]};
  assign steps_on  = in_walk & has_half_q;
  assign ends_walk = steps_on & (at_q == 3'd7);
  assign root_o    = (in_done && (error_q == NoError || error_q == ErrorMismatch) && !root_index_i[2]) ? word : '0;

  // --- the verdict ---
  // Counts of hashes, which a verdict needs besides equal roots: a fault that leaves out work is
  // found.
  // Steps of chains in this pass, and all other hashes.
  logic [11:0] steps_q;
  logic [8:0]  nodes_q;
  // A difference is mixed in during this cycle.
  logic        mixes;
  // A step of the verdict. After a count and eight words, twice and without a difference, the
  // constant is what is left.
  function automatic logic [63:0] mix(logic [63:0] verdict, logic [31:0] differs);
    return {verdict[56:0], verdict[63:57]} ^ {differs, differs[15:0], differs[31:16]} ^ 64'h9e37_79b9_7f4a_7c15;
  endfunction
  assign mixes      = in_count | steps_on;
  assign difference = in_count ? {11'd0, nodes_q ^ 9'(Nodes), steps_q ^ steps_expected_i} : word ^ key_word;

  // Faults of the signature are reported when its end is known.
  // There is a fault, and it ends the verification.
  logic is_refused, refuses;
  error_e refusal;
  always_comb begin
    is_refused = ended_i & (is_short_i | is_long_i);
    refusal    = is_short_i ? ErrorShort : ErrorLong;
    if (in_check) begin
      is_refused = (expected_i != TypeSha2128s) | (key_type_i != expected_i);
      refusal    = (expected_i != TypeSha2128s) ? ErrorType : ErrorKeyType;
    end
  end
  assign refuses = is_refused & ~abort_i & (in_check | in_message | in_run);
  assign starts  = start_i & idle_o & ~fail_i;

  // The steps of a verification. A refusal ends it early, and an abort does so in every state.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle, StDone: state_d = state_q;
      StCheck:   state_d = StMessage;
      StMessage: if (hashed_i) state_d = StRun;
      StRun:     if (finished_i && ended_i) state_d = StCount;
      StCount:   state_d = StWalk;
      StWalk:    if (ends_walk) state_d = second_q ? StJudge : StTurn;
      StTurn:    state_d = two_passes_i ? StRun : StCount;
      StJudge:   state_d = StDone;
      StClear:   if (was_clear_q) state_d = (error_q == NoError) ? StIdle : StDone;
      StError:   state_d = StError;
      default:   state_d = Hardened ? StError : StIdle;
    endcase
    if (refuses) state_d = StClear;
    if (starts)  state_d = StCheck;
    if (abort_i && !alert_o) state_d = StClear;
    if (fail_i && Hardened)  state_d = StError;
  end

  assign alert_o     = ~(in_idle | in_check | in_message | in_run | in_count | in_walk | in_turn | in_judge | in_done |
                         in_clear);
  assign idle_o      = in_idle | in_done;
  assign clear_o     = in_clear | alert_o;
  assign receive_o   = starts;
  assign is_turned_o = second_q | in_turn;
  assign schedule_o  = (in_message & hashed_i) | (in_turn & two_passes_i);
  assign done_o      = in_done;
  assign error_o     = alert_o ? ErrorUpset : error_q;

  // The verdict begins with this value, and ends with `Passed` after 18 steps without a difference.
  localparam logic [63:0] Begin = 64'h6861_7274_6c6f_636b;
  function automatic logic [63:0] passed();
    logic [63:0] value;
    value = Begin;
    for (int i = 0; i < 18; i++) value = mix(value, '0);
    return value;
  endfunction
  localparam logic [63:0] Passed = passed();
  // Without the hardening the verdict is the constant whenever the flag of an error is clear.
  assign verdict_o = !(in_done && error_q == NoError) ? '0 : Hardened ? verdict_q : Passed;

  // The position in a walk, counts of hashes, the verdict and the refusal.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      was_clear_q <= 1'b0;
      at_q        <= '0;
      has_half_q  <= 1'b0;
      second_q    <= 1'b0;
      verdict_q   <= '0;
      steps_q     <= '0;
      nodes_q     <= '0;
      error_q     <= NoError;
    end else begin
      was_clear_q <= in_clear;
      if (starts || in_clear || alert_o) begin
        at_q       <= '0;
        has_half_q <= 1'b0;
        second_q   <= 1'b0;
        verdict_q  <= starts ? Begin : '0;
        steps_q    <= '0;
        nodes_q    <= '0;
        if (starts || alert_o || abort_i) error_q <= NoError;
      end else begin
        if (abort_i) error_q <= NoError;
        has_half_q <= read_o & read_ready_i;
        if (steps_on) at_q <= at_q + 3'd1;
        if (in_turn)  second_q <= 1'b1;
        if (in_turn && two_passes_i) begin
          {steps_q, nodes_q} <= '0;
        end else begin
          steps_q <= steps_q + 12'(steps_i);
          nodes_q <= nodes_q + 9'(nodes_i);
        end
        if (mixes)   verdict_q <= mix(verdict_q, difference);
        if (refuses) error_q <= refusal;
        if (in_judge && verdict_q != Passed) error_q <= ErrorMismatch;
      end
    end
  end

  // Before the end of a pass the register of the root has a value that a layer signs.
  `ASSERT(AComparisonIsOfARoot_A, in_count || in_walk |-> finished_i)
  // A fault that hits the same work twice in the same way would pass twice.
  `ASSERT(TheSecondPassHasAnotherOrder_A, in_turn && schedule_o |-> is_turned_o)
  // Lanes that continued after a refusal would write into the next signature.
  `ASSERT(ARefusalForgetsTheWork_A, refuses |=> clear_o)
  // An upset lasts until reset.
  `ASSERT(ErrorIsForGood_A, alert_o && Hardened |=> alert_o)
  // An upset never shows a verdict.
  `ASSERT(AnUpsetHasNoVerdict_A, alert_o |-> verdict_o == '0 && !done_o)
  // A verdict is the constant of two walks, or zero.
  `ASSERT(AVerdictIsOfTwoWalks_A, verdict_o != '0 |-> verdict_o == Passed && second_q && error_q == NoError)
  // Nothing of a computation is shown before it was compared.
  `ASSERT(ARootFollowsAComparison_A, root_o != '0 |-> done_o && (error_q == NoError || error_q == ErrorMismatch))
endmodule
