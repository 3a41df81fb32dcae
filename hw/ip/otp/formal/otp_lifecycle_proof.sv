// Proof that the lifecycle never goes back, and neither does the floor within a boot.
//
// Row 0 of the array is here, with cells that burning only sets and that keep what they are through any number of resets;
// the other rows may read as anything. After each load the lifecycle is at least the highest that was ever told since the
// cells were new, or it is invalid.

module otp_lifecycle_proof
  import otp_pkg::*;
(
  input logic        clk_i,
  input logic        rst_i,
  input logic        array_ack_i,
  input cells_t      array_cells_i,
  input cells_t      torn_i,        // of a burn, what a power cut leaves out
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
  // Any number of resets, each also a power cut.
  logic rst_ni;
  assign rst_ni = started_q & ~rst_i;

  logic array_req, array_burn;
  row_t array_row;
  cells_t array_cells, row_q = '0, answer;
  lifecycle_e lifecycle;
  verdict_e verdict;
  logic [6:0] floor;
  logic error;

  otp_core dut (
    .clk_i, .rst_ni, .array_req_o (array_req), .array_burn_o (array_burn), .array_row_o (array_row),
    .array_cells_o (array_cells), .array_ack_i, .array_cells_i (answer), .shadow_write_o (), .shadow_write_row_o (),
    .shadow_code_o (), .shadow_read_row_o (), .shadow_code_i, .verdict_o (verdict), .reason_o (), .reason_row_o (),
    .lifecycle_o (lifecycle), .floor_o (floor), .usable_o (), .revoked_o (), .locked_o (), .hidden_o (), .good_o (),
    .blank_o (), .fixed_count_o (), .fixed_row_o (), .error_o (error), .seq_req_i, .seq_row_i, .seq_valid_o (),
    .seq_good_o (), .seq_data_o (), .read_i, .read_row_i, .read_valid_o (), .read_good_o (), .read_data_o (), .hide_i,
    .latch_i, .bits_i, .data_i, .burn_data_i, .burn_i, .burn_row_i, .burn_refused_o (), .idle_o (), .result_o (), .send_i,
    .send_key_i, .send_refused_o (), .sending_o (), .key_valid_o (), .key_ready_i, .key_data_o (), .key_word_o (),
    .key_abort_o ()
  );

  // Cells of row 0. An unfinished burn may have set any of them.
  assign answer = (array_row == RowLifecycle) ? row_q : array_cells_i;
  always_ff @(posedge clk_i) begin
    if (array_req && array_burn && array_row == RowLifecycle) row_q <= row_q | (array_cells & (array_ack_i ? '1 : ~torn_i));
  end

  // The highest lifecycle that was told, as its number.
  function automatic logic [2:0] rank(lifecycle_e code);
    unique case (code)
      LcTest:        return 3'd1;
      LcDevelopment: return 3'd2;
      LcProduction:  return 3'd3;
      LcReturned:    return 3'd4;
      LcScrapped:    return 3'd5;
      default:       return 3'd0;
    endcase
  endfunction
  logic is_told;
  logic [2:0] highest_q = '0;
  assign is_told = rst_ni && verdict != VerdictLoading && lifecycle != LcInvalid;
  always_ff @(posedge clk_i) if (is_told && rank(lifecycle) > highest_q) highest_q <= rank(lifecycle);

  // The claim.
  always_comb if (is_told) assert (rank(lifecycle) >= highest_q);

  // What the induction needs: the cells say at least what was told.
  function automatic logic is_set(cells_t cells, int flag);
    return $countones(cells[5*flag +: 5]) >= 4;
  endfunction
  logic [4:0] flags, held;
  for (genvar i = 0; i < 5; i++) begin : gen_flags
    assign flags[i] = is_set(row_q, i);
  end
  always_comb begin
    unique case (dut.u_fields.lifecycle_q)
      LcTest:        held = 5'b00001;
      LcDevelopment: held = 5'b00011;
      LcProduction:  held = 5'b00111;
      LcReturned:    held = 5'b01111;
      LcScrapped:    held = 5'b10000;
      default:       held = 5'b00000;
    endcase
  end
  logic [4:0] told;
  always_comb begin
    unique case (highest_q)
      3'd0:    told = 5'b00000;
      3'd1:    told = 5'b00001;
      3'd2:    told = 5'b00011;
      3'd3:    told = 5'b00111;
      3'd4:    told = 5'b01111;
      default: told = 5'b10000;
    endcase
    assert (highest_q <= 3'd5);
    assert ((flags & told) == told);
    if (rst_ni) begin
      assert ((flags & held) == held);
      // What was read is in the cells.
      if (dut.u_control.in_judge && dut.u_control.row_q == RowLifecycle) assert ((dut.u_control.cells_q & ~row_q) == '0);
      // After row 0 was read, the lifecycle is that of the cells then: no lower one than was told before.
      if (!(dut.u_control.row_q == RowLifecycle && (dut.u_control.in_load || dut.u_control.in_judge)) &&
          dut.u_fields.lifecycle_q != LcInvalid) begin
        assert (rank(dut.u_fields.lifecycle_q) >= highest_q);
      end
      if (dut.u_control.in_judge && dut.u_control.row_q == RowLifecycle) begin
        for (int i = 0; i < 5; i++) if (told[i]) assert (is_set(dut.u_control.cells_q, i));
      end
    end
  end

  // The floor only rises until the reset.
  logic [6:0] floor_q;
  logic was_up_q = 1'b0;
  always_ff @(posedge clk_i) begin
    was_up_q <= rst_ni;
    floor_q  <= floor;
  end
  logic is_loading;
  row_t loading;
  assign is_loading = dut.u_control.in_load || dut.u_control.in_judge;
  assign loading    = dut.u_control.row_q;
  always_comb begin
    if (rst_ni && was_up_q) assert (floor >= floor_q);
    // No row of it is counted twice, and no step past the last is burned.
    if (rst_ni) begin
      if (is_loading) assert (loading <= LastRow && dut.u_fields.verdict_q == VerdictLoading);
      assert (dut.u_fields.held_q.floor <= 7'd64);
      if (is_loading && loading <= RowFloor) assert (dut.u_fields.held_q.floor == '0);
      if (is_loading && loading > RowFloor && loading < RowFloor + 7'd8) begin
        assert (dut.u_fields.held_q.floor <= {loading - RowFloor, 3'b000});
      end
      if (was_up_q && !error) assert (floor_q <= dut.u_fields.held_q.floor);
    end
  end
endmodule
