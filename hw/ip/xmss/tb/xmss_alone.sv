// For tests: XMSS alone on its hash cores, without a bus.

module xmss_alone
  import xmss_pkg::*;
#(
  parameter int unsigned Lanes          = 1,
  parameter int unsigned RoundsPerCycle = 1,
  parameter bit          Overlaps       = RoundsPerCycle > 1,
  parameter bit          HasXmssMt      = 1'b0,
  parameter bit          HasShort       = 1'b0,
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // As of `xmss_core`.
  input  logic        abort_i,
  output logic        alert_o,
  output logic        idle_o,
  input  logic        key_valid_i,
  input  logic [3:0]  key_index_i,
  input  logic [31:0] key_i,
  input  logic        start_i,
  input  logic        is_mt_i,
  input  logic [31:0] expected_i,
  input  logic [31:0] key_type_i,
  input  logic        two_passes_i,
  input  logic        sig_valid_i,
  output logic        sig_ready_o,
  input  logic [63:0] sig_data_i,
  input  logic        sig_last_i,
  input  logic [3:0]  sig_bytes_i,
  input  logic        msg_valid_i,
  output logic        msg_ready_o,
  input  logic [63:0] msg_data_i,
  input  logic        msg_last_i,
  input  logic [3:0]  msg_bytes_i,
  output logic        done_o,
  output error_e      error_o,
  output logic [63:0] verdict_o,
  input  logic [2:0]  root_index_i,
  output logic [31:0] root_o
);
  logic           unused_changes;  // there is one family
  hash_request_t  request [1][Lanes];
  hash_response_t response [1][Lanes];

  xmss_core #(
    .Lanes    (Lanes),
    .Overlaps (Overlaps),
    .HasXmssMt(HasXmssMt),
    .HasShort (HasShort),
    .Hardened (Hardened)
  ) u_core (
    .clk_i, .rst_ni, .abort_i, .alert_o, .idle_o,
    .key_valid_i, .key_index_i, .key_i,
    .start_i, .is_mt_i, .expected_i, .key_type_i, .two_passes_i,
    .sig_valid_i, .sig_ready_o, .sig_data_i, .sig_last_i, .sig_bytes_i,
    .msg_valid_i, .msg_ready_o, .msg_data_i, .msg_last_i, .msg_bytes_i,
    .done_o, .error_o, .verdict_o, .root_index_i, .root_o,
    .hash_o(request[0]),
    .hash_i(response[0])
  );

  xmss_bank #(
    .Lanes         (Lanes),
    .RoundsPerCycle(RoundsPerCycle),
    .Overlaps      (Overlaps),
    .Hardened      (Hardened)
  ) u_bank (
    .clk_i, .rst_ni,
    .owner_i   (1'b1),
    .busy_i    (~idle_o),
    .changes_o (unused_changes),
    .request_i (request),
    .response_o(response)
  );
endmodule
