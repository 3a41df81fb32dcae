// Proof of `axi_lite_demux` for two targets: rules of all channels, one target for each access, and a bound of every wait.

module axi_lite_demux_proof #(
  parameter bit          HoldsData  = 1'b1,
  parameter int unsigned MaxCycles = 12
) (
  input logic             clk_i,
  input logic [1:0]       aw_select_i,
  input logic             aw_valid_i,
  input logic             w_valid_i,
  input logic             b_ready_i,
  input logic [1:0]       ar_select_i,
  input logic             ar_valid_i,
  input logic             r_ready_i,
  input logic [1:0]       target_aw_ready_i,
  input logic [1:0]       target_w_ready_i,
  input logic [1:0]       target_b_valid_i,
  input logic [1:0][1:0]  target_b_resp_i,
  input logic [1:0]       target_ar_ready_i,
  input logic [1:0]       target_r_valid_i,
  input logic [1:0][31:0] target_r_data_i,
  input logic [1:0][1:0]  target_r_resp_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic       aw_ready, w_ready, b_valid, ar_ready, r_valid;
  logic [1:0] b_resp, r_resp, aw_valids, w_valids, b_readies, ar_valids, r_readies;
  logic [31:0] r_data;

  axi_lite_demux #(.NumTargets(2), .HoldsData(HoldsData)) dut (
    .clk_i, .rst_ni, .aw_select_i, .aw_valid_i, .aw_ready_o (aw_ready), .w_valid_i, .w_ready_o (w_ready),
    .b_valid_o (b_valid), .b_ready_i, .b_resp_o (b_resp), .ar_select_i, .ar_valid_i, .ar_ready_o (ar_ready),
    .r_valid_o (r_valid), .r_ready_i, .r_data_o (r_data), .r_resp_o (r_resp),
    .target_aw_valid_o (aw_valids), .target_aw_ready_i, .target_w_valid_o (w_valids), .target_w_ready_i,
    .target_b_valid_i, .target_b_ready_o (b_readies), .target_b_resp_i,
    .target_ar_valid_o (ar_valids), .target_ar_ready_i, .target_r_valid_i, .target_r_ready_o (r_readies),
    .target_r_data_i, .target_r_resp_i
  );

  // One target, or none, selected by an address that is stable with it.
  always_comb begin
    assume ($onehot0(aw_select_i));
    assume ($onehot0(ar_select_i));
  end

  logic owes, early, due_b, due_r;
  fair_manager #(.MaxCycles(MaxCycles), .AwBits(2), .ArBits(2), .BBits(2), .RBits(34)) u_manager (
    .clk_i, .rst_ni,
    .aw_valid_i, .aw_ready_i (aw_ready), .aw_i (aw_select_i), .w_valid_i, .w_ready_i (w_ready), .w_i (1'b0), .w_last_i (1'b1),
    .b_valid_i (b_valid), .b_ready_i, .b_i (b_resp), .ar_valid_i, .ar_ready_i (ar_ready), .ar_i (ar_select_i),
    .r_valid_i (r_valid), .r_ready_i, .r_i ({r_data, r_resp}), .r_last_i (1'b1),
    .owes_o (owes), .early_o (early), .due_b_o (due_b), .due_r_o (due_r)
  );

  logic [1:0] target_owes, target_early, target_due_b, target_due_r;
  for (genvar t = 0; t < 2; t++) begin : gen_target
    fair_subordinate #(.BBits(2), .RBits(34)) u_target (
      .clk_i, .rst_ni,
      .aw_valid_i (aw_valids[t]), .aw_ready_i (target_aw_ready_i[t]), .aw_i (1'b0),
      .w_valid_i (w_valids[t]), .w_ready_i (target_w_ready_i[t]), .w_i (1'b0), .w_last_i (1'b1),
      .b_valid_i (target_b_valid_i[t]), .b_ready_i (b_readies[t]), .b_i (target_b_resp_i[t]),
      .ar_valid_i (ar_valids[t]), .ar_ready_i (target_ar_ready_i[t]), .ar_i (1'b0),
      .r_valid_i (target_r_valid_i[t]), .r_ready_i (r_readies[t]), .r_i ({target_r_data_i[t], target_r_resp_i[t]}),
      .r_last_i (1'b1),
      .owes_o (target_owes[t]), .early_o (target_early[t]), .due_b_o (target_due_b[t]), .due_r_o (target_due_r[t])
    );
    always_comb begin
      // A response is that of the target, and an access without a target shows nothing of one.
      if (b_valid && dut.w_owner_q[t]) assert (target_b_valid_i[t] && b_resp == target_b_resp_i[t]);
      if (r_valid && dut.r_owner_q[t]) assert (target_r_valid_i[t] && r_data == target_r_data_i[t]);
      // The state of the block is what the channels showed.
      assert (target_owes[t] == (dut.aw_done_q && !dut.w_done_q && dut.w_owner_q[t]));
      assert (target_early[t] == (!dut.aw_done_q && dut.w_done_q && aw_select_i[t]));
      assert (target_due_b[t] == (dut.aw_done_q && dut.w_done_q && dut.w_owner_q[t]));
      assert (target_due_r[t] == (dut.ar_done_q && dut.r_owner_q[t]));
    end
  end
  always_comb begin
    if (b_valid && dut.w_owner_q == '0) assert (b_resp == 2'b11);
    if (r_valid && dut.r_owner_q == '0) assert (r_resp == 2'b11 && r_data == '0);
    assert ($onehot0(dut.w_owner_q) && $onehot0(dut.r_owner_q));
    assert (owes == (dut.aw_done_q && !dut.w_done_q));
    assert (early == (!dut.aw_done_q && dut.w_done_q));
    if (early) assert (aw_valid_i);
    assert (due_b == (dut.aw_done_q && dut.w_done_q));
    assert (due_r == dut.ar_done_q);
  end
endmodule
