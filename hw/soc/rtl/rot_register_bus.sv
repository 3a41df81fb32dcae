// The register bus of the root of trust: a bridge to AXI4-Lite, and a page of 4 KiB for each block.
//
// Empty pages answer with DECERR. All blocks get the same address and data, which the bridge keeps
// until the answer; handshakes select one of them. One access is open at a time, so a slow block
// delays the accesses after it, and a block that hangs costs the timeout of the bridge once.
// Protocol, latency and reset are those of `core_to_axi` and `axi_lite_demux`.

`include "assert.svh"

module rot_register_bus
  import soc_pkg::*;
#(
  // The smallest number of cycles of an access, and the cycles after which it has failed.
  parameter int unsigned Latency       = 5,
  parameter int unsigned TimeoutCycles = 2000,
  // The pages of the blocks, the first one in the lower bits.
  parameter int unsigned NumBlocks     = 4,
  parameter logic [NumBlocks-1:0][3:0] Pages = {PageMailbox, PageSha2, PageBench, PageControl}
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  // The core, a port of Ibex's kind.
  input  logic                       req_i,
  output logic                       gnt_o,
  input  logic                       we_i,
  input  logic [3:0]                 be_i,
  input  logic [31:0]                addr_i,
  input  logic [31:0]                wdata_i,
  output logic                       rvalid_o,
  output logic [31:0]                rdata_o,
  output logic                       err_o,

  // Address and data, which go to all blocks.
  output logic [11:0]                block_addr_o,
  output logic [31:0]                block_w_data_o,
  output logic [3:0]                 block_w_strb_o,
  // Handshakes and responses, one bit or word for each block.
  output logic [NumBlocks-1:0]       block_aw_valid_o,
  input  logic [NumBlocks-1:0]       block_aw_ready_i,
  output logic [NumBlocks-1:0]       block_w_valid_o,
  input  logic [NumBlocks-1:0]       block_w_ready_i,
  input  logic [NumBlocks-1:0]       block_b_valid_i,
  output logic [NumBlocks-1:0]       block_b_ready_o,
  input  logic [NumBlocks-1:0][1:0]  block_b_resp_i,
  output logic [NumBlocks-1:0]       block_ar_valid_o,
  input  logic [NumBlocks-1:0]       block_ar_ready_i,
  input  logic [NumBlocks-1:0]       block_r_valid_i,
  output logic [NumBlocks-1:0]       block_r_ready_o,
  input  logic [NumBlocks-1:0][31:0] block_r_data_i,
  input  logic [NumBlocks-1:0][1:0]  block_r_resp_i
);
  // Between bridge and demultiplexer: one port of AXI4-Lite.
  logic        aw_valid, aw_ready, w_valid, w_ready, b_valid, b_ready;
  logic        ar_valid, ar_ready, r_valid, r_ready;
  logic [31:0] a_addr, r_data;
  logic [1:0]  b_resp, r_resp;

  // Only the page of the bench can need the timeout: blocks of this project always answer.
  core_to_axi #(
    .DataBits      (32),
    .MinLatency    (Latency),
    .TimeoutCycles (TimeoutCycles)
  ) u_bridge (
    .clk_i,
    .rst_ni,
    .req_i, .gnt_o, .we_i, .be_i, .addr_i, .wdata_i, .rvalid_o, .rdata_o, .err_o,
    .aw_valid_o (aw_valid),
    .aw_ready_i (aw_ready),
    .w_valid_o  (w_valid),
    .w_ready_i  (w_ready),
    .w_data_o   (block_w_data_o),
    .w_strb_o   (block_w_strb_o),
    .b_valid_i  (b_valid),
    .b_ready_o  (b_ready),
    .b_resp_i   (b_resp),
    .ar_valid_o (ar_valid),
    .ar_ready_i (ar_ready),
    .a_addr_o   (a_addr),
    .r_valid_i  (r_valid),
    .r_ready_o  (r_ready),
    .r_data_i   (r_data),
    .r_resp_i   (r_resp)
  );
  // A block sees addresses of its own page.
  assign block_addr_o = a_addr[11:0];

  // Blocks are selected by their page. The bridge keeps the address until the answer, so both
  // channels can use the same one.
  logic [NumBlocks-1:0] select;
  for (genvar block = 0; block < NumBlocks; block++) begin : gen_select
    assign select[block] = a_addr[15:12] == Pages[block];
  end

  // Handshakes reach only the selected block. An access to an empty page selects none, and is
  // answered here.
  axi_lite_demux #(.NumTargets(NumBlocks)) u_demux (
    .clk_i,
    .rst_ni,
    .aw_select_i       (select),
    .aw_valid_i        (aw_valid),
    .aw_ready_o        (aw_ready),
    .w_valid_i         (w_valid),
    .w_ready_o         (w_ready),
    .b_valid_o         (b_valid),
    .b_ready_i         (b_ready),
    .b_resp_o          (b_resp),
    .ar_select_i       (select),
    .ar_valid_i        (ar_valid),
    .ar_ready_o        (ar_ready),
    .r_valid_o         (r_valid),
    .r_ready_i         (r_ready),
    .r_data_o          (r_data),
    .r_resp_o          (r_resp),
    .target_aw_valid_o (block_aw_valid_o),
    .target_aw_ready_i (block_aw_ready_i),
    .target_w_valid_o  (block_w_valid_o),
    .target_w_ready_i  (block_w_ready_i),
    .target_b_valid_i  (block_b_valid_i),
    .target_b_ready_o  (block_b_ready_o),
    .target_b_resp_i   (block_b_resp_i),
    .target_ar_valid_o (block_ar_valid_o),
    .target_ar_ready_i (block_ar_ready_i),
    .target_r_valid_i  (block_r_valid_i),
    .target_r_ready_o  (block_r_ready_o),
    .target_r_data_i   (block_r_data_i),
    .target_r_resp_i   (block_r_resp_i)
  );

  // Two blocks never have the same page, so an access reaches at most one.
  `ASSERT(OnePageAtATime_A, $onehot0(select))
  // Data of a write reach the block of its page.
  `ASSERT(WritesReachTheirPage_A, block_w_valid_o != '0 |-> block_w_valid_o == select)
endmodule
