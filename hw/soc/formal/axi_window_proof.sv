// Proof of `axi_window`: rules of all channels, which side an access reaches, and a bound of every wait. Handshakes have
// ports of their own, for the search for paths from a ready to a valid, which finds ports by their names.

module axi_window_proof
  import hartlock_axi_pkg::*;
#(
  parameter bit          WordsOnly  = 1'b1,
  parameter bit          OffersData = 1'b1,
  parameter int unsigned MaxCycles = 20
) (
  input logic        clk_i,
  input logic        aw_valid_i,
  input logic        aw_window_i,
  input logic        aw_id_i,
  input logic [7:0]  aw_len_i,
  input logic [2:0]  aw_size_i,
  input logic [11:0] aw_addr_i,
  input logic        w_valid_i,
  input logic [63:0] w_data_i,
  input logic [7:0]  w_strb_i,
  input logic        w_last_i,
  input logic        b_ready_i,
  input logic        ar_valid_i,
  input logic        ar_window_i,
  input logic        ar_id_i,
  input logic [7:0]  ar_len_i,
  input logic [2:0]  ar_size_i,
  input logic [11:0] ar_addr_i,
  input logic        r_ready_i,
  // Index 0 is the outer port, 1 the registers.
  input logic [1:0]       side_aw_ready_i,
  input logic [1:0]       side_w_ready_i,
  input logic [1:0]       side_b_valid_i,
  input logic [1:0][1:0]  side_b_resp_i,
  input logic [1:0]       side_ar_ready_i,
  input logic [1:0]       side_r_valid_i,
  input logic [1:0][63:0] side_r_data_i,
  input logic [1:0][1:0]  side_r_resp_i,
  input logic             outer_r_last_i,
  output logic            aw_ready_o,
  output logic            w_ready_o,
  output logic            b_valid_o,
  output logic            ar_ready_o,
  output logic            r_valid_o,
  output logic [1:0]      side_aw_valid_o,
  output logic [1:0]      side_w_valid_o,
  output logic [1:0]      side_ar_valid_o
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic        aw_ready, w_ready, b_valid, ar_ready, r_valid, r_last, b_id, r_id;
  logic [1:0]  b_resp, r_resp, aw_valids, w_valids, b_readies, ar_valids, r_readies;
  logic [63:0] r_data;
  logic [11:0] lite_aw_addr, lite_ar_addr;
  logic [31:0] lite_w_data;
  logic [3:0]  lite_w_strb;

  axi_req_t   req, outer_req;
  axi_resp_t  resp, outer_resp;
  axil_req_t  lite_req;
  axil_resp_t lite_resp;
  // Bits of an id above the lowest, and of an address above the window, pass unchanged.
  assign req = '{
    aw_valid: aw_valid_i, aw_id: IdBits'(aw_id_i),
    aw: '{addr: 32'(aw_addr_i), len: aw_len_i, size: aw_size_i, burst: 2'b01},
    w_valid: w_valid_i, w_data: w_data_i, w_strb: w_strb_i, w_last: w_last_i, b_ready: b_ready_i,
    ar_valid: ar_valid_i, ar_id: IdBits'(ar_id_i),
    ar: '{addr: 32'(ar_addr_i), len: ar_len_i, size: ar_size_i, burst: 2'b01}, r_ready: r_ready_i
  };
  assign outer_resp = '{
    aw_ready: side_aw_ready_i[0], w_ready: side_w_ready_i[0], b_valid: side_b_valid_i[0], b_id: '0,
    b_resp: side_b_resp_i[0], ar_ready: side_ar_ready_i[0], r_valid: side_r_valid_i[0], r_id: '0,
    r_data: side_r_data_i[0], r_resp: side_r_resp_i[0], r_last: outer_r_last_i
  };
  assign lite_resp = '{
    aw_ready: side_aw_ready_i[1], w_ready: side_w_ready_i[1], b_valid: side_b_valid_i[1], b_resp: side_b_resp_i[1],
    ar_ready: side_ar_ready_i[1], r_valid: side_r_valid_i[1], r_data: side_r_data_i[1][31:0], r_resp: side_r_resp_i[1]
  };
  assign {aw_ready, w_ready, b_valid, b_id, b_resp} =
         {resp.aw_ready, resp.w_ready, resp.b_valid, resp.b_id[0], resp.b_resp};
  assign {ar_ready, r_valid, r_id, r_data, r_resp, r_last} =
         {resp.ar_ready, resp.r_valid, resp.r_id[0], resp.r_data, resp.r_resp, resp.r_last};
  assign aw_valids = {lite_req.aw_valid, outer_req.aw_valid};
  assign w_valids  = {lite_req.w_valid, outer_req.w_valid};
  assign b_readies = {lite_req.b_ready, outer_req.b_ready};
  assign ar_valids = {lite_req.ar_valid, outer_req.ar_valid};
  assign r_readies = {lite_req.r_ready, outer_req.r_ready};
  assign {lite_aw_addr, lite_ar_addr} = {lite_req.aw_addr, lite_req.ar_addr};
  assign {lite_w_data, lite_w_strb}   = {lite_req.w_data, lite_req.w_strb};
  assign {aw_ready_o, w_ready_o, b_valid_o, ar_ready_o, r_valid_o} = {aw_ready, w_ready, b_valid, ar_ready, r_valid};
  assign {side_aw_valid_o, side_w_valid_o, side_ar_valid_o}        = {aw_valids, w_valids, ar_valids};

  axi_window #(.WordsOnly(WordsOnly), .OffersData(OffersData)) dut (
    .clk_i, .rst_ni, .aw_window_i, .ar_window_i, .axi_i (req), .axi_o (resp),
    .outer_axi_o (outer_req), .outer_axi_i (outer_resp), .lite_axil_o (lite_req), .lite_axil_i (lite_resp)
  );

  // Which side an access is for: 0 the outer port, 1 the registers, 2 neither.
  function automatic logic [1:0] kind_of(logic window, logic [7:0] len, logic [2:0] size);
    if (!window) return 2'd0;
    return (len == '0 && size <= 3'd2) ? 2'd1 : 2'd2;
  endfunction
  logic [1:0] aw_kind, ar_kind, w_kind_q, r_kind_q;
  assign aw_kind = kind_of(aw_window_i, aw_len_i, aw_size_i);
  assign ar_kind = kind_of(ar_window_i, ar_len_i, ar_size_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_kind_q <= '0;
      r_kind_q <= '0;
    end else begin
      if (aw_valid_i && aw_ready) w_kind_q <= aw_kind;
      if (ar_valid_i && ar_ready) r_kind_q <= ar_kind;
    end
  end

  // Bursts of one or two beats; an access of one beat has one.
  always_comb begin
    assume (aw_len_i <= 8'd1 && ar_len_i <= 8'd1);
    if (w_valids[1]) assume (w_last_i);
  end

  logic owes, early, due_b, due_r;
  fair_manager #(.MaxCycles(MaxCycles), .AwBits(25), .WBits(72), .ArBits(25), .BBits(3), .RBits(67)) u_host (
    .clk_i, .rst_ni,
    .aw_valid_i, .aw_ready_i (aw_ready), .aw_i ({aw_window_i, aw_id_i, aw_len_i, aw_size_i, aw_addr_i}),
    .w_valid_i, .w_ready_i (w_ready), .w_i ({w_data_i, w_strb_i}), .w_last_i,
    .b_valid_i (b_valid), .b_ready_i, .b_i ({b_id, b_resp}),
    .ar_valid_i, .ar_ready_i (ar_ready), .ar_i ({ar_window_i, ar_id_i, ar_len_i, ar_size_i, ar_addr_i}),
    .r_valid_i (r_valid), .r_ready_i, .r_i ({r_id, r_data, r_resp}), .r_last_i (r_last),
    .owes_o (owes), .early_o (early), .due_b_o (due_b), .due_r_o (due_r)
  );

  logic [1:0] side_owes, side_early, side_due_b, side_due_r;
  fair_subordinate #(.AwBits(24), .WBits(73), .ArBits(24), .BBits(2), .RBits(66)) u_outer (
    .clk_i, .rst_ni,
    .aw_valid_i (aw_valids[0]), .aw_ready_i (side_aw_ready_i[0]), .aw_i ({outer_req.aw_id[0], outer_req.aw.len, outer_req.aw.size, outer_req.aw.addr[11:0]}),
    .w_valid_i (w_valids[0]), .w_ready_i (side_w_ready_i[0]), .w_i ({outer_req.w_data, outer_req.w_strb, outer_req.w_last}),
    .w_last_i (outer_req.w_last),
    .b_valid_i (side_b_valid_i[0]), .b_ready_i (b_readies[0]), .b_i (side_b_resp_i[0]),
    .ar_valid_i (ar_valids[0]), .ar_ready_i (side_ar_ready_i[0]), .ar_i ({outer_req.ar_id[0], outer_req.ar.len, outer_req.ar.size, outer_req.ar.addr[11:0]}),
    .r_valid_i (side_r_valid_i[0]), .r_ready_i (r_readies[0]), .r_i ({side_r_data_i[0], side_r_resp_i[0]}),
    .r_last_i (outer_r_last_i),
    .owes_o (side_owes[0]), .early_o (side_early[0]), .due_b_o (side_due_b[0]), .due_r_o (side_due_r[0])
  );
  fair_subordinate #(.AwBits(12), .WBits(36), .ArBits(12), .BBits(2), .RBits(34)) u_registers (
    .clk_i, .rst_ni,
    .aw_valid_i (aw_valids[1]), .aw_ready_i (side_aw_ready_i[1]), .aw_i (lite_aw_addr),
    .w_valid_i (w_valids[1]), .w_ready_i (side_w_ready_i[1]), .w_i ({lite_w_data, lite_w_strb}), .w_last_i (1'b1),
    .b_valid_i (side_b_valid_i[1]), .b_ready_i (b_readies[1]), .b_i (side_b_resp_i[1]),
    .ar_valid_i (ar_valids[1]), .ar_ready_i (side_ar_ready_i[1]), .ar_i (lite_ar_addr),
    .r_valid_i (side_r_valid_i[1]), .r_ready_i (r_readies[1]), .r_i ({side_r_data_i[1][31:0], side_r_resp_i[1]}),
    .r_last_i (1'b1),
    .owes_o (side_owes[1]), .early_o (side_early[1]), .due_b_o (side_due_b[1]), .due_r_o (side_due_r[1])
  );

  // --- who gets what ---
  always_comb begin
    for (int unsigned side = 0; side < 2; side++) begin
      if (aw_valids[side]) assert (aw_valid_i && aw_kind == 2'(side));
      if (ar_valids[side]) assert (ar_valid_i && ar_kind == 2'(side));
      // Data of the open write, or of the one whose address is offered.
      if (w_valids[side]) assert (w_valid_i && (owes ? w_kind_q : aw_kind) == 2'(side));
      if (b_readies[side]) assert (w_kind_q == 2'(side));
    end
    // What is outside of the window passes unchanged.
    if (aw_valids[0]) assert (outer_req.aw == req.aw && outer_req.aw_id == req.aw_id);
    if (ar_valids[0]) assert (outer_req.ar == req.ar && outer_req.ar_id == req.ar_id);
    if (w_valids[0]) assert (outer_req.w_data == w_data_i && outer_req.w_strb == w_strb_i);
    if (w_valids[0]) assert (outer_req.w_last == w_last_i);
    if (aw_valids[1]) assert (lite_aw_addr == aw_addr_i);
    if (ar_valids[1]) assert (lite_ar_addr == ar_addr_i);
    if (b_valid && w_kind_q == 2'd2) assert (b_resp == RespSlverr);
    if (b_valid && !w_kind_q[1]) assert (b_resp == side_b_resp_i[w_kind_q[0]]);
    if (r_valid && r_kind_q == 2'd2) assert (r_resp == RespSlverr && r_data == '0);
    if (r_valid && r_kind_q == 2'd0) assert (r_resp == side_r_resp_i[0] && r_data == side_r_data_i[0]);
    if (r_valid && r_kind_q == 2'd1) assert (r_resp == side_r_resp_i[1] && r_data == {2{side_r_data_i[1][31:0]}});
  end

  // --- the state of the block is what the channels showed ---
  logic is_writing, is_reading;
  assign is_writing = dut.w_route_q != 2'd0;
  assign is_reading = dut.r_route_q != 2'd0;
  always_comb begin
    if (is_writing) assert (dut.w_route_q == w_kind_q + 2'd1);
    if (is_reading) assert (dut.r_route_q == r_kind_q + 2'd1);
    if (is_reading) assert (dut.r_left_q <= 8'd1 || r_kind_q != 2'd2);
    assert (owes == (is_writing && !dut.w_done_q));
    assert (early == (!is_writing && dut.w_done_q));
    if (early) assert (aw_valid_i && aw_kind != 2'd2);
    assert (due_b == (is_writing && dut.w_done_q));
    assert (due_r == is_reading);
    for (int unsigned side = 0; side < 2; side++) begin
      assert (side_owes[side] == (owes && w_kind_q == 2'(side)));
      assert (side_early[side] == (early && aw_kind == 2'(side)));
      assert (side_due_b[side] == (due_b && w_kind_q == 2'(side)));
      assert (side_due_r[side] == (due_r && r_kind_q == 2'(side)));
    end
  end
endmodule
