// Proof that nothing of the device secret leaves the core once it is shut.
//
// Two cores get the same inputs in every cycle, but the words of the secret in their arrays are any two. From the cycle
// after the latch on, all outputs are the same, until reset: a hidden secret tells nothing, by words or by time. It covers
// burns, transfers, reads of all three readers, and upsets of both cores at once.
//
// Arrays and memories are outside of the core, and may hold anything; the same at rows that are not of the secret. That
// memories do is what is asserted of all writes into them. Faults of cells are the same in both, so
// both are corrected alike: syndromes are assumed to be the same, which is what a fault changes. Before the latch what carries words may
// differ; all else is the same at all times.

module otp_secret_proof
  import otp_pkg::*;
(
  input logic        clk_i,
  input logic        rst_i,
  input logic        array_ack_i,
  input cells_t      array_a_i,
  input cells_t      array_b_i,
  input code_t       shadow_a_i,
  input code_t       shadow_b_i,
  input logic        seq_req_i,
  input row_t        seq_row_i,
  input logic        read_i,
  input row_t        read_row_i,
  input logic        hide_i,
  input logic        latch_i,
  input logic [NumFields-1:0] bits_i,
  input logic        data_i,
  input logic [DataBits-1:0] burn_data_i,
  input logic        burn_i,
  input row_t        burn_row_i,
  input logic        send_i,
  input logic [2:0]  send_key_i,
  input logic        key_ready_i
);
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  logic rst_ni;
  assign rst_ni = started_q & ~rst_i;

  // Outputs that are asserted to be the same at all times, and those that may carry words.
  typedef struct packed {
    logic       array_req, array_burn;
    row_t       array_row;
    logic       shadow_write;
    row_t       shadow_write_row, shadow_read_row;
    verdict_e   verdict;
    reason_e    reason;
    row_t       reason_row;
    lifecycle_e lifecycle;
    logic [6:0] floor;
    logic [NumSlots-1:0] usable, revoked;
    logic [NumFields-1:0] locked;
    logic [NumWordFields-1:0] hidden, good, blank;
    logic [7:0] fixed_count;
    row_t       fixed_row;
    logic       error, seq_valid, seq_good, read_valid, read_good, burn_refused, idle;
    result_e    result;
    logic       send_refused, sending, key_valid;
    logic [2:0] key_word;
    logic       key_abort;
    logic [DataBits-1:0] seq_data;
    cells_t     array_cells;
  } seen_t;
  seen_t seen_a, seen_b;
  code_t code_a, code_b;
  logic [DataBits-1:0] read_a, read_b, key_a, key_b;

`define CORE(Name) \
  otp_core Name ( \
    .clk_i, .rst_ni, .array_req_o (seen_``Name.array_req), .array_burn_o (seen_``Name.array_burn), \
    .array_row_o (seen_``Name.array_row), .array_cells_o (seen_``Name.array_cells), .array_ack_i, \
    .array_cells_i (array_``Name``_i), .shadow_write_o (seen_``Name.shadow_write), \
    .shadow_write_row_o (seen_``Name.shadow_write_row), .shadow_code_o (code_``Name), \
    .shadow_read_row_o (seen_``Name.shadow_read_row), .shadow_code_i (shadow_``Name``_i), \
    .verdict_o (seen_``Name.verdict), .reason_o (seen_``Name.reason), .reason_row_o (seen_``Name.reason_row), \
    .lifecycle_o (seen_``Name.lifecycle), .floor_o (seen_``Name.floor), .usable_o (seen_``Name.usable), \
    .revoked_o (seen_``Name.revoked), .locked_o (seen_``Name.locked), .hidden_o (seen_``Name.hidden), \
    .good_o (seen_``Name.good), .blank_o (seen_``Name.blank), .fixed_count_o (seen_``Name.fixed_count), \
    .fixed_row_o (seen_``Name.fixed_row), .error_o (seen_``Name.error), .seq_req_i, .seq_row_i, \
    .seq_valid_o (seen_``Name.seq_valid), .seq_good_o (seen_``Name.seq_good), .seq_data_o (seen_``Name.seq_data), \
    .read_i, .read_row_i, .read_valid_o (seen_``Name.read_valid), .read_good_o (seen_``Name.read_good), \
    .read_data_o (read_``Name), .hide_i, .latch_i, .bits_i, .data_i, .burn_data_i, .burn_i, .burn_row_i, \
    .burn_refused_o (seen_``Name.burn_refused), .idle_o (seen_``Name.idle), .result_o (seen_``Name.result), \
    .send_i, .send_key_i, .send_refused_o (seen_``Name.send_refused), .sending_o (seen_``Name.sending), \
    .key_valid_o (seen_``Name.key_valid), .key_ready_i, .key_data_o (key_``Name), .key_word_o (seen_``Name.key_word), \
    .key_abort_o (seen_``Name.key_abort) \
  );
  `CORE(a)
  `CORE(b)

  function automatic logic is_of_secret(row_t row);
    return row[6:3] == 4'd8;
  endfunction
  // --- the environment ---
  // The manufacturer burns the secret into both alike: here it is there before, and neither blank nor torn in one alone.
  row_t read_row_q;
  always_ff @(posedge clk_i) read_row_q <= seen_a.shadow_read_row;
  always_comb begin
    if (is_of_secret(seen_a.array_row)) begin
      assume (array_a_i[RowBits-1:CodeBits] == array_b_i[RowBits-1:CodeBits] && array_a_i[RowBits-1:CodeBits+1] == '1);
    end else begin
      assume (array_a_i == array_b_i);
    end
    if (!is_of_secret(read_row_q)) assume (shadow_a_i == shadow_b_i);
    // The same faults in both. Of other rows this follows from the words.
    assume (a.u_secded.syndrome == b.u_secded.syndrome);
    // Not burned: a comparison with cells that are there tells of them, and before the latch it may.
    if (burn_i) assume (!is_of_secret(burn_row_i) || seen_a.hidden[FieldSecret]);
  end

  // --- the claim ---
  always_comb begin
    if (rst_ni) begin
      assert (seen_a == seen_b);
      // After the latch words are, too; before it those of other rows.
      if (seen_a.hidden[FieldSecret]) begin
        assert (read_a == read_b && key_a == key_b);
      end
    end
  end

  // --- what the induction needs ---
  always_comb begin
    if (rst_ni) begin
      if (!is_of_secret(seen_a.shadow_write_row)) assert (code_a == code_b);
      assert (a.u_control.state_q == b.u_control.state_q && a.u_control.row_q == b.u_control.row_q);
      assert (a.u_control.u_row.inverse == b.u_control.u_row.inverse && a.u_send.u_row.inverse == b.u_send.u_row.inverse);
      assert (a.was_readable_q == b.was_readable_q);
      assert (a.u_control.marks_q == b.u_control.marks_q && a.u_control.result_q == b.u_control.result_q);
      assert (a.u_control.burn_data_q == b.u_control.burn_data_q);
      // Cells of the secret are there in the load, until the next row was read.
      if (a.u_control.in_judge && is_of_secret(a.u_control.row_q)) begin
        assert (a.u_control.cells_q[RowBits-1:CodeBits] == b.u_control.cells_q[RowBits-1:CodeBits]);
        assert (a.u_control.cells_q[RowBits-1:CodeBits+1] == '1);
      end else if (!a.u_control.in_load && !a.u_control.is_error) begin
        assert (a.u_control.cells_q == b.u_control.cells_q);
      end
      if (a.u_control.in_load || a.u_control.in_judge) begin
        assert (a.u_control.row_q <= LastRow && a.u_fields.verdict_q == VerdictLoading);
      end
      // No burn of its rows is under way.
      if (!a.u_control.in_load && !a.u_control.in_judge && !a.u_control.in_idle && !a.u_control.is_error) begin
        assert (!is_of_secret(a.u_control.row_q));
      end
      assert (a.u_fields.held_q == b.u_fields.held_q && a.u_fields.parity_q == b.u_fields.parity_q);
      assert (a.u_fields.lifecycle_q == b.u_fields.lifecycle_q && a.u_fields.verdict_q == b.u_fields.verdict_q);
      assert (a.u_fields.reason_q == b.u_fields.reason_q && a.u_fields.reason_row_q == b.u_fields.reason_row_q);
      assert (a.pending_q == b.pending_q && a.bus_row_q == b.bus_row_q && a.who_q == b.who_q);
      assert (a.read_row_q == b.read_row_q && (a.who_q == '0 || a.read_row_q == read_row_q));
      assert (a.fixed_count_q == b.fixed_count_q && a.fixed_row_q == b.fixed_row_q);
      assert (a.u_send.state_q == b.u_send.state_q && a.u_send.row_q == b.u_send.row_q);
      // The word that is offered.
      if (!a.u_send.in_offer || !is_of_secret(a.u_send.row_q)) assert (a.u_send.data_q == b.u_send.data_q);
      // The row of an answer to the sender is the one that it asked for.
      if (a.u_send.in_take) assert (a.who_q.send && a.read_row_q == a.u_send.row_q);
    end
  end
endmodule
