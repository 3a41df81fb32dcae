// The address map of the root of trust: the targets that fetches, loads and stores of its core
// reach.
//
// Each port of the core has a demultiplexer of its own, so a fetch never waits for data of the
// host. The ROM is the only target of fetches: software cannot execute what it can write, whatever
// it does and whatever a fault makes of it. An address outside all regions of soc_pkg selects no
// target, which is an error.
//
// Interface: that of `core_demux` on both sides. The decoder adds no cycle. Reset forgets open
// requests.

`include "assert.svh"

module rot_address_map
  import soc_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,

  // Fetches of the core.
  input  logic             instr_req_i,
  output logic             instr_gnt_o,
  input  logic [31:0]      instr_addr_i,
  output logic             instr_rvalid_o,
  output logic [31:0]      instr_rdata_o,
  output logic             instr_err_o,
  // The target of fetches, the ROM. It answers every fetch.
  output logic             fetch_req_o,
  input  logic             fetch_gnt_i,
  input  logic             fetch_rvalid_i,
  input  logic [31:0]      fetch_rdata_i,

  // Loads and stores of the core.
  input  logic             data_req_i,
  output logic             data_gnt_o,
  input  logic [31:0]      data_addr_i,
  output logic             data_rvalid_o,
  output logic [31:0]      data_rdata_o,
  output logic             data_err_o,
  // Targets of loads and stores: bit 0 is the ROM, bit 1 the scratchpad, bit 2 the registers, bit 3
  // the host's memory.
  output logic [3:0]       access_req_o,
  input  logic [3:0]       access_gnt_i,
  input  logic [3:0]       access_rvalid_i,
  input  logic [3:0][31:0] access_rdata_i,
  input  logic [3:0]       access_err_i
);
  // Selections are decoded from the address only. Regions are aligned, so at most one of them
  // matches. The ROM reports no error of a fetch; the demultiplexer reports an address without a
  // target.
  core_demux #(.NumTargets(1)) u_instr_demux (
    .clk_i,
    .rst_ni,
    .req_i           (instr_req_i),
    .gnt_o           (instr_gnt_o),
    .select_i        (is_rom(instr_addr_i)),
    .rvalid_o        (instr_rvalid_o),
    .rdata_o         (instr_rdata_o),
    .err_o           (instr_err_o),
    .target_req_o    (fetch_req_o),
    .target_gnt_i    (fetch_gnt_i),
    .target_rvalid_i (fetch_rvalid_i),
    .target_rdata_i  (fetch_rdata_i),
    .target_err_i    ('0)
  );

  // A load may be from the ROM, which has constants. Targets report their own errors: a write to the ROM, an empty
  // page of the registers, the host's answer or its silence.
  core_demux #(.NumTargets(4)) u_data_demux (
    .clk_i,
    .rst_ni,
    .req_i           (data_req_i),
    .gnt_o           (data_gnt_o),
    .select_i        ({is_host(data_addr_i), is_register(data_addr_i), is_scratchpad(data_addr_i),
                       is_rom(data_addr_i)}),
    .rvalid_o        (data_rvalid_o),
    .rdata_o         (data_rdata_o),
    .err_o           (data_err_o),
    .target_req_o    (access_req_o),
    .target_gnt_i    (access_gnt_i),
    .target_rvalid_i (access_rvalid_i),
    .target_rdata_i  (access_rdata_i),
    .target_err_i    (access_err_i)
  );

  // The root of trust never runs code from outside of its ROM.
  `ASSERT(FetchesAreOfTheRom_A, fetch_req_o |-> is_rom(instr_addr_i))
  // Only addresses of the host's memory leave the root of trust.
  `ASSERT(HostMemoryIsAskedForItself_A, access_req_o[3] |-> is_host(data_addr_i))
  // Only addresses of registers reach the register bus.
  `ASSERT(RegistersStayInside_A, access_req_o[2] |-> is_register(data_addr_i))
  // Loads of constants and of variables reach the memory that has them.
  `ASSERT(TheRomIsAskedForItself_A, access_req_o[0] |-> is_rom(data_addr_i))
  `ASSERT(TheScratchpadIsAskedForItself_A, access_req_o[1] |-> is_scratchpad(data_addr_i))
endmodule
