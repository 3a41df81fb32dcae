// The engines of `tee_machine`: device secret, Ed25519, SHA-3, DMA, its lists and pushed words, in
// six pages of devices; and the port of the DMA engine into memory, which only that engine uses.
//
// The host's core is the only manager. Its bus has no bits of privilege, so PMP has to close the
// pages to S- and U-mode. One write and one read are open at a time. An access to an empty page is
// an error. Reset clears the state of all engines.

`include "assert.svh"

module tee_engines
  import soc_pkg::*;
  import hartlock_axi_pkg::*;
  import tee_axi_pkg::*;
#(
  // Rounds of the SHA-3 engine in a cycle, and outstanding reads of the DMA engine.
  parameter int unsigned Sha3Rounds = 1,
  parameter int unsigned DmaReads   = 8
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // The secret of the device. It is constant.
  input  logic [511:0] secret_i,
  // Changes results as they are read, to show that software notices: bit 0 results of engines, bit
  // 1 the secret.
  input  logic [1:0]   upset_i,

  // Devices of the host, and the devices that belong to the bench.
  input  axi_req_t    mmio_axi_i,
  output axi_resp_t   mmio_axi_o,
  output axi_req_t    devices_axi_o,
  input  axi_resp_t   devices_axi_i,

  // Memory, for the DMA engine. The alert of any engine.
  output axi_req_t    mem_axi_o,
  input  axi_resp_t   mem_axi_i,
  output logic         alert_o
);
  // --- the window ---
  logic aw_is_ours, ar_is_ours;
  localparam logic [2:0] WordSize = 3'd2, DoubleSize = 3'd3;
  logic      aw_is_push;
  axi_req_t  shown_req, outer_req;
  assign aw_is_ours = mmio_axi_i.aw.addr[30:15] == Window;
  assign ar_is_ours = mmio_axi_i.ar.addr[30:15] == Window;

  // The window takes single words. Words to push are as wide as the bus: their stores are shown to
  // the window as words, and any other store to their page as one that it refuses. The upper half
  // bypasses the window.
  assign aw_is_push = mmio_axi_i.aw.addr[14:12] == 3'(BlockPush);
  always_comb begin
    shown_req = mmio_axi_i;
    if (aw_is_push) shown_req.aw.size = (mmio_axi_i.aw.size == DoubleSize) ? WordSize : DoubleSize;
  end

  // Between the window and the blocks: one port of AXI4-Lite.
  axil_req_t  lite_req;
  axil_resp_t lite_resp;

  // Single words reach the blocks.
  axi_window u_window (
    .clk_i,
    .rst_ni,
    .aw_window_i (aw_is_ours),
    .ar_window_i (ar_is_ours),
    .axi_i       (shown_req),
    .axi_o       (mmio_axi_o),
    // Everything else: the devices of the bench.
    .outer_axi_o (outer_req),
    .outer_axi_i (devices_axi_i),
    // The blocks.
    .lite_axil_o (lite_req),
    .lite_axil_i (lite_resp)
  );

  // The devices see the size that the host has given.
  always_comb begin
    devices_axi_o         = outer_req;
    devices_axi_o.aw.size = mmio_axi_i.aw.size;
  end

  // --- pages ---
  logic [NumBlocks-1:0]       aw_select, ar_select;
  axil_req_t [NumBlocks-1:0]  req;
  // What the blocks answer, and what the core gets to see of it.
  axil_resp_t [NumBlocks-1:0] resp, seen;

  // Addresses bypass the window in the cycle of their `valid`. The demultiplexer keeps its
  // selection.
  for (genvar block = 0; block < NumBlocks; block++) begin : gen_select
    assign aw_select[block] = mmio_axi_i.aw.addr[14:12] == 3'(block);
    assign ar_select[block] = mmio_axi_i.ar.addr[14:12] == 3'(block);
  end

  // An empty page has no block, and the demultiplexer answers it with an error.
  axi_lite_demux #(.NumTargets(NumBlocks)) u_demux (
    .clk_i,
    .rst_ni,
    .aw_select_i (aw_select),
    .ar_select_i (ar_select),
    .axil_i      (lite_req),
    .axil_o      (lite_resp),
    .target_o    (req),
    .target_i    (seen)
  );

  // A broken engine: the highest bit of a digest, a public key or a signature is stuck when it is
  // read. Status and identification are below 0x080, and correct.
  logic shows_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) shows_q <= 1'b0;
    else if (lite_req.ar_valid && lite_resp.ar_ready) shows_q <= lite_req.ar_addr >= 12'h080;
  end
  // Only the words that are read change. The engines continue as they are, so only software can
  // notice.
  always_comb begin
    seen = resp;
    if (upset_i[0] && shows_q) begin
      seen[BlockEd25519].r_data[31] = 1'b1;
      seen[BlockSha3].r_data[31]    = 1'b1;
    end
    // A secret that shows, whatever the latch says.
    if (upset_i[1] && !shows_q) seen[BlockSecret].r_data[0] = 1'b1;
  end

  // --- blocks ---
  // Interrupts lead nowhere: the loader polls, which costs least for waits of this length.
  logic                ed25519_alert, sha3_alert, dma_alert;
  logic                list_req, list_gnt, list_rvalid;
  logic [ListBits-3:0] list_word;
  logic [31:0]         list_rdata;
  logic                sink_valid, sink_ready, sink_last, sink_abort, holds;
  logic                joined_valid, joined_ready, joined_last, joined_abort;
  logic                str_valid, str_ready, str_last, str_abort;
  logic [63:0]         sink_data, joined_data, str_data;
  logic [3:0]          sink_bytes, joined_bytes, str_bytes;
  logic [2:0]          unused_irq;
  logic [63:0]         unused_prefix;
  logic                unused_prefix_valid, unused_prefix_last, unused_digest_ready;
  logic                unused_entropy_ready;

  // The secret holds test keys only. A chip has a root of trust for it.
  device_secret u_secret (
    .clk_i,
    .rst_ni,
    .secret_i,
    .shut_i        (1'b0),
    .axil_i        (req[BlockSecret]),
    .axil_o        (resp[BlockSecret])
  );

  // Digests, keys and prefixes come from the core here, as in the paper, so the side ports are not
  // used.
  ed25519 u_ed25519 (
    .clk_i,
    .rst_ni,
    .axil_i         (req[BlockEd25519]),
    .axil_o         (resp[BlockEd25519]),
    // Without the parameter `Blinded` the engine takes no entropy.
    .ent_valid_i    (1'b0),
    .ent_ready_o    (unused_entropy_ready),
    .ent_data_i     ('0),
    .dig_valid_i    (1'b0),
    .dig_ready_o    (unused_digest_ready),
    .dig_data_i     ('0),
    .pre_valid_o    (unused_prefix_valid),
    .pre_ready_i    (1'b0),
    .pre_data_o     (unused_prefix),
    .pre_last_o     (unused_prefix_last),
    .lifecycle_i    ('0),
    .irq_o          (unused_irq[0]),
    .alert_o        (ed25519_alert)
  );

  // Short messages come by its registers, payloads by the stream of the DMA engine.
  sha3 #(.RoundsPerCycle(Sha3Rounds)) u_sha3 (
    .clk_i,
    .rst_ni,
    .axil_i         (req[BlockSha3]),
    .axil_o         (resp[BlockSha3]),
    .str_valid_i    (str_valid),
    .str_ready_o    (str_ready),
    .str_data_i     (str_data),
    .str_last_i     (str_last),
    .str_bytes_i    (str_bytes),
    .str_abort_i    (str_abort),
    .lifecycle_i    ('0),
    .irq_o          (unused_irq[1]),
    .alert_o        (sha3_alert)
  );

  // The engine has a port of its own, which bypasses the caches, at a word of 64 bits a cycle. It
  // does not see words that the core has stored and not written back.
  dma #(
    .NumSinks    (1),
    .NumReads    (DmaReads),
    .ScratchBits (ListBits),
    .LowestPage  (32'(HostBase[31:12]))
  ) u_dma (
    .clk_i,
    .rst_ni,
    .axil_i         (req[BlockDma]),
    .axil_o         (resp[BlockDma]),
    // Lists.
    .scratch_req_o    (list_req),
    .scratch_gnt_i    (list_gnt),
    .scratch_word_o   (list_word),
    .scratch_rvalid_i (list_rvalid),
    .scratch_rdata_i  (list_rdata),
    .scratch_err_i    (1'b0),
    // The message.
    .sink_valid_o     (sink_valid),
    .sink_ready_i     (sink_ready),
    .sink_data_o      (sink_data),
    .sink_last_o      (sink_last),
    .sink_bytes_o     (sink_bytes),
    .sink_abort_o     (sink_abort),
    // Reads and writes of memory.
    .axi_o            (mem_axi_o),
    .axi_i            (mem_axi_i),
    .lifecycle_i      ('0),
    .irq_o            (unused_irq[2]),
    .alert_o          (dma_alert)
  );

  // Joins lists to one message while software holds it.
  tee_stream u_stream (
    .clk_i,
    .rst_ni,
    .hold_i      (holds),
    .in_valid_i  (sink_valid),
    .in_ready_o  (sink_ready),
    .in_data_i   (sink_data),
    .in_last_i   (sink_last),
    .in_bytes_i  (sink_bytes),
    .in_abort_i  (sink_abort),
    .out_valid_o (joined_valid),
    .out_ready_i (joined_ready),
    .out_data_o  (joined_data),
    .out_last_o  (joined_last),
    .out_bytes_o (joined_bytes),
    .out_abort_o (joined_abort)
  );

  // The hash engine takes pushed words, and words of lists, as one stream.
  tee_push u_push (
    .clk_i,
    .rst_ni,
    .axil_i       (req[BlockPush]),
    .axil_o       (resp[BlockPush]),
    .upper_data_i (mmio_axi_i.w_data[63:32]),
    .upper_strb_i (mmio_axi_i.w_strb[7:4]),
    // From lists.
    .in_valid_i  (joined_valid),
    .in_ready_o  (joined_ready),
    .in_data_i   (joined_data),
    .in_last_i   (joined_last),
    .in_bytes_i  (joined_bytes),
    .in_abort_i  (joined_abort),
    .out_valid_o (str_valid),
    .out_ready_i (str_ready),
    .out_data_o  (str_data),
    .out_last_o  (str_last),
    .out_bytes_o (str_bytes),
    .out_abort_o (str_abort)
  );

  // The engine reads its lists by a port of their own.
  tee_lists u_lists (
    .clk_i,
    .rst_ni,
    .axil_i        (req[BlockLists]),
    .axil_o        (resp[BlockLists]),
    .hold_o        (holds),
    .list_req_i    (list_req),
    .list_gnt_o    (list_gnt),
    .list_word_i   (list_word),
    .list_rvalid_o (list_rvalid),
    .list_rdata_o  (list_rdata)
  );

  assign alert_o = ed25519_alert | sha3_alert | dma_alert;

  // The bench reports an alert. Nothing follows from it here, because software tries every engine
  // with known answers.
  `ASSERT(OnePageAtATime_A, $onehot0(aw_select) && $onehot0(ar_select))
  // The DMA engine reaches memory and no device.
  `ASSERT(DmaReadsMemoryAlone_A, mem_axi_o.ar_valid |-> is_host(mem_axi_o.ar.addr))
  `ASSERT(DmaWritesMemoryAlone_A, mem_axi_o.aw_valid |-> is_host(mem_axi_o.aw.addr))
  // AMBA AXI §A3.2.1: an offered address stays until it is taken.
  `ASSERT(AnOfferOfTheDmaStays_A, mem_axi_o.ar_valid && !mem_axi_i.ar_ready |=>
          mem_axi_o.ar_valid && $stable(mem_axi_o.ar))
  // A store that pushes is a whole word of 64 bits.
  `ASSERT(OnlyDoubleWordsArePushed_A, req[BlockPush].aw_valid |-> mmio_axi_i.aw.size == DoubleSize)
  // Accesses to the pages of the engines never reach a device of the bench.
  `ASSERT(NothingOfTheEnginesLeaves_A, devices_axi_o.aw_valid |-> !aw_is_ours)
  `ASSERT(NorDoesARead_A, devices_axi_o.ar_valid |-> !ar_is_ours)
endmodule
