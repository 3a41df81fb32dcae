// Proof that the time of the mailbox depends on no word of a request or of an answer, on either side.
//
// Two mailboxes get the same accesses on both ports, in the same cycles, with the same commands; the words that host and
// root of trust write into request and answer are any two values. Then all handshakes, responses, interrupts and the error
// are the same in every cycle, and so is what each side reads of the registers without such words. A host learns
// nothing from the time of an access but what the commands tell it.
//
// The induction needs that all registers of control are the same; those of words are not mentioned.

`define SAME(Path) always_comb assert (a.Path == b.Path);

module mailbox_time_proof
  import hartlock_axi_pkg::*;
(
  input logic        clk_i,
  // The ports of the first mailbox; those of the second are the same but for the data.
  input axil_req_t   host_i,
  input axil_req_t   rot_i,
  input logic        host_is_secret_i, // the word that is written now may differ
  input logic [31:0] host_wdata_b_i,
  input logic        rot_is_secret_i,
  input logic [31:0] rot_wdata_b_i,
  input logic        wipe_i,
  input logic [3:0]  lifecycle_i
);
  // Handshakes, responses and pins: everything but the data that are read.
  typedef struct packed {
    axil_resp_t host, rot;
    logic host_irq, rot_irq, error;
  } seen_t;
  seen_t seen_a, seen_b;

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  axil_req_t  host_b, rot_b;
  axil_resp_t host_resp_a, host_resp_b, rot_resp_a, rot_resp_b;
  always_comb begin
    host_b             = host_i;
    host_b.w_data      = host_wdata_b_i;
    rot_b              = rot_i;
    rot_b.w_data       = rot_wdata_b_i;
    seen_a.host        = host_resp_a;
    seen_a.rot         = rot_resp_a;
    seen_b.host        = host_resp_b;
    seen_b.rot         = rot_resp_b;
    seen_a.host.r_data = '0;
    seen_a.rot.r_data  = '0;
    seen_b.host.r_data = '0;
    seen_b.rot.r_data  = '0;
  end

  mailbox a (
    .clk_i, .rst_ni,
    .host_axil_i (host_i), .host_axil_o (host_resp_a), .host_irq_o (seen_a.host_irq),
    .rot_axil_i (rot_i), .rot_axil_o (rot_resp_a), .rot_irq_o (seen_a.rot_irq),
    .wipe_i, .lifecycle_i, .error_o (seen_a.error)
  );
  mailbox b (
    .clk_i, .rst_ni,
    .host_axil_i (host_b), .host_axil_o (host_resp_b), .host_irq_o (seen_b.host_irq),
    .rot_axil_i (rot_b), .rot_axil_o (rot_resp_b), .rot_irq_o (seen_b.rot_irq),
    .wipe_i, .lifecycle_i, .error_o (seen_b.error)
  );

  // Words of request and answer; status, commands and control are before them (data/mailbox.rdl).
  function automatic logic is_data(logic [11:0] address);
    return address >= 12'h010;
  endfunction

  // --- the claim ---
  always_comb assert (seen_a == seen_b);

  // --- secrets, and what the induction needs, on each side ---
  logic       host_is_secret_q;
  logic [1:0] host_is_answer_secret_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      host_is_secret_q        <= 1'b0;
      host_is_answer_secret_q <= '0;
    end else begin
      // The word that the register block keeps until it has its address too, and the responses that wait.
      if (host_i.w_valid && host_resp_a.w_ready) host_is_secret_q <= host_is_secret_i;
      if (a.u_host_regs.cpuif_rd_ack) begin
        host_is_answer_secret_q[a.u_host_regs.axil_resp_wptr[0]] <= is_data(a.u_host_regs.rd_mux_addr);
      end
    end
  end
  always_comb begin
    if (host_i.w_valid && !host_is_secret_i) assume (host_i.w_data == host_wdata_b_i);
    // Secrets are written to registers of words only.
    if (a.u_host_regs.axil_awvalid && a.u_host_regs.axil_wvalid && host_is_secret_q) assume (is_data(a.u_host_regs.axil_awaddr));
    if (host_resp_a.r_valid && !host_is_answer_secret_q[a.u_host_regs.axil_resp_rptr[0]]) assert (host_resp_a.r_data == host_resp_b.r_data);
    if (!host_is_secret_q) assert (a.u_host_regs.axil_wdata == b.u_host_regs.axil_wdata);
    for (int i = 0; i < 2; i++) begin
      if (!host_is_answer_secret_q[i]) begin
        assert (a.u_host_regs.axil_resp_buffer_rdata[i] == b.u_host_regs.axil_resp_buffer_rdata[i]);
      end
      assert (a.u_host_regs.axil_resp_buffer_is_wr[i] == b.u_host_regs.axil_resp_buffer_is_wr[i]);
      assert (a.u_host_regs.axil_resp_buffer_err[i] == b.u_host_regs.axil_resp_buffer_err[i]);
    end
  end
  `SAME(u_host_regs.axil_n_in_flight)
  `SAME(u_host_regs.axil_prev_was_rd)
  `SAME(u_host_regs.axil_arvalid)
  `SAME(u_host_regs.axil_araddr)
  `SAME(u_host_regs.axil_awvalid)
  `SAME(u_host_regs.axil_awaddr)
  `SAME(u_host_regs.axil_wvalid)
  `SAME(u_host_regs.axil_wstrb)
  `SAME(u_host_regs.axil_resp_wptr)
  `SAME(u_host_regs.axil_resp_rptr)
  `SAME(u_host_regs.field_storage.command.ring.value)
  `SAME(u_host_regs.field_storage.command.acknowledge.value)
  `SAME(u_host_regs.field_storage.interrupt.enable.value)

  logic       rot_is_secret_q;
  logic [1:0] rot_is_answer_secret_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rot_is_secret_q        <= 1'b0;
      rot_is_answer_secret_q <= '0;
    end else begin
      // The word that the register block keeps until it has its address too, and the responses that wait.
      if (rot_i.w_valid && rot_resp_a.w_ready) rot_is_secret_q <= rot_is_secret_i;
      if (a.u_rot_regs.cpuif_rd_ack) begin
        rot_is_answer_secret_q[a.u_rot_regs.axil_resp_wptr[0]] <= is_data(a.u_rot_regs.rd_mux_addr);
      end
    end
  end
  always_comb begin
    if (rot_i.w_valid && !rot_is_secret_i) assume (rot_i.w_data == rot_wdata_b_i);
    // Secrets are written to registers of words only.
    if (a.u_rot_regs.axil_awvalid && a.u_rot_regs.axil_wvalid && rot_is_secret_q) assume (is_data(a.u_rot_regs.axil_awaddr));
    if (rot_resp_a.r_valid && !rot_is_answer_secret_q[a.u_rot_regs.axil_resp_rptr[0]]) assert (rot_resp_a.r_data == rot_resp_b.r_data);
    if (!rot_is_secret_q) assert (a.u_rot_regs.axil_wdata == b.u_rot_regs.axil_wdata);
    for (int i = 0; i < 2; i++) begin
      if (!rot_is_answer_secret_q[i]) begin
        assert (a.u_rot_regs.axil_resp_buffer_rdata[i] == b.u_rot_regs.axil_resp_buffer_rdata[i]);
      end
      assert (a.u_rot_regs.axil_resp_buffer_is_wr[i] == b.u_rot_regs.axil_resp_buffer_is_wr[i]);
      assert (a.u_rot_regs.axil_resp_buffer_err[i] == b.u_rot_regs.axil_resp_buffer_err[i]);
    end
  end
  `SAME(u_rot_regs.axil_n_in_flight)
  `SAME(u_rot_regs.axil_prev_was_rd)
  `SAME(u_rot_regs.axil_arvalid)
  `SAME(u_rot_regs.axil_araddr)
  `SAME(u_rot_regs.axil_awvalid)
  `SAME(u_rot_regs.axil_awaddr)
  `SAME(u_rot_regs.axil_wvalid)
  `SAME(u_rot_regs.axil_wstrb)
  `SAME(u_rot_regs.axil_resp_wptr)
  `SAME(u_rot_regs.axil_resp_rptr)
  `SAME(u_rot_regs.field_storage.command.respond.value)
  `SAME(u_rot_regs.field_storage.command.discard.value)
  `SAME(u_rot_regs.field_storage.control.open.value)
  `SAME(u_rot_regs.field_storage.control.interrupt_enable.value)

  // --- the core ---
  `SAME(u_core.state_q)
  `SAME(u_core.host_refused_q)
  `SAME(u_core.rot_refused_q)
  `SAME(u_core.emptied_q)
  `SAME(u_core.lifecycle_q)
  `SAME(u_core.is_awake_q)
endmodule
