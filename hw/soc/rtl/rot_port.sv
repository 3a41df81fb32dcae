// The manager port of the root of trust into the host's memory, which its core, its DMA engine and
// its stream writer share.
//
// The core has one word open at a time, the others have bursts of words of 64 bits; the writer
// reads nothing. Arbitration is round robin at every address, so none keeps another one out, and no
// transfer loses a cycle. The id tells to whom a burst belongs. Protocol, reset and hardening are
// those of `axi_mux`.

`include "assert.svh"

module rot_port
  import soc_axi_pkg::*;
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

  // The DMA engine (hw/ip/dma).
  // Write address.
  input  logic        dma_aw_valid_i,
  output logic        dma_aw_ready_o,
  input  logic [31:0] dma_aw_addr_i,
  input  logic [7:0]  dma_aw_len_i,
  // Write data.
  input  logic        dma_w_valid_i,
  output logic        dma_w_ready_o,
  input  logic [63:0] dma_w_data_i,
  input  logic [7:0]  dma_w_strb_i,
  input  logic        dma_w_last_i,
  // Write response.
  output logic        dma_b_valid_o,
  input  logic        dma_b_ready_i,
  output logic [1:0]  dma_b_resp_o,
  // Read address.
  input  logic        dma_ar_valid_i,
  output logic        dma_ar_ready_o,
  input  logic [31:0] dma_ar_addr_i,
  input  logic [7:0]  dma_ar_len_i,
  // Read data and response.
  output logic        dma_r_valid_o,
  input  logic        dma_r_ready_i,
  output logic [63:0] dma_r_data_o,
  output logic [1:0]  dma_r_resp_o,
  output logic        dma_r_last_o,

  // The stream writer (hw/ip/stream_writer).
  // Write address.
  input  logic        writer_aw_valid_i,
  output logic        writer_aw_ready_o,
  input  logic [31:0] writer_aw_addr_i,
  input  logic [7:0]  writer_aw_len_i,
  // Write data.
  input  logic        writer_w_valid_i,
  output logic        writer_w_ready_o,
  input  logic [63:0] writer_w_data_i,
  input  logic [7:0]  writer_w_strb_i,
  input  logic        writer_w_last_i,
  // Write response.
  output logic        writer_b_valid_o,
  input  logic        writer_b_ready_i,
  output logic [1:0]  writer_b_resp_o,

  // The host's memory.
  output req_t        mem_req_o,
  input  resp_t       mem_resp_i
);
  // The ids of `axi_mux`: the number of the manager, and a bit that is always 0.
  logic [2:0] aw_id, ar_id;
  logic       unused_b_id, unused_r_id, unused_ar_ready, unused_r_valid;

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
    .aw_valid_i         ({writer_aw_valid_i, dma_aw_valid_i, core_aw_valid_i}),
    .aw_ready_o         ({writer_aw_ready_o, dma_aw_ready_o, core_aw_ready_o}),
    .aw_id_i            ('0),
    .aw_payload_i       ({burst_at(writer_aw_addr_i, writer_aw_len_i), burst_at(dma_aw_addr_i, dma_aw_len_i),
                            word_at(core_addr_i)}),
    // Write data.
    .w_valid_i          ({writer_w_valid_i, dma_w_valid_i, core_w_valid_i}),
    .w_ready_o          ({writer_w_ready_o, dma_w_ready_o, core_w_ready_o}),
    .w_data_i           ({writer_w_data_i, dma_w_data_i, core_w_data_i}),
    .w_strb_i           ({writer_w_strb_i, dma_w_strb_i, core_w_strb_i}),
    .w_last_i           ({writer_w_last_i, dma_w_last_i, 1'b1}),
    // Write response.
    .b_valid_o          ({writer_b_valid_o, dma_b_valid_o, core_b_valid_o}),
    .b_ready_i          ({writer_b_ready_i, dma_b_ready_i, core_b_ready_i}),
    // Read address.
    .ar_valid_i         ({1'b0, dma_ar_valid_i, core_ar_valid_i}),
    .ar_ready_o         ({unused_ar_ready, dma_ar_ready_o, core_ar_ready_o}),
    .ar_id_i            ('0),
    .ar_payload_i       ({burst_at('0, '0), burst_at(dma_ar_addr_i, dma_ar_len_i), word_at(core_addr_i)}),
    // Read data and response.
    .r_valid_o          ({unused_r_valid, dma_r_valid_o, core_r_valid_o}),
    .r_ready_i          ({1'b0, dma_r_ready_i, core_r_ready_i}),
    // Ids of responses are not used, because each manager has only one.
    .b_id_o             (unused_b_id),
    .r_id_o             (unused_r_id),
    // Memory: write address and data, in the order of the addresses.
    .slave_aw_valid_o   (mem_req_o.aw_valid),
    .slave_aw_ready_i   (mem_resp_i.aw_ready),
    .slave_aw_id_o      (aw_id),
    .slave_aw_payload_o (mem_req_o.aw),
    .slave_w_valid_o    (mem_req_o.w_valid),
    .slave_w_ready_i    (mem_resp_i.w_ready),
    .slave_w_data_o     (mem_req_o.w_data),
    .slave_w_strb_o     (mem_req_o.w_strb),
    .slave_w_last_o     (mem_req_o.w_last),
    // Confirmations, by their id.
    .slave_b_valid_i    (mem_resp_i.b_valid),
    .slave_b_ready_o    (mem_req_o.b_ready),
    .slave_b_id_i       (mem_resp_i.b_id[2:0]),
    // Reads, several at a time.
    .slave_ar_valid_o   (mem_req_o.ar_valid),
    .slave_ar_ready_i   (mem_resp_i.ar_ready),
    .slave_ar_id_o      (ar_id),
    .slave_ar_payload_o (mem_req_o.ar),
    // Data of reads, by their id.
    .slave_r_valid_i    (mem_resp_i.r_valid),
    .slave_r_ready_o    (mem_req_o.r_ready),
    .slave_r_id_i       (mem_resp_i.r_id[2:0])
  );

  assign mem_req_o.aw_id = IdBits'(aw_id);
  assign mem_req_o.ar_id = IdBits'(ar_id);

  // Data and codes reach all managers; the handshakes above select one of them.
  assign core_b_resp_o   = mem_resp_i.b_resp;
  assign core_r_data_o   = mem_resp_i.r_data;
  assign core_r_resp_o   = mem_resp_i.r_resp;
  assign dma_b_resp_o    = mem_resp_i.b_resp;
  assign writer_b_resp_o = mem_resp_i.b_resp;
  assign dma_r_data_o    = mem_resp_i.r_data;
  assign dma_r_resp_o    = mem_resp_i.r_resp;
  assign dma_r_last_o    = mem_resp_i.r_last;

  // A second beat would reach the core as the answer to its next load.
  `ASSERT(AWordOfTheCoreIsOneBeat_A, core_r_valid_o |-> mem_resp_i.r_last)
  // An id outside of these would route a response to nobody.
  `ASSERT(BurstsHaveTheirManagersId_A, !(mem_req_o.ar_valid && mem_req_o.ar_id != '0 && mem_req_o.ar_id != 5'd2) &&
          !(mem_req_o.aw_valid && mem_req_o.aw_id != '0 && mem_req_o.aw_id != 5'd2 && mem_req_o.aw_id != 5'd4))
endmodule
