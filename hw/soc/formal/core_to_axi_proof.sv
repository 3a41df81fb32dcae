// Proof of `core_to_axi`: beside any subordinate, also one that answers late, never or with errors, each request of the
// core is answered within a number of cycles; and what the subordinate sees keeps the rules. Handshakes have ports of
// their own, for the search for paths from a ready to a valid, which finds ports by their names.

module core_to_axi_proof
  import hartlock_axi_pkg::*;
#(
  parameter bit          ReportsErrors = 1'b1,
  parameter int unsigned MinLatency    = 2,
  parameter int unsigned TimeoutCycles = 4,
  parameter int unsigned MaxCycles    = TimeoutCycles
) (
  input logic        clk_i,
  input logic        req_i,
  input logic        we_i,
  input logic [3:0]  be_i,
  input logic [31:0] addr_i,
  input logic [31:0] wdata_i,
  input logic        aw_ready_i,
  input logic        w_ready_i,
  input logic        b_valid_i,
  input logic [1:0]  b_resp_i,
  input logic        ar_ready_i,
  input logic        r_valid_i,
  input logic [63:0] r_data_i,
  input logic [1:0]  r_resp_i,
  output logic       aw_valid_o,
  output logic       w_valid_o,
  output logic       ar_valid_o,
  output logic       rvalid_o
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic        gnt, rvalid, err, aw_valid, w_valid, b_ready, ar_valid, r_ready;
  logic [31:0] rdata, a_addr;
  logic [63:0] w_data;
  logic [7:0]  w_strb;
  axi_req_t    axi_req;
  axi_resp_t   axi_resp;

  core_to_axi #(
    .DataBits (64), .MinLatency (MinLatency), .TimeoutCycles (TimeoutCycles), .ReportsErrors (ReportsErrors)
  ) dut (
    .clk_i, .rst_ni, .req_i, .gnt_o (gnt), .we_i, .be_i, .addr_i, .wdata_i, .rvalid_o (rvalid), .rdata_o (rdata),
    .err_o (err), .axi_o (axi_req), .axi_i (axi_resp)
  );
  assign axi_resp = '{
    aw_ready: aw_ready_i, w_ready: w_ready_i, b_valid: b_valid_i, b_id: '0, b_resp: b_resp_i,
    ar_ready: ar_ready_i, r_valid: r_valid_i, r_id: '0, r_data: r_data_i, r_resp: r_resp_i, r_last: 1'b1
  };
  assign {aw_valid, w_valid, w_data, w_strb} = {axi_req.aw_valid, axi_req.w_valid, axi_req.w_data, axi_req.w_strb};
  assign {b_ready, ar_valid, r_ready}        = {axi_req.b_ready, axi_req.ar_valid, axi_req.r_ready};
  assign a_addr                              = axi_req.aw.addr;
  assign {aw_valid_o, w_valid_o, ar_valid_o, rvalid_o} = {aw_valid, w_valid, ar_valid, rvalid};

  channel_rules #(.Bits(32)) u_aw (.clk_i, .rst_ni, .valid_i (aw_valid), .ready_i (aw_ready_i), .payload_i (a_addr));
  channel_rules #(.Bits(72)) u_w (.clk_i, .rst_ni, .valid_i (w_valid), .ready_i (w_ready_i), .payload_i ({w_data, w_strb}));
  channel_rules #(.Bits(32)) u_ar (.clk_i, .rst_ni, .valid_i (ar_valid), .ready_i (ar_ready_i), .payload_i (a_addr));

  // What was sent and not answered. A subordinate answers nothing else, and a write after both of its parts.
  logic due_b_q, due_r_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {due_b_q, due_r_q} <= '0;
    else begin
      due_b_q <= (due_b_q | aw_valid) & ~(b_valid_i & b_ready);
      due_r_q <= (due_r_q | ar_valid) & ~(r_valid_i & r_ready);
    end
  end
  always_comb begin
    if (b_valid_i) assume (due_b_q && !aw_valid && !w_valid);
    if (r_valid_i) assume (due_r_q && !ar_valid);
  end

  // The core: a request waits for its answer from its grant on, and each answer is for one.
  logic waits_q, failed_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {waits_q, failed_q} <= '0;
    else begin
      waits_q <= (waits_q & ~rvalid) | (req_i & gnt);
      // The subordinate has answered the open request with an error.
      if (req_i && gnt) failed_q <= 1'b0;
      if (waits_q && !rvalid && ((b_valid_i && b_ready && b_resp_i[1]) || (r_valid_i && r_ready && r_resp_i[1]))) begin
        failed_q <= 1'b1;
      end
    end
  end
  patience #(.Max(MaxCycles)) u_answer (.clk_i, .rst_ni, .waits_i (waits_q && !rvalid));
  patience #(.Max(MaxCycles)) u_grant (.clk_i, .rst_ni, .waits_i (req_i && !gnt));
  always_comb begin
    if (rvalid) assert (waits_q);
    // No error is hidden, and none has data.
    if (rvalid && failed_q) assert (err);
    if (rvalid && err) assert (rdata == '0);
    // Both channels ask for the same word, by one beat.
    assert (axi_req.aw == word_at(a_addr) && axi_req.ar == axi_req.aw && axi_req.w_last);
    // One transaction at a time; a write is one word.
    assert (!(ar_valid && (aw_valid || w_valid || due_b_q)) && !(aw_valid && due_r_q));
    assert ((w_strb & (a_addr[2] ? 8'h0f : 8'hf0)) == '0);
    // The state of the block.
    assert (dut.core_waits_q == waits_q);
    assert (!(aw_valid || w_valid || ar_valid) || dut.bus_owes_q);
    if (dut.bus_owes_q) assert (due_b_q || due_r_q || aw_valid || ar_valid);
    if (due_b_q || aw_valid || w_valid) assert (dut.bus_owes_q && dut.we_q);
    if (due_r_q || ar_valid) assert (dut.bus_owes_q && !dut.we_q);
    if (w_valid && !aw_valid) assert (due_b_q);
    if (failed_q && waits_q) assert (dut.done_q && dut.err_q);
    if (dut.err_q && dut.done_q) assert (dut.rdata_q == '0);
    if (dut.done_q) assert (waits_q);
    // The age is at least the time since the grant.
    if (waits_q) assert (dut.age_q >= u_answer.count_q + 1'b1 || dut.age_q == dut.LongestWait);
    assert (dut.age_q <= dut.LongestWait);
  end
endmodule
