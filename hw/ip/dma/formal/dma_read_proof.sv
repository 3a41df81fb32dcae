// Proof of `dma_read`: it never addresses a byte outside of the window, its bursts keep the rules, and it does not stop
// while there is room.

module dma_read_proof
  import dma_pkg::*;
#(
  parameter int unsigned MaxCycles = 2
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
  input logic        r_valid_i,
  input logic        r_last_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic active, none_due, unused_upset, unused_end, ar_valid;
  logic [31:0] ar_addr;
  logic [7:0]  ar_len;
  dma_read #(.NumReads(2), .BufferWords(16)) dut (
    .clk_i, .rst_ni, .clear_i, .run_i, .window_i, .load_i, .first_i, .last_i, .active_o (active), .frees_i,
    .none_due_o (none_due), .upset_o (unused_upset), .ar_valid_o (ar_valid), .ar_ready_i, .ar_addr_o (ar_addr),
    .ar_len_o (ar_len), .r_valid_i, .r_last_i, .r_end_o (unused_end)
  );

  // The window is locked. Ranges are any that do not end before they begin, also such that were never judged.
  window_t window_q;
  logic    was_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {was_reset_q, window_q} <= '0;
    else         {was_reset_q, window_q} <= {1'b1, window_i};
  end
  always_comb begin
    if (was_reset_q) assume (window_i == window_q);
    // As `dma_core` uses it: a list begins on a quiet bus, and a range follows the last.
    if (clear_i) assume (none_due && !run_i);
    if (load_i) assume (!active && !clear_i && first_i <= last_i);
    if (frees_i) assume (dut.used_q != '0);
    if (r_valid_i) assume (dut.due_q != '0);
  end

  channel_rules #(.Bits(40)) u_ar (.clk_i, .rst_ni, .valid_i (ar_valid), .ready_i (ar_ready_i), .payload_i ({ar_addr, ar_len}));
  patience #(.Max(1), .IsAssumed(1)) u_fair (.clk_i, .rst_ni, .waits_i (ar_valid && !ar_ready_i));
  logic [32:0] end_of_burst;
  assign end_of_burst = {1'b0, ar_addr} + {22'b0, ar_len, 3'b111};
  always_comb begin
    if (ar_valid) begin
      assert (ar_addr[31:12] >= window_i.first && end_of_burst[32:12] <= {1'b0, window_i.last});
      assert (ar_addr[2:0] == '0 && ar_addr[31:12] == end_of_burst[31:12]);
    end
    assert (dut.due_q <= 2'd2 && dut.used_q <= 5'd16);
    if (dut.waits_q) assert (active && dut.has_room && dut.is_inside);
    if (active) assert (dut.line_q <= dut.last_q[28:3] && (!dut.is_last_line || dut.start_q <= dut.last_q[2:0]));
  end
  // With room and a range inside of the window a request passes.
  patience #(.Max(MaxCycles)) u_progress (
    .clk_i, .rst_ni, .waits_i (active && run_i && !clear_i && dut.is_inside && dut.has_room && !(ar_valid && ar_ready_i))
  );
endmodule
