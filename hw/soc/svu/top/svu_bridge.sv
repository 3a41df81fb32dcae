// `core_to_axi` on bundles: single words of Ibex's ports at a port of 64 bits. Protocol, latency
// and reset are those of `core_to_axi`.

`include "machine_assert.svh"

module svu_bridge
  import hartlock_axi_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  // The core, a port of Ibex's kind.
  input  logic        req_i,
  output logic        gnt_o,
  input  logic        we_i,
  input  logic [3:0]  be_i,
  input  logic [31:0] addr_i,
  input  logic [31:0] wdata_i,
  output logic        rvalid_o,
  output logic [31:0] rdata_o,
  output logic        err_o,

  // The bus.
  output axi_req_t    axi_o,
  input  axi_resp_t   axi_i
);
  logic        aw_valid, w_valid, b_ready, ar_valid, r_ready;
  logic [31:0] addr;
  logic [63:0] w_data;
  logic [7:0]  w_strb;

  // The medium may be slow. A core that waits longer than this gets an error.
  core_to_axi #(.DataBits(64), .TimeoutCycles(4000)) u_bridge (
    .clk_i, .rst_ni, .req_i, .gnt_o, .we_i, .be_i, .addr_i, .wdata_i, .rvalid_o, .rdata_o, .err_o,
    // Channels of AXI, one access at a time.
    .aw_valid_o (aw_valid),
    .aw_ready_i (axi_i.aw_ready),
    .w_valid_o  (w_valid),
    .w_ready_i  (axi_i.w_ready),
    .w_data_o   (w_data),
    .w_strb_o   (w_strb),
    .b_valid_i  (axi_i.b_valid),
    .b_ready_o  (b_ready),
    .b_resp_i   (axi_i.b_resp),
    .ar_valid_o (ar_valid),
    .ar_ready_i (axi_i.ar_ready),
    .a_addr_o   (addr),
    .r_valid_i  (axi_i.r_valid),
    .r_ready_o  (r_ready),
    .r_data_i   (axi_i.r_data),
    .r_resp_i   (axi_i.r_resp)
  );

  // One beat and one access at a time: no id is needed to tell accesses apart.
  assign axi_o = '{
    aw_valid: aw_valid,
    aw_id:    '0,
    aw:       word_at(addr),
    w_valid:  w_valid,
    w_data:   w_data,
    w_strb:   w_strb,
    w_last:   1'b1,
    b_ready:  b_ready,
    ar_valid: ar_valid,
    ar_id:    '0,
    ar:       word_at(addr),
    r_ready:  r_ready
  };

  // A read asks for the word that the core asked for.
  `MACHINE_ASSERT(AReadIsWhereItWasAsked_A, $rose(axi_o.ar_valid) |-> axi_o.ar.addr >> 2 == $past(addr_i >> 2))
endmodule
