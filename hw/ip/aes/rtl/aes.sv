// The AES engine on a bus: registers of `data/aes.rdl` (AXI4-Lite), streams of 64 bits for text and result, a key slot, a
// port for entropy, an interrupt and an alert.
//
// With `Masked` the cipher works on shares, whose random bits come from a tested noise source. Without them it takes no key
// and starts nothing, and a message is dropped if they fail meanwhile.
//
// A command at the wrong time, a bad length or a missing key is refused and reported. No access waits for an event that
// may not come: stores into a full block are refused, and software sees in `status` when it is free.

`include "assert.svh"

module aes
  import aes_pkg::*;
  import aes_modes_pkg::*;
  import aes_regs_pkg::*;
#(
  parameter bit Masked   = 1'b0,
  parameter bit Hardened = 1'b1
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  // AXI4-Lite, 4 KiB. Protection bits are ignored: the only manager of this port is the root of trust.
  // Write address.
  input  logic         axil_awvalid_i,
  output logic         axil_awready_o,
  input  logic [11:0]  axil_awaddr_i,
  input  logic [2:0]   axil_awprot_i,
  // Write data.
  input  logic         axil_wvalid_i,
  output logic         axil_wready_o,
  input  logic [31:0]  axil_wdata_i,
  input  logic [3:0]   axil_wstrb_i,
  // Write response.
  output logic         axil_bvalid_o,
  input  logic         axil_bready_i,
  output logic [1:0]   axil_bresp_o,
  // Read address.
  input  logic         axil_arvalid_i,
  output logic         axil_arready_o,
  input  logic [11:0]  axil_araddr_i,
  input  logic [2:0]   axil_arprot_i,
  // Read data and response.
  output logic         axil_rvalid_o,
  input  logic         axil_rready_i,
  output logic [31:0]  axil_rdata_o,
  output logic [1:0]   axil_rresp_o,

  // The text of `control.stream_in`: words of eight bytes, the first one in the lower bits; the last word has one to
  // eight. An abort drops the message.
  input  logic         str_valid_i,
  output logic         str_ready_o,
  input  logic [63:0]  str_data_i,
  input  logic         str_last_i,
  input  logic [3:0]   str_bytes_i,
  input  logic         str_abort_i,

  // The result of `control.stream_out`, in the same form. `dst_abort_o`: there will be no last word.
  output logic         dst_valid_o,
  input  logic         dst_ready_i,
  output logic [63:0]  dst_data_o,
  output logic         dst_last_o,
  output logic [3:0]   dst_bytes_o,
  output logic         dst_abort_o,

  // The slot of a key that firmware does not see: words in the cycle of their index, the first byte lowest.
  input  logic         slot_valid_i,
  output logic [2:0]   slot_index_o,
  input  logic [31:0]  slot_word_i,

  // Samples of a noise source.
  input  logic         entropy_valid_i,
  output logic         entropy_ready_o,
  input  logic [31:0]  entropy_i,

  input  logic [3:0]   lifecycle_i,  // a change of it wipes everything
  output logic         irq_o,
  output logic         alert_o       // an upset was detected: the engine stops until reset
);
  // Fields of the register block, in the shape that the generator gives them.
  aes__in_t  regs_in;
  aes__out_t regs_out;

  // Generated from data/aes.rdl. Data, vector, tag and key are external registers: the words are in the engine.
  aes_regs u_regs (
    .clk           (clk_i),
    .arst_n        (rst_ni),
    .s_axil_awready(axil_awready_o),
    .s_axil_awvalid(axil_awvalid_i),
    .s_axil_awaddr (axil_awaddr_i),
    .s_axil_awprot (axil_awprot_i),
    .s_axil_wready (axil_wready_o),
    .s_axil_wvalid (axil_wvalid_i),
    .s_axil_wdata  (axil_wdata_i),
    .s_axil_wstrb  (axil_wstrb_i),
    .s_axil_bready (axil_bready_i),
    .s_axil_bvalid (axil_bvalid_o),
    .s_axil_bresp  (axil_bresp_o),
    .s_axil_arready(axil_arready_o),
    .s_axil_arvalid(axil_arvalid_i),
    .s_axil_araddr (axil_araddr_i),
    .s_axil_arprot (axil_arprot_i),
    .s_axil_rready (axil_rready_i),
    .s_axil_rvalid (axil_rvalid_o),
    .s_axil_rdata  (axil_rdata_o),
    .s_axil_rresp  (axil_rresp_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

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

  logic       data_request, iv_request, tag_request, key_request, read_request, whole;
  logic [4:0] setting_requests;
  logic [2:0] index;
  word_t      store;

  // Which word is accessed, and of which register.
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
  // Whole words only: half a word would make a key that software did not choose. All have the data of the bus.
  assign store = regs_out.key[0].wr_data.value;
  assign whole = &regs_out.key[0].wr_biten.value;

  // --- the configuration: locked from the start of a message to its last block and the verdict ---

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

  // What is loaded, and the walk through the slot.
  typedef struct packed {
    logic [7:0] key_there;   // words that were written
    logic [3:0] iv_there;
    logic       expanded;    // the schedule is that of this key
    logic       slot;        // the slot is being read
    logic [2:0] slot_index;
  } loaded_t;

  loaded_t          loaded_d, loaded_q;
  logic [7:0]       key_mask;  // the words of a key of the chosen length
  logic [3:0][31:0] tag_q;
  logic             key_loaded, iv_loaded, key_free, key_write, iv_write, tag_write, slot_starts, loaded_error;
  logic             masks_ready;     // or none are needed

  // A key of this length: exactly its words. Another length needs another key.
  assign key_mask   = key_len == Key256 ? 8'hff : (key_len == Key192 ? 8'h3f : 8'h0f);
  assign key_loaded = (loaded_q.key_there == key_mask) & (key_len != key_len_e'(2'd3));
  assign iv_loaded  = (&loaded_q.iv_there[2:0]) & (loaded_q.iv_there[3] | (mode == ModeGcm));
  // Words of a key get their masks when they are written.
  assign key_free   = key_request & whole & is_idle;
  assign key_write  = key_free & masks_ready;
  assign iv_write   = iv_request & whole & is_idle;
  assign tag_write  = tag_request & whole & is_idle;
  assign slot_index_o = loaded_q.slot_index;
  assign slot_starts = regs_out.command.load_slot.value & is_idle & slot_valid_i & masks_ready;

  // Key, slot and vector. A vector is used once: a start forgets that it is there, so no counter block comes twice by mistake.
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
      // After an expansion the words that are not a key of this length are overwritten.
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
    // An expansion that was cut off has made no schedule of the key.
    if (drops && modes_busy) loaded_d.expanded = loaded_q.expanded & core_idle;
    // What is read of the slot has to have masks.
    if (loaded_q.slot && !masks_ready) {loaded_d.key_there, loaded_d.slot} = '0;
    if (wipe_busy) {loaded_d.key_there, loaded_d.iv_there, loaded_d.expanded, loaded_d.slot} = '0;
  end

  // The expected tag is public, but a wipe overwrites it all the same: it may be that of a secret message.
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

  aes_copy #(.Bits($bits(loaded_t)), .Hardened(Hardened)) u_loaded_copy (
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

  // All of them end in the error state of the modes, a cycle later.
  assign upset        = core_error | input_error | output_error | wipe_error | config_error | loaded_error | verdict_error;
  assign is_failed    = core_error | modes_error;
  assign wipe_request = regs_out.command.wipe.value | (was_awake_q & (lifecycle_q != lifecycle_i)) |
                        (is_failed & ~wiped_q);
  assign drops        = wipe_request | wipe_busy | regs_out.command.abort.value | bad_end | is_failed |
                        (str_abort_i & stream_in & modes_busy) | (modes_busy & ~masks_ready);
  assign is_idle      = ~modes_busy & ~output_valid & ~wipe_busy & ~loaded_q.slot & core_idle & ~is_failed &
                        ~tag_pending;

  // What a start needs, each with its own error. Modes without a name are off.
  assign mode_bad   = ~(mode inside {ModeEcb, ModeCbc, ModeCtr, ModeGcm});
  assign key_bad    = ~key_loaded;
  assign iv_bad     = (mode == ModeCbc || mode == ModeCtr) ? ~iv_loaded
                    : (mode == ModeGcm) & ((iv_len == 16'd12) ? ~iv_loaded : iv_len == '0);
  assign length_bad = ((mode == ModeEcb || mode == ModeCbc) & (text_len[3:0] != '0)) |
                      ((mode != ModeGcm) & (text_len == '0)) |
                      ((mode == ModeGcm) & decrypt & ((tag_len < 5'd4) | (tag_len > 5'd16)));
  assign may_start  = is_idle & ~mode_bad & ~key_bad & ~iv_bad & ~length_bad & masks_ready & ~drops;
  assign starts     = regs_out.command.start.value & may_start;

  // The lifecycle of a cycle before, and whether the wipe after an error has begun.
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

  assign data_write = data_request & whole & input_free;

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

  // The modes. A wipe gives them pseudo-random words through the same ports.
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

  // The schedule takes words of software, of the slot or of a wipe, which has priority. A wipe lets the cipher run in its
  // middle, so that its registers take blocks of pseudo-random words.
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

    aes_masks u_masks (
      .clk_i, .rst_ni,
      .clear_i (regs_out.command.wipe.value),
      .entropy_valid_i, .entropy_ready_o, .entropy_i,
      .ready_o (entropy_healthy),
      .failed_o(entropy_failed),
      .random_o(random)
    );
    assign masks_ready = entropy_healthy;

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
    // Most cycles of a wipe have no result, and registers would become zero.
    assign result = unmasked | ({4{wipe_word}} & {128{wipe_loads}});
  end else begin : g_cipher
    assign masks_ready     = 1'b1;
    assign entropy_ready_o = 1'b1;

    // Nothing depends on this source but a wipe. A sample is a nibble of each word.
    entropy_health u_health (
      .clk_i, .rst_ni,
      .clear_i  (regs_out.command.wipe.value),
      .valid_i  (entropy_valid_i),
      .sample_i (entropy_i[3:0]),
      .healthy_o(entropy_healthy),
      .failed_o (entropy_failed)
    );

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
  // A message that is given up while its result goes out.
  assign dst_abort_o = drops & stream_out & (modes_busy | output_valid);

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

  // All bytes are compared in one cycle, so that no time tells where they differ.
  always_comb begin
    difference = tag ^ tag_q;
    for (int i = 0; i < 16; i++) if (5'(i) >= tag_len) difference[i] = '0;
  end
  assign tag_equal = (difference == '0) & ~config_error;

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

  // A level, and never cleared: the receiver decides, not software that may be under attack.
  assign alert_o = is_failed;
  assign irq_o   = regs_out.interrupt.intr;

  // --- status for software ---

  logic was_failed_q, done_q, refused, needs_masks;
  assign refused     = regs_out.command.start.value & ~starts;
  // Refused or dropped, because there are no random bits. A message needs to tell it itself: the health test reports its failures,
  // and no upset of its verdict.
  assign needs_masks = ~masks_ready & ((modes_busy & ~is_failed) | key_free |
                                       (is_idle & (regs_out.command.load_slot.value | regs_out.command.start.value)));

  // Interrupts report events: the first cycle of a condition. `done` follows the judgement of a tag.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      was_failed_q <= 1'b0;
      done_q       <= 1'b0;
    end else begin
      was_failed_q <= is_failed;
      done_q       <= modes_done;
    end
  end

  // Every input of the register block: constants of the build, locks while a message is under way, status, errors,
  // interrupts, and the words of external registers, which are kept in the engine.
  always_comb begin
    regs_in.parameters.masked.next = Masked;

    // Status is of this cycle, and software need not clear it.
    regs_in.status.idle.next            = is_idle;
    regs_in.status.input_free.next      = input_free;
    regs_in.status.output_valid.next    = shown;
    regs_in.status.tag_valid.next       = tag_valid & ~decrypt;
    regs_in.status.tag_matches.next     = tag_matches;
    regs_in.status.key_loaded.next      = key_loaded;
    regs_in.status.iv_loaded.next       = iv_loaded;
    regs_in.status.failed.next          = is_failed;
    regs_in.status.entropy_healthy.next = entropy_healthy;

    // Errors stay until software clears them.
    regs_in.error.command.hwset = (refused & ~is_idle) | (regs_out.command.load_slot.value & ~is_idle);
    regs_in.error.mode.hwset    = refused & is_idle & mode_bad;
    regs_in.error.key.hwset     = (refused & is_idle & key_bad) |
                                  (regs_out.command.load_slot.value & is_idle & ~slot_valid_i);
    regs_in.error.iv.hwset      = refused & is_idle & iv_bad;
    regs_in.error.length.hwset  = refused & is_idle & length_bad;
    regs_in.error.data.hwset    = data_request & ~data_write;
    regs_in.error.write.hwset   = (setting_requests != setting_writes) | (key_request & ~key_free) | (iv_request & ~iv_write) | (tag_request & ~tag_write);
    regs_in.error.stream.hwset  = bad_end;
    regs_in.error.tag.hwset     = tag_fails;
    regs_in.error.entropy.hwset = entropy_failed | needs_masks;
    // Whatever the cause: software that asked for it knows, and an upset that did is told.
    regs_in.error.dropped.hwset = drops & (modes_busy | output_valid | tag_valid) & ~bad_end & ~is_failed & masks_ready;

    regs_in.interrupt.done.hwset  = done_q;
    regs_in.interrupt.error.hwset = refused | (data_request & ~data_write) | bad_end | tag_fails |
                                    entropy_failed | needs_masks | (is_failed & ~was_failed_q);

    // Of a decryption the right tag is not told: it would make forgeries. Everything is acknowledged in the same cycle,
    // accepted or not.
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
  // The bus follows the rules of AXI4-Lite; the names below state the further properties of this module.

`ifndef SYNTHESIS
  axi_lite_checks #(.AddrBits(12)) u_checks (
    .clk_i,
    .rst_ni,
    .awvalid_i(axil_awvalid_i),
    .awready_i(axil_awready_o),
    .awaddr_i (axil_awaddr_i),
    .wvalid_i (axil_wvalid_i),
    .wready_i (axil_wready_o),
    .wdata_i  (axil_wdata_i),
    .wstrb_i  (axil_wstrb_i),
    .bvalid_i (axil_bvalid_o),
    .bready_i (axil_bready_i),
    .bresp_i  (axil_bresp_o),
    .arvalid_i(axil_arvalid_i),
    .arready_i(axil_arready_o),
    .araddr_i (axil_araddr_i),
    .rvalid_i (axil_rvalid_o),
    .rready_i (axil_rready_i),
    .rdata_i  (axil_rdata_o),
    .rresp_i  (axil_rresp_o)
  );
`endif

  `ASSERT(NothingStartsWithoutAKey_A, starts |-> key_loaded)
  `ASSERT(NothingIsMaskedByWhatIsNotRandom_A,
          !masks_ready |-> !starts && !key_write && !loaded_d.slot && (drops || !modes_busy))
  `ASSERT(AKeyWordIsWhole_A, key_write |-> whole && is_idle)
  // An error and a wipe drop, too.
  `ASSERT(ADropHidesEverything_A,
          drops |=> !output_valid && !tag_valid && !tag_matches && (!modes_busy || is_failed))
  `ASSERT(AWipeForgetsTheKey_A, wipe_busy && !loaded_error |=> !key_loaded || loaded_error)
  `ASSERT(ADecryptionTellsNoTag_A, decrypt || !tag_valid |-> tag_word == '0)
  `ASSERT(NothingIsWrittenDuringAMessage_A, modes_busy |-> !key_write && !iv_write && !tag_write)
  `ASSERT(AConfigurationStays_A, modes_busy && $past(modes_busy) |->
          $stable({control, text_len, aad_len, iv_len, tag_len}) || config_error || is_failed)
  `ASSERT(AnAlertIsForGood_A, alert_o && Hardened |=> alert_o)
  `ASSERT(TheSlotIsReadInOrder_A,
          loaded_q.slot && !wipe_busy |=> !loaded_q.slot || loaded_q.slot_index == $past(loaded_q.slot_index) + 3'd1)
endmodule
