// The engine for hash-based signatures on a bus: registers of `data/xmss.rdl` (AXI4-Lite), a stream
// port for signature and message, an interrupt and an alert. Families of signatures share one bank
// of hash cores, and the register `algorithm` says which family has it (../doc/README.md).
//
// The signature comes first, then the message, each with its end. No access waits for an event that
// may not come: a store into `data` waits for the word before it, which the engine takes also after
// a refusal. A word that nothing expects is dropped and reported.
//
// Timing: a verification takes 11,000 to 200,000 cycles for XMSS of height 10, by lanes and rounds;
// the documentation has a table. A word of the root is read in two cycles more than a register.
// Reset forgets everything, and the engine is idle after at most 512 cycles.
//
// Hardening: an illegal state of any family or hash core raises `alert_o` until reset, and then
// there is no verdict. Verdicts are constants of 64 bits. Values, memories and hash cores have no
// parity.

`include "assert.svh"

module xmss
  import xmss_pkg::*;
  import xmss_regs_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // Number of lanes, each with a hash core, and rounds of a compression in a cycle (1, 2 or 4).
  parameter int unsigned Lanes          = 1,
  parameter int unsigned RoundsPerCycle = 1,
  // Families and sets that are built in. XMSS^MT and the sets with n = 24 need XMSS.
  parameter bit          HasXmss        = 1'b1,
  parameter bit          HasXmssMt      = 1'b0,
  parameter bit          HasShort       = 1'b0,
  parameter bit          HasLms         = 1'b0,
  parameter bit          HasSlhDsa      = 1'b0,
  // 1 lets hashes follow each other without a cycle between them, which takes about 130 look-up
  // tables a lane. With one round a cycle this was tested for XMSS without other families.
  parameter bit          Overlaps       = RoundsPerCycle > 1 || !(HasLms || HasSlhDsa),
  // 0 builds an engine that continues from an illegal state, to show that the tests detect it.
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // AXI4-Lite, 4 KiB. It has no protection bits: the only manager of this port is the root of trust.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // Signature and message while `control.stream` is set: words of eight bytes with valid and ready,
  // the first byte in the lower bits. The last word of each has none to eight bytes. `str_abort_i`
  // ends both.
  input  logic        str_valid_i,
  output logic        str_ready_o,
  input  logic [63:0] str_data_i,
  input  logic        str_last_i,
  input  logic [3:0]  str_bytes_i,
  input  logic        str_abort_i,

  // Lifecycle code. Any change of it is an abort, because the device may be in other hands then.
  input  logic [3:0]  lifecycle_i,
  output logic        irq_o,
  // An upset was detected. The engine stops until reset.
  output logic        alert_o
);
  // Fields of the register block, in the shape that the generator gives them.
  xmss__in_t  regs_in;
  xmss__out_t regs_out;

  // Generated from data/xmss.rdl. Data, key and root are external: the words are in the engine.
  xmss_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i        (axil_i),
    .axil_o        (axil_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // --- the family ---

  // The families that are built in, and the one that has the cores after reset: the lowest of them.
  localparam families_t Built      = {HasSlhDsa, HasLms, HasXmss};
  localparam families_t FirstBuilt = Built & (~Built + families_t'(1));

  // The family of the algorithm, and the family that has the hash cores.
  families_t asked, owner;
  logic      is_built, is_mt, changes;

  assign asked    = algorithm_e'(regs_out.algorithm.code.value) == AlgorithmLms    ? FamilyLms :
                    algorithm_e'(regs_out.algorithm.code.value) == AlgorithmSlhDsa ? FamilySlhDsa : FamilyXmss;
  // An algorithm that is not built in is refused by a family that is, as a type that it does not
  // know.
  assign is_built = (asked & Built) != '0 && (HasXmssMt || !is_mt);
  assign is_mt    = algorithm_e'(regs_out.algorithm.code.value) == AlgorithmXmssMt;
  assign owner    = $onehot(Built) ? Built : is_built ? asked : FirstBuilt;

  // Results of each family, and its requests to the hash cores.
  families_t   idles, alerts, sig_readies, msg_readies, dones;
  error_e      errors [NumFamilies];
  logic [63:0] verdicts [NumFamilies];
  logic [31:0] roots [NumFamilies];
  hash_request_t  requests [NumFamilies][Lanes];
  hash_response_t responses [NumFamilies][Lanes];

  // Words of the stream with index and R of XMSS^MT. The message comes after them.
  localparam logic [2:0] HeadWords = 3'd5;

  // --- commands ---

  logic is_idle, starts, drops, from_stream;
  // Words belong to the signature and not to the message; words are to come.
  logic sig_open_q, msg_open_q;
  // For XMSS^MT: words of the signature before the message; the message was taken; the rest of the
  // signature follows it.
  logic [2:0] head_q;
  logic msg_done_q, rest_q, ends_head;
  // The lifecycle of the cycle before.
  logic [3:0] lifecycle_q;
  // The first cycle after a reset is over, so there is an earlier lifecycle.
  logic       is_awake_q;

  assign from_stream = regs_out.control.stream.value;
  assign is_idle     = (&idles) & ~msg_open_q & ~alert_o;
  // Causes of an abort. Another family begins without a verdict of the family before, and with
  // wiped cores.
  assign drops       = regs_out.command.abort.value | changes | (is_awake_q & (lifecycle_q != lifecycle_i)) |
                       (str_abort_i & from_stream & msg_open_q);
  assign starts      = regs_out.command.start.value & is_idle & ~drops;

  // --- signature and message ---

  // A store of 32 bits waits in `store_q`, and a word of two stores in `data_q`.
  logic              store_q, store_index_q, store_whole_q, pending_q, last_q, last_next_q, complete_q;
  logic [31:0]       store_data_q;
  logic [1:0][31:0]  data_q;
  logic [3:0]        bytes_q, final_bytes, word_bytes;
  logic              store_request, store_index, store_done, store_good, takes_words, pushes;
  logic              word_valid, word_ready, word_last, sig_valid, sig_ready, msg_valid, msg_ready;
  logic [63:0]       word;

  // The lowest layer of XMSS^MT signs the message, so the message precedes the other layers: it is
  // taken when index and R are there. Stores are taken until the last word of the message was
  // pushed.
  assign ends_head     = HasXmss & HasXmssMt & is_mt & sig_open_q & ~msg_done_q & (head_q == HeadWords - 3'd1) & ~word_last;
  assign takes_words   = msg_open_q & ~complete_q & ~from_stream;
  assign store_request = (regs_out.data[0].req & regs_out.data[0].req_is_wr) |
                         (regs_out.data[1].req & regs_out.data[1].req_is_wr);
  assign store_index   = regs_out.data[1].req;
  assign store_good    = store_q & takes_words & store_whole_q;
  assign store_done    = store_q & ~(store_good & pending_q);
  assign pushes        = store_good & store_done & store_index_q;
  // A size of more than a word means a whole word.
  assign final_bytes   = regs_out.final_size.size.value[3] ? 4'd8 : regs_out.final_size.size.value;

  // Words for the family, from the stream port or from stores. An abort withdraws them.
  assign word_valid  = msg_open_q & (from_stream ? str_valid_i : pending_q);
  assign word        = from_stream ? str_data_i : data_q;
  assign word_last   = from_stream ? str_last_i : last_q;
  assign word_bytes  = from_stream ? str_bytes_i : bytes_q;
  assign word_ready  = sig_open_q ? sig_ready : msg_ready;
  assign sig_valid   = word_valid & sig_open_q & ~drops;
  assign msg_valid   = word_valid & ~sig_open_q & ~drops;
  assign str_ready_o = msg_open_q & from_stream & word_ready & ~drops;

  // The part that is open: a last word ends it. An abort and an upset end both parts.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sig_open_q  <= 1'b0;
      msg_open_q  <= 1'b0;
      complete_q  <= 1'b0;
      msg_done_q  <= 1'b0;
      rest_q      <= 1'b0;
      head_q      <= '0;
      lifecycle_q <= '0;
      is_awake_q  <= 1'b0;
    end else begin
      lifecycle_q <= lifecycle_i;
      is_awake_q  <= 1'b1;
      if (word_valid && word_ready) begin
        if (sig_open_q && !msg_done_q) head_q <= head_q + 3'd1;
        if (ends_head)      {sig_open_q, rest_q} <= 2'b01;
        else if (word_last) {sig_open_q, msg_open_q, msg_done_q, rest_q} <= {rest_q, (sig_open_q & ~msg_done_q) | rest_q, rest_q, 1'b0};
      end
      // No word waits when one is pushed, so the last word of the signature was taken before any of
      // the message.
      if (pushes && last_next_q && !rest_q && (!sig_open_q || msg_done_q)) complete_q <= 1'b1;
      if (starts)           {sig_open_q, msg_open_q, complete_q, msg_done_q, rest_q, head_q} <= {3'b110, 5'b0};
      if (drops || alert_o) {sig_open_q, msg_open_q} <= '0;
    end
  end

  // A store waits in `store_q`, and a word in `data_q`, until the family takes it.
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
        store_q <= 1'b0;
      end
      if (word_ready && !from_stream) pending_q <= 1'b0;
      if (store_good && store_done) data_q[store_index_q] <= store_data_q;
      if (regs_out.final_size.last.value) last_next_q <= 1'b1;
      if (pushes) begin
        pending_q   <= 1'b1;
        last_q      <= last_next_q;
        last_next_q <= 1'b0;
        bytes_q     <= last_next_q ? final_bytes : 4'd8;
      end
      if (drops || starts || alert_o) begin
        {pending_q, last_q, last_next_q} <= '0;
        data_q <= '0;
      end
    end
  end

  // --- the families ---

  logic        key_request, key_write;
  logic [2:0]  root_index_q;
  logic [1:0]  root_read_q;
  logic [31:0] key_word, expected;

  assign key_request = regs_out.key.req & regs_out.key.req_is_wr;
  // A write of the key has to be a whole word: half a word would make a key that software did not
  // choose. Every family keeps the key.
  assign key_write   = key_request & (&regs_out.key.wr_biten) & is_idle;
  assign key_word    = {<<8{regs_out.key.wr_data}};
  // An algorithm that is not built in gets a type that no family has: both upper bits are set.
  assign expected    = regs_out.expected_type.code.value | {{2{~is_built}}, 30'b0};

  // The families that are built in. Each sees a start and words only while it is the owner.
  if (HasXmss) begin : g_xmss
    xmss_core #(
      .Lanes    (Lanes),
      .Overlaps (Overlaps),
      .HasXmssMt(HasXmssMt),
      .HasShort (HasShort),
      .Hardened(Hardened)
    ) u_core (
      .clk_i, .rst_ni,
      .abort_i     (drops),
      .alert_o     (alerts[0]),
      .idle_o      (idles[0]),
      .key_valid_i (key_write),
      .key_index_i (regs_out.key.addr[5:2]),
      .key_i       (key_word),
      .start_i     (starts & owner[0]),
      .is_mt_i     (is_mt),
      .expected_i  (expected),
      .key_type_i  (regs_out.key_type.code.value),
      .two_passes_i(regs_out.control.two_passes.value),
      .sig_valid_i (sig_valid & owner[0]),
      .sig_ready_o (sig_readies[0]),
      .sig_data_i  (word),
      .sig_last_i  (word_last),
      .sig_bytes_i (word_bytes),
      .msg_valid_i (msg_valid & owner[0]),
      .msg_ready_o (msg_readies[0]),
      .msg_data_i  (word),
      .msg_last_i  (word_last),
      .msg_bytes_i (word_bytes),
      .done_o      (dones[0]),
      .error_o     (errors[0]),
      .verdict_o   (verdicts[0]),
      .root_index_i(root_index_q),
      .root_o      (roots[0]),
      .hash_o      (requests[0]),
      .hash_i      (responses[0])
    );
  end

  if (HasLms) begin : g_lms
    lms_core #(
      .Lanes         (Lanes),
      .RoundsPerCycle(RoundsPerCycle),
      .Overlaps      (Overlaps),
      .Hardened      (Hardened)
    ) u_core (
      .clk_i, .rst_ni,
      .abort_i     (drops),
      .alert_o     (alerts[1]),
      .idle_o      (idles[1]),
      .key_valid_i (key_write),
      .key_index_i (regs_out.key.addr[5:2]),
      .key_i       (key_word),
      .start_i     (starts & owner[1]),
      .expected_i  (expected),
      .key_type_i  (regs_out.key_type.code.value),
      .two_passes_i(regs_out.control.two_passes.value),
      .sig_valid_i (sig_valid & owner[1]),
      .sig_ready_o (sig_readies[1]),
      .sig_data_i  (word),
      .sig_last_i  (word_last),
      .sig_bytes_i (word_bytes),
      .msg_valid_i (msg_valid & owner[1]),
      .msg_ready_o (msg_readies[1]),
      .msg_data_i  (word),
      .msg_last_i  (word_last),
      .msg_bytes_i (word_bytes),
      .done_o      (dones[1]),
      .error_o     (errors[1]),
      .verdict_o   (verdicts[1]),
      .root_index_i(root_index_q),
      .root_o      (roots[1]),
      .hash_o      (requests[1]),
      .hash_i      (responses[1])
    );
  end

  if (HasSlhDsa) begin : g_slh_dsa
    slh_dsa_core #(
      .Lanes   (Lanes),
      .Overlaps(Overlaps),
      .Hardened(Hardened)
    ) u_core (
      .clk_i, .rst_ni,
      .abort_i     (drops),
      .alert_o     (alerts[2]),
      .idle_o      (idles[2]),
      .key_valid_i (key_write),
      .key_index_i (regs_out.key.addr[5:2]),
      .key_i       (key_word),
      .start_i     (starts & owner[2]),
      .expected_i  (expected),
      .key_type_i  (regs_out.key_type.code.value),
      .two_passes_i(regs_out.control.two_passes.value),
      .sig_valid_i (sig_valid & owner[2]),
      .sig_ready_o (sig_readies[2]),
      .sig_data_i  (word),
      .sig_last_i  (word_last),
      .sig_bytes_i (word_bytes),
      .msg_valid_i (msg_valid & owner[2]),
      .msg_ready_o (msg_readies[2]),
      .msg_data_i  (word),
      .msg_last_i  (word_last),
      .msg_bytes_i (word_bytes),
      .done_o      (dones[2]),
      .error_o     (errors[2]),
      .verdict_o   (verdicts[2]),
      .root_index_i(root_index_q),
      .root_o      (roots[2]),
      .hash_o      (requests[2]),
      .hash_i      (responses[2])
    );
  end

  // Families that are not built in are idle and give zeros.
  for (genvar family = 0; family < NumFamilies; family++) begin : g_family
    if (!Built[family]) begin : g_absent
      assign {idles[family], alerts[family], dones[family]} = 3'b100;
      assign {sig_readies[family], msg_readies[family]}     = '0;
      assign errors[family]   = NoError;
      assign verdicts[family] = '0;
      assign roots[family]    = '0;
      for (genvar lane = 0; lane < Lanes; lane++) begin : g_lane
        assign requests[family][lane] = '0;
      end
    end
  end

  xmss_bank #(
    .Lanes         (Lanes),
    .RoundsPerCycle(RoundsPerCycle),
    .Overlaps      (Overlaps),
    .Hardened      (Hardened),
    .Families      (NumFamilies),
    .FirstOwner    (FirstBuilt)
  ) u_bank (
    .clk_i, .rst_ni,
    .owner_i   (owner),
    .busy_i    (~is_idle),
    .changes_o (changes),
    .request_i (requests),
    .response_o(responses)
  );

  // --- results of the owner ---

  logic        done, is_hidden;
  logic [31:0] root;
  logic [63:0] verdict;
  error_e      error;

  assign alert_o   = |alerts;
  assign sig_ready = |(sig_readies & owner);
  assign msg_ready = |(msg_readies & owner);
  // After an upset of another family there is no verdict. The owner reports an upset of its own.
  assign is_hidden = (alerts & ~owner) != '0;

  // The results of the owner.
  always_comb begin
    done    = 1'b0;
    error   = NoError;
    verdict = '0;
    root    = '0;
    for (int family = 0; family < NumFamilies; family++) begin
      if (owner[family] && !is_hidden) begin
        done    = dones[family];
        error   = errors[family];
        verdict = verdicts[family];
        root    = roots[family];
      end
    end
    if (is_hidden) error = ErrorUpset;
  end

  assign irq_o = regs_out.interrupt.intr;

  // A word of the root comes two cycles after its index.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      root_index_q <= '0;
      root_read_q  <= '0;
    end else begin
      root_read_q <= {root_read_q[0], regs_out.root.req & ~regs_out.root.req_is_wr};
      if (regs_out.root.req) root_index_q <= regs_out.root.addr[4:2];
    end
  end

  // --- status for software ---

  // Errors of software: a start at the wrong time, a store that nothing expects, a write of the key
  // while busy or of less than a word.
  logic was_done_q, was_failed_q, bad_command, bad_push, bad_write;
  assign bad_command = regs_out.command.start.value & ~starts;
  assign bad_push    = store_q & ~store_good;
  assign bad_write   = key_request & ~key_write;

  // Interrupts report the first cycle of a condition, so the conditions of the cycle before are
  // needed.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      was_done_q   <= 1'b0;
      was_failed_q <= 1'b0;
    end else begin
      was_done_q   <= done;
      was_failed_q <= alert_o;
    end
  end

  // Every input of the register block.
  always_comb begin
    regs_in.parameters.lanes.next            = 4'(Lanes);
    regs_in.parameters.rounds_per_cycle.next = 4'(RoundsPerCycle);
    regs_in.parameters.has_xmss.next         = HasXmss;
    regs_in.parameters.has_xmss_mt.next      = HasXmss & HasXmssMt;
    regs_in.parameters.has_lms.next          = HasLms;
    regs_in.parameters.has_slh_dsa.next      = HasSlhDsa;
    regs_in.parameters.has_short.next        = HasXmss & HasShort;

    // The configuration cannot change from the start on.
    regs_in.control.stream.swwel       = ~is_idle;
    regs_in.control.two_passes.swwel   = ~is_idle;
    regs_in.algorithm.code.swwel       = ~is_idle;
    regs_in.expected_type.code.swwel   = ~is_idle;
    regs_in.key_type.code.swwel        = ~is_idle;

    regs_in.status.idle.next      = is_idle;
    regs_in.status.data_free.next = ~pending_q & ~store_q;
    regs_in.status.done.next      = done;
    regs_in.status.failed.next    = alert_o;

    regs_in.reason.code.next      = done || alert_o ? error : NoError;
    regs_in.verdict[0].value.next = verdict[31:0];
    regs_in.verdict[1].value.next = verdict[63:32];

    regs_in.error.command.hwset   = bad_command;
    regs_in.error.push.hwset      = bad_push;
    regs_in.error.write.hwset     = bad_write;
    regs_in.interrupt.done.hwset  = done & ~was_done_q;
    regs_in.interrupt.error.hwset = bad_command | bad_push | bad_write | (alert_o & ~was_failed_q);

    for (int i = 0; i < 2; i++) regs_in.data[i].wr_ack = store_done & (store_index_q == 1'(i));
    regs_in.key.wr_ack   = key_request;
    // Reading the key is an error without data.
    regs_in.key.rd_ack   = regs_out.key.req & ~regs_out.key.req_is_wr;
    regs_in.key.rd_data  = '0;
    regs_in.root.wr_ack  = regs_out.root.req & regs_out.root.req_is_wr;
    regs_in.root.rd_ack  = root_read_q[1];
    regs_in.root.rd_data = {<<8{root}};
  end

  // --- assertions ---

`ifndef SYNTHESIS
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // A word that waits is not overwritten by the next one, so no part of a signature is lost.
  `ASSERT(AWordIsNotReplaced_A, pushes |-> !pending_q)
  // While the signature is open the message is still to come.
  `ASSERT(TheSignatureComesFirst_A, sig_open_q |-> msg_open_q)
  // Exactly one family that is built in has the cores.
  `ASSERT(TheOwnerIsBuiltIn_A, $onehot(owner & Built))
  // The key changes only by whole words and only while the engine is idle.
  `ASSERT(AKeyWordIsWhole_A, key_write |-> (&regs_out.key.wr_biten) && is_idle)
  // A reset is no change of the lifecycle, in whichever the device is.
  `ASSERT(AResetIsNoAbort_A, !is_awake_q |-> !drops)
endmodule
