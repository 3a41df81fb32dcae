// The machine `soc-1` or `soc-4`: host and root of trust on one memory, with the bench in C++ (hw/sim/soc).
//
// The host is Rocket, one or four harts by which of its configurations is read. It starts when the boot
// sequencer of the root of trust says so. Until then the root of trust reaches memory through `axi_mux`, and
// from then on through the host's port for other masters, which sees what is in the caches. Of the root of
// trust the host reaches the mailbox. Ports are named as the host's own, so that its bench fits.

module soc_machine
  import soc_pkg::*;
#(
  parameter int unsigned RomLatency        = 5,
  parameter int unsigned ScratchpadLatency = 5,
  parameter int unsigned RegisterLatency   = 5
) (
  input  logic        clock,
  input  logic        reset,
  // Memory: ids have a bit in front, 1 for the root of trust.
  input  logic        mem_axi4_0_aw_ready,
  output logic        mem_axi4_0_aw_valid,
  output logic [4:0]  mem_axi4_0_aw_bits_id,
  output logic [31:0] mem_axi4_0_aw_bits_addr,
  output logic [7:0]  mem_axi4_0_aw_bits_len,
  output logic [2:0]  mem_axi4_0_aw_bits_size,
  output logic [1:0]  mem_axi4_0_aw_bits_burst,
  input  logic        mem_axi4_0_w_ready,
  output logic        mem_axi4_0_w_valid,
  output logic [63:0] mem_axi4_0_w_bits_data,
  output logic [7:0]  mem_axi4_0_w_bits_strb,
  output logic        mem_axi4_0_w_bits_last,
  output logic        mem_axi4_0_b_ready,
  input  logic        mem_axi4_0_b_valid,
  input  logic [4:0]  mem_axi4_0_b_bits_id,
  input  logic [1:0]  mem_axi4_0_b_bits_resp,
  input  logic        mem_axi4_0_ar_ready,
  output logic        mem_axi4_0_ar_valid,
  output logic [4:0]  mem_axi4_0_ar_bits_id,
  output logic [31:0] mem_axi4_0_ar_bits_addr,
  output logic [7:0]  mem_axi4_0_ar_bits_len,
  output logic [2:0]  mem_axi4_0_ar_bits_size,
  output logic [1:0]  mem_axi4_0_ar_bits_burst,
  output logic        mem_axi4_0_r_ready,
  input  logic        mem_axi4_0_r_valid,
  input  logic [4:0]  mem_axi4_0_r_bits_id,
  input  logic [63:0] mem_axi4_0_r_bits_data,
  input  logic [1:0]  mem_axi4_0_r_bits_resp,
  input  logic        mem_axi4_0_r_bits_last,

  // The host: devices, and masters besides it.
  input  logic        mmio_axi4_0_aw_ready,
  output logic        mmio_axi4_0_aw_valid,
  output logic [3:0]  mmio_axi4_0_aw_bits_id,
  output logic [30:0] mmio_axi4_0_aw_bits_addr,
  output logic [7:0]  mmio_axi4_0_aw_bits_len,
  output logic [2:0]  mmio_axi4_0_aw_bits_size,
  output logic [1:0]  mmio_axi4_0_aw_bits_burst,
  input  logic        mmio_axi4_0_w_ready,
  output logic        mmio_axi4_0_w_valid,
  output logic [63:0] mmio_axi4_0_w_bits_data,
  output logic [7:0]  mmio_axi4_0_w_bits_strb,
  output logic        mmio_axi4_0_w_bits_last,
  output logic        mmio_axi4_0_b_ready,
  input  logic        mmio_axi4_0_b_valid,
  input  logic [3:0]  mmio_axi4_0_b_bits_id,
  input  logic [1:0]  mmio_axi4_0_b_bits_resp,
  input  logic        mmio_axi4_0_ar_ready,
  output logic        mmio_axi4_0_ar_valid,
  output logic [3:0]  mmio_axi4_0_ar_bits_id,
  output logic [30:0] mmio_axi4_0_ar_bits_addr,
  output logic [7:0]  mmio_axi4_0_ar_bits_len,
  output logic [2:0]  mmio_axi4_0_ar_bits_size,
  output logic [1:0]  mmio_axi4_0_ar_bits_burst,
  output logic        mmio_axi4_0_r_ready,
  input  logic        mmio_axi4_0_r_valid,
  input  logic [3:0]  mmio_axi4_0_r_bits_id,
  input  logic [63:0] mmio_axi4_0_r_bits_data,
  input  logic [1:0]  mmio_axi4_0_r_bits_resp,
  input  logic        mmio_axi4_0_r_bits_last,
  output logic        l2_frontend_bus_axi4_0_aw_ready,
  input  logic        l2_frontend_bus_axi4_0_aw_valid,
  input  logic [3:0]  l2_frontend_bus_axi4_0_aw_bits_id,
  input  logic [31:0] l2_frontend_bus_axi4_0_aw_bits_addr,
  input  logic [7:0]  l2_frontend_bus_axi4_0_aw_bits_len,
  input  logic [2:0]  l2_frontend_bus_axi4_0_aw_bits_size,
  input  logic [1:0]  l2_frontend_bus_axi4_0_aw_bits_burst,
  output logic        l2_frontend_bus_axi4_0_w_ready,
  input  logic        l2_frontend_bus_axi4_0_w_valid,
  input  logic [63:0] l2_frontend_bus_axi4_0_w_bits_data,
  input  logic [7:0]  l2_frontend_bus_axi4_0_w_bits_strb,
  input  logic        l2_frontend_bus_axi4_0_w_bits_last,
  input  logic        l2_frontend_bus_axi4_0_b_ready,
  output logic        l2_frontend_bus_axi4_0_b_valid,
  output logic [3:0]  l2_frontend_bus_axi4_0_b_bits_id,
  output logic [1:0]  l2_frontend_bus_axi4_0_b_bits_resp,
  output logic        l2_frontend_bus_axi4_0_ar_ready,
  input  logic        l2_frontend_bus_axi4_0_ar_valid,
  input  logic [3:0]  l2_frontend_bus_axi4_0_ar_bits_id,
  input  logic [31:0] l2_frontend_bus_axi4_0_ar_bits_addr,
  input  logic [7:0]  l2_frontend_bus_axi4_0_ar_bits_len,
  input  logic [2:0]  l2_frontend_bus_axi4_0_ar_bits_size,
  input  logic [1:0]  l2_frontend_bus_axi4_0_ar_bits_burst,
  input  logic        l2_frontend_bus_axi4_0_r_ready,
  output logic        l2_frontend_bus_axi4_0_r_valid,
  output logic [3:0]  l2_frontend_bus_axi4_0_r_bits_id,
  output logic [63:0] l2_frontend_bus_axi4_0_r_bits_data,
  output logic [1:0]  l2_frontend_bus_axi4_0_r_bits_resp,
  output logic        l2_frontend_bus_axi4_0_r_bits_last,

  input  logic        debug_clock,
  input  logic        debug_reset,
  input  logic        debug_clockeddmi_dmiClock,
  input  logic        debug_clockeddmi_dmiReset,
  output logic        debug_dmactive,
  input  logic        debug_dmactiveAck,

  // The root of trust.
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
  localparam int unsigned Masters     = 2;
  localparam int unsigned IdBits      = 4;
  localparam int unsigned PayloadBits = 45;
  // 0x1500_0000, behind the bench's devices.
  localparam logic [18:0] MailboxPage = 19'h1_5000;

  // Of an address channel, what the multiplexer passes on.
  typedef struct packed {
    logic [31:0] addr;
    logic [7:0]  len;
    logic [2:0]  size;
    logic [1:0]  burst;
  } payload_t;

  // Single words, in order (AMBA AXI §A3.4.1: INCR).
  function automatic payload_t word_at(logic [31:0] address);
    return '{addr: address, len: 8'd0, size: 3'd2, burst: 2'b01};
  endfunction

  logic rst_n, host_reset;
  // The sequencer is reset with everything; the host is, until the sequencer lets it go.
  assign rst_n      = ~reset;
  assign host_reset = reset | ~host_rst_no;

  // --- the mailbox, the host's side ---
  logic        lite_aw_valid, lite_aw_ready, lite_w_valid, lite_w_ready, lite_b_valid, lite_b_ready;
  logic        lite_ar_valid, lite_ar_ready, lite_r_valid, lite_r_ready, mailbox_irq;
  logic [11:0] lite_aw_addr, lite_ar_addr;
  logic [31:0] lite_w_data, lite_r_data;
  logic [3:0]  lite_w_strb;
  logic [1:0]  lite_b_resp, lite_r_resp;

  // --- the root of trust ---
  logic        rot_aw_valid, rot_aw_ready, rot_w_valid, rot_w_ready, rot_b_valid, rot_b_ready;
  logic        rot_ar_valid, rot_ar_ready, rot_r_valid, rot_r_ready;
  logic [63:0] rot_w_data, rot_r_data;
  logic [7:0]  rot_w_strb;
  logic [31:0] rot_a_addr;
  logic [1:0]  rot_b_resp, rot_r_resp;

  rot_with_bench #(
    .RomLatency        (RomLatency),
    .ScratchpadLatency (ScratchpadLatency),
    .RegisterLatency   (RegisterLatency)
  ) u_rot_with_bench (
    .clk_i        (clock),
    .rst_ni       (rst_n),
    .mem_aw_valid (rot_aw_valid),
    .mem_aw_ready (rot_aw_ready),
    .mem_w_valid  (rot_w_valid),
    .mem_w_ready  (rot_w_ready),
    .mem_w_data   (rot_w_data),
    .mem_w_strb   (rot_w_strb),
    .mem_b_valid  (rot_b_valid),
    .mem_b_ready  (rot_b_ready),
    .mem_b_resp   (rot_b_resp),
    .mem_ar_valid (rot_ar_valid),
    .mem_ar_ready (rot_ar_ready),
    .mem_a_addr   (rot_a_addr),
    .mem_r_valid  (rot_r_valid),
    .mem_r_ready  (rot_r_ready),
    .mem_r_data   (rot_r_data),
    .mem_r_resp   (rot_r_resp),
    .mailbox_aw_valid_i (lite_aw_valid),
    .mailbox_aw_ready_o (lite_aw_ready),
    .mailbox_w_valid_i  (lite_w_valid),
    .mailbox_w_ready_o  (lite_w_ready),
    .mailbox_b_valid_o  (lite_b_valid),
    .mailbox_b_ready_i  (lite_b_ready),
    .mailbox_b_resp_o   (lite_b_resp),
    .mailbox_ar_valid_i (lite_ar_valid),
    .mailbox_ar_ready_o (lite_ar_ready),
    .mailbox_r_valid_o  (lite_r_valid),
    .mailbox_r_ready_i  (lite_r_ready),
    .mailbox_r_data_o   (lite_r_data),
    .mailbox_r_resp_o   (lite_r_resp),
    .mailbox_aw_addr_i  (lite_aw_addr),
    .mailbox_ar_addr_i  (lite_ar_addr),
    .mailbox_w_data_i   (lite_w_data),
    .mailbox_w_strb_i   (lite_w_strb),
    .mailbox_irq_o      (mailbox_irq),
    .lifecycle_i        ('0),
    .bench_write,
    .bench_addr,
    .bench_data,
    .host_rst_no,
    .host_trap_o,
    .boot_status_o,
    .boot_reason_o,
    .alert_o,
    .asleep_o
  );

  // --- its two ways to memory ---
  logic        direct_aw_valid, direct_aw_ready, direct_w_valid, direct_w_ready, direct_b_valid;
  logic        direct_b_ready, direct_ar_valid, direct_ar_ready, direct_r_valid, direct_r_ready;
  logic        coherent_aw_valid, coherent_aw_ready, coherent_w_valid, coherent_w_ready, coherent_b_valid;
  logic        coherent_b_ready, coherent_ar_valid, coherent_ar_ready, coherent_r_valid, coherent_r_ready;

  axi_switch #(.DataBits(64)) u_switch (
    .clk_i               (clock),
    .rst_ni              (rst_n),
    // Released by its own decision, so nothing is under way then.
    .coherent_i          (host_rst_no),
    .aw_valid_i          (rot_aw_valid),
    .aw_ready_o          (rot_aw_ready),
    .w_valid_i           (rot_w_valid),
    .w_ready_o           (rot_w_ready),
    .b_valid_o           (rot_b_valid),
    .b_ready_i           (rot_b_ready),
    .b_resp_o            (rot_b_resp),
    .ar_valid_i          (rot_ar_valid),
    .ar_ready_o          (rot_ar_ready),
    .r_valid_o           (rot_r_valid),
    .r_ready_i           (rot_r_ready),
    .r_data_o            (rot_r_data),
    .r_resp_o            (rot_r_resp),
    .direct_aw_valid_o   (direct_aw_valid),
    .direct_aw_ready_i   (direct_aw_ready),
    .direct_w_valid_o    (direct_w_valid),
    .direct_w_ready_i    (direct_w_ready),
    .direct_b_valid_i    (direct_b_valid),
    .direct_b_ready_o    (direct_b_ready),
    .direct_b_resp_i     (mem_axi4_0_b_bits_resp),
    .direct_ar_valid_o   (direct_ar_valid),
    .direct_ar_ready_i   (direct_ar_ready),
    .direct_r_valid_i    (direct_r_valid),
    .direct_r_ready_o    (direct_r_ready),
    .direct_r_data_i     (mem_axi4_0_r_bits_data),
    .direct_r_resp_i     (mem_axi4_0_r_bits_resp),
    .coherent_aw_valid_o (coherent_aw_valid),
    .coherent_aw_ready_i (coherent_aw_ready),
    .coherent_w_valid_o  (coherent_w_valid),
    .coherent_w_ready_i  (coherent_w_ready),
    .coherent_b_valid_i  (coherent_b_valid),
    .coherent_b_ready_o  (coherent_b_ready),
    .coherent_b_resp_i   (l2_frontend_bus_axi4_0_b_bits_resp),
    .coherent_ar_valid_o (coherent_ar_valid),
    .coherent_ar_ready_i (coherent_ar_ready),
    .coherent_r_valid_i  (coherent_r_valid),
    .coherent_r_ready_o  (coherent_r_ready),
    .coherent_r_data_i   (l2_frontend_bus_axi4_0_r_bits_data),
    .coherent_r_resp_i   (l2_frontend_bus_axi4_0_r_bits_resp)
  );

  // --- the host's port for other masters: the storage of the bench, and the root of trust ---
  logic             front_aw_valid, front_aw_ready, front_w_valid, front_w_ready, front_w_last;
  logic             front_b_valid, front_b_ready, front_ar_valid, front_ar_ready, front_r_valid, front_r_ready;
  logic [IdBits:0]  front_aw_id, front_ar_id, front_b_id, front_r_id;
  logic [2:0]       unused_b_id, unused_r_id;  // as they were sent: 0
  payload_t         front_aw, front_ar;
  logic [63:0]      front_w_data;
  logic [7:0]       front_w_strb;

  axi_mux #(
    .NumMasters  (Masters),
    .IdBits      (IdBits),
    .PayloadBits (PayloadBits),
    .DataBits    (64)
  ) u_front_mux (
    .clk_i              (clock),
    .rst_ni             (rst_n),
    .aw_valid_i         ({coherent_aw_valid, l2_frontend_bus_axi4_0_aw_valid}),
    .aw_ready_o         ({coherent_aw_ready, l2_frontend_bus_axi4_0_aw_ready}),
    .aw_id_i            ({4'd0, l2_frontend_bus_axi4_0_aw_bits_id}),
    .aw_payload_i       ({word_at(rot_a_addr),
                          l2_frontend_bus_axi4_0_aw_bits_addr, l2_frontend_bus_axi4_0_aw_bits_len,
                          l2_frontend_bus_axi4_0_aw_bits_size, l2_frontend_bus_axi4_0_aw_bits_burst}),
    .w_valid_i          ({coherent_w_valid, l2_frontend_bus_axi4_0_w_valid}),
    .w_ready_o          ({coherent_w_ready, l2_frontend_bus_axi4_0_w_ready}),
    .w_data_i           ({rot_w_data, l2_frontend_bus_axi4_0_w_bits_data}),
    .w_strb_i           ({rot_w_strb, l2_frontend_bus_axi4_0_w_bits_strb}),
    .w_last_i           ({1'b1, l2_frontend_bus_axi4_0_w_bits_last}),
    .b_valid_o          ({coherent_b_valid, l2_frontend_bus_axi4_0_b_valid}),
    .b_ready_i          ({coherent_b_ready, l2_frontend_bus_axi4_0_b_ready}),
    .ar_valid_i         ({coherent_ar_valid, l2_frontend_bus_axi4_0_ar_valid}),
    .ar_ready_o         ({coherent_ar_ready, l2_frontend_bus_axi4_0_ar_ready}),
    .ar_id_i            ({4'd0, l2_frontend_bus_axi4_0_ar_bits_id}),
    .ar_payload_i       ({word_at(rot_a_addr),
                          l2_frontend_bus_axi4_0_ar_bits_addr, l2_frontend_bus_axi4_0_ar_bits_len,
                          l2_frontend_bus_axi4_0_ar_bits_size, l2_frontend_bus_axi4_0_ar_bits_burst}),
    .r_valid_o          ({coherent_r_valid, l2_frontend_bus_axi4_0_r_valid}),
    .r_ready_i          ({coherent_r_ready, l2_frontend_bus_axi4_0_r_ready}),
    .b_id_o             (l2_frontend_bus_axi4_0_b_bits_id),
    .r_id_o             (l2_frontend_bus_axi4_0_r_bits_id),
    .slave_aw_valid_o   (front_aw_valid),
    .slave_aw_ready_i   (front_aw_ready),
    .slave_aw_id_o      (front_aw_id),
    .slave_aw_payload_o (front_aw),
    .slave_w_valid_o    (front_w_valid),
    .slave_w_ready_i    (front_w_ready),
    .slave_w_data_o     (front_w_data),
    .slave_w_strb_o     (front_w_strb),
    .slave_w_last_o     (front_w_last),
    .slave_b_valid_i    (front_b_valid),
    .slave_b_ready_o    (front_b_ready),
    .slave_b_id_i       (front_b_id),
    .slave_ar_valid_o   (front_ar_valid),
    .slave_ar_ready_i   (front_ar_ready),
    .slave_ar_id_o      (front_ar_id),
    .slave_ar_payload_o (front_ar),
    .slave_r_valid_i    (front_r_valid),
    .slave_r_ready_o    (front_r_ready),
    .slave_r_id_i       (front_r_id)
  );

  // --- the host ---
  logic        host_aw_valid, host_aw_ready;
  logic [3:0]  host_aw_id;
  payload_t    host_aw;
  logic        host_ar_valid, host_ar_ready;
  logic [3:0]  host_ar_id;
  payload_t    host_ar;
  logic        host_w_valid, host_w_ready, host_w_last, host_b_valid, host_b_ready;
  logic        host_r_valid, host_r_ready;
  logic [63:0] host_w_data;
  logic [7:0]  host_w_strb;
  logic [3:0]  host_b_id, host_r_id;

  logic        dev_aw_valid, dev_aw_ready, dev_w_valid, dev_w_ready, dev_b_valid, dev_b_ready;
  logic        dev_ar_valid, dev_ar_ready, dev_r_valid, dev_r_ready, dev_r_last;
  logic [3:0]  dev_b_id, dev_r_id;
  logic [1:0]  dev_b_resp, dev_r_resp;
  logic [63:0] dev_r_data;

  ExampleRocketSystem u_host (
    .clock,
    .reset (host_reset),
    .mem_axi4_0_aw_ready (host_aw_ready),
    .mem_axi4_0_aw_valid (host_aw_valid),
    .mem_axi4_0_aw_bits_id (host_aw_id),
    .mem_axi4_0_aw_bits_addr (host_aw.addr),
    .mem_axi4_0_aw_bits_len (host_aw.len),
    .mem_axi4_0_aw_bits_size (host_aw.size),
    .mem_axi4_0_aw_bits_burst (host_aw.burst),
    .mem_axi4_0_w_ready (host_w_ready),
    .mem_axi4_0_w_valid (host_w_valid),
    .mem_axi4_0_w_bits_data (host_w_data),
    .mem_axi4_0_w_bits_strb (host_w_strb),
    .mem_axi4_0_w_bits_last (host_w_last),
    .mem_axi4_0_b_ready (host_b_ready),
    .mem_axi4_0_b_valid (host_b_valid),
    .mem_axi4_0_b_bits_id (host_b_id),
    .mem_axi4_0_b_bits_resp,
    .mem_axi4_0_ar_ready (host_ar_ready),
    .mem_axi4_0_ar_valid (host_ar_valid),
    .mem_axi4_0_ar_bits_id (host_ar_id),
    .mem_axi4_0_ar_bits_addr (host_ar.addr),
    .mem_axi4_0_ar_bits_len (host_ar.len),
    .mem_axi4_0_ar_bits_size (host_ar.size),
    .mem_axi4_0_ar_bits_burst (host_ar.burst),
    .mem_axi4_0_r_ready (host_r_ready),
    .mem_axi4_0_r_valid (host_r_valid),
    .mem_axi4_0_r_bits_id (host_r_id),
    .mem_axi4_0_r_bits_data,
    .mem_axi4_0_r_bits_resp,
    .mem_axi4_0_r_bits_last,
    .mmio_axi4_0_aw_ready (dev_aw_ready),
    .mmio_axi4_0_aw_valid (dev_aw_valid),
    .mmio_axi4_0_aw_bits_id,
    .mmio_axi4_0_aw_bits_addr,
    .mmio_axi4_0_aw_bits_len,
    .mmio_axi4_0_aw_bits_size,
    .mmio_axi4_0_aw_bits_burst,
    .mmio_axi4_0_w_ready (dev_w_ready),
    .mmio_axi4_0_w_valid (dev_w_valid),
    .mmio_axi4_0_w_bits_data,
    .mmio_axi4_0_w_bits_strb,
    .mmio_axi4_0_w_bits_last,
    .mmio_axi4_0_b_ready (dev_b_ready),
    .mmio_axi4_0_b_valid (dev_b_valid),
    .mmio_axi4_0_b_bits_id (dev_b_id),
    .mmio_axi4_0_b_bits_resp (dev_b_resp),
    .mmio_axi4_0_ar_ready (dev_ar_ready),
    .mmio_axi4_0_ar_valid (dev_ar_valid),
    .mmio_axi4_0_ar_bits_id,
    .mmio_axi4_0_ar_bits_addr,
    .mmio_axi4_0_ar_bits_len,
    .mmio_axi4_0_ar_bits_size,
    .mmio_axi4_0_ar_bits_burst,
    .mmio_axi4_0_r_ready (dev_r_ready),
    .mmio_axi4_0_r_valid (dev_r_valid),
    .mmio_axi4_0_r_bits_id (dev_r_id),
    .mmio_axi4_0_r_bits_data (dev_r_data),
    .mmio_axi4_0_r_bits_resp (dev_r_resp),
    .mmio_axi4_0_r_bits_last (dev_r_last),
    .l2_frontend_bus_axi4_0_aw_ready (front_aw_ready),
    .l2_frontend_bus_axi4_0_aw_valid (front_aw_valid),
    .l2_frontend_bus_axi4_0_aw_bits_id ({3'd0, front_aw_id}),
    .l2_frontend_bus_axi4_0_aw_bits_addr (front_aw.addr),
    .l2_frontend_bus_axi4_0_aw_bits_len (front_aw.len),
    .l2_frontend_bus_axi4_0_aw_bits_size (front_aw.size),
    .l2_frontend_bus_axi4_0_aw_bits_burst (front_aw.burst),
    .l2_frontend_bus_axi4_0_aw_bits_lock ('0),
    .l2_frontend_bus_axi4_0_aw_bits_cache ('0),
    .l2_frontend_bus_axi4_0_aw_bits_prot ('0),
    .l2_frontend_bus_axi4_0_aw_bits_qos ('0),
    .l2_frontend_bus_axi4_0_w_ready (front_w_ready),
    .l2_frontend_bus_axi4_0_w_valid (front_w_valid),
    .l2_frontend_bus_axi4_0_w_bits_data (front_w_data),
    .l2_frontend_bus_axi4_0_w_bits_strb (front_w_strb),
    .l2_frontend_bus_axi4_0_w_bits_last (front_w_last),
    .l2_frontend_bus_axi4_0_b_ready (front_b_ready),
    .l2_frontend_bus_axi4_0_b_valid (front_b_valid),
    .l2_frontend_bus_axi4_0_b_bits_id ({unused_b_id, front_b_id}),
    .l2_frontend_bus_axi4_0_b_bits_resp,
    .l2_frontend_bus_axi4_0_ar_ready (front_ar_ready),
    .l2_frontend_bus_axi4_0_ar_valid (front_ar_valid),
    .l2_frontend_bus_axi4_0_ar_bits_id ({3'd0, front_ar_id}),
    .l2_frontend_bus_axi4_0_ar_bits_addr (front_ar.addr),
    .l2_frontend_bus_axi4_0_ar_bits_len (front_ar.len),
    .l2_frontend_bus_axi4_0_ar_bits_size (front_ar.size),
    .l2_frontend_bus_axi4_0_ar_bits_burst (front_ar.burst),
    .l2_frontend_bus_axi4_0_ar_bits_lock ('0),
    .l2_frontend_bus_axi4_0_ar_bits_cache ('0),
    .l2_frontend_bus_axi4_0_ar_bits_prot ('0),
    .l2_frontend_bus_axi4_0_ar_bits_qos ('0),
    .l2_frontend_bus_axi4_0_r_ready (front_r_ready),
    .l2_frontend_bus_axi4_0_r_valid (front_r_valid),
    .l2_frontend_bus_axi4_0_r_bits_id ({unused_r_id, front_r_id}),
    .l2_frontend_bus_axi4_0_r_bits_data,
    .l2_frontend_bus_axi4_0_r_bits_resp,
    .l2_frontend_bus_axi4_0_r_bits_last,
    .debug_clock,
    .debug_reset,
    .debug_clockeddmi_dmi_req_valid ('0),
    .debug_clockeddmi_dmi_req_bits_addr ('0),
    .debug_clockeddmi_dmi_req_bits_data ('0),
    .debug_clockeddmi_dmi_req_bits_op ('0),
    .debug_clockeddmi_dmi_resp_ready ('0),
    .debug_clockeddmi_dmiClock,
    .debug_clockeddmi_dmiReset,
    .debug_dmactive,
    .debug_dmactiveAck,
    // Source 1 of its interrupt controller.
    .interrupts ({7'd0, mailbox_irq})
  );

  // --- devices: the mailbox has a window of 4 KiB, the rest is the bench's ---
  axi_window #(.IdBits(IdBits)) u_window (
    .clk_i            (clock),
    .rst_ni           (rst_n),
    .aw_valid_i       (dev_aw_valid),
    .aw_ready_o       (dev_aw_ready),
    .aw_window_i      (mmio_axi4_0_aw_bits_addr[30:12] == MailboxPage),
    .aw_id_i          (mmio_axi4_0_aw_bits_id),
    .aw_len_i         (mmio_axi4_0_aw_bits_len),
    .aw_size_i        (mmio_axi4_0_aw_bits_size),
    .aw_addr_i        (mmio_axi4_0_aw_bits_addr[11:0]),
    .w_valid_i        (dev_w_valid),
    .w_ready_o        (dev_w_ready),
    .w_data_i         (mmio_axi4_0_w_bits_data),
    .w_strb_i         (mmio_axi4_0_w_bits_strb),
    .w_last_i         (mmio_axi4_0_w_bits_last),
    .b_valid_o        (dev_b_valid),
    .b_ready_i        (dev_b_ready),
    .b_id_o           (dev_b_id),
    .b_resp_o         (dev_b_resp),
    .ar_valid_i       (dev_ar_valid),
    .ar_ready_o       (dev_ar_ready),
    .ar_window_i      (mmio_axi4_0_ar_bits_addr[30:12] == MailboxPage),
    .ar_id_i          (mmio_axi4_0_ar_bits_id),
    .ar_len_i         (mmio_axi4_0_ar_bits_len),
    .ar_size_i        (mmio_axi4_0_ar_bits_size),
    .ar_addr_i        (mmio_axi4_0_ar_bits_addr[11:0]),
    .r_valid_o        (dev_r_valid),
    .r_ready_i        (dev_r_ready),
    .r_id_o           (dev_r_id),
    .r_data_o         (dev_r_data),
    .r_resp_o         (dev_r_resp),
    .r_last_o         (dev_r_last),
    .outer_aw_valid_o (mmio_axi4_0_aw_valid),
    .outer_aw_ready_i (mmio_axi4_0_aw_ready),
    .outer_w_valid_o  (mmio_axi4_0_w_valid),
    .outer_w_ready_i  (mmio_axi4_0_w_ready),
    .outer_b_valid_i  (mmio_axi4_0_b_valid),
    .outer_b_ready_o  (mmio_axi4_0_b_ready),
    .outer_b_resp_i   (mmio_axi4_0_b_bits_resp),
    .outer_ar_valid_o (mmio_axi4_0_ar_valid),
    .outer_ar_ready_i (mmio_axi4_0_ar_ready),
    .outer_r_valid_i  (mmio_axi4_0_r_valid),
    .outer_r_ready_o  (mmio_axi4_0_r_ready),
    .outer_r_data_i   (mmio_axi4_0_r_bits_data),
    .outer_r_resp_i   (mmio_axi4_0_r_bits_resp),
    .outer_r_last_i   (mmio_axi4_0_r_bits_last),
    .lite_aw_valid_o  (lite_aw_valid),
    .lite_aw_ready_i  (lite_aw_ready),
    .lite_aw_addr_o   (lite_aw_addr),
    .lite_w_valid_o   (lite_w_valid),
    .lite_w_ready_i   (lite_w_ready),
    .lite_w_data_o    (lite_w_data),
    .lite_w_strb_o    (lite_w_strb),
    .lite_b_valid_i   (lite_b_valid),
    .lite_b_ready_o   (lite_b_ready),
    .lite_b_resp_i    (lite_b_resp),
    .lite_ar_valid_o  (lite_ar_valid),
    .lite_ar_ready_i  (lite_ar_ready),
    .lite_ar_addr_o   (lite_ar_addr),
    .lite_r_valid_i   (lite_r_valid),
    .lite_r_ready_o   (lite_r_ready),
    .lite_r_data_i    (lite_r_data),
    .lite_r_resp_i    (lite_r_resp)
  );

  // The bench answers in order, and the window knows whom it asked for.
  logic unused_ids;
  assign unused_ids = ^{mmio_axi4_0_b_bits_id, mmio_axi4_0_r_bits_id};

  // --- memory for both: master 0 is the host ---
  axi_mux #(
    .NumMasters  (Masters),
    .IdBits      (IdBits),
    .PayloadBits (PayloadBits),
    .DataBits    (64)
  ) u_mux (
    .clk_i              (clock),
    .rst_ni             (rst_n),
    .aw_valid_i         ({direct_aw_valid, host_aw_valid}),
    .aw_ready_o         ({direct_aw_ready, host_aw_ready}),
    .aw_id_i            ({4'd0, host_aw_id}),
    .aw_payload_i       ({word_at(rot_a_addr), host_aw}),
    .w_valid_i          ({direct_w_valid, host_w_valid}),
    .w_ready_o          ({direct_w_ready, host_w_ready}),
    .w_data_i           ({rot_w_data, host_w_data}),
    .w_strb_i           ({rot_w_strb, host_w_strb}),
    .w_last_i           ({1'b1, host_w_last}),
    .b_valid_o          ({direct_b_valid, host_b_valid}),
    .b_ready_i          ({direct_b_ready, host_b_ready}),
    .ar_valid_i         ({direct_ar_valid, host_ar_valid}),
    .ar_ready_o         ({direct_ar_ready, host_ar_ready}),
    .ar_id_i            ({4'd0, host_ar_id}),
    .ar_payload_i       ({word_at(rot_a_addr), host_ar}),
    .r_valid_o          ({direct_r_valid, host_r_valid}),
    .r_ready_i          ({direct_r_ready, host_r_ready}),
    .b_id_o             (host_b_id),
    .r_id_o             (host_r_id),
    .slave_aw_valid_o   (mem_axi4_0_aw_valid),
    .slave_aw_ready_i   (mem_axi4_0_aw_ready),
    .slave_aw_id_o      (mem_axi4_0_aw_bits_id),
    .slave_aw_payload_o ({mem_axi4_0_aw_bits_addr, mem_axi4_0_aw_bits_len, mem_axi4_0_aw_bits_size,
                          mem_axi4_0_aw_bits_burst}),
    .slave_w_valid_o    (mem_axi4_0_w_valid),
    .slave_w_ready_i    (mem_axi4_0_w_ready),
    .slave_w_data_o     (mem_axi4_0_w_bits_data),
    .slave_w_strb_o     (mem_axi4_0_w_bits_strb),
    .slave_w_last_o     (mem_axi4_0_w_bits_last),
    .slave_b_valid_i    (mem_axi4_0_b_valid),
    .slave_b_ready_o    (mem_axi4_0_b_ready),
    .slave_b_id_i       (mem_axi4_0_b_bits_id),
    .slave_ar_valid_o   (mem_axi4_0_ar_valid),
    .slave_ar_ready_i   (mem_axi4_0_ar_ready),
    .slave_ar_id_o      (mem_axi4_0_ar_bits_id),
    .slave_ar_payload_o ({mem_axi4_0_ar_bits_addr, mem_axi4_0_ar_bits_len, mem_axi4_0_ar_bits_size,
                          mem_axi4_0_ar_bits_burst}),
    .slave_r_valid_i    (mem_axi4_0_r_valid),
    .slave_r_ready_o    (mem_axi4_0_r_ready),
    .slave_r_id_i       (mem_axi4_0_r_bits_id)
  );
endmodule
