// The stream writer on a bus: registers of `data/stream_writer.rdl` (AXI4-Lite), a stream of 64
// bits, writes of memory (AXI4, 64 bits), an interrupt and an alert (../doc/README.md).
//
// The window is locked before anything starts, so it cannot move under a range. Pages below
// `LowestPage` are in no window, whatever firmware writes. A change of the lifecycle ends a range.
// Reset ends everything and opens the lock.
//
// Timing: a word of eight bytes takes one cycle if memory does not wait.
//
// Hardening: the control and the locked window have a copy (`stream_writer_copy`). From the cycle
// of a difference on no byte of memory changes and nothing is reported as done, until reset, with
// `alert_o`. So no single upset of control writes outside of the range. Upsets of data are not
// detected.

`include "assert.svh"

module stream_writer
  import stream_writer_pkg::*;
  import stream_writer_regs_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // Pages below this one are in no window. It is below 2^20.
  parameter int unsigned LowestPage = 0,
  // 0 builds a writer without the copy that continues from an illegal state, to show that tests
  // detect it.
  parameter bit          Hardened   = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // AXI4-Lite, 4 KiB. It has no protection bits: the only manager of this port is the root of trust.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // The stream that is written: words of eight bytes with valid and ready, the first byte in the
  // lower bits. The last word has one to eight bytes. An abort says that there will be no last
  // word.
  input  logic        str_valid_i,
  output logic        str_ready_o,
  input  logic [63:0] str_data_i,
  input  logic        str_last_i,
  input  logic [3:0]  str_bytes_i,
  input  logic        str_abort_i,

  // Memory. All bursts are INCR of words of 64 bits, with id 0, and nothing is read.
  output axi_req_t    axi_o,
  input  axi_resp_t   axi_i,

  // Lifecycle code. Any change of it ends a range, because the device may be in other hands then.
  input  logic [3:0]  lifecycle_i,
  output logic        irq_o,
  // An upset was detected. The writer stops until reset.
  output logic        alert_o
);
  // Fields of the register block, in the shape that the generator gives them.
  stream_writer__in_t  regs_in;
  stream_writer__out_t regs_out;

  // Generated from data/stream_writer.rdl.
  stream_writer_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i        (axil_i),
    .axil_o        (axil_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // Status of the core and of its comparison with the copy.
  logic busy, done, failed, error, was_error_q, is_locked, is_awake_q, is_changed, holds, start, abort;
  logic core_error, core_done, differs, fault;
  logic [7:0] core_strb;
  told_t told;
  dma_pkg::window_t window;
  cause_e cause;
  logic [3:0]  lifecycle_q;
  logic [19:0] first;

  assign holds      = busy | regs_out.command.start.value;
  assign is_locked  = regs_out.lock.locked.value;
  // In the first cycle after reset there is no earlier lifecycle, so there is no change.
  assign is_changed = is_awake_q & (lifecycle_i != lifecycle_q);

  // `is_allowed` tells whether a window may have a page, and `first` is the first page that the
  // window really has. The sum avoids a comparison that is always true for `LowestPage` 0.
  function automatic logic is_allowed(logic [19:0] page);
    return 32'(page) + 32'd1 > LowestPage;
  endfunction
  assign first = is_allowed(regs_out.window_first.page.value) ? regs_out.window_first.page.value : 20'(LowestPage);

  assign window = {first, regs_out.window_last.page.value};
  assign start  = regs_out.command.start.value;
  // A difference from the copy ends the range like an abort.
  assign abort  = regs_out.command.abort.value | is_changed | fault;

  // The writer.
  logic        aw_valid, w_valid, w_last, b_ready;
  logic [31:0] aw_addr;
  logic [7:0]  aw_len, w_strb;
  logic [63:0] w_data;
  stream_writer_core #(.Hardened(Hardened)) u_core (
    .clk_i, .rst_ni,
    .locked_i (is_locked),
    .window_i (window),
    .start_i  (start),
    .abort_i  (abort),
    .address_i(regs_out.destination.address.value),
    .length_i (regs_out.length.bytes.value),
    .busy_o   (busy),
    .done_o   (core_done),
    .failed_o (failed),
    .cause_o  (cause),
    .error_o  (core_error),
    .str_valid_i, .str_ready_o, .str_data_i, .str_last_i, .str_bytes_i, .str_abort_i,
    .aw_valid_o (aw_valid), .aw_ready_i (axi_i.aw_ready), .aw_addr_o (aw_addr), .aw_len_o (aw_len),
    .w_valid_o (w_valid), .w_ready_i (axi_i.w_ready), .w_data_o (w_data), .w_strb_o (core_strb), .w_last_o (w_last),
    .b_valid_i (axi_i.b_valid), .b_ready_o (b_ready), .b_resp_i (axi_i.b_resp),
    .told_o   (told)
  );

  // The copy has the inputs of the writer and no data.
  stream_writer_copy #(.Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .locked_i (is_locked),
    .window_i (window),
    .start_i  (start),
    .abort_i  (abort),
    .address_i(regs_out.destination.address.value),
    .length_i (regs_out.length.bytes.value),
    .str_valid_i, .str_last_i, .str_bytes_i, .str_abort_i,
    .aw_ready_i (axi_i.aw_ready), .w_ready_i (axi_i.w_ready), .b_valid_i (axi_i.b_valid), .b_resp_i (axi_i.b_resp),
    .told_i   (told),
    .differs_o(differs),
    .fault_o  (fault)
  );

  // No byte changes from the cycle of a difference on, and nothing is reported as done. The range
  // ends, and its open burst is completed as far as the control still knows it.
  assign w_strb = core_strb & ~{8{differs | fault}};
  assign done     = core_done & ~differs & ~fault;
  assign error    = core_error | fault;

  assign axi_o = '{
    aw_valid: aw_valid, aw_id: '0, aw: burst_at(aw_addr, aw_len),
    w_valid:  w_valid, w_data: w_data, w_strb: w_strb, w_last: w_last,
    b_ready:  b_ready,
    ar_valid: 1'b0, ar_id: '0, ar: burst_at('0, '0),
    r_ready:  1'b0
  };
  logic unused_resp;
  assign unused_resp = ^{axi_i.b_id, axi_i.ar_ready, axi_i.r_valid, axi_i.r_id, axi_i.r_data, axi_i.r_resp, axi_i.r_last};

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

  // Every input of the register block: locks, status and events.
  always_comb begin
    // Software cannot change what a range depends on from the cycle of its start to its end.
    regs_in.destination.address.swwel = holds;
    regs_in.length.bytes.swwel        = holds;

    // The window does not change after the lock.
    regs_in.window_first.page.swwel = is_locked;
    regs_in.window_last.page.swwel  = is_locked;

    regs_in.status.idle.next   = ~busy & ~fault;
    regs_in.status.failed.next = error;
    regs_in.error.cause.next   = cause;

    // A command while a range is written is ignored and reported.
    regs_in.interrupt.done.hwset    = done;
    regs_in.interrupt.error.hwset   = failed | (error & ~was_error_q);
    regs_in.interrupt.refused.hwset = regs_out.command.start.value & busy;
  end

  // --- assertions ---
  // The bus follows the rules of AXI4-Lite; the names below state the further properties of this module.

`ifndef SYNTHESIS
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // A control that may be wrong changes no byte of memory, in the same cycle already.
  `ASSERT(ADifferenceChangesNoByte_A, differs || fault |-> axi_o.w_strb == '0 && !done)
  // A lock lasts until reset.
  `ASSERT(ALockIsForGood_A, is_locked |=> is_locked)
  // The window cannot change once firmware has locked it.
  `ASSERT(ALockedWindowStays_A, is_locked |=>
          $stable({regs_out.window_first.page.value, regs_out.window_last.page.value}))
  // No burst begins in a page that the system keeps from the writer.
  `ASSERT(NothingBelowTheLowestPage_A, 1'b1 |=> !(axi_o.aw_valid && !is_allowed(aw_addr[31:12])))
  // The inputs of a range do not change while it is written, so the core need not copy them.
  `ASSERT(ARangeIsStable_A, busy || regs_out.command.start.value |=>
          $stable({regs_out.destination.address.value, regs_out.length.bytes.value}))
endmodule
