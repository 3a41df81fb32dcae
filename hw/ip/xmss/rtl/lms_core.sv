// Verification of LMS and HSS signatures without a bus and without hash cores (RFC 8554, SP
// 800-208): SHA-256 with 32 and 24 bytes, all heights, all widths of digits, up to eight levels
// (../doc/lms.md).
//
// Interface: the key is written while the engine is idle. `start_i` is a strobe that is ignored
// while it is busy. From then on signature and message are taken from their streams (valid and
// ready), in any order and at any time. `done_o` shows the verdict, or the reason that there is
// none, until the next start. The hash cores are outside, in `xmss_bank`.
//
// Timing: 5,800 cycles in the mean for height 10 with W = 4, four lanes and two rounds. Reset and
// `abort_i` forget everything.
//
// Hardening: states of control and parser differ in four bits, those of all other machines in
// three. Every other code raises `alert_o` until reset. The verdict is 64 bits. Values and memories
// have no parity.

`include "assert.svh"

module lms_core
  import xmss_pkg::*;
  import lms_pkg::*;
  import sha2_pkg::*;
#(
  // Number of lanes, each with a hash core.
  parameter int unsigned Lanes          = 1,
  // Properties of the hash cores.
  parameter int unsigned RoundsPerCycle = 1,
  parameter bit          Overlaps       = RoundsPerCycle > 1,
  // 0 builds an engine that continues from an illegal state, to show that the tests detect it.
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Forgets everything, at any time.
  input  logic        abort_i,
  // A state that does not exist was found. It lasts until reset.
  output logic        alert_o,
  // The engine takes words of a key and a start.
  output logic        idle_o,

  // The hash cores, one for each lane.
  output hash_request_t  hash_o [Lanes],
  input  hash_response_t hash_i [Lanes],

  // The key, by words while idle: words 0 to 7 are T[1] (to 5 with 24 bytes), 8 to 11 are I. The
  // first byte is in the upper bits.
  input  logic        key_valid_i,
  input  logic [3:0]  key_index_i,
  input  logic [31:0] key_i,

  // Begins a verification. Its inputs have to be stable until the verdict.
  input  logic        start_i,
  // Types: LMS in bits 15:0, LM-OTS in bits 27:16, levels of HSS in bits 31:28, or zero without
  // HSS.
  input  logic [31:0] expected_i,
  input  logic [31:0] key_type_i,
  // Each root is computed a second time, in another order.
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

  // Words of the root that was computed last, with the first byte in the upper bits, in the cycle
  // of their index.
  input  logic [2:0]  root_index_i,
  output logic [31:0] root_o
);
  // Moves the first byte of a word to the upper bits, as SHA-256 has it (FIPS 180-4 §3.1).
  function automatic logic [63:0] in_order(logic [63:0] word);
    return {<<8{word}};
  endfunction

  // Signals between the control and the other parts.
  logic clear, receive, next, hash_message, compute_root, stream_done, node, fail, drains;
  logic [3:0]   tree_code, ots_code, next_tree, next_ots;
  tree_t        tree;
  ots_t         ots;
  // A type that is not known never becomes the type of a level.
  logic         unused_types;
  assign unused_types = ^{tree.is_known, ots.is_known, ots.is_short};
  logic         is_last, is_turned, is_short;
  logic [127:0] identifier;
  address_t     next_key;
  // The largest digit.
  logic [7:0]   last;
  assign is_short = tree.is_short;
  assign last     = last_digit(ots.log_width);

  // The streams are ignored before the first start: words that a requester left there before a
  // reset of the engine would begin the next signature.
  logic listens_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      listens_q <= 1'b0;
    else if (receive) listens_q <= 1'b1;
  end

  // --- the signature, by words of 32 bits ---
  logic        word_valid, word_take, word_last, ingest_write, ingest_alert;
  logic        has_random, has_key, ended;
  logic [31:0] word, index, ingest_data;
  logic [2:0]  word_bytes, ingest_word;
  address_t    ingest_place;
  // Values of chains, and values of the path, that came.
  logic [8:0]  chains;
  logic [4:0]  levels;
  error_e      sig_error;

  // After a refusal the rest of a signature is taken and dropped, so that its sender does not hang.
  assign drains = done_o & (error_o != NoError);

  // The buffer is flushed at a start, because a level that does not verify ends a signature at any
  // of its words.
  sha2_narrow u_sig_words (
    .clk_i, .rst_ni, .flush_i(clear | receive),
    .valid_i(sig_valid_i & listens_q), .ready_o(sig_ready_o), .data_i(in_order(sig_data_i)), .last_i(sig_last_i),
    .bytes_i(sig_bytes_i),
    .valid_o(word_valid), .ready_i(word_take | drains), .data_o(word), .last_o(word_last), .bytes_o(word_bytes)
  );

  lms_ingest #(.Hardened(Hardened)) u_ingest (
    .clk_i, .rst_ni,
    .clear_i      (clear),
    .alert_o      (ingest_alert),
    .start_i      (receive),
    .next_i       (next),
    .count_i      (expected_i[31:28]),
    .is_last_i    (is_last),
    .tree_code_i  (tree_code),
    .ots_code_i   (ots_code),
    .height_i     (tree.height),
    .values_i     (ots.chains),
    .is_short_i   (is_short),
    .next_key_i   (next_key),
    .word_valid_i (word_valid & ~drains),
    .word_ready_o (word_take),
    .word_i       (word),
    .word_last_i  (word_last),
    .word_bytes_i (word_bytes),
    .write_valid_o(ingest_write),
    .write_place_o(ingest_place),
    .write_word_o (ingest_word),
    .write_data_o (ingest_data),
    .index_o      (index),
    .has_random_o (has_random),
    .chains_o     (chains),
    .levels_o     (levels),
    .has_key_o    (has_key),
    .next_tree_o  (next_tree),
    .next_ots_o   (next_ots),
    .ended_o      (ended),
    .error_o      (sig_error)
  );

  // --- the memory ---
  logic        memory_write;
  address_t    memory_place;
  logic [2:0]  memory_word;
  logic [31:0] memory_data;
  logic [3:0]  key_word;

  // A key is kept as it is encoded, without its types: I follows two words, and T[1] follows I.
  assign key_word = key_index_i[3] ? {2'b0, key_index_i[1:0]} + 4'd2 : key_index_i + 4'd6;
  // The key while idle and the signature write the memory. A key that changes during a verification
  // would separate the key that was checked from the key that was hashed.
  always_comb begin
    memory_write = ingest_write;
    memory_place = ingest_place;
    memory_word  = ingest_word;
    memory_data  = ingest_data;
    if (key_valid_i && idle_o) begin
      memory_write = key_index_i < 4'd12;
      memory_place = KeyPlace | 9'(key_word[3]);
      memory_word  = key_word[2:0];
      memory_data  = key_i;
    end
  end

  // Readers of the memory: long messages, first steps, and the control.
  logic [2:0]       reads, read_ready, read_rows;
  address_t         read_places [3];
  logic [Lanes-1:0] end_write, end_write_ready, end_row;
  address_t         end_place [Lanes];
  row_t             end_rows [Lanes];
  row_t             read_data, end_data;

  lms_memory #(.Lanes(Lanes)) u_memory (
    .clk_i, .rst_ni,
    .write_i      (memory_write),
    .write_place_i(memory_place),
    .write_word_i (memory_word),
    .write_data_i (memory_data),
    .read_i       (reads),
    .read_ready_o (read_ready),
    .read_place_i (read_places),
    .read_row_i   (read_rows),
    .read_data_o  (read_data),
    .end_write_i  (end_write),
    .end_ready_o  (end_write_ready),
    .end_place_i  (end_place),
    .end_row_i    (end_row),
    .end_data_i   (end_rows),
    .end_data_o   (end_data)
  );

  // --- digits and the schedule of chains ---
  // Digits are read by the schedule, one at a time, and summed in the cycles between.
  logic        digest, digest_row, digits_valid, digits_summed, digit_read, job_valid;
  logic        end_valid, end_ready, end_moved, end_last;
  address_t    end_chain;
  logic [8:0]  digit_index, kept, kept_expected;
  logic [7:0]  digit;
  logic [13:0] steps_expected;
  // State of the first hash core.
  row_t        state;
  chain_t job;
  logic [Lanes-1:0] lane_ready, lane_select, lane_error, steps, hash_error;
  logic [Lanes-1:0] first_want, first_free, first_valid;
  logic [1:0]       lane_holds [Lanes];
  logic [1:0][8:0]  lane_chain [Lanes];
  logic [8:0]       first_chain [Lanes];
  logic             first_busy;
  logic [63:0]      first_word;

  lms_digits u_digits (
    .clk_i, .rst_ni,
    .clear_i    (clear | hash_message),
    .is_short_i (is_short),
    .log_width_i(ots.log_width),
    .last_i     (last),
    .chains_i   (ots.chains),
    .write_i    (digest),
    .row_i      (digest_row),
    .data_i     (state),
    .valid_o    (digits_valid),
    .summed_o   (digits_summed),
    .read_i     (digit_read),
    .index_i    (digit_index),
    .digit_o    (digit),
    .steps_o    (steps_expected),
    .ends_o     (kept_expected)
  );

  lms_schedule #(.Lanes(Lanes)) u_schedule (
    .clk_i, .rst_ni,
    .clear_i        (clear),
    .start_i        (compute_root),
    .is_turned_i    (is_turned),
    .chains_i       (ots.chains),
    .filled_i       (chains),
    .last_i         (last),
    .digits_valid_i (digits_valid),
    .digits_summed_i(digits_summed),
    .digit_read_o   (digit_read),
    .digit_index_o  (digit_index),
    .digit_i        (digit),
    .job_valid_o    (job_valid),
    .job_ready_i    (lane_select != '0),
    .job_o          (job),
    .holds_i        (lane_holds),
    .chain_i        (lane_chain),
    .end_valid_o    (end_valid),
    .end_ready_i    (end_ready),
    .end_moved_o    (end_moved),
    .end_chain_o    (end_chain),
    .end_last_o     (end_last),
    .kept_o         (kept)
  );

  // The lowest lane that is free gets the next chain.
  always_comb begin
    lane_select = '0;
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      if (lane_ready[lane]) lane_select = Lanes'(1) << lane;
    end
  end

  // --- long messages, on the first hash core ---
  // The core of lane 0 is shared by its chains and by all hashes of more than one block.
  logic        stream_error, stream_cmd, stream_taken, stream_lane_valid, stream_lane_ready, stream_block_end;
  logic        stream_holds, stream_awaits, stream_load, load_last, load_row, stream_save, stream_save_ready, shown_row;
  logic        stream_msg_ready;
  logic [63:0] stream_lane;
  cmd_e        stream_cmd_kind;
  row_t        load, result;

  assign msg_ready_o = listens_q & (stream_msg_ready | drains);

  lms_stream #(.Hardened(Hardened)) u_stream (
    .clk_i, .rst_ni,
    .wipe_i       (clear),
    .error_o      (stream_error),
    .message_i    (hash_message),
    .root_i       (compute_root),
    .done_o       (stream_done),
    .node_o       (node),
    .identifier_i (identifier),
    .index_i      (index),
    .is_short_i   (is_short),
    .chains_i     (ots.chains),
    .height_i     (tree.height),
    .levels_i     (levels),
    .from_memory_i(~is_last),
    .key_i        (next_key),
    .end_valid_i  (end_valid),
    .end_ready_o  (end_ready),
    .end_moved_i  (end_moved),
    .end_chain_i  (end_chain),
    .end_last_i   (end_last),
    .msg_valid_i  (msg_valid_i & listens_q),
    .msg_ready_o  (stream_msg_ready),
    .msg_i        (in_order(msg_data_i)),
    .msg_last_i, .msg_bytes_i,
    .read_valid_o (reads[0]),
    .read_ready_i (read_ready[0]),
    .read_place_o (read_places[0]),
    .read_row_o   (read_rows[0]),
    .read_data_i  (read_data),
    .end_data_i   (end_data),
    .cmd_valid_o  (stream_cmd),
    .cmd_ready_i  (stream_taken),
    .cmd_o        (stream_cmd_kind),
    .lane_valid_o (stream_lane_valid),
    .lane_ready_i (stream_lane_ready),
    .lane_o       (stream_lane),
    .block_end_i  (stream_block_end),
    .holds_i      (stream_holds),
    .awaits_i     (stream_awaits),
    .load_valid_o (stream_load),
    .load_last_i  (load_last),
    .load_row_i   (load_row),
    .load_o       (load),
    .save_valid_i (stream_save),
    .save_ready_o (stream_save_ready),
    .save_row_i   (digest_row),
    .save_i       (state),
    .digest_o     (digest),
    .result_row_i (shown_row),
    .result_o     (result)
  );

  // --- chains ---
  lms_first #(.Lanes(Lanes)) u_first (
    .clk_i, .rst_ni,
    .wipe_i      (clear),
    .index_i     (index),
    .is_short_i  (is_short),
    .want_i      (first_want),
    .chain_i     (first_chain),
    .free_i      (first_free),
    .read_valid_o(reads[1]),
    .read_ready_i(read_ready[1]),
    .read_place_o(read_places[1]),
    .read_row_o  (read_rows[1]),
    .read_data_i (read_data),
    .busy_o      (first_busy),
    .valid_o     (first_valid),
    .word_o      (first_word)
  );

  // The lanes. Chains have port 0 of the shared core, and long messages have port 1 of lane 0.
  for (genvar lane = 0; lane < Lanes; lane++) begin : g_lane
    logic [1:0]       cmd_valid, cmd_taken, lane_valid, lane_ready_2, block_end, awaits, save_valid, save_ready;
    logic [1:0][63:0] lane_data;
    cmd_e             cmd [2];
    logic             save_row;
    row_t             save;

    assign end_row[lane]           = save_row;
    assign end_rows[lane]          = save;
    assign first_chain[lane]       = lane_chain[lane][0];
    assign hash_error[lane]        = hash_i[lane].error;

    lms_lane #(.Hardened(Hardened)) u_lane (
      .clk_i, .rst_ni,
      .wipe_i       (clear),
      .error_o      (lane_error[lane]),
      .identifier_i (identifier),
      .is_short_i   (is_short),
      .last_i       (last),
      .job_valid_i  (job_valid & lane_select[lane]),
      .job_ready_o  (lane_ready[lane]),
      .job_i        (job),
      .holds_o      (lane_holds[lane]),
      .chain_o      (lane_chain[lane]),
      .step_o       (steps[lane]),
      .want_o       (first_want[lane]),
      .free_o       (first_free[lane]),
      .word_valid_i (first_valid[lane]),
      .busy_i       (first_busy),
      .word_i       (first_word),
      .write_valid_o(end_write[lane]),
      .write_ready_i(end_write_ready[lane]),
      .write_place_o(end_place[lane]),
      .cmd_valid_o  (cmd_valid[0]),
      .cmd_ready_i  (cmd_taken[0]),
      .lane_valid_o (lane_valid[0]),
      .lane_ready_i (lane_ready_2[0]),
      .lane_o       (lane_data[0]),
      .block_end_i  (block_end[0]),
      .awaits_i     (awaits[0]),
      .save_valid_i (save_valid[0]),
      .save_ready_o (save_ready[0]),
      .save_row_i   (save_row),
      .save_i       (save)
    );
    assign cmd[0] = CmdFirst;

    if (lane == 0) begin : g_both
      assign cmd_valid[1]      = stream_cmd;
      assign cmd[1]            = stream_cmd_kind;
      assign lane_valid[1]     = stream_lane_valid;
      assign lane_data[1]      = stream_lane;
      assign save_ready[1]     = stream_save_ready;
      assign stream_taken      = cmd_taken[1];
      assign stream_lane_ready = lane_ready_2[1];
      assign stream_block_end  = block_end[1];
      assign stream_awaits     = awaits[1];
      assign stream_save       = save_valid[1];
      assign digest_row        = save_row;
      assign state             = save;

      lms_share #(.RoundsPerCycle(RoundsPerCycle), .Overlaps(Overlaps)) u_share (
        .clk_i, .rst_ni, .wipe_i(clear),
        .hash_o(hash_o[lane]), .hash_i(hash_i[lane]),
        .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_taken), .cmd_i(cmd),
        .lane_valid_i(lane_valid), .lane_ready_o(lane_ready_2), .lane_i(lane_data), .block_end_o(block_end),
        .awaits_o(awaits), .save_valid_o(save_valid), .save_ready_i(save_ready), .save_row_o(save_row), .save_o(save),
        .holds_o(stream_holds),
        .load_valid_i(stream_load), .load_last_o(load_last), .load_row_o(load_row), .load_i(load)
      );
    end else begin : g_chain
      logic unused;
      assign {cmd_valid[1], lane_valid[1], lane_data[1], save_ready[1]} = '0;
      assign cmd[1] = CmdFirst;
      logic holds, last_load, row_load;
      assign unused = ^{cmd_taken[1], lane_ready_2[1], block_end[1], awaits[1], save_valid[1], holds, last_load, row_load};

      lms_share #(.RoundsPerCycle(RoundsPerCycle), .Overlaps(Overlaps)) u_share (
        .clk_i, .rst_ni, .wipe_i(clear),
        .hash_o(hash_o[lane]), .hash_i(hash_i[lane]),
        .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_taken), .cmd_i(cmd),
        .lane_valid_i(lane_valid), .lane_ready_o(lane_ready_2), .lane_i(lane_data), .block_end_o(block_end),
        .awaits_o(awaits), .save_valid_o(save_valid), .save_ready_i(save_ready), .save_row_o(save_row), .save_o(save),
        .holds_o(holds),
        .load_valid_i(1'b0), .load_last_o(last_load), .load_row_o(row_load), .load_i('0)
      );
    end
  end
  // An upset of any part is an upset of the engine.
  assign fail = (|lane_error) | (|hash_error) | stream_error | ingest_alert;

  lms_control #(.Lanes(Lanes), .Hardened(Hardened)) u_control (
    .clk_i, .rst_ni, .abort_i,
    .fail_i          (fail),
    .alert_o, .idle_o,
    .clear_o         (clear),
    .start_i, .expected_i, .key_type_i, .two_passes_i,
    .tree_code_o     (tree_code),
    .ots_code_o      (ots_code),
    .tree_o          (tree),
    .ots_o           (ots),
    .is_last_o       (is_last),
    .identifier_o    (identifier),
    .next_key_o      (next_key),
    .is_turned_o     (is_turned),
    .receive_o       (receive),
    .next_o          (next),
    .message_o       (hash_message),
    .root_o          (compute_root),
    .stream_done_i   (stream_done),
    .has_random_i    (has_random),
    .has_key_i       (has_key),
    .next_tree_i     (next_tree),
    .next_ots_i      (next_ots),
    .ended_i         (ended),
    .sig_error_i     (sig_error),
    .summed_i        (digits_summed),
    .steps_expected_i(steps_expected),
    .kept_expected_i (kept_expected),
    .steps_i         (steps),
    .kept_i          (kept),
    .node_i          (node),
    .read_o          (reads[2]),
    .read_ready_i    (read_ready[2]),
    .read_place_o    (read_places[2]),
    .read_row_o      (read_rows[2]),
    .read_data_i     (read_data),
    .result_row_o    (shown_row),
    .result_i        (result),
    .root_index_i,
    .root_word_o     (root_o),
    .done_o, .error_o, .verdict_o
  );

  // The key cannot change while it is used.
  `ASSERT(TheKeyIsForAnIdleEngine_A, memory_write && memory_place[8:1] == KeyPlace[8:1] |-> idle_o)
  // A chain that two lanes take would be counted twice.
  `ASSERT(AJobIsForOneLane_A, $onehot0(lane_select))
  // A part with an illegal state ends the verification, so its values do not reach a verdict.
  `ASSERT(AnUpsetStopsAll_A, fail && Hardened |=> alert_o)
  // Nothing is computed for a signature that was not started.
  `ASSERT(NothingIsComputedWhileIdle_A, idle_o && !fail |-> stream_done && !hash_message && !compute_root)
endmodule
