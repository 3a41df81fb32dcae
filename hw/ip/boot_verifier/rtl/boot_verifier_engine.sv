// Words of a first stage as the engine for XMSS takes them (hw/ip/xmss): the key by words of 32 bits before the start, the
// signature as RFC 8391 encodes it, the message as it is.
//
// The form has an index of eight bytes, RFC 8391 of four (spec/first-stage.md §2.2): the upper four have to be zero, and
// every later byte moves by four. One word is kept for that, and the last half of it follows the signature.

`include "assert.svh"

module boot_verifier_engine #(
  parameter int unsigned SignatureWords = 313,
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The verification unit.
  input  logic        key_i,
  input  logic        signature_i,
  input  logic        message_i,
  input  logic        last_i,
  output logic        ready_o,
  input  logic [63:0] data_i,
  output logic        done_o,
  output logic        index_o,      // refused for its index
  output logic [63:0] verdict_o,

  // The engine.
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
  output logic        error_o       // an upset of this block
);
  localparam int unsigned CountBits = $clog2(SignatureWords + 1);

  logic [4:0]           key_d, key_q;      // words of 32 bits of the key that were given; 16 is all
  logic                 start_d, start_q;
  logic [CountBits-1:0] count_d, count_q;  // words of the signature that were taken
  logic [31:0]          kept_d, kept_q;
  logic                 tail_d, tail_q;    // the last half word was given
  logic                 wrong_d, wrong_q;  // the index does not fit
  logic                 fits_d, fits_q;    // it does: an upset of one of both gives no verdict
  logic                 takes_first, takes, has_tail;
  logic [31:0]          half;              // of the word of the key

  // --- the key: two words for each ---
  assign key_valid_o = key_i & ~key_q[4];
  assign key_index_o = key_q[3:0];
  assign half        = key_q[0] ? data_i[63:32] : data_i[31:0];
  assign key_o       = {<<8{half}};

  // --- the signature: from the second word on, each gives one that begins in the word before ---
  // The first word gives nothing yet: its upper half waits for the lower half of the next one.
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

  // A word is taken in the cycle in which all of it has gone on.
  assign ready_o = (key_valid_o & key_ready_i & key_q[0]) | takes_first | (signature_i & takes) | (msg_valid_o & msg_ready_i);

  // One part after the other.
  always_comb begin
    // Counts go up to their ends and stay there.
    key_d   = key_q + 5'(key_valid_o & key_ready_i);
    start_d = start_q | start_o;
    count_d = count_q + CountBits'(takes_first | takes);
    kept_d  = (takes_first | takes) ? data_i[63:32] : kept_q;
    tail_d  = tail_q | (has_tail & sig_ready_i);
    wrong_d = wrong_q | (takes_first & (data_i[31:0] != '0));
    fits_d  = fits_q | (takes_first & (data_i[31:0] == '0));
  end
  // The engine begins once it has the whole key.
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

  // The verdict of an index that does not fit is none.
  assign done_o    = engine_done_i & start_q;
  assign index_o   = engine_index_i | wrong_q;
  assign verdict_o = engine_verdict_i & {64{~wrong_q & (~Hardened | fits_q) & tail_q}};

  // Counts that do not exist.
  assign error_o = Hardened & ((count_q > CountBits'(SignatureWords)) | (key_q > 5'd16));

  `ASSERT(KeyWordsStay_A, key_valid_o && !key_ready_i |=> key_valid_o && $stable({key_index_o, key_o}))
  `ASSERT(TheKeyComesBeforeTheStart_A, start_o && $past(!start_q) |-> key_q == 5'd16)
  `ASSERT(AnIndexIsNotBoth_A, wrong_q |=> !fits_q)
  `ASSERT(OneStart_A, start_o |=> !start_o)
  `ASSERT(TheMessageFollowsTheSignature_A, msg_valid_o |-> !has_tail)
  `ASSERT(SignatureWordsStay_A, sig_valid_o && !sig_ready_i |=> sig_valid_o && $stable(sig_data_o))
endmodule
