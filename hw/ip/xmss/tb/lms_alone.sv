// `lms_core` with hash cores of its own: what tests and netlists of this family alone are made of.

`include "assert.svh"

module lms_alone
  import xmss_pkg::*;
#(
  parameter int unsigned Lanes          = 1,
  parameter int unsigned RoundsPerCycle = 1,
  parameter bit          Overlaps       = RoundsPerCycle > 1,
  parameter bit          Hardened       = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        abort_i,
  output logic        alert_o,
  output logic        idle_o,
  input  logic        key_valid_i,
  input  logic [3:0]  key_index_i,
  input  logic [31:0] key_i,
  input  logic        start_i,
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
  hash_request_t  request [Lanes];
  hash_response_t response [Lanes];

  lms_core #(
    .Lanes         (Lanes),
    .RoundsPerCycle(RoundsPerCycle),
    .Overlaps      (Overlaps),
    .Hardened      (Hardened)
  ) u_core (
    .clk_i, .rst_ni, .abort_i, .alert_o, .idle_o,
    .hash_o(request), .hash_i(response),
    .key_valid_i, .key_index_i, .key_i,
    .start_i, .expected_i, .key_type_i, .two_passes_i,
    .sig_valid_i, .sig_ready_o, .sig_data_i, .sig_last_i, .sig_bytes_i,
    .msg_valid_i, .msg_ready_o, .msg_data_i, .msg_last_i, .msg_bytes_i,
    .done_o, .error_o, .verdict_o, .root_index_i, .root_o
  );

  for (genvar lane = 0; lane < Lanes; lane++) begin : g_bank
    xmss_hash #(
      .RoundsPerCycle(RoundsPerCycle),
      .Overlaps      (Overlaps),
      .Hardened      (Hardened)
    ) u_hash (
      .clk_i, .rst_ni,
      .wipe_i       (request[lane].wipe),
      .error_o      (response[lane].error),
      .cmd_valid_i  (request[lane].cmd_valid),
      .cmd_ready_o  (response[lane].cmd_ready),
      .cmd_i        (request[lane].cmd),
      .lane_valid_i (request[lane].lane_valid),
      .lane_ready_o (response[lane].lane_ready),
      .lane_i       (request[lane].lane),
      .load_valid_i (request[lane].load_valid),
      .load_next_o  (response[lane].load_next),
      .load_last_o  (response[lane].load_last),
      .load_row_o   (response[lane].load_row),
      .load_i       (request[lane].load),
      .save_valid_o (response[lane].save_valid),
      .save_ready_i (request[lane].save_ready),
      .save_last_o  (response[lane].save_last),
      .save_row_o   (response[lane].save_row),
      .save_halves_o(response[lane].save_halves),
      .save_o       (response[lane].save)
    );
  end

  logic [Lanes-1:0] fails;
  for (genvar lane = 0; lane < Lanes; lane++) begin : g_fail
    assign fails[lane] = response[lane].error;
  end
  `ASSERT(AHashCoreThatFailsStopsAll_A, fails != '0 && Hardened |=> alert_o)
endmodule
