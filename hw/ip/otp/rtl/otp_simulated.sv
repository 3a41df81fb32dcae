// The storage `otp` together with the model of its array, as one block. It serves simulations, and
// as a soft replacement on an FPGA, where it loses its cells with the power and protects nothing.
//
// Registers, outputs, latencies and hardening are those of `otp`; the array adds the cycles that
// `otp_array` documents. Reset begins a load and keeps the cells.

`include "assert.svh"

module otp_simulated
  import otp_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // Variants of `otp` that the tests have to detect, and the cycles of a burn.
  parameter bit Hardened  = 1'b1,
  parameter bit MarksLast = 1'b1,
  parameter bit Guarded   = 1'b1,
  parameter int unsigned BurnCycles = 44
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Registers of `otp`: AXI4-Lite with one access outstanding.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,
  // Outputs and requests to hardware, as `otp_core` documents them.
  output verdict_e    verdict_o,
  output reason_e     reason_o,
  output lifecycle_e  lifecycle_o,
  output logic [6:0]  floor_o,
  output logic [NumSlots-1:0] usable_o,
  input  logic        seq_req_i,
  input  row_t        seq_row_i,
  output logic        seq_valid_o,
  output logic        seq_good_o,
  output logic [31:0] seq_data_o,
  output logic        key_valid_o,
  input  logic        key_ready_i,
  output logic [31:0] key_data_o,
  output logic [2:0]  key_word_o,
  output logic [2:0]  key_number_o,
  output logic [1:0]  key_to_o,
  output logic        key_abort_o,
  output logic        alert_o
);
  logic array_req, array_burn, array_ack;
  row_t array_row;
  cells_t array_in, array_out;

  // Every port of this block is connected to the port of `otp` with the same name.
  otp #(.Hardened(Hardened), .MarksLast(MarksLast), .Guarded(Guarded)) u_otp (
    .*, .array_req_o (array_req), .array_burn_o (array_burn), .array_row_o (array_row), .array_cells_o (array_in),
    .array_ack_i (array_ack), .array_cells_i (array_out)
  );

  otp_array #(.BurnCycles(BurnCycles)) u_array (
    .clk_i, .rst_ni, .req_i (array_req), .burn_i (array_burn), .row_i (array_row), .cells_i (array_in),
    .ack_o (array_ack), .cells_o (array_out)
  );

  // The array answers only while a request is there. In an error the request is withdrawn, and a
  // late answer is ignored.
  `ASSERT(AnAnswerHasARequest_A, array_ack |-> array_req || alert_o)
endmodule
