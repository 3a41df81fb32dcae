// This module checks the rules of AXI4-Lite on one port, in simulation only (AMBA AXI and ACE protocol
// specification, IHI 0022, chapters A3 and B1).
//
// It only observes, and drives nothing. It is instantiated next to the observed port, inside of `ifndef
// SYNTHESIS`, or is bound to it. The names of assertions say which side is at fault: the manager (requests) or
// the subordinate (responses).
//
// It does not check that an access ends, because each block defines how long a response may take.

`include "assert.svh"

module axi_lite_checks #(
  // These are the widths of addresses and data of the port.
  parameter int unsigned AddrBits       = 32,
  parameter int unsigned DataBits       = 32,
  // This is the most accesses that are outstanding in one direction; more would be an error of a counter, here
  // or in the block.
  parameter int unsigned MaxOutstanding = 16
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  // These are the signals of the channel of write addresses.
  input logic                  awvalid_i,
  input logic                  awready_i,
  input logic [AddrBits-1:0]   awaddr_i,
  // These are the signals of the channel of write data.
  input logic                  wvalid_i,
  input logic                  wready_i,
  input logic [DataBits-1:0]   wdata_i,
  input logic [DataBits/8-1:0] wstrb_i,
  // These are the signals of the channel of write responses.
  input logic                  bvalid_i,
  input logic                  bready_i,
  input logic [1:0]            bresp_i,
  // These are the signals of the channel of read addresses, and `rvalid_i` of read data.
  input logic                  arvalid_i,
  input logic                  arready_i,
  input logic [AddrBits-1:0]   araddr_i,
  input logic                  rvalid_i,
  // These are the other signals of the channel of read data and its response.
  input logic                  rready_i,
  input logic [DataBits-1:0]   rdata_i,
  input logic [1:0]            rresp_i
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
  assign aw = awvalid_i & awready_i;
  assign w  = wvalid_i & wready_i;
  assign b  = bvalid_i & bready_i;
  assign ar = arvalid_i & arready_i;
  assign r  = rvalid_i & rready_i;

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
  `ASSERT(ManagerKeepsAw_A, live_q & $past(awvalid_i & ~awready_i) |-> awvalid_i & $stable(awaddr_i))
  `ASSERT(ManagerKeepsW_A, live_q & $past(wvalid_i & ~wready_i) |-> wvalid_i & $stable({wdata_i, wstrb_i}))
  `ASSERT(ManagerKeepsAr_A, live_q & $past(arvalid_i & ~arready_i) |-> arvalid_i & $stable(araddr_i))
  `ASSERT(SubordinateKeepsB_A, live_q & $past(bvalid_i & ~bready_i) |-> bvalid_i & $stable(bresp_i))
  `ASSERT(SubordinateKeepsR_A,
          live_q & $past(rvalid_i & ~rready_i) |-> rvalid_i & $stable({rdata_i, rresp_i}))

  // A response follows its request, and that of a write follows its data as well (A3.3.1).
  `ASSERT(SubordinateAnswersWrites_A, live_q & bvalid_i |-> aw_q != '0 && w_q != '0)
  `ASSERT(SubordinateAnswersReads_A, live_q & rvalid_i |-> ar_q != '0)

  // There is no exclusive access, so there is no response to one (B1.1.1).
  `ASSERT(SubordinateKnowsNoExclusiveWrite_A, live_q & bvalid_i |-> bresp_i != 2'b01)
  `ASSERT(SubordinateKnowsNoExclusiveRead_A, live_q & rvalid_i |-> rresp_i != 2'b01)

  // A counter that overflows would make the rules above meaningless.
  `ASSERT(NothingOverflows_A,
          live_q |-> aw_q < Limit && w_q < Limit && ar_q < Limit)

  // No `valid` is high in the cycle in which reset ends (A3.1.2), because the other side may not be out of
  // reset yet.
  `ASSERT(NothingIsOfferedAtReset_A,
          live_q & !$past(rst_ni) |-> ~(awvalid_i | wvalid_i | arvalid_i | bvalid_i | rvalid_i))
endmodule
