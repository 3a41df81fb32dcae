// Ibex in the configuration of the root of trust: RV32IMC with a write-back stage, the rest by
// parameters.
//
// `Secure` is the hardened configuration: two cores in lockstep, a protected register file and
// program counter, dummy instructions, PMP, check bits on both ports (Ibex reference manual,
// "Security features"). The memories here keep no check bits; this module computes them where data
// enter the core. So they detect faults inside the core, but none on a bus or in a memory.
//
// Both ports are Ibex's memory interface: a request stays until its grant, and each has one answer,
// in order. Reset starts the core at `BootAddress` + 0x80.

`include "machine_assert.svh"

module rot_cpu
  import ibex_pkg::*;
#(
  // 1 builds the hardened configuration.
  parameter bit          Secure           = 1'b0,
  // Bit manipulation: 0 none, 1 balanced, 2 as in OpenTitan, 3 all of it.
  parameter int unsigned Bitmanip         = 0,
  // 1 builds the instruction cache.
  parameter bit          InstructionCache = 1'b0,
  // Base of the vector table; the first instruction is at offset 0x80 from it.
  parameter logic [31:0] BootAddress      = 32'h0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Fetches.
  output logic        instr_req_o,
  input  logic        instr_gnt_i,
  output logic [31:0] instr_addr_o,
  input  logic        instr_rvalid_i,
  input  logic [31:0] instr_rdata_i,
  input  logic        instr_err_i,

  // Loads and stores.
  output logic        data_req_o,
  input  logic        data_gnt_i,
  output logic        data_we_o,
  output logic [3:0]  data_be_o,
  output logic [31:0] data_addr_o,
  output logic [31:0] data_wdata_o,
  input  logic        data_rvalid_i,
  input  logic [31:0] data_rdata_i,
  input  logic        data_err_i,

  // Interrupts. Both are levels, and `irq_nm_i` cannot be masked.
  input  logic [14:0] irq_fast_i,
  input  logic        irq_nm_i,

  // A fault that the core detected in itself or at its ports, or a double fault.
  output logic        alert_o,
  output logic        asleep_o
);
  // The encoder returns the word and its check bits; the word itself goes to the core unencoded.
  logic [6:0]  instr_check, data_check;
  logic [31:0] unused_instr, unused_data;
  logic        alert_internal, alert_bus, double_fault;
  // Address and data of requests, as they leave this module.
  logic [31:0] fetch_addr, store_data;

  // Check bits of the words that enter the core. Without `Secure` it ignores them.
  prim_secded_inv_39_32_enc u_instr_check (
    .data_i (instr_rdata_i),
    .data_o ({instr_check, unused_instr})
  );
  prim_secded_inv_39_32_enc u_data_check (
    .data_i (data_rdata_i),
    .data_o ({data_check, unused_data})
  );

  // Inputs of functions that are not used are tied off: there is no debug module (a port into the
  // root of trust), no timer, no external interrupt, and no scrambling of the cache, because there
  // is no source of keys.
  ibex_top #(
    .PMPEnable       (Secure),
    .PMPNumRegions   (16),
    .MHPMCounterNum  (0),
    .RV32M           (RV32MSingleCycle),
    .RV32B           (rv32b_e'(Bitmanip)),
    .RegFile         (RegFileFF),
    .BranchTargetALU (1'b1),
    .WritebackStage  (1'b1),
    .ICache          (InstructionCache),
    .ICacheECC       (InstructionCache && Secure),
    .ICacheScramble  (1'b0),
    .SecureIbex      (Secure)
  ) u_ibex (
    .clk_i,
    .rst_ni,
    .test_en_i              (1'b0),
    .ram_cfg_i              ('0),
    .hart_id_i              ('0),
    .boot_addr_i            (BootAddress),
    .instr_req_o,
    .instr_gnt_i,
    .instr_rvalid_i,
    .instr_addr_o           (fetch_addr),
    .instr_rdata_i,
    .instr_rdata_intg_i     (instr_check),
    .instr_err_i,
    .data_req_o,
    .data_gnt_i             (data_gnt_i),
    .data_rvalid_i,
    .data_we_o,
    .data_be_o,
    .data_addr_o,
    .data_wdata_o           (store_data),
    .data_wdata_intg_o      (),
    .data_rdata_i,
    .data_rdata_intg_i      (data_check),
    .data_err_i,
    .irq_software_i         (1'b0),
    .irq_timer_i            (1'b0),
    .irq_external_i         (1'b0),
    .irq_fast_i,
    .irq_nm_i,
    .scramble_key_valid_i   (1'b1),
    .scramble_key_i         (RndCnstIbexKeyDefault),
    .scramble_nonce_i       (RndCnstIbexNonceDefault),
    .scramble_req_o         (),
    .debug_req_i            (1'b0),
    .crash_dump_o           (),
    .double_fault_seen_o    (double_fault),
    .fetch_enable_i         (IbexMuBiOn),
    .alert_minor_o          (),
    .alert_major_internal_o (alert_internal),
    .alert_major_bus_o      (alert_bus),
    .core_sleep_o           (asleep_o),
    .scan_rst_ni            (1'b1)
  );

  assign instr_addr_o = fetch_addr;
  assign data_wdata_o = store_data;

  // The core recovers from faults of its minor alerts, so these are not reported.
  assign alert_o = alert_internal | alert_bus | double_fault;

  // Properties that the memories of this system rely on (Ibex reference manual, "Load-Store Unit").
  // Memories ignore the lower two bits of an address.
  `MACHINE_ASSERT(FetchesAreWords_A, instr_req_o |-> instr_addr_o[1:0] == '0)
  // Memories take address and data in the cycle of the grant, which may come late.
  `MACHINE_ASSERT(WritesAreStable_A, data_req_o && data_we_o && !data_gnt_i |=>
                  $stable(data_wdata_o) && $stable(data_be_o))
  `MACHINE_ASSERT(RequestsWait_A, data_req_o && !data_gnt_i |=> data_req_o && $stable(data_addr_o))
endmodule
