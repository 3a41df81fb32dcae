// This module is the Ed25519 engine with its bus (RFC 8032): registers of `data/ed25519.rdl` (AXI4-Lite), side
// ports for hash engines and for entropy, an interrupt and an alert.
//
// Protocol: inputs can be written while `status.idle` is set, and not read. A write to `command` begins a
// command, and `outcome` says what came of it when the engine is idle again. Every access is answered at once;
// what comes at the wrong time is refused and reported in `error`. A digest can come by a side port instead, so
// that no processor sees a key; the prefix leaves by another.
//
// Time: a product with the base point takes one number of cycles for every scalar; `doc/README.md` lists the
// cycles of commands. The time of a verification depends on public numbers.
//
// Reset: slots and results are empty, and the registers are overwritten in 256 cycles before the engine is
// idle.
//
// Hardening: words of the bus have a parity until they are in the registers of the engine, because a nonce that
// differs in one bit gives the key away. The other measures are in `ed25519_control` and `ed25519_core`. A
// detected upset is an error and an alert until reset.

`include "assert.svh"

module ed25519
  import ed25519_pkg::*;
  import ed25519_regs_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // `Hardened` = 0 removes the detection of upsets, so that tests can show what it is for.
  parameter bit Hardened = 1'b1,
  // `Blinded` adds random bits to each product, as `ed25519_core` describes.
  parameter bit Blinded = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // This is the AXI4-Lite port with 4 KiB of addresses. It has no protection bits, because the only manager
  // of this port is the root of trust.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // This side port takes a digest: eight words, the first byte in the lower bits. They are taken while idle,
  // instead of writes to `digest`. On all side ports a word moves when valid and ready are both high.
  input  logic        dig_valid_i,
  output logic        dig_ready_o,
  input  logic [63:0] dig_data_i,

  // This side port takes entropy, with `Blinded` only: five words for each product.
  input  logic        ent_valid_i,
  output logic        ent_ready_o,
  input  logic [63:0] ent_data_i,

  // This side port gives the prefix of a slot: four words.
  output logic        pre_valid_o,
  input  logic        pre_ready_i,
  output logic [63:0] pre_data_o,
  output logic        pre_last_o,

  // A change of `lifecycle_i` between two cycles wipes everything. `irq_o` is a level that follows the enabled
  // interrupts.
  input  logic [3:0]  lifecycle_i,
  output logic        irq_o,
  // `alert_o` says that an upset was detected. It is a level that stays until reset, as the engine does nothing
  // more.
  output logic        alert_o
);
  // These structures have the fields of the register block in the shape that the generator gives them.
  ed25519__in_t  regs_in;
  ed25519__out_t regs_out;

  // The register block is generated from `data/ed25519.rdl`. Inputs and results are external registers: the
  // engine keeps their words.
  ed25519_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i        (axil_i),
    .axil_o        (axil_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // --- commands ---

  logic       is_idle, ready, done, core_error, point_valid, s_valid, prefix_valid, nonce_valid, wipes, aborts, takes;
  logic [Slots-1:0] loaded, public_keys;
  logic [3:0] lifecycle_q;  // This is the lifecycle of the last cycle.
  logic [5:0] asked;  // Each command has a bit.
  command_e   command;
  result_e    result;

  assign asked  = {regs_out.command.prefix.value, regs_out.command.verify.value, regs_out.command.sign.value,
                   regs_out.command.nonce.value, regs_out.command.public_key.value, regs_out.command.load.value};
  assign wipes  = regs_out.command.wipe.value | (lifecycle_q != lifecycle_i);
  // More than one command at a time is none.
  always_comb begin
    unique case (asked)
      6'b000001: command = CmdLoad;
      6'b000010: command = CmdPublic;
      6'b000100: command = CmdNonce;
      6'b001000: command = CmdSign;
      6'b010000: command = CmdVerify;
      6'b100000: command = CmdPrefix;
      default:   command = CmdNone;
    endcase
  end
  assign takes = (command != CmdNone) & ready;

  // --- inputs ---

  // Two words of the bus make one of the engine.
  logic        write_request, write_whole, write_good, in_valid, in_ready, dig_takes;
  logic [5:0]  write_index, half_index_q;
  // This is the lower half of a word, which waits for the upper one.
  logic [31:0] half_q;
  logic        half_valid_q;
  number_t     in_number;
  logic [1:0]  in_index;
  word_t       in_word, in_clamped;
  // Bits of the word are changed as RFC 8032 wants them in a scalar.
  logic        clamps;
  logic        data_parity_q, half_parity_q, data_upset, half_upset;
  // This counts the words of the side port.
  logic [2:0]  dig_index_q;

  // This block finds out which word is written: there is at most one such request in a cycle. The order is key,
  // R, S, digest.
  always_comb begin
    write_request = 1'b0;
    write_index   = '0;
    for (int i = 0; i < 8; i++) begin
      if (regs_out.key[i].req && regs_out.key[i].req_is_wr)   {write_request, write_index} = {1'b1, 6'(i)};
      if (regs_out.r_in[i].req && regs_out.r_in[i].req_is_wr)       {write_request, write_index} = {1'b1, 6'(8 + i)};
      if (regs_out.s_in[i].req && regs_out.s_in[i].req_is_wr) {write_request, write_index} = {1'b1, 6'(16 + i)};
    end
    for (int i = 0; i < 16; i++) begin
      if (regs_out.digest[i].req && regs_out.digest[i].req_is_wr) {write_request, write_index} = {1'b1, 6'(32 + i)};
    end
  end
  assign write_whole = &regs_out.key[0].wr_biten.value;
  // An upper half is taken only if it follows the lower half of the same word.
  assign write_good  = write_request & write_whole & in_ready &
                       (~write_index[0] | (half_valid_q & (half_index_q == {write_index[5:1], 1'b0})));
  assign dig_takes   = dig_valid_i & dig_ready_o;
  // A write of the bus has priority over the side port.
  assign dig_ready_o = in_ready & ~write_request;
  assign in_valid    = (write_good & write_index[0]) | dig_takes;
  assign in_word     = dig_takes ? dig_data_i : {regs_out.key[0].wr_data.value, half_q};
  assign in_index    = dig_takes ? dig_index_q[1:0] : write_index[2:1];
  // This is the register of the engine to which a word belongs.
  always_comb begin
    unique case (dig_takes ? {2'b10, dig_index_q[2]} : write_index[5:3])
      3'd0:    in_number = NumberA;
      3'd1:    in_number = NumberR;
      3'd2:    in_number = NumberS;
      3'd4:    in_number = NumberLow;
      default: in_number = NumberHigh;
    endcase
  end

  // The bits of a scalar are cleared and set as RFC 8032 §5.1.5, step 2, says.
  assign clamps = regs_out.control.clamp.value & (in_number == NumberLow);
  always_comb begin
    in_clamped = in_word;
    if (clamps) begin
      if (in_index == 2'd0) in_clamped[2:0]   = 3'b000;
      if (in_index == 2'd3) in_clamped[63:62] = 2'b01;
    end
  end

  // A nonce that differs in one bit from the right one gives the key away, so each word has a parity from the
  // bus to the registers.
  assign data_upset = write_good & (data_parity_q != ^regs_out.key[0].wr_data.value);
  assign half_upset = write_good & write_index[0] & (half_parity_q != ^half_q);

  // The lower half of a word waits here for the upper one, and words of the side port are counted.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      half_q       <= '0;
      half_valid_q <= 1'b0;
      half_index_q <= '0;
      dig_index_q  <= '0;
      lifecycle_q  <= '0;
      data_parity_q <= 1'b0;
      half_parity_q <= 1'b0;
    end else begin
      lifecycle_q <= lifecycle_i;
      if (axil_i.w_valid && axil_o.w_ready) data_parity_q <= ^axil_i.w_data;
      if (write_good && !write_index[0]) begin
        half_parity_q <= data_parity_q;
        half_q       <= regs_out.key[0].wr_data.value;
        half_valid_q <= 1'b1;
        half_index_q <= write_index;
      end else if (write_good || wipes || core_error) begin
        half_q       <= '0;
        half_valid_q <= 1'b0;
      end
      if (takes || wipes || aborts) dig_index_q <= '0;
      else if (dig_takes)           dig_index_q <= dig_index_q + 3'd1;
    end
  end

  // --- the engine ---

  logic [2:0] read_place;
  word_t      shown, prefix;
  logic [1:0] pre_index_q;

  // The core has the commands, the registers and the arithmetic.
  ed25519_core #(.Hardened(Hardened), .Blinded(Blinded)) u_core (
    .clk_i, .rst_ni,
    .ent_valid_i, .ent_ready_o,
    .ent_i          (ent_data_i),
    .in_valid_i     (in_valid),
    .in_ready_o     (in_ready),
    .in_number_i    (in_number),
    .in_index_i     (in_index),
    .in_i           (in_clamped),
    .in_clamped_i   (clamps),
    .in_upset_i     (data_upset | half_upset),
    .command_valid_i(command != CmdNone),
    .command_ready_o(ready),
    .command_i      (command),
    .slot_i         (regs_out.control.slot.value),
    .abort_i        (aborts),
    .wipe_i         (wipes),
    .idle_o         (is_idle),
    .done_o         (done),
    .result_o       (result),
    .error_o        (core_error),
    .loaded_o       (loaded),
    .public_o       (public_keys),
    .nonce_valid_o  (nonce_valid),
    .out_place_i    (prefix_valid ? {1'b0, pre_index_q} : read_place),
    .out_o          (shown),
    .out_valid_o    (point_valid),
    .s_valid_o      (s_valid),
    .prefix_o       (prefix),
    .prefix_valid_o (prefix_valid)
  );

  // The prefix leaves once: after its last word it is forgotten, by an abort.
  assign pre_valid_o = prefix_valid;
  assign pre_data_o  = prefix;
  assign pre_last_o  = prefix_valid & (pre_index_q == 2'd3);
  assign aborts      = regs_out.command.abort.value | (pre_last_o & pre_ready_i);
  // This register counts the words of the prefix that have left.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                            pre_index_q <= '0;
    else if (!prefix_valid)                 pre_index_q <= '0;
    else if (pre_valid_o && pre_ready_i)    pre_index_q <= pre_index_q + 2'd1;
  end

  // The alert is a level that is never cleared.
  assign alert_o = core_error;
  assign irq_o   = regs_out.interrupt.intr;

  // --- status for software ---

  logic was_failed_q, bad_command, bad_write;
  // A command that is refused here or by the core is an error of software.
  assign bad_command = ((asked != '0) & ~takes) | (done & (result == ResultOrder));
  assign bad_write   = write_request & ~write_good;

  // An interrupt reports an event, so this register detects the first cycle of a failure.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) was_failed_q <= 1'b0;
    else         was_failed_q <= core_error;
  end

  // This block drives every input of the register block. The outcome is a code of 32 bits, of which any two
  // differ in 16.
  always_comb begin
    regs_in.parameters.slots.next = 4'(Slots);

    regs_in.control.slot.swwel  = ~is_idle;
    regs_in.control.clamp.swwel = ~is_idle;

    regs_in.status.idle.next        = is_idle;
    regs_in.status.point_valid.next = point_valid;
    regs_in.status.s_valid.next     = s_valid;
    regs_in.status.nonce_valid.next = nonce_valid;
    regs_in.status.failed.next      = core_error;
    regs_in.status.loaded.next      = loaded;
    regs_in.status.public_key.next  = public_keys;

    regs_in.outcome.value.next = (result == ResultNone) ? '0 : {result, ~result, result, ~result};

    regs_in.error.command.hwset   = bad_command;
    regs_in.error.write.hwset     = bad_write;
    regs_in.interrupt.done.hwset  = done;
    regs_in.interrupt.error.hwset = bad_command | bad_write | (core_error & ~was_failed_q);

    // Every access is acknowledged in the cycle in which it comes, accepted or not, so the bus never waits.
    for (int i = 0; i < 16; i++) regs_in.digest[i].wr_ack = regs_out.digest[i].req & regs_out.digest[i].req_is_wr;
    read_place = '0;
    for (int i = 0; i < 8; i++) begin
      regs_in.key[i].wr_ack  = regs_out.key[i].req & regs_out.key[i].req_is_wr;
      regs_in.r_in[i].wr_ack    = regs_out.r_in[i].req & regs_out.r_in[i].req_is_wr;
      regs_in.s_in[i].wr_ack = regs_out.s_in[i].req & regs_out.s_in[i].req_is_wr;
      if (regs_out.point[i].req) read_place = {1'b0, 2'(i / 2)};
      if (regs_out.s[i].req)     read_place = {1'b1, 2'(i / 2)};
    end
    for (int i = 0; i < 8; i++) begin
      regs_in.point[i].rd_ack        = regs_out.point[i].req & ~regs_out.point[i].req_is_wr;
      regs_in.point[i].rd_data.value = shown[32*(i%2) +: 32];
      regs_in.s[i].rd_ack            = regs_out.s[i].req & ~regs_out.s[i].req_is_wr;
      regs_in.s[i].rd_data.value     = shown[32*(i%2) +: 32];
    end
  end

  // --- assertions ---

`ifndef SYNTHESIS
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // A word that changed on its way stops the engine, because it may be a nonce or a key.
  `ASSERT(AFlippedWordIsAnError_A, Hardened && (data_upset || half_upset) |=> alert_o)
  // A word of the engine never has a half of another one.
  `ASSERT(AWordIsOfTwoHalves_A, in_valid && !dig_takes |-> half_valid_q && write_whole)
  // The prefix is a secret, and leaves only as often as a command asks for it.
  `ASSERT(ThePrefixLeavesOnce_A, pre_last_o && pre_ready_i |=> !pre_valid_o)
  // An engine that was upset shows neither results nor a prefix.
  `ASSERT(FailedShowsNothing_A, alert_o |-> shown == '0 && !pre_valid_o)
endmodule
