// Verification of XMSS signatures without a bus: RFC 8391 with XMSS-SHA2_10_256, _16_256 and
// _20_256. With `HasXmssMt` it has the sets of XMSS^MT with SHA-256 and n = 32 as well, and with
// `HasShort` the sets of both with n = 24 (SP 800-208).
//
// Interface: the key is written while the engine is idle. `start_i` is a strobe that is ignored
// while it is busy. From then on signature and message are taken from their streams (valid and
// ready, one word at a time), in any order and at any time. `done_o` shows the verdict, or the
// reason that there is none, until the next start. The hash cores are outside, in `xmss_bank`.
//
// Timing: about 2,483 compressions a signature of height 10, which the lanes share;
// ../doc/README.md has cycles for each number of lanes. Reset and `abort_i` forget everything;
// afterwards the counts are cleared for 512 cycles, until `idle_o`.
//
// Hardening: states of the control differ in four bits, those of the lanes, the parser and the
// padding in three. Every other code raises `alert_o` until reset. The verdict is 64 bits and needs
// two comparisons and the right number of hashes. Values, memory and hash cores have no parity.

`include "assert.svh"

module xmss_core
  import xmss_pkg::*;
#(
  // Number of lanes, each with a hash core.
  parameter int unsigned Lanes     = 1,
  // 1 lets hashes follow each other without a cycle between them. It has to be as in the hash
  // cores.
  parameter bit          Overlaps  = 1'b0,
  // 1 builds the sets of XMSS^MT in.
  parameter bit          HasXmssMt = 1'b0,
  // 1 builds the sets with n = 24 in.
  parameter bit          HasShort  = 1'b0,
  // 0 builds an engine that continues from an illegal state, to show that the tests detect it.
  parameter bit          Hardened  = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Forgets everything, at any time.
  input  logic        abort_i,
  // A state that does not exist was found. It lasts until reset.
  output logic        alert_o,
  // The engine takes words of a key and a start.
  output logic        idle_o,

  // The key, by words while idle: words 0 to 7 are the root, 8 to 15 the seed. The first byte is in
  // the upper bits.
  input  logic        key_valid_i,
  input  logic [3:0]  key_index_i,
  input  logic [31:0] key_i,

  // Begins a verification. Its inputs have to be stable until the verdict.
  input  logic        start_i,
  // The types are those of XMSS^MT.
  input  logic        is_mt_i,
  // The type that the requester expects, and the type in the key.
  input  logic [31:0] expected_i,
  input  logic [31:0] key_type_i,
  // The root is computed a second time, with the chains in another order.
  input  logic        two_passes_i,

  // The signature and the message: words of eight bytes with the first byte in the lower bits. The
  // last word has none to eight bytes.
  input  logic        sig_valid_i,
  output logic        sig_ready_o,
  input  logic [63:0] sig_data_i,
  input  logic        sig_last_i,
  input  logic [3:0]  sig_bytes_i,
  input  logic        msg_valid_i,
  output logic        msg_ready_o,
  input  logic [63:0] msg_data_i,
  input  logic        msg_last_i,
  input  logic [3:0]  msg_bytes_i,

  // The result is there, until the next start.
  output logic        done_o,
  // The first reason that was found.
  output error_e      error_o,
  // The constant of a valid signature, or zero.
  output logic [63:0] verdict_o,

  // Words of the computed root, with the first byte in the upper bits: two cycles after their index
  // and after the last word of a key.
  input  logic [2:0]  root_index_i,
  output logic [31:0] root_o,

  // The hash cores, one for each lane.
  output hash_request_t  hash_o [Lanes],
  input  hash_response_t hash_i [Lanes]
);
  // Moves the first byte of a word to the upper bits, as SHA-256 has it (FIPS 180-4 §3.1).
  function automatic logic [63:0] in_order(logic [63:0] word);
    return {<<8{word}};
  endfunction

  // Signals between the control and the other parts.
  logic clear, init, init_done, receive, schedule, schedule_busy, finished, fail, drains;
  logic ingest_error, message_error;
  logic [Lanes-1:0] lane_error, lane_idle;
  // Height of a tree of this type, form of values and of the index.
  logic [4:0]  height;
  logic        has_short_values;
  index_e      form;
  // The layer that is computed is the last one, or the next one begins.
  logic        is_last, next;
  logic [3:0]  layer;
  logic [54:0] tree;
  // The index of the leaf, once it is known to fit.
  logic [19:0] leaf;
  // This is the second pass, whose chains begin elsewhere.
  logic        is_turned;

  // --- the streams, by words of 32 bits ---
  logic sig_word_valid, sig_word_ready, sig_word_last, sig_word_take, msg_word_valid, msg_word_ready, msg_word_last;
  logic [31:0] sig_word, msg_word;
  logic [2:0]  sig_word_bytes, msg_word_bytes;

  // The streams are ignored before the first start: words that a requester left there before a
  // reset of the engine would begin the next signature.
  logic listens_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      listens_q <= 1'b0;
    else if (receive) listens_q <= 1'b1;
  end

  sha2_narrow u_sig_words (
    .clk_i, .rst_ni, .flush_i(clear),
    .valid_i(sig_valid_i & listens_q), .ready_o(sig_ready_o), .data_i(in_order(sig_data_i)), .last_i(sig_last_i),
    .bytes_i(sig_bytes_i),
    .valid_o(sig_word_valid), .ready_i(sig_word_ready), .data_o(sig_word), .last_o(sig_word_last),
    .bytes_o(sig_word_bytes)
  );
  sha2_narrow u_msg_words (
    .clk_i, .rst_ni, .flush_i(clear),
    .valid_i(msg_valid_i & listens_q), .ready_o(msg_ready_o), .data_i(in_order(msg_data_i)), .last_i(msg_last_i),
    .bytes_i(msg_bytes_i),
    .valid_o(msg_word_valid), .ready_i(msg_word_ready), .data_o(msg_word), .last_o(msg_word_last),
    .bytes_o(msg_word_bytes)
  );

  logic        ingest_write, ingest_write_ready, has_index, has_random, ended, is_short, is_long;
  place_t      ingest_place;
  logic [2:0]  ingest_word;
  logic [31:0] ingest_data;
  logic [63:0] index;
  // Values of chains, and values of the path, that came.
  logic [6:0]  chains;
  logic [4:0]  levels;

  // After a refusal the rest of a signature is taken and dropped, so that its sender does not hang.
  assign drains         = done_o & (error_o != NoError);
  assign sig_word_ready = sig_word_take | drains;

  xmss_ingest #(.HasXmssMt(HasXmssMt)) u_ingest (
    .clk_i, .rst_ni,
    .clear_i      (clear),
    .start_i      (receive),
    .error_o      (ingest_error),
    .is_short_i   (has_short_values),
    .height_i     (height),
    .form_i       (form),
    .is_last_i    (is_last),
    .next_i       (next),
    .word_valid_i (sig_word_valid & ~drains),
    .word_ready_o (sig_word_take),
    .word_i       (sig_word),
    .word_last_i  (sig_word_last),
    .word_bytes_i (sig_word_bytes),
    .write_valid_o(ingest_write),
    .write_ready_i(ingest_write_ready),
    .write_place_o(ingest_place),
    .write_word_o (ingest_word),
    .write_data_o (ingest_data),
    .index_o      (index),
    .has_index_o  (has_index),
    .has_random_o (has_random),
    .chains_o     (chains),
    .levels_o     (levels),
    .ended_o      (ended),
    .is_short_o   (is_short),
    .is_long_o    (is_long)
  );

  // --- the message ---
  logic        word_valid, word_ready, word_last, message_write, message_write_ready, hashed;
  logic [31:0] word, message_data;
  logic [2:0]  word_bytes, message_word;
  place_t      message_place;
  logic [2:0]  block_index;
  // Blocks of the message.
  logic        block_valid, block_ready, block_first, block_done;

  xmss_message u_message (
    .clk_i, .rst_ni,
    .start_i      (receive),
    .clear_i      (clear),
    .error_o      (message_error),
    .word_valid_i (word_valid),
    .word_ready_o (word_ready),
    .word_i       (word),
    .word_last_i  (word_last),
    .word_bytes_i (word_bytes),
    .write_valid_o(message_write),
    .write_ready_i(message_write_ready),
    .write_place_o(message_place),
    .write_word_o (message_word),
    .write_data_o (message_data),
    .block_valid_o(block_valid),
    .block_ready_i(block_ready),
    .block_index_o(block_index),
    .block_first_o(block_first),
    .block_done_i (block_done),
    .finished_o   (hashed)
  );

  // --- the memory ---
  logic        memory_write, memory_ready;
  place_t      memory_place;
  logic [2:0]  memory_word;
  logic [31:0] memory_data;

  // The key while idle, the message and the signature write the memory. The message has priority:
  // no chain begins before its digest is there, and it runs out of room before it could delay the
  // signature. A key that changes during a verification would separate the key that was checked
  // from the key that was hashed.
  always_comb begin
    message_write_ready = memory_ready;
    ingest_write_ready  = memory_ready & ~message_write;
    memory_write        = ingest_write | message_write;
    memory_place        = message_write ? message_place : ingest_place;
    memory_word         = message_write ? message_word : ingest_word;
    memory_data         = message_write ? message_data : ingest_data;
    if (key_valid_i && idle_o) begin
      memory_write = 1'b1;
      memory_place = key_index_i[3] ? SeedPlace : RootPlace;
      memory_word  = key_index_i[2:0];
      memory_data  = key_i;
    end
  end

  // The port of the control, which has the lowest priority.
  logic        control_read, control_read_ready, control_row;
  place_t      control_place;
  row_t        read_data;
  logic [Lanes-1:0] lane_read, lane_read_ready, lane_write, lane_write_ready;
  operand_t    lane_operand [Lanes];
  result_t     lane_result [Lanes];
  row_t        lane_write_data [Lanes];

  xmss_memory #(.Lanes(Lanes)) u_memory (
    .clk_i, .rst_ni,
    .lane_read_i       (lane_read),
    .lane_read_ready_o (lane_read_ready),
    .lane_operand_i    (lane_operand),
    .lane_write_i      (lane_write),
    .lane_write_ready_o(lane_write_ready),
    .lane_result_i     (lane_result),
    .lane_write_data_i (lane_write_data),
    // A word of the key has no handshake, so it displaces a read of the root.
    .read_i            (control_read & ~(key_valid_i & idle_o)),
    .read_ready_o      (control_read_ready),
    .read_place_i      (control_place),
    .read_row_i        (control_row),
    .write_i           (memory_write),
    .write_ready_o     (memory_ready),
    .write_place_i     (memory_place),
    .write_word_i      (memory_word),
    .write_data_i      (memory_data),
    .read_data_o       (read_data)
  );

  // --- digits ---
  // Words of the digest, the request for the checksum, and all digits are there.
  logic        digit_valid, digit_sum, digits_valid;
  logic [2:0]  digit_word_index;
  logic [31:0] digit_word;
  logic [6:0]  digit_index;
  logic [3:0]  digit;
  // Steps of all chains together, for the count in the verdict.
  logic [10:0] steps_expected;

  xmss_digits u_digits (
    .clk_i, .rst_ni,
    .clear_i     (clear | receive | next),
    .is_short_i  (has_short_values),
    .word_valid_i(digit_valid),
    .word_index_i(digit_word_index),
    .word_i      (digit_word),
    .sum_i       (digit_sum),
    .valid_o     (digits_valid),
    .steps_o     (steps_expected),
    .index_i     (digit_index),
    .digit_o     (digit)
  );

  // --- the schedule ---
  logic        job_valid, job_ready, schedule_job_valid, done_valid, done_ready, path_valid, path_ready;
  job_t        job, schedule_job;
  job_e        done_kind;
  node_t       done_node;
  logic [3:0]  done_steps;
  // The next value of the path that is reported to the schedule.
  logic [4:0]  path_q;
  // The schedule of this pass has begun.
  logic        scheduled_q;

  // With one lane the order of chains makes no difference, and no result needs to be forwarded.
  xmss_schedule #(.SortsChains(Lanes > 1), .Forwards(Lanes > 1)) u_schedule (
    .clk_i, .rst_ni,
    .clear_i       (clear),
    .busy_o        (schedule_busy),
    .start_i       (schedule),
    .is_short_i    (has_short_values),
    .height_i      (height),
    .leaf_i        (leaf),
    .is_turned_i   (is_turned),
    .filled_i      (chains),
    .path_valid_i  (path_valid),
    .path_ready_o  (path_ready),
    .path_index_i  (path_q),
    .path_complete_i(path_q == height),
    .digits_valid_i(digits_valid),
    .digit_index_o (digit_index),
    .digit_i       (digit),
    .block_valid_i (block_valid),
    .block_ready_o (block_ready),
    .block_index_i (block_index),
    .block_first_i (block_first),
    .job_valid_o   (schedule_job_valid),
    .job_ready_i   (job_ready),
    .job_o         (schedule_job),
    .done_valid_i  (done_valid),
    .done_ready_o  (done_ready),
    .done_kind_i   (done_kind),
    .done_node_i   (done_node),
    .finished_o    (finished)
  );
  assign block_done = done_valid & done_ready & (done_kind == JobBlock);

  // Each value of the path is reported once in each pass.
  assign path_valid = scheduled_q & (path_q != levels) & ~schedule;
  // Number of values that were reported. Before the schedule begins there is none.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      path_q      <= '0;
      scheduled_q <= 1'b0;
    end else if (clear || receive || schedule) begin
      path_q      <= '0;
      scheduled_q <= schedule & ~clear;
    end else if (path_valid && path_ready) begin
      path_q <= path_q + 5'd1;
    end
  end

  // --- the lanes ---
  logic [Lanes-1:0] lane_ready, lane_select, lane_done, lane_done_ready, init_q, keeper_q;
  job_e       lane_kind [Lanes];
  node_t      lane_node [Lanes];
  logic [3:0] lane_steps [Lanes];

  // The first job goes to every lane, all others to one free lane. A lane that computes nothing is
  // preferred.
  assign init_done = &init_q;
  always_comb begin
    job         = schedule_job;
    lane_select = '0;
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      if (lane_ready[lane]) lane_select = Lanes'(1) << lane;
    end
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      if (lane_ready[lane] && lane_idle[lane]) lane_select = Lanes'(1) << lane;
    end
    // A result that is forwarded is in one lane only, which has to get the next job.
    if (schedule_job.is_forwarded) lane_select = keeper_q & lane_ready;
    if (init && !init_done) begin
      job         = '0;
      job.kind    = JobInit;
      lane_select = ~init_q & lane_ready;
    end
  end
  assign job_ready = (lane_select != '0) & ~(init & ~init_done);
  assign job_valid = (init & ~init_done) | schedule_job_valid;

  // The lanes that have their first job, and the lane whose job forwards its result.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      init_q   <= '0;
      keeper_q <= '0;
    end else begin
      if (clear || receive)        init_q <= '0;
      else if (init && !init_done) init_q <= init_q | lane_select;
      if (job_ready && job.forwards) keeper_q <= lane_select;
    end
  end

  // The lowest lane that has a report is served. The others wait for a cycle each: a report is
  // taken at once or one cycle later.
  always_comb begin
    done_valid      = 1'b0;
    done_kind       = lane_kind[0];
    done_node       = lane_node[0];
    done_steps      = lane_steps[0];
    lane_done_ready = '0;
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      if (lane_done[lane]) begin
        done_valid      = 1'b1;
        done_kind       = lane_kind[lane];
        done_node       = lane_node[lane];
        done_steps      = lane_steps[lane];
        lane_done_ready = Lanes'(done_ready) << lane;
      end
    end
  end

  // The lanes. A job is valid for the one lane that was selected.
  for (genvar lane = 0; lane < Lanes; lane++) begin : g_lane
    xmss_lane #(
      .Overlaps(Overlaps),
      .HasShort(HasShort),
      .Hardened(Hardened)
    ) u_lane (
      .clk_i, .rst_ni,
      .wipe_i       (clear),
      .error_o      (lane_error[lane]),
      .idle_o       (lane_idle[lane]),
      .is_short_i   (has_short_values),
      .layer_i      (layer),
      .tree_i       (tree),
      .leaf_i       (leaf),
      .job_valid_i  (job_valid & lane_select[lane]),
      .job_ready_o  (lane_ready[lane]),
      .job_i        (job),
      .read_valid_o (lane_read[lane]),
      .read_ready_i (lane_read_ready[lane]),
      .read_o       (lane_operand[lane]),
      .read_data_i  (read_data),
      .write_valid_o(lane_write[lane]),
      .write_ready_i(lane_write_ready[lane]),
      .write_o      (lane_result[lane]),
      .write_data_o (lane_write_data[lane]),
      .done_valid_o (lane_done[lane]),
      .done_ready_i (lane_done_ready[lane]),
      .done_kind_o  (lane_kind[lane]),
      .done_node_o  (lane_node[lane]),
      .done_steps_o (lane_steps[lane]),
      .hash_o       (hash_o[lane]),
      .hash_i       (hash_i[lane])
    );
  end
  // An upset of any part is an upset of the engine.
  assign fail = |lane_error | ingest_error | message_error;

  xmss_control #(.HasXmssMt(HasXmssMt), .HasShort(HasShort), .Hardened(Hardened)) u_control (
    .clk_i, .rst_ni, .abort_i,
    .fail_i          (fail),
    .alert_o, .idle_o,
    .clear_o         (clear),
    .start_i, .is_mt_i, .expected_i, .key_type_i, .two_passes_i,
    .height_o        (height),
    .has_short_values_o(has_short_values),
    .form_o          (form),
    .is_last_o       (is_last),
    .next_o          (next),
    .layer_o         (layer),
    .tree_o          (tree),
    .leaf_o          (leaf),
    .is_turned_o     (is_turned),
    .init_o          (init),
    .init_done_i     (init_done),
    .receive_o       (receive),
    .schedule_o      (schedule),
    .schedule_busy_i (schedule_busy),
    .finished_i      (finished),
    .index_i         (index),
    .has_index_i     (has_index),
    .has_random_i    (has_random),
    .ended_i         (ended),
    .is_short_i      (is_short),
    .is_long_i       (is_long),
    .msg_valid_i     (msg_word_valid),
    .msg_ready_o     (msg_word_ready),
    .msg_i           (msg_word),
    .msg_last_i      (msg_word_last),
    .msg_bytes_i     (msg_word_bytes),
    .word_valid_o    (word_valid),
    .word_ready_i    (word_ready),
    .word_o          (word),
    .word_last_o     (word_last),
    .word_bytes_o    (word_bytes),
    .hashed_i        (hashed),
    .read_o          (control_read),
    .read_ready_i    (control_read_ready),
    .read_place_o    (control_place),
    .read_row_o      (control_row),
    .read_data_i     (read_data),
    .root_index_i, .root_o,
    .digit_valid_o   (digit_valid),
    .digit_index_o   (digit_word_index),
    .digit_word_o    (digit_word),
    .digit_sum_o     (digit_sum),
    .digits_valid_i  (digits_valid),
    .steps_expected_i(steps_expected),
    .step_valid_i    (done_valid & done_ready & (done_kind == JobChain)),
    .steps_i         (done_steps),
    .node_valid_i    (done_valid & done_ready & (done_kind == JobNode)),
    .done_o, .error_o, .verdict_o
  );

  // A word of the key has no handshake, so a word that waits would be lost.
  `ASSERT(AKeyWordIsWritten_A, key_valid_i && idle_o |-> memory_ready)
  // A lane without the state of PRFs would compute with the state of an earlier key.
  `ASSERT(WorkBeginsAfterTheFirstJobs_A, schedule |-> init_done)
  // The key cannot change while it is used.
  `ASSERT(TheKeyIsForAnIdleEngine_A, memory_write && (memory_place == RootPlace || memory_place == SeedPlace) |-> idle_o)
  // A job that two lanes take would be counted twice.
  `ASSERT(AJobIsForOneLane_A, job_valid && !init |-> $onehot0(lane_select))
  // A lane with an illegal state ends the verification, so its values do not reach a verdict.
  `ASSERT(ALaneThatFailsStopsAll_A, fail && Hardened |=> alert_o)
  // Nothing is computed for a signature that was not started.
  `ASSERT(NothingIsScheduledWhileIdle_A, idle_o |-> !schedule)
endmodule
