// Proof of `axi_guard_core`: no beat of a burst that `axi_guard_check` refuses reaches memory, and all channels keep their
// rules, for any managers and any memory that AXI allows. What is refused is proven in `axi_guard_check_proof`.

module axi_guard_proof
  import axi_guard_pkg::*;
#(
  parameter bit DropsData   = 1'b1
) (
  input logic                   clk_i,
  input logic                   locked_i,
  input range_t [NumRanges-1:0] ranges_i,
  // Index 0 is the write, 1 the read.
  input logic [1:0]             a_valid_i,
  input logic [1:0]             a_id_i,
  input logic [1:0][31:0]       a_addr_i,
  input logic [1:0][7:0]        a_len_i,
  input logic [1:0][2:0]        a_size_i,
  input logic [1:0][1:0]        a_burst_i,
  input logic                   w_valid_i,
  input logic                   w_last_i,
  input logic                   b_ready_i,
  input logic                   r_ready_i,
  input logic [1:0]             mem_a_ready_i,
  input logic                   mem_w_ready_i,
  input logic                   mem_b_valid_i,
  input logic                   mem_b_id_i,
  input logic [1:0]             mem_b_resp_i,
  input logic                   mem_r_valid_i,
  input logic                   mem_r_id_i,
  input logic [63:0]            mem_r_data_i,
  input logic [1:0]             mem_r_resp_i,
  input logic                   mem_r_last_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic [1:0] a_ready, mem_a_valid, b_resp, r_resp;
  logic w_ready, b_valid, b_id, r_valid, r_id, r_last, mem_w_valid, mem_b_ready, mem_r_ready;
  logic unused_read_refused, unused_write_refused;
  logic [63:0] r_data;

  axi_guard_core #(.IdBits(1), .NumDue(3), .DropsData(DropsData)) dut (
    .clk_i, .rst_ni, .locked_i, .ranges_i,
    .read_refused_o (unused_read_refused), .write_refused_o (unused_write_refused),
    .aw_valid_i (a_valid_i[0]), .aw_ready_o (a_ready[0]), .aw_id_i (a_id_i[0]), .aw_addr_i (a_addr_i[0]),
    .aw_len_i (a_len_i[0]), .aw_size_i (a_size_i[0]), .aw_burst_i (a_burst_i[0]),
    .w_valid_i, .w_ready_o (w_ready), .w_last_i, .b_valid_o (b_valid), .b_ready_i, .b_id_o (b_id), .b_resp_o (b_resp),
    .ar_valid_i (a_valid_i[1]), .ar_ready_o (a_ready[1]), .ar_id_i (a_id_i[1]), .ar_addr_i (a_addr_i[1]),
    .ar_len_i (a_len_i[1]), .ar_size_i (a_size_i[1]), .ar_burst_i (a_burst_i[1]),
    .r_valid_o (r_valid), .r_ready_i, .r_id_o (r_id), .r_data_o (r_data), .r_resp_o (r_resp), .r_last_o (r_last),
    .mem_aw_valid_o (mem_a_valid[0]), .mem_aw_ready_i (mem_a_ready_i[0]), .mem_w_valid_o (mem_w_valid), .mem_w_ready_i,
    .mem_b_valid_i, .mem_b_ready_o (mem_b_ready), .mem_b_id_i, .mem_b_resp_i,
    .mem_ar_valid_o (mem_a_valid[1]), .mem_ar_ready_i (mem_a_ready_i[1]),
    .mem_r_valid_i, .mem_r_ready_o (mem_r_ready), .mem_r_id_i, .mem_r_data_i, .mem_r_resp_i, .mem_r_last_i
  );

  // --- the environment: ranges stay after the lock, channels keep their rules ---
  logic                   locked_q;
  range_t [NumRanges-1:0] ranges_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {locked_q, ranges_q} <= '0;
    else         {locked_q, ranges_q} <= {locked_i, ranges_i};
  end
  always_comb if (locked_q) assume (locked_i && ranges_i == ranges_q);

  // Addresses: of the managers assumed, of the guard towards memory asserted.
  for (genvar d = 0; d < 2; d++) begin : gen_direction
    channel_rules #(.Bits(46), .IsAssumed(1)) u_a (
      .clk_i, .rst_ni, .valid_i (a_valid_i[d]), .ready_i (a_ready[d]),
      .payload_i ({a_id_i[d], a_addr_i[d], a_len_i[d], a_size_i[d], a_burst_i[d]})
    );
    channel_rules #(.Bits(46)) u_mem_a (
      .clk_i, .rst_ni, .valid_i (mem_a_valid[d]), .ready_i (mem_a_ready_i[d]),
      .payload_i ({a_id_i[d], a_addr_i[d], a_len_i[d], a_size_i[d], a_burst_i[d]})
    );
  end
  // Data of the managers and answers of memory: assumed.
  channel_rules #(.Bits(1), .IsAssumed(1)) u_w (
    .clk_i, .rst_ni, .valid_i (w_valid_i), .ready_i (w_ready), .payload_i (w_last_i)
  );
  channel_rules #(.Bits(3), .IsAssumed(1)) u_mem_b (
    .clk_i, .rst_ni, .valid_i (mem_b_valid_i), .ready_i (mem_b_ready), .payload_i ({mem_b_id_i, mem_b_resp_i})
  );
  channel_rules #(.Bits(68), .IsAssumed(1)) u_mem_r (
    .clk_i, .rst_ni, .valid_i (mem_r_valid_i), .ready_i (mem_r_ready),
    .payload_i ({mem_r_id_i, mem_r_data_i, mem_r_resp_i, mem_r_last_i})
  );
  // Data towards memory and answers to the managers: asserted.
  channel_rules #(.Bits(1)) u_mem_w (
    .clk_i, .rst_ni, .valid_i (mem_w_valid), .ready_i (mem_w_ready_i), .payload_i (w_last_i)
  );
  channel_rules #(.Bits(3)) u_b (.clk_i, .rst_ni, .valid_i (b_valid), .ready_i (b_ready_i), .payload_i ({b_id, b_resp}));
  channel_rules #(.Bits(68)) u_r (
    .clk_i, .rst_ni, .valid_i (r_valid), .ready_i (r_ready_i), .payload_i ({r_id, r_data, r_resp, r_last})
  );

  // --- what reaches memory ---
  // An address was taken and its data were not all; the other way around; responses that are due.
  logic owes_d, owes_q, early_d, early_q;
  logic aw_passes, w_passes;
  assign aw_passes = mem_a_valid[0] & mem_a_ready_i[0];
  assign w_passes  = mem_w_valid & mem_w_ready_i;
  always_comb begin
    owes_d  = owes_q;
    early_d = early_q;
    if (aw_passes) {owes_d, early_d} = {~early_q, 1'b0};
    if (w_passes && w_last_i) {owes_d, early_d} = {1'b0, ~(owes_q | aw_passes)};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {owes_q, early_q} <= '0;
    else         {owes_q, early_q} <= {owes_d, early_d};
  end
  always_comb begin
    // Memory is offered nothing before the lock, and no address that the check refuses.
    for (int unsigned d = 0; d < 2; d++) begin
      if (mem_a_valid[d]) assert (locked_i && (d == 0 ? dut.aw_passes : dut.ar_passes));
    end
    // Data are those of a write that passes.
    if (mem_w_valid) assert (owes_q || mem_a_valid[0]);
    if (mem_w_valid) assert (!early_q);
    // A response is for a request.
    if (mem_b_valid_i) assume (dut.w_due_q != '0);
    if (mem_r_valid_i) assume (dut.r_due_q != '0);
    // The state of the block is what the channels showed.
    assert (owes_q == (dut.sent_q && !dut.is_refused_q));
    assert (early_q == (dut.ended_q));
    assert (!(dut.sent_q && dut.ended_q));
    if (early_q) assert (mem_a_valid[0]);
    if (dut.answers_q) assert (!dut.sent_q && !dut.ended_q);
  end
endmodule
