// Proof that reads and writes of `dma_core` do not wait for each other. A write waits until the buffer has a line or all
// that was requested (`is_filled_i`); as long as it has neither, a request or a beat passes within a bound, although
// nothing leaves the buffer. It is a part of the composition in doc/README.md.

module dma_fill_proof
  import dma_pkg::*;
#(
  parameter int unsigned Wait      = 1,
  parameter int unsigned MaxCycles = 3
) (
  input logic        clk_i,
  input logic        clear_i,
  input logic        run_i,
  input window_t     window_i,
  input logic        load_i,
  input logic [31:0] first_i,
  input logic [31:0] last_i,
  input logic        frees_i,
  input logic        ar_ready_i,
  input logic        r_valid_i
);
  // As many words as two lines, where the engine has 32.
  localparam int unsigned BufferWords = 16;

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic active, none_due, unused_upset, unused_end, ar_valid, r_last, passes;
  logic [31:0] unused_addr;
  logic [7:0]  ar_len;
  dma_read #(.NumReads(2), .BufferWords(BufferWords)) dut (
    .clk_i, .rst_ni, .clear_i, .run_i, .window_i, .load_i, .first_i, .last_i, .active_o (active), .frees_i,
    .none_due_o (none_due), .upset_o (unused_upset), .ar_valid_o (ar_valid), .ar_ready_i, .ar_addr_o (unused_addr),
    .ar_len_o (ar_len), .r_valid_i, .r_last_i (r_last), .r_end_o (unused_end)
  );
  assign passes = ar_valid & ar_ready_i;

  // Words in the buffer, as `level_q` of the core; and of the reads that are due, beats that have not come.
  logic [4:0] level_q;
  logic [3:0] beats_q [2];
  logic       is_filled;
  assign r_last    = beats_q[0] == 4'd1;
  assign is_filled = (level_q >= 5'(LineWords)) | (~active & none_due);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      level_q    <= '0;
      beats_q[0] <= '0;
      beats_q[1] <= '0;
    end else begin
      level_q <= clear_i ? '0 : level_q + 5'(r_valid_i) - 5'(frees_i);
      if (r_valid_i && r_last) begin
        beats_q[0] <= (beats_q[1] != '0) ? beats_q[1] : passes ? ar_len[3:0] + 4'd1 : '0;
        beats_q[1] <= (beats_q[1] != '0 && passes) ? ar_len[3:0] + 4'd1 : '0;
      end else begin
        beats_q[0] <= (beats_q[0] == '0 && passes) ? ar_len[3:0] + 4'd1 : beats_q[0] - 4'(r_valid_i);
        if (beats_q[0] != '0 && passes) beats_q[1] <= ar_len[3:0] + 4'd1;
      end
    end
  end

  // --- what `dma_core` does: the window is locked, and holds the ranges that were judged ---
  window_t window_q;
  logic    was_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {was_reset_q, window_q} <= '0;
    else         {was_reset_q, window_q} <= {1'b1, window_i};
  end
  always_comb begin
    if (was_reset_q) assume (window_i == window_q);
    if (clear_i) assume (none_due && !run_i);
    if (load_i) begin
      assume (!active && !clear_i && first_i <= last_i);
      assume (is_in(window_i, first_i[31:12]) && is_in(window_i, last_i[31:12]));
    end
    if (frees_i) assume (level_q != '0);
    // --- what memory does ---
    if (r_valid_i) assume (beats_q[0] != '0);
  end
  patience #(.Max(Wait), .IsAssumed(1)) u_address (.clk_i, .rst_ni, .waits_i (ar_valid && !ar_ready_i));
  patience #(.Max(Wait), .IsAssumed(1)) u_data (.clk_i, .rst_ni, .waits_i (beats_q[0] != '0 && !r_valid_i));

  // --- the claim ---
  patience #(.Max(MaxCycles)) u_moves (
    .clk_i, .rst_ni, .waits_i (run_i && !clear_i && !is_filled && !passes && !r_valid_i)
  );

  // --- what the induction needs ---
  logic [5:0] due_beats;
  assign due_beats = 6'(beats_q[0]) + 6'(beats_q[1]);
  always_comb begin
    assert (6'(dut.used_q) == 6'(level_q) + due_beats && dut.used_q <= 5'(BufferWords));
    assert (dut.due_q == 2'(beats_q[0] != '0) + 2'(beats_q[1] != '0) && (beats_q[0] != '0 || beats_q[1] == '0));
    assert (beats_q[0] <= 4'd8 && beats_q[1] <= 4'd8);
    if (dut.waits_q) assert (active && dut.has_room);
    if (active) begin
      assert (dut.is_inside && dut.line_q <= dut.last_q[28:3] && is_in(window_i, dut.last_q[28:9]));
      assert (!dut.is_last_line || dut.start_q <= dut.last_q[2:0]);
    end
  end
endmodule
