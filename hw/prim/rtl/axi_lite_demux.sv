// Routes one AXI4-Lite port to several targets: the register bus of the root of trust.
//
// The instantiating module selects a target for each direction, from the address. One read and one
// write are outstanding at a time. This block answers an access without a target, or to an empty
// page, with DECERR (AMBA AXI §A3.4.4).
//
// Everything passes without a register, so the block adds no latency. A response and the next
// address do not share a cycle. Reset forgets open accesses. Nothing here is hardened.

`include "assert.svh"

module axi_lite_demux
  import hartlock_axi_pkg::*;
#(
  // Number of targets.
  parameter int unsigned NumTargets = 4,
  // 0 builds a variant in which write data pass their address, to show that the test detects it.
  parameter bit          HoldsData  = 1'b1
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  // The port. A selection is one-hot, or zero for an access without a target, and belongs to the
  // address.
  input  logic [NumTargets-1:0]       aw_select_i,
  input  logic [NumTargets-1:0]       ar_select_i,
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // The targets. Address and data of an access are in the requests to all of them.
  output axil_req_t [NumTargets-1:0]  target_o,
  input  axil_resp_t [NumTargets-1:0] target_i
);
  // Handshakes of the targets, a bit for each.
  logic [NumTargets-1:0] target_aw_valid, target_aw_ready, target_w_valid, target_w_ready, target_b_valid, target_b_ready;
  logic [NumTargets-1:0] target_ar_valid, target_ar_ready, target_r_valid, target_r_ready;

  // Address, data and strobes pass to all targets.
  for (genvar target = 0; target < NumTargets; target++) begin : gen_target
    assign target_aw_ready[target] = target_i[target].aw_ready;
    assign target_w_ready[target]  = target_i[target].w_ready;
    assign target_b_valid[target]  = target_i[target].b_valid;
    assign target_ar_ready[target] = target_i[target].ar_ready;
    assign target_r_valid[target]  = target_i[target].r_valid;
    assign target_o[target] = '{
      aw_valid: target_aw_valid[target], aw_addr: axil_i.aw_addr,
      w_valid:  target_w_valid[target], w_data: axil_i.w_data, w_strb: axil_i.w_strb,
      b_ready:  target_b_ready[target],
      ar_valid: target_ar_valid[target], ar_addr: axil_i.ar_addr,
      r_ready:  target_r_ready[target]
    };
  end

  // --- writes ---
  // The target of a write, from its address on, and the parts of the write that have passed.
  logic [NumTargets-1:0] w_owner_d, w_owner_q, w_target;
  logic                  aw_done_d, aw_done_q, w_done_d, w_done_q;
  logic                  w_may_pass, b_is_own;

  // A write ends when its response is taken; address and data may pass in any order until then.
  assign w_target          = aw_done_q ? w_owner_q : aw_select_i;
  assign target_aw_valid = (axil_i.aw_valid && !aw_done_q) ? aw_select_i : '0;
  assign axil_o.aw_ready        = ~aw_done_q & ((aw_select_i == '0) |
                                           (|(aw_select_i & target_aw_ready)));
  // Data that come before their address wait, because their target is not known yet.
  assign w_may_pass        = ~w_done_q & (aw_done_q | axil_i.aw_valid | ~HoldsData);
  assign target_w_valid  = (axil_i.w_valid && w_may_pass) ? w_target : '0;
  assign axil_o.w_ready         = w_may_pass & ((w_target == '0) | (|(w_target & target_w_ready)));

  // A write without a target passes both parts, too, so that the port is free for the next one.
  assign b_is_own          = aw_done_q & w_done_q & (w_owner_q == '0);
  assign axil_o.b_valid         = b_is_own | (aw_done_q & w_done_q & (|(w_owner_q & target_b_valid)));
  assign target_b_ready  = (axil_i.b_ready && aw_done_q && w_done_q) ? w_owner_q : '0;

  // The response of the owner, or DECERR if there is none. Owners are one-hot, so that the selection is an OR of
  // all masked responses, without a priority.
  always_comb begin
    axil_o.b_resp = b_is_own ? RespDecerr : RespOkay;
    for (int unsigned target = 0; target < NumTargets; target++) begin
      if (w_owner_q[target]) axil_o.b_resp |= target_i[target].b_resp;
    end
  end

  // Each part of a write is marked as it passes; the owner is kept with the address. The response ends both,
  // because a second address may only come when the first write is complete.
  always_comb begin
    aw_done_d = aw_done_q | (axil_i.aw_valid & axil_o.aw_ready);
    w_done_d  = w_done_q | (axil_i.w_valid & axil_o.w_ready);
    w_owner_d = (axil_i.aw_valid && axil_o.aw_ready) ? aw_select_i : w_owner_q;
    if (axil_o.b_valid && axil_i.b_ready) begin
      aw_done_d = 1'b0;
      w_done_d  = 1'b0;
    end
  end

  // --- reads ---
  // The target that took the address answers; until then no other address passes.
  logic [NumTargets-1:0] r_owner_d, r_owner_q;
  logic                  ar_done_d, ar_done_q, r_is_own;

  assign target_ar_valid = (axil_i.ar_valid && !ar_done_q) ? ar_select_i : '0;
  assign axil_o.ar_ready        = ~ar_done_q & ((ar_select_i == '0) |
                                           (|(ar_select_i & target_ar_ready)));
  assign r_is_own          = ar_done_q & (r_owner_q == '0);
  assign axil_o.r_valid         = r_is_own | (ar_done_q & (|(r_owner_q & target_r_valid)));
  assign target_r_ready  = (axil_i.r_ready && ar_done_q) ? r_owner_q : '0;

  // Zeros for a read without a target: no register of another block shows through.
  always_comb begin
    axil_o.r_data = '0;
    axil_o.r_resp = r_is_own ? RespDecerr : RespOkay;
    for (int unsigned target = 0; target < NumTargets; target++) begin
      if (r_owner_q[target]) begin
        axil_o.r_data |= target_i[target].r_data;
        axil_o.r_resp |= target_i[target].r_resp;
      end
    end
  end

  // A read is open from its address to its data, and its owner is constant meanwhile. The response and the
  // next address do not share a cycle: this costs one cycle of throughput and avoids a path between them.
  always_comb begin
    ar_done_d = (ar_done_q | (axil_i.ar_valid & axil_o.ar_ready)) & ~(axil_o.r_valid & axil_i.r_ready);
    r_owner_d = (axil_i.ar_valid && axil_o.ar_ready) ? ar_select_i : r_owner_q;
  end

  // State of both directions. After reset nothing is open, and the port takes addresses at once.
  flop_cell #(.Width(2))          u_write   (.clk_i, .rst_ni, .d_i({aw_done_d, w_done_d}), .q_o({aw_done_q, w_done_q}));
  flop_cell #(.Width(1))          u_read    (.clk_i, .rst_ni, .d_i(ar_done_d),             .q_o(ar_done_q));
  flop_cell #(.Width(NumTargets)) u_w_owner (.clk_i, .rst_ni, .d_i(w_owner_d),             .q_o(w_owner_q));
  flop_cell #(.Width(NumTargets)) u_r_owner (.clk_i, .rst_ni, .d_i(r_owner_d),             .q_o(r_owner_q));

  // An access never reaches two blocks.
  `ASSERT(OneTargetAtATime_A, $onehot0(target_aw_valid) && $onehot0(target_ar_valid))
  // AMBA AXI §A3.2.1: a response stays until it is taken.
  `ASSERT(BWaitsForReady_A, axil_o.b_valid && !axil_i.b_ready |=> axil_o.b_valid && $stable(axil_o.b_resp))
  `ASSERT(RWaitsForReady_A,
          axil_o.r_valid && !axil_i.r_ready |=> axil_o.r_valid && $stable(axil_o.r_data) && $stable(axil_o.r_resp))
  // Write data never reach a target that their address has not selected.
  `ASSERT(NoDataBeforeItsAddress_A, HoldsData && axil_i.w_valid && axil_o.w_ready |->
          axil_i.aw_valid || aw_done_q)
  // No target can answer a read that was not sent to it.
  `ASSERT(NoResponseUnasked_A, !ar_done_q |-> !axil_o.r_valid)
  // A write is confirmed only after both of its parts have passed.
  `ASSERT(NoConfirmationBeforeTheData_A, !(aw_done_q && w_done_q) |-> !axil_o.b_valid)
  // An access without a target shows no register of any block.
  `ASSERT(NobodysDataAreZero_A, axil_o.r_valid && r_owner_q == '0 |-> axil_o.r_data == '0 && axil_o.r_resp == RespDecerr)
endmodule
