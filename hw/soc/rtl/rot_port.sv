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
  // The ids of `axi_mux`: the number of the manager, and a bit that is always 0.
  logic [2:0] aw_id, ar_id;
  logic       unused_b_id, unused_r_id;
  // Handshakes of responses are signals of their own: in a structure, a path from a `valid` to a `ready` would be a
  // false loop for a tool that takes it for one signal.
  logic dma_aw_ready, dma_w_ready, dma_b_valid, dma_ar_ready, dma_r_valid;
  logic writer_aw_ready, writer_w_ready, writer_b_valid, writer_ar_ready, writer_r_valid;
  // Each manager has one id, which the multiplexer makes.
  logic unused_ids;
  assign unused_ids = ^{dma_axi_i.aw_id, dma_axi_i.ar_id, writer_axi_i.aw_id, writer_axi_i.ar_id};

  // Manager 0 is the core, manager 1 the DMA engine, manager 2 the writer.
  axi_mux #(
    .NumMasters  (3),
    .IdBits      (1),
    .PayloadBits ($bits(payload_t)),
    .DataBits    (64)
  ) u_mux (
    .clk_i,
    .rst_ni,
    // Write address: the core has no bursts of more than a beat.
    .aw_valid_i         ({writer_axi_i.aw_valid, dma_axi_i.aw_valid, core_aw_valid_i}),
    .aw_ready_o         ({writer_aw_ready, dma_aw_ready, core_aw_ready_o}),
    .aw_id_i            ('0),
    .aw_payload_i       ({writer_axi_i.aw, dma_axi_i.aw, word_at(core_addr_i)}),
    // Write data.
    .w_valid_i          ({writer_axi_i.w_valid, dma_axi_i.w_valid, core_w_valid_i}),
    .w_ready_o          ({writer_w_ready, dma_w_ready, core_w_ready_o}),
    .w_data_i           ({writer_axi_i.w_data, dma_axi_i.w_data, core_w_data_i}),
    .w_strb_i           ({writer_axi_i.w_strb, dma_axi_i.w_strb, core_w_strb_i}),
    .w_last_i           ({writer_axi_i.w_last, dma_axi_i.w_last, 1'b1}),
    // Write response.
    .b_valid_o          ({writer_b_valid, dma_b_valid, core_b_valid_o}),
    .b_ready_i          ({writer_axi_i.b_ready, dma_axi_i.b_ready, core_b_ready_i}),
    // Read address.
    .ar_valid_i         ({writer_axi_i.ar_valid, dma_axi_i.ar_valid, core_ar_valid_i}),
    .ar_ready_o         ({writer_ar_ready, dma_ar_ready, core_ar_ready_o}),
    .ar_id_i            ('0),
    .ar_payload_i       ({writer_axi_i.ar, dma_axi_i.ar, word_at(core_addr_i)}),
    // Read data and response.
    .r_valid_o          ({writer_r_valid, dma_r_valid, core_r_valid_o}),
    .r_ready_i          ({writer_axi_i.r_ready, dma_axi_i.r_ready, core_r_ready_i}),
    // Ids of responses are not used, because each manager has only one.
    .b_id_o             (unused_b_id),
    .r_id_o             (unused_r_id),
    // Memory: write address and data, in the order of the addresses.
    .slave_aw_valid_o   (mem_axi_o.aw_valid),
    .slave_aw_ready_i   (mem_axi_i.aw_ready),
    .slave_aw_id_o      (aw_id),
    .slave_aw_payload_o (mem_axi_o.aw),
    .slave_w_valid_o    (mem_axi_o.w_valid),
    .slave_w_ready_i    (mem_axi_i.w_ready),
    .slave_w_data_o     (mem_axi_o.w_data),
    .slave_w_strb_o     (mem_axi_o.w_strb),
    .slave_w_last_o     (mem_axi_o.w_last),
    // Confirmations, by their id.
    .slave_b_valid_i    (mem_axi_i.b_valid),
    .slave_b_ready_o    (mem_axi_o.b_ready),
    .slave_b_id_i       (mem_axi_i.b_id[2:0]),
    // Reads, several at a time.
    .slave_ar_valid_o   (mem_axi_o.ar_valid),
    .slave_ar_ready_i   (mem_axi_i.ar_ready),
    .slave_ar_id_o      (ar_id),
    .slave_ar_payload_o (mem_axi_o.ar),
    // Data of reads, by their id.
    .slave_r_valid_i    (mem_axi_i.r_valid),
    .slave_r_ready_o    (mem_axi_o.r_ready),
    .slave_r_id_i       (mem_axi_i.r_id[2:0])
  );

  assign mem_axi_o.aw_id = IdBits'(aw_id);
  assign mem_axi_o.ar_id = IdBits'(ar_id);

  // Data and codes reach all managers; the handshakes above select one of them.
  assign core_b_resp_o   = mem_axi_i.b_resp;
  assign core_r_data_o   = mem_axi_i.r_data;
  assign core_r_resp_o   = mem_axi_i.r_resp;
  assign dma_axi_o = '{
    aw_ready: dma_aw_ready, w_ready: dma_w_ready, b_valid: dma_b_valid, b_id: '0, b_resp: mem_axi_i.b_resp,
    ar_ready: dma_ar_ready, r_valid: dma_r_valid, r_id: '0, r_data: mem_axi_i.r_data, r_resp: mem_axi_i.r_resp,
    r_last:   mem_axi_i.r_last
  };
  assign writer_axi_o = '{
    aw_ready: writer_aw_ready, w_ready: writer_w_ready, b_valid: writer_b_valid, b_id: '0, b_resp: mem_axi_i.b_resp,
    ar_ready: writer_ar_ready, r_valid: writer_r_valid, r_id: '0, r_data: mem_axi_i.r_data, r_resp: mem_axi_i.r_resp,
    r_last:   mem_axi_i.r_last
  };

  // A second beat would reach the core as the answer to its next load.
  `ASSERT(AWordOfTheCoreIsOneBeat_A, core_r_valid_o |-> mem_axi_i.r_last)
  // An id outside of these would route a response to nobody.
  `ASSERT(BurstsHaveTheirManagersId_A, !(mem_axi_o.ar_valid && mem_axi_o.ar_id != '0 && mem_axi_o.ar_id != 5'd2) &&
          !(mem_axi_o.aw_valid && mem_axi_o.aw_id != '0 && mem_axi_o.aw_id != 5'd2 && mem_axi_o.aw_id != 5'd4))
endmodule
