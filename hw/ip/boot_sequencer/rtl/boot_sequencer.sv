// The boot sequencer on AXI4-Lite: its core with a register block (../doc/README.md).
//
// A write that the core refuses is an error for the manager (`axi_lite_serializer`). A read takes
// two cycles from the cycle in which its address is taken; address and data of a write are taken
// together. Reset holds the host in reset and forgets an open access.
//
// Hardening is that of `boot_sequencer_core`.
//
// The origin of a write is not checked: the bus has one manager, the core of the root of trust.

`include "assert.svh"

module boot_sequencer
  import hartlock_axi_pkg::*;
#(
  // 0 builds a core that continues from an illegal state, to show that the test detects it.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // This is the AXI4-Lite port with 4 KiB of addresses.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // The core of the root of trust has detected a fault of its own. This puts the host into reset.
  input  logic        fault_i,

  // Reset of the host: asserted asynchronously, released with the clock.
  output logic        host_rst_no,
  // Every fetch of the host fails while this is set.
  output logic        host_trap_o,
  // The status as in its register, and the reason, for pins and for the debugger.
  output logic [2:0]  status_o,
  output logic [31:0] reason_o
);
  boot_sequencer_regs_pkg::boot_sequencer__in_t  regs_in;
  boot_sequencer_regs_pkg::boot_sequencer__out_t regs_out;

  // One access is open at a time, and its response carries a refusal of the core.
  axil_req_t  regs_req;
  axil_resp_t regs_resp;
  logic       refuses;
  axi_lite_serializer u_serializer (
    .clk_i, .rst_ni, .axil_i, .axil_o, .regs_o (regs_req), .regs_i (regs_resp), .refuses_i (refuses)
  );

  // Generated from data/boot_sequencer.rdl. All three registers are in the core, so every write
  // passes the checks of the core.
  boot_sequencer_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i         (regs_req),
    .axil_o         (regs_resp),
    .hwif_in        (regs_in),
    .hwif_out       (regs_out)
  );

  // Reads of these registers are requests as well, but they are no commands.
  logic decides, explains;
  assign decides  = regs_out.decision.req & regs_out.decision.req_is_wr;
  assign explains = regs_out.reason.req & regs_out.reason.req_is_wr;

  // Both registers see the same word of the bus.
  boot_sequencer_core #(.Hardened(Hardened)) u_core (
    .clk_i,
    .rst_ni,
    .decide_i    (decides),
    .explain_i   (explains),
    .word_i      (decides ? regs_out.decision.wr_data.word : regs_out.reason.wr_data.value),
    .is_whole_i  (decides ? &regs_out.decision.wr_biten.word : &regs_out.reason.wr_biten.value),
    .fault_i,
    .refuses_o   (refuses),
    .host_rst_no,
    .host_trap_o,
    .status_o,
    .reason_o
  );

  // The register block waits for an acknowledgement of each external access. It comes in the same cycle, for refused
  // writes as well: a refused access must end, too.
  always_comb begin
    regs_in.decision.wr_ack      = decides;
    regs_in.reason.wr_ack        = explains;
    regs_in.reason.rd_ack        = regs_out.reason.req & ~regs_out.reason.req_is_wr;
    regs_in.reason.rd_data.value = reason_o;
    regs_in.status.state.next    = status_o;
  end

  // A write that the core refuses is answered with an error.
  `ASSERT(AnErrorBelongsToItsWrite_A, refuses |=> axil_o.b_valid && axil_o.b_resp == RespSlverr)
  // A read is no command: software that looks at a register decides nothing.
  `ASSERT(AReadDecidesNothing_A, 1'b1 |=> regs_req.w_valid || $past(regs_req.w_valid) || !(decides | explains))
  // Each access of the core's registers ends in its cycle, a refused one too, or the bus would hang.
  `ASSERT(ARequestIsAnsweredAtOnce_A, 1'b1 |=> !(regs_out.decision.req | regs_out.reason.req) ||
          (regs_in.decision.wr_ack | regs_in.reason.wr_ack | regs_in.reason.rd_ack))
endmodule
