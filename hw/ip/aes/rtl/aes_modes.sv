// ECB, CBC, CTR (SP 800-38A) and GCM (SP 800-38D) around a block cipher.
//
// A message has a number of bytes that is known at its start. Blocks of it wait in `input_block_i`, are kept in `hold_q`
// while the cipher works, and results wait in `output_q`; so the cipher never waits for a port that is ready in
// time. GCM begins with the subkey and the first counter block, and ends with the lengths.

`include "assert.svh"

module aes_modes
  import aes_pkg::*;
  import aes_modes_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // A message. All of it is stable until `busy_o` falls.
  input  logic        start_i,
  input  logic        expand_i,      // the key first
  input  mode_e       mode_i,
  input  logic        decrypt_i,
  input  logic [31:0] iv_len_i,      // bytes; 12 is the usual one
  input  logic [31:0] aad_len_i,
  input  logic [31:0] text_len_i,
  input  logic        drop_i,        // ends a message at once
  input  logic        wipe_i,        // overwrites registers with what its inputs are
  input  logic        fail_i,
  output logic        busy_o,
  output logic        done_o,        // a pulse
  output logic        error_o,       // until reset

  // The vector, a word at a time while idle.
  input  logic        iv_write_i,
  input  logic [1:0]  iv_index_i,
  input  word_t       iv_word_i,

  // Blocks of the vector, of data that are authenticated only, and of the text.
  output logic        wants_o,       // a block is wanted
  output logic        wants_text_o,  // and it is text
  output logic [31:0] left_o,        // bytes of this phase, from this block on
  input  logic        input_valid_i,
  output logic        input_ready_o,
  input  block_t      input_block_i,

  // Results; bytes past the end are zero. Nothing is defined while it is not valid.
  output logic        output_valid_o,
  input  logic        output_ready_i,
  output block_t      output_o,
  output logic [4:0]  output_bytes_o,
  output logic        output_last_o,

  output logic        tag_valid_o,
  output block_t      tag_o,

  // The cipher.
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
  // What is known about the block in `hold_q`, and about the one in `output_q`.
  typedef struct packed {
    logic [4:0] hold_bytes;    // 1 to 16
    logic       hold_last;     // of the text, or of data that are authenticated only
    logic       output_valid;
    logic [4:0] output_bytes;
    logic       output_last;
    logic       tag_valid;     // until the next start
    logic       counts_on;     // a word of the counter is incremented
    logic [1:0] count_word;    // the last word first
  } parts_t;

  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;

  block_t      iv_q;                         // counter, or the ciphertext before
  block_t      hold_q;                       // input of the block that is in the cipher
  block_t      subkey_q, mask_q;             // of GCM: H, and what hides the tag (SP 800-38D §7.1)
  block_t      output_d, output_q;
  block_t      lengths, sum, sealed;
  logic [31:0] left_d, left_q, left_after;   // bytes that were not taken yet
  logic [4:0]  bytes_now;
  logic        sent_d, sent_q;               // the block of this phase is in the cipher, or in `hold_q`
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
  assign error_o    = ~(in_idle | in_expand | in_turn | in_subkey | in_iv | in_iv_end | in_first | in_aad | in_text |
                        in_lengths | in_tag);
  assign busy_o     = ~in_idle;
  assign is_gcm     = mode_i == ModeGcm;
  // Modes that encrypt counters in both directions.
  assign counts           = (mode_i == ModeCtr) | is_gcm;
  assign cipher_decrypt_o = decrypt_i & ~counts;
  assign cipher_expand_o  = in_idle & start_i & expand_i;

  // --- the cipher ---

  assign loads       = block_valid_o & block_ready_i;
  assign results     = result_valid_i & result_ready_o;
  assign stores_text = in_text & results;
  // The subkey is the encryption of zero, the mask of the tag that of the first counter block.
  assign block_valid_o  = wipe_i | ((in_subkey | in_first) & ~sent_q) |
                          (in_text & (left_q != '0) & input_valid_i);
  assign result_ready_o = wipe_i | in_subkey | in_first |
                          (in_text & (~parts_q.output_valid | output_ready_i) & (digest_ready | ~is_gcm));

  // By a code of three bits: six inputs for each bit, a look-up table. CBC chains with the result of this cycle, if there
  // is one.
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

  // Bytes of the block that is taken now.
  assign bytes_now     = (left_q[31:4] != '0) ? 5'd16 : {1'b0, left_q[3:0]};
  assign left_after    = (left_q[31:4] != '0) ? {left_q[31:4] - 28'd1, left_q[3:0]} : '0;
  // A block that is authenticated only waits in `hold_q` for the digest, too; `sent_q` says that it is there.
  assign releases      = (in_iv | in_aad) & sent_q & digest_ready;
  assign absorbs       = (in_iv | in_aad) & (left_q != '0) & input_valid_i & (~sent_q | releases);
  assign takes         = absorbs | (in_text & loads);
  assign input_ready_o = takes;
  assign wants_o       = (in_iv | in_aad | in_text) & (left_q != '0);
  assign wants_text_o  = in_text;
  assign left_o        = left_q;

  // --- results ---

  function automatic block_t first_bytes(block_t block, logic [4:0] bytes);
    block_t out;
    for (int i = 0; i < 16; i++) out[i] = block[i] & {8{5'(i) < bytes}};
    return out;
  endfunction

  assign sealed   = counts ? hold_q : (mode_i == ModeCbc && decrypt_i) ? iv_q : '0;
  assign output_d = first_bytes(result_i ^ sealed, parts_q.hold_bytes);

  // Not in the cycle of an upset.
  assign output_valid_o = parts_q.output_valid & ~differs;
  assign output_o       = output_q;
  assign output_bytes_o = parts_q.output_bytes;
  assign output_last_o  = parts_q.output_last;

  // --- the digest ---

  // Big-endian counters in blocks whose first byte is the lowest.
  function automatic block_t reversed(block_t block);
    block_t out;
    for (int i = 0; i < 16; i++) out[i] = block[15-i];
    return out;
  endfunction

  function automatic word_t reversed_word(word_t word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  // Lengths are in bits (§7.1). They are modulo 2^35 bytes, more than a length register has.
  function automatic logic [63:0] bits(logic [31:0] bytes);
    return {29'b0, bytes, 3'b0};
  endfunction

  // Ciphertext, which is what is made of the input or the input itself, and the other data; then lengths.
  always_comb begin
    digests = releases | (stores_text & is_gcm) | (in_iv_end & ~sent_q) | in_lengths;
    lengths = '0;
    if (in_iv_end)  lengths = reversed({64'b0, bits(iv_len_i)});
    if (in_lengths) lengths = reversed({bits(aad_len_i), bits(text_len_i)});
  end

  // The sum begins anew with a message, and after the vector. After the end it is a part of the tag.
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

  assign tag_valid_o = parts_q.tag_valid & ~differs;
  assign tag_o       = sum ^ mask_q;

  // GCM counts in 32 bits (SP 800-38D §6.2), CTR in all: a word a cycle, while the cipher works on the counter before. A
  // block takes ten cycles at least.
  logic  counter_leaves;
  word_t counter_word, counted;
  assign counter_leaves = loads & (in_first | (in_text & counts));
  assign counter_word   = iv_q[4*parts_q.count_word +: 4];
  assign counted        = reversed_word(reversed_word(counter_word) + 32'd1);

  // --- the message ---

  // Phases in the order of the standard; those without bytes take a cycle.
  always_comb begin
    state_d = state_q;
    left_d  = left_q;
    sent_d  = sent_q;
    unique case (state_q)
      StIdle: if (start_i) begin
        state_d = expand_i ? StExpand : StTurn;
        sent_d  = 1'b0;
      end
      // Until the schedule is there, and the first round key of the direction.
      StExpand: if (cipher_idle_i) state_d = StTurn;
      StTurn: begin
        state_d = is_gcm ? StSubkey : StText;
        left_d  = text_len_i;
      end
      StSubkey: begin
        if (loads) sent_d = 1'b1;
        if (results) begin
          sent_d  = 1'b0;
          state_d = (iv_len_i == 32'd12) ? StFirst : StIv;
          left_d  = iv_len_i;
        end
      end
      StIv: begin
        if (absorbs) left_d = left_after;
        sent_d = absorbs | (sent_q & ~releases);
        if (left_q == '0 && !sent_q) state_d = StIvEnd;
      end
      StIvEnd: begin
        if (digest_ready) sent_d = 1'b1;
        if (sent_q && digest_ready) begin
          sent_d  = 1'b0;
          state_d = StFirst;
        end
      end
      StFirst: begin
        if (loads) sent_d = 1'b1;
        if (results) begin
          sent_d  = 1'b0;
          state_d = StAad;
          left_d  = aad_len_i;
        end
      end
      StAad: begin
        if (absorbs) left_d = left_after;
        sent_d = absorbs | (sent_q & ~releases);
        if (left_q == '0 && !sent_q) begin
          state_d = StText;
          left_d  = text_len_i;
        end
      end
      StText: begin
        if (loads) left_d = left_after;
        if (left_q == '0 && (text_len_i == '0 || (stores_text && parts_q.hold_last))) begin
          state_d = is_gcm ? StLengths : StIdle;
        end
      end
      StLengths: if (digest_ready) state_d = StTag;
      StTag: if (digest_ready) state_d = StIdle;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    // Priority over a message, but not over an error.
    if (drop_i && !error_o) state_d = StIdle;
    if ((fail_i || differs || digest_error) && Hardened) state_d = StError;
  end

  assign done_o = busy_o & ~error_o & (state_d == StIdle) & ~drop_i;

  // What belongs to the blocks that wait.
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
    // The next word, if this one has become zero.
    if (counter_leaves) begin
      parts_d.counts_on  = 1'b1;
      parts_d.count_word = 2'd3;
    end else begin
      parts_d.counts_on  = parts_q.counts_on & ~is_gcm & (counted == '0) & (parts_q.count_word != '0);
      parts_d.count_word = parts_q.count_word - 2'd1;
    end
    if (drop_i || error_o) parts_d.counts_on = 1'b0;
    // A wipe lets whole blocks pass.
    if (wipe_i) parts_d.hold_bytes = 5'd16;
    if (drop_i || error_o || wipe_i)  parts_d.output_valid = 1'b0;
    else if (stores_text)             parts_d.output_valid = 1'b1;
    else if (output_ready_i)          parts_d.output_valid = 1'b0;
    if (drop_i || error_o || start_i || wipe_i) parts_d.tag_valid = 1'b0;
    else if (in_tag && digest_ready)            parts_d.tag_valid = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      left_q  <= '0;
      sent_q  <= 1'b0;
      parts_q <= '0;
    end else begin
      state_q <= state_d;
      left_q  <= left_d;
      sent_q  <= sent_d;
      parts_q <= parts_d;
    end
  end

  aes_copy #(.Bits(33 + $bits(parts_t)), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i ({left_d, sent_d, parts_d}),
    .value_i({left_q, sent_q, parts_q}),
    .differs_o(differs)
  );

  // Data without a reset: a wipe follows it. A wipe lets all of them take what their inputs are then: blocks that the
  // cipher makes of pseudo-random words.
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 16; i++) begin
      // Bytes past the end are zero.
      if (takes && 5'(i) >= bytes_now) hold_q[i] <= '0;
      else if (takes || wipe_i)        hold_q[i] <= input_block_i[i];
    end
    if (stores_text || wipe_i)            output_q <= output_d;
    if ((in_subkey && results) || wipe_i) subkey_q <= result_i;
    if ((in_first && results) || wipe_i)  mask_q   <= result_i;
  end

  // The vector by words: from outside, the first count of GCM, or a word of the counter.
  logic       sets_one, word_write;
  logic [1:0] word_index;
  word_t      word;
  assign sets_one   = in_turn & is_gcm & (iv_len_i == 32'd12);
  assign word_write = iv_write_i | sets_one | parts_q.counts_on;
  assign word_index = iv_write_i ? iv_index_i : sets_one ? 2'd3 : parts_q.count_word;
  assign word       = iv_write_i ? iv_word_i : sets_one ? 32'h01000000 : counted;

  // Or as a whole: the sum of a long vector, or the chain.
  always_ff @(posedge clk_i) begin
    if (word_write)                                iv_q[4*word_index +: 4] <= word;
    else if (in_iv_end && sent_q && digest_ready)  iv_q <= sum;
    else if (stores_text && mode_i == ModeCbc)     iv_q <= decrypt_i ? hold_q : result_i;
  end

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(ATagIsOfAWholeMessage_A, !tag_valid_o |=> !tag_valid_o || ($past(in_tag) && left_q == '0))
  `ASSERT(AResultWaitsForItsReader_A,
          output_valid_o && !output_ready_i && !drop_i && !error_o && !wipe_i |=>
          (output_valid_o || differs) && $stable(output_q))
  `ASSERT(AStartIsOfAnIdleEngine_A, start_i |-> in_idle)
  `ASSERT(TheSubkeyIsOfZero_A, in_subkey && loads |-> block_o == '0 || wipe_i)
  // Two blocks with one counter would give away the sum of their texts.
  `ASSERT(ACounterIsUsedOnce_A, $past(in_text && counts && loads && !drop_i) && !drop_i |=> iv_q != $past(iv_q))
  // SP 800-38D §6.2: the first 96 bits of a counter of GCM never change.
  `ASSERT(GcmCountsInTheLastWord_A, is_gcm && parts_q.counts_on |-> parts_q.count_word == 2'd3 || differs)
  `ASSERT(NoCounterLeavesBeforeItIsWhole_A, counter_leaves |-> !parts_q.counts_on)
  `ASSERT(BytesPastTheEndAreZero_A, output_valid_o && output_bytes_o < 5'd16 |-> output_o[15] == '0)
endmodule
