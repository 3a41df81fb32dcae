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
#(
  // Pages below this one are in no window. It is below 2^20.
  parameter int unsigned LowestPage = 0,
  // 0 builds a writer without the copy that continues from an illegal state, to show that tests
  // detect it.
  parameter bit          Hardened   = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // AXI4-Lite, 4 KiB. Protection bits are ignored: the only manager of this port is the root of trust.
  // Write address.
  input  logic        axil_awvalid_i,
  output logic        axil_awready_o,
  input  logic [11:0] axil_awaddr_i,
  input  logic [2:0]  axil_awprot_i,
  // Write data.
  input  logic        axil_wvalid_i,
  output logic        axil_wready_o,
  input  logic [31:0] axil_wdata_i,
  input  logic [3:0]  axil_wstrb_i,
  // Write response.
  output logic        axil_bvalid_o,
  input  logic        axil_bready_i,
  output logic [1:0]  axil_bresp_o,
  // Read address.
  input  logic        axil_arvalid_i,
  output logic        axil_arready_o,
  input  logic [11:0] axil_araddr_i,
  input  logic [2:0]  axil_arprot_i,
  // Read data and response.
  output logic        axil_rvalid_o,
  input  logic        axil_rready_i,
  output logic [31:0] axil_rdata_o,
  output logic [1:0]  axil_rresp_o,

  // The stream that is written: words of eight bytes with valid and ready, the first byte in the
  // lower bits. The last word has one to eight bytes. An abort says that there will be no last
  // word.
  input  logic        str_valid_i,
  output logic        str_ready_o,
  input  logic [63:0] str_data_i,
  input  logic        str_last_i,
  input  logic [3:0]  str_bytes_i,
  input  logic        str_abort_i,

  // Memory. All bursts are INCR of words of 64 bits, with one id.
  // Write address.
  output logic        aw_valid_o,
  input  logic        aw_ready_i,
  output logic [31:0] aw_addr_o,
  output logic [7:0]  aw_len_o,
  // Write data.
  output logic        w_valid_o,
  input  logic        w_ready_i,
  output logic [63:0] w_data_o,
  output logic [7:0]  w_strb_o,
  output logic        w_last_o,
  // Write response.
  input  logic        b_valid_i,
  output logic        b_ready_o,
  input  logic [1:0]  b_resp_i,

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
    .clk           (clk_i),
    .arst_n        (rst_ni),
    .s_axil_awready(axil_awready_o),
    .s_axil_awvalid(axil_awvalid_i),
    .s_axil_awaddr (axil_awaddr_i),
    .s_axil_awprot (axil_awprot_i),
    .s_axil_wready (axil_wready_o),
    .s_axil_wvalid (axil_wvalid_i),
    .s_axil_wdata  (axil_wdata_i),
    .s_axil_wstrb  (axil_wstrb_i),
    .s_axil_bready (axil_bready_i),
    .s_axil_bvalid (axil_bvalid_o),
    .s_axil_bresp  (axil_bresp_o),
    .s_axil_arready(axil_arready_o),
    .s_axil_arvalid(axil_arvalid_i),
    .s_axil_araddr (axil_araddr_i),
    .s_axil_arprot (axil_arprot_i),
    .s_axil_rready (axil_rready_i),
    .s_axil_rvalid (axil_rvalid_o),
    .s_axil_rdata  (axil_rdata_o),
    .s_axil_rresp  (axil_rresp_o),
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
    .aw_valid_o, .aw_ready_i, .aw_addr_o, .aw_len_o,
    .w_valid_o, .w_ready_i, .w_data_o,
    .w_strb_o (core_strb),
    .w_last_o,
    .b_valid_i, .b_ready_o, .b_resp_i,
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
    .aw_ready_i, .w_ready_i, .b_valid_i, .b_resp_i,
    .told_i   (told),
    .differs_o(differs),
    .fault_o  (fault)
  );

  // No byte changes from the cycle of a difference on, and nothing is reported as done. The range
  // ends, and its open burst is completed as far as the control still knows it.
  assign w_strb_o = core_strb & ~{8{differs | fault}};
  assign done     = core_done & ~differs & ~fault;
  assign error    = core_error | fault;

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
  axi_lite_checks #(.AddrBits(12)) u_checks (
    .clk_i,
    .rst_ni,
    .awvalid_i(axil_awvalid_i),
    .awready_i(axil_awready_o),
    .awaddr_i (axil_awaddr_i),
    .wvalid_i (axil_wvalid_i),
    .wready_i (axil_wready_o),
    .wdata_i  (axil_wdata_i),
    .wstrb_i  (axil_wstrb_i),
    .bvalid_i (axil_bvalid_o),
    .bready_i (axil_bready_i),
    .bresp_i  (axil_bresp_o),
    .arvalid_i(axil_arvalid_i),
    .arready_i(axil_arready_o),
    .araddr_i (axil_araddr_i),
    .rvalid_i (axil_rvalid_o),
    .rready_i (axil_rready_i),
    .rdata_i  (axil_rdata_o),
    .rresp_i  (axil_rresp_o)
  );
`endif

  // A control that may be wrong changes no byte of memory, in the same cycle already.
  `ASSERT(ADifferenceChangesNoByte_A, differs || fault |-> w_strb_o == '0 && !done)
  // A lock lasts until reset.
  `ASSERT(ALockIsForGood_A, is_locked |=> is_locked)
  // The window cannot change once firmware has locked it.
  `ASSERT(ALockedWindowStays_A, is_locked |=>
          $stable({regs_out.window_first.page.value, regs_out.window_last.page.value}))
  // No burst begins in a page that the system keeps from the writer.
  `ASSERT(NothingBelowTheLowestPage_A, 1'b1 |=> !(aw_valid_o && !is_allowed(aw_addr_o[31:12])))
  // The inputs of a range do not change while it is written, so the core need not copy them.
  `ASSERT(ARangeIsStable_A, busy || regs_out.command.start.value |=>
          $stable({regs_out.destination.address.value, regs_out.length.bytes.value}))
endmodule
