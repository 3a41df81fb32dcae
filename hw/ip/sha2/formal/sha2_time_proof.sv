// Proof that the time of `sha2` depends on no secret: key, message, digest and saved states.
//
// Two engines get the same accesses, in the same cycles, with the same commands. What they write into key, digest and
// FIFO, and the words of their streams, are any two values. Then all handshakes, responses, interrupts, alerts, and what
// software reads of all other registers are the same in every cycle: the cycles of an access, of a block and of a
// message are functions of lengths and commands alone. It covers reset, wipes, aborts and changes of lifecycle.
//
// The induction needs that all registers of control are the same; those of data are not mentioned.

`define SAME(Path) always_comb assert (a.Path == b.Path);
// Of an engine. Whether its key is there is cleared in the first cycle after a reset, without a reset of its own.
`define SAME_ENGINE(I) \
  `SAME(g_engine[I].u_hmac.state_q) \
  `SAME(g_engine[I].u_hmac.is_hmac_q) \
  `SAME(g_engine[I].u_hmac.is_digest_q) \
  `SAME(g_engine[I].u_hmac.is_state_q) \
  `SAME(g_engine[I].u_hmac.is_first_q) \
  `SAME(g_engine[I].u_hmac.is_open_q) \
  `SAME(g_engine[I].u_hmac.resumes_q) \
  `SAME(g_engine[I].u_hmac.pos_q) \
  `SAME(g_engine[I].u_hmac.lifecycle_q) \
  `SAME(g_engine[I].u_hmac.is_awake_q) \
  always_comb if (a.g_engine[I].u_hmac.is_awake_q) begin \
  assert (a.g_engine[I].u_hmac.key_there_q == b.g_engine[I].u_hmac.key_there_q); \
  end \
  `SAME(g_engine[I].u_hmac.u_padding.state_q) \
  `SAME(g_engine[I].u_hmac.u_padding.pos_q) \
  `SAME(g_engine[I].u_hmac.u_padding.half_q) \
  `SAME(g_engine[I].u_hmac.u_padding.length_q) \
  `SAME(g_engine[I].u_hmac.u_core.u_control.state_q) \
  `SAME(g_engine[I].u_hmac.u_core.u_control.count_q) \
  `SAME(g_engine[I].u_hmac.u_core.u_control.u_count.inverse) \
  `SAME(g_engine[I].u_hmac.u_core.u_control.cmd_q)
// Of its collector of words, where a block takes fewer cycles than it has words.
`define SAME_LANE(I) \
  `SAME(g_engine[I].u_lane.g_collected.count_q) \
  `SAME(g_engine[I].u_lane.g_collected.valid_q) \
  `SAME(g_engine[I].u_lane.g_collected.last_q) \
  `SAME(g_engine[I].u_lane.g_collected.bytes_q)

module sha2_time_proof
  import hartlock_axi_pkg::*;
#(
  parameter int unsigned RoundsPerCycle = 1,
  parameter bit          WithSha512     = 1'b0
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

  sha2 #(.RoundsPerCycle(RoundsPerCycle), .WithSha512(WithSha512)) a (
    .clk_i, .rst_ni, .axil_i (axil_i), .axil_o (resp_a),
    .str_valid_i, .str_ready_o (seen_a.str_ready), .str_data_i (str_data_a_i), .str_last_i, .str_bytes_i, .str_abort_i,
    .lifecycle_i, .irq_o (seen_a.irq), .alert_o (seen_a.alert)
  );
  sha2 #(.RoundsPerCycle(RoundsPerCycle), .WithSha512(WithSha512)) b (
    .clk_i, .rst_ni, .axil_i (axil_b), .axil_o (resp_b),
    .str_valid_i, .str_ready_o (seen_b.str_ready), .str_data_i (str_data_b_i), .str_last_i, .str_bytes_i, .str_abort_i,
    .lifecycle_i, .irq_o (seen_b.irq), .alert_o (seen_b.alert)
  );

  // --- secrets ---
  // Registers of secrets (data/sha2.rdl): key, digest, FIFO.
  function automatic logic is_data(logic [11:0] address);
    return address inside {[12'h040:12'h07f], [12'h080:12'h0bf], [12'h100:12'h13f]};
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
  `SAME(u_regs.field_storage.control.message_swap.value)
  `SAME(u_regs.field_storage.control.digest_swap.value)
  `SAME(u_regs.field_storage.control.stream.value)
  `SAME(u_regs.field_storage.command.start.value)
  `SAME(u_regs.field_storage.command.process.value)
  `SAME(u_regs.field_storage.command.stop.value)
  `SAME(u_regs.field_storage.command.resume.value)
  `SAME(u_regs.field_storage.command.abort.value)
  `SAME(u_regs.field_storage.command.wipe.value)
  `SAME(u_regs.field_storage.error.command.value)
  `SAME(u_regs.field_storage.error.stop.value)
  `SAME(u_regs.field_storage.error.push.value)
  `SAME(u_regs.field_storage.error.write.value)
  `SAME(u_regs.field_storage.interrupt.done.value)
  `SAME(u_regs.field_storage.interrupt.fifo_empty.value)
  `SAME(u_regs.field_storage.interrupt.error.value)
  `SAME(u_regs.field_storage.interrupt_enable.done.value)
  `SAME(u_regs.field_storage.interrupt_enable.fifo_empty.value)
  `SAME(u_regs.field_storage.interrupt_enable.error.value)
  `SAME(u_regs.field_storage.message_length_low.value.value)
  `SAME(u_regs.field_storage.message_length_high.value.value)
  `SAME(open_q)
  `SAME(complete_q)
  `SAME(stop_q)
  `SAME(some_q)
  `SAME(taken_q)
  `SAME(was_done_q)
  `SAME(was_failed_q)
  `SAME(was_empty_q)
  `SAME(u_fifo.push_q)
  `SAME(u_fifo.lanes_q)
  `SAME(u_fifo.rest_count_q)
  `SAME(u_fifo.u_words.write_at)
  `SAME(u_fifo.u_words.read_at)
  `SAME(u_fifo.u_words.level)
  `SAME(u_fifo.u_words.wipe_at)
  `SAME(u_fifo.u_words.busy_o)
  `SAME_ENGINE(0)
  if (RoundsPerCycle == 1) begin : gen_narrow
    `SAME(g_narrow.u_narrow.is_second_q)
  end
  if (RoundsPerCycle > 1) begin : gen_lane
    `SAME_LANE(0)
  end
  if (WithSha512) begin : gen_sha512
    `SAME_ENGINE(1)
    `SAME_LANE(1)
  end
endmodule
