// The DMA engine on a bus: registers of `data/dma.rdl` (AXI4-Lite), memory (AXI4, 64 bits), the
// scratchpad with the lists, sinks, an interrupt and an alert.
//
// Firmware locks the windows before anything starts, so they cannot move under a list. Pages below
// `LowestPage` are in no window, whatever firmware writes. A change of the lifecycle ends a list,
// also one whose command comes in the same cycle.
//
// Timing: from the command to the end of a list of one descriptor it takes length / 8 + L + 16
// cycles with a memory that answers after L cycles and gives a beat a cycle. Reset ends everything
// and opens the lock.
//
// Hardening: an illegal state of the core, and an address outside of its window at the port, are
// errors until reset with `alert_o` (`dma_core`). Upsets of data are not detected.

`include "assert.svh"

module dma
  import dma_pkg::*;
  import dma_regs_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // Number of sinks, at most 8.
  parameter int unsigned NumSinks    = 3,
  // Bursts of reads that may be outstanding. More of them cover a longer latency of memory.
  parameter int unsigned NumReads    = 8,
  // Bytes of the scratchpad, as a power of two, at most 16.
  parameter int unsigned ScratchBits = 16,
  // Pages below this one are in no window. It is below 2^20.
  parameter int unsigned LowestPage  = 0,
  // 0 builds a core that continues from an illegal state, to show that the test detects it.
  parameter bit          Hardened    = 1'b1,
  localparam int unsigned WordBits   = ScratchBits - 2
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // AXI4-Lite, 4 KiB. It has no protection bits: the only manager of this port is the root of trust.
  input  axil_req_t           axil_i,
  output axil_resp_t          axil_o,

  // The scratchpad, in words of 32 bits. A request stays until its grant, and data come in order.
  output logic                scratch_req_o,
  input  logic                scratch_gnt_i,
  output logic [WordBits-1:0] scratch_word_o,
  input  logic                scratch_rvalid_i,
  input  logic [31:0]         scratch_rdata_i,
  input  logic                scratch_err_i,

  // The message, in words of eight bytes with the lowest byte first. The last word has none to
  // eight bytes. `sink_abort_o` says that there will be no last word: the sinks forget what they
  // have of the message.
  output logic [NumSinks-1:0] sink_valid_o,
  input  logic [NumSinks-1:0] sink_ready_i,
  output logic [63:0]         sink_data_o,
  output logic                sink_last_o,
  output logic [3:0]          sink_bytes_o,
  output logic                sink_abort_o,

  // Memory. All bursts are INCR of words of 64 bits, with id 0.
  output axi_req_t            axi_o,
  input  axi_resp_t           axi_i,

  // Lifecycle code. Any change of it ends a list, because the device may be in other hands then.
  input  logic [3:0]          lifecycle_i,
  output logic                irq_o,
  // An upset was detected. The engine stops until reset.
  output logic                alert_o
);
  // Fields of the register block, in the shape that the generator gives them.
  dma__in_t  regs_in;
  dma__out_t regs_out;

  // Generated from data/dma.rdl.
  dma_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i        (axil_i),
    .axil_o        (axil_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // Status of the core, as registers and interrupts report it.
  logic busy, done, failed, error, was_error_q, is_locked, is_awake_q, is_changed;
  cause_e cause;
  logic [IndexBits-1:0] index;
  logic [3:0] lifecycle_q;
  logic [ScratchBits-11:0] list;
  logic is_far, holds;

  // An offset past the end of the scratchpad is treated as a list of too many descriptors, which
  // the core refuses.
  assign list       = regs_out.list.offset.value[ScratchBits-11:0];
  assign is_far     = (regs_out.list.offset.value >> (ScratchBits - 10)) != '0;
  assign holds      = busy | regs_out.command.start.value;
  assign is_locked  = regs_out.lock.locked.value;
  // In the first cycle after reset there is no earlier lifecycle, so there is no change.
  assign is_changed = is_awake_q & (lifecycle_i != lifecycle_q);

  // `is_allowed` tells whether a window may have a page. `allowed` raises the first page of a
  // window to the lowest one that is allowed. The sum avoids a comparison that is always true for
  // `LowestPage` 0.
  function automatic logic is_allowed(logic [19:0] page);
    return 32'(page) + 32'd1 > LowestPage;
  endfunction
  function automatic logic [19:0] allowed(logic [19:0] first);
    return is_allowed(first) ? first : 20'(LowestPage);
  endfunction

  // The engine. `burst_at` completes its addresses.
  logic [31:0] ar_addr, aw_addr;
  logic [7:0]  ar_len, aw_len;
  dma_core #(
    .NumSinks   (NumSinks),
    .NumReads   (NumReads),
    .ScratchBits(ScratchBits),
    .Hardened   (Hardened)
  ) u_core (
    .clk_i, .rst_ni,
    .locked_i     (is_locked),
    .source_i     ({allowed(regs_out.source_first.page.value), regs_out.source_last.page.value}),
    .destination_i({allowed(regs_out.destination_first.page.value), regs_out.destination_last.page.value}),
    .start_i      (regs_out.command.start.value),
    .abort_i      (regs_out.command.abort.value | is_changed),
    .list_i       (list),
    .count_i      (regs_out.count.descriptors.value | {7{is_far}}),
    .sinks_i      (regs_out.control.sinks.value),
    .writes_i     (regs_out.control.write.value),
    .busy_o       (busy),
    .done_o       (done),
    .failed_o     (failed),
    .cause_o      (cause),
    .index_o      (index),
    .error_o      (error),
    .scratch_req_o, .scratch_gnt_i, .scratch_word_o, .scratch_rvalid_i, .scratch_rdata_i, .scratch_err_i,
    .sink_valid_o, .sink_ready_i, .sink_data_o, .sink_last_o, .sink_bytes_o, .sink_abort_o,
    .ar_valid_o (axi_o.ar_valid), .ar_ready_i (axi_i.ar_ready), .ar_addr_o (ar_addr), .ar_len_o (ar_len),
    .r_valid_i (axi_i.r_valid), .r_ready_o (axi_o.r_ready), .r_data_i (axi_i.r_data), .r_resp_i (axi_i.r_resp),
    .r_last_i (axi_i.r_last),
    .aw_valid_o (axi_o.aw_valid), .aw_ready_i (axi_i.aw_ready), .aw_addr_o (aw_addr), .aw_len_o (aw_len),
    .w_valid_o (axi_o.w_valid), .w_ready_i (axi_i.w_ready), .w_data_o (axi_o.w_data), .w_strb_o (axi_o.w_strb),
    .w_last_o (axi_o.w_last),
    .b_valid_i (axi_i.b_valid), .b_ready_o (axi_o.b_ready), .b_resp_i (axi_i.b_resp)
  );

  // Each channel has one id, so responses come in the order of the requests and their ids say nothing.
  assign axi_o.ar    = burst_at(ar_addr, ar_len);
  assign axi_o.aw    = burst_at(aw_addr, aw_len);
  assign axi_o.ar_id = '0;
  assign axi_o.aw_id = '0;
  logic unused_ids;
  assign unused_ids = ^{axi_i.r_id, axi_i.b_id};

  assign irq_o   = regs_out.interrupt.intr;
  assign alert_o = error;

  // The interrupt of an upset is set once, in its first cycle. The lifecycle of the cycle before
  // tells whether it changed.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      was_error_q <= 1'b0;
      is_awake_q  <= 1'b0;
      lifecycle_q <= '0;
    end else begin
      was_error_q <= error;
      is_awake_q  <= 1'b1;
      lifecycle_q <= lifecycle_i;
    end
  end

  // Every input of the register block: constants of the build, locks, status and events.
  always_comb begin
    regs_in.parameters.sinks.next           = 8'(NumSinks);
    regs_in.parameters.reads.next           = 8'(NumReads);
    regs_in.parameters.scratchpad_bits.next = 8'(ScratchBits);

    // Software cannot change what a list depends on from the cycle of its start to its end.
    regs_in.control.sinks.swwel     = holds;
    regs_in.control.write.swwel     = holds;
    regs_in.list.offset.swwel       = holds;
    regs_in.count.descriptors.swwel = holds;

    // Windows do not change after the lock.
    regs_in.source_first.page.swwel      = is_locked;
    regs_in.source_last.page.swwel       = is_locked;
    regs_in.destination_first.page.swwel = is_locked;
    regs_in.destination_last.page.swwel  = is_locked;

    regs_in.status.idle.next   = ~busy;
    regs_in.status.failed.next = error;
    regs_in.error.cause.next   = cause;
    regs_in.error.index.next   = index;

    // A command while a list runs is ignored and reported.
    regs_in.interrupt.done.hwset    = done;
    regs_in.interrupt.error.hwset   = failed | (error & ~was_error_q);
    regs_in.interrupt.refused.hwset = regs_out.command.start.value & busy;
  end

  // --- assertions ---
  // The bus follows the rules of AXI4-Lite; the names below state the further properties of this module.

`ifndef SYNTHESIS
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // A lock lasts until reset.
  `ASSERT(ALockIsForGood_A, is_locked |=> is_locked)
  // The windows cannot change under a list, nor before the next one, once firmware has locked them.
  `ASSERT(LockedWindowsStay_A, is_locked |=> $stable({regs_out.source_first.page.value,
          regs_out.source_last.page.value, regs_out.destination_first.page.value,
          regs_out.destination_last.page.value}))
  // No burst begins in a page that the system keeps from DMA.
  `ASSERT(NothingBelowTheLowestPage_A, !(axi_o.ar_valid && !is_allowed(ar_addr[31:12])) &&
          !(axi_o.aw_valid && !is_allowed(aw_addr[31:12])))
  // Without a lock a list may only fail: the core is busy then with a cause or an upset.
  `ASSERT(BusyNeedsALock_A, 1'b1 |=> !(busy && !alert_o && cause == CauseNone) || (is_locked))
  // The inputs of a list do not change while it runs, so the core need not copy them.
  `ASSERT(AListIsStable_A, busy || regs_out.command.start.value |=> $stable({list, regs_out.count.descriptors.value,
          regs_out.control.sinks.value, regs_out.control.write.value}))
endmodule
