// The registers of the root of trust: its blocks, on the register bus (rot_register_bus.sv).
//
// Each block has a page of 4 KiB. The core is the only manager of this bus, and one access is open
// at a time. The host's side of the mailbox is a port of its own and never on this bus. An access
// takes `Latency` cycles or as long as its block; one without a block is an error. Reset clears the
// state of all blocks.
//
// An upset that a block detects in itself is an alert: the boot sequencer puts the host into reset
// two cycles later without software, the mailbox is wiped, and the core gets an interrupt that it
// cannot mask.

module rot_registers
  import soc_pkg::*;
#(
  // The smallest number of cycles of an access, and the cycles after which it has failed.
  parameter int unsigned Latency       = 5,
  parameter int unsigned TimeoutCycles = 2000,
  // Outstanding reads of the DMA engine, and rounds of the SHA-3 engine in a cycle.
  parameter int unsigned DmaReads      = 8,
  parameter int unsigned Sha3Rounds    = 1,
  // Hash cores of the engine for hash-based signatures, and rounds of each in a cycle.
  parameter int unsigned XmssLanes     = 4,
  parameter int unsigned XmssRounds    = 2,
  // Engines for AES, with a writer of its results, and for big numbers, and multipliers of the
  // latter. Without them their pages are empty.
  parameter bit          HasAes        = 1'b0,
  parameter bit          HasBignum     = 1'b0,
  parameter int unsigned BignumDsps    = 16
) (
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

  // The host's side of the mailbox: AXI4-Lite.
  // Write address.
  input  logic        mailbox_aw_valid_i,
  output logic        mailbox_aw_ready_o,
  // Write data.
  input  logic        mailbox_w_valid_i,
  output logic        mailbox_w_ready_o,
  // Write response.
  output logic        mailbox_b_valid_o,
  input  logic        mailbox_b_ready_i,
  output logic [1:0]  mailbox_b_resp_o,
  // Read address.
  input  logic        mailbox_ar_valid_i,
  output logic        mailbox_ar_ready_o,
  // Read data and response.
  output logic        mailbox_r_valid_o,
  input  logic        mailbox_r_ready_i,
  output logic [31:0] mailbox_r_data_o,
  output logic [1:0]  mailbox_r_resp_o,
  input  logic [11:0] mailbox_aw_addr_i,
  input  logic [11:0] mailbox_ar_addr_i,
  input  logic [31:0] mailbox_w_data_i,
  input  logic [3:0]  mailbox_w_strb_i,
  // Interrupt of the mailbox to the host.
  output logic        mailbox_irq_o,

  // The secret of the device, from one-time storage.
  input  logic [511:0] secret_i,

  // Samples of the noise source, if there is an engine that needs them.
  input  logic        noise_valid_i,
  output logic        noise_ready_o,
  input  logic [31:0] noise_i,

  // A change of the lifecycle wipes the values that engines hold.
  input  logic [3:0]  lifecycle_i,
  // Interrupts to the core, one for each block.
  output logic        sha2_irq_o,
  // The interrupt of the mailbox.
  output logic        rot_irq_o,
  output logic        dma_irq_o,
  output logic        sha3_irq_o,
  output logic        ed25519_irq_o,
  output logic        xmss_irq_o,
  output logic        aes_irq_o,
  output logic        bignum_irq_o,
  output logic        writer_irq_o,
  // An engine has detected an upset of its own. This lasts until reset.
  output logic        alert_o,
  // The core has detected a fault of its own.
  input  logic        fault_i,

  // Lists of the DMA engine: words of the scratchpad.
  output logic        list_req_o,
  input  logic        list_gnt_i,
  output logic [13:0] list_word_o,
  input  logic        list_rvalid_i,
  input  logic [31:0] list_rdata_i,

  // Words of the scratchpad for the stream to the engine for signatures.
  output logic        stream_req_o,
  input  logic        stream_gnt_i,
  output logic [13:0] stream_word_o,
  input  logic        stream_rvalid_i,
  input  logic [31:0] stream_rdata_i,

  // The port of the DMA engine into the host's memory: AXI4, bursts of words of 64 bits.
  // Write address.
  output logic        dma_aw_valid_o,
  input  logic        dma_aw_ready_i,
  output logic [31:0] dma_aw_addr_o,
  output logic [7:0]  dma_aw_len_o,
  // Write data.
  output logic        dma_w_valid_o,
  input  logic        dma_w_ready_i,
  output logic [63:0] dma_w_data_o,
  output logic [7:0]  dma_w_strb_o,
  output logic        dma_w_last_o,
  // Write response.
  input  logic        dma_b_valid_i,
  output logic        dma_b_ready_o,
  input  logic [1:0]  dma_b_resp_i,
  // Read address.
  output logic        dma_ar_valid_o,
  input  logic        dma_ar_ready_i,
  output logic [31:0] dma_ar_addr_o,
  output logic [7:0]  dma_ar_len_o,
  // Read data and response.
  input  logic        dma_r_valid_i,
  output logic        dma_r_ready_o,
  input  logic [63:0] dma_r_data_i,
  input  logic [1:0]  dma_r_resp_i,
  input  logic        dma_r_last_i,

  // Results of the AES engine, into the host's memory: AXI4, bursts of words of 64 bits.
  // Write address.
  output logic        writer_aw_valid_o,
  input  logic        writer_aw_ready_i,
  output logic [31:0] writer_aw_addr_o,
  output logic [7:0]  writer_aw_len_o,
  // Write data.
  output logic        writer_w_valid_o,
  input  logic        writer_w_ready_i,
  output logic [63:0] writer_w_data_o,
  output logic [7:0]  writer_w_strb_o,
  output logic        writer_w_last_o,
  // Write response.
  input  logic        writer_b_valid_i,
  output logic        writer_b_ready_o,
  input  logic [1:0]  writer_b_resp_i,

  // The page of the bench, an external block.
  // Write address.
  output logic        bench_aw_valid_o,
  input  logic        bench_aw_ready_i,
  // Write data.
  output logic        bench_w_valid_o,
  input  logic        bench_w_ready_i,
  // Write response.
  input  logic        bench_b_valid_i,
  output logic        bench_b_ready_o,
  // Read address.
  output logic        bench_ar_valid_o,
  input  logic        bench_ar_ready_i,
  // Read data and response.
  input  logic        bench_r_valid_i,
  output logic        bench_r_ready_o,
  input  logic [31:0] bench_r_data_i,
  output logic [11:0] bench_addr_o,
  output logic [31:0] bench_w_data_o,
  output logic [3:0]  bench_w_strb_o,

  // The boot sequencer: reset and trap of the host, its state and its reason.
  output logic        host_rst_no,
  output logic        host_trap_o,
  output logic [2:0]  boot_status_o,
  output logic [31:0] boot_reason_o
);
  // Positions of the blocks in the vectors below.
  localparam int unsigned Control   = 0;
  localparam int unsigned Bench     = 1;
  localparam int unsigned Sha2      = 2;
  localparam int unsigned Mailbox   = 3;
  localparam int unsigned Dma       = 4;
  localparam int unsigned Sha3      = 5;
  localparam int unsigned Ed25519   = 6;
  localparam int unsigned Secret    = 7;
  localparam int unsigned Xmss      = 8;
  localparam int unsigned Stream    = 9;
  // These blocks are the last ones, so that a machine without them has fewer blocks.
  localparam bit          HasNoise  = HasAes | HasBignum;
  localparam int unsigned Noise     = 10;
  localparam int unsigned Aes       = 11;
  localparam int unsigned Writer    = 12;
  localparam int unsigned Slot      = 13;
  localparam int unsigned Bignum    = 11 + (HasAes ? 3 : 0);
  localparam int unsigned NumBlocks = HasNoise ? Bignum + 32'(HasBignum) : Noise;
  // Sinks of the DMA engine, as bits of its `control`.
  localparam int unsigned SinkSha2 = 0;
  localparam int unsigned SinkSha3 = 1;
  localparam int unsigned SinkAes  = 2;
  localparam int unsigned NumSinks = 2 + 32'(HasAes);

  // Address and data of the open access go to all blocks; handshakes and responses have one bit or
  // word for each block.
  logic [11:0]                addr;
  logic [31:0]                w_data;
  logic [3:0]                 w_strb;
  logic [NumBlocks-1:0]       t_aw_valid, t_aw_ready, t_w_valid, t_w_ready, t_b_valid, t_b_ready;
  logic [NumBlocks-1:0]       t_ar_valid, t_ar_ready, t_r_valid, t_r_ready;
  logic [NumBlocks-1:0][31:0] t_r_data;
  logic [NumBlocks-1:0][1:0]  t_b_resp, t_r_resp;

  // The pages are in the order of the positions above.
  localparam logic [14:0][3:0] Pages = {
    PageBignum, PageSlot, PageWriter, HasAes ? PageAes : PageBignum, PageNoise, PageStream, PageXmss, PageSecret, PageEd25519,
    PageSha3, PageDma, PageMailbox, PageSha2, PageBench, PageControl
  };

  rot_register_bus #(
    .Latency       (Latency),
    .TimeoutCycles (TimeoutCycles),
    .NumBlocks     (NumBlocks),
    .Pages         (Pages[NumBlocks-1:0])
  ) u_bus (
    .clk_i,
    .rst_ni,
    .req_i, .gnt_o, .we_i, .be_i, .addr_i, .wdata_i, .rvalid_o, .rdata_o, .err_o,
    .block_addr_o     (addr),
    .block_w_data_o   (w_data),
    .block_w_strb_o   (w_strb),
    .block_aw_valid_o (t_aw_valid),
    .block_aw_ready_i (t_aw_ready),
    .block_w_valid_o  (t_w_valid),
    .block_w_ready_i  (t_w_ready),
    .block_b_valid_i  (t_b_valid),
    .block_b_ready_o  (t_b_ready),
    .block_b_resp_i   (t_b_resp),
    .block_ar_valid_o (t_ar_valid),
    .block_ar_ready_i (t_ar_ready),
    .block_r_valid_i  (t_r_valid),
    .block_r_ready_o  (t_r_ready),
    .block_r_data_i   (t_r_data),
    .block_r_resp_i   (t_r_resp)
  );

  // Holds the host in reset until software here has decided. From any alert on it does so without
  // software.
  boot_sequencer u_boot_sequencer (
    .clk_i,
    .rst_ni,
    .axil_awvalid_i (t_aw_valid[Control]),
    .axil_awready_o (t_aw_ready[Control]),
    .axil_awaddr_i  (addr),
    .axil_awprot_i  ('0),
    .axil_wvalid_i  (t_w_valid[Control]),
    .axil_wready_o  (t_w_ready[Control]),
    .axil_wdata_i   (w_data),
    .axil_wstrb_i   (w_strb),
    .axil_bvalid_o  (t_b_valid[Control]),
    .axil_bready_i  (t_b_ready[Control]),
    .axil_bresp_o   (t_b_resp[Control]),
    .axil_arvalid_i (t_ar_valid[Control]),
    .axil_arready_o (t_ar_ready[Control]),
    .axil_araddr_i  (addr),
    .axil_arprot_i  ('0),
    .axil_rvalid_o  (t_r_valid[Control]),
    .axil_rready_i  (t_r_ready[Control]),
    .axil_rdata_o   (t_r_data[Control]),
    .axil_rresp_o   (t_r_resp[Control]),
    .fault_i        (fault_i | alert_o),
    .host_rst_no,
    .host_trap_o,
    .status_o       (boot_status_o),
    .reason_o       (boot_reason_o)
  );

  logic        sha2_alert, mailbox_error, dma_alert, sha3_alert, ed25519_alert, xmss_alert, aes_alert, bignum_alert;
  logic        unused_dig_ready, unused_ent_ready, unused_pre_valid, unused_pre_last;
  logic [63:0] unused_pre_data;

  // The host was put into reset after it may have run. Its request and the answer are forgotten,
  // and the mailbox stays closed. Alerts come a cycle before the state of the sequencer that
  // follows from them.
  logic host_is_lost;
  assign host_is_lost = fault_i | alert_o |
                        (boot_status_o == boot_sequencer_regs_pkg::boot_sequencer_state__stopped) |
                        (boot_status_o == boot_sequencer_regs_pkg::boot_sequencer_state__error);

  // --- messages of the DMA engine ---
  // One read reaches all selected engines at once: a word passes when each of them takes it (dma_stream.sv).
  logic [NumSinks-1:0] sink_valid, sink_ready;
  logic [63:0]         sink_data;
  logic                sink_last, sink_abort;
  logic [3:0]          sink_bytes;

  // Protection bits are zero: the core of the root of trust is the only manager of this bus.
  // Addresses below the host's memory are its devices, which DMA must not reach.
  dma #(
    .NumSinks    (NumSinks),
    .NumReads    (DmaReads),
    .ScratchBits ($clog2(ScratchpadBytes)),
    .LowestPage  (32'(HostBase[31:12]))
  ) u_dma (
    .clk_i,
    .rst_ni,
    // Registers of the DMA engine.
    .axil_awvalid_i   (t_aw_valid[Dma]),
    .axil_awready_o   (t_aw_ready[Dma]),
    .axil_awaddr_i    (addr),
    .axil_awprot_i    ('0),
    .axil_wvalid_i    (t_w_valid[Dma]),
    .axil_wready_o    (t_w_ready[Dma]),
    .axil_wdata_i     (w_data),
    .axil_wstrb_i     (w_strb),
    .axil_bvalid_o    (t_b_valid[Dma]),
    .axil_bready_i    (t_b_ready[Dma]),
    .axil_bresp_o     (t_b_resp[Dma]),
    .axil_arvalid_i   (t_ar_valid[Dma]),
    .axil_arready_o   (t_ar_ready[Dma]),
    .axil_araddr_i    (addr),
    .axil_arprot_i    ('0),
    .axil_rvalid_o    (t_r_valid[Dma]),
    .axil_rready_i    (t_r_ready[Dma]),
    .axil_rdata_o     (t_r_data[Dma]),
    .axil_rresp_o     (t_r_resp[Dma]),
    // Lists: the second port of the scratchpad, which never fails.
    .scratch_req_o    (list_req_o),
    .scratch_gnt_i    (list_gnt_i),
    .scratch_word_o   (list_word_o),
    .scratch_rvalid_i (list_rvalid_i),
    .scratch_rdata_i  (list_rdata_i),
    .scratch_err_i    (1'b0),
    // Messages: the same word for every sink that is selected.
    .sink_valid_o     (sink_valid),
    .sink_ready_i     (sink_ready),
    .sink_data_o      (sink_data),
    .sink_last_o      (sink_last),
    .sink_bytes_o     (sink_bytes),
    .sink_abort_o     (sink_abort),
    // Reads of the host's memory.
    .ar_valid_o       (dma_ar_valid_o),
    .ar_ready_i       (dma_ar_ready_i),
    .ar_addr_o        (dma_ar_addr_o),
    .ar_len_o         (dma_ar_len_o),
    .r_valid_i        (dma_r_valid_i),
    .r_ready_o        (dma_r_ready_o),
    .r_data_i         (dma_r_data_i),
    .r_resp_i         (dma_r_resp_i),
    .r_last_i         (dma_r_last_i),
    // Writes into the host's memory, of the words that the sinks got.
    .aw_valid_o       (dma_aw_valid_o),
    .aw_ready_i       (dma_aw_ready_i),
    .aw_addr_o        (dma_aw_addr_o),
    .aw_len_o         (dma_aw_len_o),
    .w_valid_o        (dma_w_valid_o),
    .w_ready_i        (dma_w_ready_i),
    .w_data_o         (dma_w_data_o),
    .w_strb_o         (dma_w_strb_o),
    .w_last_o         (dma_w_last_o),
    .b_valid_i        (dma_b_valid_i),
    .b_ready_o        (dma_b_ready_o),
    .b_resp_i         (dma_b_resp_i),
    // A change of the lifecycle ends a list.
    .lifecycle_i,
    .irq_o            (dma_irq_o),
    .alert_o          (dma_alert)
  );

  // --- engines ---
  sha3 #(.RoundsPerCycle(Sha3Rounds)) u_sha3 (
    .clk_i,
    .rst_ni,
    // Registers of the engine. The core can also push a message through them.
    .axil_awvalid_i (t_aw_valid[Sha3]),
    .axil_awready_o (t_aw_ready[Sha3]),
    .axil_awaddr_i  (addr),
    .axil_awprot_i  ('0),
    .axil_wvalid_i  (t_w_valid[Sha3]),
    .axil_wready_o  (t_w_ready[Sha3]),
    .axil_wdata_i   (w_data),
    .axil_wstrb_i   (w_strb),
    .axil_bvalid_o  (t_b_valid[Sha3]),
    .axil_bready_i  (t_b_ready[Sha3]),
    .axil_bresp_o   (t_b_resp[Sha3]),
    .axil_arvalid_i (t_ar_valid[Sha3]),
    .axil_arready_o (t_ar_ready[Sha3]),
    .axil_araddr_i  (addr),
    .axil_arprot_i  ('0),
    .axil_rvalid_o  (t_r_valid[Sha3]),
    .axil_rready_i  (t_r_ready[Sha3]),
    .axil_rdata_o   (t_r_data[Sha3]),
    .axil_rresp_o   (t_r_resp[Sha3]),
    // The message of the DMA engine, if its driver has selected the stream.
    .str_valid_i    (sink_valid[SinkSha3]),
    .str_ready_o    (sink_ready[SinkSha3]),
    .str_data_i     (sink_data),
    .str_last_i     (sink_last),
    .str_bytes_i    (sink_bytes),
    .str_abort_i    (sink_abort),
    .lifecycle_i,
    .irq_o          (sha3_irq_o),
    .alert_o        (sha3_alert)
  );

  // Two rounds a cycle: 34 cycles a block.
  sha2 #(.RoundsPerCycle(2)) u_sha2 (
    .clk_i,
    .rst_ni,
    .axil_awvalid_i (t_aw_valid[Sha2]),
    .axil_awready_o (t_aw_ready[Sha2]),
    .axil_awaddr_i  (addr),
    .axil_awprot_i  ('0),
    .axil_wvalid_i  (t_w_valid[Sha2]),
    .axil_wready_o  (t_w_ready[Sha2]),
    .axil_wdata_i   (w_data),
    .axil_wstrb_i   (w_strb),
    .axil_bvalid_o  (t_b_valid[Sha2]),
    .axil_bready_i  (t_b_ready[Sha2]),
    .axil_bresp_o   (t_b_resp[Sha2]),
    .axil_arvalid_i (t_ar_valid[Sha2]),
    .axil_arready_o (t_ar_ready[Sha2]),
    .axil_araddr_i  (addr),
    .axil_arprot_i  ('0),
    .axil_rvalid_o  (t_r_valid[Sha2]),
    .axil_rready_i  (t_r_ready[Sha2]),
    .axil_rdata_o   (t_r_data[Sha2]),
    .axil_rresp_o   (t_r_resp[Sha2]),
    // The message of the DMA engine, if its driver has selected the stream.
    .str_valid_i    (sink_valid[SinkSha2]),
    .str_ready_o    (sink_ready[SinkSha2]),
    .str_data_i     (sink_data),
    .str_last_i     (sink_last),
    .str_bytes_i    (sink_bytes),
    .str_abort_i    (sink_abort),
    .lifecycle_i,
    .irq_o          (sha2_irq_o),
    .alert_o        (sha2_alert)
  );

  // Keys, nonces and challenges come from the core: its digests are computed by `sha3`, by `sha2`,
  // or by software.
  ed25519 u_ed25519 (
    .clk_i,
    .rst_ni,
    .axil_awvalid_i (t_aw_valid[Ed25519]),
    .axil_awready_o (t_aw_ready[Ed25519]),
    .axil_awaddr_i  (addr),
    .axil_awprot_i  ('0),
    .axil_wvalid_i  (t_w_valid[Ed25519]),
    .axil_wready_o  (t_w_ready[Ed25519]),
    .axil_wdata_i   (w_data),
    .axil_wstrb_i   (w_strb),
    .axil_bvalid_o  (t_b_valid[Ed25519]),
    .axil_bready_i  (t_b_ready[Ed25519]),
    .axil_bresp_o   (t_b_resp[Ed25519]),
    // Reads of results; inputs cannot be read.
    .axil_arvalid_i (t_ar_valid[Ed25519]),
    .axil_arready_o (t_ar_ready[Ed25519]),
    .axil_araddr_i  (addr),
    .axil_arprot_i  ('0),
    .axil_rvalid_o  (t_r_valid[Ed25519]),
    .axil_rready_i  (t_r_ready[Ed25519]),
    .axil_rdata_o   (t_r_data[Ed25519]),
    .axil_rresp_o   (t_r_resp[Ed25519]),
    // No side port is used; without `Blinded`, no entropy is taken.
    .dig_valid_i    (1'b0),
    .dig_ready_o    (unused_dig_ready),
    .dig_data_i     ('0),
    .ent_valid_i    (1'b0),
    .ent_ready_o    (unused_ent_ready),
    .ent_data_i     ('0),
    .pre_valid_o    (unused_pre_valid),
    .pre_ready_i    (1'b0),
    .pre_data_o     (unused_pre_data),
    .pre_last_o     (unused_pre_last),
    .lifecycle_i,
    .irq_o          (ed25519_irq_o),
    .alert_o        (ed25519_alert)
  );

  // Signature and message come from the scratchpad, where the core has checked the properties that
  // the engine relies on. The host's memory may change afterwards.
  logic        str_valid, str_ready, str_last, str_abort;
  logic [63:0] str_data;
  logic [3:0]  str_bytes;

  scratchpad_stream #(.ScratchBits($clog2(ScratchpadBytes))) u_stream (
    .clk_i,
    .rst_ni,
    .aw_valid_i       (t_aw_valid[Stream]),
    .aw_ready_o       (t_aw_ready[Stream]),
    .aw_addr_i        (addr),
    .w_valid_i        (t_w_valid[Stream]),
    .w_ready_o        (t_w_ready[Stream]),
    .w_data_i         (w_data),
    .w_strb_i         (w_strb),
    .b_valid_o        (t_b_valid[Stream]),
    .b_ready_i        (t_b_ready[Stream]),
    .b_resp_o         (t_b_resp[Stream]),
    .ar_valid_i       (t_ar_valid[Stream]),
    .ar_ready_o       (t_ar_ready[Stream]),
    .ar_addr_i        (addr),
    .r_valid_o        (t_r_valid[Stream]),
    .r_ready_i        (t_r_ready[Stream]),
    .r_data_o         (t_r_data[Stream]),
    .r_resp_o         (t_r_resp[Stream]),
    .scratch_req_o    (stream_req_o),
    .scratch_gnt_i    (stream_gnt_i),
    .scratch_word_o   (stream_word_o),
    .scratch_rvalid_i (stream_rvalid_i),
    .scratch_rdata_i  (stream_rdata_i),
    .str_valid_o      (str_valid),
    .str_ready_i      (str_ready),
    .str_data_o       (str_data),
    .str_last_o       (str_last),
    .str_bytes_o      (str_bytes),
    .str_abort_o      (str_abort)
  );

  xmss #(
    .Lanes          (XmssLanes),
    .RoundsPerCycle (XmssRounds),
    .HasLms         (1'b1),
    .HasSlhDsa      (1'b1)
  ) u_xmss (
    .clk_i,
    .rst_ni,
    .axil_awvalid_i (t_aw_valid[Xmss]),
    .axil_awready_o (t_aw_ready[Xmss]),
    .axil_awaddr_i  (addr),
    .axil_awprot_i  ('0),
    .axil_wvalid_i  (t_w_valid[Xmss]),
    .axil_wready_o  (t_w_ready[Xmss]),
    .axil_wdata_i   (w_data),
    .axil_wstrb_i   (w_strb),
    .axil_bvalid_o  (t_b_valid[Xmss]),
    .axil_bready_i  (t_b_ready[Xmss]),
    .axil_bresp_o   (t_b_resp[Xmss]),
    .axil_arvalid_i (t_ar_valid[Xmss]),
    .axil_arready_o (t_ar_ready[Xmss]),
    .axil_araddr_i  (addr),
    .axil_arprot_i  ('0),
    .axil_rvalid_o  (t_r_valid[Xmss]),
    .axil_rready_i  (t_r_ready[Xmss]),
    .axil_rdata_o   (t_r_data[Xmss]),
    .axil_rresp_o   (t_r_resp[Xmss]),
    // Signature and message, if the driver of the engine has selected the stream.
    .str_valid_i    (str_valid),
    .str_ready_o    (str_ready),
    .str_data_i     (str_data),
    .str_last_i     (str_last),
    .str_bytes_i    (str_bytes),
    .str_abort_i    (str_abort),
    .lifecycle_i,
    .irq_o          (xmss_irq_o),
    .alert_o        (xmss_alert)
  );

  // The core moves the text of AES, or the DMA engine and the writer do.
  if (HasAes) begin : g_aes
    rot_aes u_aes (
      .clk_i,
      .rst_ni,
      .addr_i          (addr),
      .w_data_i        (w_data),
      .w_strb_i        (w_strb),
      .aw_valid_i      (t_aw_valid[Slot:Aes]),
      .aw_ready_o      (t_aw_ready[Slot:Aes]),
      .w_valid_i       (t_w_valid[Slot:Aes]),
      .w_ready_o       (t_w_ready[Slot:Aes]),
      .b_valid_o       (t_b_valid[Slot:Aes]),
      .b_ready_i       (t_b_ready[Slot:Aes]),
      .b_resp_o        (t_b_resp[Slot:Aes]),
      .ar_valid_i      (t_ar_valid[Slot:Aes]),
      .ar_ready_o      (t_ar_ready[Slot:Aes]),
      .r_valid_o       (t_r_valid[Slot:Aes]),
      .r_ready_i       (t_r_ready[Slot:Aes]),
      .r_data_o        (t_r_data[Slot:Aes]),
      .r_resp_o        (t_r_resp[Slot:Aes]),
      // The message of the DMA engine, if its driver has selected the stream.
      .str_valid_i     (sink_valid[SinkAes]),
      .str_ready_o     (sink_ready[SinkAes]),
      .str_data_i      (sink_data),
      .str_last_i      (sink_last),
      .str_bytes_i     (sink_bytes),
      .str_abort_i     (sink_abort),
      .mem_aw_valid_o  (writer_aw_valid_o),
      .mem_aw_ready_i  (writer_aw_ready_i),
      .mem_aw_addr_o   (writer_aw_addr_o),
      .mem_aw_len_o    (writer_aw_len_o),
      .mem_w_valid_o   (writer_w_valid_o),
      .mem_w_ready_i   (writer_w_ready_i),
      .mem_w_data_o    (writer_w_data_o),
      .mem_w_strb_o    (writer_w_strb_o),
      .mem_w_last_o    (writer_w_last_o),
      .mem_b_valid_i   (writer_b_valid_i),
      .mem_b_ready_o   (writer_b_ready_o),
      .mem_b_resp_i    (writer_b_resp_i),
      // The slot is filled before the host leaves its reset, or stays empty. A host that is lost
      // loses the key, too.
      .host_runs_i     (host_rst_no),
      .host_is_lost_i  (host_is_lost),
      .lifecycle_i,
      .aes_irq_o,
      .writer_irq_o,
      .alert_o         (aes_alert)
    );
  end else begin : g_no_aes
    assign aes_irq_o         = 1'b0;
    assign aes_alert         = 1'b0;
    assign writer_irq_o      = 1'b0;
    // Without the engine nothing is written.
    assign writer_aw_valid_o = 1'b0;
    assign writer_aw_addr_o  = '0;
    assign writer_aw_len_o   = '0;
    assign writer_w_valid_o  = 1'b0;
    assign writer_w_data_o   = '0;
    assign writer_w_strb_o   = '0;
    assign writer_w_last_o   = 1'b0;
    assign writer_b_ready_o  = 1'b0;
    logic unused_writer;
    assign unused_writer = ^{writer_aw_ready_i, writer_w_ready_i, writer_b_valid_i, writer_b_resp_i};
  end

  // Big numbers: the core moves operands and results.
  if (HasBignum) begin : g_bignum
    bignum #(.Dsps(BignumDsps)) u_bignum (
      .clk_i,
      .rst_ni,
      .axil_awvalid_i  (t_aw_valid[Bignum]),
      .axil_awready_o  (t_aw_ready[Bignum]),
      .axil_awaddr_i   (addr),
      .axil_awprot_i   ('0),
      .axil_wvalid_i   (t_w_valid[Bignum]),
      .axil_wready_o   (t_w_ready[Bignum]),
      .axil_wdata_i    (w_data),
      .axil_wstrb_i    (w_strb),
      .axil_bvalid_o   (t_b_valid[Bignum]),
      .axil_bready_i   (t_b_ready[Bignum]),
      .axil_bresp_o    (t_b_resp[Bignum]),
      .axil_arvalid_i  (t_ar_valid[Bignum]),
      .axil_arready_o  (t_ar_ready[Bignum]),
      .axil_araddr_i   (addr),
      .axil_arprot_i   ('0),
      .axil_rvalid_o   (t_r_valid[Bignum]),
      .axil_rready_i   (t_r_ready[Bignum]),
      .axil_rdata_o    (t_r_data[Bignum]),
      .axil_rresp_o    (t_r_resp[Bignum]),
      .lifecycle_i,
      .irq_o           (bignum_irq_o),
      .alert_o         (bignum_alert)
    );
  end else begin : g_no_bignum
    assign bignum_irq_o = 1'b0;
    assign bignum_alert = 1'b0;
  end

  // Random numbers for software, which blinds private keys with them.
  if (HasNoise) begin : g_noise
    noise_source u_noise (
      .clk_i,
      .rst_ni,
      .aw_valid_i    (t_aw_valid[Noise]),
      .aw_ready_o    (t_aw_ready[Noise]),
      .aw_addr_i     (addr),
      .w_valid_i     (t_w_valid[Noise]),
      .w_ready_o     (t_w_ready[Noise]),
      .w_data_i      (w_data),
      .w_strb_i      (w_strb),
      .b_valid_o     (t_b_valid[Noise]),
      .b_ready_i     (t_b_ready[Noise]),
      .b_resp_o      (t_b_resp[Noise]),
      .ar_valid_i    (t_ar_valid[Noise]),
      .ar_ready_o    (t_ar_ready[Noise]),
      .ar_addr_i     (addr),
      .r_valid_o     (t_r_valid[Noise]),
      .r_ready_i     (t_r_ready[Noise]),
      .r_data_o      (t_r_data[Noise]),
      .r_resp_o      (t_r_resp[Noise]),
      .noise_valid_i,
      .noise_ready_o,
      .noise_i
    );
  end else begin : g_no_noise
    assign noise_ready_o = 1'b0;
    logic unused_noise;
    assign unused_noise = ^{noise_valid_i, noise_i};
  end

  // Software closes the secret once it has what it needs. Before the first instruction of the host
  // it is closed in any case.
  device_secret u_secret (
    .clk_i,
    .rst_ni,
    .secret_i,
    .shut_i     (host_rst_no),
    .aw_valid_i (t_aw_valid[Secret]),
    .aw_ready_o (t_aw_ready[Secret]),
    .aw_addr_i  (addr),
    .w_valid_i  (t_w_valid[Secret]),
    .w_ready_o  (t_w_ready[Secret]),
    .w_data_i   (w_data),
    .w_strb_i   (w_strb),
    .b_valid_o  (t_b_valid[Secret]),
    .b_ready_i  (t_b_ready[Secret]),
    .b_resp_o   (t_b_resp[Secret]),
    .ar_valid_i (t_ar_valid[Secret]),
    .ar_ready_o (t_ar_ready[Secret]),
    .ar_addr_i  (addr),
    .r_valid_o  (t_r_valid[Secret]),
    .r_ready_i  (t_r_ready[Secret]),
    .r_data_o   (t_r_data[Secret]),
    .r_resp_o   (t_r_resp[Secret])
  );

  // Two ports, one for each side. The port of the host comes from outside and passes through;
  // accesses of the host are never on the bus of this module.
  mailbox u_mailbox (
    .clk_i,
    .rst_ni,
    .host_awvalid_i (mailbox_aw_valid_i),
    .host_awready_o (mailbox_aw_ready_o),
    .host_awaddr_i  (mailbox_aw_addr_i),
    .host_awprot_i  ('0),
    .host_wvalid_i  (mailbox_w_valid_i),
    .host_wready_o  (mailbox_w_ready_o),
    .host_wdata_i   (mailbox_w_data_i),
    .host_wstrb_i   (mailbox_w_strb_i),
    .host_bvalid_o  (mailbox_b_valid_o),
    .host_bready_i  (mailbox_b_ready_i),
    .host_bresp_o   (mailbox_b_resp_o),
    .host_arvalid_i (mailbox_ar_valid_i),
    .host_arready_o (mailbox_ar_ready_o),
    .host_araddr_i  (mailbox_ar_addr_i),
    .host_arprot_i  ('0),
    .host_rvalid_o  (mailbox_r_valid_o),
    .host_rready_i  (mailbox_r_ready_i),
    .host_rdata_o   (mailbox_r_data_o),
    .host_rresp_o   (mailbox_r_resp_o),
    .host_irq_o     (mailbox_irq_o),
    .rot_awvalid_i  (t_aw_valid[Mailbox]),
    .rot_awready_o  (t_aw_ready[Mailbox]),
    .rot_awaddr_i   (addr),
    .rot_awprot_i   ('0),
    .rot_wvalid_i   (t_w_valid[Mailbox]),
    .rot_wready_o   (t_w_ready[Mailbox]),
    .rot_wdata_i    (w_data),
    .rot_wstrb_i    (w_strb),
    .rot_bvalid_o   (t_b_valid[Mailbox]),
    .rot_bready_i   (t_b_ready[Mailbox]),
    .rot_bresp_o    (t_b_resp[Mailbox]),
    .rot_arvalid_i  (t_ar_valid[Mailbox]),
    .rot_arready_o  (t_ar_ready[Mailbox]),
    .rot_araddr_i   (addr),
    .rot_arprot_i   ('0),
    .rot_rvalid_o   (t_r_valid[Mailbox]),
    .rot_rready_i   (t_r_ready[Mailbox]),
    .rot_rdata_o    (t_r_data[Mailbox]),
    .rot_rresp_o    (t_r_resp[Mailbox]),
    .rot_irq_o,
    .wipe_i         (host_is_lost),
    .lifecycle_i,
    .error_o        (mailbox_error)
  );

  // An upset of an engine is an alert of the root of trust: the sequencer takes it as a fault, and the core as an
  // interrupt that it cannot mask.
  assign alert_o = sha2_alert | mailbox_error | dma_alert | sha3_alert | ed25519_alert | xmss_alert | aes_alert |
                   bignum_alert;

  // The page of the bench is an external block, which never refuses an access.
  assign bench_aw_valid_o  = t_aw_valid[Bench];
  assign t_aw_ready[Bench] = bench_aw_ready_i;
  assign bench_w_valid_o   = t_w_valid[Bench];
  assign t_w_ready[Bench]  = bench_w_ready_i;
  assign t_b_valid[Bench]  = bench_b_valid_i;
  assign bench_b_ready_o   = t_b_ready[Bench];
  assign t_b_resp[Bench]   = RespOkay;
  assign bench_ar_valid_o  = t_ar_valid[Bench];
  assign t_ar_ready[Bench] = bench_ar_ready_i;
  assign t_r_valid[Bench]  = bench_r_valid_i;
  assign bench_r_ready_o   = t_r_ready[Bench];
  assign t_r_data[Bench]   = bench_r_data_i;
  assign t_r_resp[Bench]   = RespOkay;
  assign bench_addr_o      = addr;
  assign bench_w_data_o    = w_data;
  assign bench_w_strb_o    = w_strb;
endmodule
