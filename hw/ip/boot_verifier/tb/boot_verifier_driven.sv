// For campaigns of upsets: what drives the engine for the verification unit, between a model of the unit and one of the engine.
//
// A stream brings what was signed, then what the unit gives: key, signature and message. The engine shows its verdict
// for exactly what was signed, and zero for anything else.

`include "assert.svh"

module boot_verifier_driven
  import boot_verifier_pkg::*;
  import hartlock_axi_pkg::*;
#(
  parameter int unsigned SignatureWords = 5,
  parameter int unsigned MessageWords   = 8,   // at most
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        str_valid_i,
  output logic        str_ready_o,
  input  logic [63:0] str_data_i,
  input  logic        str_last_i,
  input  logic [3:0]  str_bytes_i,
  input  logic [3:0]  signed_i,     // words of the message that was signed
  input  logic [3:0]  given_i,      // of the one that the unit gives
  input  logic [63:0] verdict_i,    // what the engine shows for what was signed
  output logic        accepted_o,   // the unit has given everything and sees the constant
  output logic        done_o,
  output logic        error_o
);
  localparam logic [63:0] Accepted  = 64'h5a17_c0de_96b3_0f71;
  localparam logic [31:0] Code      = 32'd1;
  localparam int unsigned MessageAt = KeyWords + SignatureWords;
  localparam int unsigned Words     = MessageAt + MessageWords;
  localparam int unsigned At        = $clog2(2 * Words);
  localparam logic [4:0]  Computes  = 5'd20;

  logic        unused_bytes;
  assign unused_bytes = ^str_bytes_i;

  // --- what the stream brought: what was signed, then what is given ---
  logic [63:0]   words_q [2 * Words];
  logic [At-1:0] loads_q;
  logic          loaded_q;
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
  always_ff @(posedge clk_i) if (str_valid_i && str_ready_o) words_q[loads_q] <= str_data_i;

  // --- the unit: one word after the other, the signature some cycles after the key, for the digest ---
  logic [At-1:0] given_q;
  logic [3:0]    pause_q;
  logic          offers, key, signature, message, last, ready, done, is_all;
  logic [63:0]   verdict;
  assign is_all    = given_q == At'(MessageAt) + At'(given_i);
  assign offers    = loaded_q & ~is_all & (pause_q == '0);
  assign key       = offers & (given_q < At'(KeyWords));
  assign message   = offers & (given_q >= At'(MessageAt));
  assign signature = offers & ~key & ~message;
  assign last      = given_q + 1'b1 == At'(MessageAt) + At'(given_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      given_q <= '0;
      pause_q <= '0;
    end else begin
      if (offers && ready) begin
        given_q <= given_q + 1'b1;
        if (given_q == At'(KeyWords - 1)) pause_q <= 4'd9;
      end
      if (pause_q != '0) pause_q <= pause_q - 1'b1;
    end
  end
  assign done_o     = done;
  assign accepted_o = done & is_all & (verdict == Accepted);

  // --- the engine ---
  logic        aw_valid, aw_ready, w_valid, w_ready, b_valid_q, b_ready, ar_valid, ar_ready, r_valid_q, r_ready;
  logic [11:0] aw_addr, ar_addr;
  logic [31:0] w_data, r_data_q, r_data;
  logic [1:0]  b_resp_q;
  logic        str_valid, str_ready, str_last;
  logic [63:0] str_data;
  logic [3:0]  str_bytes;

  axil_req_t  req;
  axil_resp_t resp;
  assign aw_valid = req.aw_valid;
  assign aw_addr  = req.aw_addr;
  assign w_valid  = req.w_valid;
  assign w_data   = req.w_data;
  assign b_ready  = req.b_ready;
  assign ar_valid = req.ar_valid;
  assign ar_addr  = req.ar_addr;
  assign r_ready  = req.r_ready;
  logic unused_strobes;
  assign unused_strobes = ^req.w_strb;
  assign resp     = '{
    aw_ready: aw_ready, w_ready: w_ready, b_valid: b_valid_q, b_resp: b_resp_q,
    ar_ready: ar_ready, r_valid: r_valid_q, r_data: r_data_q, r_resp: 2'b00
  };

  logic        stream_q, is_expected_q, is_type_q, started_q, fits_q, has_signature_q;
  logic [3:0]  wakes_q;                  // it clears itself after a reset
  logic [31:0] key_q [2 * KeyWords];
  logic [4:0]  computes_q;               // from the end of the message on
  logic [At-1:0] taken_q;                // of the part
  logic        writes, is_idle, is_done, is_key, is_key_right, is_next, is_end;
  logic [63:0] next, shown;

  assign aw_ready = w_valid & ~b_valid_q;
  assign w_ready  = aw_valid & ~b_valid_q;
  assign writes   = aw_valid & w_valid & ~b_valid_q;
  assign ar_ready = ~r_valid_q;
  assign is_idle  = (wakes_q == '1) & ~started_q;
  assign is_done  = computes_q == Computes;
  assign is_key   = (aw_addr >= 12'h040) & (aw_addr < 12'h080);
  // The index of the form has four bytes more than that of the standard.
  assign next     = has_signature_q ? words_q[At'(MessageAt) + taken_q] :
                    {is_end ? 32'd0 : words_q[At'(KeyWords) + taken_q + 1'b1][31:0], words_q[At'(KeyWords) + taken_q][63:32]};
  assign is_end   = has_signature_q ? taken_q + 1'b1 == At'(signed_i) : taken_q == At'(SignatureWords - 1);
  assign is_next  = (str_data == next) & (str_last == is_end) & (str_bytes == ((is_end & ~has_signature_q) ? 4'd4 : 4'd8));
  // After the end of the message it takes nothing.
  assign str_ready = started_q & stream_q & (computes_q == '0);
  assign shown    = (is_done && fits_q && is_expected_q && is_type_q && is_key_right) ? verdict_i : '0;

  always_comb begin
    is_key_right = 1'b1;
    for (int unsigned word = 0; word < 2 * KeyWords; word++) begin
      is_key_right &= key_q[word] == (word[0] ? words_q[word / 2][63:32] : words_q[word / 2][31:0]);
    end
    unique case (ar_addr)
      12'h010: r_data = {29'd0, is_done, 1'b0, is_idle};
      12'h030: r_data = shown[31:0];
      12'h034: r_data = shown[63:32];
      default: r_data = '0;
    endcase
  end

  // Registers: configuration and key while it is idle.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {stream_q, is_expected_q, is_type_q, started_q, fits_q, has_signature_q} <= '0;
      {b_valid_q, b_resp_q, r_valid_q, r_data_q} <= '0;
      wakes_q    <= '0;
      computes_q <= '0;
      taken_q    <= '0;
      for (int unsigned word = 0; word < 2 * KeyWords; word++) key_q[word] <= '0;
    end else begin
      if (wakes_q != '1) wakes_q <= wakes_q + 1'b1;
      b_valid_q <= writes | (b_valid_q & ~b_ready);
      if (writes) begin
        b_resp_q <= (is_key & ~is_idle) ? 2'b10 : 2'b00;
        if (is_idle) begin
          if (is_key) key_q[aw_addr[5:2]] <= w_data;
          if (aw_addr == 12'h008) stream_q      <= w_data[0];
          if (aw_addr == 12'h020) is_expected_q <= w_data == Code;
          if (aw_addr == 12'h024) is_type_q     <= w_data == Code;
        end
        if (aw_addr == 12'h00c && w_data[0] && is_idle) {started_q, fits_q} <= '1;
        // An abort forgets what came.
        if (aw_addr == 12'h00c && w_data[1]) begin
          {started_q, fits_q, has_signature_q} <= '0;
          computes_q <= '0;
          taken_q    <= '0;
        end
      end
      r_valid_q <= (ar_valid & ar_ready) | (r_valid_q & ~r_ready);
      if (ar_valid && ar_ready) r_data_q <= r_data;
      if (str_valid && str_ready) begin
        if (!is_next) fits_q <= 1'b0;
        taken_q <= str_last ? '0 : taken_q + 1'b1;
        if (str_last) has_signature_q <= 1'b1;
        if (str_last && has_signature_q) computes_q <= 5'd1;
      end
      if (computes_q != '0 && !is_done) computes_q <= computes_q + 1'b1;
    end
  end

  // --- what is tested ---
  logic        key_valid, key_ready, start, sig_valid, sig_ready, sig_last, msg_valid, msg_ready, msg_last;
  logic        engine_done, engine_index, unused_index, unused_quiet, engine_error, driver_error;
  logic [3:0]  key_index, sig_bytes, msg_bytes;
  logic [31:0] key_word;
  logic [63:0] sig_data, msg_data, engine_verdict;

  boot_verifier_driver #(.Code(Code), .Hardened(Hardened)) u_access (
    .clk_i, .rst_ni,
    .key_valid_i (key_valid),
    .key_ready_o (key_ready),
    .key_index_i (key_index),
    .key_i       (key_word),
    .start_i     (start),
    .sig_valid_i (sig_valid),
    .sig_ready_o (sig_ready),
    .sig_data_i  (sig_data),
    .sig_last_i  (sig_last),
    .sig_bytes_i (sig_bytes),
    .msg_valid_i (msg_valid),
    .msg_ready_o (msg_ready),
    .msg_data_i  (msg_data),
    .msg_last_i  (msg_last),
    .msg_bytes_i (msg_bytes),
    .done_o      (engine_done),
    .index_o     (engine_index),
    .verdict_o   (engine_verdict),
    .axil_o      (req),
    .axil_i      (resp),
    .str_valid_o (str_valid),
    .str_ready_i (str_ready),
    .str_data_o  (str_data),
    .str_last_o  (str_last),
    .str_bytes_o (str_bytes),
    .quiet_o     (unused_quiet),
    .error_o     (driver_error)
  );

  boot_verifier_engine #(.SignatureWords(SignatureWords), .Hardened(Hardened)) u_engine (
    .clk_i, .rst_ni,
    .key_i            (key),
    .signature_i      (signature),
    .message_i        (message),
    .last_i           (last),
    .ready_o          (ready),
    .data_i           (words_q[At'(Words) + given_q]),
    .done_o           (done),
    .index_o          (unused_index),
    .verdict_o        (verdict),
    .key_valid_o      (key_valid),
    .key_index_o      (key_index),
    .key_o            (key_word),
    .key_ready_i      (key_ready),
    .start_o          (start),
    .sig_valid_o      (sig_valid),
    .sig_ready_i      (sig_ready),
    .sig_data_o       (sig_data),
    .sig_last_o       (sig_last),
    .sig_bytes_o      (sig_bytes),
    .msg_valid_o      (msg_valid),
    .msg_ready_i      (msg_ready),
    .msg_data_o       (msg_data),
    .msg_last_o       (msg_last),
    .msg_bytes_o      (msg_bytes),
    .engine_done_i    (engine_done),
    .engine_index_i   (engine_index),
    .engine_verdict_i (engine_verdict),
    .error_o          (engine_error)
  );
  assign error_o = engine_error | driver_error;

  `ASSERT(WordsFollowTheStart_A, str_valid |-> started_q)
endmodule
