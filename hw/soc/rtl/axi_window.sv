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
  import hartlock_axi_pkg::RespSlverr;
#(
  // Bits of the host's ids.
  parameter int unsigned IdBits = 4,
  // 0 builds a variant that lets bursts into the window, to show that the test detects it.
  parameter bit          WordsOnly = 1'b1,
  // 0 builds a variant that offers data outside of the window only after their address was taken,
  // to show that the test detects it.
  parameter bit          OffersData = 1'b1
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  // From the host. `window` says that the address is in the window; it belongs to the address.
  // Write address.
  input  logic              aw_valid_i,
  output logic              aw_ready_o,
  input  logic              aw_window_i,
  input  logic [IdBits-1:0] aw_id_i,
  input  logic [7:0]        aw_len_i,
  input  logic [2:0]        aw_size_i,
  input  logic [11:0]       aw_addr_i,
  // Write data.
  input  logic              w_valid_i,
  output logic              w_ready_o,
  input  logic [63:0]       w_data_i,
  input  logic [7:0]        w_strb_i,
  input  logic              w_last_i,
  // Write response.
  output logic              b_valid_o,
  input  logic              b_ready_i,
  output logic [IdBits-1:0] b_id_o,
  output logic [1:0]        b_resp_o,
  // Read address.
  input  logic              ar_valid_i,
  output logic              ar_ready_o,
  input  logic              ar_window_i,
  input  logic [IdBits-1:0] ar_id_i,
  input  logic [7:0]        ar_len_i,
  input  logic [2:0]        ar_size_i,
  input  logic [11:0]       ar_addr_i,
  // Read data and response.
  output logic              r_valid_o,
  input  logic              r_ready_i,
  output logic [IdBits-1:0] r_id_o,
  output logic [63:0]       r_data_o,
  output logic [1:0]        r_resp_o,
  output logic              r_last_o,

  // Everything outside of the window. Ids, lengths, addresses and write data bypass this block.
  // Write address.
  output logic              outer_aw_valid_o,
  input  logic              outer_aw_ready_i,
  // Write data.
  output logic              outer_w_valid_o,
  input  logic              outer_w_ready_i,
  // Write response.
  input  logic              outer_b_valid_i,
  output logic              outer_b_ready_o,
  input  logic [1:0]        outer_b_resp_i,
  // Read address.
  output logic              outer_ar_valid_o,
  input  logic              outer_ar_ready_i,
  // Read data and response.
  input  logic              outer_r_valid_i,
  output logic              outer_r_ready_o,
  input  logic [63:0]       outer_r_data_i,
  input  logic [1:0]        outer_r_resp_i,
  input  logic              outer_r_last_i,

  // The registers in the window.
  // Write address.
  output logic              lite_aw_valid_o,
  input  logic              lite_aw_ready_i,
  output logic [11:0]       lite_aw_addr_o,
  // Write data.
  output logic              lite_w_valid_o,
  input  logic              lite_w_ready_i,
  output logic [31:0]       lite_w_data_o,
  output logic [3:0]        lite_w_strb_o,
  // Write response.
  input  logic              lite_b_valid_i,
  output logic              lite_b_ready_o,
  input  logic [1:0]        lite_b_resp_i,
  // Read address.
  output logic              lite_ar_valid_o,
  input  logic              lite_ar_ready_i,
  output logic [11:0]       lite_ar_addr_o,
  // Read data and response.
  input  logic              lite_r_valid_i,
  output logic              lite_r_ready_o,
  input  logic [31:0]       lite_r_data_i,
  input  logic [1:0]        lite_r_resp_i
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
  assign aw_route         = route_of(aw_window_i, aw_len_i, aw_size_i);
  assign outer_aw_valid_o = aw_valid_i & (w_route_q == Idle) & (aw_route == Outer);
  assign lite_aw_valid_o  = aw_valid_i & (w_route_q == Idle) & (aw_route == Lite);
  assign lite_aw_addr_o   = aw_addr_i;

  // An address is taken by the side it is for, and by this module if it is refused. While a write is open no
  // further address is taken, so that its response needs no queue.
  always_comb begin
    unique case (aw_route)
      Outer:   aw_ready_o = outer_aw_ready_i;
      Lite:    aw_ready_o = lite_aw_ready_i;
      default: aw_ready_o = 1'b1;
    endcase
    if (w_route_q != Idle) aw_ready_o = 1'b0;
  end

  // Data are offered together with their address: the other side may wait for both (AMBA AXI §A3.3.1). Data
  // without an address wait, because their target is not known yet.
  route_e w_now;
  logic   lane;
  assign w_now           = (w_route_q != Idle) ? w_route_q
                         : (aw_valid_i && (aw_route == Lite || OffersData)) ? aw_route : Idle;
  assign lane            = (w_route_q != Idle) ? w_lane_q : aw_addr_i[2];
  assign outer_w_valid_o = w_valid_i & (w_now == Outer) & ~w_done_q;
  assign lite_w_valid_o  = w_valid_i & (w_now == Lite) & ~w_done_q;
  // A word is on one half of the bus, by its address (AMBA AXI §A3.4.3).
  assign lite_w_data_o   = lane ? w_data_i[63:32] : w_data_i[31:0];
  assign lite_w_strb_o   = lane ? w_strb_i[7:4] : w_strb_i[3:0];

  // Write data go to the target of their address. Refused data are taken and dropped: a manager whose data are not
  // taken would never get the response.
  always_comb begin
    unique case (w_now)
      Outer:   w_ready_o = outer_w_ready_i;
      Lite:    w_ready_o = lite_w_ready_i;
      Refused: w_ready_o = 1'b1;
      default: w_ready_o = 1'b0;
    endcase
    if (w_done_q) w_ready_o = 1'b0;
  end

  // The response comes from the side of the write. A refused write is answered after its last beat, because the
  // response to a write follows its data (AMBA AXI §A3.3.1).
  always_comb begin
    unique case (w_route_q)
      Outer:   b_valid_o = outer_b_valid_i;
      Lite:    b_valid_o = lite_b_valid_i;
      Refused: b_valid_o = w_done_q;
      default: b_valid_o = 1'b0;
    endcase
  end

  // The host's own id: neither side has to keep it.
  assign b_resp_o        = (w_route_q == Outer) ? outer_b_resp_i
                         : (w_route_q == Lite) ? lite_b_resp_i : RespSlverr;
  assign b_id_o          = w_id_q;
  assign outer_b_ready_o = b_ready_i & (w_route_q == Outer);
  assign lite_b_ready_o  = b_ready_i & (w_route_q == Lite);
  assign aw_passes       = aw_valid_i & aw_ready_o;
  assign w_passes        = w_valid_i & w_ready_o;
  assign b_passes        = b_valid_o & b_ready_i;

  // A write is open from its address to its response. `w_done` says that its data have passed, also if its address
  // has not yet, and holds back data of a next burst that come early.
  always_comb begin
    w_route_d = w_route_q;
    w_done_d  = w_done_q | (w_passes & w_last_i);
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

  assign ar_route         = route_of(ar_window_i, ar_len_i, ar_size_i);
  assign outer_ar_valid_o = ar_valid_i & (r_route_q == Idle) & (ar_route == Outer);
  assign lite_ar_valid_o  = ar_valid_i & (r_route_q == Idle) & (ar_route == Lite);
  assign lite_ar_addr_o   = ar_addr_i;

  // Only one read is open at a time, and the side that it is for takes its address.
  always_comb begin
    unique case (ar_route)
      Outer:   ar_ready_o = outer_ar_ready_i;
      Lite:    ar_ready_o = lite_ar_ready_i;
      default: ar_ready_o = 1'b1;
    endcase
    if (r_route_q != Idle) ar_ready_o = 1'b0;
  end

  // Data come from the side of the read. For a refused one they are zero with SLVERR, as many beats as were
  // requested, the last one with `last`.
  always_comb begin
    r_valid_o = 1'b0;
    r_data_o  = '0;
    r_resp_o  = RespSlverr;
    r_last_o  = 1'b1;
    unique case (r_route_q)
      Outer: begin
        r_valid_o = outer_r_valid_i;
        r_data_o  = outer_r_data_i;
        r_resp_o  = outer_r_resp_i;
        r_last_o  = outer_r_last_i;
      end
      Lite: begin
        r_valid_o = lite_r_valid_i;
        // The word is on both halves, so also on the half of its address.
        r_data_o  = {2{lite_r_data_i}};
        r_resp_o  = lite_r_resp_i;
      end
      Refused: begin
        r_valid_o = 1'b1;
        r_last_o  = r_left_q == '0;
      end
      default: r_valid_o = 1'b0;
    endcase
  end

  assign r_id_o          = r_id_q;
  assign outer_r_ready_o = r_ready_i & (r_route_q == Outer);
  assign lite_r_ready_o  = r_ready_i & (r_route_q == Lite);
  assign ar_passes       = ar_valid_i & ar_ready_o;
  assign r_passes        = r_valid_o & r_ready_i;

  // A read is open from its address to its last beat; the count is for refused bursts only.
  always_comb begin
    r_route_d = r_route_q;
    r_left_d  = r_passes ? r_left_q - 1'b1 : r_left_q;
    if (ar_passes) begin
      r_route_d = ar_route;
      r_left_d  = ar_len_i;
    end
    if (r_passes && r_last_o) r_route_d = Idle;
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
        w_id_q   <= aw_id_i;
        w_lane_q <= aw_addr_i[2];
      end
      if (ar_passes) r_id_q <= ar_id_i;
    end
  end

  // An access reaches one of both sides.
  `ASSERT(OneWayAtATime_A, !(outer_aw_valid_o && lite_aw_valid_o) &&
          !(outer_ar_valid_o && lite_ar_valid_o) && !(outer_w_valid_o && lite_w_valid_o))
  // A register is written only by an access of one word at most.
  `ASSERT(OnlyWordsReachRegisters_A, WordsOnly && lite_aw_valid_o |->
          aw_len_i == '0 && aw_size_i <= WordSize)
  // AMBA AXI §A3.2.1: a response stays until it is taken.
  `ASSERT(BWaitsForReady_A, b_valid_o && !b_ready_i |=> b_valid_o && $stable(b_id_o))
  `ASSERT(RWaitsForReady_A,
          r_valid_o && !r_ready_i |=> r_valid_o && $stable(r_data_o) && $stable(r_last_o))
  // A second access would need a queue of ids for its response.
  `ASSERT(OneWriteAtATime_A, w_route_q != Idle |-> !aw_ready_o && !outer_aw_valid_o && !lite_aw_valid_o)
  `ASSERT(OneReadAtATime_A, r_route_q != Idle |-> !ar_ready_o && !outer_ar_valid_o && !lite_ar_valid_o)
  // A refused access shows no register.
  `ASSERT(ARefusedReadShowsNothing_A, r_route_q == Refused |-> r_data_o == '0 && r_resp_o == RespSlverr)
  // A refused write is answered only after its data.
  `ASSERT(AResponseFollowsItsData_A, b_valid_o |-> w_done_q || w_route_q != Refused)
endmodule
