// Proof that the time of the mailbox depends on no word of a request or of an answer, on either side.
//
// Two mailboxes get the same accesses on both ports, in the same cycles, with the same commands; the words that host and
// root of trust write into request and answer are any two values. Then all handshakes, responses, interrupts and the error
// are the same in every cycle, and so is what each side reads of the registers without such words. A host learns
// nothing from the time of an access but what the commands tell it.
//
// The induction needs that all registers of control are the same; those of words are not mentioned.

`define SAME(Path) always_comb assert (a.Path == b.Path);

package mailbox_time_pkg;
  typedef struct packed {
    logic awvalid, wvalid, bready, arvalid, rready;
    logic [11:0] awaddr, araddr;
    logic [3:0] wstrb;
  } port_t;
  typedef struct packed {
    port_t host, rot;
  } req_t;
  // Handshakes, responses and pins: everything but the data that are read.
  typedef struct packed {
    logic awready, wready, bvalid, arready, rvalid, irq;
    logic [1:0] bresp, rresp;
  } side_t;
  typedef struct packed {
    side_t host, rot;
    logic error;
  } seen_t;
endpackage

module mailbox_time_proof
  import mailbox_time_pkg::*;
(
  input logic        clk_i,
  input req_t        req_i,            // of both ports
  input logic        host_is_secret_i, // the word that is written now may differ
  input logic [31:0] host_wdata_a_i,
  input logic [31:0] host_wdata_b_i,
  input logic        rot_is_secret_i,
  input logic [31:0] rot_wdata_a_i,
  input logic [31:0] rot_wdata_b_i,
  input logic        wipe_i,
  input logic [3:0]  lifecycle_i
);
  seen_t seen_a, seen_b;

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic [31:0] host_rdata_a, host_rdata_b, rot_rdata_a, rot_rdata_b;

  mailbox a (
    .clk_i, .rst_ni,
    .host_awvalid_i (req_i.host.awvalid), .host_awready_o (seen_a.host.awready), .host_awaddr_i (req_i.host.awaddr), .host_awprot_i ('0),
    .host_wvalid_i (req_i.host.wvalid), .host_wready_o (seen_a.host.wready), .host_wdata_i (host_wdata_a_i), .host_wstrb_i (req_i.host.wstrb),
    .host_bvalid_o (seen_a.host.bvalid), .host_bready_i (req_i.host.bready), .host_bresp_o (seen_a.host.bresp),
    .host_arvalid_i (req_i.host.arvalid), .host_arready_o (seen_a.host.arready), .host_araddr_i (req_i.host.araddr), .host_arprot_i ('0),
    .host_rvalid_o (seen_a.host.rvalid), .host_rready_i (req_i.host.rready), .host_rdata_o (host_rdata_a), .host_rresp_o (seen_a.host.rresp),
    .host_irq_o (seen_a.host.irq),
    .rot_awvalid_i (req_i.rot.awvalid), .rot_awready_o (seen_a.rot.awready), .rot_awaddr_i (req_i.rot.awaddr), .rot_awprot_i ('0),
    .rot_wvalid_i (req_i.rot.wvalid), .rot_wready_o (seen_a.rot.wready), .rot_wdata_i (rot_wdata_a_i), .rot_wstrb_i (req_i.rot.wstrb),
    .rot_bvalid_o (seen_a.rot.bvalid), .rot_bready_i (req_i.rot.bready), .rot_bresp_o (seen_a.rot.bresp),
    .rot_arvalid_i (req_i.rot.arvalid), .rot_arready_o (seen_a.rot.arready), .rot_araddr_i (req_i.rot.araddr), .rot_arprot_i ('0),
    .rot_rvalid_o (seen_a.rot.rvalid), .rot_rready_i (req_i.rot.rready), .rot_rdata_o (rot_rdata_a), .rot_rresp_o (seen_a.rot.rresp),
    .rot_irq_o (seen_a.rot.irq),
    .wipe_i, .lifecycle_i, .error_o (seen_a.error)
  );
  mailbox b (
    .clk_i, .rst_ni,
    .host_awvalid_i (req_i.host.awvalid), .host_awready_o (seen_b.host.awready), .host_awaddr_i (req_i.host.awaddr), .host_awprot_i ('0),
    .host_wvalid_i (req_i.host.wvalid), .host_wready_o (seen_b.host.wready), .host_wdata_i (host_wdata_b_i), .host_wstrb_i (req_i.host.wstrb),
    .host_bvalid_o (seen_b.host.bvalid), .host_bready_i (req_i.host.bready), .host_bresp_o (seen_b.host.bresp),
    .host_arvalid_i (req_i.host.arvalid), .host_arready_o (seen_b.host.arready), .host_araddr_i (req_i.host.araddr), .host_arprot_i ('0),
    .host_rvalid_o (seen_b.host.rvalid), .host_rready_i (req_i.host.rready), .host_rdata_o (host_rdata_b), .host_rresp_o (seen_b.host.rresp),
    .host_irq_o (seen_b.host.irq),
    .rot_awvalid_i (req_i.rot.awvalid), .rot_awready_o (seen_b.rot.awready), .rot_awaddr_i (req_i.rot.awaddr), .rot_awprot_i ('0),
    .rot_wvalid_i (req_i.rot.wvalid), .rot_wready_o (seen_b.rot.wready), .rot_wdata_i (rot_wdata_b_i), .rot_wstrb_i (req_i.rot.wstrb),
    .rot_bvalid_o (seen_b.rot.bvalid), .rot_bready_i (req_i.rot.bready), .rot_bresp_o (seen_b.rot.bresp),
    .rot_arvalid_i (req_i.rot.arvalid), .rot_arready_o (seen_b.rot.arready), .rot_araddr_i (req_i.rot.araddr), .rot_arprot_i ('0),
    .rot_rvalid_o (seen_b.rot.rvalid), .rot_rready_i (req_i.rot.rready), .rot_rdata_o (rot_rdata_b), .rot_rresp_o (seen_b.rot.rresp),
    .rot_irq_o (seen_b.rot.irq),
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
      if (req_i.host.wvalid && seen_a.host.wready) host_is_secret_q <= host_is_secret_i;
      if (a.u_host_regs.cpuif_rd_ack) begin
        host_is_answer_secret_q[a.u_host_regs.axil_resp_wptr[0]] <= is_data(a.u_host_regs.rd_mux_addr);
      end
    end
  end
  always_comb begin
    if (req_i.host.wvalid && !host_is_secret_i) assume (host_wdata_a_i == host_wdata_b_i);
    // Secrets are written to registers of words only.
    if (a.u_host_regs.axil_awvalid && a.u_host_regs.axil_wvalid && host_is_secret_q) assume (is_data(a.u_host_regs.axil_awaddr));
    if (seen_a.host.rvalid && !host_is_answer_secret_q[a.u_host_regs.axil_resp_rptr[0]]) assert (host_rdata_a == host_rdata_b);
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
      if (req_i.rot.wvalid && seen_a.rot.wready) rot_is_secret_q <= rot_is_secret_i;
      if (a.u_rot_regs.cpuif_rd_ack) begin
        rot_is_answer_secret_q[a.u_rot_regs.axil_resp_wptr[0]] <= is_data(a.u_rot_regs.rd_mux_addr);
      end
    end
  end
  always_comb begin
    if (req_i.rot.wvalid && !rot_is_secret_i) assume (rot_wdata_a_i == rot_wdata_b_i);
    // Secrets are written to registers of words only.
    if (a.u_rot_regs.axil_awvalid && a.u_rot_regs.axil_wvalid && rot_is_secret_q) assume (is_data(a.u_rot_regs.axil_awaddr));
    if (seen_a.rot.rvalid && !rot_is_answer_secret_q[a.u_rot_regs.axil_resp_rptr[0]]) assert (rot_rdata_a == rot_rdata_b);
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
endmodule
