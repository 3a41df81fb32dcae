// The machine `tee-1` or `tee-1-full`: Rocket with the engines of the paper on quick boot at its
// devices, with the bench in C++ (verif/machines/sim/tee). There is no root of trust, and keys are
// test keys.
//
// The ports have the names of Rocket's own ports, so that its bench can be used. Memory and the
// port for other masters are Rocket's, devices pass by the engines, and the DMA engine has a port
// of its own. This module is wiring; `reset` is active high.

module tee_machine
  import hartlock_axi_pkg::*;
#(
  // The width of Rocket's port to memory.
  parameter int unsigned MemBits    = 64,
  // Rounds of the SHA-3 engine in a cycle.
  parameter int unsigned Sha3Rounds = 1
) (
  input  logic               clock,
  input  logic               reset,
  // Memory, for the core.
  // Write address.
  input  logic               mem_axi4_0_aw_ready,
  output logic               mem_axi4_0_aw_valid,
  output logic [3:0]         mem_axi4_0_aw_bits_id,
  output logic [31:0]        mem_axi4_0_aw_bits_addr,
  output logic [7:0]         mem_axi4_0_aw_bits_len,
  output logic [2:0]         mem_axi4_0_aw_bits_size,
  output logic [1:0]         mem_axi4_0_aw_bits_burst,
  // Write data.
  input  logic               mem_axi4_0_w_ready,
  output logic               mem_axi4_0_w_valid,
  output logic [MemBits-1:0] mem_axi4_0_w_bits_data,
  output logic [MemBits/8-1:0] mem_axi4_0_w_bits_strb,
  output logic               mem_axi4_0_w_bits_last,
  // Write response.
  output logic               mem_axi4_0_b_ready,
  input  logic               mem_axi4_0_b_valid,
  input  logic [3:0]         mem_axi4_0_b_bits_id,
  input  logic [1:0]         mem_axi4_0_b_bits_resp,
  // Read address.
  input  logic               mem_axi4_0_ar_ready,
  output logic               mem_axi4_0_ar_valid,
  output logic [3:0]         mem_axi4_0_ar_bits_id,
  output logic [31:0]        mem_axi4_0_ar_bits_addr,
  output logic [7:0]         mem_axi4_0_ar_bits_len,
  output logic [2:0]         mem_axi4_0_ar_bits_size,
  output logic [1:0]         mem_axi4_0_ar_bits_burst,
  // Read data and response.
  output logic               mem_axi4_0_r_ready,
  input  logic               mem_axi4_0_r_valid,
  input  logic [3:0]         mem_axi4_0_r_bits_id,
  input  logic [MemBits-1:0] mem_axi4_0_r_bits_data,
  input  logic [1:0]         mem_axi4_0_r_bits_resp,
  input  logic               mem_axi4_0_r_bits_last,

  // Devices of the bench.
  // Write address.
  input  logic               mmio_axi4_0_aw_ready,
  output logic               mmio_axi4_0_aw_valid,
  output logic [3:0]         mmio_axi4_0_aw_bits_id,
  output logic [30:0]        mmio_axi4_0_aw_bits_addr,
  output logic [7:0]         mmio_axi4_0_aw_bits_len,
  output logic [2:0]         mmio_axi4_0_aw_bits_size,
  output logic [1:0]         mmio_axi4_0_aw_bits_burst,
  // Write data.
  input  logic               mmio_axi4_0_w_ready,
  output logic               mmio_axi4_0_w_valid,
  output logic [64-1:0]      mmio_axi4_0_w_bits_data,
  output logic [8-1:0]       mmio_axi4_0_w_bits_strb,
  output logic               mmio_axi4_0_w_bits_last,
  // Write response.
  output logic               mmio_axi4_0_b_ready,
  input  logic               mmio_axi4_0_b_valid,
  input  logic [3:0]         mmio_axi4_0_b_bits_id,
  input  logic [1:0]         mmio_axi4_0_b_bits_resp,
  // Read address.
  input  logic               mmio_axi4_0_ar_ready,
  output logic               mmio_axi4_0_ar_valid,
  output logic [3:0]         mmio_axi4_0_ar_bits_id,
  output logic [30:0]        mmio_axi4_0_ar_bits_addr,
  output logic [7:0]         mmio_axi4_0_ar_bits_len,
  output logic [2:0]         mmio_axi4_0_ar_bits_size,
  output logic [1:0]         mmio_axi4_0_ar_bits_burst,
  // Read data and response.
  output logic               mmio_axi4_0_r_ready,
  input  logic               mmio_axi4_0_r_valid,
  input  logic [3:0]         mmio_axi4_0_r_bits_id,
  input  logic [64-1:0]      mmio_axi4_0_r_bits_data,
  input  logic [1:0]         mmio_axi4_0_r_bits_resp,
  input  logic               mmio_axi4_0_r_bits_last,

  // The storage of the bench, a master.
  // Write address.
  output logic               l2_frontend_bus_axi4_0_aw_ready,
  input  logic               l2_frontend_bus_axi4_0_aw_valid,
  input  logic [3:0]         l2_frontend_bus_axi4_0_aw_bits_id,
  input  logic [31:0]        l2_frontend_bus_axi4_0_aw_bits_addr,
  input  logic [7:0]         l2_frontend_bus_axi4_0_aw_bits_len,
  input  logic [2:0]         l2_frontend_bus_axi4_0_aw_bits_size,
  input  logic [1:0]         l2_frontend_bus_axi4_0_aw_bits_burst,
  // Write data.
  output logic               l2_frontend_bus_axi4_0_w_ready,
  input  logic               l2_frontend_bus_axi4_0_w_valid,
  input  logic [64-1:0]      l2_frontend_bus_axi4_0_w_bits_data,
  input  logic [8-1:0]       l2_frontend_bus_axi4_0_w_bits_strb,
  input  logic               l2_frontend_bus_axi4_0_w_bits_last,
  // Write response.
  input  logic               l2_frontend_bus_axi4_0_b_ready,
  output logic               l2_frontend_bus_axi4_0_b_valid,
  output logic [3:0]         l2_frontend_bus_axi4_0_b_bits_id,
  output logic [1:0]         l2_frontend_bus_axi4_0_b_bits_resp,
  // Read address.
  output logic               l2_frontend_bus_axi4_0_ar_ready,
  input  logic               l2_frontend_bus_axi4_0_ar_valid,
  input  logic [3:0]         l2_frontend_bus_axi4_0_ar_bits_id,
  input  logic [31:0]        l2_frontend_bus_axi4_0_ar_bits_addr,
  input  logic [7:0]         l2_frontend_bus_axi4_0_ar_bits_len,
  input  logic [2:0]         l2_frontend_bus_axi4_0_ar_bits_size,
  input  logic [1:0]         l2_frontend_bus_axi4_0_ar_bits_burst,
  // Read data and response.
  input  logic               l2_frontend_bus_axi4_0_r_ready,
  output logic               l2_frontend_bus_axi4_0_r_valid,
  output logic [3:0]         l2_frontend_bus_axi4_0_r_bits_id,
  output logic [64-1:0]      l2_frontend_bus_axi4_0_r_bits_data,
  output logic [1:0]         l2_frontend_bus_axi4_0_r_bits_resp,
  output logic               l2_frontend_bus_axi4_0_r_bits_last,

  // Memory, for the DMA engine.
  // Write address.
  input  logic               dma_axi4_0_aw_ready,
  output logic               dma_axi4_0_aw_valid,
  output logic [3:0]         dma_axi4_0_aw_bits_id,
  output logic [31:0]        dma_axi4_0_aw_bits_addr,
  output logic [7:0]         dma_axi4_0_aw_bits_len,
  output logic [2:0]         dma_axi4_0_aw_bits_size,
  output logic [1:0]         dma_axi4_0_aw_bits_burst,
  // Write data.
  input  logic               dma_axi4_0_w_ready,
  output logic               dma_axi4_0_w_valid,
  output logic [64-1:0]      dma_axi4_0_w_bits_data,
  output logic [8-1:0]       dma_axi4_0_w_bits_strb,
  output logic               dma_axi4_0_w_bits_last,
  // Write response.
  output logic               dma_axi4_0_b_ready,
  input  logic               dma_axi4_0_b_valid,
  input  logic [3:0]         dma_axi4_0_b_bits_id,
  input  logic [1:0]         dma_axi4_0_b_bits_resp,
  // Read address.
  input  logic               dma_axi4_0_ar_ready,
  output logic               dma_axi4_0_ar_valid,
  output logic [3:0]         dma_axi4_0_ar_bits_id,
  output logic [31:0]        dma_axi4_0_ar_bits_addr,
  output logic [7:0]         dma_axi4_0_ar_bits_len,
  output logic [2:0]         dma_axi4_0_ar_bits_size,
  output logic [1:0]         dma_axi4_0_ar_bits_burst,
  // Read data and response.
  output logic               dma_axi4_0_r_ready,
  input  logic               dma_axi4_0_r_valid,
  input  logic [3:0]         dma_axi4_0_r_bits_id,
  input  logic [64-1:0]      dma_axi4_0_r_bits_data,
  input  logic [1:0]         dma_axi4_0_r_bits_resp,
  input  logic               dma_axi4_0_r_bits_last,

  // The debug module, of which only clocks and resets are used.
  input  logic               debug_clock,
  input  logic               debug_reset,
  input  logic               debug_clockeddmi_dmiClock,
  input  logic               debug_clockeddmi_dmiReset,
  output logic               debug_dmactive,
  input  logic               debug_dmactiveAck,

  // The secret, broken results, and the alert of any engine. See `tee_engines`.
  input  logic [511:0]       secret,
  input  logic [1:0]         upset,
  output logic               alert
);
  // Bundles of the ports that pass through this module.
  axi_req_t  mmio_req, devices_req, dma_req;
  axi_resp_t mmio_resp, devices_resp, dma_resp;

  // Upper bits of ids of responses to the storage. Ids of the bench are narrower than those of
  // Rocket.
  logic [3:0] unused_b_id, unused_r_id;

  // Rocket's own ids have a leading zero. Devices are in the lower half of the address space.
  assign {mmio_req.aw_id[MasterIdBits], mmio_req.ar_id[MasterIdBits]} = '0;
  assign {mmio_req.aw.addr[31], mmio_req.ar.addr[31]}                 = '0;

  // The debug module gets no request. Nothing interrupts: the loader polls.
  ExampleRocketSystem u_rocket (
    .clock (clock),
    .reset (reset),
    // Memory, unchanged.
    .mem_axi4_0_aw_ready                  (mem_axi4_0_aw_ready),
    .mem_axi4_0_aw_valid                  (mem_axi4_0_aw_valid),
    .mem_axi4_0_aw_bits_id                (mem_axi4_0_aw_bits_id),
    .mem_axi4_0_aw_bits_addr              (mem_axi4_0_aw_bits_addr),
    .mem_axi4_0_aw_bits_len               (mem_axi4_0_aw_bits_len),
    .mem_axi4_0_aw_bits_size              (mem_axi4_0_aw_bits_size),
    .mem_axi4_0_aw_bits_burst             (mem_axi4_0_aw_bits_burst),
    .mem_axi4_0_w_ready                   (mem_axi4_0_w_ready),
    .mem_axi4_0_w_valid                   (mem_axi4_0_w_valid),
    .mem_axi4_0_w_bits_data               (mem_axi4_0_w_bits_data),
    .mem_axi4_0_w_bits_strb               (mem_axi4_0_w_bits_strb),
    .mem_axi4_0_w_bits_last               (mem_axi4_0_w_bits_last),
    .mem_axi4_0_b_ready                   (mem_axi4_0_b_ready),
    .mem_axi4_0_b_valid                   (mem_axi4_0_b_valid),
    .mem_axi4_0_b_bits_id                 (mem_axi4_0_b_bits_id),
    .mem_axi4_0_b_bits_resp               (mem_axi4_0_b_bits_resp),
    .mem_axi4_0_ar_ready                  (mem_axi4_0_ar_ready),
    .mem_axi4_0_ar_valid                  (mem_axi4_0_ar_valid),
    .mem_axi4_0_ar_bits_id                (mem_axi4_0_ar_bits_id),
    .mem_axi4_0_ar_bits_addr              (mem_axi4_0_ar_bits_addr),
    .mem_axi4_0_ar_bits_len               (mem_axi4_0_ar_bits_len),
    .mem_axi4_0_ar_bits_size              (mem_axi4_0_ar_bits_size),
    .mem_axi4_0_ar_bits_burst             (mem_axi4_0_ar_bits_burst),
    .mem_axi4_0_r_ready                   (mem_axi4_0_r_ready),
    .mem_axi4_0_r_valid                   (mem_axi4_0_r_valid),
    .mem_axi4_0_r_bits_id                 (mem_axi4_0_r_bits_id),
    .mem_axi4_0_r_bits_data               (mem_axi4_0_r_bits_data),
    .mem_axi4_0_r_bits_resp               (mem_axi4_0_r_bits_resp),
    .mem_axi4_0_r_bits_last               (mem_axi4_0_r_bits_last),
    // Devices: a bundle.
    .mmio_axi4_0_aw_ready                 (mmio_resp.aw_ready),
    .mmio_axi4_0_aw_valid                 (mmio_req.aw_valid),
    .mmio_axi4_0_aw_bits_id               (mmio_req.aw_id[MasterIdBits-1:0]),
    .mmio_axi4_0_aw_bits_addr             (mmio_req.aw.addr[30:0]),
    .mmio_axi4_0_aw_bits_len              (mmio_req.aw.len),
    .mmio_axi4_0_aw_bits_size             (mmio_req.aw.size),
    .mmio_axi4_0_aw_bits_burst            (mmio_req.aw.burst),
    .mmio_axi4_0_w_ready                  (mmio_resp.w_ready),
    .mmio_axi4_0_w_valid                  (mmio_req.w_valid),
    .mmio_axi4_0_w_bits_data              (mmio_req.w_data),
    .mmio_axi4_0_w_bits_strb              (mmio_req.w_strb),
    .mmio_axi4_0_w_bits_last              (mmio_req.w_last),
    .mmio_axi4_0_b_ready                  (mmio_req.b_ready),
    .mmio_axi4_0_b_valid                  (mmio_resp.b_valid),
    .mmio_axi4_0_b_bits_id                (mmio_resp.b_id[MasterIdBits-1:0]),
    .mmio_axi4_0_b_bits_resp              (mmio_resp.b_resp),
    .mmio_axi4_0_ar_ready                 (mmio_resp.ar_ready),
    .mmio_axi4_0_ar_valid                 (mmio_req.ar_valid),
    .mmio_axi4_0_ar_bits_id               (mmio_req.ar_id[MasterIdBits-1:0]),
    .mmio_axi4_0_ar_bits_addr             (mmio_req.ar.addr[30:0]),
    .mmio_axi4_0_ar_bits_len              (mmio_req.ar.len),
    .mmio_axi4_0_ar_bits_size             (mmio_req.ar.size),
    .mmio_axi4_0_ar_bits_burst            (mmio_req.ar.burst),
    .mmio_axi4_0_r_ready                  (mmio_req.r_ready),
    .mmio_axi4_0_r_valid                  (mmio_resp.r_valid),
    .mmio_axi4_0_r_bits_id                (mmio_resp.r_id[MasterIdBits-1:0]),
    .mmio_axi4_0_r_bits_data              (mmio_resp.r_data),
    .mmio_axi4_0_r_bits_resp              (mmio_resp.r_resp),
    .mmio_axi4_0_r_bits_last              (mmio_resp.r_last),
    // The storage, unchanged but for leading zeros of ids; its accesses are plain.
    .l2_frontend_bus_axi4_0_aw_ready      (l2_frontend_bus_axi4_0_aw_ready),
    .l2_frontend_bus_axi4_0_aw_valid      (l2_frontend_bus_axi4_0_aw_valid),
    .l2_frontend_bus_axi4_0_aw_bits_id    ({4'd0, l2_frontend_bus_axi4_0_aw_bits_id}),
    .l2_frontend_bus_axi4_0_aw_bits_addr  (l2_frontend_bus_axi4_0_aw_bits_addr),
    .l2_frontend_bus_axi4_0_aw_bits_len   (l2_frontend_bus_axi4_0_aw_bits_len),
    .l2_frontend_bus_axi4_0_aw_bits_size  (l2_frontend_bus_axi4_0_aw_bits_size),
    .l2_frontend_bus_axi4_0_aw_bits_burst (l2_frontend_bus_axi4_0_aw_bits_burst),
    .l2_frontend_bus_axi4_0_aw_bits_lock  ('0),
    .l2_frontend_bus_axi4_0_aw_bits_cache ('0),
    .l2_frontend_bus_axi4_0_aw_bits_prot  ('0),
    .l2_frontend_bus_axi4_0_aw_bits_qos   ('0),
    .l2_frontend_bus_axi4_0_w_ready       (l2_frontend_bus_axi4_0_w_ready),
    .l2_frontend_bus_axi4_0_w_valid       (l2_frontend_bus_axi4_0_w_valid),
    .l2_frontend_bus_axi4_0_w_bits_data   (l2_frontend_bus_axi4_0_w_bits_data),
    .l2_frontend_bus_axi4_0_w_bits_strb   (l2_frontend_bus_axi4_0_w_bits_strb),
    .l2_frontend_bus_axi4_0_w_bits_last   (l2_frontend_bus_axi4_0_w_bits_last),
    .l2_frontend_bus_axi4_0_b_ready       (l2_frontend_bus_axi4_0_b_ready),
    .l2_frontend_bus_axi4_0_b_valid       (l2_frontend_bus_axi4_0_b_valid),
    .l2_frontend_bus_axi4_0_b_bits_id     ({unused_b_id, l2_frontend_bus_axi4_0_b_bits_id}),
    .l2_frontend_bus_axi4_0_b_bits_resp   (l2_frontend_bus_axi4_0_b_bits_resp),
    .l2_frontend_bus_axi4_0_ar_ready      (l2_frontend_bus_axi4_0_ar_ready),
    .l2_frontend_bus_axi4_0_ar_valid      (l2_frontend_bus_axi4_0_ar_valid),
    .l2_frontend_bus_axi4_0_ar_bits_id    ({4'd0, l2_frontend_bus_axi4_0_ar_bits_id}),
    .l2_frontend_bus_axi4_0_ar_bits_addr  (l2_frontend_bus_axi4_0_ar_bits_addr),
    .l2_frontend_bus_axi4_0_ar_bits_len   (l2_frontend_bus_axi4_0_ar_bits_len),
    .l2_frontend_bus_axi4_0_ar_bits_size  (l2_frontend_bus_axi4_0_ar_bits_size),
    .l2_frontend_bus_axi4_0_ar_bits_burst (l2_frontend_bus_axi4_0_ar_bits_burst),
    .l2_frontend_bus_axi4_0_ar_bits_lock  ('0),
    .l2_frontend_bus_axi4_0_ar_bits_cache ('0),
    .l2_frontend_bus_axi4_0_ar_bits_prot  ('0),
    .l2_frontend_bus_axi4_0_ar_bits_qos   ('0),
    .l2_frontend_bus_axi4_0_r_ready       (l2_frontend_bus_axi4_0_r_ready),
    .l2_frontend_bus_axi4_0_r_valid       (l2_frontend_bus_axi4_0_r_valid),
    .l2_frontend_bus_axi4_0_r_bits_id     ({unused_r_id, l2_frontend_bus_axi4_0_r_bits_id}),
    .l2_frontend_bus_axi4_0_r_bits_data   (l2_frontend_bus_axi4_0_r_bits_data),
    .l2_frontend_bus_axi4_0_r_bits_resp   (l2_frontend_bus_axi4_0_r_bits_resp),
    .l2_frontend_bus_axi4_0_r_bits_last   (l2_frontend_bus_axi4_0_r_bits_last),
    // The debug module has a clock of its own, and gets no request.
    .debug_clock                          (debug_clock),
    .debug_reset                          (debug_reset),
    .debug_clockeddmi_dmi_req_valid       ('0),
    .debug_clockeddmi_dmi_req_bits_addr   ('0),
    .debug_clockeddmi_dmi_req_bits_data   ('0),
    .debug_clockeddmi_dmi_req_bits_op     ('0),
    .debug_clockeddmi_dmi_resp_ready      ('0),
    .debug_clockeddmi_dmiClock            (debug_clockeddmi_dmiClock),
    .debug_clockeddmi_dmiReset            (debug_clockeddmi_dmiReset),
    .debug_dmactive                       (debug_dmactive),
    .debug_dmactiveAck                    (debug_dmactiveAck),
    .interrupts                           ('0)
  );

  // The engines are between Rocket and the devices of the bench.
  tee_engines #(.Sha3Rounds(Sha3Rounds)) u_engines (
    .clk_i          (clock),
    .rst_ni         (~reset),
    .secret_i       (secret),
    .upset_i        (upset),
    .mmio_axi_i     (mmio_req),
    .mmio_axi_o    (mmio_resp),
    .devices_axi_o  (devices_req),
    .devices_axi_i (devices_resp),
    .mem_axi_o      (dma_req),
    .mem_axi_i     (dma_resp),
    .alert_o        (alert)
  );

  // Devices of the bench. Rocket has no address bit 31 there.
  assign mmio_axi4_0_aw_valid = devices_req.aw_valid;
  assign mmio_axi4_0_aw_bits_id = devices_req.aw_id[MasterIdBits-1:0];
  assign {mmio_axi4_0_aw_bits_addr, mmio_axi4_0_aw_bits_len,
          mmio_axi4_0_aw_bits_size, mmio_axi4_0_aw_bits_burst} = devices_req.aw[$bits(payload_t)-2:0];
  assign mmio_axi4_0_ar_valid = devices_req.ar_valid;
  assign mmio_axi4_0_ar_bits_id = devices_req.ar_id[MasterIdBits-1:0];
  assign {mmio_axi4_0_ar_bits_addr, mmio_axi4_0_ar_bits_len,
          mmio_axi4_0_ar_bits_size, mmio_axi4_0_ar_bits_burst} = devices_req.ar[$bits(payload_t)-2:0];
  assign mmio_axi4_0_w_valid = devices_req.w_valid;
  assign {mmio_axi4_0_w_bits_data, mmio_axi4_0_w_bits_strb, mmio_axi4_0_w_bits_last} = {devices_req.w_data, devices_req.w_strb, devices_req.w_last};
  assign mmio_axi4_0_b_ready = devices_req.b_ready;
  assign mmio_axi4_0_r_ready = devices_req.r_ready;
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

  // The port of the DMA engine.
  assign dma_axi4_0_aw_valid = dma_req.aw_valid;
  assign dma_axi4_0_aw_bits_id = dma_req.aw_id[MasterIdBits-1:0];
  assign {dma_axi4_0_aw_bits_addr, dma_axi4_0_aw_bits_len,
          dma_axi4_0_aw_bits_size, dma_axi4_0_aw_bits_burst} = dma_req.aw;
  assign dma_axi4_0_ar_valid = dma_req.ar_valid;
  assign dma_axi4_0_ar_bits_id = dma_req.ar_id[MasterIdBits-1:0];
  assign {dma_axi4_0_ar_bits_addr, dma_axi4_0_ar_bits_len,
          dma_axi4_0_ar_bits_size, dma_axi4_0_ar_bits_burst} = dma_req.ar;
  assign dma_axi4_0_w_valid = dma_req.w_valid;
  assign {dma_axi4_0_w_bits_data, dma_axi4_0_w_bits_strb, dma_axi4_0_w_bits_last} = {dma_req.w_data, dma_req.w_strb, dma_req.w_last};
  assign dma_axi4_0_b_ready = dma_req.b_ready;
  assign dma_axi4_0_r_ready = dma_req.r_ready;
  assign dma_resp = '{
    aw_ready: dma_axi4_0_aw_ready,
    w_ready:  dma_axi4_0_w_ready,
    b_valid:  dma_axi4_0_b_valid,
    b_id:     IdBits'(dma_axi4_0_b_bits_id),
    b_resp:   dma_axi4_0_b_bits_resp,
    ar_ready: dma_axi4_0_ar_ready,
    r_valid:  dma_axi4_0_r_valid,
    r_id:     IdBits'(dma_axi4_0_r_bits_id),
    r_data:   dma_axi4_0_r_bits_data,
    r_resp:   dma_axi4_0_r_bits_resp,
    r_last:   dma_axi4_0_r_bits_last
  };
endmodule
