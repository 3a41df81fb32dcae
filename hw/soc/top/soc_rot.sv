// The root of trust of `soc_machine`: `rot_with_bench` with its ports as bundles.
//
// It requests single words for its core, and bursts for its DMA engine and its stream writer
// (rot_port.sv). This module is wiring: it adds no cycle. Reset is that of the whole system.

module soc_rot
  import hartlock_axi_pkg::*;
#(
  // Cycles of an access, see `rot`.
  parameter int unsigned RomLatency        = 5,
  parameter int unsigned ScratchpadLatency = 5,
  parameter int unsigned RegisterLatency   = 5,
  // Engines for AES and for big numbers.
  parameter bit          HasAes            = 1'b0,
  parameter bit          HasBignum         = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // The host's memory.
  output axi_req_t    mem_axi_o,
  input  axi_resp_t   mem_axi_i,
  // The host's side of the mailbox, and its interrupt to the host.
  input  axil_req_t   mailbox_axil_i,
  output axil_resp_t  mailbox_axil_o,
  output logic        mailbox_irq_o,

  // Constants of a run: secret, noise source, bench.
  input  logic [511:0] secret_i,
  input  logic [31:0] noise_seed_i,
  input  logic        noise_is_stuck_i,
  input  logic        noise_is_absent_i,
  input  logic        has_bench_i,
  // A register of the bench was written in this cycle.
  output logic        bench_write_o,
  output logic [11:0] bench_addr_o,
  output logic [31:0] bench_data_o,
  // The boot sequencer, alerts, and the state of the core, as in `rot`.
  output logic        host_rst_no,
  output logic        host_trap_o,
  output logic [2:0]  boot_status_o,
  output logic [31:0] boot_reason_o,
  output logic        alert_o,
  output logic        asleep_o
);
  // The lifecycle of the machines never changes, so it never causes a wipe.
  rot_with_bench #(
    .RomLatency        (RomLatency),
    .ScratchpadLatency (ScratchpadLatency),
    .RegisterLatency   (RegisterLatency),
    .HasAes            (HasAes),
    .HasBignum         (HasBignum)
  ) u_rot_with_bench (
    .clk_i,
    .rst_ni,
    // Write address.
    .mem_aw_valid            (mem_axi_o.aw_valid),
    .mem_aw_ready            (mem_axi_i.aw_ready),
    .mem_aw_id               (mem_axi_o.aw_id),
    .mem_aw_addr             (mem_axi_o.aw.addr),
    .mem_aw_len              (mem_axi_o.aw.len),
    .mem_aw_size             (mem_axi_o.aw.size),
    .mem_aw_burst            (mem_axi_o.aw.burst),
    // Write data.
    .mem_w_valid             (mem_axi_o.w_valid),
    .mem_w_ready             (mem_axi_i.w_ready),
    .mem_w_data              (mem_axi_o.w_data),
    .mem_w_strb              (mem_axi_o.w_strb),
    .mem_w_last              (mem_axi_o.w_last),
    // Write response.
    .mem_b_valid             (mem_axi_i.b_valid),
    .mem_b_ready             (mem_axi_o.b_ready),
    .mem_b_id                (mem_axi_i.b_id),
    .mem_b_resp              (mem_axi_i.b_resp),
    // Read address.
    .mem_ar_valid            (mem_axi_o.ar_valid),
    .mem_ar_ready            (mem_axi_i.ar_ready),
    .mem_ar_id               (mem_axi_o.ar_id),
    .mem_ar_addr             (mem_axi_o.ar.addr),
    .mem_ar_len              (mem_axi_o.ar.len),
    .mem_ar_size             (mem_axi_o.ar.size),
    .mem_ar_burst            (mem_axi_o.ar.burst),
    // Read data and response.
    .mem_r_valid             (mem_axi_i.r_valid),
    .mem_r_ready             (mem_axi_o.r_ready),
    .mem_r_id                (mem_axi_i.r_id),
    .mem_r_data              (mem_axi_i.r_data),
    .mem_r_resp              (mem_axi_i.r_resp),
    .mem_r_last              (mem_axi_i.r_last),
    // The host's side of the mailbox.
    .mailbox_axil_i          (mailbox_axil_i),
    .mailbox_axil_o          (mailbox_axil_o),
    .mailbox_irq_o,
    .secret_i,
    .noise_seed_i,
    .noise_is_stuck_i,
    .noise_is_absent_i,
    .lifecycle_i             ('0),
    .has_bench_i,
    .bench_write             (bench_write_o),
    .bench_addr              (bench_addr_o),
    .bench_data              (bench_data_o),
    .host_rst_no,
    .host_trap_o,
    .boot_status_o,
    .boot_reason_o,
    .alert_o,
    .asleep_o
  );
endmodule
