// The machine `soc-1` or `soc-4`: host and root of trust on one memory, with the bench in C++
// (verif/machines/sim/soc).
//
// The host is Rocket, with one or four harts according to the compiled configuration. It starts
// when the boot sequencer of the root of trust releases it. `soc_fabric` connects both. The ports
// here have the names of Rocket's own ports, so that its bench can be used; this module turns them
// into bundles.
//
// `reset` is that of the whole system, active high. The host has a reset of its own inside of it.

module soc_machine
  import hartlock_axi_pkg::*;
#(
  // Cycles of an access of the root of trust, see `rot`.
  parameter int unsigned RomLatency        = 5,
  parameter int unsigned ScratchpadLatency = 5,
  parameter int unsigned RegisterLatency   = 5,
  // Engines for AES and for big numbers.
  parameter bit          HasAes            = 1'b0,
  parameter bit          HasBignum         = 1'b0
) (
  input  logic        clock,
  input  logic        reset,
  // Memory. Ids have a leading bit, which is 1 for the root of trust.
  // Write address.
  input  logic        mem_axi4_0_aw_ready,
  output logic        mem_axi4_0_aw_valid,
  output logic [4:0]  mem_axi4_0_aw_bits_id,
  output logic [31:0] mem_axi4_0_aw_bits_addr,
  output logic [7:0]  mem_axi4_0_aw_bits_len,
  output logic [2:0]  mem_axi4_0_aw_bits_size,
  output logic [1:0]  mem_axi4_0_aw_bits_burst,
  // Write data.
  input  logic        mem_axi4_0_w_ready,
  output logic        mem_axi4_0_w_valid,
  output logic [63:0] mem_axi4_0_w_bits_data,
  output logic [7:0]  mem_axi4_0_w_bits_strb,
  output logic        mem_axi4_0_w_bits_last,
  // Write response.
  output logic        mem_axi4_0_b_ready,
  input  logic        mem_axi4_0_b_valid,
  input  logic [4:0]  mem_axi4_0_b_bits_id,
  input  logic [1:0]  mem_axi4_0_b_bits_resp,
  // Read address.
  input  logic        mem_axi4_0_ar_ready,
  output logic        mem_axi4_0_ar_valid,
  output logic [4:0]  mem_axi4_0_ar_bits_id,
  output logic [31:0] mem_axi4_0_ar_bits_addr,
  output logic [7:0]  mem_axi4_0_ar_bits_len,
  output logic [2:0]  mem_axi4_0_ar_bits_size,
  output logic [1:0]  mem_axi4_0_ar_bits_burst,
  // Read data and response.
  output logic        mem_axi4_0_r_ready,
  input  logic        mem_axi4_0_r_valid,
  input  logic [4:0]  mem_axi4_0_r_bits_id,
  input  logic [63:0] mem_axi4_0_r_bits_data,
  input  logic [1:0]  mem_axi4_0_r_bits_resp,
  input  logic        mem_axi4_0_r_bits_last,

  // The host: devices of the bench.
  // Write address.
  input  logic        mmio_axi4_0_aw_ready,
  output logic        mmio_axi4_0_aw_valid,
  output logic [3:0]  mmio_axi4_0_aw_bits_id,
  output logic [30:0] mmio_axi4_0_aw_bits_addr,
  output logic [7:0]  mmio_axi4_0_aw_bits_len,
  output logic [2:0]  mmio_axi4_0_aw_bits_size,
  output logic [1:0]  mmio_axi4_0_aw_bits_burst,
  // Write data.
  input  logic        mmio_axi4_0_w_ready,
  output logic        mmio_axi4_0_w_valid,
  output logic [63:0] mmio_axi4_0_w_bits_data,
  output logic [7:0]  mmio_axi4_0_w_bits_strb,
  output logic        mmio_axi4_0_w_bits_last,
  // Write response.
  output logic        mmio_axi4_0_b_ready,
  input  logic        mmio_axi4_0_b_valid,
  input  logic [3:0]  mmio_axi4_0_b_bits_id,
  input  logic [1:0]  mmio_axi4_0_b_bits_resp,
  // Read address.
  input  logic        mmio_axi4_0_ar_ready,
  output logic        mmio_axi4_0_ar_valid,
  output logic [3:0]  mmio_axi4_0_ar_bits_id,
  output logic [30:0] mmio_axi4_0_ar_bits_addr,
  output logic [7:0]  mmio_axi4_0_ar_bits_len,
  output logic [2:0]  mmio_axi4_0_ar_bits_size,
  output logic [1:0]  mmio_axi4_0_ar_bits_burst,
  // Read data and response.
  output logic        mmio_axi4_0_r_ready,
  input  logic        mmio_axi4_0_r_valid,
  input  logic [3:0]  mmio_axi4_0_r_bits_id,
  input  logic [63:0] mmio_axi4_0_r_bits_data,
  input  logic [1:0]  mmio_axi4_0_r_bits_resp,
  input  logic        mmio_axi4_0_r_bits_last,
  // The storage of the bench, a master of the host's memory.
  // Write address.
  output logic        l2_frontend_bus_axi4_0_aw_ready,
  input  logic        l2_frontend_bus_axi4_0_aw_valid,
  input  logic [3:0]  l2_frontend_bus_axi4_0_aw_bits_id,
  input  logic [31:0] l2_frontend_bus_axi4_0_aw_bits_addr,
  input  logic [7:0]  l2_frontend_bus_axi4_0_aw_bits_len,
  input  logic [2:0]  l2_frontend_bus_axi4_0_aw_bits_size,
  input  logic [1:0]  l2_frontend_bus_axi4_0_aw_bits_burst,
  // Write data.
  output logic        l2_frontend_bus_axi4_0_w_ready,
  input  logic        l2_frontend_bus_axi4_0_w_valid,
  input  logic [63:0] l2_frontend_bus_axi4_0_w_bits_data,
  input  logic [7:0]  l2_frontend_bus_axi4_0_w_bits_strb,
  input  logic        l2_frontend_bus_axi4_0_w_bits_last,
  // Write response.
  input  logic        l2_frontend_bus_axi4_0_b_ready,
  output logic        l2_frontend_bus_axi4_0_b_valid,
  output logic [3:0]  l2_frontend_bus_axi4_0_b_bits_id,
  output logic [1:0]  l2_frontend_bus_axi4_0_b_bits_resp,
  // Read address.
  output logic        l2_frontend_bus_axi4_0_ar_ready,
  input  logic        l2_frontend_bus_axi4_0_ar_valid,
  input  logic [3:0]  l2_frontend_bus_axi4_0_ar_bits_id,
  input  logic [31:0] l2_frontend_bus_axi4_0_ar_bits_addr,
  input  logic [7:0]  l2_frontend_bus_axi4_0_ar_bits_len,
  input  logic [2:0]  l2_frontend_bus_axi4_0_ar_bits_size,
  input  logic [1:0]  l2_frontend_bus_axi4_0_ar_bits_burst,
  // Read data and response.
  input  logic        l2_frontend_bus_axi4_0_r_ready,
  output logic        l2_frontend_bus_axi4_0_r_valid,
  output logic [3:0]  l2_frontend_bus_axi4_0_r_bits_id,
  output logic [63:0] l2_frontend_bus_axi4_0_r_bits_data,
  output logic [1:0]  l2_frontend_bus_axi4_0_r_bits_resp,
  output logic        l2_frontend_bus_axi4_0_r_bits_last,

  // The host's debug module, of which only clocks and resets are used.
  input  logic        debug_clock,
  input  logic        debug_reset,
  input  logic        debug_clockeddmi_dmiClock,
  input  logic        debug_clockeddmi_dmiReset,
  output logic        debug_dmactive,
  input  logic        debug_dmactiveAck,

  // The root of trust: constants of a run, the bench, the boot sequencer, alerts.
  input  logic [511:0] secret_i,
  input  logic [31:0] noise_seed_i,
  input  logic        noise_is_stuck_i,
  input  logic        noise_is_absent_i,
  input  logic        has_bench_i,
  output logic        bench_write,
  output logic [11:0] bench_addr,
  output logic [31:0] bench_data,
  output logic        host_rst_no,
  output logic        host_trap_o,
  output logic [2:0]  boot_status_o,
  output logic [31:0] boot_reason_o,
  output logic        alert_o,
  output logic        asleep_o
);
  logic rst_n;
  assign rst_n = ~reset;

  // Bundles of all ports.
  axi_req_t    rot_req, host_req, storage_req, mmio_req, mem_req, front_req, devices_req;
  axi_resp_t   rot_resp, host_resp, storage_resp, mmio_resp, mem_resp, front_resp, devices_resp;
  axil_req_t  mailbox_req;
  axil_resp_t mailbox_resp;
  logic       mailbox_irq;

  soc_rot #(
    .RomLatency        (RomLatency),
    .ScratchpadLatency (ScratchpadLatency),
    .RegisterLatency   (RegisterLatency),
    .HasAes            (HasAes),
    .HasBignum         (HasBignum)
  ) u_rot (
    .clk_i          (clock),
    .rst_ni         (rst_n),
    .mem_axi_o      (rot_req),
    .mem_axi_i     (rot_resp),
    .mailbox_axil_i  (mailbox_req),
    .mailbox_axil_o (mailbox_resp),
    .mailbox_irq_o  (mailbox_irq),
    .secret_i,
    .noise_seed_i,
    .noise_is_stuck_i,
    .noise_is_absent_i,
    .has_bench_i,
    .bench_write_o  (bench_write),
    .bench_addr_o   (bench_addr),
    .bench_data_o   (bench_data),
    .host_rst_no,
    .host_trap_o,
    .boot_status_o,
    .boot_reason_o,
    .alert_o,
    .asleep_o
  );

  // The system reset resets the sequencer, and the host stays in reset until the sequencer releases
  // it.
  soc_host u_host (
    .clk_i              (clock),
    .reset_i            (reset | ~host_rst_no),
    .mem_axi_o          (host_req),
    .mem_axi_i         (host_resp),
    .mmio_axi_o         (mmio_req),
    .mmio_axi_i        (mmio_resp),
    .front_axi_i        (front_req),
    .front_axi_o       (front_resp),
    .irq_i              (mailbox_irq),
    .debug_clock_i      (debug_clock),
    .debug_reset_i      (debug_reset),
    .dmi_clock_i        (debug_clockeddmi_dmiClock),
    .dmi_reset_i        (debug_clockeddmi_dmiReset),
    .debug_active_o     (debug_dmactive),
    .debug_active_ack_i (debug_dmactiveAck)
  );

  // The fabric is reset with the system and not with the host: a release must not disturb open
  // accesses of the root of trust.
  soc_fabric u_fabric (
    .clk_i          (clock),
    .rst_ni         (rst_n),
    .is_released_i  (host_rst_no),
    .rot_axi_i      (rot_req),
    .rot_axi_o     (rot_resp),
    .host_axi_i     (host_req),
    .host_axi_o    (host_resp),
    .storage_axi_i  (storage_req),
    .storage_axi_o (storage_resp),
    .mmio_axi_i     (mmio_req),
    .mmio_axi_o    (mmio_resp),
    .mem_axi_o      (mem_req),
    .mem_axi_i     (mem_resp),
    .front_axi_o    (front_req),
    .front_axi_i   (front_resp),
    .devices_axi_o  (devices_req),
    .devices_axi_i (devices_resp),
    .mailbox_axil_o  (mailbox_req),
    .mailbox_axil_i (mailbox_resp)
  );

  // Memory, from a bundle to the signals of the bench.
  assign mem_axi4_0_aw_valid      = mem_req.aw_valid;
  assign mem_axi4_0_aw_bits_id    = mem_req.aw_id;
  assign {mem_axi4_0_aw_bits_addr, mem_axi4_0_aw_bits_len,
          mem_axi4_0_aw_bits_size, mem_axi4_0_aw_bits_burst} = mem_req.aw;
  assign mem_axi4_0_ar_valid      = mem_req.ar_valid;
  assign mem_axi4_0_ar_bits_id    = mem_req.ar_id;
  assign {mem_axi4_0_ar_bits_addr, mem_axi4_0_ar_bits_len,
          mem_axi4_0_ar_bits_size, mem_axi4_0_ar_bits_burst} = mem_req.ar;
  assign mem_axi4_0_w_valid      = mem_req.w_valid;
  assign {mem_axi4_0_w_bits_data, mem_axi4_0_w_bits_strb, mem_axi4_0_w_bits_last} =
         {mem_req.w_data, mem_req.w_strb, mem_req.w_last};
  assign mem_axi4_0_b_ready      = mem_req.b_ready;
  assign mem_axi4_0_r_ready      = mem_req.r_ready;
  assign mem_resp = '{
    aw_ready: mem_axi4_0_aw_ready,
    w_ready:  mem_axi4_0_w_ready,
    b_valid:  mem_axi4_0_b_valid,
    b_id:     mem_axi4_0_b_bits_id,
    b_resp:   mem_axi4_0_b_bits_resp,
    ar_ready: mem_axi4_0_ar_ready,
    r_valid:  mem_axi4_0_r_valid,
    r_id:     mem_axi4_0_r_bits_id,
    r_data:   mem_axi4_0_r_bits_data,
    r_resp:   mem_axi4_0_r_bits_resp,
    r_last:   mem_axi4_0_r_bits_last
  };

  // Devices of the bench. Rocket has no address bit 31 there.
  assign mmio_axi4_0_aw_valid      = devices_req.aw_valid;
  assign mmio_axi4_0_aw_bits_id    = devices_req.aw_id[MasterIdBits-1:0];
  assign {mmio_axi4_0_aw_bits_addr, mmio_axi4_0_aw_bits_len,
          mmio_axi4_0_aw_bits_size, mmio_axi4_0_aw_bits_burst} = devices_req.aw[$bits(payload_t)-2:0];
  assign mmio_axi4_0_ar_valid      = devices_req.ar_valid;
  assign mmio_axi4_0_ar_bits_id    = devices_req.ar_id[MasterIdBits-1:0];
  assign {mmio_axi4_0_ar_bits_addr, mmio_axi4_0_ar_bits_len,
          mmio_axi4_0_ar_bits_size, mmio_axi4_0_ar_bits_burst} = devices_req.ar[$bits(payload_t)-2:0];
  assign mmio_axi4_0_w_valid      = devices_req.w_valid;
  assign {mmio_axi4_0_w_bits_data, mmio_axi4_0_w_bits_strb, mmio_axi4_0_w_bits_last} =
         {devices_req.w_data, devices_req.w_strb, devices_req.w_last};
  assign mmio_axi4_0_b_ready      = devices_req.b_ready;
  assign mmio_axi4_0_r_ready      = devices_req.r_ready;
  assign devices_resp = '{
    aw_ready: mmio_axi4_0_aw_ready,
    w_ready:  mmio_axi4_0_w_ready,
    b_valid:  mmio_axi4_0_b_valid,
    b_id:     IdBits'(mmio_axi4_0_b_bits_id),
    b_resp:   mmio_axi4_0_b_bits_resp,
    ar_ready: mmio_axi4_0_ar_ready,
    r_valid:  mmio_axi4_0_r_valid,
    r_id:     IdBits'(mmio_axi4_0_r_bits_id),
    r_data:   mmio_axi4_0_r_bits_data,
    r_resp:   mmio_axi4_0_r_bits_resp,
    r_last:   mmio_axi4_0_r_bits_last
  };

  // The storage of the bench, from its signals to a bundle.
  assign storage_req = '{
    aw_valid: l2_frontend_bus_axi4_0_aw_valid,
    aw_id:    IdBits'(l2_frontend_bus_axi4_0_aw_bits_id),
    aw:       {l2_frontend_bus_axi4_0_aw_bits_addr, l2_frontend_bus_axi4_0_aw_bits_len,
                l2_frontend_bus_axi4_0_aw_bits_size, l2_frontend_bus_axi4_0_aw_bits_burst},
    w_valid:  l2_frontend_bus_axi4_0_w_valid,
    w_data:   l2_frontend_bus_axi4_0_w_bits_data,
    w_strb:   l2_frontend_bus_axi4_0_w_bits_strb,
    w_last:   l2_frontend_bus_axi4_0_w_bits_last,
    b_ready:  l2_frontend_bus_axi4_0_b_ready,
    ar_valid: l2_frontend_bus_axi4_0_ar_valid,
    ar_id:    IdBits'(l2_frontend_bus_axi4_0_ar_bits_id),
    ar:       {l2_frontend_bus_axi4_0_ar_bits_addr, l2_frontend_bus_axi4_0_ar_bits_len,
                l2_frontend_bus_axi4_0_ar_bits_size, l2_frontend_bus_axi4_0_ar_bits_burst},
    r_ready:  l2_frontend_bus_axi4_0_r_ready
  };
  assign l2_frontend_bus_axi4_0_aw_ready     = storage_resp.aw_ready;
  assign l2_frontend_bus_axi4_0_w_ready      = storage_resp.w_ready;
  assign l2_frontend_bus_axi4_0_b_valid      = storage_resp.b_valid;
  assign l2_frontend_bus_axi4_0_b_bits_id    = storage_resp.b_id[MasterIdBits-1:0];
  assign l2_frontend_bus_axi4_0_b_bits_resp  = storage_resp.b_resp;
  assign l2_frontend_bus_axi4_0_ar_ready     = storage_resp.ar_ready;
  assign l2_frontend_bus_axi4_0_r_valid      = storage_resp.r_valid;
  assign l2_frontend_bus_axi4_0_r_bits_id    = storage_resp.r_id[MasterIdBits-1:0];
  assign l2_frontend_bus_axi4_0_r_bits_data  = storage_resp.r_data;
  assign l2_frontend_bus_axi4_0_r_bits_resp  = storage_resp.r_resp;
  assign l2_frontend_bus_axi4_0_r_bits_last  = storage_resp.r_last;
endmodule
