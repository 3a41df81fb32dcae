// Proof that the time of `sha3` depends on no secret: key, message and digest.
//
// Two engines get the same accesses, in the same cycles, with the same commands. What they write into key and data, and
// the words of their streams, are any two values. Then all handshakes, responses, interrupts, alerts, and what software
// reads of all other registers are the same in every cycle: the cycles of an access, of a block and of a message are
// functions of lengths and commands alone. It covers reset, wipes, aborts, changes of lifecycle and every mode.
//
// The induction needs that all registers of control are the same; those of data are not mentioned.

`define SAME(Path) always_comb assert (a.Path == b.Path);

module sha3_time_proof
  import hartlock_axi_pkg::*;
#(
  parameter int unsigned RoundsPerCycle = 1
) (
  input logic        clk_i,
  input axil_req_t   axil_i,           // of the first engine; the second has the same but for the data
  input logic        is_secret_i,      // the word that is written now may differ
  input logic [31:0] wdata_b_i,
  input logic        str_valid_i,
  input logic [63:0] str_data_a_i,
  input logic [63:0] str_data_b_i,
  input logic        str_last_i,
  input logic [3:0]  str_bytes_i,
  input logic        str_abort_i,
  input logic [3:0]  lifecycle_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  // Handshakes, responses and pins: everything but the data that are read.
  typedef struct packed {
    axil_resp_t axil;
    logic str_ready, irq, alert;
  } seen_t;
  seen_t seen_a, seen_b;
  axil_req_t  axil_b;
  axil_resp_t resp_a, resp_b;
  always_comb begin
    axil_b             = axil_i;
    axil_b.w_data      = wdata_b_i;
    seen_a.axil        = resp_a;
    seen_b.axil        = resp_b;
    seen_a.axil.r_data = '0;
    seen_b.axil.r_data = '0;
  end

  sha3 #(.RoundsPerCycle(RoundsPerCycle)) a (
    .clk_i, .rst_ni, .axil_i (axil_i), .axil_o (resp_a),
    .str_valid_i, .str_ready_o (seen_a.str_ready), .str_data_i (str_data_a_i), .str_last_i, .str_bytes_i, .str_abort_i,
    .lifecycle_i, .irq_o (seen_a.irq), .alert_o (seen_a.alert)
  );
  sha3 #(.RoundsPerCycle(RoundsPerCycle)) b (
    .clk_i, .rst_ni, .axil_i (axil_b), .axil_o (resp_b),
    .str_valid_i, .str_ready_o (seen_b.str_ready), .str_data_i (str_data_b_i), .str_last_i, .str_bytes_i, .str_abort_i,
    .lifecycle_i, .irq_o (seen_b.irq), .alert_o (seen_b.alert)
  );

  // --- secrets ---
  // Registers of secrets (data/sha3.rdl): data, key, digest.
  function automatic logic is_data(logic [11:0] address);
    return address inside {[12'h028:12'h02f], [12'h040:12'h087], [12'h100:12'h1a7]};
  endfunction

  // Of the word that the register block keeps until it has its address too.
  logic is_secret_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                         is_secret_q <= 1'b0;
    else if (axil_i.w_valid && resp_a.w_ready)  is_secret_q <= is_secret_i;
  end
  always_comb begin
    if (axil_i.w_valid && !is_secret_i) assume (axil_i.w_data == wdata_b_i);
    // Secrets are written to registers of secrets only.
    if (a.u_regs.axil_awvalid && a.u_regs.axil_wvalid && is_secret_q) assume (is_data(a.u_regs.axil_awaddr));
  end

  // Of the responses that wait: whether they are of a register of secrets.
  logic [1:0] is_answer_secret_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) is_answer_secret_q <= '0;
    else if (a.u_regs.cpuif_rd_ack) is_answer_secret_q[a.u_regs.axil_resp_wptr[0]] <= is_data(a.u_regs.rd_mux_addr);
  end

  // --- the claim ---
  always_comb begin
    assert (seen_a == seen_b);
    if (resp_a.r_valid && !is_answer_secret_q[a.u_regs.axil_resp_rptr[0]]) assert (resp_a.r_data == resp_b.r_data);
  end

  // --- what the induction needs ---
  always_comb begin
    if (!is_secret_q) assert (a.u_regs.axil_wdata == b.u_regs.axil_wdata);
    for (int i = 0; i < 2; i++) begin
      if (!is_answer_secret_q[i]) assert (a.u_regs.axil_resp_buffer_rdata[i] == b.u_regs.axil_resp_buffer_rdata[i]);
      assert (a.u_regs.axil_resp_buffer_is_wr[i] == b.u_regs.axil_resp_buffer_is_wr[i]);
      assert (a.u_regs.axil_resp_buffer_err[i] == b.u_regs.axil_resp_buffer_err[i]);
    end
  end
  `SAME(u_regs.axil_n_in_flight)
  `SAME(u_regs.axil_prev_was_rd)
  `SAME(u_regs.axil_arvalid)
  `SAME(u_regs.axil_araddr)
  `SAME(u_regs.axil_awvalid)
  `SAME(u_regs.axil_awaddr)
  `SAME(u_regs.axil_wvalid)
  `SAME(u_regs.axil_wstrb)
  `SAME(u_regs.axil_resp_wptr)
  `SAME(u_regs.axil_resp_rptr)
  `SAME(u_regs.external_pending)
  `SAME(u_regs.pending_rd_addr)
  `SAME(u_regs.field_storage.control.mode.value)
  `SAME(u_regs.field_storage.control.stream.value)
  `SAME(u_regs.field_storage.control.by_commit.value)
  `SAME(u_regs.field_storage.control.suffix.value)
  `SAME(u_regs.field_storage.command.start.value)
  `SAME(u_regs.field_storage.command.squeeze.value)
  `SAME(u_regs.field_storage.command.abort.value)
  `SAME(u_regs.field_storage.command.wipe.value)
  `SAME(u_regs.field_storage.error.command.value)
  `SAME(u_regs.field_storage.error.push.value)
  `SAME(u_regs.field_storage.error.write.value)
  `SAME(u_regs.field_storage.interrupt.done.value)
  `SAME(u_regs.field_storage.interrupt.error.value)
  `SAME(u_regs.field_storage.interrupt_enable.done.value)
  `SAME(u_regs.field_storage.interrupt_enable.error.value)
  `SAME(u_regs.field_storage.final_size.size.value)
  `SAME(u_regs.field_storage.final_size.last.value)
  `SAME(u_regs.field_storage.final_size.commit.value)
  `SAME(open_q)
  `SAME(complete_q)
  `SAME(has_end_q)
  `SAME(is_half_q)
  `SAME(output_last_q)
  `SAME(lifecycle_q)
  `SAME(store_q)
  `SAME(store_index_q)
  `SAME(store_whole_q)
  `SAME(pending_q)
  `SAME(last_q)
  `SAME(last_next_q)
  `SAME(bytes_q)
  `SAME(was_done_q)
  `SAME(was_failed_q)
  `SAME(u_key.state_q)
  `SAME(u_key.lane_q)
  `SAME(u_key.there_q)
  `SAME(u_core.function_q)
  `SAME(u_core.u_control.state_q)
  `SAME(u_core.u_control.count_q)
  `SAME(u_core.u_control.final_q)
  `SAME(u_core.u_control.u_count.inverse)
  `SAME(u_core.u_block.state_q)
  `SAME(u_core.u_block.lane_q)
  `SAME(u_core.u_block.full_q)
  `SAME(u_core.u_block.final_q)
  `SAME(u_output.count_q)
  `SAME(u_output.collects_q)
  `SAME(u_output.clears_q)
  `SAME(u_output.valid_q)
endmodule
