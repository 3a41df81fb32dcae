// For campaigns of upsets: the verification unit with models of medium, one-time-programmable storage, engine and RAM
// around it.
//
// A stream brings the digest of the key (four words), the board (four) and the image; after its last word storage is
// ready. The engine accepts the key, signature and message of the image, and nothing else.

`include "assert.svh"

module boot_verifier_alone
  import boot_verifier_pkg::*;
  import hartlock_axi_pkg::*;
#(
  parameter int unsigned SignatureWords = 21,
  parameter int unsigned CodeWords      = 8,
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        str_valid_i,
  output logic        str_ready_o,
  input  logic [63:0] str_data_i,
  input  logic        str_last_i,
  input  logic [3:0]  str_bytes_i,
  input  logic [6:0]  floor_i,
  input  logic [2:0]  lifecycle_i,
  input  logic [63:0] verdict_i,    // what the engine shows in the end
  output logic        release_o,
  output logic        refused_o,
  output logic [15:0] reason_o,
  output logic        is_changed_o, // the RAM has other words than the image
  output logic        error_o
);
  localparam int unsigned KeyAt     = LeadWords;
  localparam int unsigned Padded    = (SignatureWords + 7) / 8 * 8;
  localparam int unsigned MessageAt = LeadWords + KeyWords + Padded;
  localparam int unsigned Message   = HeaderWords + CodeWords;
  localparam int unsigned Words     = MessageAt + Message;
  localparam int unsigned Device    = 8;  // words of storage
  localparam int unsigned At        = $clog2(Device + Words);
  localparam logic [4:0]  Computes  = 5'd20;

  logic        unused_bytes;
  assign unused_bytes = ^str_bytes_i;

  // --- what the stream brought ---
  logic [63:0] words_q [Device + Words];
  logic [7:0]  loads_q;
  logic        loaded_q;
  assign str_ready_o = ~loaded_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loads_q  <= '0;
      loaded_q <= 1'b0;
    end else if (str_valid_i && str_ready_o) begin
      loads_q  <= loads_q + 1'b1;
      loaded_q <= str_last_i;
    end
  end
  always_ff @(posedge clk_i) if (str_valid_i && str_ready_o) words_q[At'(loads_q)] <= str_data_i;

  // --- storage: an answer in the next cycle ---
  logic       otp_req, otp_is_board, answers_q, is_board_q;
  logic [2:0] otp_word, word_q;
  logic [63:0] stored;
  assign stored = words_q[At'({is_board_q, word_q[2:1]})];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answers_q  <= 1'b0;
      is_board_q <= 1'b0;
      word_q     <= '0;
    end else begin
      answers_q  <= otp_req;
      is_board_q <= otp_is_board;
      word_q     <= otp_word;
    end
  end

  // --- medium: lines in their order, a beat a cycle ---
  logic        ar_valid, r_ready;
  logic [31:0] ar_addr, first_q, second_q;
  logic [7:0]  ar_len;
  logic [1:0]  lines_q;
  logic [2:0]  beat_q;
  logic        asked, ends;
  logic [31:0] at;
  assign asked = ar_valid & (lines_q != 2'd2);
  assign ends = (lines_q != '0) & r_ready & (beat_q == 3'd7);
  assign at   = (first_q >> 3) + 32'(beat_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lines_q  <= '0;
      beat_q   <= '0;
      first_q  <= '0;
      second_q <= '0;
    end else begin
      lines_q <= lines_q + 2'(asked) - 2'(ends);
      if (lines_q != '0 && r_ready) beat_q <= beat_q + 1'b1;
      if (ends) first_q <= second_q;
      if (asked) begin
        if (lines_q - 2'(ends) == '0) first_q  <= ar_addr;
        else                          second_q <= ar_addr;
      end
    end
  end

  // --- engine: each word has to be the next one of its part ---
  logic        start, key, signature, message, last, done;
  logic [63:0] data;
  logic [7:0]  next_q;
  logic        fits_q, started_q;
  logic [4:0]  computes_q;  // from the last word on
  logic        is_due;
  logic [7:0]  next;
  assign next   = (next_q == 8'(LeadWords + KeyWords + SignatureWords)) ? 8'(MessageAt) : next_q;
  assign is_due = key       ? next < 8'(LeadWords + KeyWords) :
                  signature ? next >= 8'(LeadWords + KeyWords) && next < 8'(MessageAt) : next >= 8'(MessageAt);
  assign done   = computes_q == Computes;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_q     <= '0;
      fits_q     <= 1'b0;
      started_q  <= 1'b0;
      computes_q <= '0;
    end else begin
      if (start) begin
        next_q    <= 8'(KeyAt);
        fits_q    <= 1'b1;
        started_q <= 1'b1;
      end else if (key | signature | message) begin
        next_q <= next + 1'b1;
        if (!is_due || !started_q || next >= 8'(Words) || data != words_q[At'(next + 8'(Device))] ||
            (message && last != (next == 8'(Words - 1)))) fits_q <= 1'b0;
        if (message && last) computes_q <= 5'd1;
      end
      if (computes_q != '0 && !done) computes_q <= computes_q + 1'b1;
    end
  end

  // --- RAM ---
  logic [$clog2(8*16 + HeaderWords)-1:0] ram_word;
  logic        ram_write;
  logic [63:0] ram_q [Message];
  always_ff @(posedge clk_i) if (ram_write && 32'(ram_word) < Message) ram_q[ram_word[5:0]] <= data;
  always_comb begin
    is_changed_o = 1'b0;
    for (int unsigned word = 0; word < Message; word++) begin
      is_changed_o |= ram_q[word] != words_q[word + Device + MessageAt];
    end
  end

  logic unused_quiet;
  axi_req_t  req;
  axi_resp_t resp;
  assign ar_valid = req.ar_valid;
  assign ar_addr  = req.ar.addr;
  assign ar_len   = req.ar.len;
  assign r_ready  = req.r_ready;
  logic unused_req;
  assign unused_req = ^req;
  always_comb begin
    resp          = '0;
    resp.ar_ready = lines_q != 2'd2;
    resp.r_valid  = lines_q != '0;
    resp.r_data   = (at - 32'h1100_0000 < 32'(Words)) ? words_q[At'(at) + At'(Device)] : '0;
    resp.r_resp   = (at - 32'h1100_0000 < 32'(Words)) ? 2'b00 : 2'b10;
    resp.r_last   = beat_q == 3'd7;
  end

  boot_verifier #(
    .SignatureWords(SignatureWords),
    .Capacity      (1024),
    .Hardened      (Hardened)
  ) u_unit (
    .clk_i, .rst_ni,
    .otp_ready_i       (loaded_q),
    .otp_failed_i      (1'b0),
    .otp_usable_i      (loaded_q),
    .otp_lifecycle_i   (lifecycle_i),
    .otp_floor_i       (floor_i),
    .otp_req_o         (otp_req),
    .otp_is_board_o    (otp_is_board),
    .otp_word_o        (otp_word),
    .otp_valid_i       (answers_q),
    .otp_good_i        (1'b1),
    .otp_data_i        (word_q[0] ? stored[63:32] : stored[31:0]),
    .axi_o             (req),
    .axi_i             (resp),
    .engine_start_o    (start),
    .engine_key_o      (key),
    .engine_signature_o(signature),
    .engine_message_o  (message),
    .engine_last_o     (last),
    .engine_ready_i    (1'b1),
    .engine_done_i     (done),
    .engine_index_i    (1'b0),
    .engine_verdict_i  ((done && fits_q && next_q == 8'(Words)) ? verdict_i : '0),
    .data_o            (data),
    .ram_write_o       (ram_write),
    .ram_word_o        (ram_word),
    .fault_i           (1'b0),
    .release_o, .refused_o, .reason_o,
    .quiet_o           (unused_quiet),
    .error_o
  );

  `ASSERT(ALineHasEightWords_A, ar_valid |-> ar_len == 8'd7)
endmodule
