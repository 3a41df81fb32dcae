// The host of `svu-1`: Ibex with a scratchpad, and bridges to the blocks that it shares with the
// verification unit.
//
// Only the core has the host's reset. Everything else has the reset of the chip, so that no access
// of a bus is cut in two when the host is put back into reset. The address map is in
// hw/soc/README.md.

`include "machine_assert.svh"

module svu_host
  import svu_pkg::*;
  import hartlock_axi_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // Reset of the core, from the boot sequencer.
  input  logic        host_rst_ni,

  // The first stage and the medium, which are read only.
  output axi_req_t    ram_axi_o,
  input  axi_resp_t   ram_axi_i,
  output axi_req_t    medium_axi_o,
  input  axi_resp_t   medium_axi_i,

  // Registers of the engine and of the storage.
  output axil_req_t   engine_axil_o,
  input  axil_resp_t  engine_axil_i,
  output axil_req_t   otp_axil_o,
  input  axil_resp_t  otp_axil_i,

  // The bench: a register was written in this cycle.
  output logic        bench_write_o,
  output logic [11:0] bench_addr_o,
  output logic [31:0] bench_data_o,

  // The core has detected a fault of its own.
  output logic        alert_o
);
  localparam int unsigned WordBits = $clog2(ScratchpadBytes / 4);
  // Cycles after which an access of the core has failed. It is longer than the longest wait that the engine's tests
  // allow, and the medium may be slow.
  localparam int unsigned Patience = 4000;

  // --- the core ---
  logic        instr_req, instr_gnt, instr_rvalid, instr_err;
  logic [31:0] instr_addr, instr_rdata;
  logic        data_req, data_gnt, data_we, data_rvalid, data_err;
  logic [3:0]  data_be;
  logic [31:0] data_addr, data_wdata, data_rdata;

  // Nothing interrupts, because a first stage polls.
  rot_cpu #(.BootAddress(BootAddress)) u_cpu (
    .clk_i,
    .rst_ni         (host_rst_ni),
    // Fetches.
    .instr_req_o    (instr_req),
    .instr_gnt_i    (instr_gnt),
    .instr_addr_o   (instr_addr),
    .instr_rvalid_i (instr_rvalid),
    .instr_rdata_i  (instr_rdata),
    .instr_err_i    (instr_err),
    // Loads and stores.
    .data_req_o     (data_req),
    .data_gnt_i     (data_gnt),
    .data_we_o      (data_we),
    .data_be_o      (data_be),
    .data_addr_o    (data_addr),
    .data_wdata_o   (data_wdata),
    .data_rvalid_i  (data_rvalid),
    .data_rdata_i   (data_rdata),
    .data_err_i     (data_err),
    // No interrupt is connected.
    .irq_fast_i     ('0),
    .irq_nm_i       (1'b0),
    .alert_o,
    .asleep_o       ()
  );

  // --- the address map ---
  // Fetches reach the first stage, and the scratchpad, in which later stages are. Nothing else is
  // code.
  logic [1:0]       fetch_req, fetch_gnt, fetch_rvalid, fetch_err;
  logic [1:0][31:0] fetch_rdata;
  logic [3:0]       access_req, access_gnt, access_rvalid, access_err;
  logic [3:0][31:0] access_rdata;

  core_demux #(.NumTargets(2)) u_instr_demux (
    .clk_i,
    .rst_ni,
    .req_i           (instr_req),
    .gnt_o           (instr_gnt),
    .select_i        ({is_scratchpad(instr_addr), is_ram(instr_addr)}),
    .rvalid_o        (instr_rvalid),
    .rdata_o         (instr_rdata),
    .err_o           (instr_err),
    .target_req_o    (fetch_req),
    .target_gnt_i    (fetch_gnt),
    .target_rvalid_i (fetch_rvalid),
    .target_rdata_i  (fetch_rdata),
    .target_err_i    (fetch_err)
  );

  // The medium is read only: a store to it selects no target, which is an error. The first stage's
  // memory refuses stores itself.
  core_demux #(.NumTargets(4)) u_data_demux (
    .clk_i,
    .rst_ni,
    .req_i           (data_req),
    .gnt_o           (data_gnt),
    .select_i        ({is_medium(data_addr) & ~data_we, is_register(data_addr), is_scratchpad(data_addr),
                       is_ram(data_addr)}),
    .rvalid_o        (data_rvalid),
    .rdata_o         (data_rdata),
    .err_o           (data_err),
    .target_req_o    (access_req),
    .target_gnt_i    (access_gnt),
    .target_rvalid_i (access_rvalid),
    .target_rdata_i  (access_rdata),
    .target_err_i    (access_err)
  );

  // --- scratchpad ---
  // The scratchpad: code of later stages, data and stack.
  core_memory #(.Words(ScratchpadBytes / 4)) u_scratchpad (
    .clk_i,
    .rst_ni,
    .fetch_req_i    (fetch_req[1]),
    .fetch_gnt_o    (fetch_gnt[1]),
    .fetch_word_i   (instr_addr[WordBits+1:2]),
    .fetch_rvalid_o (fetch_rvalid[1]),
    .fetch_rdata_o  (fetch_rdata[1]),
    .data_req_i     (access_req[1]),
    .data_gnt_o     (access_gnt[1]),
    .data_we_i      (data_we),
    .data_be_i      (data_be),
    .data_word_i    (data_addr[WordBits+1:2]),
    .data_wdata_i   (data_wdata),
    .data_rvalid_o  (access_rvalid[1]),
    .data_rdata_o   (access_rdata[1]),
    .data_err_o     (access_err[1])
  );
  assign fetch_err[1] = 1'b0;

  // --- the first stage's memory: fetches, and loads of constants ---
  axi_req_t  [1:0] ram_req;
  axi_resp_t [1:0] ram_resp;

  // One bridge for each port of the core, since both may have an access open.
  core_to_axi #(.TimeoutCycles(Patience)) u_fetch (
    .clk_i,
    .rst_ni,
    .req_i    (fetch_req[0]),
    .gnt_o    (fetch_gnt[0]),
    .we_i     (1'b0),
    .be_i     ('1),
    .addr_i   (instr_addr),
    .wdata_i  ('0),
    .rvalid_o (fetch_rvalid[0]),
    .rdata_o  (fetch_rdata[0]),
    .err_o    (fetch_err[0]),
    .axi_o  (ram_req[0]),
    .axi_i (ram_resp[0])
  );
  core_to_axi #(.TimeoutCycles(Patience)) u_load (
    .clk_i,
    .rst_ni,
    .req_i    (access_req[0]),
    .gnt_o    (access_gnt[0]),
    .we_i     (data_we),
    .be_i     (data_be),
    .addr_i   (data_addr),
    .wdata_i  (data_wdata),
    .rvalid_o (access_rvalid[0]),
    .rdata_o  (access_rdata[0]),
    .err_o    (access_err[0]),
    .axi_o  (ram_req[1]),
    .axi_i (ram_resp[1])
  );
  // Fetches and loads share the port of the memory.
  axi_mux u_ram (
    .clk_i,
    .rst_ni,
    .axi_i  (ram_req),
    .axi_o (ram_resp),
    .sub_axi_o  (ram_axi_o),
    .sub_axi_i (ram_axi_i)
  );

  // --- the medium ---
  core_to_axi #(.TimeoutCycles(Patience)) u_medium (
    .clk_i,
    .rst_ni,
    .req_i    (access_req[3]),
    .gnt_o    (access_gnt[3]),
    .we_i     (data_we),
    .be_i     (data_be),
    .addr_i   (data_addr),
    .wdata_i  (data_wdata),
    .rvalid_o (access_rvalid[3]),
    .rdata_o  (access_rdata[3]),
    .err_o    (access_err[3]),
    .axi_o  (medium_axi_o),
    .axi_i (medium_axi_i)
  );

  // --- registers ---
  axil_req_t  [2:0] block_req;
  axil_resp_t [2:0] block_resp;

  // A store of a word into the engine waits until the word before was taken.
  rot_register_bus #(
    .Latency       (2),
    .TimeoutCycles (Patience),
    .NumBlocks     (3),
    .Pages         ({PageBench, PageOtp, PageEngine})
  ) u_bus (
    .clk_i,
    .rst_ni,
    // The core.
    .req_i            (access_req[2]),
    .gnt_o            (access_gnt[2]),
    .we_i             (data_we),
    .be_i             (data_be),
    .addr_i           (data_addr),
    .wdata_i          (data_wdata),
    .rvalid_o         (access_rvalid[2]),
    .rdata_o          (access_rdata[2]),
    .err_o            (access_err[2]),
    // Engine, storage and the page of the bench.
    .block_o          (block_req),
    .block_i          (block_resp)
  );
  assign engine_axil_o   = block_req[0];
  assign otp_axil_o      = block_req[1];
  assign block_resp[1:0] = {otp_axil_i, engine_axil_i};

  // The page of the bench, which is no part of a chip.
  bench_registers u_bench (
    .clk_i,
    .rst_ni,
    .axil_i       (block_req[2]),
    .axil_o       (block_resp[2]),
    .write_o      (bench_write_o),
    .write_addr_o (bench_addr_o),
    .write_data_o (bench_data_o)
  );

  // Code comes only from the first stage and the scratchpad.
  `MACHINE_ASSERT(FetchesReachTheirMemory_A,
                  (!fetch_req[0] || is_ram(instr_addr)) && (!fetch_req[1] || is_scratchpad(instr_addr)))
  // A core in reset makes no access.
  `MACHINE_ASSERT(NoAccessInReset_A, !host_rst_ni |-> !instr_req && !data_req)
endmodule
