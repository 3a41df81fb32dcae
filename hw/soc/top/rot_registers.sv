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
  import hartlock_axi_pkg::*;
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
  input  axil_req_t   mailbox_axil_i,
  output axil_resp_t  mailbox_axil_o,
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
  output axi_req_t    dma_axi_o,
  input  axi_resp_t   dma_axi_i,

  // Results of the AES engine, into the host's memory: AXI4, bursts of words of 64 bits.
  output axi_req_t    writer_axi_o,
  input  axi_resp_t   writer_axi_i,

  // The page of the bench, an external block.
  output axil_req_t   bench_axil_o,
  input  axil_resp_t  bench_axil_i,

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

  // Requests to all blocks and their responses. Address and data of the open access are in each of them.
  axil_req_t  [NumBlocks-1:0] req;
  axil_resp_t [NumBlocks-1:0] resp;

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
    .block_o (req),
    .block_i (resp)
  );

  // Holds the host in reset until software here has decided. From any alert on it does so without
  // software.
  boot_sequencer u_boot_sequencer (
    .clk_i,
    .rst_ni,
    .axil_i         (req[Control]),
    .axil_o         (resp[Control]),
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

  // The core of the root of trust is the only manager of this bus.
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
    .axil_i           (req[Dma]),
    .axil_o           (resp[Dma]),
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
    // Reads of the host's memory, and writes of the words that the sinks got.
    .axi_o            (dma_axi_o),
    .axi_i            (dma_axi_i),
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
    .axil_i         (req[Sha3]),
    .axil_o         (resp[Sha3]),
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
    .axil_i         (req[Sha2]),
    .axil_o         (resp[Sha2]),
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
    .axil_i         (req[Ed25519]),
    .axil_o         (resp[Ed25519]),
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
    .axil_i           (req[Stream]),
    .axil_o           (resp[Stream]),
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
    .axil_i         (req[Xmss]),
    .axil_o         (resp[Xmss]),
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
      .axil_i          (req[Slot:Aes]),
      .axil_o          (resp[Slot:Aes]),
      // The message of the DMA engine, if its driver has selected the stream.
      .str_valid_i     (sink_valid[SinkAes]),
      .str_ready_o     (sink_ready[SinkAes]),
      .str_data_i      (sink_data),
      .str_last_i      (sink_last),
      .str_bytes_i     (sink_bytes),
      .str_abort_i     (sink_abort),
      .mem_axi_o       (writer_axi_o),
      .mem_axi_i       (writer_axi_i),
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
    assign writer_axi_o = '0;
    logic unused_writer;
    assign unused_writer = ^writer_axi_i;
  end

  // Big numbers: the core moves operands and results.
  if (HasBignum) begin : g_bignum
    bignum #(.Dsps(BignumDsps)) u_bignum (
      .clk_i,
      .rst_ni,
      .axil_i          (req[Bignum]),
      .axil_o          (resp[Bignum]),
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
      .axil_i        (req[Noise]),
      .axil_o        (resp[Noise]),
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
    .axil_i     (req[Secret]),
    .axil_o     (resp[Secret])
  );

  // Two ports, one for each side. The port of the host comes from outside and passes through;
  // accesses of the host are never on the bus of this module.
  mailbox u_mailbox (
    .clk_i,
    .rst_ni,
    .host_axil_i    (mailbox_axil_i),
    .host_axil_o    (mailbox_axil_o),
    .host_irq_o     (mailbox_irq_o),
    .rot_axil_i     (req[Mailbox]),
    .rot_axil_o     (resp[Mailbox]),
    .rot_irq_o,
    .wipe_i         (host_is_lost),
    .lifecycle_i,
    .error_o        (mailbox_error)
  );

  // An upset of an engine is an alert of the root of trust: the sequencer takes it as a fault, and the core as an
  // interrupt that it cannot mask.
  assign alert_o = sha2_alert | mailbox_error | dma_alert | sha3_alert | ed25519_alert | xmss_alert | aes_alert |
                   bignum_alert;

  // The page of the bench is an external block.
  assign bench_axil_o = req[Bench];
  assign resp[Bench]  = bench_axil_i;
endmodule
