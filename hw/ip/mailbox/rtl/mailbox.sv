// The mailbox: two AXI4-Lite ports with registers, and the core with the state machine of an
// exchange (../doc/README.md).
//
// Each side has a register block of its own, and no signal of one bus enters the other's: a side
// that hangs cannot stop the accesses of the other. Both run on one clock. A read takes two cycles
// from the cycle in which its address is taken. Reset empties and closes the mailbox.
//
// The two sides share words, once they are handed over, and the state of the exchange. The words of
// a request are not checked here: the software of the root of trust decides what is allowed.
//
// Hardening: any two states of the core differ in four bits, and every other code is a fault until
// reset, with `error_o` and all words cleared. The words themselves have no parity.

`include "assert.svh"

module mailbox
  import mailbox_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // 0 builds a core that does not detect an illegal state, to show that the tests detect it.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The port of the host, AXI4-Lite with 4 KiB of addresses. The
  // interrupt is a level.
  input  axil_req_t   host_axil_i,
  output axil_resp_t  host_axil_o,
  output logic        host_irq_o,

  // The port of the root of trust, of the same kind.
  input  axil_req_t   rot_axil_i,
  output axil_resp_t  rot_axil_o,
  output logic        rot_irq_o,

  // Empties and closes the mailbox, from the cycle after it.
  input  logic        wipe_i,
  // The lifecycle of the device. A change of it empties and closes the mailbox as well.
  input  logic [3:0]  lifecycle_i,
  // The core was upset. This lasts until reset.
  output logic        error_o
);
  mailbox_host_regs_pkg::mailbox_host__in_t  host_in;
  mailbox_host_regs_pkg::mailbox_host__out_t host_out;
  mailbox_rot_regs_pkg::mailbox_rot__in_t    rot_in;
  mailbox_rot_regs_pkg::mailbox_rot__out_t   rot_out;

  // Permissions and status, from the core to both register blocks.
  logic request_write, answer_write, clear, open_clear;
  logic host_refused, host_emptied, rot_refused, host_event, rot_event;
  logic [31:0] answer_id;
  request_t request, request_seen;
  answer_t answer, answer_seen;
  view_e view;

  // Commands are strobes of one cycle: the register blocks clear them.
  mailbox_core #(.Hardened(Hardened)) u_core (
    .clk_i,
    .rst_ni,
    .ring_i          (host_out.command.ring.value),
    .acknowledge_i   (host_out.command.acknowledge.value),
    .respond_i       (rot_out.command.respond.value),
    .discard_i       (rot_out.command.discard.value),
    .open_i          (rot_out.control.open.value),
    .wipe_i,
    .lifecycle_i,
    .request_write_o (request_write),
    .answer_write_o  (answer_write),
    .clear_o         (clear),
    .open_clear_o    (open_clear),
    .request_i       (request),
    .request_o       (request_seen),
    .answer_i        (answer),
    .answer_o        (answer_seen),
    .answer_id_o     (answer_id),
    .view_o          (view),
    .host_refused_o  (host_refused),
    .host_emptied_o  (host_emptied),
    .rot_refused_o   (rot_refused),
    .host_event_o    (host_event),
    .rot_event_o     (rot_event),
    .error_o         (error_o)
  );

  // The words that the host wrote, and the words that it reads. Its register block stores them:
  // `swwe` enables writes in this cycle, and `hwclr` clears the words. A request that was handed
  // over is the same storage that the core passes on, so no second copy exists that could differ.
  assign request.operation   = host_out.operation.operation.value;
  assign request.flags       = host_out.operation.flags.value;
  assign request.id          = host_out.id.value.value;
  assign request.source      = {host_out.source_high.value.value, host_out.source_low.value.value};
  assign request.destination = {host_out.destination_high.value.value, host_out.destination_low.value.value};
  assign request.length      = host_out.length.value.value;
  always_comb begin
    host_in.status.state.next   = view;
    host_in.status.refused.next = host_refused;
    host_in.status.emptied.next = host_emptied;
    host_in.operation.operation.swwe  = request_write;
    host_in.operation.operation.hwclr = clear;
    host_in.operation.flags.swwe      = request_write;
    host_in.operation.flags.hwclr     = clear;
    host_in.id.value.swwe  = request_write;
    host_in.id.value.hwclr = clear;
    host_in.source_low.value.swwe  = request_write;
    host_in.source_low.value.hwclr = clear;
    host_in.source_high.value.swwe  = request_write;
    host_in.source_high.value.hwclr = clear;
    host_in.destination_low.value.swwe  = request_write;
    host_in.destination_low.value.hwclr = clear;
    host_in.destination_high.value.swwe  = request_write;
    host_in.destination_high.value.hwclr = clear;
    host_in.length.value.swwe  = request_write;
    host_in.length.value.hwclr = clear;
    host_in.outcome.status.next  = answer_seen.status;
    host_in.outcome.reason.next  = answer_seen.reason;
    host_in.answer_id.value.next = answer_id;
    for (int unsigned i = 0; i < ResultWords; i++) host_in.result[i].value.next = answer_seen.result[i];
  end

  // The words that the root of trust wrote, and the words that it reads, in the same way for the
  // other direction. Only the core closes the mailbox again, after a wipe.
  assign answer.status = rot_out.outcome.status.value;
  assign answer.reason = rot_out.outcome.reason.value;
  for (genvar i = 0; i < int'(ResultWords); i++) begin : gen_result
    assign answer.result[i] = rot_out.result[i].value.value;
  end
  always_comb begin
    rot_in.status.state.next            = view;
    rot_in.status.refused.next          = rot_refused;
    rot_in.control.open.hwclr           = open_clear;
    rot_in.operation.operation.next     = request_seen.operation;
    rot_in.operation.flags.next         = request_seen.flags;
    rot_in.id.value.next                = request_seen.id;
    rot_in.source_low.value.next        = request_seen.source[31:0];
    rot_in.source_high.value.next       = request_seen.source[63:32];
    rot_in.destination_low.value.next   = request_seen.destination[31:0];
    rot_in.destination_high.value.next  = request_seen.destination[63:32];
    rot_in.length.value.next            = request_seen.length;
    rot_in.outcome.status.swwe          = answer_write;
    rot_in.outcome.status.hwclr         = clear;
    rot_in.outcome.reason.swwe          = answer_write;
    rot_in.outcome.reason.hwclr         = clear;
    for (int unsigned i = 0; i < ResultWords; i++) begin
      rot_in.result[i].value.swwe  = answer_write;
      rot_in.result[i].value.hwclr = clear;
    end
  end

  // Interrupts are levels and not edges: each lasts as long as its cause, so none is lost.
  assign host_irq_o = host_event & host_out.interrupt.enable.value;
  assign rot_irq_o  = rot_event & rot_out.control.interrupt_enable.value;

  // Generated from data/mailbox.rdl, one block for each side. They share no signal but those of the core.
  mailbox_host_regs u_host_regs (
    .clk_i,
    .rst_ni,
    .axil_i          (host_axil_i),
    .axil_o          (host_axil_o),
    .hwif_in         (host_in),
    .hwif_out        (host_out)
  );

  mailbox_rot_regs u_rot_regs (
    .clk_i,
    .rst_ni,
    .axil_i          (rot_axil_i),
    .axil_o          (rot_axil_o),
    .hwif_in         (rot_in),
    .hwif_out        (rot_out)
  );

`ifndef SYNTHESIS
  // In simulation these check that both buses follow the rules of AXI4-Lite.
  axi_lite_checks u_host_checks (.clk_i, .rst_ni, .req_i (host_axil_i), .resp_i (host_axil_o));

  axi_lite_checks u_rot_checks (.clk_i, .rst_ni, .req_i (rot_axil_i), .resp_i (rot_axil_o));
`endif

  // The host is interrupted only for an answer, for a request that was dropped, or for a fault.
  `ASSERT(NoInterruptWithoutAReason_A, host_irq_o |-> view inside {ViewAnswered, ViewFault} || host_emptied)
  // The host is told that a doorbell would be accepted only while the root of trust takes requests.
  `ASSERT(NoRequestWhileClosed_A, view == ViewReady |-> rot_out.control.open.value)
  // The root of trust is interrupted only for a request or a fault.
  `ASSERT(NoInterruptToTheRootOfTrustWithoutAReason_A, rot_irq_o |-> view inside {ViewBusy, ViewFault})
  // The host cannot read an answer before the root of trust has handed it over.
  `ASSERT(TheHostSeesNoAnswerEarly_A, view != ViewAnswered |-> host_in.outcome.status.next == '0)
  // The root of trust cannot read a request before the host has rung, so it never sees words that
  // may still change.
  `ASSERT(TheRootOfTrustSeesNoRequestEarly_A, view != ViewBusy |-> rot_in.id.value.next == '0)
endmodule
