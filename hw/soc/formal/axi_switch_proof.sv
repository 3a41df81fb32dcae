// Proof of `axi_switch`: whatever the selection does meanwhile, a transaction has one path, all channels keep their rules,
// and every wait has a bound.

module axi_switch_proof #(
  parameter bit          HoldsWay   = 1'b1,
  parameter int unsigned MaxCycles = 8
) (
  input logic            clk_i,
  input logic            coherent_i,
  input logic            aw_valid_i,
  input logic            w_valid_i,
  input logic            w_last_i,
  input logic            b_ready_i,
  input logic            ar_valid_i,
  input logic            r_ready_i,
  // Index 0 is the direct path, 1 the coherent one.
  input logic [1:0]      way_aw_ready_i,
  input logic [1:0]      way_w_ready_i,
  input logic [1:0]      way_b_valid_i,
  input logic [1:0][1:0] way_b_resp_i,
  input logic [1:0]      way_ar_ready_i,
  input logic [1:0]      way_r_valid_i,
  input logic [1:0][7:0] way_r_data_i,
  input logic [1:0][1:0] way_r_resp_i,
  input logic [1:0]      way_r_last_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic       aw_ready, w_ready, b_valid, ar_ready, r_valid, r_last;
  logic [1:0] b_resp, aw_valids, w_valids, b_readies, ar_valids, r_readies;
  logic [9:0] r;

  // One read and one write at a time, each of at most two beats: the environment has no more.
  axi_switch #(.RBits(10), .MaxOpen(1), .HoldsWay(HoldsWay)) dut (
    .clk_i, .rst_ni, .coherent_i,
    .aw_valid_i, .aw_ready_o (aw_ready), .w_valid_i, .w_ready_o (w_ready), .w_last_i, .b_valid_o (b_valid), .b_ready_i,
    .b_payload_o (b_resp), .ar_valid_i, .ar_ready_o (ar_ready), .r_valid_o (r_valid), .r_ready_i, .r_payload_o (r),
    .r_last_o (r_last),
    .direct_aw_valid_o (aw_valids[0]), .direct_aw_ready_i (way_aw_ready_i[0]), .direct_w_valid_o (w_valids[0]),
    .direct_w_ready_i (way_w_ready_i[0]), .direct_b_valid_i (way_b_valid_i[0]), .direct_b_ready_o (b_readies[0]),
    .direct_b_payload_i (way_b_resp_i[0]), .direct_ar_valid_o (ar_valids[0]), .direct_ar_ready_i (way_ar_ready_i[0]),
    .direct_r_valid_i (way_r_valid_i[0]), .direct_r_ready_o (r_readies[0]),
    .direct_r_payload_i ({way_r_data_i[0], way_r_resp_i[0]}), .direct_r_last_i (way_r_last_i[0]),
    .coherent_aw_valid_o (aw_valids[1]), .coherent_aw_ready_i (way_aw_ready_i[1]), .coherent_w_valid_o (w_valids[1]),
    .coherent_w_ready_i (way_w_ready_i[1]), .coherent_b_valid_i (way_b_valid_i[1]), .coherent_b_ready_o (b_readies[1]),
    .coherent_b_payload_i (way_b_resp_i[1]), .coherent_ar_valid_o (ar_valids[1]),
    .coherent_ar_ready_i (way_ar_ready_i[1]), .coherent_r_valid_i (way_r_valid_i[1]),
    .coherent_r_ready_o (r_readies[1]), .coherent_r_payload_i ({way_r_data_i[1], way_r_resp_i[1]}),
    .coherent_r_last_i (way_r_last_i[1])
  );

  logic owes, early, due_b, due_r;
  fair_manager #(.MaxCycles(MaxCycles), .BBits(2), .RBits(10)) u_manager (
    .clk_i, .rst_ni,
    .aw_valid_i, .aw_ready_i (aw_ready), .aw_i (1'b0), .w_valid_i, .w_ready_i (w_ready), .w_i (1'b0), .w_last_i,
    .b_valid_i (b_valid), .b_ready_i, .b_i (b_resp), .ar_valid_i, .ar_ready_i (ar_ready), .ar_i (1'b0),
    .r_valid_i (r_valid), .r_ready_i, .r_i (r), .r_last_i (r_last),
    .owes_o (owes), .early_o (early), .due_b_o (due_b), .due_r_o (due_r)
  );
  // One write and one read at a time, which may be open together, and data with their address.
  always_comb begin
    if (due_b) assume (!aw_valid_i && !w_valid_i);
    if (due_r) assume (!ar_valid_i);
    if (w_valid_i) assume (aw_valid_i || owes);
    if (owes) assume (!aw_valid_i);
    if (early) assume (aw_valid_i && !w_valid_i);
  end

  logic [1:0] way_owes, way_early, way_due_b, way_due_r;
  for (genvar way = 0; way < 2; way++) begin : gen_way
    fair_subordinate #(.BBits(2), .RBits(10)) u_way (
      .clk_i, .rst_ni,
      .aw_valid_i (aw_valids[way]), .aw_ready_i (way_aw_ready_i[way]), .aw_i (1'b0),
      .w_valid_i (w_valids[way]), .w_ready_i (way_w_ready_i[way]), .w_i (1'b0), .w_last_i,
      .b_valid_i (way_b_valid_i[way]), .b_ready_i (b_readies[way]), .b_i (way_b_resp_i[way]),
      .ar_valid_i (ar_valids[way]), .ar_ready_i (way_ar_ready_i[way]), .ar_i (1'b0),
      .r_valid_i (way_r_valid_i[way]), .r_ready_i (r_readies[way]), .r_i ({way_r_data_i[way], way_r_resp_i[way]}),
      .r_last_i (way_r_last_i[way]),
      .owes_o (way_owes[way]), .early_o (way_early[way]), .due_b_o (way_due_b[way]), .due_r_o (way_due_r[way])
    );
    always_comb begin
      // The other path sees nothing.
      if (dut.is_open && dut.is_coherent_q != way[0]) begin
        assert (!aw_valids[way] && !w_valids[way] && !ar_valids[way] && !b_readies[way] && !r_readies[way]);
      end
      if (b_valid && dut.is_coherent_q == way[0]) assert (way_b_valid_i[way] && b_resp == way_b_resp_i[way]);
      if (r_valid && dut.is_coherent_q == way[0]) begin
        assert (way_r_valid_i[way] && r == {way_r_data_i[way], way_r_resp_i[way]} && r_last == way_r_last_i[way]);
      end
      // The state of the block is what the channels showed.
      assert (way_owes[way] == (owes && dut.is_coherent_q == way[0]));
      assert (way_early[way] == (early && dut.is_coherent_q == way[0]));
      assert (way_due_b[way] == (due_b && dut.is_coherent_q == way[0]));
      assert (way_due_r[way] == (due_r && dut.is_coherent_q == way[0]));
    end
  end
  // What it counts is what the channels showed.
  always_comb begin
    assert (dut.reads_q == due_r);
    assert (dut.writes_q == (owes || due_b));
    assert (dut.owed_q == (owes ? 2'sb01 : early ? 2'sb11 : 2'sb00));
    assert (dut.is_within_q == u_manager.beat_q);
    if (dut.waits_q) assert (aw_valid_i || w_valid_i || ar_valid_i);
  end
endmodule
