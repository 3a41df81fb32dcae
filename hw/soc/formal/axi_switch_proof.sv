// Proof of `axi_switch`: whatever the selection does meanwhile, a transaction has one path, all channels keep their rules,
// and every wait has a bound. Handshakes have ports of their own, for the search for paths from a ready to a valid, which
// finds ports by their names.

module axi_switch_proof
  import hartlock_axi_pkg::*;
#(
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
  input logic [1:0]      way_r_last_i,
  output logic           b_valid_o,
  output logic           r_valid_o,
  output logic [1:0]     way_aw_valid_o,
  output logic [1:0]     way_w_valid_o,
  output logic [1:0]     way_ar_valid_o
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  axi_req_t         req;
  axi_resp_t        resp;
  axi_req_t  [1:0]  way_req;
  axi_resp_t [1:0]  way_resp;
  logic             aw_ready, w_ready, b_valid, ar_ready, r_valid, r_last;
  logic [1:0]       b_resp, aw_valids, w_valids, b_readies, ar_valids, r_readies;
  logic [9:0]       r;

  // Ids, addresses and data of writes are zero, and those of reads have eight bits: they pass unchanged.
  assign req = '{
    aw_valid: aw_valid_i, aw_id: '0, aw: '0, w_valid: w_valid_i, w_data: '0, w_strb: '0, w_last: w_last_i,
    b_ready: b_ready_i, ar_valid: ar_valid_i, ar_id: '0, ar: '0, r_ready: r_ready_i
  };
  assign {aw_ready, w_ready, b_valid, b_resp}    = {resp.aw_ready, resp.w_ready, resp.b_valid, resp.b_resp};
  assign {ar_ready, r_valid, r, r_last}          = {resp.ar_ready, resp.r_valid, resp.r_data[7:0], resp.r_resp, resp.r_last};
  assign {b_valid_o, r_valid_o}                  = {b_valid, r_valid};
  assign {way_aw_valid_o, way_w_valid_o, way_ar_valid_o} = {aw_valids, w_valids, ar_valids};
  for (genvar way = 0; way < 2; way++) begin : gen_port
    assign way_resp[way] = '{
      aw_ready: way_aw_ready_i[way], w_ready: way_w_ready_i[way], b_valid: way_b_valid_i[way], b_id: '0,
      b_resp: way_b_resp_i[way], ar_ready: way_ar_ready_i[way], r_valid: way_r_valid_i[way], r_id: '0,
      r_data: 64'(way_r_data_i[way]), r_resp: way_r_resp_i[way], r_last: way_r_last_i[way]
    };
    assign aw_valids[way] = way_req[way].aw_valid;
    assign w_valids[way]  = way_req[way].w_valid;
    assign b_readies[way] = way_req[way].b_ready;
    assign ar_valids[way] = way_req[way].ar_valid;
    assign r_readies[way] = way_req[way].r_ready;
  end

  // One read and one write at a time, each of at most two beats: the environment has no more.
  axi_switch #(.MaxOpen(1), .HoldsWay(HoldsWay)) dut (
    .clk_i, .rst_ni, .coherent_i, .axi_i (req), .axi_o (resp), .direct_axi_o (way_req[0]), .direct_axi_i (way_resp[0]),
    .coherent_axi_o (way_req[1]), .coherent_axi_i (way_resp[1])
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
