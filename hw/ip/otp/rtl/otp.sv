// One-time-programmable storage on AXI4-Lite: its core, the shadow's memory and a register block.
// The array is outside (../doc/README.md).
//
// An access that the core refuses is an error for the manager, and one access is open at a time
// (`axi_lite_serializer`). No read waits while a latch is written, either. Reset begins a load of
// the array, and forgets an open access.
//
// Hardening is that of `otp_core`: an upset closes everything until reset, with `alert_o`. The
// registers of the bus are not redundant, but a word that is read is judged in the core.
//
// The origin of an access is not checked: the bus has one manager, the core of the root of trust.

`include "assert.svh"

module otp
  import otp_pkg::*;
  import hartlock_axi_pkg::*;
#(
  // Each parameter at 0 builds a variant that the tests have to detect, see `otp_core`.
  parameter bit Hardened  = 1'b1,
  parameter bit MarksLast = 1'b1,
  parameter bit Guarded   = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // This is the AXI4-Lite port with 4 KiB of addresses.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // The array. A request stays with all its fields until it is acknowledged, with the cells that
  // were read.
  output logic        array_req_o,
  output logic        array_burn_o,
  output row_t        array_row_o,
  output cells_t      array_cells_o,
  input  logic        array_ack_i,
  input  cells_t      array_cells_i,

  // For hardware, with no core running: verdict, lifecycle and root keys of the device, and words
  // for a sequencer. A request has its answer in the next cycle.
  output verdict_e    verdict_o,
  output reason_e     reason_o,
  // A code whose lower four bits are different for each lifecycle as well.
  output lifecycle_e  lifecycle_o,
  // The floor of security versions.
  output logic [6:0]  floor_o,
  // Root keys that are written and not revoked.
  output logic [NumSlots-1:0] usable_o,
  input  logic        seq_req_i,
  input  row_t        seq_row_i,
  output logic        seq_valid_o,
  // 0 says that the sequencer may not have this word.
  output logic        seq_good_o,
  output logic [31:0] seq_data_o,

  // To the key slots of engines: words 0 to 7 of a key, with valid and ready. Number and engine are
  // those of the register `send`.
  output logic        key_valid_o,
  input  logic        key_ready_i,
  output logic [31:0] key_data_o,
  output logic [2:0]  key_word_o,
  output logic [2:0]  key_number_o,
  output logic [1:0]  key_to_o,
  // The receiver forgets the words that it has.
  output logic        key_abort_o,

  // The block was upset. This lasts until reset.
  output logic        alert_o
);
  // A burn needs this number, so that a runaway store does not burn.
  localparam logic [15:0] BurnKey    = 16'hb1a5;

  otp_regs_pkg::otp__in_t  regs_in;
  otp_regs_pkg::otp__out_t regs_out;

  // One access is open at a time, and its response carries a refusal of the core. The buffer of the
  // register block keeps the last word, which is shown only while it is valid.
  axil_req_t  regs_req;
  axil_resp_t regs_resp;
  logic       refuses;
  axi_lite_serializer #(.ReadsMayFail(1'b1)) u_serializer (
    .clk_i, .rst_ni, .axil_i, .axil_o, .regs_o (regs_req), .regs_i (regs_resp), .refuses_i (refuses)
  );

  // Generated from data/otp.rdl.
  otp_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i         (regs_req),
    .axil_o         (regs_resp),
    .hwif_in        (regs_in),
    .hwif_out       (regs_out)
  );

  // Requests of the register block. A write of a part of a word is refused, because latches and
  // commands are whole words.
  logic hides, latches, burns, sends, reads, burn_refused, send_refused, read_valid, read_good;
  // A word of the shadow.
  logic [31:0] read_data;
  logic idle, sending;
  logic asks_hide, asks_latch, asks_burn, asks_send, asks_data, puts, is_command, is_whole;
  assign asks_hide  = regs_out.hide.req & regs_out.hide.req_is_wr;
  assign asks_latch = regs_out.latch.req & regs_out.latch.req_is_wr;
  assign asks_burn  = regs_out.burn.req & regs_out.burn.req_is_wr;
  assign asks_send  = regs_out.send.req & regs_out.send.req_is_wr;
  assign asks_data  = regs_out.data.req & regs_out.data.req_is_wr;
  assign is_command = asks_hide | asks_latch | asks_data | asks_burn | asks_send;
  assign is_whole   = &{regs_out.hide.wr_biten, regs_out.latch.wr_biten, regs_out.data.wr_biten, regs_out.burn.wr_biten, regs_out.send.wr_biten};
  assign hides      = asks_hide & is_whole;
  assign latches    = asks_latch & is_whole;
  assign puts       = asks_data & is_whole & idle;
  assign burns      = asks_burn & is_whole & (regs_out.burn.wr_data.key == BurnKey);
  assign sends      = asks_send & is_whole;
  assign reads      = regs_out.rows.req & ~regs_out.rows.req_is_wr;
  assign refuses    = (is_command & ~(hides | latches | puts | (burns & ~burn_refused) | (sends & ~send_refused))) |
                      (read_valid & ~read_good);

  // Status of the core, and the port of the shadow's memory, which only the core writes.
  reason_e reason;
  row_t reason_row, fixed_row;
  logic [NumSlots-1:0] revoked;
  logic [NumFields-1:0] locked;
  logic [NumWordFields-1:0] hidden, good, blank;
  logic [7:0] fixed_count;
  result_e result;
  logic shadow_write;
  row_t shadow_write_row, shadow_read_row;
  code_t shadow_in, shadow_out;
  otp_core #(.Hardened(Hardened), .MarksLast(MarksLast), .Guarded(Guarded)) u_core (
    .clk_i, .rst_ni,
    .array_req_o, .array_burn_o, .array_row_o, .array_cells_o, .array_ack_i, .array_cells_i,
    .shadow_write_o (shadow_write), .shadow_write_row_o (shadow_write_row), .shadow_code_o (shadow_in),
    .shadow_read_row_o (shadow_read_row), .shadow_code_i (shadow_out),
    .verdict_o, .reason_o (reason), .reason_row_o (reason_row), .lifecycle_o, .floor_o, .usable_o,
    .revoked_o (revoked), .locked_o (locked), .hidden_o (hidden), .good_o (good), .blank_o (blank),
    .fixed_count_o (fixed_count), .fixed_row_o (fixed_row), .error_o (alert_o),
    .seq_req_i, .seq_row_i, .seq_valid_o, .seq_good_o, .seq_data_o,
    .read_i (reads), .read_row_i (regs_out.rows.addr[8:2]), .read_valid_o (read_valid), .read_good_o (read_good),
    .read_data_o (read_data),
    .hide_i (hides), .latch_i (latches), .bits_i (asks_hide ? {4'b0, regs_out.hide.wr_data.hidden} : regs_out.latch.wr_data.closed),
    .data_i (puts), .burn_data_i (regs_out.data.wr_data.value), .burn_i (burns), .burn_row_i (regs_out.burn.wr_data.row),
    .burn_refused_o (burn_refused), .idle_o (idle), .result_o (result),
    .send_i (sends), .send_key_i (regs_out.send.wr_data.key), .send_refused_o (send_refused), .sending_o (sending),
    .key_valid_o, .key_ready_i, .key_data_o, .key_word_o, .key_abort_o
  );
  assign reason_o = reason;

  otp_shadow u_shadow (
    .clk_i, .rst_ni, .write_i (shadow_write), .write_row_i (shadow_write_row), .code_i (shadow_in),
    .read_row_i (shadow_read_row), .code_o (shadow_out)
  );

  // The number of the key that is sent, and its engine, for as long as it is sent.
  logic [2:0] key_number_q;
  logic [1:0] key_to_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      key_number_q <= '0;
      key_to_q     <= '0;
    end else if (sends & ~send_refused) begin
      key_number_q <= regs_out.send.wr_data.key;
      key_to_q     <= regs_out.send.wr_data.to;
    end
  end
  assign key_number_o = key_number_q;
  assign key_to_o     = key_to_q;

  // Software reads numbers and not codes. Every external access is acknowledged, a refused one too.
  always_comb begin
    unique case (verdict_o)
      VerdictLoading: regs_in.status.verdict.next = otp_regs_pkg::otp_verdict__loading;
      VerdictReady:   regs_in.status.verdict.next = otp_regs_pkg::otp_verdict__ready;
      default:        regs_in.status.verdict.next = otp_regs_pkg::otp_verdict__failed;
    endcase
    unique case (lifecycle_o)
      LcBlank:       regs_in.status.lifecycle.next = otp_regs_pkg::otp_lifecycle__blank;
      LcTest:        regs_in.status.lifecycle.next = otp_regs_pkg::otp_lifecycle__test;
      LcDevelopment: regs_in.status.lifecycle.next = otp_regs_pkg::otp_lifecycle__development;
      LcProduction:  regs_in.status.lifecycle.next = otp_regs_pkg::otp_lifecycle__production;
      LcReturned:    regs_in.status.lifecycle.next = otp_regs_pkg::otp_lifecycle__returned;
      LcScrapped:    regs_in.status.lifecycle.next = otp_regs_pkg::otp_lifecycle__scrapped;
      default:       regs_in.status.lifecycle.next = otp_regs_pkg::otp_lifecycle__invalid;
    endcase
    regs_in.status.reason.next   = reason;
    regs_in.status.row.next      = reason_row;
    regs_in.status.floor.next    = floor_o;
    regs_in.fields.good.next     = good;
    regs_in.fields.blank.next    = blank;
    regs_in.fields.hidden.next   = hidden;
    regs_in.locks.locked.next    = locked;
    regs_in.locks.revoked.next   = revoked;
    regs_in.corrected.count.next = fixed_count;
    regs_in.corrected.row.next   = fixed_row;
    regs_in.progress.code.next     = result;
    regs_in.progress.idle.next     = idle;
    regs_in.progress.sending.next  = sending;
    regs_in.hide.wr_ack          = asks_hide;
    regs_in.latch.wr_ack         = asks_latch;
    regs_in.data.wr_ack          = asks_data;
    regs_in.burn.wr_ack          = asks_burn;
    regs_in.send.wr_ack          = asks_send;
    regs_in.rows.rd_ack          = read_valid;
    regs_in.rows.rd_data         = read_data;
    regs_in.rows.wr_ack          = regs_out.rows.req & regs_out.rows.req_is_wr;
  end

  // Every refusal is an error for the manager, and a refused read shows zeros.
  `ASSERT(ARefusalIsAnError_A, refuses |=> (axil_o.b_valid && axil_o.b_resp == RespSlverr) ||
          (axil_o.r_valid && axil_o.r_resp == RespSlverr && axil_o.r_data == '0))
  // A key that is being sent reaches the slot that it was sent to, whatever is asked for meanwhile.
  `ASSERT(AKeyKeepsItsReceiver_A, 1'b1 |=> !($past(sending) && sending) || $stable({key_number_o, key_to_o}))
endmodule
