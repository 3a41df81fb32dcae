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
  // Write address.
  input  logic        mailbox_aw_valid_i,
  output logic        mailbox_aw_ready_o,
  // Write data.
  input  logic        mailbox_w_valid_i,
  output logic        mailbox_w_ready_o,
  // Write response.
  output logic        mailbox_b_valid_o,
  input  logic        mailbox_b_ready_i,
  output logic [1:0]  mailbox_b_resp_o,
  // Read address.
  input  logic        mailbox_ar_valid_i,
  output logic        mailbox_ar_ready_o,
  // Read data and response.
  output logic        mailbox_r_valid_o,
  input  logic        mailbox_r_ready_i,
  output logic [31:0] mailbox_r_data_o,
  output logic [1:0]  mailbox_r_resp_o,
  input  logic [11:0] mailbox_aw_addr_i,
  input  logic [11:0] mailbox_ar_addr_i,
  input  logic [31:0] mailbox_w_data_i,
  input  logic [3:0]  mailbox_w_strb_i,
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
  soc_axi_pkg::req_t  mem_req;
  soc_axi_pkg::resp_t mem_resp;
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

  // The page of the bench, a block on the register bus.
  logic        aw_valid, aw_ready, w_valid, w_ready, b_valid, b_ready;
  logic        ar_valid, ar_ready, r_valid, r_ready;
  // The same signals as the root of trust sees them: nothing answers if there is no bench.
  logic        rot_aw_valid, rot_w_valid, rot_ar_valid;
  logic [31:0] r_data, w_data;
  logic [11:0] addr;
  logic [3:0]  w_strb;
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
    .mem_req_o        (mem_req),
    .mem_resp_i       (mem_resp),
    .mailbox_aw_valid_i, .mailbox_aw_ready_o, .mailbox_w_valid_i, .mailbox_w_ready_o,
    .mailbox_b_valid_o, .mailbox_b_ready_i, .mailbox_b_resp_o,
    .mailbox_ar_valid_i, .mailbox_ar_ready_o,
    .mailbox_r_valid_o, .mailbox_r_ready_i, .mailbox_r_data_o, .mailbox_r_resp_o,
    .mailbox_aw_addr_i, .mailbox_ar_addr_i, .mailbox_w_data_i, .mailbox_w_strb_i,
    .mailbox_irq_o, .secret_i,
    .noise_valid_i    (noise_valid),
    .noise_ready_o    (noise_ready),
    .noise_i          (noise_sample),
    .lifecycle_i,
    .bench_aw_valid_o (rot_aw_valid),
    .bench_aw_ready_i (aw_ready & has_bench_i),
    .bench_w_valid_o  (rot_w_valid),
    .bench_w_ready_i  (w_ready & has_bench_i),
    .bench_b_valid_i  (b_valid & has_bench_i),
    .bench_b_ready_o  (b_ready),
    .bench_ar_valid_o (rot_ar_valid),
    .bench_ar_ready_i (ar_ready & has_bench_i),
    .bench_r_valid_i  (r_valid & has_bench_i),
    .bench_r_ready_o  (r_ready),
    .bench_r_data_i   (r_data),
    .bench_addr_o     (addr),
    .bench_w_data_o   (w_data),
    .bench_w_strb_o   (w_strb),
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

  assign aw_valid = rot_aw_valid & has_bench_i;
  assign w_valid  = rot_w_valid & has_bench_i;
  assign ar_valid = rot_ar_valid & has_bench_i;

  // The page is in the place of a chip's page for test and debug. Its interface ends in C++, which
  // prints and stops.
  bench_registers u_bench (
    .clk_i,
    .rst_ni,
    .aw_valid_i   (aw_valid),
    .aw_ready_o   (aw_ready),
    .w_valid_i    (w_valid),
    .w_ready_o    (w_ready),
    .b_valid_o    (b_valid),
    .b_ready_i    (b_ready),
    .ar_valid_i   (ar_valid),
    .ar_ready_o   (ar_ready),
    .r_valid_o    (r_valid),
    .r_ready_i    (r_ready),
    .r_data_o     (r_data),
    .addr_i       (addr),
    .w_data_i     (w_data),
    .w_strb_i     (w_strb),
    .write_o      (bench_write),
    .write_addr_o (bench_addr),
    .write_data_o (bench_data)
  );

  // The bench gets the word and the register of the store that is on the bus of the page in this
  // cycle.
  `MACHINE_ASSERT(TheBenchIsWrittenByItsPageOnly_A,
                  bench_write |-> w_valid && bench_addr == addr && bench_data == w_data)
endmodule
