// The verification unit of a first stage: `boot_verifier_core` with its reader of the medium and
// its digest (spec/first-stage.md, ../doc/README.md).
//
// The engine for signatures, one-time-programmable storage, on-chip RAM and the sequencer of the
// host are outside (hw/soc/top). The unit starts by itself after reset, verifies one image, and
// keeps its decision until the next reset. A word of the image takes one cycle if nobody waits, and
// the digest of the key and the engine add theirs.
//
// Hardening: any two states differ in three bits, and a release needs evidence of every check in
// registers of its own, in each cycle. An upset of control or evidence ends in a refusal or an
// error. Words on their way have no parity.

`include "assert.svh"

module boot_verifier
  import boot_verifier_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // Address of the image in the medium, a multiple of 64.
  parameter logic [31:0]  Base           = 32'h8800_0000,
  // The algorithm of signatures and its parameter set, as the image names them (image format §2.2).
  parameter logic [31:0]  Algorithm      = 32'd17,
  parameter logic [31:0]  Parameters     = 32'd1,
  // Words of 64 bits of the signature, and of the public key in its field; zeros follow the key.
  parameter int unsigned  SignatureWords = 313,
  parameter int unsigned  KeyUsed        = 8,
  // Name of the system on a chip that the header has to name.
  parameter logic [255:0] Soc            = SocName,
  // Bytes of code that fit into the RAM, a multiple of 64.
  parameter int unsigned  Capacity       = 65536,
  // The value that the engine shows when a signature fits, and at no other time.
  parameter logic [63:0]  Accepted       = 64'h5a17_c0de_96b3_0f71,
  // 0 builds a unit that continues from an illegal state, to show that the test detects it.
  parameter bit           Hardened       = 1'b1,
  localparam int unsigned RamBits        = $clog2(Capacity / 8 + HeaderWords)
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // One-time-programmable storage: its verdict, lifecycle and floor, and words of key and board. A
  // request has its answer in the next cycle.
  input  logic               otp_ready_i,
  input  logic               otp_failed_i,
  input  logic               otp_usable_i,
  input  logic [2:0]         otp_lifecycle_i,
  input  logic [6:0]         otp_floor_i,
  output logic               otp_req_o,
  output logic               otp_is_board_o,
  output logic [2:0]         otp_word_o,
  input  logic               otp_valid_i,
  input  logic               otp_good_i,
  input  logic [31:0]        otp_data_i,

  // The medium, AXI4 with 64 bits of data. Read address: a request stays until it is taken.
  output axi_req_t           axi_o,
  input  axi_resp_t          axi_i,

  // The engine. It takes words of key, signature and message when it is ready for them, and the
  // verdict is valid with `engine_done_i`.
  output logic               engine_start_o,
  output logic               engine_key_o,
  output logic               engine_signature_o,
  output logic               engine_message_o,
  output logic               engine_last_o,
  input  logic               engine_ready_i,
  input  logic               engine_done_i,
  input  logic               engine_index_i,
  input  logic [63:0]        engine_verdict_i,

  // Words for engine and RAM. Both take a word in the same cycle.
  output logic [63:0]        data_o,
  output logic               ram_write_o,
  output logic [RamBits-1:0] ram_word_o,

  // A block outside has failed. Then the unit is in its error until reset.
  input  logic               fault_i,
  // The decision: release or refusal, with the number of spec/errors.toml as the reason.
  output logic               release_o,
  output logic               refused_o,
  output logic [15:0]        reason_o,
  // No data of the medium are due, so its bus may be given to the host.
  output logic               quiet_o,
  // The unit was upset. This lasts until reset.
  output logic               error_o
);
  logic [18:0] lines;
  logic        stop, valid, ready, failed, digest_start, digest_valid, digest_ready, digest_done, digest_error, core_error;
  logic [63:0] data;
  logic [2:0]  digest_index;
  logic [31:0] digest_word;
  reason_e     reason;

  // Each part of the unit takes its words from the reader, in order.
  logic        ar_valid, r_ready;
  logic [31:0] ar_addr;
  logic [7:0]  ar_len;
  boot_verifier_reader #(.Base(Base)) u_reader (
    .clk_i, .rst_ni,
    .lines_i  (lines),
    .stop_i   (stop),
    .valid_o  (valid),
    .ready_i  (ready),
    .data_o   (data),
    .failed_o (failed),
    .quiet_o,
    .ar_valid_o (ar_valid), .ar_ready_i (axi_i.ar_ready), .ar_addr_o (ar_addr), .ar_len_o (ar_len),
    .r_valid_i (axi_i.r_valid), .r_ready_o (r_ready), .r_data_i (axi_i.r_data), .r_resp_i (axi_i.r_resp),
    .r_last_i (axi_i.r_last)
  );

  // Bursts have id 0, and nothing is written.
  assign axi_o = '{
    aw_valid: 1'b0, aw_id: '0, aw: burst_at('0, '0),
    w_valid:  1'b0, w_data: '0, w_strb: '0, w_last: 1'b0,
    b_ready:  1'b0,
    ar_valid: ar_valid, ar_id: '0, ar: burst_at(ar_addr, ar_len),
    r_ready:  r_ready
  };
  logic unused_resp;
  assign unused_resp = ^{axi_i.aw_ready, axi_i.w_ready, axi_i.b_valid, axi_i.b_id, axi_i.b_resp, axi_i.r_id};

  boot_verifier_digest #(.Hardened(Hardened)) u_digest (
    .clk_i, .rst_ni,
    .start_i (digest_start),
    .valid_i (digest_valid),
    .ready_o (digest_ready),
    .data_i  (data),
    .valid_o (digest_done),
    .index_i (digest_index),
    .word_o  (digest_word),
    .error_o (digest_error)
  );

  // An error of the digest counts as a fault of the unit.
  boot_verifier_core #(
    .Algorithm      (Algorithm),
    .Parameters     (Parameters),
    .SignatureWords (SignatureWords),
    .KeyUsed        (KeyUsed),
    .Soc            (Soc),
    .Capacity       (Capacity),
    .Accepted       (Accepted),
    .Hardened       (Hardened)
  ) u_core (
    .clk_i, .rst_ni,
    .otp_ready_i, .otp_failed_i, .otp_usable_i, .otp_lifecycle_i, .otp_floor_i,
    .otp_req_o, .otp_is_board_o, .otp_word_o, .otp_valid_i, .otp_good_i, .otp_data_i,
    .lines_o        (lines),
    .stop_o         (stop),
    .valid_i        (valid),
    .ready_o        (ready),
    .data_i         (data),
    .failed_i       (failed),
    .digest_start_o (digest_start),
    .digest_valid_o (digest_valid),
    .digest_ready_i (digest_ready),
    .digest_done_i  (digest_done),
    .digest_index_o (digest_index),
    .digest_word_i  (digest_word),
    .engine_start_o, .engine_key_o, .engine_signature_o, .engine_message_o, .engine_last_o,
    .engine_ready_i, .engine_done_i, .engine_index_i, .engine_verdict_i,
    .data_o,
    .ram_write_o, .ram_word_o,
    .fault_i        (fault_i | digest_error),
    .release_o, .refused_o,
    .reason_o       (reason),
    .error_o        (core_error)
  );

  assign reason_o = reason;
  assign error_o  = core_error | digest_error;

  // After an upset nothing is released, whatever the cause was.
  `ASSERT(AnErrorReleasesNothing_A, error_o |=> !release_o)
endmodule
