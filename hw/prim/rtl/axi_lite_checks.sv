// This module checks the rules of AXI4-Lite on one port, in simulation only (AMBA AXI and ACE protocol
// specification, IHI 0022, chapters A3 and B1).
//
// It only observes, and drives nothing. It is instantiated next to the observed port, inside of `ifndef
// SYNTHESIS`. The names of assertions say which side is at fault: the manager (requests) or
// the subordinate (responses).
//
// It does not check that an access ends, because each block defines how long a response may take.

`include "assert.svh"

module axi_lite_checks
  import hartlock_axi_pkg::*;
#(
  // This is the most accesses that are outstanding in one direction; more would be an error of a counter, here
  // or in the block.
  parameter int unsigned MaxOutstanding = 16
) (
  // These are both directions of the observed port.
  input logic       clk_i,
  input logic       rst_ni,
  input axil_req_t  req_i,
  input axil_resp_t resp_i
);
  localparam int unsigned CountBits = $clog2(MaxOutstanding + 1);
  typedef logic [CountBits-1:0] count_t;
  localparam count_t Limit = count_t'(MaxOutstanding);

  // Before the first reset no rule holds: signals may have any value, and the clock may rise.
  logic live_q;
  initial live_q = 1'b0;
  // The first reset sets this flag, and nothing clears it.
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) live_q <= 1'b1;

  // These count what was accepted and not answered yet. Address and data of a write are separate.
  count_t aw_q, w_q, ar_q;
  logic aw, w, b, ar, r;
  assign aw = req_i.aw_valid & resp_i.aw_ready;
  assign w  = req_i.w_valid & resp_i.w_ready;
  assign b  = resp_i.b_valid & req_i.b_ready;
  assign ar = req_i.ar_valid & resp_i.ar_ready;
  assign r  = resp_i.r_valid & req_i.r_ready;

  // There is a counter for each channel of requests. They are enough because AXI4-Lite has no ids, so responses
  // come in the order of the requests.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_q <= '0;
      w_q  <= '0;
      ar_q <= '0;
    end else begin
      aw_q <= aw_q + count_t'(aw) - count_t'(b);
      w_q  <= w_q + count_t'(w) - count_t'(b);
      ar_q <= ar_q + count_t'(ar) - count_t'(r);
    end
  end

  // `valid` and its payload stay unchanged until `ready` (A3.2.1). Otherwise a request or a response is lost,
  // or becomes another one.
  `ASSERT(ManagerKeepsAw_A, live_q & $past(req_i.aw_valid & ~resp_i.aw_ready) |-> req_i.aw_valid & $stable(req_i.aw_addr))
  `ASSERT(ManagerKeepsW_A, live_q & $past(req_i.w_valid & ~resp_i.w_ready) |-> req_i.w_valid & $stable({req_i.w_data, req_i.w_strb}))
  `ASSERT(ManagerKeepsAr_A, live_q & $past(req_i.ar_valid & ~resp_i.ar_ready) |-> req_i.ar_valid & $stable(req_i.ar_addr))
  `ASSERT(SubordinateKeepsB_A, live_q & $past(resp_i.b_valid & ~req_i.b_ready) |-> resp_i.b_valid & $stable(resp_i.b_resp))
  `ASSERT(SubordinateKeepsR_A,
          live_q & $past(resp_i.r_valid & ~req_i.r_ready) |-> resp_i.r_valid & $stable({resp_i.r_data, resp_i.r_resp}))

  // A response follows its request, and that of a write follows its data as well (A3.3.1).
  `ASSERT(SubordinateAnswersWrites_A, live_q & resp_i.b_valid |-> aw_q != '0 && w_q != '0)
  `ASSERT(SubordinateAnswersReads_A, live_q & resp_i.r_valid |-> ar_q != '0)

  // There is no exclusive access, so there is no response to one (B1.1.1).
  `ASSERT(SubordinateKnowsNoExclusiveWrite_A, live_q & resp_i.b_valid |-> resp_i.b_resp != 2'b01)
  `ASSERT(SubordinateKnowsNoExclusiveRead_A, live_q & resp_i.r_valid |-> resp_i.r_resp != 2'b01)

  // A counter that overflows would make the rules above meaningless.
  `ASSERT(NothingOverflows_A,
          live_q |-> aw_q < Limit && w_q < Limit && ar_q < Limit)

  // No `valid` is high in the cycle in which reset ends (A3.1.2), because the other side may not be out of
  // reset yet.
  `ASSERT(NothingIsOfferedAtReset_A,
          live_q & !$past(rst_ni) |-> ~(req_i.aw_valid | req_i.w_valid | req_i.ar_valid | resp_i.b_valid | resp_i.r_valid))
endmodule
