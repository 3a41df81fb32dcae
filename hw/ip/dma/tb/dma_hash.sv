// For a test: the DMA engine with an HMAC engine of two rounds a cycle as its first sink, and two more sinks outside.

module dma_hash
  import dma_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  // As of `dma_core`.
  input  logic         locked_i,
  input  window_t      source_i,
  input  window_t      destination_i,
  input  logic         start_i,
  input  logic         abort_i,
  input  logic [5:0]   list_i,
  input  logic [6:0]   count_i,
  input  logic [7:0]   sinks_i,
  input  logic         writes_i,
  output logic         busy_o,
  output logic         done_o,
  output logic         failed_o,
  output cause_e       cause_o,
  output logic [5:0]   index_o,
  output logic         error_o,
  // The scratchpad.
  output logic         scratch_req_o,
  input  logic         scratch_gnt_i,
  output logic [13:0]  scratch_word_o,
  input  logic         scratch_rvalid_i,
  input  logic [31:0]  scratch_rdata_i,
  input  logic         scratch_err_i,
  // Sinks: bit 0 of `sink_ready_i` is not used, `sink_ready_o` has the engine's.
  output logic [2:0]   sink_valid_o,
  input  logic [2:0]   sink_ready_i,
  output logic [2:0]   sink_ready_o,
  output logic [63:0]  sink_data_o,
  output logic         sink_last_o,
  output logic [3:0]   sink_bytes_o,
  output logic         sink_abort_o,
  // Memory.
  output logic         ar_valid_o,
  input  logic         ar_ready_i,
  output logic [31:0]  ar_addr_o,
  output logic [7:0]   ar_len_o,
  input  logic         r_valid_i,
  output logic         r_ready_o,
  input  logic [63:0]  r_data_i,
  input  logic [1:0]   r_resp_i,
  input  logic         r_last_i,
  output logic         aw_valid_o,
  input  logic         aw_ready_i,
  output logic [31:0]  aw_addr_o,
  output logic [7:0]   aw_len_o,
  output logic         w_valid_o,
  input  logic         w_ready_i,
  output logic [63:0]  w_data_o,
  output logic [7:0]   w_strb_o,
  output logic         w_last_o,
  input  logic         b_valid_i,
  output logic         b_ready_o,
  input  logic [1:0]   b_resp_i,
  // The engine.
  input  logic         key_valid_i,
  input  logic [3:0]   key_index_i,
  input  logic [31:0]  key_i,
  input  logic         hash_start_i,
  output logic         hash_start_ready_o,
  input  logic         is_hmac_i,
  output logic         digest_valid_o,
  output logic [255:0] digest_o
);
  logic hash_ready;
  assign sink_ready_o = {sink_ready_i[2:1], hash_ready};

  // The lowest byte of a word is the first of the message; SHA-2 has it at the top.
  logic [63:0] swapped;
  for (genvar i = 0; i < 8; i++) begin : gen_swapped
    assign swapped[8*i +: 8] = sink_data_o[8*(7-i) +: 8];
  end

  // What is tested.
  dma_core #(.NumSinks(3)) u_dma (
    .clk_i, .rst_ni, .locked_i, .source_i, .destination_i, .start_i, .abort_i, .list_i, .count_i, .sinks_i, .writes_i,
    .busy_o, .done_o, .failed_o, .cause_o, .index_o, .error_o,
    .scratch_req_o, .scratch_gnt_i, .scratch_word_o, .scratch_rvalid_i, .scratch_rdata_i, .scratch_err_i,
    .sink_valid_o, .sink_ready_i(sink_ready_o), .sink_data_o, .sink_last_o, .sink_bytes_o, .sink_abort_o,
    .ar_valid_o, .ar_ready_i, .ar_addr_o, .ar_len_o, .r_valid_i, .r_ready_o, .r_data_i, .r_resp_i, .r_last_i,
    .aw_valid_o, .aw_ready_i, .aw_addr_o, .aw_len_o, .w_valid_o, .w_ready_i, .w_data_o, .w_strb_o, .w_last_o,
    .b_valid_i, .b_ready_o, .b_resp_i
  );

  // Its sink. Outputs that no test uses are open.
  sha2_hmac #(.WordBits(32), .RoundsPerCycle(2)) u_hash (
    .clk_i, .rst_ni,
    .key_valid_i, .key_index_i, .key_i,
    .key_loaded_o  (),
    .start_valid_i (hash_start_i),
    .start_ready_o (hash_start_ready_o),
    .is_hmac_i,
    .is_384_i      (1'b0),
    .resume_i      (1'b0),
    .bytes_i       ('0),
    .bytes_o       (),
    .stop_valid_i  (1'b0),
    .stop_ready_o  (),
    .msg_valid_i   (sink_valid_o[0]),
    .msg_ready_o   (hash_ready),
    .msg_i         (swapped),
    .msg_last_i    (sink_last_o),
    .msg_bytes_i   (sink_bytes_o),
    .digest_valid_o,
    .state_valid_o (),
    .digest_o,
    .state_valid_i (1'b0),
    .state_index_i ('0),
    .state_i       ('0),
    .wipe_i        (1'b0),
    .abort_i       (sink_abort_o),
    .lifecycle_i   ('0),
    .dropped_o     (),
    .idle_o        (),
    .error_o       ()
  );

  // The first sink's own input is of no use here.
  logic unused_ready;
  assign unused_ready = sink_ready_i[0];
endmodule
