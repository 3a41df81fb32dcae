// Proof of `dma_write`: it never addresses a byte outside of the window, its bursts keep the rules whenever a list fails,
// and beside a fair subordinate none of them stops.

module dma_write_proof
  import dma_pkg::*;
#(
  parameter int unsigned MaxCycles = 3
) (
  input logic        clk_i,
  input logic        clear_i,
  input logic        run_i,
  input window_t     window_i,
  input logic        load_i,
  input logic [31:0] first_i,
  input logic [31:0] last_i,
  input logic        is_filled_i,
  input logic        beat_valid_i,
  input logic [63:0] beat_data_i,
  input logic [7:0]  beat_strb_i,
  input logic        aw_ready_i,
  input logic        w_ready_i,
  input logic        b_valid_i,
  input logic [1:0]  b_resp_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic active, none_due, unused_failed, unused_upset, beat_ready, aw_valid, w_valid, w_last;
  logic [31:0] aw_addr;
  logic [7:0]  aw_len, w_strb;
  logic [63:0] w_data;
  dma_write #(.NumWrites(2)) dut (
    .clk_i, .rst_ni, .clear_i, .run_i, .window_i, .load_i, .first_i, .last_i, .active_o (active), .is_filled_i,
    .none_due_o (none_due), .failed_o (unused_failed), .upset_o (unused_upset),
    .beat_valid_i, .beat_ready_o (beat_ready), .beat_data_i, .beat_strb_i,
    .aw_valid_o (aw_valid), .aw_ready_i, .aw_addr_o (aw_addr), .aw_len_o (aw_len),
    .w_valid_o (w_valid), .w_ready_i, .w_data_o (w_data), .w_strb_o (w_strb), .w_last_o (w_last), .b_valid_i, .b_resp_i
  );

  // The window is locked. Ranges are any that do not end before they begin, also such that were never judged.
  window_t window_q;
  logic    was_reset_q, run_q, kept_q;
  logic [71:0] beat_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {was_reset_q, window_q, run_q, kept_q, beat_q} <= '0;
    else begin
      {was_reset_q, window_q, run_q} <= {1'b1, window_i, run_i};
      kept_q <= !(beat_valid_i && beat_ready);
      beat_q <= {beat_data_i, beat_strb_i};
    end
  end
  always_comb begin
    if (was_reset_q) assume (window_i == window_q);
    if (clear_i) assume (none_due && !run_i);
    if (load_i) assume (run_i && !active && !clear_i && first_i <= last_i);
    // A failed list ends on a quiet bus.
    if (run_i && !run_q) assume (none_due);
    if (b_valid_i) assume (dut.due_q != '0 && (!dut.open_q || dut.due_q != 2'd1));
    // The aligner moves nothing unless its word is taken, and nothing at all once the list has failed.
    if (!run_q && was_reset_q) assume ({beat_data_i, beat_strb_i} == beat_q);
  end
  channel_rules #(.Bits(72), .IsAssumed(1)) u_beat (
    .clk_i, .rst_ni, .valid_i (beat_valid_i), .ready_i (beat_ready), .payload_i ({beat_data_i, beat_strb_i})
  );

  channel_rules #(.Bits(40)) u_aw (.clk_i, .rst_ni, .valid_i (aw_valid), .ready_i (aw_ready_i), .payload_i ({aw_addr, aw_len}));
  channel_rules #(.Bits(73)) u_w (.clk_i, .rst_ni, .valid_i (w_valid), .ready_i (w_ready_i), .payload_i ({w_data, w_strb, w_last}));

  // Beats of the open burst that were taken; its length is that of its address.
  logic [2:0]  beats_q;
  logic [32:0] end_of_burst;
  assign end_of_burst = {1'b0, aw_addr} + {22'b0, aw_len, 3'b111};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                     beats_q <= '0;
    else if (w_valid && w_ready_i)   beats_q <= w_last ? '0 : beats_q + 1'b1;
  end
  always_comb begin
    // A burst is within the window and within 4 KiB, and begins at a word.
    if (aw_valid) begin
      assert (aw_addr[31:12] >= window_i.first && end_of_burst[32:12] <= {1'b0, window_i.last});
      assert (aw_addr[2:0] == '0 && aw_addr[31:12] == end_of_burst[31:12]);
    end
    // Data are those of an address that is offered or was taken, as many as it says.
    if (w_valid) begin
      assert (aw_valid || dut.sent_q);
      assert (w_last == (8'(beats_q) == aw_len));
    end
    // No byte is changed of which the list did not say so before it failed.
    if (w_valid && !run_i && !dut.waits_q) assert (w_strb == '0);
    // The state of the block is what the channels showed; the induction needs it.
    assert (dut.due_q <= 2'd2);
    if (dut.open_q) assert (active && dut.is_inside && dut.due_q != '0 && !(dut.sent_q && dut.ended_q));
    else            assert (!dut.sent_q && !dut.ended_q && !dut.waits_q && beats_q == '0);
    if (dut.waits_q) assert (dut.open_q && !dut.ended_q && beat_valid_i);
    if (dut.ended_q) assert (beats_q == '0);
    if (active && !dut.ended_q) assert (dut.beat_q == 3'(dut.start_q + beats_q));
    if (active && !dut.ended_q) assert (4'(dut.start_q) + 4'(beats_q) <= 4'(dut.stop));
    if (active) assert (dut.start_q <= dut.stop && dut.line_q <= dut.last_q[28:3]);
  end

  // The subordinate takes something of a burst whose address and next beat are offered or taken.
  logic is_complete, moves;
  assign is_complete = (aw_valid || dut.sent_q) && (w_valid || dut.ended_q);
  assign moves       = (aw_valid && aw_ready_i) || (w_valid && w_ready_i);
  patience #(.Max(1), .IsAssumed(1)) u_fair (.clk_i, .rst_ni, .waits_i (is_complete && !moves));
  // An open burst moves if it has a beat, or needs none any more: never does it wait for itself.
  patience #(.Max(MaxCycles)) u_progress (
    .clk_i, .rst_ni, .waits_i (dut.is_open && (beat_valid_i || !run_i || dut.ended_q) && !moves)
  );
endmodule
