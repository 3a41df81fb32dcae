// The register bus of the root of trust: a bridge to AXI4-Lite, and a page of 4 KiB for each block.
//
// Empty pages answer with DECERR. All blocks get the same address and data, which the bridge keeps
// until the answer; handshakes select one of them. One access is open at a time, so a slow block
// delays the accesses after it, and a block that hangs costs the timeout of the bridge once.
// Protocol, latency and reset are those of `core_to_axi` and `axi_lite_demux`.

`include "assert.svh"

module rot_register_bus
  import soc_pkg::*;
  import hartlock_axi_pkg::*;
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

  // The blocks. Address and data of the open access are in the requests to all of them.
  output axil_req_t [NumBlocks-1:0]  block_o,
  input  axil_resp_t [NumBlocks-1:0] block_i
);
  // Between bridge and demultiplexer: one port of AXI4-Lite, and the whole address.
  axil_req_t   req;
  axil_resp_t  resp;
  logic [31:0] a_addr;

  // Only the page of the bench can need the timeout: blocks of this project always answer.
  core_to_axi #(
    .DataBits      (32),
    .MinLatency    (Latency),
    .TimeoutCycles (TimeoutCycles)
  ) u_bridge (
    .clk_i,
    .rst_ni,
    .req_i, .gnt_o, .we_i, .be_i, .addr_i, .wdata_i, .rvalid_o, .rdata_o, .err_o,
    .aw_valid_o (req.aw_valid),
    .aw_ready_i (resp.aw_ready),
    .w_valid_o  (req.w_valid),
    .w_ready_i  (resp.w_ready),
    .w_data_o   (req.w_data),
    .w_strb_o   (req.w_strb),
    .b_valid_i  (resp.b_valid),
    .b_ready_o  (req.b_ready),
    .b_resp_i   (resp.b_resp),
    .ar_valid_o (req.ar_valid),
    .ar_ready_i (resp.ar_ready),
    .a_addr_o   (a_addr),
    .r_valid_i  (resp.r_valid),
    .r_ready_o  (req.r_ready),
    .r_data_i   (resp.r_data),
    .r_resp_i   (resp.r_resp)
  );
  // A block sees addresses of its own page.
  assign req.aw_addr = a_addr[11:0];
  assign req.ar_addr = a_addr[11:0];

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
    .aw_select_i (select),
    .ar_select_i (select),
    .axil_i      (req),
    .axil_o      (resp),
    .target_o    (block_o),
    .target_i    (block_i)
  );

  // Two blocks never have the same page, so an access reaches at most one.
  `ASSERT(OnePageAtATime_A, $onehot0(select))
  // Data of a write reach the block of its page.
  for (genvar block = 0; block < NumBlocks; block++) begin : gen_asserts
    `ASSERT(WritesReachTheirPage_A, block_o[block].w_valid |-> select[block])
    // Addresses do so as well, or a block would read or write a register that nobody asked for.
    `ASSERT(AWriteAddressIsOfItsPage_A, block_o[block].aw_valid |-> select[block])
    `ASSERT(AReadAddressIsOfItsPage_A, block_o[block].ar_valid |-> select[block])
  end
endmodule
