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
  // What the bridge requests, with the whole address, and the same as a port of AXI4-Lite.
  axi_req_t   bridge_req;
  axil_req_t  req;
  axil_resp_t resp;

  // Only the page of the bench can need the timeout: blocks of this project always answer.
  core_to_axi #(
    .DataBits      (32),
    .MinLatency    (Latency),
    .TimeoutCycles (TimeoutCycles)
  ) u_bridge (
    .clk_i,
    .rst_ni,
    .req_i, .gnt_o, .we_i, .be_i, .addr_i, .wdata_i, .rvalid_o, .rdata_o, .err_o,
    .axi_o      (bridge_req),
    .axi_i      ('{
      aw_ready: resp.aw_ready, w_ready: resp.w_ready, b_valid: resp.b_valid, b_id: '0, b_resp: resp.b_resp,
      ar_ready: resp.ar_ready, r_valid: resp.r_valid, r_id: '0, r_data: 64'(resp.r_data), r_resp: resp.r_resp,
      r_last: 1'b1
    })
  );
  // A block sees addresses of its own page.
  assign req = '{
    aw_valid: bridge_req.aw_valid, aw_addr: bridge_req.aw.addr[11:0],
    w_valid:  bridge_req.w_valid, w_data: bridge_req.w_data[31:0], w_strb: bridge_req.w_strb[3:0],
    b_ready:  bridge_req.b_ready,
    ar_valid: bridge_req.ar_valid, ar_addr: bridge_req.ar.addr[11:0],
    r_ready:  bridge_req.r_ready
  };
  // The address map selects this bus by the upper bits of an address; a word has no burst.
  logic unused;
  assign unused = ^bridge_req;

  // Blocks are selected by their page. The bridge keeps the address until the answer, so both
  // channels can use the same one.
  logic [NumBlocks-1:0] select;
  for (genvar block = 0; block < NumBlocks; block++) begin : gen_select
    assign select[block] = bridge_req.aw.addr[15:12] == Pages[block];
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
