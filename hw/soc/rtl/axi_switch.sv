// One AXI4 master and two paths into the same memory: the root of trust and the host's memory.
//
// While the host is in reset its caches are empty and its bus does not answer: accesses go to memory
// directly. Once it runs, memory may be older than its caches, and accesses go through its coherent port. The
// path is selected when a transaction begins, and kept until its response: a `valid` is not
// withdrawn (AMBA AXI §A3.2.1), and a response is expected on the path of its request only.
//
// The master has one transaction open at a time (core_to_axi.sv). Addresses and write data reach both paths
// unchanged; this block gates the handshakes. All paths are combinational.

`include "assert.svh"

module axi_switch #(
  parameter int unsigned DataBits  = 64,
  // 0 builds a variant that changes the path during a transaction, to show that the test detects it.
  parameter bit          HoldsWay  = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                coherent_i,  // the path of a transaction that begins in this cycle

  // Write address.
  input  logic                aw_valid_i,
  output logic                aw_ready_o,
  // Write data.
  input  logic                w_valid_i,
  output logic                w_ready_o,
  // Write response.
  output logic                b_valid_o,
  input  logic                b_ready_i,
  output logic [1:0]          b_resp_o,
  // Read address.
  input  logic                ar_valid_i,
  output logic                ar_ready_o,
  // Read data and response.
  output logic                r_valid_o,
  input  logic                r_ready_i,
  output logic [DataBits-1:0] r_data_o,
  output logic [1:0]          r_resp_o,

  // Write address.
  output logic                direct_aw_valid_o,
  input  logic                direct_aw_ready_i,
  // Write data.
  output logic                direct_w_valid_o,
  input  logic                direct_w_ready_i,
  // Write response.
  input  logic                direct_b_valid_i,
  output logic                direct_b_ready_o,
  input  logic [1:0]          direct_b_resp_i,
  // Read address.
  output logic                direct_ar_valid_o,
  input  logic                direct_ar_ready_i,
  // Read data and response.
  input  logic                direct_r_valid_i,
  output logic                direct_r_ready_o,
  input  logic [DataBits-1:0] direct_r_data_i,
  input  logic [1:0]          direct_r_resp_i,

  // Write address.
  output logic                coherent_aw_valid_o,
  input  logic                coherent_aw_ready_i,
  // Write data.
  output logic                coherent_w_valid_o,
  input  logic                coherent_w_ready_i,
  // Write response.
  input  logic                coherent_b_valid_i,
  output logic                coherent_b_ready_o,
  input  logic [1:0]          coherent_b_resp_i,
  // Read address.
  output logic                coherent_ar_valid_o,
  input  logic                coherent_ar_ready_i,
  // Read data and response.
  input  logic                coherent_r_valid_i,
  output logic                coherent_r_ready_o,
  input  logic [DataBits-1:0] coherent_r_data_i,
  input  logic [1:0]          coherent_r_resp_i
);
  // Whether a transaction is open, and its path.
  logic is_open_q, is_coherent_q;
  logic is_coherent, begins, ends;

  // The path of the open transaction, or of the one that begins in this cycle.
  assign is_coherent = (is_open_q && HoldsWay) ? is_coherent_q : coherent_i;
  assign begins      = aw_valid_i | w_valid_i | ar_valid_i;
  assign ends        = (b_valid_o & b_ready_i) | (r_valid_o & r_ready_i);

  // Requests: one of both paths gets them. Data and addresses are not gated, because without `valid` they are
  // ignored.
  assign direct_aw_valid_o   = aw_valid_i & ~is_coherent;
  assign direct_w_valid_o    = w_valid_i & ~is_coherent;
  assign direct_b_ready_o    = b_ready_i & ~is_coherent;
  assign direct_ar_valid_o   = ar_valid_i & ~is_coherent;
  assign direct_r_ready_o    = r_ready_i & ~is_coherent;

  assign coherent_aw_valid_o = aw_valid_i & is_coherent;
  assign coherent_w_valid_o  = w_valid_i & is_coherent;
  assign coherent_b_ready_o  = b_ready_i & is_coherent;
  assign coherent_ar_valid_o = ar_valid_i & is_coherent;
  assign coherent_r_ready_o  = r_ready_i & is_coherent;

  // Responses: from the same path, so that a late one of the other is not taken for it.
  assign aw_ready_o = is_coherent ? coherent_aw_ready_i : direct_aw_ready_i;
  assign w_ready_o  = is_coherent ? coherent_w_ready_i : direct_w_ready_i;
  assign b_valid_o  = is_coherent ? coherent_b_valid_i : direct_b_valid_i;
  assign b_resp_o   = is_coherent ? coherent_b_resp_i : direct_b_resp_i;
  assign ar_ready_o = is_coherent ? coherent_ar_ready_i : direct_ar_ready_i;
  assign r_valid_o  = is_coherent ? coherent_r_valid_i : direct_r_valid_i;
  assign r_data_o   = is_coherent ? coherent_r_data_i : direct_r_data_i;
  assign r_resp_o   = is_coherent ? coherent_r_resp_i : direct_r_resp_i;

  // A transaction is open from its first handshake signal to its response. While it is open the path is constant,
  // independent of `coherent_i`.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      is_open_q     <= 1'b0;
      is_coherent_q <= 1'b0;
    end else begin
      is_open_q     <= (is_open_q | begins) & ~ends;
      is_coherent_q <= is_coherent;
    end
  end

  // From the second cycle on: in the first, before reset, inputs may have any value.
  `ASSERT(OneWayAtATime_A, 1'b1 |=> !(direct_ar_valid_o && coherent_ar_valid_o) &&
          !(direct_aw_valid_o && coherent_aw_valid_o) && !(direct_w_valid_o && coherent_w_valid_o))
  `ASSERT(ResponsesAreAwaited_A, 1'b1 |=> !ends || is_open_q)
  `ASSERT(TheWayHolds_A, is_open_q && !ends && HoldsWay |=> $stable(is_coherent))
  `ASSERT(DirectAwWaitsForReady_A, direct_aw_valid_o && !direct_aw_ready_i && HoldsWay |=> direct_aw_valid_o)
  `ASSERT(DirectWWaitsForReady_A, direct_w_valid_o && !direct_w_ready_i && HoldsWay |=> direct_w_valid_o)
  `ASSERT(DirectArWaitsForReady_A, direct_ar_valid_o && !direct_ar_ready_i && HoldsWay |=> direct_ar_valid_o)
  `ASSERT(CoherentAwWaitsForReady_A,
          coherent_aw_valid_o && !coherent_aw_ready_i && HoldsWay |=> coherent_aw_valid_o)
  `ASSERT(CoherentWWaitsForReady_A,
          coherent_w_valid_o && !coherent_w_ready_i && HoldsWay |=> coherent_w_valid_o)
  `ASSERT(CoherentArWaitsForReady_A,
          coherent_ar_valid_o && !coherent_ar_ready_i && HoldsWay |=> coherent_ar_valid_o)
endmodule
