// The machine `svu-1`: a verification unit with a small host, one medium, and the bench's registers
// (hw/soc/README.md).
//
// The medium is simulated at the only port (verif/machines/sim/svu). This module is wiring. Reset
// is that of the chip; the host has a reset of its own inside of it.

module svu_machine
  import hartlock_axi_pkg::*;
#(
  // Hash cores of the engine and their rounds in a cycle; 1 has the unit compute each root twice.
  parameter int unsigned Lanes          = 4,
  parameter int unsigned RoundsPerCycle = 2,
  parameter bit          TwoPasses      = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The medium. Read address: it stays until it is taken.
  output logic        medium_ar_valid,
  input  logic        medium_ar_ready,
  output logic [4:0]  medium_ar_id,
  output logic [31:0] medium_ar_addr,
  output logic [7:0]  medium_ar_len,
  output logic [2:0]  medium_ar_size,
  // Read data and response.
  input  logic        medium_r_valid,
  output logic        medium_r_ready,
  input  logic [4:0]  medium_r_id,
  input  logic [63:0] medium_r_data,
  input  logic [1:0]  medium_r_resp,
  input  logic        medium_r_last,

  // The bench: a register was written in this cycle.
  output logic        bench_write,
  output logic [11:0] bench_addr,
  output logic [31:0] bench_data,

  // The boot sequencer, and alerts of all blocks.
  output logic        host_rst_no,
  output logic [2:0]  boot_status_o,
  output logic [31:0] boot_reason_o,
  output logic        alert_o
);
  axi_req_t    medium_req, host_medium_req, host_ram_req;
  axi_resp_t   medium_resp, host_medium_resp, host_ram_resp;
  axil_req_t  engine_req, otp_req;
  axil_resp_t engine_resp, otp_resp;
  logic       host_alert;

  // Verification unit and host share the medium, the engine and the storage.
  svu_unit #(
    .Lanes          (Lanes),
    .RoundsPerCycle (RoundsPerCycle),
    .TwoPasses      (TwoPasses),
    .MediumBase     (svu_pkg::MediumBase)
  ) u_unit (
    .clk_i,
    .rst_ni,
    // The medium, for both.
    .medium_axi_o       (medium_req),
    .medium_axi_i      (medium_resp),
    .host_medium_axi_i  (host_medium_req),
    .host_medium_axi_o (host_medium_resp),
    // Reads of the first stage, and registers, for the host.
    .host_ram_axi_i     (host_ram_req),
    .host_ram_axi_o    (host_ram_resp),
    .host_engine_axil_i  (engine_req),
    .host_engine_axil_o (engine_resp),
    .host_otp_axil_i     (otp_req),
    .host_otp_axil_o    (otp_resp),
    // Reset of the host, and what causes it.
    .fault_i            (host_alert),
    .host_rst_no,
    .boot_status_o,
    .boot_reason_o,
    .alert_o
  );

  svu_host u_host (
    .clk_i,
    .rst_ni,
    .host_rst_ni   (host_rst_no),
    // The first stage and the medium.
    .ram_axi_o     (host_ram_req),
    .ram_axi_i    (host_ram_resp),
    .medium_axi_o  (host_medium_req),
    .medium_axi_i (host_medium_resp),
    // Registers.
    .engine_axil_o  (engine_req),
    .engine_axil_i (engine_resp),
    .otp_axil_o     (otp_req),
    .otp_axil_i    (otp_resp),
    .bench_write_o (bench_write),
    .bench_addr_o  (bench_addr),
    .bench_data_o  (bench_data),
    .alert_o       (host_alert)
  );

  // The medium is read only, so its port has no channels for writes.
  assign medium_ar_valid = medium_req.ar_valid;
  assign medium_ar_id    = medium_req.ar_id;
  assign medium_ar_addr  = medium_req.ar.addr;
  assign medium_ar_len   = medium_req.ar.len;
  assign medium_ar_size  = medium_req.ar.size;
  assign medium_r_ready  = medium_req.r_ready;
  assign medium_resp     = '{
    aw_ready: 1'b0,
    w_ready:  1'b0,
    b_valid:  1'b0,
    b_id:     '0,
    b_resp:   '0,
    ar_ready: medium_ar_ready,
    r_valid:  medium_r_valid,
    r_id:     medium_r_id,
    r_data:   medium_r_data,
    r_resp:   medium_r_resp,
    r_last:   medium_r_last
  };
endmodule
