// The Ed25519 engine on a bus: registers of `data/ed25519.rdl` (AXI4-Lite), two side ports for hash engines, an interrupt
// and an alert.
//
// Inputs can be written, and not read. Every access is answered at once; what comes at the wrong time is refused and
// reported. A digest can come by a side port instead, so that no processor sees a key; the prefix leaves by another.

`include "assert.svh"

module ed25519
  import ed25519_pkg::*;
  import ed25519_regs_pkg::*;
#(
  parameter bit Hardened = 1'b1,
  parameter bit Blinded = 1'b0  // see ed25519_core
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

  // A digest: eight words, the first byte in the lower bits. Taken while idle, instead of writes to `digest`.
  input  logic        dig_valid_i,
  output logic        dig_ready_o,
  input  logic [63:0] dig_data_i,

  // Entropy, with `Blinded` only: five words for each product.
  input  logic        ent_valid_i,
  output logic        ent_ready_o,
  input  logic [63:0] ent_data_i,

  // The prefix of a slot: four words.
  output logic        pre_valid_o,
  input  logic        pre_ready_i,
  output logic [63:0] pre_data_o,
  output logic        pre_last_o,

  input  logic [3:0]  lifecycle_i,  // a change of it wipes everything
  output logic        irq_o,
  output logic        alert_o       // an upset was detected: the engine stops until reset
);
  ed25519__in_t  regs_in;
  ed25519__out_t regs_out;

  // Generated from data/ed25519.rdl. Inputs and results are external registers: the words are in the engine.
  ed25519_regs u_regs (
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

  // --- commands ---

  logic       is_idle, ready, done, core_error, point_valid, s_valid, prefix_valid, nonce_valid, wipes, aborts, takes;
  logic [Slots-1:0] loaded, public_keys;
  logic [3:0] lifecycle_q;  // of the last cycle
  logic [5:0] asked;  // commands, one bit each
  command_e   command;
  result_e    result;

  assign asked  = {regs_out.command.prefix.value, regs_out.command.verify.value, regs_out.command.sign.value,
                   regs_out.command.nonce.value, regs_out.command.public_key.value, regs_out.command.load.value};
  assign wipes  = regs_out.command.wipe.value | (lifecycle_q != lifecycle_i);
  // One at a time; more than one is none.
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
  logic [31:0] half_q;  // the lower half of a word
  logic        half_valid_q;
  number_t     in_number;
  logic [1:0]  in_index;
  word_t       in_word, in_clamped;
  logic        clamps;  // bits of the word
  logic        data_parity_q, half_parity_q, data_upset, half_upset;
  logic [2:0]  dig_index_q;  // of the next word of the side port

  // Which word is written: a cycle has at most one such request. Key, R, S, digest, in this order.
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
  assign write_good  = write_request & write_whole & in_ready &
                       (~write_index[0] | (half_valid_q & (half_index_q == {write_index[5:1], 1'b0})));
  assign dig_takes   = dig_valid_i & dig_ready_o;
  assign dig_ready_o = in_ready & ~write_request;
  assign in_valid    = (write_good & write_index[0]) | dig_takes;
  assign in_word     = dig_takes ? dig_data_i : {regs_out.key[0].wr_data.value, half_q};
  assign in_index    = dig_takes ? dig_index_q[1:0] : write_index[2:1];
  // The register of the engine that a word is for.
  always_comb begin
    unique case (dig_takes ? {2'b10, dig_index_q[2]} : write_index[5:3])
      3'd0:    in_number = NumberA;
      3'd1:    in_number = NumberR;
      3'd2:    in_number = NumberS;
      3'd4:    in_number = NumberLow;
      default: in_number = NumberHigh;
    endcase
  end

  // RFC 8032 §5.1.5, step 2.
  assign clamps = regs_out.control.clamp.value & (in_number == NumberLow);
  always_comb begin
    in_clamped = in_word;
    if (clamps) begin
      if (in_index == 2'd0) in_clamped[2:0]   = 3'b000;
      if (in_index == 2'd3) in_clamped[63:62] = 2'b01;
    end
  end

  // A nonce that differs in one bit from the right one gives the key away: parity of a word from the bus to the registers.
  assign data_upset = write_good & (data_parity_q != ^regs_out.key[0].wr_data.value);
  assign half_upset = write_good & write_index[0] & (half_parity_q != ^half_q);

  // The lower half waits for the upper one; words of the side port are counted.
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
      if (axil_wvalid_i && axil_wready_o) data_parity_q <= ^axil_wdata_i;
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

  // The prefix leaves once: what comes after its last word forgets it.
  assign pre_valid_o = prefix_valid;
  assign pre_data_o  = prefix;
  assign pre_last_o  = prefix_valid & (pre_index_q == 2'd3);
  assign aborts      = regs_out.command.abort.value | (pre_last_o & pre_ready_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                            pre_index_q <= '0;
    else if (!prefix_valid)                 pre_index_q <= '0;
    else if (pre_valid_o && pre_ready_i)    pre_index_q <= pre_index_q + 2'd1;
  end

  assign alert_o = core_error;
  assign irq_o   = regs_out.interrupt.intr;

  // --- status for software ---

  logic was_failed_q, bad_command, bad_write;
  assign bad_command = ((asked != '0) & ~takes) | (done & (result == ResultOrder));
  assign bad_write   = write_request & ~write_good;

  // Interrupts report events: the first cycle of a failure.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) was_failed_q <= 1'b0;
    else         was_failed_q <= core_error;
  end

  // Every input of the register block.
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

    // All are acknowledged in the same cycle, accepted or not.
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

  `ASSERT(AFlippedWordIsAnError_A, Hardened && (data_upset || half_upset) |=> alert_o)
  `ASSERT(AWordIsOfTwoHalves_A, in_valid && !dig_takes |-> half_valid_q && write_whole)
  `ASSERT(ThePrefixLeavesOnce_A, pre_last_o && pre_ready_i |=> !pre_valid_o)
  `ASSERT(FailedShowsNothing_A, alert_o |-> shown == '0 && !pre_valid_o)
endmodule
