// Routes one AXI4-Lite port to several targets: the register bus of the root of trust.
//
// The instantiating module selects a target for each direction, from the address. One read and one
// write are outstanding at a time. This block answers an access without a target, or to an empty
// page, with DECERR (AMBA AXI §A3.4.4).
//
// Address, protection, write data and strobes bypass this block; it routes handshakes and
// responses. These pass without a register, so the block adds no latency. A response and the next
// address do not share a cycle. Reset forgets open accesses. Nothing here is hardened.

`include "assert.svh"

module axi_lite_demux
  import soc_pkg::*;
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
  // Write address.
  input  logic [NumTargets-1:0]       aw_select_i,
  input  logic                        aw_valid_i,
  output logic                        aw_ready_o,
  // Write data.
  input  logic                        w_valid_i,
  output logic                        w_ready_o,
  // Write response.
  output logic                        b_valid_o,
  input  logic                        b_ready_i,
  output logic [1:0]                  b_resp_o,
  // Read address.
  input  logic [NumTargets-1:0]       ar_select_i,
  input  logic                        ar_valid_i,
  output logic                        ar_ready_o,
  // Read data and response.
  output logic                        r_valid_o,
  input  logic                        r_ready_i,
  output logic [31:0]                 r_data_o,
  output logic [1:0]                  r_resp_o,

  // The targets, one bit or word for each.
  // Write address.
  output logic [NumTargets-1:0]       target_aw_valid_o,
  input  logic [NumTargets-1:0]       target_aw_ready_i,
  // Write data.
  output logic [NumTargets-1:0]       target_w_valid_o,
  input  logic [NumTargets-1:0]       target_w_ready_i,
  // Write response.
  input  logic [NumTargets-1:0]       target_b_valid_i,
  output logic [NumTargets-1:0]       target_b_ready_o,
  input  logic [NumTargets-1:0][1:0]  target_b_resp_i,
  // Read address.
  output logic [NumTargets-1:0]       target_ar_valid_o,
  input  logic [NumTargets-1:0]       target_ar_ready_i,
  // Read data and response.
  input  logic [NumTargets-1:0]       target_r_valid_i,
  output logic [NumTargets-1:0]       target_r_ready_o,
  input  logic [NumTargets-1:0][31:0] target_r_data_i,
  input  logic [NumTargets-1:0][1:0]  target_r_resp_i
);
  // --- writes ---
  // The target of a write, from its address on, and the parts of the write that have passed.
  logic [NumTargets-1:0] w_owner_d, w_owner_q, w_target;
  logic                  aw_done_d, aw_done_q, w_done_d, w_done_q;
  logic                  w_may_pass, b_is_own;

  // A write ends when its response is taken; address and data may pass in any order until then.
  assign w_target          = aw_done_q ? w_owner_q : aw_select_i;
  assign target_aw_valid_o = (aw_valid_i && !aw_done_q) ? aw_select_i : '0;
  assign aw_ready_o        = ~aw_done_q & ((aw_select_i == '0) |
                                           (|(aw_select_i & target_aw_ready_i)));
  // Data that come before their address wait, because their target is not known yet.
  assign w_may_pass        = ~w_done_q & (aw_done_q | aw_valid_i | ~HoldsData);
  assign target_w_valid_o  = (w_valid_i && w_may_pass) ? w_target : '0;
  assign w_ready_o         = w_may_pass & ((w_target == '0) | (|(w_target & target_w_ready_i)));

  // A write without a target passes both parts, too, so that the port is free for the next one.
  assign b_is_own          = aw_done_q & w_done_q & (w_owner_q == '0);
  assign b_valid_o         = b_is_own | (aw_done_q & w_done_q & (|(w_owner_q & target_b_valid_i)));
  assign target_b_ready_o  = (b_ready_i && aw_done_q && w_done_q) ? w_owner_q : '0;

  // The response of the owner, or DECERR if there is none. Owners are one-hot, so that the selection is an OR of
  // all masked responses, without a priority.
  always_comb begin
    b_resp_o = b_is_own ? RespDecerr : RespOkay;
    for (int unsigned target = 0; target < NumTargets; target++) begin
      if (w_owner_q[target]) b_resp_o |= target_b_resp_i[target];
    end
  end

  // Each part of a write is marked as it passes; the owner is kept with the address. The response ends both,
  // because a second address may only come when the first write is complete.
  always_comb begin
    aw_done_d = aw_done_q | (aw_valid_i & aw_ready_o);
    w_done_d  = w_done_q | (w_valid_i & w_ready_o);
    w_owner_d = (aw_valid_i && aw_ready_o) ? aw_select_i : w_owner_q;
    if (b_valid_o && b_ready_i) begin
      aw_done_d = 1'b0;
      w_done_d  = 1'b0;
    end
  end

  // --- reads ---
  // The target that took the address answers; until then no other address passes.
  logic [NumTargets-1:0] r_owner_d, r_owner_q;
  logic                  ar_done_d, ar_done_q, r_is_own;

  assign target_ar_valid_o = (ar_valid_i && !ar_done_q) ? ar_select_i : '0;
  assign ar_ready_o        = ~ar_done_q & ((ar_select_i == '0) |
                                           (|(ar_select_i & target_ar_ready_i)));
  assign r_is_own          = ar_done_q & (r_owner_q == '0);
  assign r_valid_o         = r_is_own | (ar_done_q & (|(r_owner_q & target_r_valid_i)));
  assign target_r_ready_o  = (r_ready_i && ar_done_q) ? r_owner_q : '0;

  // Zeros for a read without a target: no register of another block shows through.
  always_comb begin
    r_data_o = '0;
    r_resp_o = r_is_own ? RespDecerr : RespOkay;
    for (int unsigned target = 0; target < NumTargets; target++) begin
      if (r_owner_q[target]) begin
        r_data_o |= target_r_data_i[target];
        r_resp_o |= target_r_resp_i[target];
      end
    end
  end

  // A read is open from its address to its data, and its owner is constant meanwhile. The response and the
  // next address do not share a cycle: this costs one cycle of throughput and avoids a path between them.
  always_comb begin
    ar_done_d = (ar_done_q | (ar_valid_i & ar_ready_o)) & ~(r_valid_o & r_ready_i);
    r_owner_d = (ar_valid_i && ar_ready_o) ? ar_select_i : r_owner_q;
  end

  // State of both directions. After reset nothing is open, and the port takes addresses at once.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_done_q <= 1'b0;
      w_done_q  <= 1'b0;
      w_owner_q <= '0;
      ar_done_q <= 1'b0;
      r_owner_q <= '0;
    end else begin
      aw_done_q <= aw_done_d;
      w_done_q  <= w_done_d;
      w_owner_q <= w_owner_d;
      ar_done_q <= ar_done_d;
      r_owner_q <= r_owner_d;
    end
  end

  // An access never reaches two blocks.
  `ASSERT(OneTargetAtATime_A, $onehot0(target_aw_valid_o) && $onehot0(target_ar_valid_o))
  // AMBA AXI §A3.2.1: a response stays until it is taken.
  `ASSERT(BWaitsForReady_A, b_valid_o && !b_ready_i |=> b_valid_o && $stable(b_resp_o))
  `ASSERT(RWaitsForReady_A,
          r_valid_o && !r_ready_i |=> r_valid_o && $stable(r_data_o) && $stable(r_resp_o))
  // Write data never reach a target that their address has not selected.
  `ASSERT(NoDataBeforeItsAddress_A, HoldsData && w_valid_i && w_ready_o |->
          aw_valid_i || aw_done_q)
  // No target can answer a read that was not sent to it.
  `ASSERT(NoResponseUnasked_A, !ar_done_q |-> !r_valid_o)
  // A write is confirmed only after both of its parts have passed.
  `ASSERT(NoConfirmationBeforeTheData_A, !(aw_done_q && w_done_q) |-> !b_valid_o)
  // An access without a target shows no register of any block.
  `ASSERT(NobodysDataAreZero_A, r_valid_o && r_owner_q == '0 |-> r_data_o == '0 && r_resp_o == RespDecerr)
endmodule
