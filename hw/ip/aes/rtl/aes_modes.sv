// This module controls a message: ECB, CBC, CTR (SP 800-38A) and GCM (SP 800-38D) with a block cipher
// that is outside.
//
// Protocol: `start_i` begins a message while `busy_o` is low. All inputs of the configuration have to
// be stable until `busy_o` falls. The number of bytes of each phase is known at the start. Blocks of
// vector, authenticated data and text come through the `input_*` ports in this order, and results leave
// through the `output_*` ports; both are valid/ready handshakes.
//
// Time: a block of text waits in `input_block_i`, is kept in `hold_q` while the cipher works on it, and
// its result waits in `output_q`. So the cipher, which takes 10 to 14 cycles (51 to 71 if masked),
// never waits for a port that is ready in time. GCM begins with the subkey and the first counter block,
// and ends with the lengths. A phase without bytes takes a cycle.
//
// Reset: the state is idle, and no result and no tag is valid. Registers of data have no reset; the
// wipe that follows a reset overwrites them.
//
// Hardening: the codes of states differ in at least four bits, and all other registers of control have
// a copy. An upset ends in `StError`, which only a reset leaves. `Hardened` = 0 removes this.

`include "assert.svh"

module aes_modes
  import aes_pkg::*;
  import aes_modes_pkg::*;
#(
  // `Hardened` = 0 has illegal states return to StIdle, and there is no copy.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // These ports describe a message. All of them are stable until `busy_o` falls. `expand_i` asks for
  // the expansion of the key before the first block.
  input  logic        start_i,
  input  logic        expand_i,      // Expands the key first.
  input  mode_e       mode_i,
  input  logic        decrypt_i,
  input  logic [31:0] iv_len_i,      // Lengths count bytes; a vector of GCM usually has 12.
  input  logic [31:0] aad_len_i,
  input  logic [31:0] text_len_i,
  input  logic        drop_i,        // A drop ends a message at once.
  input  logic        wipe_i,        // A wipe overwrites the registers with what their inputs are.
  // `fail_i` reports an upset elsewhere in the engine, and has the same effect as one in here.
  input  logic        fail_i,
  output logic        busy_o,
  output logic        done_o,        // This is a pulse at the end of a message.
  output logic        error_o,       // An error stays until reset.

  // The vector is written a word at a time while the module is idle.
  input  logic        iv_write_i,
  input  logic [1:0]  iv_index_i,
  input  word_t       iv_word_i,

  // These ports take blocks of the vector, of data that are authenticated only, and of the text.
  // `wants_o` says that a block is wanted, `wants_text_o` that it is text, and `left_o` how many bytes
  // of this phase are left, with this block.
  output logic        wants_o,       // A block is wanted.
  output logic        wants_text_o,  // The block is text.
  output logic [31:0] left_o,        // This counts the bytes of the phase from this block on.
  input  logic        input_valid_i,
  output logic        input_ready_o,
  input  block_t      input_block_i,

  // These ports give results. Bytes past the end are zero. The data are not defined while
  // `output_valid_o` is low.
  output logic        output_valid_o,
  input  logic        output_ready_i,
  output block_t      output_o,
  output logic [4:0]  output_bytes_o,
  output logic        output_last_o,

  // The tag of GCM stays valid until the next start or drop.
  output logic        tag_valid_o,
  output block_t      tag_o,

  // These ports drive the block cipher: expansion, direction, a block to encrypt or decrypt, and its
  // result.
  output logic        cipher_expand_o,
  output logic        cipher_decrypt_o,
  input  logic        cipher_idle_i,
  output logic        block_valid_o,
  input  logic        block_ready_i,
  output block_t      block_o,
  input  logic        result_valid_i,
  output logic        result_ready_o,
  input  block_t      result_i
);
  // This structure describes the block in `hold_q`, the block in `output_q`, and the counter.
  typedef struct packed {
    // `hold_bytes` counts the bytes of the held block, 1 to 16.
    logic [4:0] hold_bytes;
    // `hold_last` marks the last block of the text, or of data that are authenticated only.
    logic       hold_last;
    // The next three fields describe the result that waits in `output_q`.
    logic       output_valid;
    logic [4:0] output_bytes;
    logic       output_last;
    // `tag_valid` is set at the end of a message of GCM, and stays until the next start.
    logic       tag_valid;
    // `counts_on` says that a word of the counter is incremented in this cycle, `count_word` which one;
    // the last word, which has the lowest value, comes first.
    logic       counts_on;
    logic [1:0] count_word;    // Counting begins with word 3.
  } parts_t;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(4)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  block_t      iv_q;                         // This is the counter, or the ciphertext of the block before.
  block_t      hold_q;                       // This is the input of the block that is in the cipher.
  block_t      subkey_q, mask_q;             // GCM: H, and the block that hides the tag (SP 800-38D §7.1).
  block_t      output_d, output_q;
  block_t      lengths, sum, sealed;
  logic [31:0] left_d, left_q, left_after;   // This counts the bytes that were not taken yet.
  logic [4:0]  bytes_now;
  logic        sent_d, sent_q;               // The block of this phase is in the cipher or in `hold_q`.
  logic        differs, digest_error;
  parts_t      parts_d, parts_q;
  logic        in_idle, in_expand, in_turn, in_subkey, in_iv, in_iv_end, in_first, in_aad, in_text, in_lengths, in_tag;
  logic        digests, digest_ready, clears_sum, loads, results, is_gcm, counts, stores_text, absorbs, releases, takes;

  assign in_idle    = state_q == StIdle;
  assign in_expand  = state_q == StExpand;
  assign in_turn    = state_q == StTurn;
  assign in_subkey  = state_q == StSubkey;
  assign in_iv      = state_q == StIv;
  assign in_iv_end  = state_q == StIvEnd;
  assign in_first   = state_q == StFirst;
  assign in_aad     = state_q == StAad;
  assign in_text    = state_q == StText;
  assign in_lengths = state_q == StLengths;
  assign in_tag     = state_q == StTag;
  // Every other code is an error.
  assign error_o    = ~(in_idle | in_expand | in_turn | in_subkey | in_iv | in_iv_end | in_first | in_aad | in_text |
                        in_lengths | in_tag);
  assign busy_o     = ~in_idle;
  assign is_gcm     = mode_i == ModeGcm;
  // CTR and GCM encrypt counters in both directions, so the cipher never decrypts in them.
  assign counts           = (mode_i == ModeCtr) | is_gcm;
  assign cipher_decrypt_o = decrypt_i & ~counts;
  assign cipher_expand_o  = in_idle & start_i & expand_i;

  // --- the cipher ---

  // `loads` and `results` are the cycles in which the cipher takes a block and gives a result.
  assign loads       = block_valid_o & block_ready_i;
  assign results     = result_valid_i & result_ready_o;
  assign stores_text = in_text & results;
  // The subkey is the encryption of zero, and the block that hides the tag is that of the first counter
  // block.
  assign block_valid_o  = wipe_i | ((in_subkey | in_first) & ~sent_q) |
                          (in_text & (left_q != '0) & input_valid_i);
  // A result of text is taken if `output_q` is free in this cycle and, in GCM, GHASH takes the
  // ciphertext at the same time.
  assign result_ready_o = wipe_i | in_subkey | in_first |
                          (in_text & (~parts_q.output_valid | output_ready_i) & (digest_ready | ~is_gcm));

  // The block for the cipher is chosen by a code of three bits, so that each of its bits has six inputs
  // and fits a look-up table. CBC chains with the result of this cycle if there is one, and otherwise
  // with the stored ciphertext.
  typedef enum logic [2:0] {FromZero, FromVector, FromInput, FromInputAndVector, FromInputAndResult} from_e;
  from_e from;
  assign from = in_subkey ? FromZero : (in_first | counts) ? FromVector
              : !(mode_i == ModeCbc && !decrypt_i) ? FromInput
              : (results & in_text) ? FromInputAndResult : FromInputAndVector;
  always_comb begin
    unique case (from)
      FromVector:         block_o = iv_q;
      FromInput:          block_o = input_block_i;
      FromInputAndVector: block_o = input_block_i ^ iv_q;
      FromInputAndResult: block_o = input_block_i ^ result_i;
      default:            block_o = '0;
    endcase
  end

  // A phase takes whole blocks of 16 bytes until the rest is shorter.
  assign bytes_now     = (left_q[31:4] != '0) ? 5'd16 : {1'b0, left_q[3:0]};
  assign left_after    = (left_q[31:4] != '0) ? {left_q[31:4] - 28'd1, left_q[3:0]} : '0;
  // A block that is only authenticated waits in `hold_q` until GHASH takes it; `sent_q` says that such
  // a block is there. It can be replaced in the cycle in which it leaves.
  assign releases      = (in_iv | in_aad) & sent_q & digest_ready;
  assign absorbs       = (in_iv | in_aad) & (left_q != '0) & input_valid_i & (~sent_q | releases);
  assign takes         = absorbs | (in_text & loads);
  assign input_ready_o = takes;
  assign wants_o       = (in_iv | in_aad | in_text) & (left_q != '0);
  assign wants_text_o  = in_text;
  assign left_o        = left_q;

  // --- results ---

  // This function clears all bytes of a block but the first ones.
  function automatic block_t first_bytes(block_t block, logic [4:0] bytes);
    block_t out;
    for (int i = 0; i < 16; i++) out[i] = block[i] & {8{5'(i) < bytes}};
    return out;
  endfunction

  // The value that is added to the result of the cipher is the text in modes that encrypt counters, and
  // the ciphertext before in the decryption of CBC.
  assign sealed   = counts ? hold_q : (mode_i == ModeCbc && decrypt_i) ? iv_q : '0;
  assign output_d = first_bytes(result_i ^ sealed, parts_q.hold_bytes);

  // No result is offered in the cycle in which the copy shows an upset. Nor is one offered in the error state: an
  // upset of the length of the key or of the mode stores, in its own cycle, a result of too few rounds or without
  // its text.
  assign output_valid_o = parts_q.output_valid & ~differs & ~error_o;
  assign output_o       = output_q;
  assign output_bytes_o = parts_q.output_bytes;
  assign output_last_o  = parts_q.output_last;

  // --- GHASH ---

  // These functions reverse the order of bytes: counters and lengths are big-endian, and byte 0 of a
  // block is its lowest.
  function automatic block_t reversed(block_t block);
    block_t out;
    for (int i = 0; i < 16; i++) out[i] = block[15-i];
    return out;
  endfunction

  function automatic word_t reversed_word(word_t word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  // Lengths are counted in bits (SP 800-38D §7.1). A length register has 32 bits for bytes, so the
  // number of bits always fits.
  function automatic logic [63:0] bits(logic [31:0] bytes);
    return {29'b0, bytes, 3'b0};
  endfunction

  // GHASH takes ciphertext, which is the result of an encryption or the input of a decryption, and data
  // that are only authenticated. It takes the lengths at the end of a long vector and of the message.
  always_comb begin
    digests = releases | (stores_text & is_gcm) | (in_iv_end & ~sent_q) | in_lengths;
    lengths = '0;
    if (in_iv_end)  lengths = reversed({64'b0, bits(iv_len_i)});
    if (in_lengths) lengths = reversed({bits(aad_len_i), bits(text_len_i)});
  end

  // The sum of GHASH begins at zero for each message, and again after a long vector. It is not cleared
  // at the end, because it is a part of the tag.
  assign clears_sum = in_subkey | in_first | drop_i;

  aes_ghash #(.Hardened(Hardened)) u_ghash (
    .clk_i, .rst_ni,
    .clear_i (clears_sum),
    .valid_i (digests),
    .ready_o (digest_ready),
    .adds_a_i(in_text & ~decrypt_i),
    .adds_b_i((in_text & decrypt_i) | in_iv | in_aad),
    .a_i     (output_d),
    .b_i     (hold_q),
    .c_i     (lengths),
    .subkey_i(subkey_q),
    .sum_o   (sum),
    .error_o (digest_error)
  );

  // The tag is the sum of GHASH, hidden by the encryption of the first counter block.
  assign tag_valid_o = parts_q.tag_valid & ~differs & ~error_o;
  assign tag_o       = sum ^ mask_q;

  // GCM increments the last 32 bits of the counter (SP 800-38D §6.2), CTR all 128 bits. This takes a
  // cycle for each word while the cipher works on the counter before. That is in time, because a block
  // takes at least ten cycles.
  logic  counter_leaves;
  word_t counter_word, counted;
  assign counter_leaves = loads & (in_first | (in_text & counts));
  assign counter_word   = iv_q[4*parts_q.count_word +: 4];
  assign counted        = reversed_word(reversed_word(counter_word) + 32'd1);

  // --- the message ---

  // The phases come in the order of the standard; those without bytes take a cycle.
  always_comb begin
    state_d = state_q;
    left_d  = left_q;
    sent_d  = sent_q;
    unique case (state_q)
      // A start goes to the expansion, or directly to the first block if the schedule is of this key.
      StIdle: if (start_i) begin
        state_d = expand_i ? StExpand : StTurn;
        sent_d  = 1'b0;
      end
      // The cipher is idle when the schedule is complete.
      StExpand: if (cipher_idle_i) state_d = StTurn;
      // The cipher reads the first round key of the direction in this cycle.
      StTurn: begin
        state_d = is_gcm ? StSubkey : StText;
        left_d  = text_len_i;
      end
      // A vector of 12 bytes is the counter itself; any other vector goes through GHASH.
      StSubkey: begin
        if (loads) sent_d = 1'b1;
        if (results) begin
          sent_d  = 1'b0;
          state_d = (iv_len_i == 32'd12) ? StFirst : StIv;
          left_d  = iv_len_i;
        end
      end
      // The phase ends when all bytes were taken and the last block has left for GHASH.
      StIv: begin
        if (absorbs) left_d = left_after;
        sent_d = absorbs | (sent_q & ~releases);
        if (left_q == '0 && !sent_q) state_d = StIvEnd;
      end
      // The first time that GHASH is ready it takes the length; the second time it has the sum.
      StIvEnd: begin
        if (digest_ready) sent_d = 1'b1;
        if (sent_q && digest_ready) begin
          sent_d  = 1'b0;
          state_d = StFirst;
        end
      end
      // The result becomes the block that hides the tag.
      StFirst: begin
        if (loads) sent_d = 1'b1;
        if (results) begin
          sent_d  = 1'b0;
          state_d = StAad;
          left_d  = aad_len_i;
        end
      end
      // As in `StIv`, the phase ends when GHASH has taken the last block.
      StAad: begin
        if (absorbs) left_d = left_after;
        sent_d = absorbs | (sent_q & ~releases);
        if (left_q == '0 && !sent_q) begin
          state_d = StText;
          left_d  = text_len_i;
        end
      end
      // The phase ends when the result of the last block is stored, or at once if there is no text.
      StText: begin
        if (loads) left_d = left_after;
        if (left_q == '0 && (text_len_i == '0 || (stores_text && parts_q.hold_last))) begin
          state_d = is_gcm ? StLengths : StIdle;
        end
      end
      // The sum is complete when GHASH is ready again.
      StLengths: if (digest_ready) state_d = StTag;
      StTag: if (digest_ready) state_d = StIdle;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    // A drop has priority over a message, but not over an error. An upset has priority over all.
    if (drop_i && !error_o) state_d = StIdle;
    if ((fail_i || differs || digest_error) && Hardened) state_d = StError;
  end

  assign done_o = busy_o & ~error_o & (state_d == StIdle) & ~drop_i;

  // This block follows what is known about the waiting blocks, the counter and the tag.
  always_comb begin
    parts_d = parts_q;
    if (takes) begin
      parts_d.hold_bytes = bytes_now;
      parts_d.hold_last  = left_q <= 32'd16;
    end
    if (stores_text) begin
      parts_d.output_bytes = parts_q.hold_bytes;
      parts_d.output_last  = parts_q.hold_last;
    end
    // CTR goes on with the next word if this one has become zero. GCM never does, because it counts in
    // 32 bits.
    if (counter_leaves) begin
      parts_d.counts_on  = 1'b1;
      parts_d.count_word = 2'd3;
    end else begin
      parts_d.counts_on  = parts_q.counts_on & ~is_gcm & (counted == '0) & (parts_q.count_word != '0);
      parts_d.count_word = parts_q.count_word - 2'd1;
    end
    if (drop_i || error_o) parts_d.counts_on = 1'b0;
    // A wipe lets whole blocks pass, so that all bytes of `output_q` are overwritten.
    if (wipe_i) parts_d.hold_bytes = 5'd16;
    if (drop_i || error_o || wipe_i)  parts_d.output_valid = 1'b0;
    else if (stores_text)             parts_d.output_valid = 1'b1;
    else if (output_ready_i)          parts_d.output_valid = 1'b0;
    if (drop_i || error_o || start_i || wipe_i) parts_d.tag_valid = 1'b0;
    else if (in_tag && digest_ready)            parts_d.tag_valid = 1'b1;
  end

  // The registers of control are reset, and start a message in `StIdle`.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q  <= '0;
      sent_q  <= 1'b0;
      parts_q <= '0;
    end else begin
      left_q  <= left_d;
      sent_q  <= sent_d;
      parts_q <= parts_d;
    end
  end

  // This copy detects upsets of all registers of control but the state, whose code detects them itself.
  register_copy #(.Width(33 + $bits(parts_t)), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i ({left_d, sent_d, parts_d}),
    .value_i({left_q, sent_q, parts_q}),
    .differs_o(differs)
  );

  // Data have no reset, because a wipe follows it. In a wipe all of these registers take their inputs:
  // blocks that the cipher makes of pseudo-random words.
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 16; i++) begin
      // Bytes past the end of the text are zero.
      if (takes && 5'(i) >= bytes_now) hold_q[i] <= '0;
      else if (takes || wipe_i)        hold_q[i] <= input_block_i[i];
    end
    if (stores_text || wipe_i)            output_q <= output_d;
    if ((in_subkey && results) || wipe_i) subkey_q <= result_i;
    if ((in_first && results) || wipe_i)  mask_q   <= result_i;
  end

  // The vector is written by words: from outside, as the first count of GCM (a one in the last word),
  // or as an incremented word of the counter.
  logic       sets_one, word_write;
  logic [1:0] word_index;
  word_t      word;
  assign sets_one   = in_turn & is_gcm & (iv_len_i == 32'd12);
  assign word_write = iv_write_i | sets_one | parts_q.counts_on;
  assign word_index = iv_write_i ? iv_index_i : sets_one ? 2'd3 : parts_q.count_word;
  assign word       = iv_write_i ? iv_word_i : sets_one ? 32'h01000000 : counted;

  // It is also written as a whole: with the sum of GHASH over a long vector, or with the ciphertext
  // that CBC chains.
  always_ff @(posedge clk_i) begin
    if (word_write)                                iv_q[4*word_index +: 4] <= word;
    else if (in_iv_end && sent_q && digest_ready)  iv_q <= sum;
    else if (stores_text && mode_i == ModeCbc)     iv_q <= decrypt_i ? hold_q : result_i;
  end

  // Software cannot make an engine that was upset go on: only a reset leaves the error.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // A tag becomes valid only at the end of a whole message, never in the middle of one.
  `ASSERT(ATagIsOfAWholeMessage_A, !tag_valid_o |=> !tag_valid_o || ($past(in_tag) && left_q == '0))
  // A result is neither lost nor changed while its reader waits, unless an upset or a drop removes it.
  `ASSERT(AResultWaitsForItsReader_A,
          output_valid_o && !output_ready_i && !drop_i && !error_o && !wipe_i |=>
          (output_valid_o || differs || error_o) && $stable(output_q))
  // A start in the middle of a message would mix two messages; the caller has to wait for idle.
  `ASSERT(AStartIsOfAnIdleEngine_A, start_i |-> in_idle)
  // GHASH would be wrong if its subkey were the encryption of anything but zero (SP 800-38D §7.1, step
  // 1).
  `ASSERT(TheSubkeyIsOfZero_A, in_subkey && loads |-> block_o == '0 || wipe_i)
  // Two blocks with one counter would reveal the sum of their texts.
  `ASSERT(ACounterIsUsedOnce_A, $past(in_text && counts && loads && !drop_i) && !drop_i |=> iv_q != $past(iv_q))
  // The first 96 bits of a counter of GCM never change (SP 800-38D §6.2).
  `ASSERT(GcmCountsInTheLastWord_A, is_gcm && parts_q.counts_on |-> parts_q.count_word == 2'd3 || differs)
  // The cipher must not take a counter in which a carry still has to move on.
  `ASSERT(NoCounterLeavesBeforeItIsWhole_A, counter_leaves |-> !parts_q.counts_on)
  // Memory past the end of the text gets nothing of the key stream.
  `ASSERT(BytesPastTheEndAreZero_A, output_valid_o && output_bytes_o < 5'd16 |-> output_o[15] == '0)
  // What was stored in the cycle of an upset may be a result of too few rounds, which would reveal the key.
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !output_valid_o && !tag_valid_o && !input_ready_o)
endmodule
