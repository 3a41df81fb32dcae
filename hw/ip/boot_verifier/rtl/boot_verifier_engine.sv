// Converts the words of a first stage to those that the engine for XMSS takes (hw/ip/xmss): the key
// by words of 32 bits before the start, the signature as RFC 8391 encodes it, the message
// unchanged.
//
// The image form has an index of eight bytes, RFC 8391 §4.1.8 one of four (spec/first-stage.md
// §2.2). So the upper four bytes of the index have to be zero, and every later byte moves by four.
// One half word is kept for that, and the last half word follows the signature.
//
// Interface: valid and ready on both sides, with no register on the way; a word of the signature or
// of the message takes one cycle, a word of the key two. A word is taken in the cycle in which all
// of it was passed on. Reset begins anew.
//
// Hardening: that the index fits is kept in two bits of opposite sense, and counts past their end
// are an error. Words on their way are not protected.

`include "assert.svh"

module boot_verifier_engine #(
  // Words of 64 bits of the signature in the image.
  parameter int unsigned SignatureWords = 313,
  // 0 builds a block that keeps the index in one bit and detects no wrong count.
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The verification unit: which part the offered word belongs to, and whether it is the last.
  input  logic        key_i,
  input  logic        signature_i,
  input  logic        message_i,
  input  logic        last_i,
  output logic        ready_o,
  input  logic [63:0] data_i,
  output logic        done_o,
  // The signature was refused because of its index.
  output logic        index_o,
  output logic [63:0] verdict_o,

  // The engine: words of the key with their number, the start, streams of signature and message,
  // and the result.
  output logic        key_valid_o,
  output logic [3:0]  key_index_o,
  output logic [31:0] key_o,
  input  logic        key_ready_i,
  output logic        start_o,
  output logic        sig_valid_o,
  input  logic        sig_ready_i,
  output logic [63:0] sig_data_o,
  output logic        sig_last_o,
  output logic [3:0]  sig_bytes_o,
  output logic        msg_valid_o,
  input  logic        msg_ready_i,
  output logic [63:0] msg_data_o,
  output logic        msg_last_o,
  output logic [3:0]  msg_bytes_o,
  input  logic        engine_done_i,
  input  logic        engine_index_i,
  input  logic [63:0] engine_verdict_i,
  // A count of this block was upset.
  output logic        error_o
);
  localparam int unsigned CountBits = $clog2(SignatureWords + 1);

  // Words of 32 bits of the key that were given. 16 is the whole key.
  logic [4:0]           key_d, key_q;
  logic                 start_d, start_q;
  // Words of the signature that were taken, and the half of the last one that waits for the next
  // word.
  logic [CountBits-1:0] count_d, count_q;
  logic [31:0]          kept_d, kept_q;
  // The last half word was given.
  logic                 tail_d, tail_q;
  // The index does not fit, or it does. An upset of one of the two bits gives no verdict.
  logic                 wrong_d, wrong_q;
  logic                 fits_d, fits_q;
  // The half of the word of the key that is offered now.
  logic                 takes_first, takes, has_tail;
  logic [31:0]          half;

  // --- the key: two words of 32 bits for each word ---
  assign key_valid_o = key_i & ~key_q[4];
  assign key_index_o = key_q[3:0];
  assign half        = key_q[0] ? data_i[63:32] : data_i[31:0];
  assign key_o       = {<<8{half}};

  // --- the signature: from the second word on, each word gives one that begins in the word before ---
  // The first word gives nothing yet: its upper half waits for the lower half of the next word.
  assign takes_first = signature_i & (count_q == '0) & start_q;
  assign takes       = sig_valid_o & sig_ready_i & ~has_tail;
  assign has_tail    = (count_q == CountBits'(SignatureWords)) & ~tail_q;
  assign sig_valid_o = (signature_i & (count_q != '0) & start_q) | has_tail;
  assign sig_data_o  = {has_tail ? 32'd0 : data_i[31:0], kept_q};
  assign sig_last_o  = has_tail;
  assign sig_bytes_o = has_tail ? 4'd4 : 4'd8;

  // --- the message waits for the end of the signature ---
  // Header and code are the message as they are.
  assign msg_valid_o = message_i & tail_q;
  assign msg_data_o  = data_i;
  assign msg_last_o  = last_i;
  assign msg_bytes_o = 4'd8;

  // A word is taken in the cycle in which all of it was passed on.
  assign ready_o = (key_valid_o & key_ready_i & key_q[0]) | takes_first | (signature_i & takes) | (msg_valid_o & msg_ready_i);

  // One part follows the other. Counts go up to their ends and stay there.
  always_comb begin
    key_d   = key_q + 5'(key_valid_o & key_ready_i);
    start_d = start_q | start_o;
    count_d = count_q + CountBits'(takes_first | takes);
    kept_d  = (takes_first | takes) ? data_i[63:32] : kept_q;
    tail_d  = tail_q | (has_tail & sig_ready_i);
    wrong_d = wrong_q | (takes_first & (data_i[31:0] != '0));
    fits_d  = fits_q | (takes_first & (data_i[31:0] == '0));
  end
  // The engine starts once it has the whole key.
  assign start_o = (key_q == 5'd16) & ~start_q;

  // Everything begins with a reset, and only with one.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      key_q   <= '0;
      start_q <= 1'b0;
      count_q <= '0;
      kept_q  <= '0;
      tail_q  <= 1'b0;
      wrong_q <= 1'b0;
      fits_q  <= 1'b0;
    end else begin
      key_q   <= key_d;
      start_q <= start_d;
      count_q <= count_d;
      kept_q  <= kept_d;
      tail_q  <= tail_d;
      wrong_q <= wrong_d;
      fits_q  <= fits_d;
    end
  end

  // An index that does not fit, or a signature without its end, has no verdict.
  assign done_o    = engine_done_i & start_q;
  assign index_o   = engine_index_i | wrong_q;
  assign verdict_o = engine_verdict_i & {64{~wrong_q & (~Hardened | fits_q) & tail_q}};

  // Counts beyond their ends can only come from an upset.
  assign error_o = Hardened & ((count_q > CountBits'(SignatureWords)) | (key_q > 5'd16));

  // An offered word of the key does not change until it is taken.
  `ASSERT(KeyWordsStay_A, key_valid_o && !key_ready_i |=> key_valid_o && $stable({key_index_o, key_o}))
  // The engine is never started with a part of the key.
  `ASSERT(TheKeyComesBeforeTheStart_A, start_o && $past(!start_q) |-> key_q == 5'd16)
  // The two bits of the index never agree.
  `ASSERT(AnIndexIsNotBoth_A, wrong_q |=> !fits_q)
  // The start is a strobe of one cycle.
  `ASSERT(OneStart_A, start_o |=> !start_o)
  // No word of the message is offered before the whole signature was taken.
  `ASSERT(TheMessageFollowsTheSignature_A, msg_valid_o |-> !has_tail)
  // An offered word of the signature does not change until it is taken.
  `ASSERT(SignatureWordsStay_A, sig_valid_o && !sig_ready_i |=> sig_valid_o && $stable(sig_data_o))
endmodule
