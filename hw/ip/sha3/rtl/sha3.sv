// This module is the SHA-3 engine with its bus: SHA-3, SHAKE, cSHAKE, KMAC (FIPS 202, SP 800-185) and
// TurboSHAKE128 (RFC 9861). It connects the registers of `data/sha3.rdl` (AXI4-Lite) to the sponge, with a port
// for words of 64 bits and a stream for the message, an interrupt and an alert.
//
// Protocol: software writes `control` and, for KMAC, the key while `status.idle` is set, writes
// `command.start`, and stores words of eight bytes into `data`, or a stream brings them. `digest` is valid when
// `status.digest_valid` is set. A command at the wrong time is refused and reported. No access waits for an
// event that may not come, except a store into `data` while a word waits, which the engine takes, so no access
// can hang the bus. This holds after an error as well: there is no message then, and stores are dropped.
//
// Time: a block takes 24 rounds (12 of TurboSHAKE), one or two in a cycle, and the words of the next block come
// meanwhile. The time depends on the length of the message and on handshakes only.
//
// Reset: there is no message and no key; the state is wiped, and the memory of the digest is overwritten in 32
// cycles.
//
// Hardening: the states of all state machines differ in at least three bits. An illegal state, or a count that
// does not exist, is an error until reset, which wipes the key. Upsets of data are not detected, and nothing is
// masked.

`include "assert.svh"

module sha3
  import sha3_pkg::*;
  import sha3_regs_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // `RoundsPerCycle` is 1 or 2.
  parameter int unsigned RoundsPerCycle = 1,
  // `Hardened` = 0 lets illegal states continue, so that tests can show that they are detected.
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // This is the AXI4-Lite port with 4 KiB of addresses. It has no protection bits, because the only manager
  // of this port is the root of trust.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // This stream carries the message if `control.stream` is set: words of eight bytes, the first one in the
  // lower bits; the last word has none to eight. It has 64 bits because SHA3-512 takes nine of them in twelve
  // cycles. A word moves when valid and ready are both high. An abort drops a message that is open.
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
  // These structures have the fields of the register block in the shape that the generator gives them.
  sha3__in_t  regs_in;
  sha3__out_t regs_out;

  // The register block is generated from `data/sha3.rdl`. Data, key and digest are external registers: the
  // engine keeps their words.
  sha3_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i        (axil_i),
    .axil_o        (axil_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // --- the function ---

  function_t  mode_function;
  logic       is_off, is_kmac, has_end, is_half;
  logic [4:0] digest_last;

  // A mode is decoded by equality, and an illegal mode counts as off. `digest_last` is the last lane of the
  // digest; functions without a fixed length give a whole block. `is_half` says that of the last lane only the
  // lower half belongs to the digest.
  always_comb begin
    is_off        = 1'b0;
    is_kmac       = 1'b0;
    has_end       = 1'b0;
    is_half       = 1'b0;
    digest_last   = '0;
    mode_function = '{rate: Rate72, is_short: 1'b0, suffix: 8'h06};
    unique case (regs_out.control.mode.value)
      sha3_mode__sha3_224: begin
        mode_function.rate = Rate144;
        {has_end, is_half, digest_last} = {1'b1, 1'b1, 5'd3};
      end
      sha3_mode__sha3_256: begin
        mode_function.rate = Rate136;
        {has_end, digest_last} = {1'b1, 5'd3};
      end
      sha3_mode__sha3_384: begin
        mode_function.rate = Rate104;
        {has_end, digest_last} = {1'b1, 5'd5};
      end
      sha3_mode__sha3_512: {has_end, digest_last} = {1'b1, 5'd7};
      sha3_mode__shake128: begin
        mode_function.rate   = Rate168;
        mode_function.suffix = 8'h1f;
      end
      sha3_mode__shake256: begin
        mode_function.rate   = Rate136;
        mode_function.suffix = 8'h1f;
      end
      sha3_mode__cshake128, sha3_mode__kmac128: begin
        mode_function.rate   = Rate168;
        mode_function.suffix = 8'h04;
        is_kmac              = regs_out.control.mode.value == sha3_mode__kmac128;
      end
      sha3_mode__cshake256, sha3_mode__kmac256: begin
        mode_function.rate   = Rate136;
        mode_function.suffix = 8'h04;
        is_kmac              = regs_out.control.mode.value == sha3_mode__kmac256;
      end
      sha3_mode__turboshake128: begin
        mode_function.rate     = Rate168;
        mode_function.is_short = 1'b1;
        mode_function.suffix   = regs_out.control.suffix.value;
      end
      default: is_off = 1'b1;
    endcase
    if (!has_end) digest_last = last_lane(mode_function.rate);
  end

  // --- commands ---

  logic core_idle, core_error, key_error, is_failed, is_idle, drops, forgets, bad_end;
  logic start_ready, may_start, starts, may_squeeze, squeezes;
  logic open_q, has_end_q, is_half_q, key_loaded, from_stream;
  logic output_busy, output_valid;
  logic [4:0] output_last_q;
  logic [3:0] lifecycle_q;

  assign from_stream = regs_out.control.stream.value;
  // `forgets` clears key and message, while `drops` clears only the message.
  assign is_failed   = core_error | key_error;
  assign forgets     = regs_out.command.wipe.value | (lifecycle_q != lifecycle_i) | is_failed;
  assign drops       = forgets | regs_out.command.abort.value | (str_abort_i & from_stream & open_q) | bad_end;
  // A message starts only when the one before has left nothing, and a MAC only with a whole key.
  assign is_idle     = start_ready & ~open_q & ~output_busy & ~is_failed;
  assign may_start   = is_idle & ~is_off & (~is_kmac | key_loaded) & ~drops;
  assign starts      = regs_out.command.start.value & may_start;
  // Functions with a digest of one length have no further output.
  assign may_squeeze = output_valid & ~has_end_q & ~drops & ~regs_out.command.start.value;
  assign squeezes    = regs_out.command.squeeze.value & may_squeeze;

  // --- the message ---

  // A store waits in `store_q`, and a word in `data_q`, until the core takes it.
  logic              store_q, store_index_q, store_whole_q, pending_q, last_q, last_next_q, complete_q;
  logic [31:0]       store_data_q;
  logic [1:0][31:0]  data_q;
  logic [3:0]        bytes_q;
  logic store_request, store_index, store_done, store_good, takes_words, pushes, commits, bad_commit;
  logic word_valid, word_ready, word_last, ends;
  lane_t      word;
  logic [3:0] word_bytes;

  // Stores are taken while a message is open, has no last word yet, and does not come by the stream port.
  assign takes_words   = open_q & ~complete_q & ~from_stream;
  assign store_request = (regs_out.data[0].req & regs_out.data[0].req_is_wr) |
                         (regs_out.data[1].req & regs_out.data[1].req_is_wr);
  assign store_index   = regs_out.data[1].req;
  assign store_good    = store_q & takes_words & store_whole_q;
  // A store that nothing takes is answered at once.
  assign store_done    = store_q & ~(store_good & pending_q);
  // With `by_commit` a word is pushed by a write of its size, otherwise by the store of its upper half.
  assign commits       = regs_out.final_size.commit.value & regs_out.control.by_commit.value & takes_words & ~pending_q;
  assign bad_commit    = regs_out.final_size.commit.value & ~commits;
  assign pushes        = commits | (store_good & store_done & store_index_q & ~regs_out.control.by_commit.value);

  // A message has one source, which the register `stream` chooses before the start.
  assign word_valid  = open_q & (from_stream ? str_valid_i : pending_q);
  assign word        = from_stream ? str_data_i : data_q;
  assign word_last   = from_stream ? str_last_i : last_q;
  assign word_bytes  = from_stream ? str_bytes_i : bytes_q;
  assign str_ready_o = open_q & from_stream & word_ready;
  assign ends        = word_valid & word_ready & word_last;

  // A message is open until its last word has gone to the core; nothing is pushed after that word.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q        <= 1'b0;
      complete_q    <= 1'b0;
      has_end_q     <= 1'b0;
      is_half_q     <= 1'b0;
      output_last_q <= '0;
      lifecycle_q   <= '0;
    end else begin
      lifecycle_q <= lifecycle_i;
      if (drops || ends) open_q <= 1'b0;
      else if (starts)   open_q <= 1'b1;
      if (starts) begin
        has_end_q     <= has_end;
        is_half_q     <= is_half;
        output_last_q <= digest_last;
        complete_q    <= 1'b0;
      end else if (pushes && (last_next_q || regs_out.final_size.last.value)) begin
        complete_q <= 1'b1;
      end
    end
  end

  // A size of more than a word counts as a whole word.
  logic [3:0] final_bytes;
  assign final_bytes = regs_out.final_size.size.value[3] ? 4'd8 : regs_out.final_size.size.value;

  // This is the port: a store, then a word of two stores. `last` belongs to the word that is pushed with it or
  // after it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      store_q       <= 1'b0;
      store_index_q <= 1'b0;
      store_whole_q <= 1'b0;
      store_data_q  <= '0;
      data_q        <= '0;
      pending_q     <= 1'b0;
      last_q        <= 1'b0;
      last_next_q   <= 1'b0;
      bytes_q       <= '0;
    end else begin
      if (store_request) begin
        store_q       <= 1'b1;
        store_index_q <= store_index;
        store_whole_q <= store_index ? &regs_out.data[1].wr_biten.value : &regs_out.data[0].wr_biten.value;
        store_data_q  <= regs_out.data[0].wr_data.value;
      end else if (store_done) begin
        store_q      <= 1'b0;
        store_data_q <= '0;
      end
      if (word_ready && !from_stream) pending_q <= 1'b0;
      if (store_good && store_done) data_q[store_index_q] <= store_data_q;
      if (regs_out.final_size.last.value) last_next_q <= 1'b1;
      if (pushes) begin
        pending_q   <= 1'b1;
        last_q      <= last_next_q | regs_out.final_size.last.value;
        last_next_q <= 1'b0;
        bytes_q     <= (last_next_q || regs_out.final_size.last.value) ? final_bytes : 4'd8;
      end
      if (drops || starts) begin
        {pending_q, last_q, last_next_q} <= '0;
        data_q <= '0;
      end
    end
  end

  // --- the engine ---

  logic       key_request, key_write, msg_valid, msg_ready, msg_last, out_valid, out_ready;
  logic [4:0] key_index, digest_lane;
  logic [3:0] msg_bytes;
  lane_t      msg, out, digest;

  // This block finds out which word of the key is written: there is at most one such request in a cycle.
  always_comb begin
    key_request = 1'b0;
    key_index   = '0;
    for (int i = 0; i < 18; i++) begin
      if (regs_out.key[i].req && regs_out.key[i].req_is_wr) begin
        key_request = 1'b1;
        key_index   = 5'(i);
      end
    end
  end
  // Only whole words are written, because half a word would make a key that software did not choose.
  assign key_write = key_request & (&regs_out.key[0].wr_biten.value) & is_idle;

  // The key goes into the message here, and nowhere else.
  sha3_key #(.Hardened(Hardened)) u_key (
    .clk_i, .rst_ni,
    .key_valid_i (key_write),
    .key_index_i (key_index),
    .key_i       (regs_out.key[0].wr_data.value),
    .loaded_o    (key_loaded),
    .forget_i    (forgets),
    .start_i     (starts),
    .is_kmac_i   (is_kmac),
    .last_lane_i (last_lane(mode_function.rate)),
    .drop_i      (drops),
    .bad_end_o   (bad_end),
    .fail_i      (core_error),
    .error_o     (key_error),
    .word_valid_i(word_valid),
    .word_ready_o(word_ready),
    .word_i      (word),
    .word_last_i (word_last),
    .word_bytes_i(word_bytes),
    .msg_valid_o (msg_valid),
    .msg_ready_i (msg_ready),
    .msg_o       (msg),
    .msg_last_o  (msg_last),
    .msg_bytes_o (msg_bytes)
  );

  // This is the sponge. An error of the key wipes it, and so does everything that drops the message.
  sha3_core #(
    .RoundsPerCycle(RoundsPerCycle),
    .Hardened      (Hardened)
  ) u_core (
    .clk_i, .rst_ni,
    .start_valid_i(starts),
    .start_ready_o(start_ready),
    .function_i   (mode_function),
    .wipe_i       (drops),
    .idle_o       (core_idle),
    .error_o      (core_error),
    .msg_valid_i  (msg_valid),
    .msg_ready_o  (msg_ready),
    .msg_i        (msg),
    .msg_last_i   (msg_last),
    .msg_bytes_i  (msg_bytes),
    .word_valid_o (out_valid),
    .word_ready_i (out_ready),
    .word_o       (out)
  );

  // A digest ends after its lanes; other output goes on with `squeeze`.
  sha3_output u_output (
    .clk_i, .rst_ni,
    .collect_i   (starts | squeezes),
    .last_lane_i (output_last_q),
    .is_half_i   (is_half_q),
    .clear_i     (drops),
    .busy_o      (output_busy),
    .valid_o     (output_valid),
    .word_valid_i(out_valid),
    .word_ready_o(out_ready),
    .word_i      (out),
    .lane_i      (digest_lane),
    .lane_o      (digest)
  );

  assign alert_o = is_failed;
  assign irq_o   = regs_out.interrupt.intr;

  // --- status for software ---

  logic was_done_q, was_failed_q, bad_command, bad_push, bad_write;
  // These are the errors of software. Each access is refused first and reported afterwards, so nothing depends
  // on whether software reads the report.
  assign bad_command = (regs_out.command.start.value & ~starts) | (regs_out.command.squeeze.value & ~squeezes);
  assign bad_push    = (store_q & ~store_good) | bad_commit | bad_end;
  assign bad_write   = key_request & ~key_write;

  // Interrupts report events, the first cycle of a condition, so these registers keep the conditions of the
  // cycle before.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      was_done_q   <= 1'b0;
      was_failed_q <= 1'b0;
    end else begin
      was_done_q   <= output_valid;
      was_failed_q <= is_failed;
    end
  end

  // This block drives every input of the register block: constants of the build, locks while a message is under
  // way, status, errors, interrupts, and the words of data, key and digest, which the engine keeps.
  always_comb begin
    regs_in.parameters.rounds_per_cycle.next = 4'(RoundsPerCycle);

    // The configuration of a message is locked from its start until the engine is idle.
    regs_in.control.mode.swwel      = ~is_idle;
    regs_in.control.stream.swwel    = ~is_idle;
    regs_in.control.by_commit.swwel = ~is_idle;
    regs_in.control.suffix.swwel    = ~is_idle;

    // Status describes the present cycle, and software need not clear it.
    regs_in.status.idle.next         = is_idle;
    regs_in.status.data_free.next    = ~pending_q & ~store_q;
    regs_in.status.digest_valid.next = output_valid;
    regs_in.status.key_loaded.next   = key_loaded;
    regs_in.status.failed.next       = is_failed;

    // Errors stay until software clears them.
    regs_in.error.command.hwset = bad_command;
    regs_in.error.push.hwset    = bad_push;
    regs_in.error.write.hwset   = bad_write;

    // Each interrupt is set by the first cycle of its condition.
    regs_in.interrupt.done.hwset  = output_valid & ~was_done_q;
    regs_in.interrupt.error.hwset = bad_command | bad_push | bad_write | (is_failed & ~was_failed_q);

    // Only the port of data stalls the bus; everything else is acknowledged in the cycle in which it comes,
    // accepted or not.
    for (int i = 0; i < 2; i++) regs_in.data[i].wr_ack = store_done & (store_index_q == 1'(i));
    for (int i = 0; i < 18; i++) regs_in.key[i].wr_ack = regs_out.key[i].req & regs_out.key[i].req_is_wr;
    digest_lane = '0;
    for (int i = 0; i < 42; i++) if (regs_out.digest[i].req) digest_lane = 5'(i / 2);
    for (int i = 0; i < 42; i++) begin
      regs_in.digest[i].rd_ack        = regs_out.digest[i].req & ~regs_out.digest[i].req_is_wr;
      regs_in.digest[i].rd_data.value = digest[32*(i%2) +: 32];
    end
  end

  // --- assertions ---
  //
  // `axi_lite_checks` asserts the rules of AXI4-Lite at the port. The names below state the further properties
  // of this module.

`ifndef SYNTHESIS
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // A word that waits for the core is not lost.
  `ASSERT(AWordIsNotReplaced_A, pushes |-> !pending_q)
  // No word enters a message that has ended.
  `ASSERT(AMessageEndsWithItsLastWord_A, ends |=> !open_q)
  // A word is pushed only into an open message, and not behind its end.
  `ASSERT(NothingIsPushedAfterTheLastWord_A, pushes |-> !complete_q && open_q)
  // The key is written in whole words while nothing uses it.
  `ASSERT(AKeyWordIsWhole_A, key_write |-> (&regs_out.key[0].wr_biten.value) && is_idle)
  // A MAC without a whole key would be one by a key that an attacker may know.
  `ASSERT(NoKmacWithoutAKey_A, starts && is_kmac |-> key_loaded)
  // After an error no digest can be read.
  `ASSERT(FailedShowsNothing_A, alert_o |=> digest == '0 && !output_valid)
  // A core that is idle in the middle of a message would never end it.
  `ASSERT(IdleIsNoMessage_A, core_idle |-> !open_q || is_failed || $past(starts))
endmodule
