// The digest of lead and public key: SHA-256 (FIPS 180-4) of 128 bytes (spec/first-stage.md §5). It
// leaves in words of 32 bits, in the order of one-time-programmable storage.
//
// Two blocks come as words of 64 bits, and the third block is the padding. The digest is kept as
// the core's state and is read word by word while it is compared.
//
// Interface: `start_i` is a strobe that begins a message and discards the digest before. Words have
// valid and ready; `ready_o` depends on `valid_i`. A word of 64 bits takes two cycles of the core.
// `valid_o` follows some cycles after the last word and stays until the next start. Reset discards
// everything. Hardening is that of `sha2_core`; the counters here have none.

`include "assert.svh"

module boot_verifier_digest
  import sha2_pkg::*;
#(
  // 0 builds a core that continues from an illegal state.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // A message begins.
  input  logic        start_i,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [63:0] data_i,

  // The digest is complete, until the next start.
  output logic        valid_o,
  // Number of a word of the digest, and the word in the same cycle.
  input  logic [2:0]  index_i,
  output logic [31:0] word_o,
  // The core is in an illegal state, until reset.
  output logic        error_o
);
  // Words of 32 bits in the message, and the last word of the padding of 128 bytes (FIPS 180-4
  // §5.1.1).
  localparam logic [5:0] MessageWords = 6'd32;
  localparam logic [5:0] LastWord     = 6'd47;

  // Words that the core took, and blocks that were commanded.
  logic [5:0]  words_d, words_q;
  logic [1:0]  blocks_d, blocks_q;
  logic        busy_d, busy_q, done_d, done_q;
  logic        cmd_valid, cmd_ready, msg_valid, msg_ready, state_valid, unused_idle, unused_ready;
  logic [31:0] msg, padding;
  logic [1:0][31:0] state;
  cmd_e        cmd;
  // Pairs of words of the digest that came out of the core.
  logic [1:0]  turns_d, turns_q;
  logic [7:0][31:0] digest_d, digest_q;

  // One word of 64 bits is two words of the message. SHA-256 has the first byte in the upper bits.
  // The padding is a one, zeros, and the length of 1,024 bits.
  logic in_message, takes;
  logic [31:0] half;
  assign in_message = words_q < MessageWords;
  assign half       = words_q[0] ? data_i[63:32] : data_i[31:0];
  assign padding    = words_q == MessageWords ? 32'h8000_0000 : words_q == LastWord ? 32'd1024 : 32'd0;
  assign msg        = in_message ? {half[7:0], half[15:8], half[23:16], half[31:24]} : padding;
  assign msg_valid  = busy_q & (words_q <= LastWord) & (in_message ? valid_i : 1'b1);
  assign takes      = msg_valid & msg_ready;
  assign ready_o    = takes & in_message & words_q[0];

  // The core processes three blocks, then it gives its state.
  assign cmd_valid = busy_q;
  always_comb begin
    unique case (blocks_q)
      2'd0:       cmd = CmdFirst;
      2'd1, 2'd2: cmd = CmdNext;
      default:    cmd = CmdSave;
    endcase
  end

  // Counts of words and blocks. A start discards the digest and wipes the core, which takes its
  // time; no word is taken meanwhile.
  always_comb begin
    words_d  = words_q;
    blocks_d = blocks_q;
    busy_d   = busy_q;
    done_d   = done_q;
    turns_d  = turns_q;
    digest_d = digest_q;
    if (takes) words_d = words_q + 1'b1;
    if (cmd_valid && cmd_ready && blocks_q != 2'd3) blocks_d = blocks_q + 1'b1;
    if (state_valid) begin
      // The core gives H3 with H7 first, and H0 with H4 last.
      digest_d[2'd3-turns_q]        = state[0];
      digest_d[3'd7-3'(turns_q)]    = state[1];
      turns_d                       = turns_q + 1'b1;
      if (turns_q == 2'd3) begin
        busy_d = 1'b0;
        done_d = 1'b1;
      end
    end
    if (start_i) begin
      words_d  = '0;
      blocks_d = '0;
      turns_d  = '0;
      busy_d   = 1'b1;
      done_d   = 1'b0;
      digest_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      words_q  <= '0;
      blocks_q <= '0;
      busy_q   <= 1'b0;
      done_q   <= 1'b0;
      turns_q  <= '0;
      digest_q <= '0;
    end else begin
      words_q  <= words_d;
      blocks_q <= blocks_d;
      busy_q   <= busy_d;
      done_q   <= done_d;
      turns_q  <= turns_d;
      digest_q <= digest_d;
    end
  end

  sha2_core #(
    .WordBits       (32),
    .RoundsPerCycle (1),
    .Hardened       (Hardened)
  ) u_core (
    .clk_i,
    .rst_ni,
    .cmd_valid_i   (cmd_valid),
    .cmd_ready_o   (cmd_ready),
    .cmd_i         (cmd),
    .is_384_i      (1'b0),
    .wipe_i        (start_i),
    .idle_o        (unused_idle),
    .error_o,
    .msg_valid_i   (msg_valid),
    .msg_ready_o   (msg_ready),
    .msg_i         (msg),
    .state_valid_i (1'b0),
    .state_ready_o (unused_ready),
    .state_i       ('0),
    .state_valid_o (state_valid),
    .state_ready_i (1'b1),
    .state_o       (state)
  );

  assign valid_o = done_q;
  // Bytes are in the order of memory, the first byte in the lower bits, as storage has them
  // (hw/ip/otp/doc/README.md).
  assign word_o  = {<<8{digest_q[index_i]}};

  // The digest is shown only after all words and blocks, never a digest of a part.
  `ASSERT(NoDigestOfAPart_A, !valid_o |=> !valid_o || (words_q > LastWord && blocks_q == 2'd3))
  // The digest does not change while it is compared.
  `ASSERT(ADigestStays_A, valid_o && !start_i |=> valid_o && $stable(digest_q))
  // A second start, within a message or after it, leaves nothing of the message before.
  `ASSERT(AStartDiscardsTheDigest_A, start_i |=> !valid_o && words_q == '0 && blocks_q == '0 && digest_q == '0)
  // A word is taken only as a part of the message: what came after it would not be hashed.
  `ASSERT(OnlyTheMessageIsTaken_A, ready_o |-> in_message && valid_i)
endmodule
