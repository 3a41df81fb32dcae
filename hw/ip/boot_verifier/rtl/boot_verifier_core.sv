// Verifies a first stage from reset, with no processor running (spec/first-stage.md §8). It reads
// its image once, feeds the digest of the key and the engine for signatures, writes the signed part
// into on-chip RAM, and decides once.
//
// Bus, digest, engine and storage are outside. The decision needs evidence of each step, in
// registers of its own, in two consecutive cycles: the state machine by itself releases nothing,
// whatever state it is in. Every refusal is final until reset.
//
// Interface: words of the image have valid and ready. A word moves in the cycle in which all of its
// receivers take it, so at most one word a cycle. The engine and the digest may wait for a word
// before they show that they are ready. Reset begins a new verification.
//
// Hardening: any two states differ in at least three bits, and every other code is an error until
// reset. The comparison of the key is kept in two registers of opposite sense, with one bit for
// each compared word. Each rule of the header has three bits. Words on their way are not protected.

`include "assert.svh"

module boot_verifier_core
  import boot_verifier_pkg::*;
#(
  // The one algorithm, by its numbers (image format §2.2), and the words of 64 bits of its
  // signature.
  parameter logic [31:0]  Algorithm      = 32'd17,
  parameter logic [31:0]  Parameters     = 32'd1,
  parameter int unsigned  SignatureWords = 313,
  // Words of 64 bits of its public key. Zeros follow up to the size of the field.
  parameter int unsigned  KeyUsed        = 8,
  // Name of the system on a chip that the header has to name.
  parameter logic [255:0] Soc            = SocName,
  // Bytes of code that fit, a multiple of 64.
  parameter int unsigned  Capacity       = 65536,
  // The value that the engine shows when a signature fits, and at no other time.
  parameter logic [63:0]  Accepted       = 64'h5a17_c0de_96b3_0f71,
  // 0 builds a unit that continues from an illegal state, to show that the test detects it.
  parameter bit           Hardened       = 1'b1,
  localparam int unsigned RamBits        = $clog2(Capacity / 8 + HeaderWords)
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // One-time-programmable storage: its verdict, and words of key and board. A word comes in the
  // cycle after its request.
  input  logic               otp_ready_i,
  input  logic               otp_failed_i,
  // The root key of the first stage is written and not revoked.
  input  logic               otp_usable_i,
  // Development, production or returned: at most one bit is set.
  input  logic [2:0]         otp_lifecycle_i,
  input  logic [6:0]         otp_floor_i,
  output logic               otp_req_o,
  // 1 asks for a word of the board, 0 for a word of the key digest.
  output logic               otp_is_board_o,
  output logic [2:0]         otp_word_o,
  input  logic               otp_valid_i,
  input  logic               otp_good_i,
  input  logic [31:0]        otp_data_i,

  // The image: the number of lines of 64 bytes that may be read, and their words. `stop_o` ends all
  // requests, and `failed_i` reports an error of the medium.
  output logic [18:0]        lines_o,
  output logic               stop_o,
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [63:0]        data_i,
  input  logic               failed_i,

  // The digest of lead and key. `digest_done_i` says that it is there; then `digest_word_i` is the
  // word of `digest_index_o`.
  output logic               digest_start_o,
  output logic               digest_valid_o,
  input  logic               digest_ready_i,
  input  logic               digest_done_i,
  output logic [2:0]         digest_index_o,
  input  logic [31:0]        digest_word_i,

  // The engine: key, signature and message as words, each of which it takes when it is ready for
  // it.
  output logic               engine_start_o,
  output logic               engine_key_o,
  output logic               engine_signature_o,
  output logic               engine_message_o,
  // The word is the last one of the message.
  output logic               engine_last_o,
  input  logic               engine_ready_i,
  input  logic               engine_done_i,
  // The engine refused the signature because of its index.
  input  logic               engine_index_i,
  input  logic [63:0]        engine_verdict_i,

  // The word that the engine, the digest and the RAM take.
  output logic [63:0]        data_o,

  // On-chip RAM. A word is written in the cycle in which the engine takes it.
  output logic               ram_write_o,
  output logic [RamBits-1:0] ram_word_o,

  // A block outside has failed.
  input  logic               fault_i,
  // The decision. All outputs follow from registers and from the evidence in the same cycle.
  output logic               release_o,
  output logic               refused_o,
  output reason_e            reason_o,
  output logic               error_o
);
  // Words of zeros after the signature, and words of the image without its code.
  localparam int unsigned PaddingWords = (8 - SignatureWords % 8) % 8;
  localparam int unsigned FixedWords   = LeadWords + KeyWords + SignatureWords + PaddingWords + HeaderWords;

  // A [6,3,3] code without the zero word, extended: any two codes differ in at least three bits. A
  // state that takes words ends with the last word of its part.
  typedef enum logic [7:0] {
    // Waits for one-time-programmable storage. Nothing is requested of the medium before.
    StStorage   = 8'b00001011,
    // Takes the lead, which goes to the digest.
    StLead      = 8'b00010101,
    // Takes the public key, which goes to the digest and to the engine.
    StKey       = 8'b00011110,
    // Compares the digest of the key with storage. It ends after eight words.
    StDigest    = 8'b00100110,
    // Takes the signature, which goes to the engine.
    StSignature = 8'b00101101,
    // Takes the padding after the signature and compares it with zero.
    StPadding   = 8'b00110011,
    // Takes the header: to engine and RAM, while its rules are judged.
    StHeader    = 8'b00111000,
    // Takes the code, which goes to engine and RAM.
    StCode      = 8'b01000111,
    // Waits for the verdict of the engine.
    StVerdict   = 8'b01001100,
    // Looks at all evidence, and one cycle later looks again.
    StJudge     = 8'b01010010,
    StConfirm   = 8'b01011001,
    // The decision. A release whose evidence is gone, or an upset, leads to the error.
    StReleased  = 8'b01100001,
    StRefused   = 8'b01101010,
    // Only a reset ends this state.
    StError     = 8'b01110100
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StStorage), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  // Words of the current part that have passed, words of the image that have passed, words of code.
  logic [18:0] count_d, count_q;
  logic [22:0] total_d, total_q;
  logic [18:0] code_d, code_q;
  reason_e     reason_d, reason_q;

  // States are decoded once, by equality.
  logic in_storage, in_lead, in_key, in_digest, in_signature, in_padding, in_header, in_code, in_verdict, in_judge;
  logic in_confirm, in_released, in_refused, is_legal;
  assign in_storage   = state_q == StStorage;
  assign in_lead      = state_q == StLead;
  assign in_key       = state_q == StKey;
  assign in_digest    = state_q == StDigest;
  assign in_signature = state_q == StSignature;
  assign in_padding   = state_q == StPadding;
  assign in_header    = state_q == StHeader;
  assign in_code      = state_q == StCode;
  assign in_verdict   = state_q == StVerdict;
  assign in_judge     = state_q == StJudge;
  assign in_confirm   = state_q == StConfirm;
  assign in_released  = state_q == StReleased;
  assign in_refused   = state_q == StRefused;
  assign is_legal     = in_storage | in_lead | in_key | in_digest | in_signature | in_padding | in_header | in_code |
                        in_verdict | in_judge | in_confirm | in_released | in_refused;
  assign error_o      = ~is_legal;

  // --- words of the image ---
  // Lead and key go to the digest, the key to the engine as well. Signature, header and code go to
  // the engine only. Padding goes to neither: it is compared with zero.
  logic passes, to_engine, to_digest, needs_board, has_board, is_last;
  // The digest, or the engine, has the offered word of the key already and the other has not.
  logic digest_has_d, digest_has_q, engine_has_d, engine_has_q;
  assign to_digest   = in_lead | in_key;
  assign to_engine   = in_key | in_signature | in_header | in_code;
  // Words 8 to 11 of the header are the name of the board.
  assign needs_board = in_header & (count_q[4:2] == 3'd2);
  assign passes      = valid_i & (to_digest | in_signature | in_padding | in_header | in_code) &
                       (~to_digest | digest_ready_i | digest_has_q) & (~to_engine | engine_ready_i | engine_has_q) &
                       (~needs_board | has_board);
  assign ready_o     = passes;
  assign data_o      = data_i;

  // Neither waits for the other: each of them may show that it is ready only after it is offered a
  // word. A word of the key passes when both have it.
  assign digest_has_d = ~passes & (digest_has_q | (in_key & digest_valid_o & digest_ready_i));
  assign engine_has_d = ~passes & (engine_has_q | (engine_key_o & engine_ready_i));
  // Receivers that have the word. Both bits are clear again when the word has passed.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      digest_has_q <= 1'b0;
      engine_has_q <= 1'b0;
    end else begin
      digest_has_q <= digest_has_d;
      engine_has_q <= engine_has_d;
    end
  end
  // Words that are offered to each receiver, and words that are written. The header is at the start
  // of the RAM, the code after it.
  assign digest_valid_o     = valid_i & to_digest & ~digest_has_q;
  assign engine_key_o       = valid_i & in_key & ~engine_has_q;
  assign engine_signature_o = valid_i & in_signature;
  assign engine_message_o   = valid_i & (in_header | in_code) & (~needs_board | has_board);
  assign engine_last_o      = in_code & is_last;
  assign ram_write_o        = passes & (in_header | in_code);
  assign ram_word_o         = in_code ? RamBits'(count_q + 19'(HeaderWords)) : RamBits'(count_q);

  // --- words of storage: the board while its words pass, the key while its digest is compared ---
  logic        asks_q, has_low_q, has_high_q, board_good_q;
  logic [63:0] board_q;
  // Words of the digest that were compared, and one bit for each: an upset of the count leaves one
  // out.
  logic [3:0]  compared_d, compared_q;
  logic [7:0]  seen_d, seen_q;
  logic [31:0] key_difference_d, key_difference_q;
  // The same comparison with opposite sense, so that an upset of one register contradicts the
  // other.
  logic [31:0] key_sameness_d, key_sameness_q;
  logic        wants_board, wants_key;
  // A word of storage is requested when it is needed, and only one at a time.
  assign wants_board    = needs_board & ~(has_low_q & has_high_q);
  assign wants_key      = in_digest & digest_done_i & (compared_q != 4'd8);
  assign otp_req_o      = (wants_board | wants_key) & ~asks_q;
  assign otp_is_board_o = in_header;
  assign otp_word_o     = in_header ? {count_q[1:0], has_low_q} : compared_q[2:0];
  assign has_board      = has_low_q & has_high_q;
  assign digest_index_o = compared_q[2:0];

  // The board's two halves are kept until the word of the header that they are compared with has
  // passed.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asks_q       <= 1'b0;
      has_low_q    <= 1'b0;
      has_high_q   <= 1'b0;
      board_good_q <= 1'b0;
      board_q      <= '0;
    end else begin
      asks_q <= (otp_req_o | asks_q) & ~otp_valid_i;
      if (otp_valid_i && in_header) begin
        if (has_low_q) begin
          board_q[63:32] <= otp_data_i;
          has_high_q     <= 1'b1;
          board_good_q   <= board_good_q & otp_good_i;
        end else begin
          board_q[31:0]  <= otp_data_i;
          has_low_q      <= 1'b1;
          board_good_q   <= otp_good_i;
        end
      end
      if (passes) begin
        has_low_q  <= 1'b0;
        has_high_q <= 1'b0;
      end
    end
  end

  // Every word of the digest is compared. A word that storage does not give counts as a difference.
  always_comb begin
    compared_d       = compared_q;
    seen_d           = seen_q;
    key_difference_d = key_difference_q;
    key_sameness_d   = key_sameness_q;
    if (otp_valid_i && in_digest) begin
      compared_d                = compared_q + 1'b1;
      seen_d[compared_q[2:0]]   = 1'b1;
      key_difference_d          = key_difference_q | (otp_data_i ^ digest_word_i) | {32{~otp_good_i}};
      key_sameness_d            = key_sameness_q & (otp_data_i ~^ digest_word_i) & {32{otp_good_i}};
    end
  end

  // --- rules of the header ---
  // The rules are judged while words pass, and count only after the signature: until then nothing
  // that the header says is trusted, except for the size of the code, which is bounded.
  logic [NumRules-1:0] broken, intact, kept;
  rule_e first;
  logic unused_next_word, unused_next_last;
  boot_verifier_header #(
    .Algorithm  (Algorithm),
    .Parameters (Parameters),
    .Soc        (Soc),
    .Hardened   (Hardened)
  ) u_header (
    .clk_i, .rst_ni,
    .clear_i     (in_storage),
    .word_i      (passes & in_header),
    .index_i     (count_q[4:0]),
    .data_i,
    .board_i     (board_q),
    .board_good_i(board_good_q),
    .floor_i     (otp_floor_i),
    .lifecycle_i (otp_lifecycle_i),
    .broken_o    (broken),
    .intact_o    (intact),
    .kept_o      (kept),
    .first_o     (first),
    .next_word_o (unused_next_word),
    .next_last_o (unused_next_last)
  );

  // --- evidence ---
  reason_e refusal, found_d, found_q, decided;
  logic is_complete, is_key_right, is_fitting, is_kept, is_good;
  // All words of the image have passed: no part was left out, and none was found wrong.
  assign is_complete  = (total_q == 23'(FixedWords) + 23'(code_q)) & (code_q != '0) & (found_q == ReasonNone);
  // All eight words of the digest were compared, each of them, and were equal.
  assign is_key_right = (compared_q == 4'd8) & (key_difference_q == '0) &
                        (~Hardened | ((seen_q == '1) & (key_sameness_q == '1)));
  // The engine shows the one constant that means a signature that fits.
  assign is_fitting   = engine_done_i & (engine_verdict_i == Accepted);
  // Each rule of the header was judged, and none was broken.
  assign is_kept      = (broken == '0) & (kept == '1) & (~Hardened | (intact == '1));
  // Storage has to stay good, too: an upset of storage takes the release away.
  assign is_good      = is_complete & is_key_right & is_fitting & is_kept & otp_ready_i & otp_usable_i & ~failed_i & ~fault_i;

  // --- the sequence ---
  logic is_size_good;
  logic [18:0] part_words;
  assign is_size_good = (data_i[5:0] == '0) & (data_i != '0) & (data_i <= 64'(Capacity));
  // The number of words of the part that belongs to this state.
  always_comb begin
    unique case (1'b1)
      in_lead:      part_words = 19'(LeadWords);
      in_key:       part_words = 19'(KeyWords);
      in_signature: part_words = 19'(SignatureWords);
      in_padding:   part_words = 19'(PaddingWords);
      in_header:    part_words = 19'(HeaderWords);
      default:      part_words = code_q;
    endcase
  end
  assign is_last = count_q + 1'b1 == part_words;

  // Rules of lead, key, padding and size (§8, steps 1 to 3). The first violation is kept up to the
  // end of the key, or of the header: missing bytes are a reason before a wrong value in others.
  always_comb begin
    refusal = ReasonNone;
    if (in_lead) begin
      if (count_q < 19'd2 && data_i != LeadTag[count_q[0]])                       refusal = ReasonLeadTag;
      else if (count_q == 19'd2 && data_i != {Parameters, Algorithm})             refusal = ReasonAlgorithm;
      else if (count_q > 19'd2 && data_i != '0)                                   refusal = ReasonPadding;
    end
    if (in_key && count_q >= 19'(KeyUsed) && data_i != '0)                        refusal = ReasonPadding;
    if (in_padding && data_i != '0)                                               refusal = ReasonPadding;
    if (in_header && count_q == 19'd3 && !is_size_good)                           refusal = ReasonCodeSize;
  end

  assign decided = found_q != ReasonNone ? found_q : refusal;

  // One part follows the other. A refusal, or a failure of the medium, ends the sequence.
  always_comb begin
    state_d  = state_q;
    count_d  = count_q;
    total_d  = total_q + 23'(passes);
    code_d   = (passes && in_header && count_q == 19'd3 && is_size_good) ? data_i[21:3] : code_q;
    found_d  = passes ? decided : found_q;
    reason_d = reason_q;
    // Each part counts its words from 0.
    if (passes) count_d = is_last ? '0 : count_q + 1'b1;

    unique case (state_q)
      // Nothing is requested of the medium before storage has given its verdict.
      StStorage: begin
        if (otp_ready_i) begin
          state_d  = otp_usable_i ? StLead : StRefused;
          reason_d = otp_usable_i ? ReasonNone : ReasonKey;
        end
        if (otp_failed_i) begin
          state_d  = StRefused;
          reason_d = ReasonDevice;
        end
      end
      StLead:      if (passes && is_last) state_d = StKey;
      StKey:       if (passes && is_last) state_d = StDigest;
      // The digest is there some cycles after its last word.
      StDigest:    if (compared_q == 4'd8) begin
        state_d  = is_key_right ? StSignature : StRefused;
        reason_d = is_key_right ? ReasonNone : ReasonKey;
      end
      StSignature: if (passes && is_last) state_d = (PaddingWords == 0) ? StHeader : StPadding;
      StPadding:   if (passes && is_last) state_d = StHeader;
      StHeader:    if (passes && is_last) state_d = StCode;
      StCode:      if (passes && is_last) state_d = StVerdict;
      StVerdict:   if (engine_done_i) state_d = StJudge;
      // A signature that does not fit is the first reason, because then nothing in the header has a
      // meaning.
      StJudge: begin
        state_d = is_good ? StConfirm : StRefused;
        if (!is_good) reason_d = !is_fitting ? (engine_index_i ? ReasonIndex : ReasonSignature) : reason_of(first);
      end
      // The same evidence is needed again, a cycle later: one upset lasts for one look only.
      StConfirm: begin
        state_d = is_good ? StReleased : StRefused;
        if (!is_good) reason_d = ReasonSignature;
      end
      StReleased:  if (!is_good) state_d = StError;
      StRefused:   state_d = StRefused;
      StError:     state_d = StError;
      default:     state_d = Hardened ? StError : StVerdict;
    endcase

    // A wrong value is reported when the key, or the header, is complete.
    if (passes && is_last && (in_key || in_header) && decided != ReasonNone) begin
      state_d  = StRefused;
      reason_d = decided;
    end
    // Requests past the end of the medium fail as any other request does.
    if (failed_i && !in_refused && !in_storage && !in_released && is_legal) begin
      state_d  = StRefused;
      reason_d = ReasonMedium;
    end
    // A fault that a neighbour detects in itself ends every state, a release too.
    if (fault_i) state_d = StError;
  end

  // Everything begins with a reset, and only with one. The comparison of the key starts as unequal.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q          <= '0;
      total_q          <= '0;
      code_q           <= '0;
      found_q          <= ReasonNone;
      reason_q         <= ReasonNone;
      compared_q       <= '0;
      seen_q           <= '0;
      key_difference_q <= '1;
      key_sameness_q   <= '0;
    end else begin
      count_q          <= count_d;
      total_q          <= total_d;
      code_q           <= code_d;
      found_q          <= found_d;
      reason_q         <= reason_d;
      compared_q       <= compared_d;
      seen_q           <= seen_d;
      // The two registers mean a difference until the comparison begins, so a key that was never
      // compared does not fit.
      key_difference_q <= (in_key & passes & is_last) ? '0 : key_difference_d;
      key_sameness_q   <= (in_key & passes & is_last) ? '1 : key_sameness_d;
    end
  end

  // The lines that may be read: first lead and key, then up to the header's end, then the code. So
  // the signature of a key that does not fit is never requested.
  always_comb begin
    lines_o = '0;
    if (in_lead | in_key | in_digest) lines_o = 19'((LeadWords + KeyWords) / 8);
    if (in_signature | in_padding | in_header) lines_o = 19'(FixedWords / 8);
    if (in_code) lines_o = 19'(FixedWords / 8) + 19'(code_q >> 3);
  end
  // After a decision nothing is requested.
  assign stop_o         = in_refused | error_o;
  assign digest_start_o = in_storage & otp_ready_i;
  assign engine_start_o = in_lead & passes & is_last;

  // A release needs the state and the evidence all the time: an upset of one flip-flop gives
  // neither. An error needs no register of its own, because it is every code that is no state.
  assign release_o = in_released & is_good;
  assign refused_o = in_refused;
  assign reason_o  = reason_q;

  // Nothing is released without a complete image, the right key, a signature that fits, and all
  // rules.
  `ASSERT(OnlyEvidenceReleases_A, release_o |-> is_complete && is_key_right && is_fitting && is_kept)
  // A release was seen as good in two consecutive cycles before it.
  `ASSERT(AReleaseWasConfirmed_A, $rose(release_o) |-> $past(in_confirm && is_good) && $past(in_judge && is_good, 2))
  // Only an error or a reset ends a refusal.
  `ASSERT(ARefusalIsForGood_A, refused_o |=> refused_o || error_o)
  // Only a reset ends an error.
  `ASSERT(AnErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Every refusal tells its reason.
  `ASSERT(ARefusalHasAReason_A, refused_o && $past(!in_refused) |-> reason_o != ReasonNone)
  // The signature is read only after the digest of the key was equal.
  `ASSERT(TheSignatureWaitsForTheKey_A, in_signature && $past(in_digest) |-> is_key_right)
  // A word that is written to the RAM is taken by the engine in the same cycle, so what starts is
  // what was hashed.
  `ASSERT(WhatIsWrittenIsHashed_A, ram_write_o |-> engine_message_o && engine_ready_i)
  // Addresses of the RAM ascend, so no word is overwritten.
  `ASSERT(NothingIsWrittenTwice_A,
          ram_write_o && $past(ram_write_o) |-> ram_word_o == $past(ram_word_o) + 1'b1)
endmodule
