// The host of `soc_machine`: Rocket with its ports as bundles. The configuration that is compiled
// with it decides how many harts it has.
//
// The widths of the ports are Rocket's. Ids and addresses that are narrower than a bundle get
// leading zeros. This module is wiring: it adds no cycle, and its reset is active high, as that of
// Rocket.

module soc_host
  import hartlock_axi_pkg::*;
(
  input  logic  clk_i,
  input  logic  reset_i,
  // Memory, and devices.
  output axi_req_t  mem_axi_o,
  input  axi_resp_t mem_axi_i,
  output axi_req_t  mmio_axi_o,
  input  axi_resp_t mmio_axi_i,
  // Other masters of the memory, coherent with the caches.
  input  axi_req_t  front_axi_i,
  output axi_resp_t front_axi_o,
  // Source 1 of Rocket's interrupt controller.
  input  logic  irq_i,

  // The debug module, of which only clocks and resets are connected.
  input  logic  debug_clock_i,
  input  logic  debug_reset_i,
  input  logic  dmi_clock_i,
  input  logic  dmi_reset_i,
  output logic  debug_active_o,
  input  logic  debug_active_ack_i
);
  // Ids of other masters come back unchanged, with leading zeros.
  logic [2:0] unused_b_id, unused_r_id;

  // Rocket's own ids have a leading zero, where `axi_mux` puts the number of the master. Devices
  // are in the lower half of the address space.
  assign {mem_axi_o.aw_id[MasterIdBits], mem_axi_o.ar_id[MasterIdBits]}   = '0;
  assign {mmio_axi_o.aw_id[MasterIdBits], mmio_axi_o.ar_id[MasterIdBits]} = '0;
  assign {mmio_axi_o.aw.addr[31], mmio_axi_o.ar.addr[31]}                 = '0;

  // Locks, caching, protection and quality of service of other masters are zero: plain, cacheable accesses. The debug
  // module gets no request, so that no debugger reaches the host before its release.
  ExampleRocketSystem u_rocket (
    .clock (clk_i),
    .reset (reset_i),
    // Memory.
    .mem_axi4_0_aw_ready      (mem_axi_i.aw_ready),
    .mem_axi4_0_aw_valid      (mem_axi_o.aw_valid),
    .mem_axi4_0_aw_bits_id    (mem_axi_o.aw_id[MasterIdBits-1:0]),
    .mem_axi4_0_aw_bits_addr  (mem_axi_o.aw.addr),
    .mem_axi4_0_aw_bits_len   (mem_axi_o.aw.len),
    .mem_axi4_0_aw_bits_size  (mem_axi_o.aw.size),
    .mem_axi4_0_aw_bits_burst (mem_axi_o.aw.burst),
    .mem_axi4_0_w_ready       (mem_axi_i.w_ready),
    .mem_axi4_0_w_valid       (mem_axi_o.w_valid),
    .mem_axi4_0_w_bits_data   (mem_axi_o.w_data),
    .mem_axi4_0_w_bits_strb   (mem_axi_o.w_strb),
    .mem_axi4_0_w_bits_last   (mem_axi_o.w_last),
    .mem_axi4_0_b_ready       (mem_axi_o.b_ready),
    .mem_axi4_0_b_valid       (mem_axi_i.b_valid),
    .mem_axi4_0_b_bits_id     (mem_axi_i.b_id[MasterIdBits-1:0]),
    .mem_axi4_0_b_bits_resp   (mem_axi_i.b_resp),
    .mem_axi4_0_ar_ready      (mem_axi_i.ar_ready),
    .mem_axi4_0_ar_valid      (mem_axi_o.ar_valid),
    .mem_axi4_0_ar_bits_id    (mem_axi_o.ar_id[MasterIdBits-1:0]),
    .mem_axi4_0_ar_bits_addr  (mem_axi_o.ar.addr),
    .mem_axi4_0_ar_bits_len   (mem_axi_o.ar.len),
    .mem_axi4_0_ar_bits_size  (mem_axi_o.ar.size),
    .mem_axi4_0_ar_bits_burst (mem_axi_o.ar.burst),
    .mem_axi4_0_r_ready       (mem_axi_o.r_ready),
    .mem_axi4_0_r_valid       (mem_axi_i.r_valid),
    .mem_axi4_0_r_bits_id     (mem_axi_i.r_id[MasterIdBits-1:0]),
    .mem_axi4_0_r_bits_data   (mem_axi_i.r_data),
    .mem_axi4_0_r_bits_resp   (mem_axi_i.r_resp),
    .mem_axi4_0_r_bits_last   (mem_axi_i.r_last),
    // Devices.
    .mmio_axi4_0_aw_ready      (mmio_axi_i.aw_ready),
    .mmio_axi4_0_aw_valid      (mmio_axi_o.aw_valid),
    .mmio_axi4_0_aw_bits_id    (mmio_axi_o.aw_id[MasterIdBits-1:0]),
    .mmio_axi4_0_aw_bits_addr  (mmio_axi_o.aw.addr[30:0]),
    .mmio_axi4_0_aw_bits_len   (mmio_axi_o.aw.len),
    .mmio_axi4_0_aw_bits_size  (mmio_axi_o.aw.size),
    .mmio_axi4_0_aw_bits_burst (mmio_axi_o.aw.burst),
    .mmio_axi4_0_w_ready       (mmio_axi_i.w_ready),
    .mmio_axi4_0_w_valid       (mmio_axi_o.w_valid),
    .mmio_axi4_0_w_bits_data   (mmio_axi_o.w_data),
    .mmio_axi4_0_w_bits_strb   (mmio_axi_o.w_strb),
    .mmio_axi4_0_w_bits_last   (mmio_axi_o.w_last),
    .mmio_axi4_0_b_ready       (mmio_axi_o.b_ready),
    .mmio_axi4_0_b_valid       (mmio_axi_i.b_valid),
    .mmio_axi4_0_b_bits_id     (mmio_axi_i.b_id[MasterIdBits-1:0]),
    .mmio_axi4_0_b_bits_resp   (mmio_axi_i.b_resp),
    .mmio_axi4_0_ar_ready      (mmio_axi_i.ar_ready),
    .mmio_axi4_0_ar_valid      (mmio_axi_o.ar_valid),
    .mmio_axi4_0_ar_bits_id    (mmio_axi_o.ar_id[MasterIdBits-1:0]),
    .mmio_axi4_0_ar_bits_addr  (mmio_axi_o.ar.addr[30:0]),
    .mmio_axi4_0_ar_bits_len   (mmio_axi_o.ar.len),
    .mmio_axi4_0_ar_bits_size  (mmio_axi_o.ar.size),
    .mmio_axi4_0_ar_bits_burst (mmio_axi_o.ar.burst),
    .mmio_axi4_0_r_ready       (mmio_axi_o.r_ready),
    .mmio_axi4_0_r_valid       (mmio_axi_i.r_valid),
    .mmio_axi4_0_r_bits_id     (mmio_axi_i.r_id[MasterIdBits-1:0]),
    .mmio_axi4_0_r_bits_data   (mmio_axi_i.r_data),
    .mmio_axi4_0_r_bits_resp   (mmio_axi_i.r_resp),
    .mmio_axi4_0_r_bits_last   (mmio_axi_i.r_last),
    // Other masters.
    .l2_frontend_bus_axi4_0_aw_ready      (front_axi_o.aw_ready),
    .l2_frontend_bus_axi4_0_aw_valid      (front_axi_i.aw_valid),
    .l2_frontend_bus_axi4_0_aw_bits_id    ({3'd0, front_axi_i.aw_id}),
    .l2_frontend_bus_axi4_0_aw_bits_addr  (front_axi_i.aw.addr),
    .l2_frontend_bus_axi4_0_aw_bits_len   (front_axi_i.aw.len),
    .l2_frontend_bus_axi4_0_aw_bits_size  (front_axi_i.aw.size),
    .l2_frontend_bus_axi4_0_aw_bits_burst (front_axi_i.aw.burst),
    .l2_frontend_bus_axi4_0_aw_bits_lock  ('0),
    .l2_frontend_bus_axi4_0_aw_bits_cache ('0),
    .l2_frontend_bus_axi4_0_aw_bits_prot  ('0),
    .l2_frontend_bus_axi4_0_aw_bits_qos   ('0),
    .l2_frontend_bus_axi4_0_w_ready       (front_axi_o.w_ready),
    .l2_frontend_bus_axi4_0_w_valid       (front_axi_i.w_valid),
    .l2_frontend_bus_axi4_0_w_bits_data   (front_axi_i.w_data),
    .l2_frontend_bus_axi4_0_w_bits_strb   (front_axi_i.w_strb),
    .l2_frontend_bus_axi4_0_w_bits_last   (front_axi_i.w_last),
    .l2_frontend_bus_axi4_0_b_ready       (front_axi_i.b_ready),
    .l2_frontend_bus_axi4_0_b_valid       (front_axi_o.b_valid),
    .l2_frontend_bus_axi4_0_b_bits_id     ({unused_b_id, front_axi_o.b_id}),
    .l2_frontend_bus_axi4_0_b_bits_resp   (front_axi_o.b_resp),
    .l2_frontend_bus_axi4_0_ar_ready      (front_axi_o.ar_ready),
    .l2_frontend_bus_axi4_0_ar_valid      (front_axi_i.ar_valid),
    .l2_frontend_bus_axi4_0_ar_bits_id    ({3'd0, front_axi_i.ar_id}),
    .l2_frontend_bus_axi4_0_ar_bits_addr  (front_axi_i.ar.addr),
    .l2_frontend_bus_axi4_0_ar_bits_len   (front_axi_i.ar.len),
    .l2_frontend_bus_axi4_0_ar_bits_size  (front_axi_i.ar.size),
    .l2_frontend_bus_axi4_0_ar_bits_burst (front_axi_i.ar.burst),
    .l2_frontend_bus_axi4_0_ar_bits_lock  ('0),
    .l2_frontend_bus_axi4_0_ar_bits_cache ('0),
    .l2_frontend_bus_axi4_0_ar_bits_prot  ('0),
    .l2_frontend_bus_axi4_0_ar_bits_qos   ('0),
    .l2_frontend_bus_axi4_0_r_ready       (front_axi_i.r_ready),
    .l2_frontend_bus_axi4_0_r_valid       (front_axi_o.r_valid),
    .l2_frontend_bus_axi4_0_r_bits_id     ({unused_r_id, front_axi_o.r_id}),
    .l2_frontend_bus_axi4_0_r_bits_data   (front_axi_o.r_data),
    .l2_frontend_bus_axi4_0_r_bits_resp   (front_axi_o.r_resp),
    .l2_frontend_bus_axi4_0_r_bits_last   (front_axi_o.r_last),
    // Debug.
    .debug_clock                        (debug_clock_i),
    .debug_reset                        (debug_reset_i),
    .debug_clockeddmi_dmi_req_valid     ('0),
    .debug_clockeddmi_dmi_req_bits_addr ('0),
    .debug_clockeddmi_dmi_req_bits_data ('0),
    .debug_clockeddmi_dmi_req_bits_op   ('0),
    .debug_clockeddmi_dmi_resp_ready    ('0),
    .debug_clockeddmi_dmiClock          (dmi_clock_i),
    .debug_clockeddmi_dmiReset          (dmi_reset_i),
    .debug_dmactive                     (debug_active_o),
    .debug_dmactiveAck                  (debug_active_ack_i),
    // One of eight interrupt sources is used.
    .interrupts                         ({7'd0, irq_i})
  );
endmodule
