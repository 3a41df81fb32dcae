// This module is the AES engine with its bus: AES-128, 192 and 256 (FIPS 197) in ECB, CBC, CTR (SP
// 800-38A) and GCM (SP 800-38D). It connects the register block of `data/aes.rdl` (AXI4-Lite) to the
// block cipher, the modes, the input and output stages, the wipe and the verdict on a tag.
//
// Protocol: software writes configuration, key and vector while `status.idle` is set, and then writes
// `command.start`. Text enters through `data_in` or the stream `str_*`, and results leave through
// `data_out` or the stream `dst_*`. A command at the wrong time, a bad length or a missing key is
// refused and reported in `error`. No bus access waits for an event that may not come: a store into a
// full block is refused, and `status.input_free` tells software when a block can be written.
//
// Time: a block of AES-128, 192 or 256 takes 10, 12 or 14 cycles, in GCM always 14. With `Masked` it
// takes 51, 61 or 71 cycles in every mode. Blocks follow each other without an idle cycle if input and
// output keep up.
//
// Reset: all control registers return to their reset values, and a wipe begins. It overwrites all
// registers of data and the key memory with pseudo-random words, and the engine is idle when the wipe
// has ended.
//
// Hardening: the registers of control have a copy, the states of all state machines have codes with a
// distance of at least three bits, and a tag is compared twice. A detected upset ends in an error state
// that only a reset leaves. Upsets of data are not detected.

`include "assert.svh"

module aes
  import aes_pkg::*;
  import aes_modes_pkg::*;
  import aes_regs_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // With `Masked` the cipher works on two shares (first-order masking). Its random bits come from the tested
  // noise source: while that source is not trusted, the engine takes no key and starts nothing, and it drops a
  // message under way.
  parameter bit Masked   = 1'b0,
  // `Hardened` = 0 removes the detection of upsets, so that tests can show that the detection is what stops
  // them.
  parameter bit Hardened = 1'b1
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  // This is the AXI4-Lite port with 4 KiB of addresses. It has no protection bits, because the only
  // manager of this port is the root of trust.
  input  axil_req_t    axil_i,
  output axil_resp_t   axil_o,

  // This stream carries the text if `control.stream_in` is set. A word has eight bytes with the first
  // one in the lower bits; the last word has one to eight. A word moves when valid and ready are both
  // high. `str_abort_i` drops the message that uses the stream.
  input  logic         str_valid_i,
  output logic         str_ready_o,
  input  logic [63:0]  str_data_i,
  input  logic         str_last_i,
  input  logic [3:0]   str_bytes_i,
  input  logic         str_abort_i,

  // This stream carries the result in the same form if `control.stream_out` is set. `dst_abort_o` tells
  // the receiver that the message was dropped and that no last word will come.
  output logic         dst_valid_o,
  input  logic         dst_ready_i,
  output logic [63:0]  dst_data_o,
  output logic         dst_last_o,
  output logic [3:0]   dst_bytes_o,
  output logic         dst_abort_o,

  // The slot holds a key that firmware does not see. The engine counts `slot_index_o` from 0 to 7, and
  // the slot has to answer with that word in the same cycle, with the first byte in the lower bits.
  // `slot_valid_i` says that a key is there.
  input  logic         slot_valid_i,
  output logic [2:0]   slot_index_o,
  input  logic [31:0]  slot_word_i,

  // These are the samples of a noise source. A word moves when valid and ready are both high.
  input  logic         entropy_valid_i,
  output logic         entropy_ready_o,
  input  logic [31:0]  entropy_i,

  // A change of `lifecycle_i` between two cycles starts a wipe. `irq_o` is a level that follows the
  // enabled interrupts.
  input  logic [3:0]   lifecycle_i,
  output logic         irq_o,
  // `alert_o` says that an upset was detected. It is a level that stays until reset, as the engine does
  // nothing more.
  output logic         alert_o
);
  // These structures have the fields of the register block in the shape that the generator gives them.
  aes__in_t  regs_in;
  aes__out_t regs_out;

  // The register block is generated from `data/aes.rdl`. Data, vector, tag, key and configuration are
  // external registers: the engine itself keeps their words.
  aes_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i        (axil_i),
    .axil_o        (axil_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // The names below are shared by the sections of this file; each is driven in the section of its
  // topic.
  mode_e       mode;
  key_len_e    key_len;
  logic        decrypt, is_idle, is_failed, drops, starts, wipe_busy, wipe_loads, wipe_ends, wipe_request, wiped_q;
  logic [5:0]  wipe_index;
  word_t       wipe_word;
  logic        modes_busy, modes_error, modes_done, core_idle, core_error, upset;
  logic [31:0] text_len, aad_len;
  logic [15:0] iv_len;
  logic [4:0]  tag_len;
  logic        stream_out, stream_in;

  // --- accesses to external registers: at most one a cycle ---

  // A request is a write of this cycle to the named register, except for `read_request`, which is a
  // read of `data_out`. `whole` says that all four bytes are written, `index` which word of the
  // register is accessed, `store` its new value.
  logic       data_request, iv_request, tag_request, key_request, read_request, whole;
  logic [4:0] setting_requests;
  logic [2:0] index;
  word_t      store;

  // The register block makes at most one access a cycle, so one index serves all registers.
  always_comb begin
    {data_request, iv_request, tag_request, key_request, read_request} = '0;
    index = '0;
    for (int i = 0; i < 4; i++) begin
      if (regs_out.data_in[i].req && regs_out.data_in[i].req_is_wr) {data_request, index} = {1'b1, 3'(i)};
      if (regs_out.iv[i].req && regs_out.iv[i].req_is_wr)           {iv_request, index}   = {1'b1, 3'(i)};
      if (regs_out.tag[i].req)      {tag_request, index}  = {regs_out.tag[i].req_is_wr, 3'(i)};
      if (regs_out.data_out[i].req) {read_request, index} = {~regs_out.data_out[i].req_is_wr, 3'(i)};
    end
    for (int i = 0; i < 8; i++) begin
      if (regs_out.key[i].req && regs_out.key[i].req_is_wr) {key_request, index} = {1'b1, 3'(i)};
    end
    setting_requests = {regs_out.control.req & regs_out.control.req_is_wr,
                        regs_out.text_len.req & regs_out.text_len.req_is_wr,
                        regs_out.aad_len.req & regs_out.aad_len.req_is_wr,
                        regs_out.iv_len.req & regs_out.iv_len.req_is_wr,
                        regs_out.tag_len.req & regs_out.tag_len.req_is_wr};
  end
  // Only whole words are taken, because half a word would make a key that software did not choose. All
  // external registers see the same data of the bus, so those of `key[0]` stand for all.
  assign store = regs_out.key[0].wr_data.value;
  assign whole = &regs_out.key[0].wr_biten.value;

  // --- the configuration: locked from the start of a message to its last block and the verdict ---

  // The configuration is locked from the start of a message until its last block has left and its tag
  // is judged. A write that comes in between is not taken and is reported in `error.write`.
  logic [4:0] setting_writes, setting_errors;
  logic [7:0] control;
  logic       config_error;
  assign setting_writes = setting_requests & {5{whole & is_idle}};
  assign config_error   = |setting_errors;
  assign {stream_out, stream_in} = control[7:6];
  assign key_len        = key_len_e'(control[5:4]);
  assign decrypt        = control[3];
  assign mode           = mode_e'(control[2:0]);

  aes_setting #(.Bits(8), .Hardened(Hardened)) u_control (
    .clk_i, .rst_ni,
    .write_i(setting_writes[4]), .value_i(store[7:0]), .value_o(control), .differs_o(setting_errors[4])
  );
  aes_setting #(.Bits(32), .Hardened(Hardened)) u_text_len (
    .clk_i, .rst_ni,
    .write_i(setting_writes[3]), .value_i(store), .value_o(text_len), .differs_o(setting_errors[3])
  );
  aes_setting #(.Bits(32), .Hardened(Hardened)) u_aad_len (
    .clk_i, .rst_ni,
    .write_i(setting_writes[2]), .value_i(store), .value_o(aad_len), .differs_o(setting_errors[2])
  );
  aes_setting #(.Bits(16), .Reset(16'd12), .Hardened(Hardened)) u_iv_len (
    .clk_i, .rst_ni,
    .write_i(setting_writes[1]), .value_i(store[15:0]), .value_o(iv_len), .differs_o(setting_errors[1])
  );
  aes_setting #(.Bits(5), .Reset(5'd16), .Hardened(Hardened)) u_tag_len (
    .clk_i, .rst_ni,
    .write_i(setting_writes[0]), .value_i(store[4:0]), .value_o(tag_len), .differs_o(setting_errors[0])
  );

  // --- key, vector and tag ---

  // This structure says which words of key and vector are loaded, and where the walk through the slot
  // is.
  typedef struct packed {
    // `key_there` has a bit for each word of the key that was written, `iv_there` one for each word of
    // the vector.
    logic [7:0] key_there;
    logic [3:0] iv_there;
    // `expanded` says that the key schedule belongs to this key, so that a message need not expand it
    // again.
    logic       expanded;
    // `slot` says that the slot is being read, and `slot_index` which of its words is read in this
    // cycle.
    logic       slot;
    logic [2:0] slot_index;
  } loaded_t;

  loaded_t          loaded_d, loaded_q;
  // `key_mask` has a bit for each word that a key of the configured length has.
  logic [7:0]       key_mask;
  logic [3:0][31:0] tag_q;
  logic             key_loaded, iv_loaded, key_free, key_write, iv_write, tag_write, slot_starts, loaded_error;
  // `masks_ready` says that random bits are there, or that this build needs none.
  logic             masks_ready;

  // A key is loaded if exactly the words of the configured length were written. So a key is never used
  // with another length.
  assign key_mask   = key_len == Key256 ? 8'hff : (key_len == Key192 ? 8'h3f : 8'h0f);
  assign key_loaded = (loaded_q.key_there == key_mask) & (key_len != key_len_e'(2'd3));
  // A vector of GCM has 12 bytes in three words; those of CBC and CTR have four words.
  assign iv_loaded  = (&loaded_q.iv_there[2:0]) & (loaded_q.iv_there[3] | (mode == ModeGcm));
  // The words of a key get their masks in the cycle in which they are written, so a write needs random
  // bits.
  assign key_free   = key_request & whole & is_idle;
  assign key_write  = key_free & masks_ready;
  assign iv_write   = iv_request & whole & is_idle;
  assign tag_write  = tag_request & whole & is_idle;
  assign slot_index_o = loaded_q.slot_index;
  assign slot_starts = regs_out.command.load_slot.value & is_idle & slot_valid_i & masks_ready;

  // This block follows what is loaded. A start forgets that a vector is there: a vector is used once,
  // so no counter block is used twice by mistake.
  always_comb begin
    loaded_d = loaded_q;
    if (slot_starts) begin
      loaded_d.slot       = 1'b1;
      loaded_d.slot_index = '0;
    end else if (loaded_q.slot) begin
      loaded_d.slot_index = loaded_q.slot_index + 1'b1;
      loaded_d.slot       = loaded_q.slot_index != '1;
    end
    if (key_write) begin
      // The first write after an expansion begins a new key: what the memory has besides that word
      // belongs to the old schedule.
      loaded_d.key_there = (loaded_q.expanded ? '0 : loaded_q.key_there) | (8'd1 << index);
      loaded_d.expanded  = 1'b0;
    end else if (loaded_q.slot) begin
      loaded_d.key_there[loaded_q.slot_index] = 1'b1;
      loaded_d.expanded                       = 1'b0;
    end else if (starts) begin
      loaded_d.expanded = 1'b1;
    end
    if (iv_write)    loaded_d.iv_there[index[1:0]] = 1'b1;
    else if (starts) loaded_d.iv_there = '0;
    // An expansion that was cut off has not made a schedule of the key, so the next message has to
    // expand again.
    if (drops && modes_busy) loaded_d.expanded = loaded_q.expanded & core_idle;
    // Words of the slot need masks as well. If these fail during the walk, the key counts as not
    // loaded.
    if (loaded_q.slot && !masks_ready) {loaded_d.key_there, loaded_d.slot} = '0;
    // A wipe has priority, and forgets key, vector and schedule.
    if (wipe_busy) {loaded_d.key_there, loaded_d.iv_there, loaded_d.expanded, loaded_d.slot} = '0;
  end

  // The register of the expected tag is part of this block. The tag is public, but a wipe overwrites it
  // all the same, because it may be that of a secret message.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q <= '0;
      tag_q    <= '0;
    end else begin
      loaded_q <= loaded_d;
      if (tag_write) tag_q[index[1:0]] <= store;
      if (wipe_busy) tag_q[wipe_index[1:0]] <= wipe_word;
    end
  end

  // The copy detects upsets of these flags: an upset could make a message start without a key.
  register_copy #(.Width($bits(loaded_t)), .Hardened(Hardened)) u_loaded_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (loaded_d),
    .value_i(loaded_q),
    .differs_o(loaded_error)
  );

  // --- commands ---

  logic       output_valid, length_bad, iv_bad, key_bad, mode_bad, may_start, bad_end, was_awake_q;
  logic [3:0] lifecycle_q;
  logic       entropy_healthy, entropy_failed, tag_valid, tag_pending;
  logic       input_error, output_error, wipe_error, verdict_error;

  // All detected upsets are collected here, and end in the error state of the modes in the next cycle.
  assign upset        = core_error | input_error | output_error | wipe_error | config_error | loaded_error | verdict_error;
  assign is_failed    = core_error | modes_error;
  // A wipe starts on command, on a change of the lifecycle, and once after an error. In the first cycle
  // after reset there is no earlier lifecycle to compare with, which `was_awake_q` says.
  assign wipe_request = regs_out.command.wipe.value | (was_awake_q & (lifecycle_q != lifecycle_i)) |
                        (is_failed & ~wiped_q);
  // A drop ends a message and forgets its data. Causes are a wipe, the abort command, a stream of the
  // wrong length, an error, an abort of the input stream, and a masked message without random bits.
  assign drops        = wipe_request | wipe_busy | regs_out.command.abort.value | bad_end | is_failed |
                        (str_abort_i & stream_in & modes_busy) | (modes_busy & ~masks_ready);
  // The engine is idle if no message, result, wipe, walk through the slot, expansion or judgement of a
  // tag is under way.
  assign is_idle      = ~modes_busy & ~output_valid & ~wipe_busy & ~loaded_q.slot & core_idle & ~is_failed &
                        ~tag_pending;

  // These are the conditions of a start, each with its own bit in `error`. Codes of `mode` without a
  // name count as off.
  assign mode_bad   = ~(mode inside {ModeEcb, ModeCbc, ModeCtr, ModeGcm});
  assign key_bad    = ~key_loaded;
  // GCM takes a vector of 12 bytes from its register; a vector of another length comes as input, and
  // needs one byte at least.
  assign iv_bad     = (mode == ModeCbc || mode == ModeCtr) ? ~iv_loaded
                    : (mode == ModeGcm) & ((iv_len == 16'd12) ? ~iv_loaded : iv_len == '0);
  // ECB and CBC need whole blocks. All modes but GCM need some text. A tag to be judged has 4 to 16
  // bytes.
  assign length_bad = ((mode == ModeEcb || mode == ModeCbc) & (text_len[3:0] != '0)) |
                      ((mode != ModeGcm) & (text_len == '0)) |
                      ((mode == ModeGcm) & decrypt & ((tag_len < 5'd4) | (tag_len > 5'd16)));
  assign may_start  = is_idle & ~mode_bad & ~key_bad & ~iv_bad & ~length_bad & masks_ready & ~drops;
  assign starts     = regs_out.command.start.value & may_start;

  // These registers keep the lifecycle of the cycle before, and remember that the wipe after an error
  // was requested.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lifecycle_q <= '0;
      was_awake_q <= 1'b0;
      wiped_q     <= 1'b0;
    end else begin
      lifecycle_q <= lifecycle_i;
      was_awake_q <= 1'b1;
      wiped_q     <= is_failed;
    end
  end

  // --- data ---

  logic        wants, wants_text, input_valid, input_ready, input_free, output_ready, output_last, shown, data_write;
  logic [31:0] left;
  logic [4:0]  output_bytes;
  block_t      input_block, output_block, tag;
  word_t       shown_word, tag_word;
  logic        cipher_expand, cipher_decrypt, block_valid, block_ready, result_valid, result_ready;
  block_t      block, result;

  // A store into `data_in` is taken if it is a whole word and the input stage is collecting a block
  // from registers.
  assign data_write = data_request & whole & input_free;

  // The input stage collects a block of 16 bytes.
  aes_input #(.Hardened(Hardened)) u_input (
    .clk_i, .rst_ni,
    .wants_i      (wants),
    .from_stream_i(stream_in & wants_text),
    .left_i       (left),
    .clear_i      (drops),
    .wipe_i       (wipe_busy),
    .free_o       (input_free),
    .bad_end_o    (bad_end),
    .store_i      (data_write),
    .index_i      (wipe_busy ? wipe_index[1:0] : index[1:0]),
    .word_i       (wipe_busy ? wipe_word : store),
    .str_valid_i, .str_ready_o, .str_data_i, .str_last_i, .str_bytes_i,
    .valid_o      (input_valid),
    .ready_i      (input_ready),
    .block_o      (input_block),
    .error_o      (input_error)
  );

  // The modes control a message. A wipe gives them pseudo-random words through the same ports that
  // carry vector and input.
  aes_modes #(.Hardened(Hardened)) u_modes (
    .clk_i, .rst_ni,
    .start_i         (starts),
    .expand_i        (~loaded_q.expanded),
    .mode_i          (mode),
    .decrypt_i       (decrypt),
    .iv_len_i        (32'(iv_len)),
    .aad_len_i       (aad_len),
    .text_len_i      (text_len),
    .drop_i          (drops),
    .wipe_i          (wipe_loads),
    .fail_i          (upset),
    .busy_o          (modes_busy),
    .done_o          (modes_done),
    .error_o         (modes_error),
    .iv_write_i      (iv_write | wipe_busy),
    .iv_index_i      (wipe_busy ? wipe_index[1:0] : index[1:0]),
    .iv_word_i       (wipe_busy ? wipe_word : store),
    .wants_o         (wants),
    .wants_text_o    (wants_text),
    .left_o          (left),
    .input_valid_i   (input_valid),
    .input_ready_o   (input_ready),
    .input_block_i   (input_block),
    .output_valid_o  (output_valid),
    .output_ready_i  (output_ready),
    .output_o        (output_block),
    .output_bytes_o  (output_bytes),
    .output_last_o   (output_last),
    .tag_valid_o     (tag_valid),
    .tag_o           (tag),
    .cipher_expand_o (cipher_expand),
    .cipher_decrypt_o(cipher_decrypt),
    .cipher_idle_i   (core_idle),
    .block_valid_o   (block_valid),
    .block_ready_i   (block_ready),
    .block_o         (block),
    .result_valid_i  (result_valid),
    .result_ready_o  (result_ready),
    .result_i        (result)
  );

  // The key schedule takes words of software, of the slot or of a wipe, which has priority. A wipe lets
  // the cipher run in its middle part, so that the registers of the cipher take blocks of pseudo-random
  // words.
  logic       core_write, core_stop;
  logic [5:0] core_index;
  word_t      core_word;
  assign core_write = key_write | (loaded_q.slot & masks_ready) | wipe_busy;
  assign core_index = wipe_busy ? wipe_index : loaded_q.slot ? 6'(loaded_q.slot_index) : 6'(index);
  assign core_word  = wipe_busy ? wipe_word : loaded_q.slot ? slot_word_i : store;
  assign core_stop  = drops & ~(wipe_loads & ~wipe_ends);

  if (Masked) begin : g_cipher
    logic [127:0] random;
    block_t       unmasked;

    // The generator of masks also tests the noise source.
    aes_masks #(.Hardened(Hardened)) u_masks (
      .clk_i, .rst_ni,
      .clear_i (regs_out.command.wipe.value),
      .entropy_valid_i, .entropy_ready_o, .entropy_i,
      .ready_o (entropy_healthy),
      .failed_o(entropy_failed),
      .random_o(random)
    );
    assign masks_ready = entropy_healthy;

    // The masked cipher has the ports of the unmasked one, and one for random bits.
    aes_masked_core #(.Hardened(Hardened)) u_core (
      .clk_i, .rst_ni,
      .random_i      (random),
      .key_write_i   (core_write),
      .key_index_i   (core_index),
      .key_word_i    (core_word),
      .expand_i      (cipher_expand),
      .idle_o        (core_idle),
      .len_i         (key_len),
      .decrypt_i     (cipher_decrypt),
      .stop_i        (core_stop),
      .error_o       (core_error),
      .block_valid_i (block_valid),
      .block_ready_o (block_ready),
      .block_i       (block),
      .result_valid_o(result_valid),
      .result_ready_i(result_ready),
      .result_o      (unmasked)
    );
    // The masked core shows zeros in most cycles of a wipe, so the random word is added here. Otherwise
    // registers of results would become zero.
    assign result = unmasked | ({4{wipe_word}} & {128{wipe_loads}});
  end else begin : g_cipher
    // The unmasked engine needs no random bits, so it takes every word of the source at once.
    assign masks_ready     = 1'b1;
    assign entropy_ready_o = 1'b1;

    // Only the wipe uses the source here. The lowest nibble of each word is tested as its sample.
    entropy_health #(.Hardened(Hardened)) u_health (
      .clk_i, .rst_ni,
      .clear_i  (regs_out.command.wipe.value),
      .valid_i  (entropy_valid_i),
      .sample_i (entropy_i[3:0]),
      .healthy_o(entropy_healthy),
      .failed_o (entropy_failed)
    );

    // The S-boxes of the unmasked cipher are in block RAM.
    aes_core #(.InRam(1'b1), .Hardened(Hardened)) u_core (
      .clk_i, .rst_ni,
      .key_write_i   (core_write),
      .key_index_i   (core_index),
      .key_word_i    (core_word),
      .expand_i      (cipher_expand),
      .idle_o        (core_idle),
      .len_i         (key_len),
      .decrypt_i     (cipher_decrypt),
      .stop_i        (core_stop),
      .error_o       (core_error),
      .block_valid_i (block_valid),
      .block_ready_o (block_ready),
      .block_i       (block),
      .result_valid_o(result_valid),
      .result_ready_i(result_ready),
      .result_o      (result)
    );
  end

  // The output stage gives a block to the registers or to the stream.
  aes_output #(.Hardened(Hardened)) u_output (
    .clk_i, .rst_ni,
    .to_stream_i(stream_out),
    .clear_i    (drops),
    .valid_i    (output_valid),
    .ready_o    (output_ready),
    .block_i    (output_block),
    .bytes_i    (output_bytes),
    .last_i     (output_last),
    .read_i     (read_request),
    .index_i    (index[1:0]),
    .shown_o    (shown),
    .word_o     (shown_word),
    .dst_valid_o, .dst_ready_i, .dst_data_o, .dst_last_o, .dst_bytes_o,
    .error_o    (output_error)
  );
  // The receiver is told if a message is given up while its result goes out.
  assign dst_abort_o = drops & stream_out & (modes_busy | output_valid);

  // The wipe begins after a reset and with each request. It adds all entropy that comes to its
  // pseudo-random words.
  aes_wipe #(.Hardened(Hardened)) u_wipe (
    .clk_i, .rst_ni,
    .entropy_valid_i(entropy_valid_i & entropy_ready_o),
    .entropy_i,
    .request_i(wipe_request),
    .busy_o   (wipe_busy),
    .loads_o  (wipe_loads),
    .ends_o   (wipe_ends),
    .index_o  (wipe_index),
    .word_o   (wipe_word),
    .error_o  (wipe_error)
  );

  // --- the tag ---

  block_t difference;
  logic   tag_equal, tag_matches, tag_fails;

  // All bytes are compared in one cycle, so that the time does not tell where they differ. Bytes beyond
  // the configured length of the tag are ignored. In the cycle of an upset of the configuration no tag
  // is equal.
  always_comb begin
    difference = tag ^ tag_q;
    for (int i = 0; i < 16; i++) if (5'(i) >= tag_len) difference[i] = '0;
  end
  assign tag_equal = (difference == '0) & ~config_error;

  // The verdict needs two equal comparisons in consecutive cycles.
  aes_verdict #(.Hardened(Hardened)) u_verdict (
    .clk_i, .rst_ni,
    .clear_i  (starts | drops),
    .valid_i  (tag_valid),
    .judges_i (decrypt),
    .equal_i  (tag_equal),
    .pending_o(tag_pending),
    .matches_o(tag_matches),
    .fails_o  (tag_fails),
    .error_o  (verdict_error)
  );

  // The alert is a level that is never cleared: the receiver decides what follows, not software that
  // may be under attack.
  assign alert_o = is_failed;
  assign irq_o   = regs_out.interrupt.intr;

  // --- status for software ---

  logic was_failed_q, done_q, refused, needs_masks;
  assign refused     = regs_out.command.start.value & ~starts;
  // This is a request that was refused, or a message that is dropped, because there are no random bits.
  // A message has to report this itself: the health test reports its own failures, but no upset of its
  // verdict.
  assign needs_masks = ~masks_ready & ((modes_busy & ~is_failed) | key_free |
                                       (is_idle & (regs_out.command.load_slot.value | regs_out.command.start.value)));

  // Interrupts report events, so these registers detect the first cycle of a condition. `done` comes a
  // cycle late, so that its interrupt does not come before the first comparison of the tag.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      was_failed_q <= 1'b0;
      done_q       <= 1'b0;
    end else begin
      was_failed_q <= is_failed;
      done_q       <= modes_done;
    end
  end

  // This block drives every input of the register block: constants of the build, status, errors,
  // interrupts, and the words of external registers, which the engine keeps.
  always_comb begin
    regs_in.parameters.masked.next = Masked;

    // Status describes the present cycle, and software need not clear it.
    regs_in.status.idle.next            = is_idle;
    regs_in.status.input_free.next      = input_free;
    regs_in.status.output_valid.next    = shown;
    regs_in.status.tag_valid.next       = tag_valid & ~decrypt;
    regs_in.status.tag_matches.next     = tag_matches;
    regs_in.status.key_loaded.next      = key_loaded;
    regs_in.status.iv_loaded.next       = iv_loaded;
    regs_in.status.failed.next          = is_failed;
    regs_in.status.entropy_healthy.next = entropy_healthy;

    // Errors stay until software clears them. A refused command sets `command` while the engine is
    // busy, otherwise the bit of each condition that is not met.
    regs_in.error.command.hwset = (refused & ~is_idle) | (regs_out.command.load_slot.value & ~is_idle);
    regs_in.error.mode.hwset    = refused & is_idle & mode_bad;
    regs_in.error.key.hwset     = (refused & is_idle & key_bad) |
                                  (regs_out.command.load_slot.value & is_idle & ~slot_valid_i);
    regs_in.error.iv.hwset      = refused & is_idle & iv_bad;
    regs_in.error.length.hwset  = refused & is_idle & length_bad;
    // These registers refuse a write while busy, and a write of less than a word.
    regs_in.error.data.hwset    = data_request & ~data_write;
    regs_in.error.write.hwset   = (setting_requests != setting_writes) | (key_request & ~key_free) | (iv_request & ~iv_write) | (tag_request & ~tag_write);
    regs_in.error.stream.hwset  = bad_end;
    regs_in.error.tag.hwset     = tag_fails;
    regs_in.error.entropy.hwset = entropy_failed | needs_masks;
    // This bit tells that something was lost, whatever the cause was. Software that asked for the drop
    // knows why; if an upset asked for it, software learns of it here.
    regs_in.error.dropped.hwset = drops & (modes_busy | output_valid | tag_valid) & ~bad_end & ~is_failed & masks_ready;

    // Each interrupt is set by an event and cleared by software.
    regs_in.interrupt.done.hwset  = done_q;
    regs_in.interrupt.error.hwset = refused | (data_request & ~data_write) | bad_end | tag_fails |
                                    entropy_failed | needs_masks | (is_failed & ~was_failed_q);

    // The right tag of a decryption is never shown: it would authenticate a forged message. Every
    // access is acknowledged in the cycle in which it comes, accepted or not, so the bus never waits.
    tag_word = (tag_valid && !decrypt) ? tag[4*index[1:0] +: 4] : '0;
    for (int i = 0; i < 4; i++) begin
      regs_in.data_in[i].wr_ack        = regs_out.data_in[i].req & regs_out.data_in[i].req_is_wr;
      regs_in.iv[i].wr_ack             = regs_out.iv[i].req & regs_out.iv[i].req_is_wr;
      regs_in.tag[i].wr_ack            = regs_out.tag[i].req & regs_out.tag[i].req_is_wr;
      regs_in.tag[i].rd_ack            = regs_out.tag[i].req & ~regs_out.tag[i].req_is_wr;
      regs_in.tag[i].rd_data.value     = tag_word;
      regs_in.data_out[i].rd_ack       = regs_out.data_out[i].req & ~regs_out.data_out[i].req_is_wr;
      regs_in.data_out[i].rd_data.value = shown_word;
    end
    regs_in.control.wr_ack  = setting_requests[4];
    regs_in.control.rd_ack  = regs_out.control.req & ~regs_out.control.req_is_wr;
    regs_in.control.rd_data = {24'b0, control};
    regs_in.text_len.wr_ack = setting_requests[3];
    regs_in.aad_len.wr_ack  = setting_requests[2];
    regs_in.iv_len.wr_ack   = setting_requests[1];
    regs_in.tag_len.wr_ack  = setting_requests[0];
    for (int i = 0; i < 8; i++) regs_in.key[i].wr_ack = regs_out.key[i].req & regs_out.key[i].req_is_wr;
  end

  // --- assertions ---
  //
  // `axi_lite_checks` asserts the rules of AXI4-Lite at the port. The names below state the further
  // properties of this module.

`ifndef SYNTHESIS
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // A message without a key would be encrypted with what the memory happens to contain.
  `ASSERT(NothingStartsWithoutAKey_A, starts |-> key_loaded)
  // Without random bits the masked engine must neither take a key nor go on with a message: the shares
  // would not be secret.
  `ASSERT(NothingIsMaskedByWhatIsNotRandom_A,
          !masks_ready |-> !starts && !key_write && !loaded_d.slot && (drops || !modes_busy))
  // A key is written in whole words and while nothing uses it, so a message has one key from its start
  // to its end.
  `ASSERT(AKeyWordIsWhole_A, key_write |-> whole && is_idle)
  // A drop, which every error and every wipe causes as well, leaves no result, tag or verdict in the
  // next cycle.
  `ASSERT(ADropHidesEverything_A,
          drops |=> !output_valid && !tag_valid && !tag_matches && (!modes_busy || is_failed))
  // A key that was wiped cannot start a message. An upset of the flags themselves is excepted, because
  // it is an error.
  `ASSERT(AWipeForgetsTheKey_A, wipe_busy && !loaded_error |=> !key_loaded || loaded_error)
  // Software that attacks the engine must not learn the tag that would make its forgery authentic.
  `ASSERT(ADecryptionTellsNoTag_A, decrypt || !tag_valid |-> tag_word == '0)
  // Key, vector and expected tag do not change under a message that uses them.
  `ASSERT(NothingIsWrittenDuringAMessage_A, modes_busy |-> !key_write && !iv_write && !tag_write)
  // Mode, direction and lengths do not change during a message, unless an upset is reported in the same
  // cycle.
  `ASSERT(AConfigurationStays_A, modes_busy && $past(modes_busy) |->
          $stable({control, text_len, aad_len, iv_len, tag_len}) || config_error || is_failed)
  // The receiver of the alert cannot miss it: only a reset takes it back.
  `ASSERT(AnAlertIsForGood_A, alert_o && Hardened |=> alert_o)
  // Each word of the slot gets its own place in the key: the index counts up by one until the walk
  // ends.
  `ASSERT(TheSlotIsReadInOrder_A,
          loaded_q.slot && !wipe_busy |=> !loaded_q.slot || loaded_q.slot_index == $past(loaded_q.slot_index) + 3'd1)
endmodule
