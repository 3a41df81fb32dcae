// Proof that a locked field never changes: neither its cells nor its words in the shadow.
//
// Any burn is of a row whose field was neither locked nor hidden when the command was taken; a burn that was taken before
// the lock ends. After the load the shadow is only cleared, and only words of hidden fields, or all in an error. The array,
// the shadow and all commands are arbitrary.

module otp_lock_proof
  import otp_pkg::*;
(
  input logic        clk_i,
  input logic        rst_i,
  input logic        array_ack_i,
  input cells_t      array_cells_i,
  input code_t       shadow_code_i,
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

  logic array_req, array_burn, shadow_write, error, refused;
  row_t array_row, shadow_row;
  code_t shadow_code;
  verdict_e verdict;
  logic [NumFields-1:0] locked;
  logic [NumWordFields-1:0] hidden;

  otp_core dut (
    .clk_i, .rst_ni, .array_req_o (array_req), .array_burn_o (array_burn), .array_row_o (array_row),
    .array_cells_o (), .array_ack_i, .array_cells_i, .shadow_write_o (shadow_write), .shadow_write_row_o (shadow_row),
    .shadow_code_o (shadow_code), .shadow_read_row_o (), .shadow_code_i, .verdict_o (verdict), .reason_o (),
    .reason_row_o (), .lifecycle_o (), .floor_o (), .usable_o (), .revoked_o (), .locked_o (locked), .hidden_o (hidden),
    .good_o (), .blank_o (), .fixed_count_o (), .fixed_row_o (), .error_o (error), .seq_req_i, .seq_row_i, .seq_valid_o (),
    .seq_good_o (), .seq_data_o (), .read_i, .read_row_i, .read_valid_o (), .read_good_o (), .read_data_o (), .hide_i,
    .latch_i, .bits_i, .data_i, .burn_data_i, .burn_i, .burn_row_i, .burn_refused_o (refused), .idle_o (), .result_o (),
    .send_i, .send_key_i, .send_refused_o (), .sending_o (), .key_valid_o (), .key_ready_i, .key_data_o (), .key_word_o (),
    .key_abort_o ()
  );

  // The command that was taken last, and whether its field was open in that cycle.
  row_t taken_q;
  logic was_open_q;
  logic [3:0] field;
  assign field = field_of(burn_row_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {taken_q, was_open_q} <= '0;
    else if (burn_i && !refused) begin
      taken_q    <= burn_row_i;
      was_open_q <= field < 4'(NumFields) && !locked[field] && !(field < 4'(NumWordFields) && hidden[field]);
    end
  end

  // Locks and latches of the cycle before.
  logic [NumFields-1:0] locked_q;
  logic [NumWordFields-1:0] hidden_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {locked_q, hidden_q} <= '0;
    else         {locked_q, hidden_q} <= {locked, hidden};
  end

  logic is_burning;
  assign is_burning = dut.u_control.in_fetch | dut.u_control.in_decide | dut.u_control.in_burn | dut.u_control.in_check |
                      dut.u_control.in_compare;
  logic [3:0] shadow_field;
  assign shadow_field = field_of(shadow_row);
  always_comb begin
    if (rst_ni) begin
      // The claim: cells.
      if (array_req && array_burn) assert (array_row == taken_q && was_open_q);
      // Words.
      if (shadow_write && !dut.u_control.in_judge) begin
        assert (shadow_code == '0);
        assert (error || (shadow_field < 4'(NumWordFields) && hidden[shadow_field]));
      end
      if (dut.u_control.in_judge) assert (dut.u_fields.verdict_q == VerdictLoading && dut.u_control.row_q <= LastRow);
      // Locks and latches stay until the reset.
      assert ((locked_q & ~locked) == '0 && (hidden_q & ~hidden) == '0);
      // What the induction needs.
      if (dut.u_control.in_load) assert (dut.u_fields.verdict_q == VerdictLoading && dut.u_control.row_q <= LastRow);
      if (is_burning) assert (dut.u_control.row_q == taken_q && was_open_q);
      if (!error) assert ((locked_q & ~(dut.u_fields.held_q.locks | dut.u_fields.held_q.latches)) == '0);
      if (!error) assert ((hidden_q & ~dut.u_fields.held_q.hidden) == '0);
    end
  end
endmodule
