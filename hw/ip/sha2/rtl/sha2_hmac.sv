// This module computes SHA-256 and HMAC-SHA-256 of a message on one `sha2_core` (FIPS 198-1 §4). With words of
// 64 bits it computes SHA-384 and SHA-512, and no HMAC.
//
// Protocol: key and state are written while `idle_o` is high. `start_*`, `stop_*` and the words of the message
// are valid/ready handshakes. `digest_valid_o` stays until the next start, or until something is written into
// the digest or clears it.
//
// The key can be written and not be read: it leaves this module only into the core, as a block with ipad or
// opad. A message may be saved after any block and resumed later: the state of the core is copied to the
// digest, and is written there to resume. The saved state of a HMAC is the inner one. It does not reveal the
// key, and no MAC can be made of it without the key, because the outer state never comes out.
//
// Time: the words pass without a cycle of their own. With n blocks a message of SHA-256 takes 68 n / R + 4 / R
// + 2 cycles from the start to the digest, and a HMAC 68 (n + 3) / R + 8 / R + 3, with R rounds a cycle.
//
// Reset: the state is idle, and key and digest are cleared in the first cycle. A wipe, a change of lifecycle
// and any error clear them in the next cycle; the core follows within `16 / RoundsPerCycle + 4` cycles.
//
// Hardening: states are words of a Hamming code, and illegal ones are an error, as are those of core and
// padding. An error lasts until reset.

`include "assert.svh"

module sha2_hmac
  import sha2_pkg::*;
#(
  parameter int unsigned WordBits       = 32,  // This is the width of a word, 32 or 64 bits.
  // `RoundsPerCycle` is 1, 2 or 4.
  parameter int unsigned RoundsPerCycle = 1,
  // `Hardened` = 0 lets illegal states continue.
  parameter bit          Hardened       = 1'b1,
  localparam int unsigned LaneBits      = WordBits * RoundsPerCycle,
  localparam int unsigned BytesBits     = $clog2(LaneBits / 8 + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // The key has 16 words in any order. It is K0 of FIPS 198-1: a shorter key is padded with zeros, a longer one
  // is hashed first. It is taken while the module is idle.
  input  logic                 key_valid_i,
  input  logic [3:0]           key_index_i,
  input  logic [31:0]          key_i,
  output logic                 key_loaded_o,

  // A start begins a message, or resumes one after `bytes_i` from the state that was written into the digest. A
  // HMAC does not start without a whole key.
  input  logic                 start_valid_i,
  output logic                 start_ready_o,
  input  logic                 is_hmac_i,
  // This is stable until the digest is there.
  input  logic                 is_384_i,
  input  logic                 resume_i,
  input  logic [60:0]          bytes_i,
  // This counts the bytes until now, with the block of the key of a HMAC.
  output logic [60:0]          bytes_o,
  // The message may be saved between two blocks, after at least one block.
  input  logic                 stop_valid_i,
  output logic                 stop_ready_o,

  // These are words of the message.
  input  logic                 msg_valid_i,
  output logic                 msg_ready_o,
  input  logic [LaneBits-1:0]  msg_i,
  input  logic                 msg_last_i,
  input  logic [BytesBits-1:0] msg_bytes_i,  // The last word has this many bytes.

  // This is the digest, or the saved state of a message, with H0 in the upper bits. It is zero while there is
  // neither. The state is written by words of 32 bits, the upper ones of H0 first, while the module is idle.
  output logic                 digest_valid_o,
  output logic                 state_valid_o,
  output logic [8*WordBits-1:0] digest_o,
  input  logic                 state_valid_i,
  input  logic [3:0]           state_index_i,
  input  logic [31:0]          state_i,

  // A wipe comes on command, and in the cycle of a change of the lifecycle.
  input  logic                 wipe_i,
  // An abort clears everything except the key.
  input  logic                 abort_i,
  input  logic [3:0]           lifecycle_i,
  // Words on the way to this module must be cleared as well.
  output logic                 dropped_o,
  output logic                 idle_o,
  output logic                 error_o
);
  localparam int unsigned R           = RoundsPerCycle;
  localparam int unsigned Words       = 16 / R;
  localparam int unsigned StateCycles = 4 / R;
  localparam int unsigned PosBits     = $clog2(Words);

  // These are words of a Hamming code with seven bits, which differ in at least three.
  typedef enum logic [6:0] {
    // StIdle waits for a start.
    StIdle     = 7'b0001011,
    // StInnerKey hashes the key with ipad, and ends with its last word.
    StInnerKey = 7'b0010110,
    // StMessage hashes the padded message, and ends with its last word or with a stop.
    StMessage  = 7'b0100111,
    // StLeave takes the state out of the core, to resume from it later, and ends with its last word.
    StLeave    = 7'b1011000,
    // StInner takes the inner digest out of the core, and ends with its last word.
    StInner    = 7'b0011101,
    // StOuterKey hashes the key with opad, and ends with its last word.
    StOuterKey = 7'b1000101,
    // StDigest hashes the inner digest, and ends with its last word.
    StDigest   = 7'b1001110,
    // StOuter takes the digest out of the core, and ends with its last word.
    StOuter    = 7'b1010011,
    // StError waits for a reset.
    StError    = 7'b1101001
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic is_hmac_d, is_hmac_q, is_digest_d, is_digest_q, is_state_d, is_state_q;
  logic is_first_d, is_first_q, is_open_d, is_open_q, resumes_d, resumes_q;
  // This is the position of the next word in its block.
  logic [PosBits-1:0] pos_d, pos_q;
  logic [3:0] lifecycle_q;
  logic is_awake_q;

  logic in_idle, in_inner_key, in_message, in_leave, in_inner, in_outer_key, in_digest, in_outer;
  assign in_idle      = state_q == StIdle;
  assign in_inner_key = state_q == StInnerKey;
  assign in_message   = state_q == StMessage;
  assign in_leave     = state_q == StLeave;
  assign in_inner     = state_q == StInner;
  assign in_outer_key = state_q == StOuterKey;
  assign in_digest    = state_q == StDigest;
  assign in_outer     = state_q == StOuter;

  // These are groups of states, and illegal states: an upset is an error in the same cycle.
  logic is_key, is_save, is_illegal, forget, drop, starts, stops;
  // Key blocks and saves need no word from outside.
  assign is_key     = in_inner_key | in_outer_key;
  assign is_save    = in_inner | in_outer | in_leave;
  assign is_illegal = ~(in_idle | is_key | in_message | in_digest | is_save);

  // The errors of all parts are combined: after an upset of any part nothing comes out until reset.
  logic core_error, padding_error;
  assign error_o = core_error | padding_error | is_illegal;
  // Secrets are forgotten in the first cycle after a reset as well, because their registers have no reset of
  // their own.
  assign forget  = wipe_i | error_o | (lifecycle_i != lifecycle_q) | ~is_awake_q;
  assign drop    = forget | abort_i;
  assign dropped_o = drop;

  // --- the key ---

  // Each word has a flag, so that a key of which a word is missing is not used.
  logic [15:0][31:0] key_q;
  logic [15:0]       key_there_q;
  logic              key_enters;

  assign key_loaded_o = &key_there_q;
  assign key_enters   = key_valid_i & in_idle;

  for (genvar i = 0; i < 16; i++) begin : g_key
    // The key is written by words, and cleared as a whole. Its only reader is `key_word` below.
    always_ff @(posedge clk_i) begin
      if (forget) begin
        key_q[i]       <= '0;
        key_there_q[i] <= 1'b0;
      end else if (key_enters && key_index_i == 4'(i)) begin
        key_q[i]       <= key_i;
        key_there_q[i] <= 1'b1;
      end
    end
  end

  // --- words for the core ---

  logic core_cmd_valid, core_cmd_ready, core_idle, core_word_valid, core_word_ready;
  cmd_e core_cmd;
  logic [LaneBits-1:0] core_word, padded_word, key_word, digest_word;
  logic padded_valid, padded_last, padded_ready;
  logic core_state_valid, core_state_ready;
  logic [1:0][LaneBits-1:0] core_state;
  logic word_moves, ends_block;

  // This is the number of bytes before this message: those of the saved message, or the block of the key.
  logic [60:0] start_bytes;
  assign start_bytes = resume_i ? bytes_i & ~61'(2 * WordBits - 1) : {54'b0, is_hmac_i, 6'b0};

  // The padding makes whole blocks of the message.
  sha2_padding #(
    .WordBits      (WordBits),
    .RoundsPerCycle(R),
    .Hardened      (Hardened)
  ) u_padding (
    .clk_i, .rst_ni,
    .start_i      (starts),
    .start_bytes_i(start_bytes),
    .bytes_o,
    .error_o      (padding_error),
    .msg_valid_i  (msg_valid_i & in_message),
    .msg_ready_o, .msg_i, .msg_last_i, .msg_bytes_i,
    .word_valid_o (padded_valid),
    .word_ready_i (padded_ready),
    .word_o       (padded_word),
    .word_last_o  (padded_last)
  );

  // This is the second block of the outer hash: the inner digest, padded to 64 + 32 bytes of 8 bits.
  logic [7:0][WordBits-1:0] digest_q;  // H0 is digest_q[7].
  if (WordBits == 32) begin : g_hmac
    logic [15:0][31:0] digest_block;
    assign digest_block = {digest_q, 32'h80000000, {6{32'b0}}, 32'd768};
    for (genvar j = 0; j < R; j++) begin : g_word
      assign digest_word[32*(R-1-j) +: 32] = digest_block[4'(15 - int'(pos_q) * R - j)];
      assign key_word[32*(R-1-j) +: 32]    = key_q[4'(int'(pos_q) * R + j)];
    end
  end else begin : g_no_hmac
    assign digest_word = '0;
    assign key_word    = '0;
  end

  // The core hashes the padded message, the key with ipad or opad (FIPS 198-1 §4, steps 4 and 7), or the inner
  // digest as the message of the outer hash (step 8). Words of the module itself never wait.
  always_comb begin
    core_word       = padded_word;
    core_word_valid = padded_valid & in_message;
    if (is_key) begin
      core_word       = key_word ^ {(LaneBits/8){in_outer_key ? 8'h5c : 8'h36}};
      core_word_valid = 1'b1;
    end else if (in_digest) begin
      core_word       = digest_word;
      core_word_valid = 1'b1;
    end
  end

  assign padded_ready = in_message & core_word_ready;
  assign word_moves   = core_word_valid & core_word_ready;
  assign ends_block   = word_moves & (pos_q == PosBits'(Words - 1));

  // A command starts a block as soon as a word for it is valid.
  assign core_cmd_valid = ~is_open_q & (is_save | core_word_valid);
  assign core_cmd       = is_save    ? CmdSave :
                          resumes_q  ? CmdResume :
                          is_first_q ? CmdFirst : CmdNext;

  sha2_core #(
    .WordBits      (WordBits),
    .RoundsPerCycle(R),
    .Hardened      (Hardened)
  ) u_core (
    .clk_i, .rst_ni,
    .cmd_valid_i  (core_cmd_valid & ~drop),
    .cmd_ready_o  (core_cmd_ready),
    .cmd_i        (core_cmd),
    .is_384_i,
    .wipe_i       (drop),
    .idle_o       (core_idle),
    .error_o      (core_error),
    .msg_valid_i  (core_word_valid),
    .msg_ready_o  (core_word_ready),
    .msg_i        (core_word),
    .state_valid_i(1'b1),
    .state_ready_o(core_state_ready),
    .state_i      ({digest_q[R-1:0], digest_q[R+3:4]}),
    .state_valid_o(core_state_valid),
    .state_ready_i(1'b1),
    .state_o      (core_state)
  );

  // --- the digest ---

  // The state comes from the end of both lanes (`sha2_core`), so it enters the digest at the beginning of its
  // lanes. To resume it leaves at their end, and goes once around.
  logic [1:0][R+3:0][WordBits-1:0] entering;
  // Whole lanes move, `R` words in a cycle.
  logic digest_moves, state_enters;
  assign entering     = core_state_valid ?
                        {core_state[0], digest_q[7:4], core_state[1], digest_q[3:0]} :
                        {digest_q[R+3:4], digest_q[7:4], digest_q[R-1:0], digest_q[3:0]};
  // The core never waits for the digest: `state_ready_i` is constant.
  assign digest_moves = core_state_valid | core_state_ready;
  assign state_enters = state_valid_i & in_idle;

  for (genvar i = 0; i < 8; i++) begin : g_digest
    // The register of the digest has three sources, which exclude each other: the core while it saves or
    // resumes, and software while the engine is idle.
    always_ff @(posedge clk_i) begin
      if (drop) digest_q[i] <= '0;
      else if (digest_moves) digest_q[i] <= entering[i / 4][i % 4 + R];
      else if (state_enters) begin
        for (int part = 0; part < WordBits / 32; part++) begin
          if (state_index_i == 4'((7 - i) * WordBits / 32 + part)) begin
            digest_q[i][WordBits - 32 - 32 * part +: 32] <= state_i;
          end
        end
      end
    end
  end

  // Neither the inner digest nor a partial one is shown, and of SHA-384 only its length (FIPS 180-4 §6.5).
  logic shows_rest;
  assign digest_valid_o = is_digest_q;
  assign state_valid_o  = is_state_q;
  assign shows_rest     = is_state_q | (is_digest_q & ~(WordBits == 64 && is_384_i));
  assign digest_o       = {digest_q[7:2] & {6*WordBits{is_digest_q | is_state_q}},
                           digest_q[1:0] & {2*WordBits{shows_rest}}};

  // --- control ---

  // A start waits until the core is cleared.
  assign start_ready_o = in_idle & core_idle & (~is_hmac_i | key_loaded_o) & ~drop;
  assign starts        = start_valid_i & start_ready_o;
  assign stop_ready_o  = in_message & ~is_open_q & ~is_first_q & ~core_word_valid & ~drop;
  assign stops         = stop_valid_i & stop_ready_o;
  assign idle_o        = in_idle & core_idle;

  // The last words of a state have come out of the core.
  logic saved;
  assign saved = is_save & core_state_valid & (pos_q == PosBits'(StateCycles - 1));

  // A HMAC goes from the key to the inner hash and the outer hash; without HMAC the message leads to the
  // digest. At a stop between two blocks the state is saved instead. A drop comes last, because it has the
  // highest priority.
  always_comb begin
    state_d     = state_q;
    is_hmac_d   = is_hmac_q;
    is_digest_d = is_digest_q & ~state_enters;
    is_state_d  = is_state_q & ~state_enters;
    is_first_d  = is_first_q;
    is_open_d   = is_open_q;
    resumes_d   = resumes_q;
    pos_d       = pos_q + PosBits'(word_moves | core_state_valid);

    if (core_cmd_valid && core_cmd_ready) begin
      is_open_d  = 1'b1;
      is_first_d = 1'b0;
      resumes_d  = 1'b0;
    end
    if (ends_block || saved) begin
      is_open_d = 1'b0;
      pos_d     = '0;
    end

    unique case (state_q)
      StIdle: if (starts) begin
        state_d     = (is_hmac_i && !resume_i) ? StInnerKey : StMessage;
        is_hmac_d   = is_hmac_i;
        is_first_d  = 1'b1;
        resumes_d   = resume_i;
        is_digest_d = 1'b0;
        is_state_d  = 1'b0;
      end
      StInnerKey: if (ends_block) state_d = StMessage;
      StMessage: begin
        if (word_moves && padded_last) state_d = is_hmac_q ? StInner : StOuter;
        if (stops) state_d = StLeave;
      end
      StLeave: if (saved) begin
        state_d    = StIdle;
        is_state_d = 1'b1;
      end
      StInner: if (saved) begin
        state_d    = StOuterKey;
        is_first_d = 1'b1;
      end
      StOuterKey: if (ends_block) state_d = StDigest;
      StDigest:   if (ends_block) state_d = StOuter;
      StOuter: if (saved) begin
        state_d     = StIdle;
        is_digest_d = 1'b1;
      end
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase

    if (drop) begin
      // Nothing but a reset leaves an illegal state or an error.
      state_d     = (error_o && Hardened) ? StError : StIdle;
      is_digest_d = 1'b0;
      is_state_d  = 1'b0;
      is_open_d   = 1'b0;
      pos_d       = '0;
    end
  end

  // `is_awake` is zero for one cycle after a reset, in which everything secret is cleared.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      is_hmac_q   <= 1'b0;
      is_digest_q <= 1'b0;
      is_state_q  <= 1'b0;
      is_first_q  <= 1'b0;
      is_open_q   <= 1'b0;
      resumes_q   <= 1'b0;
      pos_q       <= '0;
      lifecycle_q <= '0;
      is_awake_q  <= 1'b0;
    end else begin
      is_hmac_q   <= is_hmac_d;
      is_digest_q <= is_digest_d;
      is_state_q  <= is_state_d;
      is_first_q  <= is_first_d;
      is_open_q   <= is_open_d;
      resumes_q   <= resumes_d;
      pos_q       <= pos_d;
      lifecycle_q <= lifecycle_i;
      is_awake_q  <= 1'b1;
    end
  end

  // Nothing of a key is left in the cycle after a wipe, a change of lifecycle or an error.
  `ASSERT(ForgetsTheKey_A, forget |=> key_q == '0 && !key_loaded_o)
  // A dropped message leaves no digest.
  `ASSERT(DropsTheDigest_A, drop |=> digest_q == '0 && digest_o == '0)
  // An engine that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // An inner digest or a partial one would help to forge a MAC.
  `ASSERT(ShowsWholeDigestsOnly_A, !digest_valid_o && !state_valid_o |-> digest_o == '0)
  // A MAC by a key with missing words would be one by a key that an attacker may know.
  `ASSERT(NoHmacWithoutAKey_A, starts && is_hmac_i |-> key_loaded_o)
  // A save in the middle of a block would lose the words of this block.
  `ASSERT(StopsBetweenBlocks_A, stops |-> pos_q == '0 && !core_cmd_valid)
endmodule
