// The engine for AES in the root of trust: in front of it its key slot, and behind it the writer
// that takes a stream of its results into the host's memory.
//
// All three have registers. Data that the DMA engine reads are a stream to the engine. A result
// leaves to the writer or to registers, as software has configured the engine. Software fills the
// slot before the host is released, and only the engine reads it.
//
// Protocols and latencies are those of `aes`, `stream_writer` and `key_slot`. Reset clears the key
// and ends what is under way.

module rot_aes
  import soc_pkg::*;
  import hartlock_axi_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,

  // Registers, AXI4-Lite: the lowest port belongs to the engine, then come writer and slot.
  input  axil_req_t [2:0]  axil_i,
  output axil_resp_t [2:0] axil_o,

  // A message of the DMA engine: words of 8 bytes, the last of which has none to 8 bytes.
  input  logic             str_valid_i,
  output logic             str_ready_o,
  input  logic [63:0]      str_data_i,
  input  logic             str_last_i,
  input  logic [3:0]       str_bytes_i,
  input  logic             str_abort_i,

  // Results, into the host's memory: AXI4, bursts of words of 64 bits.
  output axi_req_t         mem_axi_o,
  input  axi_resp_t        mem_axi_i,

  // The host has left its reset. This closes the slot.
  input  logic             host_runs_i,
  // The host was put back into reset. This zeroes the slot, and leaves it closed.
  input  logic             host_is_lost_i,
  // A change of the lifecycle wipes all three.
  input  logic [3:0]       lifecycle_i,
  output logic             aes_irq_o,
  output logic             writer_irq_o,
  // The engine or the writer was upset. This lasts until reset.
  output logic             alert_o
);
  // Positions of the three in the vectors of registers.
  localparam int unsigned Aes    = 0;
  localparam int unsigned Writer = 1;
  localparam int unsigned Slot   = 2;

  // Results on their way from the engine to the writer.
  logic        dst_valid, dst_ready, dst_last, dst_abort;
  logic [63:0] dst_data;
  logic [3:0]  dst_bytes;
  // Words of the slot.
  logic        slot_valid;
  logic [2:0]  slot_index;
  logic [31:0] slot_word;

  logic        aes_alert, writer_alert, unused_entropy_ready;

  assign alert_o = aes_alert | writer_alert;

  // The engine has no masks, so its entropy would only change the values of a wipe.
  aes u_aes (
    .clk_i,
    .rst_ni,
    // Registers of the engine.
    .axil_i          (axil_i[Aes]),
    .axil_o          (axil_o[Aes]),
    // The message of the DMA engine, if its driver has selected the stream.
    .str_valid_i,
    .str_ready_o,
    .str_data_i,
    .str_last_i,
    .str_bytes_i,
    .str_abort_i,
    // Results, for the writer.
    .dst_valid_o     (dst_valid),
    .dst_ready_i     (dst_ready),
    .dst_data_o      (dst_data),
    .dst_last_o      (dst_last),
    .dst_bytes_o     (dst_bytes),
    .dst_abort_o     (dst_abort),
    // A key that software does not see.
    .slot_valid_i    (slot_valid),
    .slot_index_o    (slot_index),
    .slot_word_i     (slot_word),
    // No noise source is connected, because the engine has no masks.
    .entropy_valid_i (1'b0),
    .entropy_ready_o (unused_entropy_ready),
    .entropy_i       ('0),
    .lifecycle_i,
    .irq_o           (aes_irq_o),
    .alert_o         (aes_alert)
  );

  // The writer addresses only memory of the host, and of that only its window.
  stream_writer #(.LowestPage(32'(HostBase[31:12]))) u_writer (
    .clk_i,
    .rst_ni,
    // Registers of the writer.
    .axil_i          (axil_i[Writer]),
    .axil_o          (axil_o[Writer]),
    // Results of the engine.
    .str_valid_i     (dst_valid),
    .str_ready_o     (dst_ready),
    .str_data_i      (dst_data),
    .str_last_i      (dst_last),
    .str_bytes_i     (dst_bytes),
    .str_abort_i     (dst_abort),
    // Bursts into the host's memory.
    .axi_o           (mem_axi_o),
    .axi_i           (mem_axi_i),
    .lifecycle_i,
    .irq_o           (writer_irq_o),
    .alert_o         (writer_alert)
  );

  // The slot is filled before the host leaves its reset, or stays empty. A host that is lost loses
  // the key, too. The key is written word by word, and no access reads it.
  key_slot u_slot (
    .clk_i,
    .rst_ni,
    .lock_i      (host_runs_i),
    .wipe_i      (host_is_lost_i),
    .lifecycle_i,
    // Registers of the slot.
    .axil_i      (axil_i[Slot]),
    .axil_o      (axil_o[Slot]),
    // The engine asks for a word by its index.
    .key_valid_o (slot_valid),
    .key_index_i (slot_index),
    .key_word_o  (slot_word)
  );
endmodule
