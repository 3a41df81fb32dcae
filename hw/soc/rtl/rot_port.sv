// The manager port of the root of trust into the host's memory, which its core, its DMA engine and
// its stream writer share.
//
// The core has one word open at a time, the others have bursts of words of 64 bits; the writer
// reads nothing. Arbitration is round robin at every address, so none keeps another one out, and no
// transfer loses a cycle. The id tells to whom a burst belongs. Protocol, reset and hardening are
// those of `axi_mux`.

`include "assert.svh"

module rot_port
  import hartlock_axi_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  // The core: single words; one address for reads and writes (core_to_axi.sv).
  input  logic [31:0] core_addr_i,
  // Write address.
  input  logic        core_aw_valid_i,
  output logic        core_aw_ready_o,
  // Write data.
  input  logic        core_w_valid_i,
  output logic        core_w_ready_o,
  input  logic [63:0] core_w_data_i,
  input  logic [7:0]  core_w_strb_i,
  // Write response.
  output logic        core_b_valid_o,
  input  logic        core_b_ready_i,
  output logic [1:0]  core_b_resp_o,
  // Read address.
  input  logic        core_ar_valid_i,
  output logic        core_ar_ready_o,
  // Read data and response.
  output logic        core_r_valid_o,
  input  logic        core_r_ready_i,
  output logic [63:0] core_r_data_o,
  output logic [1:0]  core_r_resp_o,

  // The DMA engine (hw/ip/dma), and the stream writer (hw/ip/stream_writer), which reads nothing.
  input  axi_req_t    dma_axi_i,
  output axi_resp_t   dma_axi_o,
  input  axi_req_t    writer_axi_i,
  output axi_resp_t   writer_axi_o,

  // The host's memory.
  output axi_req_t    mem_axi_o,
  input  axi_resp_t   mem_axi_i
);
  // The core as a manager. It has no bursts of more than a beat.
  axi_req_t  core_req;
  axi_resp_t core_resp;
  assign core_req = '{
    aw_valid: core_aw_valid_i, aw_id: '0, aw: word_at(core_addr_i),
    w_valid:  core_w_valid_i, w_data: core_w_data_i, w_strb: core_w_strb_i, w_last: 1'b1,
    b_ready:  core_b_ready_i,
    ar_valid: core_ar_valid_i, ar_id: '0, ar: word_at(core_addr_i),
    r_ready:  core_r_ready_i
  };
  assign core_aw_ready_o = core_resp.aw_ready;
  assign core_w_ready_o  = core_resp.w_ready;
  assign core_b_valid_o  = core_resp.b_valid;
  assign core_b_resp_o   = core_resp.b_resp;
  assign core_ar_ready_o = core_resp.ar_ready;
  assign core_r_valid_o  = core_resp.r_valid;
  assign core_r_data_o   = core_resp.r_data;
  assign core_r_resp_o   = core_resp.r_resp;
  logic unused_core;
  assign unused_core = ^{core_resp.b_id, core_resp.r_id, core_resp.r_last};

  // Manager 0 is the core, manager 1 the DMA engine, manager 2 the writer. Each has one id, 0, so an id at memory is
  // twice the number of its manager.
  axi_mux #(.NumManagers(3), .OwnIdBits(1)) u_mux (
    .clk_i,
    .rst_ni,
    .axi_i     ({writer_axi_i, dma_axi_i, core_req}),
    .axi_o     ({writer_axi_o, dma_axi_o, core_resp}),
    .sub_axi_o (mem_axi_o),
    .sub_axi_i (mem_axi_i)
  );

  // A second beat would reach the core as the answer to its next load.
  `ASSERT(AWordOfTheCoreIsOneBeat_A, core_r_valid_o |-> mem_axi_i.r_last)
  // An id outside of these would route a response to nobody.
  `ASSERT(BurstsHaveTheirManagersId_A, !(mem_axi_o.ar_valid && mem_axi_o.ar_id != '0 && mem_axi_o.ar_id != 5'd2) &&
          !(mem_axi_o.aw_valid && mem_axi_o.aw_id != '0 && mem_axi_o.aw_id != 5'd2 && mem_axi_o.aw_id != 5'd4))
  // The core has no buffer for a second beat, so it asks for none.
  `ASSERT(AReadOfTheCoreIsAWord_A, mem_axi_o.ar_valid && mem_axi_o.ar_id == '0 |-> mem_axi_o.ar.len == '0)
  `ASSERT(AWriteOfTheCoreIsAWord_A, mem_axi_o.aw_valid && mem_axi_o.aw_id == '0 |-> mem_axi_o.aw.len == '0)
endmodule
