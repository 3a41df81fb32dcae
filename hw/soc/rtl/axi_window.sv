// A window of AXI4-Lite registers in front of a 64-bit AXI4 port: the host reaches the mailbox
// through it.
//
// Accesses outside of the window pass unchanged. One read and one write are outstanding at a time,
// which keeps responses in order without a store for ids. Registers are words: this block answers a
// burst into the window, or an access of more than 32 bits, with SLVERR and passes it to no
// register (AMBA AXI §A3.4.4), because half of a 64-bit write would be a command that the host did
// not give.
//
// All paths are combinational, so an access gets no slower. Reset forgets open accesses. Nothing
// here is hardened.

`include "assert.svh"

module axi_window
  import hartlock_axi_pkg::*;
#(
  // 0 builds a variant that lets bursts into the window, to show that the test detects it.
  parameter bit          WordsOnly = 1'b1,
  // 0 builds a variant that offers data outside of the window only after their address was taken,
  // to show that the test detects it.
  parameter bit          OffersData = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // From the host. `window` says that the address is in the window; it belongs to the address.
  input  logic       aw_window_i,
  input  logic       ar_window_i,
  input  axi_req_t   axi_i,
  output axi_resp_t  axi_o,
  // Everything outside of the window. Ids, lengths, addresses and write data pass unchanged.
  output axi_req_t   outer_axi_o,
  input  axi_resp_t  outer_axi_i,
  // The registers in the window.
  output axil_req_t  lite_axil_o,
  input  axil_resp_t lite_axil_i
);
  // The size of an access is 2^2 bytes at most (AMBA AXI §A3.4.1).
  localparam logic [2:0] WordSize = 3'd2;

  // The side that answers the open access.
  typedef enum logic [1:0] {
    Idle,
    // The outer port answers.
    Outer,
    // The registers answer.
    Lite,
    // This block answers, with an error.
    Refused
  } route_e;

  // Everything outside of the window passes. Inside, only accesses of one word pass.
  function automatic route_e route_of(logic window, logic [7:0] len, logic [2:0] size);
    if (!window) return Outer;
    return (WordsOnly && (len != '0 || size > WordSize)) ? Refused : Lite;
  endfunction

  // --- writes ---
  // The target of the open write; all of its data have passed.
  route_e            w_route_d, w_route_q, aw_route;
  logic              w_done_d, w_done_q;
  logic [IdBits-1:0] w_id_q;
  logic              w_lane_q, aw_passes, w_passes, b_passes;

  // The target follows from the address only, and is kept until the response was taken.
  assign aw_route             = route_of(aw_window_i, axi_i.aw.len, axi_i.aw.size);
  assign outer_axi_o.aw_valid = axi_i.aw_valid & (w_route_q == Idle) & (aw_route == Outer);
  assign outer_axi_o.aw_id    = axi_i.aw_id;
  assign outer_axi_o.aw       = axi_i.aw;
  assign lite_axil_o.aw_valid = axi_i.aw_valid & (w_route_q == Idle) & (aw_route == Lite);
  assign lite_axil_o.aw_addr  = axi_i.aw.addr[11:0];

  // An address is taken by the side it is for, and by this module if it is refused. While a write is open no
  // further address is taken, so that its response needs no queue.
  always_comb begin
    unique case (aw_route)
      Outer:   axi_o.aw_ready = outer_axi_i.aw_ready;
      Lite:    axi_o.aw_ready = lite_axil_i.aw_ready;
      default: axi_o.aw_ready = 1'b1;
    endcase
    if (w_route_q != Idle) axi_o.aw_ready = 1'b0;
  end

  // Data are offered together with their address: the other side may wait for both (AMBA AXI §A3.3.1). Data
  // without an address wait, because their target is not known yet.
  route_e w_now;
  logic   lane;
  assign w_now               = (w_route_q != Idle) ? w_route_q
                             : (axi_i.aw_valid && (aw_route == Lite || OffersData)) ? aw_route : Idle;
  assign lane                = (w_route_q != Idle) ? w_lane_q : axi_i.aw.addr[2];
  assign outer_axi_o.w_valid = axi_i.w_valid & (w_now == Outer) & ~w_done_q;
  assign outer_axi_o.w_data  = axi_i.w_data;
  assign outer_axi_o.w_strb  = axi_i.w_strb;
  assign outer_axi_o.w_last  = axi_i.w_last;
  assign lite_axil_o.w_valid = axi_i.w_valid & (w_now == Lite) & ~w_done_q;
  // A word is on one half of the bus, by its address (AMBA AXI §A3.4.3).
  assign lite_axil_o.w_data  = lane ? axi_i.w_data[63:32] : axi_i.w_data[31:0];
  assign lite_axil_o.w_strb  = lane ? axi_i.w_strb[7:4] : axi_i.w_strb[3:0];

  // Write data go to the target of their address. Refused data are taken and dropped: a manager whose data are not
  // taken would never get the response.
  always_comb begin
    unique case (w_now)
      Outer:   axi_o.w_ready = outer_axi_i.w_ready;
      Lite:    axi_o.w_ready = lite_axil_i.w_ready;
      Refused: axi_o.w_ready = 1'b1;
      default: axi_o.w_ready = 1'b0;
    endcase
    if (w_done_q) axi_o.w_ready = 1'b0;
  end

  // The response comes from the side of the write. A refused write is answered after its last beat, because the
  // response to a write follows its data (AMBA AXI §A3.3.1).
  always_comb begin
    unique case (w_route_q)
      Outer:   axi_o.b_valid = outer_axi_i.b_valid;
      Lite:    axi_o.b_valid = lite_axil_i.b_valid;
      Refused: axi_o.b_valid = w_done_q;
      default: axi_o.b_valid = 1'b0;
    endcase
  end

  // The host's own id: neither side has to keep it.
  assign axi_o.b_resp        = (w_route_q == Outer) ? outer_axi_i.b_resp
                             : (w_route_q == Lite) ? lite_axil_i.b_resp : RespSlverr;
  assign axi_o.b_id          = w_id_q;
  assign outer_axi_o.b_ready = axi_i.b_ready & (w_route_q == Outer);
  assign lite_axil_o.b_ready = axi_i.b_ready & (w_route_q == Lite);
  assign aw_passes           = axi_i.aw_valid & axi_o.aw_ready;
  assign w_passes            = axi_i.w_valid & axi_o.w_ready;
  assign b_passes            = axi_o.b_valid & axi_i.b_ready;
  // So the ids of the other side's responses do not matter.
  logic unused;
  assign unused = ^{outer_axi_i.b_id, outer_axi_i.r_id};

  // A write is open from its address to its response. `w_done` says that its data have passed, also if its address
  // has not yet, and holds back data of a next burst that come early.
  always_comb begin
    w_route_d = w_route_q;
    w_done_d  = w_done_q | (w_passes & axi_i.w_last);
    if (aw_passes) w_route_d = aw_route;
    if (b_passes) begin
      w_route_d = Idle;
      w_done_d  = 1'b0;
    end
  end

  // --- reads ---
  // Reads are like writes. A refused burst gets all requested beats, or the host would wait for the
  // rest.
  route_e            r_route_d, r_route_q, ar_route;
  logic [IdBits-1:0] r_id_q;
  logic [7:0]        r_left_d, r_left_q;
  logic              ar_passes, r_passes;

  assign ar_route             = route_of(ar_window_i, axi_i.ar.len, axi_i.ar.size);
  assign outer_axi_o.ar_valid = axi_i.ar_valid & (r_route_q == Idle) & (ar_route == Outer);
  assign outer_axi_o.ar_id    = axi_i.ar_id;
  assign outer_axi_o.ar       = axi_i.ar;
  assign lite_axil_o.ar_valid = axi_i.ar_valid & (r_route_q == Idle) & (ar_route == Lite);
  assign lite_axil_o.ar_addr  = axi_i.ar.addr[11:0];

  // Only one read is open at a time, and the side that it is for takes its address.
  always_comb begin
    unique case (ar_route)
      Outer:   axi_o.ar_ready = outer_axi_i.ar_ready;
      Lite:    axi_o.ar_ready = lite_axil_i.ar_ready;
      default: axi_o.ar_ready = 1'b1;
    endcase
    if (r_route_q != Idle) axi_o.ar_ready = 1'b0;
  end

  // Data come from the side of the read. For a refused one they are zero with SLVERR, as many beats as were
  // requested, the last one with `last`.
  always_comb begin
    axi_o.r_valid = 1'b0;
    axi_o.r_data  = '0;
    axi_o.r_resp  = RespSlverr;
    axi_o.r_last  = 1'b1;
    unique case (r_route_q)
      Outer: begin
        axi_o.r_valid = outer_axi_i.r_valid;
        axi_o.r_data  = outer_axi_i.r_data;
        axi_o.r_resp  = outer_axi_i.r_resp;
        axi_o.r_last  = outer_axi_i.r_last;
      end
      Lite: begin
        axi_o.r_valid = lite_axil_i.r_valid;
        // The word is on both halves, so also on the half of its address.
        axi_o.r_data  = {2{lite_axil_i.r_data}};
        axi_o.r_resp  = lite_axil_i.r_resp;
      end
      Refused: begin
        axi_o.r_valid = 1'b1;
        axi_o.r_last  = r_left_q == '0;
      end
      default: axi_o.r_valid = 1'b0;
    endcase
  end

  assign axi_o.r_id          = r_id_q;
  assign outer_axi_o.r_ready = axi_i.r_ready & (r_route_q == Outer);
  assign lite_axil_o.r_ready = axi_i.r_ready & (r_route_q == Lite);
  assign ar_passes           = axi_i.ar_valid & axi_o.ar_ready;
  assign r_passes            = axi_o.r_valid & axi_i.r_ready;

  // A read is open from its address to its last beat; the count is for refused bursts only.
  always_comb begin
    r_route_d = r_route_q;
    r_left_d  = r_passes ? r_left_q - 1'b1 : r_left_q;
    if (ar_passes) begin
      r_route_d = ar_route;
      r_left_d  = axi_i.ar.len;
    end
    if (r_passes && axi_o.r_last) r_route_d = Idle;
  end

  // State of both directions. Ids and the half of the bus are kept from the address on, because the response
  // needs them and the manager may already show those of its next address.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_route_q <= Idle;
      w_done_q  <= 1'b0;
      w_id_q    <= '0;
      w_lane_q  <= 1'b0;
      r_route_q <= Idle;
      r_left_q  <= '0;
      r_id_q    <= '0;
    end else begin
      w_route_q <= w_route_d;
      w_done_q  <= w_done_d;
      r_route_q <= r_route_d;
      r_left_q  <= r_left_d;
      if (aw_passes) begin
        w_id_q   <= axi_i.aw_id;
        w_lane_q <= axi_i.aw.addr[2];
      end
      if (ar_passes) r_id_q <= axi_i.ar_id;
    end
  end

  // An access reaches one of both sides.
  `ASSERT(OneWayAtATime_A, !(outer_axi_o.aw_valid && lite_axil_o.aw_valid) &&
          !(outer_axi_o.ar_valid && lite_axil_o.ar_valid) && !(outer_axi_o.w_valid && lite_axil_o.w_valid))
  // A register is written only by an access of one word at most.
  `ASSERT(OnlyWordsReachRegisters_A, WordsOnly && lite_axil_o.aw_valid |->
          axi_i.aw.len == '0 && axi_i.aw.size <= WordSize)
  // AMBA AXI §A3.2.1: a response stays until it is taken.
  `ASSERT(BWaitsForReady_A, axi_o.b_valid && !axi_i.b_ready |=> axi_o.b_valid && $stable(axi_o.b_id))
  `ASSERT(RWaitsForReady_A,
          axi_o.r_valid && !axi_i.r_ready |=> axi_o.r_valid && $stable(axi_o.r_data) && $stable(axi_o.r_last))
  // A second access would need a queue of ids for its response.
  `ASSERT(OneWriteAtATime_A, w_route_q != Idle |-> !axi_o.aw_ready && !outer_axi_o.aw_valid && !lite_axil_o.aw_valid)
  `ASSERT(OneReadAtATime_A, r_route_q != Idle |-> !axi_o.ar_ready && !outer_axi_o.ar_valid && !lite_axil_o.ar_valid)
  // A refused access shows no register.
  `ASSERT(ARefusedReadShowsNothing_A, r_route_q == Refused |-> axi_o.r_data == '0 && axi_o.r_resp == RespSlverr)
  // A refused write is answered only after its data.
  `ASSERT(AResponseFollowsItsData_A, axi_o.b_valid |-> w_done_q || w_route_q != Refused)
endmodule
