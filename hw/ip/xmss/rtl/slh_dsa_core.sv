// Verification of SLH-DSA-SHA2-128s signatures without a bus (FIPS 205 §9.3, algorithm 20), on hash
// cores that are outside, in `xmss_bank` (../doc/slh-dsa.md).
//
// Interface: the key is written while the engine is idle. `start_i` is a strobe that is ignored
// while it is busy. From then on signature and message are taken from their streams (valid and
// ready), in any order and at any time. The message is M', encoded as in §10.2. `done_o` shows the
// verdict, or the reason that there is none, until the next start.
//
// Timing: 22,200 cycles in the mean with four lanes and two rounds. Reset and `abort_i` forget
// everything.
//
// Hardening: states of the control and of the message differ in four bits, all others in three.
// Every other code raises `alert_o` until reset. The verdict is 64 bits. Chains that were given out
// are counted. Values and memories have no parity.

`include "assert.svh"

module slh_dsa_core
  import slh_dsa_pkg::*;
  import xmss_pkg::error_e;
  import xmss_pkg::NoError;
  import xmss_pkg::row_t;
  import xmss_pkg::hash_request_t;
  import xmss_pkg::hash_response_t;
  import sha2_pkg::cmd_e;
#(
  // Number of lanes, each with a hash core.
  parameter int unsigned Lanes    = 1,
  // 1 lets hashes follow each other without a cycle between them. It has to be as in the hash
  // cores.
  parameter bit          Overlaps = 1'b1,
  // 0 builds an engine that continues from an illegal state, to show that the tests detect it.
  parameter bit          Hardened = 1'b1
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  // Forgets everything, at any time.
  input  logic           abort_i,
  // A state that does not exist was found. It lasts until reset.
  output logic           alert_o,
  // The engine takes words of a key and a start.
  output logic           idle_o,

  // The key, by words while idle: words 0 to 3 are the root, 8 to 11 the seed. The first byte is in
  // the upper bits.
  input  logic           key_valid_i,
  input  logic [3:0]     key_index_i,
  input  logic [31:0]    key_i,

  // Begins a verification. Its inputs have to be stable until the verdict.
  input  logic           start_i,
  // The type that the requester expects, and the type of the key.
  input  logic [31:0]    expected_i,
  input  logic [31:0]    key_type_i,
  // The root is computed a second time, in another order.
  input  logic           two_passes_i,

  // The signature and the message: words of eight bytes with the first byte in the lower bits. The
  // last word has none to eight bytes.
  input  logic           sig_valid_i,
  output logic           sig_ready_o,
  input  logic [63:0]    sig_data_i,
  input  logic           sig_last_i,
  input  logic [3:0]     sig_bytes_i,
  input  logic           msg_valid_i,
  output logic           msg_ready_o,
  input  logic [63:0]    msg_data_i,
  input  logic           msg_last_i,
  input  logic [3:0]     msg_bytes_i,

  // The result is there, until the next start.
  output logic           done_o,
  // The first reason that was found.
  output error_e         error_o,
  // The constant of a valid signature, or zero.
  output logic [63:0]    verdict_o,

  // Words of the computed root, with the first byte in the upper bits, in the cycle of their index.
  // Words past the fourth are zero.
  input  logic [2:0]     root_index_i,
  output logic [31:0]    root_o,

  // The hash cores, one for each lane.
  output hash_request_t  hash_o [Lanes],
  input  hash_response_t hash_i [Lanes]
);
  // Moves the first byte of a word to the upper bits, as SHA-256 has it (FIPS 180-4 §3.1).
  function automatic logic [63:0] in_order(logic [63:0] word);
    return {<<8{word}};
  endfunction

  logic clear, receive, hashed, schedule, finished, is_turned, drains, listens_q;

  // The streams are ignored before the first start: words that a requester left there before a
  // reset of the engine would begin the next signature.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      listens_q <= 1'b0;
    else if (receive) listens_q <= 1'b1;
  end
  // After a refusal the rest of a signature and of a message is taken and dropped, so that its
  // sender does not hang.
  assign drains = done_o & (error_o != NoError);

  // --- the signature ---
  logic  ingest_ready, ingest_write, ingest_error, ended, is_short, is_long;
  half_t ingest_at, filled;

  slh_dsa_ingest #(.Hardened(Hardened)) u_ingest (
    .clk_i, .rst_ni,
    .clear_i     (clear),
    .start_i     (receive),
    .error_o     (ingest_error),
    .word_valid_i(sig_valid_i & ~drains),
    .word_ready_o(ingest_ready),
    .word_last_i (sig_last_i),
    .word_bytes_i(sig_bytes_i),
    .write_o     (ingest_write),
    .write_at_o  (ingest_at),
    .filled_o    (filled),
    .ended_o     (ended),
    .is_short_o  (is_short),
    .is_long_o   (is_long)
  );
  assign sig_ready_o = ingest_ready | (drains & listens_q);

  // --- the memories ---
  logic             memory_write, of_results, read, read_ready;
  logic [1:0]       memory_words;
  half_t            memory_at, read_at;
  logic [63:0]      memory_data, data, results_data;
  logic [Lanes-1:0] lane_read, lane_read_ready, lane_result, lane_result_ready;
  half_t            lane_at [Lanes];
  // The half that a lane asks for.
  half_t            lane_own_at [Lanes];
  logic [6:0]       lane_result_at [Lanes];
  logic [1:0]       lane_result_words [Lanes];
  logic [63:0]      lane_result_data [Lanes];

  // The key while idle and the signature write the memory. A key that changes during a verification
  // would separate the key that was checked from the key that was hashed.
  always_comb begin
    memory_write = ingest_write;
    memory_at    = ingest_at;
    memory_words = 2'b11;
    memory_data  = in_order(sig_data_i);
    if (idle_o) begin
      memory_write = key_valid_i & ~key_index_i[2];
      memory_at    = (key_index_i[3] ? SeedAt : RootAt) | {9'd0, key_index_i[1]};
      memory_words = key_index_i[0] ? 2'b01 : 2'b10;
      memory_data  = {2{key_i}};
    end
  end

  slh_dsa_memory #(.Lanes(Lanes)) u_memory (
    .clk_i, .rst_ni,
    .filled_i      (filled),
    .write_i       (memory_write),
    .write_at_i    (memory_at),
    .write_words_i (memory_words),
    .write_data_i  (memory_data),
    .lane_read_i   (lane_read),
    .lane_ready_o  (lane_read_ready),
    .lane_at_i     (lane_at),
    .of_results_i  (of_results),
    .read_i        (read),
    .read_ready_o  (read_ready),
    .read_at_i     (read_at),
    .data_o        (data),
    .results_o     (results_data),
    .result_i      (lane_result),
    .result_ready_o(lane_result_ready),
    .result_at_i   (lane_result_at),
    .result_words_i(lane_result_words),
    .result_data_i (lane_result_data)
  );

  // --- the message ---
  logic          message_ready, message_read, message_error, message_busy, mid_valid;
  half_t         message_at;
  logic [255:0]  digest;
  logic          message_cmd_valid, message_lane_valid;
  cmd_e          message_cmd;
  logic [63:0]   message_lane;

  slh_dsa_message #(.Overlaps(Overlaps), .Hardened(Hardened)) u_message (
    .clk_i, .rst_ni,
    .clear_i     (clear),
    .start_i     (receive),
    .error_o     (message_error),
    .busy_o      (message_busy),
    .has_random_i(filled >= TreesAt),
    .word_valid_i(msg_valid_i & listens_q),
    .word_ready_o(message_ready),
    .word_i      (in_order(msg_data_i)),
    .word_last_i (msg_last_i),
    .word_bytes_i(msg_bytes_i),
    .read_o      (message_read),
    .read_ready_i(read_ready),
    .read_at_o   (message_at),
    .read_data_i (data),
    .cmd_valid_o (message_cmd_valid),
    .cmd_o       (message_cmd),
    .lane_valid_o(message_lane_valid),
    .lane_o      (message_lane),
    .hash_i      (hash_i[0]),
    .mid_valid_o (mid_valid),
    .done_o      (hashed),
    .digest_o    (digest)
  );
  assign msg_ready_o = message_ready | (drains & listens_q);

  // --- digits ---
  // The value that a layer signs, and in the end the root. It comes from the first hash core.
  logic         root_valid, root_last, sum, summed;
  logic [11:0]  steps_expected;
  logic [5:0]   digit_index;
  logic [3:0]   digit;
  logic [3:0][31:0] root;

  slh_dsa_digits u_digits (
    .clk_i, .rst_ni,
    .start_i      (schedule),
    .write_i      (root_valid),
    .write_half_i (hash_i[0].save_row),
    .write_words_i(hash_i[0].save_halves),
    .write_data_i (hash_i[0].save.low),
    .sum_i        (sum),
    .summed_o     (summed),
    .steps_o      (steps_expected),
    .index_i      (digit_index),
    .digit_o      (digit),
    .root_o       (root)
  );

  // --- the schedule ---
  logic [Lanes-1:0] job_valid, job_ready, result_last, lane_error, lane_idle, lane_step, lane_node;
  job_t             job;
  logic             schedule_error, result_done, is_direct;
  logic [5:0]       result_number;
  logic [2:0]       layer;
  logic [53:0]      tree;
  logic [8:0]       leaf;
  half_t            direct_at;

  // The digest has 21 bytes for FORS, seven for the tree and two for the leaf (algorithm 20, lines
  // 6 to 13).
  slh_dsa_schedule #(.Lanes(Lanes), .Hardened(Hardened)) u_schedule (
    .clk_i, .rst_ni,
    .clear_i        (clear),
    .error_o        (schedule_error),
    .prepare_i      (receive),
    .start_i        (schedule),
    .is_turned_i    (is_turned),
    .md_i           (digest[255:88]),
    .tree_i         (digest[85:32]),
    .leaf_i         (digest[24:16]),
    .finished_o     (finished),
    .layer_o        (layer),
    .tree_o         (tree),
    .leaf_o         (leaf),
    .sum_o          (sum),
    .summed_i       (summed),
    .digit_index_o  (digit_index),
    .digit_i        (digit),
    .job_valid_o    (job_valid),
    .job_ready_i    (job_ready),
    .job_o          (job),
    .result_i       (result_done),
    .result_number_i(result_number),
    .root_i         (root_valid & root_last),
    .half_i         (lane_own_at[0][6:0]),
    .is_direct_o    (is_direct),
    .direct_at_o    (direct_at)
  );

  // --- the lanes ---
  logic [Lanes-1:0] lane_of_results, lane_root, lane_root_last;
  // The half that comes to the first lane now is one of the results.
  logic             of_results_q;
  hash_request_t    lane_hash [Lanes];
  // Numbers of hashes of up to eight lanes.
  logic [3:0]       steps, nodes;

  assign of_results = lane_of_results[0] & ~is_direct;
  assign root_valid = lane_root[0];
  assign root_last  = lane_root_last[0];

  // A result is there when its last word is written; one lane writes at a time. The hashes of all
  // lanes are counted.
  always_comb begin
    result_done   = 1'b0;
    result_number = lane_result_at[0][6:1];
    steps         = '0;
    nodes         = '0;
    for (int lane = 0; lane < Lanes; lane++) begin
      if (lane_result_ready[lane]) begin
        result_done   = result_last[lane];
        result_number = lane_result_at[lane][6:1];
      end
      steps = steps + 4'(lane_step[lane]);
      nodes = nodes + 4'(lane_node[lane]);
    end
  end

  // A half comes in the cycle after it was asked for.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) of_results_q <= 1'b0;
    else         of_results_q <= of_results;
  end

  for (genvar lane = 0; lane < Lanes; lane++) begin : g_lane
    if (lane == 0) begin : g_shared
      // The message has the core of lane 0 before the lane. Until then the lane is idle, and takes
      // and drops states.
      assign hash_o[0] = '{
        wipe:       clear,
        cmd_valid:  message_busy ? message_cmd_valid : lane_hash[0].cmd_valid,
        cmd:        message_busy ? message_cmd : lane_hash[0].cmd,
        lane_valid: message_busy ? message_lane_valid : lane_hash[0].lane_valid,
        lane:       message_busy ? message_lane : lane_hash[0].lane,
        load_valid: lane_hash[0].load_valid,
        load:       lane_hash[0].load,
        save_ready: lane_hash[0].save_ready
      };
    end else begin : g_own
      assign hash_o[lane] = lane_hash[lane];
    end

    assign lane_at[lane]           = (lane == 0 && lane_of_results[0] && is_direct) ? direct_at : lane_own_at[lane];
    assign lane_result_words[lane] = hash_i[lane].save_halves;
    assign lane_result_data[lane]  = hash_i[lane].save.low;

    slh_dsa_lane #(
      .IsFirst (lane == 0),
      .Overlaps(Overlaps),
      .Hardened(Hardened)
    ) u_lane (
      .clk_i, .rst_ni,
      .wipe_i        (clear),
      .error_o       (lane_error[lane]),
      .idle_o        (lane_idle[lane]),
      .layer_i       (layer),
      .tree_i        (tree),
      .leaf_i        (leaf),
      .job_valid_i   (job_valid[lane]),
      .job_ready_o   (job_ready[lane]),
      .job_i         (job),
      .read_valid_o  (lane_read[lane]),
      .read_ready_i  (lane_read_ready[lane]),
      .read_at_o     (lane_own_at[lane]),
      .of_results_o  (lane_of_results[lane]),
      .read_data_i   ((lane == 0 && of_results_q) ? results_data : data),
      .mid_valid_i   (mid_valid),
      .mid_row_i     (hash_i[0].save_row),
      .mid_words_i   (hash_i[0].save_halves),
      .mid_i         (hash_i[0].save),
      .result_valid_o(lane_result[lane]),
      .result_ready_i(lane_result_ready[lane]),
      .result_at_o   (lane_result_at[lane]),
      .result_last_o (result_last[lane]),
      .root_valid_o  (lane_root[lane]),
      .root_last_o   (lane_root_last[lane]),
      .step_o        (lane_step[lane]),
      .node_o        (lane_node[lane]),
      .hash_o        (lane_hash[lane]),
      .hash_i        (hash_i[lane])
    );
  end

  // --- the control ---
  // The control and the message use the same port of the memory, never at the same time.
  logic  control_read;
  half_t control_at;
  assign read    = message_read | control_read;
  assign read_at = control_read ? control_at : message_at;

  slh_dsa_control #(.Hardened(Hardened)) u_control (
    .clk_i, .rst_ni, .abort_i,
    .fail_i          (ingest_error | message_error | schedule_error | (lane_error != '0)),
    .alert_o, .idle_o,
    .clear_o         (clear),
    .start_i, .expected_i, .key_type_i, .two_passes_i,
    .is_turned_o     (is_turned),
    .receive_o       (receive),
    .hashed_i        (hashed),
    .schedule_o      (schedule),
    .finished_i      (finished),
    .ended_i         (ended),
    .is_short_i      (is_short),
    .is_long_i       (is_long),
    .root_i          (root),
    .read_o          (control_read),
    .read_ready_i    (read_ready),
    .read_at_o       (control_at),
    .read_data_i     (data),
    .steps_expected_i(steps_expected),
    .steps_i         (steps),
    .nodes_i         (nodes),
    .done_o, .error_o, .verdict_o,
    .root_index_i, .root_o
  );

  logic unused_digest;
  assign unused_digest = ^{digest[87:86], digest[31:25], digest[15:0], lane_of_results, lane_root, lane_root_last};

  // The key cannot change while it is used.
  `ASSERT(TheKeyIsForAnIdleEngine_A, memory_write && memory_at >= RootAt |-> idle_o)
  // Lanes begin with the state after PK.seed of this key, and the first lane begins when its core
  // is free.
  `ASSERT(JobsFollowTheMessage_A, job_valid != '0 |-> hashed && !message_busy)
  // A lane with an illegal state ends the verification, so its values do not reach a verdict.
  `ASSERT(ALaneThatFailsStopsAll_A, lane_error != '0 && Hardened |=> alert_o)
  // Nothing is computed for a signature that was not started.
  `ASSERT(NothingIsScheduledWhileIdle_A, idle_o |-> !schedule)
  // A root that is compared while a lane still works would belong to another pass.
  `ASSERT(LanesAreIdleWhenThePassEnds_A, finished |-> &lane_idle)
  // Only the first lane computes what a layer signs.
  `ASSERT(RootsComeFromTheFirstLane_A, (lane_root >> 1) == '0)
endmodule
