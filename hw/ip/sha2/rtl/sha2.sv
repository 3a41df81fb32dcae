// This module is the SHA-2 engine with its bus: SHA-256 and HMAC-SHA-256, and with a second engine SHA-384 and
// SHA-512 (FIPS 180-4, FIPS 198-1). It connects the registers of `data/sha2.rdl` (AXI4-Lite) to the engines,
// with a FIFO and a stream for the message, an interrupt and an alert.
//
// Protocol: software writes `control` and, for a HMAC, the key while `status.idle` is set. `command.start`
// opens a message, `command.process` marks its end, and `command.stop` saves it between two blocks. The message
// comes through the window `fifo`, or through the stream `str_*`. A command at the wrong time is refused and
// reported. No access waits for an event that may not come, except a store into a full FIFO, which the engine
// empties, so no access can hang the bus. This holds after an error as well: there is no message then, and
// stores are dropped.
//
// Time: a block takes 68, 34 or 17 cycles of SHA-256 with one, two or four rounds a cycle; `doc/README.md` has
// the cycles of whole messages. They depend on lengths and handshakes only.
//
// Reset: there is no message, and FIFO, key, digest and cores are cleared before the engine is idle.
//
// Hardening: nothing in this module protects a secret. A fault in it may corrupt a digest, but reveals no key
// and makes no MAC without one, which is why its own few flags are not hardened. The modules below have
// hardened states.

`include "assert.svh"

module sha2
  import sha2_pkg::*;
  import sha2_regs_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // `RoundsPerCycle` is 1, 2 or 4.
  parameter int unsigned RoundsPerCycle = 1,
  // `WithSha512` adds a second engine, for SHA-384 and SHA-512.
  parameter bit          WithSha512     = 1'b0,
  // `Hardened` = 0 lets illegal states continue, so that tests can show that they are detected.
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // This is the AXI4-Lite port with 4 KiB of addresses. It has no protection bits, because the only manager
  // of this port is the root of trust.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // This stream carries the message if `control.stream` is set: words of eight bytes, of which the last one has
  // none to eight. A word moves when valid and ready are both high. `control.message_swap` selects the byte
  // order. An abort drops a message that is open.
  input  logic        str_valid_i,
  output logic        str_ready_o,
  input  logic [63:0] str_data_i,
  input  logic        str_last_i,
  input  logic [3:0]  str_bytes_i,
  input  logic        str_abort_i,

  // A change of `lifecycle_i` between two cycles wipes everything. `irq_o` is a level that follows the enabled
  // interrupts.
  input  logic [3:0]  lifecycle_i,
  output logic        irq_o,
  // `alert_o` says that an upset was detected. It is a level that stays until reset, as the engine does nothing
  // more.
  output logic        alert_o
);
  // Index 0 is the engine of SHA-256, and index 1 that of SHA-384 and SHA-512.
  localparam int unsigned Engines = WithSha512 ? 2 : 1;

  // These structures have the fields of the register block in the shape that the generator gives them.
  sha2__in_t  regs_in;
  sha2__out_t regs_out;

  // The register block is generated from `data/sha2.rdl`. Key, digest and FIFO are external registers: the
  // engines keep their words.
  sha2_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i        (axil_i),
    .axil_o        (axil_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // Registers are little-endian, while SHA-2 is big-endian (FIPS 180-4 §3.1).
  function automatic logic [31:0] swapped(logic [31:0] word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  // --- commands ---

  // The mode is decoded by equality. An illegal mode, or one that needs an absent engine, counts as off.
  logic is_off, is_hmac, is_384, is_wide, from_stream, is_idle, is_failed, drops;
  logic start_ready, stop_ready, starts, stops, fifo_busy, fifo_pending, lane_empty;
  logic [4:0] level;
  logic open_d, open_q, complete_d, complete_q, stop_d, stop_q, some_d, some_q;
  logic [4:0] taken_d, taken_q;
  logic word_valid, word_ready, word_last, word_pair, word_moves;
  logic may_start, may_complete, may_stop, is_aligned;

  assign is_hmac     = regs_out.control.mode.value == sha2_mode__hmac_sha256;
  assign is_384      = regs_out.control.mode.value == sha2_mode__sha384;
  assign is_wide     = WithSha512 && (is_384 || regs_out.control.mode.value == sha2_mode__sha512);
  assign is_off      = ~(is_hmac | is_wide | (regs_out.control.mode.value == sha2_mode__sha256));
  assign from_stream = regs_out.control.stream.value;
  assign word_moves  = word_valid & word_ready;

  // A start needs an engine that has cleared the last message, and a FIFO that was flushed. Start and resume in
  // the same cycle contradict each other, so neither is accepted.
  assign may_start    = start_ready & ~is_off & ~fifo_busy & ~drops;
  assign starts       = (regs_out.command.start.value ^ regs_out.command.resume.value) & may_start;
  assign may_complete = open_q & ~complete_q & ~stop_q & ~from_stream;
  // Blocks are counted where words leave the FIFO, so the words that are still in it have to be added.
  logic [4:0] on_the_way;
  assign on_the_way   = taken_q + level;
  assign is_aligned   = (on_the_way[3:0] == '0) & ~(is_wide & on_the_way[4]) & ~fifo_pending;
  assign may_stop     = open_q & ~complete_q & ~stop_q & is_aligned & (some_q | (level != '0));

  // `open` says that the message takes words, and `complete` that those in the FIFO are the last ones. `stop`
  // says that the state will be saved as soon as they are hashed. `some` says that there is a block, or will be
  // one, after which it can be saved.
  always_comb begin
    open_d     = open_q;
    complete_d = complete_q;
    stop_d     = stop_q;
    some_d     = some_q | word_moves;
    taken_d    = taken_q + (word_pair ? {3'd0, word_moves, 1'b0} : 5'(word_moves));
    if (starts) begin
      open_d     = 1'b1;
      complete_d = 1'b0;
      stop_d     = 1'b0;
      // The state of a HMAC can be saved after the block of the key.
      some_d     = is_hmac & regs_out.command.start.value;
      taken_d    = '0;
    end
    if (regs_out.command.process.value && may_complete) complete_d = 1'b1;
    if (regs_out.command.stop.value && may_stop)        stop_d     = 1'b1;
    // This comes last, so that the end of a message has priority over the start of one.
    if ((word_moves && word_last) || stops || drops) begin
      open_d     = 1'b0;
      complete_d = 1'b0;
      stop_d     = 1'b0;
    end
  end

  // These flags say after a reset that there is no message.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q     <= 1'b0;
      complete_q <= 1'b0;
      stop_q     <= 1'b0;
      some_q     <= 1'b0;
      taken_q    <= '0;
    end else begin
      open_q     <= open_d;
      complete_q <= complete_d;
      stop_q     <= stop_d;
      some_q     <= some_d;
      taken_q    <= taken_d;
    end
  end

  // --- the message ---

  // A word of the message comes from the FIFO or from the stream, as `control.stream` says.
  logic        fifo_valid, fifo_last, push_done, push_bad;
  logic [31:0] fifo_word;
  logic [63:0] word;
  logic [2:0]  fifo_bytes;
  logic [3:0]  word_bytes;

  // The FIFO takes stores of software only; the stream bypasses it. A message that is being saved, or that
  // comes by stream, takes no stores, and `push_bad` reports them.
  sha2_fifo u_fifo (
    .clk_i, .rst_ni,
    .push_i       (regs_out.fifo.req & regs_out.fifo.req_is_wr),
    .push_data_i  (regs_out.fifo.wr_data),
    .push_lanes_i ({regs_out.fifo.wr_biten[24], regs_out.fifo.wr_biten[16],
                    regs_out.fifo.wr_biten[8], regs_out.fifo.wr_biten[0]}),
    .is_swapped_i (regs_out.control.message_swap.value),
    .push_done_o  (push_done),
    .push_bad_o   (push_bad),
    .is_open_i    (open_q & ~stop_q & ~from_stream),
    .is_complete_i(complete_q),
    .flush_i      (drops),
    .busy_o       (fifo_busy),
    .level_o      (level),
    .pending_o    (fifo_pending),
    .word_valid_o (fifo_valid),
    .word_ready_i (word_ready & ~from_stream),
    .word_o       (fifo_word),
    .word_last_o  (fifo_last),
    .word_bytes_o (fifo_bytes)
  );

  // The stream waits while a message is saved, so that the save is between two blocks.
  logic stream_flows, aborts;
  assign stream_flows = from_stream & open_q & ~stop_q & ~regs_out.command.stop.value;

  // The first byte of the stream becomes the top one. Engines of two or more rounds take eight bytes in a
  // cycle, those of one round four.
  logic        narrow_valid, narrow_ready, narrow_last;
  logic [63:0] narrow;
  logic [3:0]  narrow_bytes;
  logic [63:0] pair;
  assign pair = regs_out.control.message_swap.value ? str_data_i :
                {swapped(str_data_i[31:0]), swapped(str_data_i[63:32])};
  if (RoundsPerCycle == 1) begin : g_narrow
    // With one round a cycle the lower half of a word is not used.
    assign narrow[31:0]    = '0;
    assign narrow_bytes[3] = 1'b0;
    assign word_pair       = 1'b0;
    sha2_narrow u_narrow (
      .clk_i, .rst_ni,
      .flush_i(drops | starts),
      .valid_i(stream_flows & str_valid_i),
      .ready_o(narrow_ready),
      .data_i (pair),
      .last_i (str_last_i),
      .bytes_i(str_bytes_i),
      .valid_o(narrow_valid),
      .ready_i(word_ready),
      .data_o (narrow[63:32]),
      .last_o (narrow_last),
      .bytes_o(narrow_bytes[2:0])
    );
  end else begin : g_wide
    // With more rounds a word of the stream goes to the lane as a pair.
    assign narrow_valid = stream_flows & str_valid_i;
    assign narrow_ready = word_ready;
    assign narrow       = pair;
    assign narrow_last  = str_last_i;
    assign narrow_bytes = str_bytes_i;
    assign word_pair    = from_stream;
  end

  // A message has one source at a time.
  assign str_ready_o  = stream_flows & narrow_ready;
  assign word_valid   = from_stream ? narrow_valid : fifo_valid;
  assign word_last    = from_stream ? narrow_last : fifo_last;
  assign word_bytes   = from_stream ? narrow_bytes : {1'b0, fifo_bytes};
  assign word         = from_stream ? narrow : {fifo_word, 32'b0};
  assign aborts       = regs_out.command.abort.value | (str_abort_i & from_stream & open_q);

  // --- the engines ---

  // These are outputs of both engines, one bit or word for each.
  logic [Engines-1:0] start_readies, stop_readies, word_readies, lane_empties, key_loadeds;
  logic [Engines-1:0] digest_valids, state_valids, drop_alls, idles, errors;
  logic [60:0]        lengths [Engines];
  logic [511:0]       digests [Engines];
  logic [60:0]        length;
  logic [511:0]       digest;
  logic digest_valid, state_valid, key_request, state_request, key_write, state_write;
  logic [3:0] key_index, state_index;

  // All words of an external register see the same data of the bus, so those of `key[0]` stand for all.
  logic [31:0] store;
  logic        is_whole;
  assign store    = regs_out.key[0].wr_data.value;
  assign is_whole = &regs_out.key[0].wr_biten.value;

  // This block finds out which word of key or digest is written. There is at most one such request in a cycle,
  // so the order of the loops does not matter.
  always_comb begin
    key_request   = 1'b0;
    key_index     = '0;
    state_request = 1'b0;
    state_index   = '0;
    for (int i = 0; i < 16; i++) begin
      if (regs_out.key[i].req && regs_out.key[i].req_is_wr) begin
        key_request = 1'b1;
        key_index   = 4'(i);
      end
    end
    for (int i = 0; i < 16; i++) begin
      if (regs_out.digest[i].req && regs_out.digest[i].req_is_wr) begin
        state_request = 1'b1;
        state_index   = 4'(i);
      end
    end
  end
  // Only whole words are written, because half a word would make a key that software did not choose.
  assign key_write   = key_request & is_whole & is_idle;
  assign state_write = state_request & is_whole & is_idle;

  for (genvar e = 0; e < Engines; e++) begin : g_engine
    localparam int unsigned WordBits  = (e == 0) ? 32 : 64;
    localparam int unsigned LaneBits  = WordBits * RoundsPerCycle;
    localparam int unsigned BytesBits = $clog2(LaneBits / 8 + 1);
    logic is_chosen, lane_valid, lane_ready, lane_last;
    logic [LaneBits-1:0]   lane;
    logic [BytesBits-1:0]  lane_bytes;
    logic [8*WordBits-1:0] shown;

    // The digest of SHA-256 comes first, followed by zeros.
    assign is_chosen  = is_wide == (e == 1);
    assign digests[e] = {shown, {512 - 8*WordBits{1'b0}}};

    // The lane collects as many words as the engine takes in a cycle.
    sha2_lane #(.Words(LaneBits / 32)) u_lane (
      .clk_i, .rst_ni,
      .flush_i     (drops),
      .word_valid_i(word_valid & is_chosen),
      .word_ready_o(word_readies[e]),
      .word_i      (word),
      .word_pair_i (word_pair),
      .word_last_i (word_last),
      .word_bytes_i(word_bytes),
      .lane_valid_o(lane_valid),
      .lane_ready_i(lane_ready),
      .lane_o      (lane),
      .lane_last_o (lane_last),
      .lane_bytes_o(lane_bytes),
      .empty_o     (lane_empties[e])
    );

    // There is one engine for each width of word. A start, words and a stop reach the engine of the mode;
    // wipes, aborts and errors reach both.
    sha2_hmac #(
      .WordBits      (WordBits),
      .RoundsPerCycle(RoundsPerCycle),
      .Hardened      (Hardened)
    ) u_hmac (
      .clk_i, .rst_ni,
      .key_valid_i   (key_write & (e == 0)),
      .key_index_i   (key_index),
      .key_i         (swapped(store)),
      .key_loaded_o  (key_loadeds[e]),
      .start_valid_i (starts & is_chosen),
      .start_ready_o (start_readies[e]),
      .is_hmac_i     (is_hmac),
      .is_384_i      (is_384),
      .resume_i      (regs_out.command.resume.value),
      .bytes_i       ({regs_out.message_length_high.value.value,
                       regs_out.message_length_low.value.value}),
      .bytes_o       (lengths[e]),
      .stop_valid_i  (stop_q & (level == '0) & lane_empty & is_chosen),
      .stop_ready_o  (stop_readies[e]),
      .msg_valid_i   (lane_valid),
      .msg_ready_o   (lane_ready),
      .msg_i         (lane),
      .msg_last_i    (lane_last),
      .msg_bytes_i   (lane_bytes),
      .digest_valid_o(digest_valids[e]),
      .state_valid_o (state_valids[e]),
      .digest_o      (shown),
      .state_valid_i (state_write & is_chosen),
      .state_index_i (state_index),
      .state_i       (regs_out.control.digest_swap.value ? store : swapped(store)),
      // An error of one engine stops both.
      .wipe_i        (regs_out.command.wipe.value | is_failed),
      .abort_i       (aborts),
      .lifecycle_i,
      .dropped_o     (drop_alls[e]),
      .idle_o        (idles[e]),
      .error_o       (errors[e])
    );
  end

  // Without a second engine `is_wide` is constant, and this index stays within bounds.
  localparam int unsigned Wide = Engines - 1;
  assign start_ready  = is_wide ? start_readies[Wide] : start_readies[0];
  assign stop_ready   = is_wide ? stop_readies[Wide] : stop_readies[0];
  assign word_ready   = is_wide ? word_readies[Wide] : word_readies[0];
  assign lane_empty   = &lane_empties;
  assign digest_valid = is_wide ? digest_valids[Wide] : digest_valids[0];
  assign state_valid  = is_wide ? state_valids[Wide] : state_valids[0];
  assign length       = is_wide ? lengths[Wide] : lengths[0];
  assign digest       = is_wide ? digests[Wide] : digests[0];
  // If one engine is cleared, FIFO and lanes are cleared as well, because they may hold words of its message.
  assign drops        = |drop_alls;
  assign is_failed    = |errors;
  assign stops        = stop_q & (level == '0) & lane_empty & stop_ready;
  assign is_idle      = (&idles) & ~fifo_busy & ~is_failed;
  assign alert_o      = is_failed;
  assign irq_o        = regs_out.interrupt.intr;

  // --- status for software ---

  logic is_done, was_done_q, was_failed_q, was_empty_q, bad_command, bad_stop, bad_write;
  // These are the errors of software. Each access is refused first and reported afterwards, so nothing depends
  // on whether software reads the report.
  assign is_done     = digest_valid | state_valid;
  assign bad_command = ((regs_out.command.start.value | regs_out.command.resume.value) & ~starts) |
                       (regs_out.command.process.value & ~may_complete) |
                       (regs_out.command.stop.value & (~open_q | complete_q | stop_q));
  assign bad_stop    = regs_out.command.stop.value & ~may_stop;
  assign bad_write   = (key_request & ~key_write) | (state_request & ~state_write);

  // Interrupts report events, while `status` has the present conditions. An event is the first cycle of a
  // condition, so these registers keep the conditions of the cycle before. The FIFO counts as empty from reset
  // on, so that this is no event.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      was_done_q   <= 1'b0;
      was_failed_q <= 1'b0;
      was_empty_q  <= 1'b1;
    end else begin
      was_done_q   <= is_done;
      was_failed_q <= is_failed;
      was_empty_q  <= level == '0;
    end
  end

  // This block drives every input of the register block: constants of the build, locks while a message is under
  // way, status, errors, interrupts, and the words of key, digest and FIFO, which the engines keep.
  always_comb begin
    regs_in.parameters.rounds_per_cycle.next = 4'(RoundsPerCycle);
    regs_in.parameters.fifo_words.next       = 8'd16;
    regs_in.parameters.with_sha512.next      = WithSha512;

    // Mode and byte order of a message are locked from its start until the engine is idle.
    regs_in.control.mode.swwel         = ~is_idle;
    regs_in.control.message_swap.swwel = ~is_idle;
    regs_in.control.digest_swap.swwel  = ~is_idle;
    regs_in.control.stream.swwel       = ~is_idle;

    // Status describes the present cycle, and software need not clear it.
    regs_in.status.idle.next         = is_idle;
    regs_in.status.fifo_empty.next   = (level == '0) & ~fifo_pending;
    regs_in.status.fifo_full.next    = level[4];
    regs_in.status.digest_valid.next = digest_valid;
    regs_in.status.state_valid.next  = state_valid;
    regs_in.status.key_loaded.next   = |key_loadeds;  // Only one engine has a key.
    regs_in.status.failed.next       = is_failed;
    regs_in.status.fifo_level.next   = level;

    // Errors stay until software clears them.
    regs_in.error.command.hwset = bad_command;
    regs_in.error.stop.hwset    = bad_stop & ~bad_command;
    regs_in.error.push.hwset    = push_bad;
    regs_in.error.write.hwset   = bad_write;

    // Each interrupt is set by the first cycle of its condition.
    regs_in.interrupt.done.hwset       = is_done & ~was_done_q;
    regs_in.interrupt.fifo_empty.hwset = (level == '0) & ~was_empty_q & open_q & ~complete_q &
                                         ~stop_q;
    regs_in.interrupt.error.hwset      = bad_command | bad_stop | push_bad | bad_write |
                                         (is_failed & ~was_failed_q);

    // The length of a message is written when it ends or is saved. `resume` needs a length of whole blocks.
    regs_in.message_length_low.value.next   = length[31:0];
    regs_in.message_length_low.value.we     = is_done & ~was_done_q;
    regs_in.message_length_low.value.swwel  = ~is_idle;
    regs_in.message_length_high.value.next  = length[60:32];
    regs_in.message_length_high.value.we    = is_done & ~was_done_q;
    regs_in.message_length_high.value.swwel = ~is_idle;

    // Every access is acknowledged in the cycle in which it comes, accepted or not. Only a store into a full
    // FIFO stalls the bus.
    for (int i = 0; i < 16; i++) begin
      regs_in.key[i].wr_ack = regs_out.key[i].req & regs_out.key[i].req_is_wr;
    end
    for (int i = 0; i < 16; i++) begin
      regs_in.digest[i].wr_ack = regs_out.digest[i].req & regs_out.digest[i].req_is_wr;
      regs_in.digest[i].rd_ack = regs_out.digest[i].req & ~regs_out.digest[i].req_is_wr;
      regs_in.digest[i].rd_data.value = regs_out.control.digest_swap.value ?
          digest[32*(15-i) +: 32] : swapped(digest[32*(15-i) +: 32]);
    end
    regs_in.fifo.wr_ack  = push_done;
    regs_in.fifo.rd_ack  = 1'b0;
    regs_in.fifo.rd_data = '0;
  end

  // --- assertions ---
  //
  // `axi_lite_checks` asserts the rules of AXI4-Lite at the port. The names below state the further properties
  // of this module.

`ifndef SYNTHESIS
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // A store that finds the FIFO full has to wait; if it were refused, the message would lose bytes.
  `ASSERT(StoresAreNotLost_A, push_done |-> !push_bad || !level[4] || !open_q || stop_q)
  // A message is saved at the end of a block with no word on its way, or these words would be lost.
  `ASSERT(StopsWithoutWords_A, stops |-> level == '0 && taken_q[3:0] == '0)
  // One index and one word serve both registers, so two requests at once would write the wrong one.
  `ASSERT(OneRegisterAtATime_A, !(key_request && state_request))
  // No word enters a message that has ended.
  `ASSERT(AMessageEndsWithItsLastWord_A, word_moves && word_last |=> !open_q)
  // Key and state are written in whole words while nothing uses them.
  `ASSERT(AKeyWordIsWhole_A, key_write || state_write |-> is_whole && is_idle)
  // A source that aborts its message must not get a digest of the part that has come.
  `ASSERT(AStreamIsDroppedByItsAbort_A, str_abort_i && from_stream && open_q |=> !open_q && !digest_valid)
  // A message can only be complete while it is open.
  `ASSERT(NothingFollowsTheLastWord_A, complete_q |-> open_q)
  // After an error neither a digest nor a saved state can be read.
  `ASSERT(FailedShowsNothing_A, alert_o |=> digest == '0 && !digest_valid && !state_valid)
endmodule
