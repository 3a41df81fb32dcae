// Controls a verification (RFC 8391 §4.1.10): it checks the types, hashes the message, starts the
// schedule, compares the roots and forms the verdict.
//
// The verdict is a constant of 64 bits. It only results from two walks over all words of the root,
// without a difference in any of them and after the right numbers of chain steps and nodes. With
// two passes the second walk is over a root that was computed again, in another order.
//
// Interface: `start_i` is a strobe, which is taken while `idle_o` is set. Types are stable until
// `done_o`. Words of the message have valid and ready. Reset begins with a clear of all parts, and
// so does an abort.
//
// Hardening: any two states differ in four bits, and every other code is `alert_o` until reset. The
// verdict is not a flag: a difference that was found, or a step that was left out, leaves a value
// that is not the constant. Without `Hardened` the verdict follows a flag.

`include "assert.svh"

module xmss_control
  import xmss_pkg::*;
#(
  // Sets that are built in: XMSS^MT, and those with n = 24.
  parameter bit HasXmssMt = 1'b0,
  parameter bit HasShort  = 1'b0,
  // 0 builds a control whose verdict is a flag, and which continues from an illegal state.
  parameter bit Hardened  = 1'b1
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

  // The request, and the properties of the type that follow from it.
  input  logic        start_i,
  input  logic        is_mt_i,
  // The type that the requester expects, and the type in the key.
  input  logic [31:0] expected_i,
  input  logic [31:0] key_type_i,
  input  logic        two_passes_i,
  // Height of a tree.
  output logic [4:0]  height_o,
  // n is 24.
  output logic        has_short_values_o,
  // Form of the index, and the place in the hypertree: layer, tree and leaf (RFC 8391 §4.2).
  output index_e      form_o,
  output logic        is_last_o,
  // The next layer begins.
  output logic        next_o,
  output logic [3:0]  layer_o,
  // The tree in its layer, and the leaf in its tree.
  output logic [54:0] tree_o,
  output logic [19:0] leaf_o,
  // This is the second pass.
  output logic        is_turned_o,

  // Gives the first job to each lane.
  output logic        init_o,
  // All lanes have the state of PRFs.
  input  logic        init_done_i,
  // Signature and message are expected.
  output logic        receive_o,
  // Starts the schedule.
  output logic        schedule_o,
  input  logic        schedule_busy_i,
  // The root is in the memory.
  input  logic        finished_i,

  // The signature: its index and R have come, it has ended, it was too short or too long.
  input  logic [63:0] index_i,
  input  logic        has_index_i,
  input  logic        has_random_i,
  input  logic        ended_i,
  input  logic        is_short_i,
  input  logic        is_long_i,

  // Words of the message in, and words to be hashed out: first those that precede the message, then
  // its own.
  input  logic        msg_valid_i,
  output logic        msg_ready_o,
  input  logic [31:0] msg_i,
  input  logic        msg_last_i,
  input  logic [2:0]  msg_bytes_i,
  output logic        word_valid_o,
  input  logic        word_ready_i,
  output logic [31:0] word_o,
  output logic        word_last_o,
  output logic [2:0]  word_bytes_o,
  // The digest is in the memory.
  input  logic        hashed_i,

  // The memory: a read stays until its grant, and the row comes in the next cycle.
  // Rows for the prefix of the message, the digest, the comparison and the read-out.
  output logic        read_o,
  input  logic        read_ready_i,
  output place_t      read_place_o,
  output logic        read_row_o,
  input  row_t        read_data_i,

  // Words of the computed root, after a comparison: two cycles after their index.
  input  logic [2:0]  root_index_i,
  output logic [31:0] root_o,

  // Words of the digest, from which the digits of the chains are made.
  output logic        digit_valid_o,
  output logic [2:0]  digit_index_o,
  output logic [31:0] digit_word_o,
  // Asks for the checksum, after the last word of the digest.
  output logic        digit_sum_o,
  input  logic        digits_valid_i,
  // The number of steps that follows from the digits.
  input  logic [10:0] steps_expected_i,

  // A chain was walked, with this number of steps.
  input  logic        step_valid_i,
  input  logic [3:0]  steps_i,
  // A node was computed.
  input  logic        node_valid_i,

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
    // Gives each lane its first job, and waits for index and R.
    StInit    = 8'h3c,
    // Hashes what precedes the message: 32 words, or fewer with n = 24.
    StPrefix  = 8'h55,
    // Hashes the message up to its last word.
    StMessage = 8'h5a,
    // Waits until the digest is in the memory.
    StHash    = 8'h66,
    // Reads the digest, or the root of the layer below, for the digits: eight words.
    StDigest  = 8'h69,
    // Waits for the root of this layer, and in the last layer for the end of the signature.
    StRun     = 8'h96,
    // Mixes the counts of steps and nodes into the verdict, in one cycle.
    StCount   = 8'h99,
    // Compares the eight words of the roots.
    StWalk    = 8'ha5,
    // Leads to the second walk, to the second pass or to the next layer, in one cycle.
    StTurn    = 8'haa,
    // Shows the result until the next start.
    StDone    = 8'hc3,
    // Clears all parts after reset, an abort or a refusal, until the schedule has cleared its
    // counts.
    StClear   = 8'hcc,
    // Only a reset ends this state.
    StError   = 8'hf0
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StClear), .MinDistance(4)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_check, in_init, in_prefix, in_message, in_hash, in_digest, in_run, in_count, in_walk, in_turn, in_done;
  logic in_clear, was_clear_q, starts;
  assign in_idle    = state_q == StIdle;
  assign in_check   = state_q == StCheck;
  assign in_init    = state_q == StInit;
  assign in_prefix  = state_q == StPrefix;
  assign in_message = state_q == StMessage;
  assign in_hash    = state_q == StHash;
  assign in_digest  = state_q == StDigest;
  assign in_run     = state_q == StRun;
  assign in_count   = state_q == StCount;
  assign in_walk    = state_q == StWalk;
  assign in_turn    = state_q == StTurn;
  assign in_done    = state_q == StDone;
  assign in_clear   = state_q == StClear;

  // --- the type ---
  // The type is built in, and a tree of it has this leaf.
  logic is_known, index_fits;
  // The index does not fit, as found in the lowest layer.
  logic       misfits_q;
  logic [3:0] last_layer, layer_q;
  // The refusal of this signature, which stays until the next start.
  error_e error_q;
  // Sets that are known: XMSS-SHA2_10_256, _16_256 and _20_256 (RFC 8391 §5.3), and
  // XMSSMT-SHA2_20/2_256 to _60/12_256 (§5.4). With n = 24 these are XMSS-SHA2_10_192 to
  // XMSSMT-SHA2_60/12_192 (SP 800-208 §5.2).
  always_comb begin
    is_known   = 1'b1;
    height_o   = 5'd10;
    last_layer = 4'd0;
    form_o     = IndexFour;
    // The numbers of n = 24 are 12 (XMSS) and 32 (XMSS^MT) higher (SP 800-208 §5).
    has_short_values_o = HasShort & (is_mt_i ? expected_i[31:4] == 28'h2 : expected_i[31:2] == 30'h3);
    if (HasXmssMt && is_mt_i) begin
      unique case (has_short_values_o ? {28'b0, expected_i[3:0]} : expected_i)
        32'd1:   {height_o, last_layer, form_o} = {5'd10, 4'd1, IndexThree};
        32'd2:   {height_o, last_layer, form_o} = {5'd5, 4'd3, IndexThree};
        32'd3:   {height_o, last_layer, form_o} = {5'd20, 4'd1, IndexFive};
        32'd4:   {height_o, last_layer, form_o} = {5'd10, 4'd3, IndexFive};
        32'd5:   {height_o, last_layer, form_o} = {5'd5, 4'd7, IndexFive};
        32'd6:   {height_o, last_layer, form_o} = {5'd20, 4'd2, IndexEight};
        32'd7:   {height_o, last_layer, form_o} = {5'd10, 4'd5, IndexEight};
        32'd8:   {height_o, last_layer, form_o} = {5'd5, 4'd11, IndexEight};
        default: is_known = 1'b0;
      endcase
    end else begin
      unique case (has_short_values_o ? {30'b0, expected_i[1:0]} : expected_i)
        32'd1:   height_o = 5'd10;
        32'd2:   height_o = 5'd16;
        32'd3:   height_o = 5'd20;
        default: is_known = 1'b0;
      endcase
    end
  end

  // Only the lowest layer has the whole index, so later layers use what was found there.
  always_comb begin
    unique case (form_o)
      IndexThree: index_fits = index_i[23:20] == '0;
      IndexFive:  index_fits = 1'b1;
      IndexEight: index_fits = index_i[63:60] == '0;
      default:    index_fits = (index_i[31:0] >> height_o) == '0;
    endcase
    if (HasXmssMt && layer_q != '0) index_fits = ~misfits_q;
  end

  // Leaf and tree of this layer (§4.2.5). `xmss_ingest` shifts the index from layer to layer.
  always_comb begin
    leaf_o = index_i[19:0];
    tree_o = '0;
    if (form_o != IndexFour) begin
      unique case (height_o)
        5'd5:    {tree_o, leaf_o} = {index_i[59:5], 20'(index_i[4:0])};
        5'd10:   {tree_o, leaf_o} = {5'b0, index_i[59:10], 20'(index_i[9:0])};
        default: {tree_o, leaf_o} = {15'b0, index_i[59:20], index_i[19:0]};
      endcase
    end
  end
  assign layer_o   = layer_q;
  assign is_last_o = ~HasXmssMt | (layer_q == last_layer);
  assign next_o    = in_turn & ~is_last_o;
  // The schedule of a layer begins a cycle later, when the leaf of the layer is there.
  logic begins_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begins_q <= 1'b0;
    else         begins_q <= next_o & ~clear_o & ~abort_i;
  end

  // --- a walk over words, for the prefix, the digest and the comparison ---
  logic [4:0]  at_q;
  // Bit 0: a row was read. Bit 1: the word of the key is next.
  logic [1:0]  phase_q;
  // A row came; this is the second walk; the schedule was started.
  logic        has_row, second_q, scheduled_q;
  // `first_q` is a word of the computed root.
  logic [31:0] word, first_q, difference;
  logic [63:0] verdict_q;

  // The word of the row that was read in the cycle before.
  always_comb begin
    unique case (in_done ? {root_index_i[2], root_index_i[0]} : {at_q[2], at_q[0]})
      2'b00:   word = read_data_i.low[63:32];
      2'b01:   word = read_data_i.low[31:0];
      2'b10:   word = read_data_i.high[63:32];
      default: word = read_data_i.high[31:0];
    endcase
  end

  // Places that are read: parts of the message's prefix, the digest, the computed root, the root of
  // the key.
  always_comb begin
    // A layer signs the message digest, or the root of the layer below.
    read_place_o = (layer_q == '0) ? StatePlace : NodePlace;
    if (in_prefix) read_place_o = at_q[4] ? RootPlace : RandomPlace;
    if (in_walk)   read_place_o = phase_q[1] ? RootPlace : NodePlace;
    if (in_done)   read_place_o = NodePlace;
  end
  assign read_row_o = in_done ? root_index_i[1] : at_q[1];
  assign has_row    = phase_q[0];
  assign read_o     = ((in_prefix | in_digest | in_walk) & ~has_row) | in_done;
  // The computed root is shown only after a comparison, and with n = 24 only its six words.
  assign root_o     = (in_done && (error_q == NoError || error_q == ErrorMismatch) &&
                       !(has_short_values_o && root_index_i[2:1] == 2'd3)) ? word : '0;

  // Words that precede the message: toByte(2, 32), R, root, toByte(index, 32) (§4.1.9). R and root
  // are in the memory, the others are made here.
  logic is_stored;
  assign is_stored = at_q[4] ^ at_q[3];
  always_comb begin
    word_o       = word;
    word_valid_o = in_prefix & has_row;
    word_last_o  = 1'b0;
    word_bytes_o = 3'd4;
    if (in_prefix && !is_stored) word_o = at_q[4] ? (at_q[2:0] == 3'd7 ? index_i[31:0] : at_q[2:0] == 3'd6 ? index_i[63:32] : '0) :
                                        (at_q[2:0] == 3'd7 ? 32'd2 : '0);
    if (in_message) begin
      word_o       = msg_i;
      word_valid_o = msg_valid_i;
      word_last_o  = msg_last_i;
      word_bytes_o = msg_bytes_i;
    end
  end
  assign digit_valid_o = in_digest & has_row;
  assign digit_index_o = at_q[2:0];
  assign digit_word_o  = word;
  assign digit_sum_o   = in_digest & has_row & (at_q == 5'd7);

  // --- the verdict ---
  // Counts of hashes, which a verdict needs besides equal roots: a fault that leaves out work is
  // found.
  // Steps of chains in this pass, and nodes of both trees.
  logic [10:0] steps_q;
  logic [6:0]  nodes_q;
  // A difference is mixed in during this cycle.
  logic        mixes;
  logic [6:0] nodes_expected;
  assign nodes_expected = (has_short_values_o ? 7'd50 : 7'd66) + 7'(height_o);
  // Values of 24 bytes have six words. The last two words of a place hold the rest of a state.
  logic is_past;
  assign is_past    = has_short_values_o & (at_q[2:1] == 2'd3);
  assign mixes      = in_count | (in_walk & (phase_q == 2'd3));
  assign difference = in_count ? {21'b0, steps_q ^ steps_expected_i} | {14'b0, nodes_q ^ nodes_expected, 11'b0} :
                      is_past  ? '0 : first_q ^ word;

  // --- the sequence ---
  assign starts = start_i & (in_idle | in_done) & ~fail_i;
  logic steps_on;
  // With n = 24 the prefix is toByte(2, 4), and R, root and index have six words each (SP 800-208
  // §5).
  logic [4:0] at_next;
  always_comb begin
    at_next = (in_prefix || at_q != 5'd7) ? at_q + 5'd1 : '0;
    if (in_prefix && has_short_values_o && at_q == 5'd13) at_next = 5'd16;
    if (in_prefix && has_short_values_o && at_q == 5'd21) at_next = 5'd26;
  end
  assign steps_on = (in_prefix & has_row & word_ready_i) | (in_digest & has_row) | (in_walk & (phase_q == 2'd3));

  // Faults of the signature are reported when its end is known: a wrong length before a wrong
  // index.
  // There is a fault, and it ends the verification.
  logic is_refused, refuses;
  error_e refusal;
  always_comb begin
    is_refused = ended_i & (is_short_i | is_long_i | ~index_fits);
    refusal    = is_short_i ? ErrorShort : is_long_i ? ErrorLong : ErrorIndex;
    if (in_check) begin
      is_refused = ~is_known | (key_type_i != expected_i);
      refusal    = is_known ? ErrorKeyType : ErrorType;
    end
  end

  assign refuses = is_refused & ~abort_i & (in_check | in_init | in_prefix | in_message | in_hash | in_digest | in_run);

  // The steps of a verification. A refusal ends it early, and an abort does so in every state.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle, StDone: state_d = state_q;
      StCheck:   state_d = StInit;
      StInit:    if (init_done_i && has_index_i && has_random_i) state_d = StPrefix;
      StPrefix:  if (steps_on && at_q == 5'd31) state_d = StMessage;
      StMessage: if (msg_valid_i && word_ready_i && msg_last_i) state_d = StHash;
      StHash:    if (hashed_i) state_d = StDigest;
      StDigest:  if (steps_on && at_q == 5'd7) state_d = StRun;
      StRun:     if (finished_i && digits_valid_i && (ended_i || !is_last_o)) state_d = is_last_o ? StCount : StTurn;
      StCount:   state_d = StWalk;
      StWalk:    if (steps_on && at_q == 5'd7) state_d = second_q ? StDone : StTurn;
      StTurn:    state_d = ~is_last_o ? StDigest : two_passes_i ? StRun : StCount;
      StClear:   if (!schedule_busy_i && was_clear_q) state_d = (error_q == NoError) ? StIdle : StDone;
      StError:   state_d = StError;
      default:   state_d = Hardened ? StError : StIdle;
    endcase
    // After a refusal all work that is under way is cleared first.
    if (refuses) state_d = StClear;
    if (starts) state_d = StCheck;
    if (abort_i && !alert_o) state_d = StClear;
    if (fail_i && Hardened)  state_d = StError;
  end

  assign alert_o    = ~(in_idle | in_check | in_init | in_prefix | in_message | in_hash | in_digest | in_run | in_count |
                        in_walk | in_turn | in_done | in_clear);
  assign idle_o     = in_idle | in_done;
  assign clear_o    = in_clear | alert_o;
  assign init_o     = in_init;
  assign receive_o  = starts;
  assign msg_ready_o = (in_message & word_ready_i) | (in_done & (error_q != NoError));
  // This is set already in the cycle in which the schedule of the second pass starts.
  assign is_turned_o = second_q | (in_turn & is_last_o);
  // Preparations begin as soon as the index is known, before the message was hashed.
  assign schedule_o = ((in_init | in_prefix) & has_index_i & init_done_i & ~scheduled_q & ~schedule_busy_i) |
                      (in_turn & two_passes_i & is_last_o) | begins_q;
  assign done_o     = in_done;
  assign error_o    = alert_o ? ErrorUpset : error_q;

  // Without the hardening the verdict is the constant whenever the flag of an error is clear.
  assign verdict_o = !(in_done && error_q == NoError) ? '0 : Hardened ? verdict_q : VerdictPassed;

  // The place in a walk, counts of hashes, the verdict and the refusal.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      was_clear_q <= 1'b0;
      at_q        <= '0;
      phase_q     <= '0;
      second_q    <= 1'b0;
      scheduled_q <= 1'b0;
      first_q     <= '0;
      verdict_q   <= '0;
      steps_q     <= '0;
      nodes_q     <= '0;
      error_q     <= NoError;
      layer_q     <= '0;
      misfits_q   <= 1'b0;
    end else begin
      was_clear_q <= in_clear;
      if (starts || in_clear || alert_o) begin
        at_q        <= '0;
        phase_q     <= '0;
        second_q    <= 1'b0;
        scheduled_q <= 1'b0;
        first_q     <= '0;
        verdict_q   <= starts ? VerdictBegin : '0;
        steps_q     <= '0;
        nodes_q     <= '0;
        layer_q     <= '0;
        misfits_q   <= 1'b0;
        if (starts || alert_o || abort_i) error_q <= NoError;
      end else begin
        if (abort_i)    error_q     <= NoError;
        if (schedule_o) scheduled_q <= 1'b1;
        if (in_init && has_short_values_o) at_q <= 5'd7;
        if (read_o && read_ready_i && !in_done) phase_q[0] <= 1'b1;
        // A row is there for one cycle only: a word that was not taken is read again.
        if (in_prefix && has_row)   phase_q[0] <= 1'b0;
        if (in_walk && phase_q == 2'd1) begin
          first_q <= word;
          phase_q <= 2'd2;
        end
        if (steps_on) begin
          phase_q <= '0;
          at_q    <= at_next;
        end
        if (HasXmssMt && layer_q == '0) misfits_q <= has_index_i & ~index_fits;
        if (in_turn && is_last_o) second_q <= 1'b1;
        // A wrong count of a lower layer is left for the comparison of the last layer.
        if (next_o) {layer_q, steps_q, nodes_q} <= {layer_q + 4'd1, steps_q - steps_expected_i, nodes_q - nodes_expected};
        else if (in_turn && two_passes_i) {steps_q, nodes_q} <= '0;
        else begin
          if (step_valid_i) steps_q <= steps_q + 11'(steps_i);
          if (node_valid_i) nodes_q <= nodes_q + 7'd1;
        end
        if (mixes) verdict_q <= mix_verdict(verdict_q, difference);
        if (refuses) error_q <= refusal;
        if (in_walk && steps_on && at_q == 5'd7 && second_q && mix_verdict(verdict_q, difference) != VerdictPassed) error_q <= ErrorMismatch;
      end
    end
  end

  // A root of a lower layer must not be compared with the key: it is the message of the next layer.
  `ASSERT(OnlyTheLastLayerIsCompared_A, in_count || in_walk |-> is_last_o)
  // Before the schedule has finished, the place of the root has a node below it.
  `ASSERT(AComparisonIsOfARoot_A, in_count || in_walk |-> finished_i)
  // A fault that hits the same work twice in the same way would pass twice.
  `ASSERT(TheSecondPassHasAnotherOrder_A, in_turn && is_last_o && schedule_o |-> is_turned_o)
  // Lanes that continued after a refusal would write into the next signature.
  `ASSERT(ARefusalForgetsTheWork_A, refuses |=> clear_o)
  // An upset lasts until reset.
  `ASSERT(ErrorIsForGood_A, alert_o && Hardened |=> alert_o)
  // An upset never shows a verdict.
  `ASSERT(AnUpsetHasNoVerdict_A, alert_o |-> verdict_o == '0 && !done_o)
  // A verdict is the constant of two walks, or zero.
  `ASSERT(AVerdictIsOfTwoWalks_A, verdict_o != '0 |-> verdict_o == VerdictPassed && second_q && error_q == NoError)
  // With n = 24 the rest of the state that had the root follows in the memory, and must not be
  // shown.
  `ASSERT(AShortRootHasSixWords_A, has_short_values_o && root_index_i > 3'd5 |-> root_o == '0)
  // Nothing of a computation is shown before it was compared.
  `ASSERT(ARootFollowsAComparison_A, root_o != '0 |-> done_o && (error_q == NoError || error_q == ErrorMismatch))
endmodule
