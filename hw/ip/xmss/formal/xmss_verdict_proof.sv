// Proof that there is a verdict only after two walks over the eight words of the root, each word against that of the key, and
// after both counts.
//
// Everything that comes from memory, lanes and streams is arbitrary in every cycle. That the two walks find no difference is
// in the value of the verdict: it is the constant then.

module xmss_verdict_proof
  import xmss_pkg::*;
(
  input logic        clk_i,
  input logic        rst_i,
  input logic        abort_i,
  input logic        fail_i,
  input logic        start_i,
  input logic        is_mt_i,
  input logic [31:0] expected_i,
  input logic [31:0] key_type_i,
  input logic        two_passes_i,
  input logic        init_done_i,
  input logic        schedule_busy_i,
  input logic        finished_i,
  input logic [63:0] index_i,
  input logic        has_index_i,
  input logic        has_random_i,
  input logic        ended_i,
  input logic        is_short_i,
  input logic        is_long_i,
  input logic        msg_valid_i,
  input logic [31:0] msg_i,
  input logic        msg_last_i,
  input logic        word_ready_i,
  input logic        hashed_i,
  input logic        read_ready_i,
  input row_t        read_data_i,
  input logic [2:0]  root_index_i,
  input logic        digits_valid_i,
  input logic [10:0] steps_expected_i,
  input logic        step_valid_i,
  input logic [3:0]  steps_i,
  input logic        node_valid_i
);
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  logic rst_ni;
  assign rst_ni = started_q & ~rst_i;

  logic        alert, idle, read, row, done;
  place_t      place;
  error_e      error;
  logic [63:0] verdict;
  xmss_control dut (
    .clk_i, .rst_ni, .abort_i, .fail_i, .alert_o(alert), .idle_o(idle), .clear_o(), .start_i, .is_mt_i, .expected_i, .key_type_i,
    .two_passes_i, .height_o(), .has_short_values_o(), .form_o(), .is_last_o(), .next_o(), .layer_o(), .tree_o(), .leaf_o(), .is_turned_o(), .init_o(), .init_done_i, .receive_o(), .schedule_o(),
    .schedule_busy_i, .finished_i, .index_i, .has_index_i, .has_random_i, .ended_i, .is_short_i, .is_long_i, .msg_valid_i,
    .msg_ready_o(), .msg_i, .msg_last_i, .msg_bytes_i(3'd4), .word_valid_o(), .word_ready_i, .word_o(), .word_last_o(),
    .word_bytes_o(), .hashed_i, .read_o(read), .read_ready_i, .read_place_o(place), .read_row_o(row), .read_data_i,
    .root_index_i, .root_o(), .digit_valid_o(), .digit_index_o(), .digit_word_o(), .digit_sum_o(), .digits_valid_i,
    .steps_expected_i, .step_valid_i, .steps_i, .node_valid_i, .done_o(done), .error_o(error), .verdict_o(verdict)
  );

  // Words that were compared, and counts that were, since the start; and what was read in the cycle before.
  logic [4:0] words_q;
  logic [1:0] counts_q;
  logic       was_root_q, was_key_q, took_q;
  logic [2:0] taken_q;  // the word of the root that waits for that of the key
  logic       compares, takes;
  assign takes    = dut.in_walk & (dut.phase_q == 2'd1);
  assign compares = dut.in_walk & (dut.phase_q == 2'd3);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {words_q, counts_q, was_root_q, was_key_q, took_q, taken_q} <= '0;
    end else begin
      was_root_q <= read & read_ready_i & (place == NodePlace) & (row == dut.at_q[1]);
      was_key_q  <= read & read_ready_i & (place == RootPlace) & (row == dut.at_q[1]);
      if (takes) {took_q, taken_q} <= {1'b1, dut.at_q[2:0]};
      if (compares) took_q <= 1'b0;
      if (dut.starts) {words_q, counts_q, took_q} <= '0;
      else begin
        words_q  <= words_q + 5'(compares);
        counts_q <= counts_q + 2'(dut.in_count);
      end
    end
  end

  // The value of 18 steps without a difference.
  function automatic logic [63:0] passed();
    passed = 64'h6861_7274_6c6f_636b;
    for (int i = 0; i < 18; i++) passed = {passed[56:0], passed[63:57]} ^ 64'h9e37_79b9_7f4a_7c15;
  endfunction
  localparam logic [63:0] Passed = passed();

  always_comb begin
    if (rst_ni) begin
      // The claims.
      if (verdict != '0) begin
        assert (words_q == 5'd16 && counts_q == 2'd2 && done && error == NoError && !alert);
        assert (verdict == Passed);
      end
      // A word is of the computed root, and is compared with the same word of the key.
      if (takes) assert (was_root_q);
      if (compares) begin
        assert (was_key_q && took_q && taken_q == dut.at_q[2:0]);
        assert (words_q == {1'b0, dut.second_q, dut.at_q[2:0]} && dut.at_q[4:3] == '0);
      end
      // An alert is until reset.
      if (dut.state_q == 8'hf0) assert (alert && verdict == '0);
      // What the induction needs.
      if (dut.in_walk) begin
        assert (words_q == {1'b0, dut.second_q, dut.at_q[2:0]} && dut.at_q[4:3] == '0);
        assert (counts_q == {dut.second_q, ~dut.second_q});
        assert (took_q == dut.phase_q[1]);
        if (took_q) assert (taken_q == dut.at_q[2:0]);
        if (dut.phase_q == 2'd1) assert (was_root_q);
        if (dut.phase_q == 2'd3) assert (was_key_q);
      end
      if (dut.in_count) assert (dut.at_q == '0 && dut.phase_q == '0 && !took_q && words_q == {1'b0, dut.second_q, 3'b0} &&
                                counts_q == {1'b0, dut.second_q});
      if (dut.in_turn)  assert (!dut.second_q && dut.at_q == '0 && dut.phase_q == '0 && !took_q && words_q == 5'd8 &&
                                counts_q == 2'd1);
      if (dut.in_run)   assert (dut.at_q == '0 && dut.phase_q == '0 && !took_q && words_q == {1'b0, dut.second_q, 3'b0} &&
                                counts_q == {1'b0, dut.second_q});
      if (dut.in_check || dut.in_init || dut.in_prefix || dut.in_message || dut.in_hash || dut.in_digest) begin
        assert (!dut.second_q && !took_q && words_q == '0 && counts_q == '0);
      end
      if (dut.in_check || dut.in_init) assert (dut.at_q == '0 && dut.phase_q == '0);
      if (dut.in_message || dut.in_hash) assert (dut.at_q == '0 && dut.phase_q == '0);
      if (dut.in_prefix || dut.in_digest) assert (!dut.phase_q[1]);
      if (dut.in_digest) assert (dut.at_q[4:3] == '0);
      if (dut.in_done && error == NoError) assert (dut.verdict_q == Passed && words_q == 5'd16 && counts_q == 2'd2);
    end
  end
endmodule
