// A bridge from a port of Ibex's kind to AXI4, single beats of 32 bits, with the id 0. With
// `DataBits` of 32 words are on the lower half of the data whatever their address is, as AXI4-Lite
// needs them.
//
// One request is open at a time. A response with an error is an error for the core. A subordinate
// that answers late or never cannot stop the core: after `TimeoutCycles` the request has failed.
// AXI does not allow to withdraw a request (AMBA AXI §A3.2.1), so the bridge keeps it valid,
// discards its late answer, and refuses all requests until then. A write that failed in this way
// may still take effect.
//
// A grant comes at once, and again in the cycle of a response. `MinLatency` delays answers that
// come earlier than this many cycles after the grant. Reset forgets the open request; the bus has
// to be reset with the bridge. Nothing here is hardened.

`include "assert.svh"

module core_to_axi
  import hartlock_axi_pkg::*;
#(
  // Bits of data that the bus uses, 32 or 64, and the smallest number of cycles from a grant to its
  // response.
  parameter int unsigned DataBits      = 64,
  parameter int unsigned MinLatency    = 2,
  // Cycles after which a request has failed. 0 builds a bridge without a timeout.
  parameter int unsigned TimeoutCycles = 1000,
  // 0 builds a variant that hides errors of the bus, to show that the test detects it.
  parameter bit          ReportsErrors = 1'b1,
  localparam int unsigned LongestWait  = TimeoutCycles > MinLatency ? TimeoutCycles : MinLatency,
  localparam int unsigned AgeBits      = $clog2(LongestWait + 2)
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The core.
  input  logic        req_i,
  output logic        gnt_o,
  input  logic        we_i,
  input  logic [3:0]  be_i,
  input  logic [31:0] addr_i,
  input  logic [31:0] wdata_i,
  output logic        rvalid_o,
  output logic [31:0] rdata_o,
  output logic        err_o,

  // The bus. Both address channels have the address of the word.
  output axi_req_t    axi_o,
  input  axi_resp_t   axi_i
);
  localparam int unsigned Lanes    = DataBits / 32;
  localparam int unsigned LaneBits = Lanes > 1 ? $clog2(Lanes) : 1;

  // Channels that are still valid; the bus owes an answer; the core waits for one.
  logic aw_valid_d, aw_valid_q, w_valid_d, w_valid_q, ar_valid_d, ar_valid_q;
  logic bus_owes_d, bus_owes_q, core_waits_d, core_waits_q;
  // The answer, once it has come.
  logic done_d, done_q, err_d, err_q;
  logic [31:0] rdata_d, rdata_q;
  // Cycles since the grant; the counter saturates at the last relevant value.
  logic [AgeBits-1:0] age_d, age_q;

  // The open request.
  logic        we_q;
  logic [3:0]  be_q;
  logic [31:0] addr_q, wdata_q;

  logic grants, answered, expires, b_ready, r_ready;
  logic [LaneBits-1:0] lane;
  logic [31:0] lane_data;

  assign gnt_o    = ~core_waits_q | rvalid_o;
  assign grants   = req_i & gnt_o;
  assign answered = (axi_i.r_valid & r_ready) | (axi_i.b_valid & b_ready);
  assign expires  = (TimeoutCycles != 0) && (age_q >= AgeBits'(TimeoutCycles));
  assign rvalid_o = core_waits_q & done_q & (age_q >= AgeBits'(MinLatency));
  assign rdata_o  = rdata_q;
  assign err_o    = err_q;

  // Late answers are taken as well, and discarded.
  assign r_ready = bus_owes_q & ~we_q;
  assign b_ready = bus_owes_q & we_q;

  // The lanes of the word on the bus (AMBA AXI §A3.4.3).
  if (Lanes > 1) begin : gen_lanes
    assign lane = addr_q[2 +: LaneBits];
  end else begin : gen_no_lanes
    assign lane = '0;
  end
  assign lane_data = axi_i.r_data[32*lane +: 32];

  // Address and data of a write become valid together and are taken separately, in any order.
  //
  // Three steps, later ones with priority: handshakes and responses of the open request are completed;
  // an answer, or the timeout, completes it for the core; a grant begins the next one. A request
  // that timed out leaves `bus_owes` set, and until its answer has come every grant ends in an error.
  always_comb begin
    aw_valid_d   = aw_valid_q & ~axi_i.aw_ready;
    w_valid_d    = w_valid_q & ~axi_i.w_ready;
    ar_valid_d   = ar_valid_q & ~axi_i.ar_ready;
    bus_owes_d   = bus_owes_q & ~answered;
    core_waits_d = core_waits_q & ~rvalid_o;
    done_d       = done_q & ~rvalid_o;
    err_d        = err_q;
    rdata_d      = rdata_q;
    age_d        = (age_q == AgeBits'(LongestWait)) ? age_q : age_q + 1'b1;

    if (core_waits_q && !done_q) begin
      if (answered) begin
        done_d  = 1'b1;
        err_d   = ReportsErrors & (we_q ? axi_i.b_resp[1] : axi_i.r_resp[1]);
        // An error comes without data: the data of a failed access must not reach the core.
        rdata_d = (we_q || axi_i.r_resp[1]) ? '0 : lane_data;
      end else if (expires) begin
        done_d  = 1'b1;
        err_d   = 1'b1;
        rdata_d = '0;
      end
    end

    if (grants) begin
      core_waits_d = 1'b1;
      age_d        = AgeBits'(1);
      // While an old answer is outstanding, no request is sent, or that answer would be taken for the new one's.
      if (bus_owes_d) begin
        done_d  = 1'b1;
        err_d   = 1'b1;
        rdata_d = '0;
      end else begin
        aw_valid_d = we_i;
        w_valid_d  = we_i;
        ar_valid_d = ~we_i;
        bus_owes_d = 1'b1;
      end
    end
  end

  // State of the bridge. Address and data of a request change only when no channel of an old one is valid:
  // AXI requires them to be stable until they are taken (AMBA AXI §A3.2.1).
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_valid_q   <= 1'b0;
      w_valid_q    <= 1'b0;
      ar_valid_q   <= 1'b0;
      bus_owes_q   <= 1'b0;
      core_waits_q <= 1'b0;
      done_q       <= 1'b0;
      err_q        <= 1'b0;
      rdata_q      <= '0;
      age_q        <= '0;
      we_q         <= 1'b0;
      be_q         <= '0;
      addr_q       <= '0;
      wdata_q      <= '0;
    end else begin
      aw_valid_q   <= aw_valid_d;
      w_valid_q    <= w_valid_d;
      ar_valid_q   <= ar_valid_d;
      bus_owes_q   <= bus_owes_d;
      core_waits_q <= core_waits_d;
      done_q       <= done_d;
      err_q        <= err_d;
      rdata_q      <= rdata_d;
      age_q        <= age_d;
      // A request that is still valid keeps its address and its data.
      if (grants && !(bus_owes_q && !answered)) begin
        we_q    <= we_i;
        be_q    <= be_i;
        addr_q  <= {addr_i[31:2], 2'b00};
        wdata_q <= wdata_i;
      end
    end
  end

  // The word is on all lanes, its strobes on one, so that no other word is written. Only one access is open at a time:
  // no id is needed to tell accesses apart.
  logic [7:0] w_strb;
  always_comb begin
    w_strb = '0;
    w_strb[4*lane +: 4] = be_q;
  end
  assign axi_o = '{
    aw_valid: aw_valid_q, aw_id: '0, aw: word_at(addr_q),
    w_valid:  w_valid_q, w_data: {2{wdata_q}}, w_strb: w_strb, w_last: 1'b1,
    b_ready:  b_ready,
    ar_valid: ar_valid_q, ar_id: '0, ar: word_at(addr_q),
    r_ready:  r_ready
  };
  // A word is one beat. Both kinds of errors, and there is no third, have the upper bit (AMBA AXI §A3.4.4).
  logic unused;
  assign unused = ^{axi_i.b_id, axi_i.b_resp[0], axi_i.r_id, axi_i.r_data, axi_i.r_resp[0], axi_i.r_last};

  // AMBA AXI §A3.2.1: an offered address or word stays until it is taken.
  `ASSERT(AwWaitsForReady_A, axi_o.aw_valid && !axi_i.aw_ready |=> axi_o.aw_valid && $stable(axi_o.aw))
  `ASSERT(WWaitsForReady_A,
          axi_o.w_valid && !axi_i.w_ready |=> axi_o.w_valid && $stable(axi_o.w_data) && $stable(axi_o.w_strb))
  `ASSERT(ArWaitsForReady_A, axi_o.ar_valid && !axi_i.ar_ready |=> axi_o.ar_valid && $stable(axi_o.ar))
  // Only answers that are due are taken.
  `ASSERT(NoAnswerUnasked_A, !bus_owes_q |-> !axi_o.r_ready && !axi_o.b_ready)
  // The core gets no response that it did not ask for.
  `ASSERT(ResponseOwed_A, rvalid_o |-> core_waits_q)
  // While an answer is due no new request is sent, so a late answer cannot be mistaken.
  `ASSERT(NothingIsSentWhileOwed_A, bus_owes_q && !answered |=> !$rose(axi_o.aw_valid) && !$rose(axi_o.ar_valid))
  // Data of a failed access do not reach the core.
  `ASSERT(AnErrorCarriesNoData_A, rvalid_o && err_o && ReportsErrors |-> rdata_o == '0)
  // A read asks for the word that the core asked for.
  `ASSERT(AReadIsWhereItWasAsked_A, $rose(axi_o.ar_valid) && $past(!bus_owes_q || answered) |->
          axi_o.ar.addr >> 2 == $past(addr_i >> 2))
  // Each request ends within the timeout, whatever the bus does.
  `ASSERT(NeverHangs_A, TimeoutCycles != 0 && core_waits_q && !done_q && age_q == AgeBits'(LongestWait) |=>
          done_q)
endmodule
