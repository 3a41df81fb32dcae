// The root of trust: Ibex, boot ROM, scratchpad, registers, and a master port into the host's
// memory.
//
// It has no slave port. The host can access its side of the mailbox only, which is a block of its
// own on the register bus. Code comes only from the ROM: a fetch from any other address, scratchpad
// and host memory included, is an error. The memory map is in hw/soc/README.md.
//
// Latencies of the memories are parameters, so that one design measures several presets. Reset
// starts the core at the first instruction of the ROM, with the host in reset; the scratchpad keeps
// its contents.
//
// This module does not protect the ROM's contents against a fault. That is left to software (which
// does not measure itself) and to the memory that a chip has here. An alert of the core or of an
// engine puts the host into reset without software.

`include "machine_assert.svh"

module rot
  import soc_pkg::*;
  import hartlock_axi_pkg::axi_req_t, hartlock_axi_pkg::axi_resp_t, hartlock_axi_pkg::axil_req_t, hartlock_axi_pkg::axil_resp_t;
#(
  // Configuration of Ibex, see `rot_cpu`.
  parameter bit          Secure            = 1'b0,
  parameter int unsigned Bitmanip          = 0,
  parameter bit          InstructionCache  = 1'b0,
  // Cycles of an access, as Ibex sees them, and cycles after which an access has failed. The
  // presets are in verif/machines/run/src/machines/rot.rs.
  parameter int unsigned RomLatency        = 5,
  parameter int unsigned ScratchpadLatency = 5,
  parameter int unsigned RegisterLatency   = 5,
  parameter int unsigned TimeoutCycles     = 2000,
  // Reads of the DMA engine that are outstanding, and rounds of the SHA-3 engine in a cycle, 1 or
  // 2.
  parameter int unsigned DmaReads          = 8,
  parameter int unsigned Sha3Rounds        = 1,
  // Hash cores of the engine for hash-based signatures, and rounds of each in a cycle.
  parameter int unsigned XmssLanes         = 4,
  parameter int unsigned XmssRounds        = 2,
  // Engines for AES and for big numbers, which are built in on request, and multipliers of the
  // latter.
  parameter bit          HasAes            = 1'b0,
  parameter bit          HasBignum         = 1'b0,
  parameter int unsigned BignumDsps        = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The host's memory: AXI4, single words of the core and bursts of the DMA engine and of the
  // stream writer.
  output axi_req_t    mem_axi_o,
  input  axi_resp_t   mem_axi_i,

  // The host's side of the mailbox: AXI4-Lite. The host has no other access.
  input  axil_req_t   mailbox_axil_i,
  output axil_resp_t  mailbox_axil_o,
  output logic        mailbox_irq_o,

  // The secret of the device, from one-time storage. It is constant.
  input  logic [511:0] secret_i,

  // A noise source: samples of 32 bits, which are not conditioned. Only a root of trust with
  // engines for keys takes samples.
  input  logic        noise_valid_i,
  output logic        noise_ready_o,
  input  logic [31:0] noise_i,

  // The lifecycle of the device. A change of it wipes the engines and the mailbox.
  input  logic [3:0]  lifecycle_i,

  // An external page of registers, for the bench. A chip ties it to zero.
  output axil_req_t   bench_axil_o,
  input  axil_resp_t  bench_axil_i,

  // The boot sequencer: reset and trap of the host, its state and its reason, also for external
  // observers.
  output logic        host_rst_no,
  output logic        host_trap_o,
  output logic [2:0]  boot_status_o,
  output logic [31:0] boot_reason_o,
  // The core or an engine has detected an upset. This lasts until reset for an engine.
  output logic        alert_o,
  // The core waits for an interrupt.
  output logic        asleep_o
);
  // --- the core ---
  // Interrupts and alerts, and the two ports of the core.
  logic        sha2_irq, rot_irq, dma_irq, sha3_irq, ed25519_irq, xmss_irq, aes_irq, bignum_irq, writer_irq;
  logic        cpu_alert, engines_alert;
  logic        instr_req, instr_gnt, instr_rvalid, instr_err;
  logic [31:0] instr_addr, instr_rdata;
  logic        data_req, data_gnt, data_we, data_rvalid, data_err;
  logic [3:0]  data_be;
  logic [31:0] data_addr, data_wdata, data_rdata;

  // Interrupt 0 belongs to SHA-2, 1 to the mailbox, 2 to DMA, 3 to SHA-3, 4 to Ed25519, 5 to the
  // engine for hash-based signatures, 6 to AES, 7 to big numbers, 8 to the stream writer. An alert
  // of any of them cannot be masked. An alert of the core itself is no interrupt, because a core
  // that is wrong may do anything with it.
  rot_cpu #(
    .Secure           (Secure),
    .Bitmanip         (Bitmanip),
    .InstructionCache (InstructionCache),
    .BootAddress      (RomBase)
  ) u_cpu (
    .clk_i,
    .rst_ni,
    .instr_req_o    (instr_req),
    .instr_gnt_i    (instr_gnt),
    .instr_addr_o   (instr_addr),
    .instr_rvalid_i (instr_rvalid),
    .instr_rdata_i  (instr_rdata),
    .instr_err_i    (instr_err),
    .data_req_o     (data_req),
    .data_gnt_i     (data_gnt),
    .data_we_o      (data_we),
    .data_be_o      (data_be),
    .data_addr_o    (data_addr),
    .data_wdata_o   (data_wdata),
    .data_rvalid_i  (data_rvalid),
    .data_rdata_i   (data_rdata),
    .data_err_i     (data_err),
    .irq_fast_i     ({6'd0, writer_irq, bignum_irq, aes_irq, xmss_irq, ed25519_irq, sha3_irq, dma_irq, rot_irq, sha2_irq}),
    .irq_nm_i       (engines_alert),
    .alert_o        (cpu_alert),
    .asleep_o
  );

  // --- the address map ---
  // Fetches reach the ROM; loads and stores also scratchpad, registers and the host's memory.
  logic        rom_fetch_req, rom_fetch_gnt, rom_fetch_rvalid;
  logic [31:0] rom_fetch_rdata;
  logic        rom_req, rom_gnt, rom_rvalid, rom_err, pad_req, pad_gnt, pad_rvalid, pad_err;
  logic        reg_req, reg_gnt, reg_rvalid, reg_err, host_req, host_gnt, host_rvalid, host_err;
  logic [31:0] rom_rdata, pad_rdata, reg_rdata, host_rdata;
  // Lists of the DMA engine, and words for the stream to the engine for signatures.
  logic        list_req, list_gnt, list_rvalid, stream_req, stream_gnt, stream_rvalid, read_req, read_gnt, read_rvalid;
  logic [13:0] list_word, stream_word, read_word;
  logic [31:0] read_rdata;

  // Only requests and answers pass here: address and data go to all targets.
  rot_address_map u_map (
    .clk_i,
    .rst_ni,
    .instr_req_i     (instr_req),
    .instr_gnt_o     (instr_gnt),
    .instr_addr_i    (instr_addr),
    .instr_rvalid_o  (instr_rvalid),
    .instr_rdata_o   (instr_rdata),
    .instr_err_o     (instr_err),
    .data_req_i      (data_req),
    .data_gnt_o      (data_gnt),
    .data_addr_i     (data_addr),
    .data_rvalid_o   (data_rvalid),
    .data_rdata_o    (data_rdata),
    .data_err_o      (data_err),
    .fetch_req_o     (rom_fetch_req),
    .fetch_gnt_i     (rom_fetch_gnt),
    .fetch_rvalid_i  (rom_fetch_rvalid),
    .fetch_rdata_i   (rom_fetch_rdata),
    .access_req_o    ({host_req, reg_req, pad_req, rom_req}),
    .access_gnt_i    ({host_gnt, reg_gnt, pad_gnt, rom_gnt}),
    .access_rvalid_i ({host_rvalid, reg_rvalid, pad_rvalid, rom_rvalid}),
    .access_rdata_i  ({host_rdata, reg_rdata, pad_rdata, rom_rdata}),
    .access_err_i    ({host_err, reg_err, pad_err, rom_err})
  );

  // The boot ROM. Its data port is for constants. A write to it is an error, and the contents stay.
  core_memory #(
    .Words    (RomBytes / 4),
    .Latency  (RomLatency),
    .Writable (1'b0)
  ) u_rom (
    .clk_i,
    .rst_ni,
    .fetch_req_i    (rom_fetch_req),
    .fetch_gnt_o    (rom_fetch_gnt),
    .fetch_word_i   (instr_addr[$clog2(RomBytes)-1:2]),
    .fetch_rvalid_o (rom_fetch_rvalid),
    .fetch_rdata_o  (rom_fetch_rdata),
    .data_req_i     (rom_req),
    .data_gnt_o     (rom_gnt),
    .data_we_i      (data_we),
    .data_be_i      (data_be),
    .data_word_i    (data_addr[$clog2(RomBytes)-1:2]),
    .data_wdata_i   (data_wdata),
    .data_rvalid_o  (rom_rvalid),
    .data_rdata_o   (rom_rdata),
    .data_err_o     (rom_err)
  );

  // Lists have priority: a stream waits for them, and they wait for a few of its words at most.
  core_mux #(.AddressBits(14)) u_readers (
    .clk_i,
    .rst_ni,
    .reader_req_i    ({stream_req, list_req}),
    .reader_gnt_o    ({stream_gnt, list_gnt}),
    .reader_word_i   ({stream_word, list_word}),
    .reader_rvalid_o ({stream_rvalid, list_rvalid}),
    .req_o           (read_req),
    .gnt_i           (read_gnt),
    .word_o          (read_word),
    .rvalid_i        (read_rvalid)
  );

  // Data and stack. The host cannot access the scratchpad, and the core cannot fetch from it: the
  // fetch port belongs to the DMA engine, which reads its lists there, and to the stream.
  core_memory #(
    .Words   (ScratchpadBytes / 4),
    .Latency (ScratchpadLatency)
  ) u_scratchpad (
    .clk_i,
    .rst_ni,
    .fetch_req_i    (read_req),
    .fetch_gnt_o    (read_gnt),
    .fetch_word_i   (read_word),
    .fetch_rvalid_o (read_rvalid),
    .fetch_rdata_o  (read_rdata),
    .data_req_i     (pad_req),
    .data_gnt_o     (pad_gnt),
    .data_we_i      (data_we),
    .data_be_i      (data_be),
    .data_word_i    (data_addr[15:2]),
    .data_wdata_i   (data_wdata),
    .data_rvalid_o  (pad_rvalid),
    .data_rdata_o   (pad_rdata),
    .data_err_o     (pad_err)
  );

  // --- the host's memory ---
  // Loads and stores of the core, bursts of the DMA engine and of the stream writer share one port.
  axi_req_t    core_req, dma_req, writer_req;
  axi_resp_t   core_resp, dma_resp, writer_resp;

  // A host that stalls its bus causes a timeout and does not stop the root of trust.
  core_to_axi #(
    .DataBits      (64),
    .TimeoutCycles (TimeoutCycles)
  ) u_host (
    .clk_i,
    .rst_ni,
    .req_i      (host_req),
    .gnt_o      (host_gnt),
    .we_i       (data_we),
    .be_i       (data_be),
    .addr_i     (data_addr),
    .wdata_i    (data_wdata),
    .rvalid_o   (host_rvalid),
    .rdata_o    (host_rdata),
    .err_o      (host_err),
    .axi_o      (core_req),
    .axi_i      (core_resp)
  );

  // The only manager port, for the core, the DMA engine and the stream writer.
  rot_port u_port (
    .clk_i,
    .rst_ni,
    // Loads and stores of the core.
    .core_axi_i      (core_req),
    .core_axi_o      (core_resp),
    // The DMA engine, with at most `DmaReads` bursts of reads at a time, and copies of data that it has read.
    .dma_axi_i       (dma_req),
    .dma_axi_o       (dma_resp),
    // The stream writer: results of the AES engine.
    .writer_axi_i    (writer_req),
    .writer_axi_o    (writer_resp),
    // The host.
    .mem_axi_o,
    .mem_axi_i
  );

  // --- registers ---
  // The mailbox's two sides are two ports of one block: no access passes from one to the other.
  rot_registers #(
    .Latency       (RegisterLatency),
    .TimeoutCycles (TimeoutCycles),
    .DmaReads      (DmaReads),
    .Sha3Rounds    (Sha3Rounds),
    .XmssLanes     (XmssLanes),
    .XmssRounds    (XmssRounds),
    .HasAes        (HasAes),
    .HasBignum     (HasBignum),
    .BignumDsps    (BignumDsps)
  ) u_registers (
    .clk_i,
    .rst_ni,
    .req_i    (reg_req),
    .gnt_o    (reg_gnt),
    .we_i     (data_we),
    .be_i     (data_be),
    .addr_i   (data_addr),
    .wdata_i  (data_wdata),
    .rvalid_o (reg_rvalid),
    .rdata_o  (reg_rdata),
    .err_o    (reg_err),
    .mailbox_axil_i, .mailbox_axil_o,
    .mailbox_irq_o, .secret_i, .noise_valid_i, .noise_ready_o, .noise_i, .lifecycle_i,
    // Interrupts, each of one block.
    .sha2_irq_o (sha2_irq),
    .rot_irq_o  (rot_irq),
    .dma_irq_o  (dma_irq),
    .sha3_irq_o (sha3_irq),
    .ed25519_irq_o (ed25519_irq),
    .xmss_irq_o (xmss_irq),
    .aes_irq_o (aes_irq),
    .bignum_irq_o (bignum_irq),
    .writer_irq_o (writer_irq),
    // Lists of the DMA engine, in the scratchpad.
    .list_req_o     (list_req),
    .list_gnt_i     (list_gnt),
    .list_word_o    (list_word),
    .list_rvalid_i  (list_rvalid),
    .list_rdata_i   (read_rdata),
    // Words for the stream to the engine for signatures, also in the scratchpad.
    .stream_req_o    (stream_req),
    .stream_gnt_i    (stream_gnt),
    .stream_word_o   (stream_word),
    .stream_rvalid_i (stream_rvalid),
    .stream_rdata_i  (read_rdata),
    // Reads and writes of the DMA engine, and writes of the stream writer.
    .dma_axi_o      (dma_req),
    .dma_axi_i      (dma_resp),
    .writer_axi_o   (writer_req),
    .writer_axi_i   (writer_resp),
    .alert_o    (engines_alert),
    .fault_i    (cpu_alert),
    .bench_axil_o, .bench_axil_i,
    .host_rst_no,
    .host_trap_o,
    .boot_status_o,
    .boot_reason_o
  );

  // Inside of this module an alert has put the host into reset already. A chip may do more outside;
  // the bench reports it.
  assign alert_o = cpu_alert | engines_alert;

  // No address outside the host's memory leaves through the only manager port, and no code comes
  // from elsewhere than the ROM, whatever the map has selected.
  `MACHINE_ASSERT(CodeIsOfTheRom_A, rom_fetch_req |-> is_rom(instr_addr))
  `MACHINE_ASSERT(ReadsAreOfHostMemory_A, mem_axi_o.ar_valid |-> is_host(mem_axi_o.ar.addr))
  `MACHINE_ASSERT(WritesAreOfHostMemory_A, mem_axi_o.aw_valid |-> is_host(mem_axi_o.aw.addr))
endmodule
