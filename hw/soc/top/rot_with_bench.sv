// The root of trust with the bench's page of registers, as all machines have it. By itself it is
// the machine `rot`, with host memory in C++ (verif/machines/sim/rot).
//
// A chip has `rot` with the page tied off. So has this module while `has_bench_i` is 0, to try a
// ROM without a bench. Nothing else of the bench is on a path of the design, so cycles measured
// here are those of the chip.
//
// Protocols, latencies and reset are those of `rot` and `bench_registers`.

`include "machine_assert.svh"

module rot_with_bench #(
  // Configuration of Ibex, and latencies of the memories, see `rot`.
  parameter bit          Secure            = 1'b0,
  parameter int unsigned Bitmanip          = 0,
  parameter bit          InstructionCache  = 1'b0,
  parameter int unsigned RomLatency        = 5,
  parameter int unsigned ScratchpadLatency = 5,
  parameter int unsigned RegisterLatency   = 5,
  // Other sizes of engines, for measurements that depend on them.
  parameter int unsigned DmaReads          = 8,
  parameter int unsigned Sha3Rounds        = 1,
  parameter int unsigned XmssLanes         = 4,
  parameter int unsigned XmssRounds        = 2,
  // Engines for AES and for big numbers, and multipliers of the latter.
  parameter bit          HasAes            = 1'b0,
  parameter bit          HasBignum         = 1'b0,
  parameter int unsigned BignumDsps        = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The host's memory: AXI4.
  // Write address.
  output logic        mem_aw_valid,
  input  logic        mem_aw_ready,
  output logic [4:0]  mem_aw_id,
  output logic [31:0] mem_aw_addr,
  output logic [7:0]  mem_aw_len,
  output logic [2:0]  mem_aw_size,
  output logic [1:0]  mem_aw_burst,
  // Write data.
  output logic        mem_w_valid,
  input  logic        mem_w_ready,
  output logic [63:0] mem_w_data,
  output logic [7:0]  mem_w_strb,
  output logic        mem_w_last,
  // Write response.
  input  logic        mem_b_valid,
  output logic        mem_b_ready,
  input  logic [4:0]  mem_b_id,
  input  logic [1:0]  mem_b_resp,
  // Read address.
  output logic        mem_ar_valid,
  input  logic        mem_ar_ready,
  output logic [4:0]  mem_ar_id,
  output logic [31:0] mem_ar_addr,
  output logic [7:0]  mem_ar_len,
  output logic [2:0]  mem_ar_size,
  output logic [1:0]  mem_ar_burst,
  // Read data and response.
  input  logic        mem_r_valid,
  output logic        mem_r_ready,
  input  logic [4:0]  mem_r_id,
  input  logic [63:0] mem_r_data,
  input  logic [1:0]  mem_r_resp,
  input  logic        mem_r_last,

  // The host's side of the mailbox: AXI4-Lite. The host has no other access.
  input  hartlock_axi_pkg::axil_req_t   mailbox_axil_i,
  output hartlock_axi_pkg::axil_resp_t  mailbox_axil_o,
  output logic        mailbox_irq_o,

  // The secret of the device. It is constant.
  input  logic [511:0] secret_i,
  // The noise source, which is a model: its seed and its faults. They are constant.
  input  logic [31:0] noise_seed_i,
  input  logic        noise_is_stuck_i,
  input  logic        noise_is_absent_i,
  input  logic [3:0]  lifecycle_i,

  // 1 connects the bench. It is constant.
  input  logic        has_bench_i,
  // A register of the bench was written in this cycle.
  output logic        bench_write,
  output logic [11:0] bench_addr,
  output logic [31:0] bench_data,

  // The boot sequencer, alerts, and the state of the core, as in `rot`.
  output logic        host_rst_no,
  output logic        host_trap_o,
  output logic [2:0]  boot_status_o,
  output logic [31:0] boot_reason_o,
  output logic        alert_o,
  output logic        asleep_o
);
  // The port into the host's memory, signal by signal for a bench in C++.
  hartlock_axi_pkg::axi_req_t  mem_req;
  hartlock_axi_pkg::axi_resp_t mem_resp;
  // Write address.
  assign mem_aw_valid = mem_req.aw_valid;
  assign mem_aw_id    = mem_req.aw_id;
  assign {mem_aw_addr, mem_aw_len, mem_aw_size, mem_aw_burst} = mem_req.aw;
  // Write data.
  assign mem_w_valid  = mem_req.w_valid;
  assign {mem_w_data, mem_w_strb, mem_w_last} = {mem_req.w_data, mem_req.w_strb, mem_req.w_last};
  assign mem_b_ready  = mem_req.b_ready;
  // Read address.
  assign mem_ar_valid = mem_req.ar_valid;
  assign mem_ar_id    = mem_req.ar_id;
  assign {mem_ar_addr, mem_ar_len, mem_ar_size, mem_ar_burst} = mem_req.ar;
  assign mem_r_ready  = mem_req.r_ready;
  // Readiness and responses.
  assign mem_resp = '{
    aw_ready: mem_aw_ready,
    w_ready:  mem_w_ready,
    b_valid:  mem_b_valid,
    b_id:     mem_b_id,
    b_resp:   mem_b_resp,
    ar_ready: mem_ar_ready,
    r_valid:  mem_r_valid,
    r_id:     mem_r_id,
    r_data:   mem_r_data,
    r_resp:   mem_r_resp,
    r_last:   mem_r_last
  };

  // The page of the bench, a block on the register bus, and the same port as the root of trust sees
  // it: nothing answers if there is no bench.
  hartlock_axi_pkg::axil_req_t  bench_req, rot_req;
  hartlock_axi_pkg::axil_resp_t bench_resp, rot_resp;
  logic        noise_valid, noise_ready;
  logic [31:0] noise_sample;

  // The latencies of all memories come from the machine, so that one design measures several presets.
  rot #(
    .Secure            (Secure),
    .Bitmanip          (Bitmanip),
    .InstructionCache  (InstructionCache),
    .RomLatency        (RomLatency),
    .ScratchpadLatency (ScratchpadLatency),
    .RegisterLatency   (RegisterLatency),
    .DmaReads          (DmaReads),
    .Sha3Rounds        (Sha3Rounds),
    .XmssLanes         (XmssLanes),
    .XmssRounds        (XmssRounds),
    .HasAes            (HasAes),
    .HasBignum         (HasBignum),
    .BignumDsps        (BignumDsps)
  ) u_rot (
    .clk_i,
    .rst_ni,
    .mem_axi_o        (mem_req),
    .mem_axi_i       (mem_resp),
    .mailbox_axil_i, .mailbox_axil_o,
    .mailbox_irq_o, .secret_i,
    .noise_valid_i    (noise_valid),
    .noise_ready_o    (noise_ready),
    .noise_i          (noise_sample),
    .lifecycle_i,
    .bench_axil_o     (rot_req),
    .bench_axil_i     (rot_resp),
    .host_rst_no,
    .host_trap_o,
    .boot_status_o,
    .boot_reason_o,
    .alert_o,
    .asleep_o
  );

  // A model in place of a circuit that a chip has.
  noise_model u_noise (
    .clk_i,
    .rst_ni,
    .seed_i      (noise_seed_i),
    .is_stuck_i  (noise_is_stuck_i),
    .is_absent_i (noise_is_absent_i),
    .valid_o     (noise_valid),
    .ready_i     (noise_ready),
    .noise_o     (noise_sample)
  );

  always_comb begin
    bench_req          = rot_req;
    bench_req.aw_valid = rot_req.aw_valid & has_bench_i;
    bench_req.w_valid  = rot_req.w_valid & has_bench_i;
    bench_req.ar_valid = rot_req.ar_valid & has_bench_i;
    rot_resp           = bench_resp;
    rot_resp.aw_ready  = bench_resp.aw_ready & has_bench_i;
    rot_resp.w_ready   = bench_resp.w_ready & has_bench_i;
    rot_resp.b_valid   = bench_resp.b_valid & has_bench_i;
    rot_resp.ar_ready  = bench_resp.ar_ready & has_bench_i;
    rot_resp.r_valid   = bench_resp.r_valid & has_bench_i;
  end

  // The page is in the place of a chip's page for test and debug. Its interface ends in C++, which
  // prints and stops.
  bench_registers u_bench (
    .clk_i,
    .rst_ni,
    .axil_i       (bench_req),
    .axil_o       (bench_resp),
    .write_o      (bench_write),
    .write_addr_o (bench_addr),
    .write_data_o (bench_data)
  );

  // The bench gets the word and the register of the store that is on the bus of the page in this
  // cycle.
  `MACHINE_ASSERT(TheBenchIsWrittenByItsPageOnly_A,
                  bench_write |-> bench_req.w_valid && bench_addr == bench_req.aw_addr && bench_data == bench_req.w_data)
endmodule
