// The engines of `tee_machine`: device secret, Ed25519, SHA-3, DMA, its lists and pushed words, in
// six pages of devices; and the port of the DMA engine into memory, which only that engine uses.
//
// The host's core is the only manager. Its bus has no bits of privilege, so PMP has to close the
// pages to S- and U-mode. One write and one read are open at a time. An access to an empty page is
// an error. Reset clears the state of all engines.

`include "assert.svh"

module tee_engines
  import soc_pkg::*;
  import soc_axi_pkg::*;
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
  input  req_t         mmio_req_i,
  output resp_t        mmio_resp_o,
  output req_t         devices_req_o,
  input  resp_t        devices_resp_i,

  // Memory, for the DMA engine. The alert of any engine.
  output req_t         mem_req_o,
  input  resp_t        mem_resp_i,
  output logic         alert_o
);
  // --- the window ---
  logic outer_aw_valid, outer_w_valid, outer_b_ready, outer_ar_valid, outer_r_ready, aw_is_ours, ar_is_ours;
  localparam logic [2:0] WordSize = 3'd2, DoubleSize = 3'd3;
  logic       aw_is_push;
  logic [2:0] aw_size;
  assign aw_is_ours = mmio_req_i.aw.addr[30:15] == Window;
  assign ar_is_ours = mmio_req_i.ar.addr[30:15] == Window;

  // The window takes single words. Words to push are as wide as the bus: their stores are shown to
  // the window as words, and any other store to their page as one that it refuses. The upper half
  // bypasses the window.
  assign aw_is_push = mmio_req_i.aw.addr[14:12] == 3'(BlockPush);
  assign aw_size    = !aw_is_push                            ? mmio_req_i.aw.size
                    : (mmio_req_i.aw.size == DoubleSize)     ? WordSize : DoubleSize;

  // Between the window and the blocks: one port of AXI4-Lite.
  logic        aw_valid, aw_ready, w_valid, w_ready, b_valid, b_ready, ar_valid, ar_ready, r_valid, r_ready;
  logic [11:0] aw_addr, ar_addr;
  logic [31:0] w_data, r_data;
  logic [3:0]  w_strb;
  logic [1:0]  b_resp, r_resp;

  // Single words reach the blocks.
  axi_window #(.IdBits(IdBits)) u_window (
    .clk_i,
    .rst_ni,
    .aw_valid_i       (mmio_req_i.aw_valid),
    .aw_ready_o       (mmio_resp_o.aw_ready),
    .aw_window_i      (aw_is_ours),
    .aw_id_i          (mmio_req_i.aw_id),
    .aw_len_i         (mmio_req_i.aw.len),
    .aw_size_i        (aw_size),
    .aw_addr_i        (mmio_req_i.aw.addr[11:0]),
    .w_valid_i        (mmio_req_i.w_valid),
    .w_ready_o        (mmio_resp_o.w_ready),
    .w_data_i         (mmio_req_i.w_data),
    .w_strb_i         (mmio_req_i.w_strb),
    .w_last_i         (mmio_req_i.w_last),
    .b_valid_o        (mmio_resp_o.b_valid),
    .b_ready_i        (mmio_req_i.b_ready),
    .b_id_o           (mmio_resp_o.b_id),
    .b_resp_o         (mmio_resp_o.b_resp),
    .ar_valid_i       (mmio_req_i.ar_valid),
    .ar_ready_o       (mmio_resp_o.ar_ready),
    .ar_window_i      (ar_is_ours),
    .ar_id_i          (mmio_req_i.ar_id),
    .ar_len_i         (mmio_req_i.ar.len),
    .ar_size_i        (mmio_req_i.ar.size),
    .ar_addr_i        (mmio_req_i.ar.addr[11:0]),
    .r_valid_o        (mmio_resp_o.r_valid),
    .r_ready_i        (mmio_req_i.r_ready),
    .r_id_o           (mmio_resp_o.r_id),
    .r_data_o         (mmio_resp_o.r_data),
    .r_resp_o         (mmio_resp_o.r_resp),
    .r_last_o         (mmio_resp_o.r_last),
    // Everything else: the devices of the bench.
    .outer_aw_valid_o (outer_aw_valid),
    .outer_aw_ready_i (devices_resp_i.aw_ready),
    .outer_w_valid_o  (outer_w_valid),
    .outer_w_ready_i  (devices_resp_i.w_ready),
    .outer_b_valid_i  (devices_resp_i.b_valid),
    .outer_b_ready_o  (outer_b_ready),
    .outer_b_resp_i   (devices_resp_i.b_resp),
    .outer_ar_valid_o (outer_ar_valid),
    .outer_ar_ready_i (devices_resp_i.ar_ready),
    .outer_r_valid_i  (devices_resp_i.r_valid),
    .outer_r_ready_o  (outer_r_ready),
    .outer_r_data_i   (devices_resp_i.r_data),
    .outer_r_resp_i   (devices_resp_i.r_resp),
    .outer_r_last_i   (devices_resp_i.r_last),
    // The blocks.
    .lite_aw_valid_o  (aw_valid),
    .lite_aw_ready_i  (aw_ready),
    .lite_aw_addr_o   (aw_addr),
    .lite_w_valid_o   (w_valid),
    .lite_w_ready_i   (w_ready),
    .lite_w_data_o    (w_data),
    .lite_w_strb_o    (w_strb),
    .lite_b_valid_i   (b_valid),
    .lite_b_ready_o   (b_ready),
    .lite_b_resp_i    (b_resp),
    .lite_ar_valid_o  (ar_valid),
    .lite_ar_ready_i  (ar_ready),
    .lite_ar_addr_o   (ar_addr),
    .lite_r_valid_i   (r_valid),
    .lite_r_ready_o   (r_ready),
    .lite_r_data_i    (r_data),
    .lite_r_resp_i    (r_resp)
  );

  // Addresses and data bypass the window, which gates the handshakes.
  always_comb begin
    devices_req_o          = mmio_req_i;
    devices_req_o.aw_valid = outer_aw_valid;
    devices_req_o.w_valid  = outer_w_valid;
    devices_req_o.b_ready  = outer_b_ready;
    devices_req_o.ar_valid = outer_ar_valid;
    devices_req_o.r_ready  = outer_r_ready;
  end

  // --- pages ---
  logic [NumBlocks-1:0]       aw_select, ar_select;
  logic [NumBlocks-1:0]       t_aw_valid, t_aw_ready, t_w_valid, t_w_ready, t_b_valid, t_b_ready;
  logic [NumBlocks-1:0]       t_ar_valid, t_ar_ready, t_r_valid, t_r_ready;
  logic [NumBlocks-1:0][1:0]  t_b_resp, t_r_resp;
  logic [NumBlocks-1:0][31:0] t_r_data, seen_r_data;

  // Addresses bypass the window in the cycle of their `valid`. The demultiplexer keeps its
  // selection.
  for (genvar block = 0; block < NumBlocks; block++) begin : gen_select
    assign aw_select[block] = mmio_req_i.aw.addr[14:12] == 3'(block);
    assign ar_select[block] = mmio_req_i.ar.addr[14:12] == 3'(block);
  end

  // An empty page has no block, and the demultiplexer answers it with an error.
  axi_lite_demux #(.NumTargets(NumBlocks)) u_demux (
    .clk_i,
    .rst_ni,
    // From the window.
    .aw_select_i       (aw_select),
    .aw_valid_i        (aw_valid),
    .aw_ready_o        (aw_ready),
    .w_valid_i         (w_valid),
    .w_ready_o         (w_ready),
    .b_valid_o         (b_valid),
    .b_ready_i         (b_ready),
    .b_resp_o          (b_resp),
    .ar_select_i       (ar_select),
    .ar_valid_i        (ar_valid),
    .ar_ready_o        (ar_ready),
    .r_valid_o         (r_valid),
    .r_ready_i         (r_ready),
    .r_data_o          (r_data),
    .r_resp_o          (r_resp),
    // Only the selected block gets the handshakes.
    .target_aw_valid_o (t_aw_valid),
    .target_aw_ready_i (t_aw_ready),
    .target_w_valid_o  (t_w_valid),
    .target_w_ready_i  (t_w_ready),
    .target_b_valid_i  (t_b_valid),
    .target_b_ready_o  (t_b_ready),
    .target_b_resp_i   (t_b_resp),
    .target_ar_valid_o (t_ar_valid),
    .target_ar_ready_i (t_ar_ready),
    .target_r_valid_i  (t_r_valid),
    .target_r_ready_o  (t_r_ready),
    .target_r_data_i   (seen_r_data),
    .target_r_resp_i   (t_r_resp)
  );

  // A broken engine: the highest bit of a digest, a public key or a signature is stuck when it is
  // read. Status and identification are below 0x080, and correct.
  logic shows_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                   shows_q <= 1'b0;
    else if (ar_valid && ar_ready) shows_q <= ar_addr >= 12'h080;
  end
  // Only the words that are read change. The engines continue as they are, so only software can
  // notice.
  always_comb begin
    seen_r_data = t_r_data;
    if (upset_i[0] && shows_q) begin
      seen_r_data[BlockEd25519][31] = 1'b1;
      seen_r_data[BlockSha3][31]    = 1'b1;
    end
    // A secret that shows, whatever the latch says.
    if (upset_i[1] && !shows_q) seen_r_data[BlockSecret][0] = 1'b1;
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
  logic                unused_entropy_ready, push_read_q;

  // The secret holds test keys only. A chip has a root of trust for it.
  device_secret u_secret (
    .clk_i,
    .rst_ni,
    .secret_i,
    .shut_i        (1'b0),
    .aw_valid_i    (t_aw_valid[BlockSecret]),
    .aw_ready_o    (t_aw_ready[BlockSecret]),
    .aw_addr_i     (aw_addr),
    .w_valid_i     (t_w_valid[BlockSecret]),
    .w_ready_o     (t_w_ready[BlockSecret]),
    .w_data_i      (w_data),
    .w_strb_i      (w_strb),
    .b_valid_o     (t_b_valid[BlockSecret]),
    .b_ready_i     (t_b_ready[BlockSecret]),
    .b_resp_o      (t_b_resp[BlockSecret]),
    .ar_valid_i    (t_ar_valid[BlockSecret]),
    .ar_ready_o    (t_ar_ready[BlockSecret]),
    .ar_addr_i     (ar_addr),
    .r_valid_o     (t_r_valid[BlockSecret]),
    .r_ready_i     (t_r_ready[BlockSecret]),
    .r_data_o      (t_r_data[BlockSecret]),
    .r_resp_o      (t_r_resp[BlockSecret])
  );

  // Digests, keys and prefixes come from the core here, as in the paper, so the side ports are not
  // used.
  ed25519 u_ed25519 (
    .clk_i,
    .rst_ni,
    .axil_awvalid_i (t_aw_valid[BlockEd25519]),
    .axil_awready_o (t_aw_ready[BlockEd25519]),
    .axil_awaddr_i  (aw_addr),
    .axil_awprot_i  ('0),
    .axil_wvalid_i  (t_w_valid[BlockEd25519]),
    .axil_wready_o  (t_w_ready[BlockEd25519]),
    .axil_wdata_i   (w_data),
    .axil_wstrb_i   (w_strb),
    .axil_bvalid_o  (t_b_valid[BlockEd25519]),
    .axil_bready_i  (t_b_ready[BlockEd25519]),
    .axil_bresp_o   (t_b_resp[BlockEd25519]),
    // Reads of results; inputs cannot be read.
    .axil_arvalid_i (t_ar_valid[BlockEd25519]),
    .axil_arready_o (t_ar_ready[BlockEd25519]),
    .axil_araddr_i  (ar_addr),
    .axil_arprot_i  ('0),
    .axil_rvalid_o  (t_r_valid[BlockEd25519]),
    .axil_rready_i  (t_r_ready[BlockEd25519]),
    .axil_rdata_o   (t_r_data[BlockEd25519]),
    .axil_rresp_o   (t_r_resp[BlockEd25519]),
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
    .axil_awvalid_i (t_aw_valid[BlockSha3]),
    .axil_awready_o (t_aw_ready[BlockSha3]),
    .axil_awaddr_i  (aw_addr),
    .axil_awprot_i  ('0),
    .axil_wvalid_i  (t_w_valid[BlockSha3]),
    .axil_wready_o  (t_w_ready[BlockSha3]),
    .axil_wdata_i   (w_data),
    .axil_wstrb_i   (w_strb),
    .axil_bvalid_o  (t_b_valid[BlockSha3]),
    .axil_bready_i  (t_b_ready[BlockSha3]),
    .axil_bresp_o   (t_b_resp[BlockSha3]),
    // Reads of digest and state.
    .axil_arvalid_i (t_ar_valid[BlockSha3]),
    .axil_arready_o (t_ar_ready[BlockSha3]),
    .axil_araddr_i  (ar_addr),
    .axil_arprot_i  ('0),
    .axil_rvalid_o  (t_r_valid[BlockSha3]),
    .axil_rready_i  (t_r_ready[BlockSha3]),
    .axil_rdata_o   (t_r_data[BlockSha3]),
    .axil_rresp_o   (t_r_resp[BlockSha3]),
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
  logic [31:0] ar_mem, aw_mem;
  logic [7:0]  ar_len, aw_len;
  dma #(
    .NumSinks    (1),
    .NumReads    (DmaReads),
    .ScratchBits (ListBits),
    .LowestPage  (32'(HostBase[31:12]))
  ) u_dma (
    .clk_i,
    .rst_ni,
    .axil_awvalid_i (t_aw_valid[BlockDma]),
    .axil_awready_o (t_aw_ready[BlockDma]),
    .axil_awaddr_i  (aw_addr),
    .axil_awprot_i  ('0),
    .axil_wvalid_i  (t_w_valid[BlockDma]),
    .axil_wready_o  (t_w_ready[BlockDma]),
    .axil_wdata_i   (w_data),
    .axil_wstrb_i   (w_strb),
    .axil_bvalid_o  (t_b_valid[BlockDma]),
    .axil_bready_i  (t_b_ready[BlockDma]),
    .axil_bresp_o   (t_b_resp[BlockDma]),
    // Reads of its state.
    .axil_arvalid_i (t_ar_valid[BlockDma]),
    .axil_arready_o (t_ar_ready[BlockDma]),
    .axil_araddr_i  (ar_addr),
    .axil_arprot_i  ('0),
    .axil_rvalid_o  (t_r_valid[BlockDma]),
    .axil_rready_i  (t_r_ready[BlockDma]),
    .axil_rdata_o   (t_r_data[BlockDma]),
    .axil_rresp_o   (t_r_resp[BlockDma]),
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
    // Reads.
    .ar_valid_o       (mem_req_o.ar_valid),
    .ar_ready_i       (mem_resp_i.ar_ready),
    .ar_addr_o        (ar_mem),
    .ar_len_o         (ar_len),
    .r_valid_i        (mem_resp_i.r_valid),
    .r_ready_o        (mem_req_o.r_ready),
    .r_data_i         (mem_resp_i.r_data),
    .r_resp_i         (mem_resp_i.r_resp),
    .r_last_i         (mem_resp_i.r_last),
    // Writes.
    .aw_valid_o       (mem_req_o.aw_valid),
    .aw_ready_i       (mem_resp_i.aw_ready),
    .aw_addr_o        (aw_mem),
    .aw_len_o         (aw_len),
    .w_valid_o        (mem_req_o.w_valid),
    .w_ready_i        (mem_resp_i.w_ready),
    .w_data_o         (mem_req_o.w_data),
    .w_strb_o         (mem_req_o.w_strb),
    .w_last_o         (mem_req_o.w_last),
    .b_valid_i        (mem_resp_i.b_valid),
    .b_ready_o        (mem_req_o.b_ready),
    .b_resp_i         (mem_resp_i.b_resp),
    .lifecycle_i      ('0),
    .irq_o            (unused_irq[2]),
    .alert_o          (dma_alert)
  );
  // Bursts of words of 64 bits, with one id, so that reads come back in their order.
  assign mem_req_o.ar    = burst_at(ar_mem, ar_len);
  assign mem_req_o.aw    = burst_at(aw_mem, aw_len);
  assign mem_req_o.ar_id = '0;
  assign mem_req_o.aw_id = '0;

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

  // Words that the core pushes. Their page cannot be read.
  assign t_ar_ready[BlockPush] = ~t_r_valid[BlockPush];
  assign t_r_data[BlockPush]   = '0;
  assign t_r_resp[BlockPush]   = RespSlverr;
  assign t_r_valid[BlockPush]  = push_read_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) push_read_q <= 1'b0;
    else         push_read_q <= push_read_q ? ~t_r_ready[BlockPush] : t_ar_valid[BlockPush];
  end

  // The hash engine takes pushed words, and words of lists, as one stream.
  tee_push u_push (
    .clk_i,
    .rst_ni,
    .aw_valid_i  (t_aw_valid[BlockPush]),
    .aw_ready_o  (t_aw_ready[BlockPush]),
    .aw_addr_i   (aw_addr),
    .w_valid_i   (t_w_valid[BlockPush]),
    .w_ready_o   (t_w_ready[BlockPush]),
    .w_data_i    ({mmio_req_i.w_data[63:32], w_data}),
    .w_strb_i    ({mmio_req_i.w_strb[7:4], w_strb}),
    .b_valid_o   (t_b_valid[BlockPush]),
    .b_ready_i   (t_b_ready[BlockPush]),
    .b_resp_o    (t_b_resp[BlockPush]),
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
    .aw_valid_i    (t_aw_valid[BlockLists]),
    .aw_ready_o    (t_aw_ready[BlockLists]),
    .aw_addr_i     (aw_addr),
    .w_valid_i     (t_w_valid[BlockLists]),
    .w_ready_o     (t_w_ready[BlockLists]),
    .w_data_i      (w_data),
    .w_strb_i      (w_strb),
    .b_valid_o     (t_b_valid[BlockLists]),
    .b_ready_i     (t_b_ready[BlockLists]),
    .b_resp_o      (t_b_resp[BlockLists]),
    .ar_valid_i    (t_ar_valid[BlockLists]),
    .ar_ready_o    (t_ar_ready[BlockLists]),
    .ar_addr_i     (ar_addr),
    .r_valid_o     (t_r_valid[BlockLists]),
    .r_ready_i     (t_r_ready[BlockLists]),
    .r_data_o      (t_r_data[BlockLists]),
    .r_resp_o      (t_r_resp[BlockLists]),
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
  `ASSERT(DmaReadsMemoryAlone_A, mem_req_o.ar_valid |-> is_host(mem_req_o.ar.addr))
  `ASSERT(DmaWritesMemoryAlone_A, mem_req_o.aw_valid |-> is_host(mem_req_o.aw.addr))
  // AMBA AXI §A3.2.1: an offered address stays until it is taken.
  `ASSERT(AnOfferOfTheDmaStays_A, mem_req_o.ar_valid && !mem_resp_i.ar_ready |=>
          mem_req_o.ar_valid && $stable(mem_req_o.ar))
  // A store that pushes is a whole word of 64 bits.
  `ASSERT(OnlyDoubleWordsArePushed_A, t_aw_valid[BlockPush] |-> mmio_req_i.aw.size == DoubleSize)
  // Accesses to the pages of the engines never reach a device of the bench.
  `ASSERT(NothingOfTheEnginesLeaves_A, devices_req_o.aw_valid |-> !aw_is_ours)
  `ASSERT(NorDoesARead_A, devices_req_o.ar_valid |-> !ar_is_ours)
endmodule
