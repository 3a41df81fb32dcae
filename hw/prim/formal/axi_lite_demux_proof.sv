// Proof of `axi_lite_demux` for two targets: rules of all channels, one target for each access, and a bound of every wait.

module axi_lite_demux_proof
  import hartlock_axi_pkg::*;
#(
  parameter bit          HoldsData  = 1'b1,
  parameter int unsigned MaxCycles = 12
) (
  input logic             clk_i,
  input logic [1:0]       aw_select_i,
  input logic [1:0]       ar_select_i,
  input axil_req_t        axil_i,
  input axil_resp_t [1:0] target_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  axil_resp_t      axil;
  axil_req_t [1:0] target;

  axi_lite_demux #(.NumTargets(2), .HoldsData(HoldsData)) dut (
    .clk_i, .rst_ni, .aw_select_i, .ar_select_i, .axil_i, .axil_o (axil), .target_o (target), .target_i
  );

  // One target, or none, selected by an address that is stable with it.
  always_comb begin
    assume ($onehot0(aw_select_i));
    assume ($onehot0(ar_select_i));
  end

  logic owes, early, due_b, due_r;
  fair_manager #(.MaxCycles(MaxCycles), .AwBits(14), .WBits(36), .ArBits(14), .BBits(2), .RBits(34)) u_manager (
    .clk_i, .rst_ni,
    .aw_valid_i (axil_i.aw_valid), .aw_ready_i (axil.aw_ready), .aw_i ({aw_select_i, axil_i.aw_addr}),
    .w_valid_i (axil_i.w_valid), .w_ready_i (axil.w_ready), .w_i ({axil_i.w_data, axil_i.w_strb}), .w_last_i (1'b1),
    .b_valid_i (axil.b_valid), .b_ready_i (axil_i.b_ready), .b_i (axil.b_resp),
    .ar_valid_i (axil_i.ar_valid), .ar_ready_i (axil.ar_ready), .ar_i ({ar_select_i, axil_i.ar_addr}),
    .r_valid_i (axil.r_valid), .r_ready_i (axil_i.r_ready), .r_i ({axil.r_data, axil.r_resp}), .r_last_i (1'b1),
    .owes_o (owes), .early_o (early), .due_b_o (due_b), .due_r_o (due_r)
  );

  logic [1:0] target_owes, target_early, target_due_b, target_due_r;
  for (genvar t = 0; t < 2; t++) begin : gen_target
    fair_subordinate #(.AwBits(12), .WBits(36), .ArBits(12), .BBits(2), .RBits(34)) u_target (
      .clk_i, .rst_ni,
      .aw_valid_i (target[t].aw_valid), .aw_ready_i (target_i[t].aw_ready), .aw_i (target[t].aw_addr),
      .w_valid_i (target[t].w_valid), .w_ready_i (target_i[t].w_ready), .w_i ({target[t].w_data, target[t].w_strb}),
      .w_last_i (1'b1),
      .b_valid_i (target_i[t].b_valid), .b_ready_i (target[t].b_ready), .b_i (target_i[t].b_resp),
      .ar_valid_i (target[t].ar_valid), .ar_ready_i (target_i[t].ar_ready), .ar_i (target[t].ar_addr),
      .r_valid_i (target_i[t].r_valid), .r_ready_i (target[t].r_ready),
      .r_i ({target_i[t].r_data, target_i[t].r_resp}), .r_last_i (1'b1),
      .owes_o (target_owes[t]), .early_o (target_early[t]), .due_b_o (target_due_b[t]), .due_r_o (target_due_r[t])
    );
    always_comb begin
      // A response is that of the target, and an access without a target shows nothing of one.
      if (axil.b_valid && dut.w_owner_q[t]) assert (target_i[t].b_valid && axil.b_resp == target_i[t].b_resp);
      if (axil.r_valid && dut.r_owner_q[t]) assert (target_i[t].r_valid && axil.r_data == target_i[t].r_data);
      // The state of the block is what the channels showed.
      assert (target_owes[t] == (dut.aw_done_q && !dut.w_done_q && dut.w_owner_q[t]));
      assert (target_early[t] == (!dut.aw_done_q && dut.w_done_q && aw_select_i[t]));
      assert (target_due_b[t] == (dut.aw_done_q && dut.w_done_q && dut.w_owner_q[t]));
      assert (target_due_r[t] == (dut.ar_done_q && dut.r_owner_q[t]));
    end
  end
  always_comb begin
    if (axil.b_valid && dut.w_owner_q == '0) assert (axil.b_resp == RespDecerr);
    if (axil.r_valid && dut.r_owner_q == '0) assert (axil.r_resp == RespDecerr && axil.r_data == '0);
    assert ($onehot0(dut.w_owner_q) && $onehot0(dut.r_owner_q));
    assert (owes == (dut.aw_done_q && !dut.w_done_q));
    assert (early == (!dut.aw_done_q && dut.w_done_q));
    if (early) assert (axil_i.aw_valid);
    assert (due_b == (dut.aw_done_q && dut.w_done_q));
    assert (due_r == dut.ar_done_q);
  end
endmodule
