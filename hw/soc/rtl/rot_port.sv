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

  // The core: single words (core_to_axi.sv).
  input  axi_req_t    core_axi_i,
  output axi_resp_t   core_axi_o,
  // The DMA engine (hw/ip/dma), and the stream writer (hw/ip/stream_writer), which reads nothing.
  input  axi_req_t    dma_axi_i,
  output axi_resp_t   dma_axi_o,
  input  axi_req_t    writer_axi_i,
  output axi_resp_t   writer_axi_o,

  // The host's memory.
  output axi_req_t    mem_axi_o,
  input  axi_resp_t   mem_axi_i
);
  // Manager 0 is the core, manager 1 the DMA engine, manager 2 the writer. Each has one id, 0, so an id at memory is
  // twice the number of its manager.
  axi_mux #(.NumManagers(3), .OwnIdBits(1)) u_mux (
    .clk_i,
    .rst_ni,
    .axi_i     ({writer_axi_i, dma_axi_i, core_axi_i}),
    .axi_o     ({writer_axi_o, dma_axi_o, core_axi_o}),
    .sub_axi_o (mem_axi_o),
    .sub_axi_i (mem_axi_i)
  );

  // A second beat would reach the core as the answer to its next load.
  `ASSERT(AWordOfTheCoreIsOneBeat_A, core_axi_o.r_valid |-> mem_axi_i.r_last)
  // An id outside of these would route a response to nobody.
  `ASSERT(BurstsHaveTheirManagersId_A, !(mem_axi_o.ar_valid && mem_axi_o.ar_id != '0 && mem_axi_o.ar_id != 5'd2) &&
          !(mem_axi_o.aw_valid && mem_axi_o.aw_id != '0 && mem_axi_o.aw_id != 5'd2 && mem_axi_o.aw_id != 5'd4))
  // The core has no buffer for a second beat, so it asks for none.
  `ASSERT(AReadOfTheCoreIsAWord_A, mem_axi_o.ar_valid && mem_axi_o.ar_id == '0 |-> mem_axi_o.ar.len == '0)
  `ASSERT(AWriteOfTheCoreIsAWord_A, mem_axi_o.aw_valid && mem_axi_o.aw_id == '0 |-> mem_axi_o.aw.len == '0)
endmodule
