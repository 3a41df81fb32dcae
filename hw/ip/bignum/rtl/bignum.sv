// This module is the engine for big numbers with its bus: registers of `data/bignum.rdl` (AXI4-Lite), an
// interrupt and an alert. It turns accesses to the registers into words, choices and commands for
// `bignum_core`.
//
// Protocol: software chooses an operand in `operand`, writes its words into `data`, and writes `command`. When
// `status.idle` is set again, `outcome` says what came of the command. Operands can be written, and not read; a
// result can be read until the next command. What comes at the wrong time is refused at once and reported in
// `error`.
//
// Time: an access to `operand` or `data` is answered when the memory has the word or has given it. Clearing a
// chosen operand takes most: 64, 128 or 256 cycles with 16, 4 or 1 DSP blocks. Commands take the cycles that
// `doc/README.md` lists.
//
// Reset: nothing is chosen, no command runs, and the control overwrites the memory with zeros before the engine
// is idle.
//
// Hardening: codes of states, commands and outcomes differ in several bits. An illegal state is an error until
// reset, and an alert. A private operation compares its result with the base before it is released.

`include "assert.svh"

module bignum
  import bignum_pkg::*;
  import bignum_regs_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // `Dsps` is the number of DSP blocks of the multiplier: 16, 4 or 1.
  parameter int unsigned Dsps = 16,
  // `Hardened` = 0 removes the detection of faults, for tests only.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // This is the AXI4-Lite port with 4 KiB of addresses. It has no protection bits, because the only manager
  // of this port is the root of trust.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // A change of `lifecycle_i` between two cycles wipes everything. `irq_o` is a level that follows the enabled
  // interrupts.
  input  logic [3:0]  lifecycle_i,
  output logic        irq_o,
  // `alert_o` says that an upset was detected. It is a level that stays until reset, as the engine does nothing
  // more.
  output logic        alert_o
);
  // These structures have the fields of the register block in the shape that the generator gives them.
  bignum__in_t  regs_in;
  bignum__out_t regs_out;

  // The register block is generated from `data/bignum.rdl`. `operand` and `data` are external registers: the
  // bus waits for the answers that this module gives.
  bignum_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i        (axil_i),
    .axil_o        (axil_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // --- commands ---
  logic [6:0] asked;
  logic [3:0] lifecycle_q;
  logic       wipes, takes, ready, is_idle, valid, done, core_error;
  command_e   command;
  result_e    result;

  // Each bit of `command` asks for one operation.
  assign asked = {regs_out.command.private_rsa.value, regs_out.command.verify_p384.value, regs_out.command.verify_p256.value,
                  regs_out.command.prepare.value, regs_out.command.multiply.value, regs_out.command.secret.value,
                  regs_out.command.power.value};
  // The first cycle after a reset wipes as well, unless the lifecycle is zero. This changes nothing, because
  // the control begins with a wipe anyway.
  assign wipes = regs_out.command.wipe.value | (lifecycle_q != lifecycle_i);
  // More than one command at a time is none.
  always_comb begin
    unique case (asked)
      7'b0000001: command = CmdPower;
      7'b0000010: command = CmdSecret;
      7'b0000100: command = CmdMultiply;
      7'b0001000: command = CmdPrepare;
      7'b0010000: command = CmdP256;
      7'b0100000: command = CmdP384;
      7'b1000000: command = CmdPrivate;
      default: command = CmdNone;
    endcase
  end
  assign takes = (command != CmdNone) & ready;

  // --- words ---
  // This is the state of an access. A word of an operand is kept only until the engine takes it, and then
  // cleared. AccessNone waits for an access. AccessSelect takes a cycle, in which the core takes the choice or
  // refuses it. AccessWrite waits until the core takes the word. AccessStore waits until the memory has it, or
  // until the chosen operand is zero. AccessRead waits for a word of the result.
  typedef enum logic [2:0] {
    AccessNone, AccessSelect, AccessWrite, AccessStore, AccessRead
  } access_e;

  access_e access_d, access_q;
  sparse_fsm #(.state_t(access_e), .Reset(AccessNone), .MinDistance(1)) u_access (
    .clk_i, .rst_ni, .state_i(access_d), .state_o(access_q)
  );
  logic [31:0] word_q, out_word;
  logic        write_request, read_request, is_whole, bad_write, bad_read, ends_write, ends_read, select_is_good;
  logic        select_ready, in_ready, in_wait, out_valid, out_wait, port_ready, is_data_q;

  assign write_request  = regs_out.data.req & regs_out.data.req_is_wr;
  assign read_request   = regs_out.data.req & ~regs_out.data.req_is_wr;
  // Single bytes cannot be written, because each write counts as a word of the sequence.
  assign is_whole       = &regs_out.data.wr_biten.value;
  assign select_is_good = select_ready & (word_q[4:0] inside {[5'd1:5'd18]});

  // This block says when an access ends, and whether it was refused. It waits for three things: the chosen
  // operand is zero, the word is in the memory, or the word has come out of it.
  always_comb begin
    {bad_write, bad_read, ends_write, ends_read} = '0;
    unique case (access_q)
      AccessSelect: {bad_write, ends_write} = {2{~select_is_good}};
      AccessWrite:  {bad_write, ends_write} = {2{~in_ready & ~in_wait}};
      AccessStore:  ends_write = port_ready;
      AccessRead:   {bad_read, ends_read} = {~out_valid & ~out_wait, ~out_wait};
      default: ;
    endcase
    if (write_request && !is_whole) bad_write = 1'b1;
  end

  // There is one access at a time, because the bus waits for its answer. A partial word is refused, but its answer waits
  // for the port as well, so both paths have the same end.
  always_comb begin
    access_d = access_q;
    unique case (access_q)
      AccessNone: begin
        if (regs_out.operand.req && regs_out.operand.req_is_wr) access_d = AccessSelect;
        if (write_request) access_d = is_whole ? AccessWrite : AccessStore;
        if (read_request)  access_d = AccessRead;
      end
      AccessSelect: access_d = select_is_good ? AccessStore : AccessNone;
      AccessWrite:  access_d = in_ready ? AccessStore : in_wait ? AccessWrite : AccessNone;
      AccessStore:  if (port_ready) access_d = AccessNone;
      AccessRead:   if (!out_wait) access_d = AccessNone;
      default:      access_d = AccessNone;
    endcase
  end

  // The word of the access, and which register it is about.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q      <= '0;
      is_data_q   <= 1'b0;
      lifecycle_q <= '0;
    end else begin
      lifecycle_q <= lifecycle_i;
      if (access_q == AccessNone) begin
        is_data_q <= regs_out.data.req;
        if (write_request) word_q <= regs_out.data.wr_data.value;
        if (regs_out.operand.req && regs_out.operand.req_is_wr) word_q <= {27'd0, regs_out.operand.wr_data.value};
      end
      // No word of an operand stays in this register after the engine has taken it.
      if (access_q inside {AccessNone, AccessWrite} && !write_request && !regs_out.operand.req && !in_wait) word_q <= '0;
    end
  end

  bignum_core #(.Dsps(Dsps), .Hardened(Hardened)) u_core (
    .clk_i, .rst_ni,
    .select_valid_i (access_q == AccessSelect && select_is_good),
    .select_ready_o (select_ready),
    .select_i       (operand_e'(word_q[4:0])),
    .in_valid_i     (access_q == AccessWrite),
    .in_ready_o     (in_ready),
    .in_i           (word_q),
    .in_wait_o      (in_wait),
    .out_ready_i    (access_q == AccessRead),
    .out_valid_o    (out_valid),
    .out_o          (out_word),
    .out_wait_o     (out_wait),
    .port_ready_o   (port_ready),
    .command_valid_i(command != CmdNone),
    .command_ready_o(ready),
    .command_i      (command),
    .modulus_bits_i (regs_out.length.modulus.value),
    .exponent_bits_i(regs_out.length.exponent.value),
    .given_i        (regs_out.control.given.value),
    .abort_i        (regs_out.command.abort.value),
    .wipe_i         (wipes),
    .idle_o         (is_idle),
    .done_o         (done),
    .result_o       (result),
    .valid_o        (valid),
    .error_o        (core_error)
  );
  // An alert is more than an interrupt, because software that was upset would not look at one.
  assign alert_o = core_error;
  assign irq_o   = regs_out.interrupt.intr;

  // --- status for software ---
  logic was_failed_q, bad_command;
  // A refused command has to be reported: software would otherwise take the outcome of the command before for
  // that of this one.
  assign bad_command = (asked != '0) & ~takes;

  // An interrupt reports an event, so this register detects the first cycle of a failure.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) was_failed_q <= 1'b0;
    else         was_failed_q <= core_error;
  end

  // This block drives every input of the register block. The outcome is a code of 32 bits, of which any two
  // differ in 16.
  always_comb begin
    regs_in.parameters.dsps.next  = 5'(Dsps);
    regs_in.status.idle.next      = is_idle;
    regs_in.status.valid.next     = valid;
    regs_in.status.failed.next    = core_error;
    regs_in.outcome.value.next    = (result == ResultNone) ? '0 : {result, ~result, result, ~result};
    regs_in.error.command.hwset   = bad_command;
    regs_in.error.write.hwset     = bad_write;
    regs_in.error.read.hwset      = bad_read;
    regs_in.interrupt.done.hwset  = done;
    regs_in.interrupt.error.hwset = bad_command | bad_write | bad_read | (core_error & ~was_failed_q);
    regs_in.operand.wr_ack        = ends_write & ~is_data_q;
    regs_in.data.wr_ack           = ends_write & is_data_q;
    regs_in.data.rd_ack           = ends_read;
    regs_in.data.rd_data.value    = out_word & {32{out_valid}};
  end

  // --- assertions ---

`ifndef SYNTHESIS
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // Two commands in one write are a mistake of software, and none of them is guessed to be meant.
  `ASSERT(ACommandIsAskedForAlone_A, command != CmdNone |-> $onehot(asked))
  // An answer without an access would be taken by the register block for the answer of a later access.
  `ASSERT(AnAnswerIsOfAnAccess_A, ends_write || ends_read |-> access_q != AccessNone)
  // No access is answered twice, and none is forgotten, which would stop the bus.
  `ASSERT(AnAccessEndsWithItsAnswer_A, access_q != AccessNone |=> (access_q == AccessNone) == $past(ends_write || ends_read))
  // Words of a private key do not stay in the register of the bus.
  `ASSERT(NoWordOfAnOperandStays_A, access_q == AccessWrite && !in_wait |=> word_q == '0)
endmodule
