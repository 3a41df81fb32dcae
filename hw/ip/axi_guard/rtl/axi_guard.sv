// This module is the AXI guard with its registers (`data/axi_guard.rdl`): four ranges of pages that firmware
// closes to the managers of a port, and then locks until reset. `axi_guard_core` has the logic and the rules of
// the port.
//
// Protocol: before the lock every request of the managers is refused. Software writes the ranges and the lock
// by AXI4-Lite; after the lock writes to ranges are ignored. `refused` reports that a read or a write was
// refused, and software clears it.
//
// Time: a request that passes takes no further cycle; payloads of requests pass beside this module.
//
// Reset: the ranges are empty, the lock is open, and nothing passes. Nothing is hardened here against upsets.

`include "assert.svh"

module axi_guard
  import axi_guard_pkg::*;
  import axi_guard_regs_pkg::*;
#(
  // `IdBits` is the width of the ids of AXI.
  parameter int unsigned IdBits = 4
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  // This is the AXI4-Lite port with 4 KiB of addresses. Protection bits are ignored: the bus in front of this
  // port decides who may write before the lock. The first channel is the write address.
  input  logic              axil_awvalid_i,
  output logic              axil_awready_o,
  input  logic [11:0]       axil_awaddr_i,
  input  logic [2:0]        axil_awprot_i,
  // This is the channel of write data.
  input  logic              axil_wvalid_i,
  output logic              axil_wready_o,
  input  logic [31:0]       axil_wdata_i,
  input  logic [3:0]        axil_wstrb_i,
  // This is the channel of write responses.
  output logic              axil_bvalid_o,
  input  logic              axil_bready_i,
  output logic [1:0]        axil_bresp_o,
  // This is the channel of read addresses.
  input  logic              axil_arvalid_i,
  output logic              axil_arready_o,
  input  logic [11:0]       axil_araddr_i,
  input  logic [2:0]        axil_arprot_i,
  // This is the channel of read data and its response.
  output logic              axil_rvalid_o,
  input  logic              axil_rready_i,
  output logic [31:0]       axil_rdata_o,
  output logic [1:0]        axil_rresp_o,

  // These are the channels of the managers, as AXI4 defines them. The first one is the write address.
  input  logic              aw_valid_i,
  output logic              aw_ready_o,
  input  logic [IdBits-1:0] aw_id_i,
  input  logic [31:0]       aw_addr_i,
  input  logic [7:0]        aw_len_i,
  input  logic [2:0]        aw_size_i,
  input  logic [1:0]        aw_burst_i,
  // This is the channel of write data.
  input  logic              w_valid_i,
  output logic              w_ready_o,
  input  logic              w_last_i,
  // This is the channel of write responses.
  output logic              b_valid_o,
  input  logic              b_ready_i,
  output logic [IdBits-1:0] b_id_o,
  output logic [1:0]        b_resp_o,
  // This is the channel of read addresses.
  input  logic              ar_valid_i,
  output logic              ar_ready_o,
  input  logic [IdBits-1:0] ar_id_i,
  input  logic [31:0]       ar_addr_i,
  input  logic [7:0]        ar_len_i,
  input  logic [2:0]        ar_size_i,
  input  logic [1:0]        ar_burst_i,
  // This is the channel of read data.
  output logic              r_valid_o,
  input  logic              r_ready_i,
  output logic [IdBits-1:0] r_id_o,
  output logic [63:0]       r_data_o,
  output logic [1:0]        r_resp_o,
  output logic              r_last_o,

  // These are the channels of the memory. Payloads of requests pass beside this module, from the managers to
  // the memory directly. The first channel is the write address.
  output logic              mem_aw_valid_o,
  input  logic              mem_aw_ready_i,
  // This is the channel of write data.
  output logic              mem_w_valid_o,
  input  logic              mem_w_ready_i,
  // This is the channel of write responses.
  input  logic              mem_b_valid_i,
  output logic              mem_b_ready_o,
  input  logic [IdBits-1:0] mem_b_id_i,
  input  logic [1:0]        mem_b_resp_i,
  // This is the channel of read addresses.
  output logic              mem_ar_valid_o,
  input  logic              mem_ar_ready_i,
  // This is the channel of read data.
  input  logic              mem_r_valid_i,
  output logic              mem_r_ready_o,
  input  logic [IdBits-1:0] mem_r_id_i,
  input  logic [63:0]       mem_r_data_i,
  input  logic [1:0]        mem_r_resp_i,
  input  logic              mem_r_last_i
);
  // These structures have the fields of the register block in the shape that the generator gives them.
  axi_guard__in_t  regs_in;
  axi_guard__out_t regs_out;

  // The register block is generated from `data/axi_guard.rdl`.
  axi_guard_regs u_regs (
    .clk           (clk_i),
    .arst_n        (rst_ni),
    .s_axil_awready(axil_awready_o),
    .s_axil_awvalid(axil_awvalid_i),
    .s_axil_awaddr (axil_awaddr_i),
    .s_axil_awprot (axil_awprot_i),
    .s_axil_wready (axil_wready_o),
    .s_axil_wvalid (axil_wvalid_i),
    .s_axil_wdata  (axil_wdata_i),
    .s_axil_wstrb  (axil_wstrb_i),
    .s_axil_bready (axil_bready_i),
    .s_axil_bvalid (axil_bvalid_o),
    .s_axil_bresp  (axil_bresp_o),
    .s_axil_arready(axil_arready_o),
    .s_axil_arvalid(axil_arvalid_i),
    .s_axil_araddr (axil_araddr_i),
    .s_axil_arprot (axil_arprot_i),
    .s_axil_rready (axil_rready_i),
    .s_axil_rvalid (axil_rvalid_o),
    .s_axil_rdata  (axil_rdata_o),
    .s_axil_rresp  (axil_rresp_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // A range is given by pages, and includes both of its ends.
  range_t [NumRanges-1:0] ranges;
  logic is_locked, read_refused, write_refused;
  assign is_locked = regs_out.lock.locked.value;

  // Ranges do not change after the lock. What was refused is reported until software clears it.
  always_comb begin
    for (int unsigned i = 0; i < NumRanges; i++) begin
      ranges[i] = '{first: regs_out.first[i].page.value, last: regs_out.last[i].page.value};
    end
    for (int unsigned i = 0; i < NumRanges; i++) begin
      regs_in.first[i].page.swwel = is_locked;
      regs_in.last[i].page.swwel  = is_locked;
    end
    regs_in.refused.read.hwset  = read_refused;
    regs_in.refused.write.hwset = write_refused;
  end

  // The core judges each request, and answers those that it refuses.
  axi_guard_core #(.IdBits(IdBits)) u_core (
    .clk_i, .rst_ni,
    .locked_i       (is_locked),
    .ranges_i       (ranges),
    .read_refused_o (read_refused),
    .write_refused_o(write_refused),
    .aw_valid_i, .aw_ready_o, .aw_id_i, .aw_addr_i, .aw_len_i, .aw_size_i, .aw_burst_i,
    .w_valid_i, .w_ready_o, .w_last_i, .b_valid_o, .b_ready_i, .b_id_o, .b_resp_o,
    .ar_valid_i, .ar_ready_o, .ar_id_i, .ar_addr_i, .ar_len_i, .ar_size_i, .ar_burst_i,
    .r_valid_o, .r_ready_i, .r_id_o, .r_data_o, .r_resp_o, .r_last_o,
    .mem_aw_valid_o, .mem_aw_ready_i, .mem_w_valid_o, .mem_w_ready_i,
    .mem_b_valid_i, .mem_b_ready_o, .mem_b_id_i, .mem_b_resp_i,
    .mem_ar_valid_o, .mem_ar_ready_i,
    .mem_r_valid_i, .mem_r_ready_o, .mem_r_id_i, .mem_r_data_i, .mem_r_resp_i, .mem_r_last_i
  );

`ifndef SYNTHESIS
  // These are the rules of AXI4-Lite at the port of the registers.
  axi_lite_checks #(.AddrBits(12)) u_checks (
    .clk_i,
    .rst_ni,
    .awvalid_i(axil_awvalid_i),
    .awready_i(axil_awready_o),
    .awaddr_i (axil_awaddr_i),
    .wvalid_i (axil_wvalid_i),
    .wready_i (axil_wready_o),
    .wdata_i  (axil_wdata_i),
    .wstrb_i  (axil_wstrb_i),
    .bvalid_i (axil_bvalid_o),
    .bready_i (axil_bready_i),
    .bresp_i  (axil_bresp_o),
    .arvalid_i(axil_arvalid_i),
    .arready_i(axil_arready_o),
    .araddr_i (axil_araddr_i),
    .rvalid_i (axil_rvalid_o),
    .rready_i (axil_rready_i),
    .rdata_i  (axil_rdata_o),
    .rresp_i  (axil_rresp_o)
  );
`endif

  // The names state the properties of the registers; those of the port are in the core. Here the lock stays
  // until reset, because software that could open it could let a manager into closed ranges.
  `ASSERT(ALockIsForGood_A, is_locked |=> is_locked)
  // A range that changed after the lock would open memory, or change the judgement of a request that is
  // offered.
  `ASSERT(LockedRangesStay_A, is_locked |=> $stable(ranges))
endmodule
