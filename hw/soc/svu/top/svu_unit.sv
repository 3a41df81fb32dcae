// The signature verification unit of a chip: it decides from reset, with no core running, whether
// the host starts.
//
// `boot_verifier` reads a first stage from the medium, has the engine for XMSS verify it, compares
// its key with one-time-programmable storage, and writes the words that it hashes into on-chip RAM.
// The boot sequencer gets its verdict. From the release on the engine's registers belong to the
// host, for the stages after the first.
//
// The host has no address of the boot sequencer: software has no part in this decision.
//
// Reset begins a new verification. An alert of any block ends in the sequencer's state `error`, so
// that the host is in reset two cycles later, also a host that runs.

`include "machine_assert.svh"

module svu_unit
  import hartlock_axi_pkg::*;
  import otp_pkg::*;
#(
  // Hash cores of the engine and their rounds in a cycle; 1 has the engine compute each root twice;
  // bytes of code that fit into the RAM.
  parameter int unsigned  Lanes          = 4,
  parameter int unsigned  RoundsPerCycle = 2,
  parameter bit           TwoPasses      = 1'b0,
  parameter int unsigned  Capacity       = 65536,
  // Address of the medium, on its own port.
  parameter logic [31:0]  MediumBase     = 32'h8000_0000,
  // The name of the system that an image has to name: `svu-1`, with the first letter in the lower
  // bits.
  parameter logic [255:0] Soc            = 256'h312d757673
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The medium, which is only read.
  output axi_req_t    medium_axi_o,
  input  axi_resp_t   medium_axi_i,

  // The host: reads of the medium and of the first stage, registers of the engine and of the storage.
  input  axi_req_t    host_medium_axi_i,
  output axi_resp_t   host_medium_axi_o,
  input  axi_req_t    host_ram_axi_i,
  output axi_resp_t   host_ram_axi_o,
  input  axil_req_t   host_engine_axil_i,
  output axil_resp_t  host_engine_axil_o,
  input  axil_req_t   host_otp_axil_i,
  output axil_resp_t  host_otp_axil_o,

  // The host's core has detected a fault of its own.
  input  logic        fault_i,
  // The boot sequencer: reset of the host, its state and its reason; and an alert of any block.
  output logic        host_rst_no,
  output logic [2:0]  boot_status_o,
  output logic [31:0] boot_reason_o,
  output logic        alert_o
);
  import boot_sequencer_regs_pkg::boot_sequencer_state__released;

  // XMSS-SHA2_10_256 (spec/first-stage.md §2).
  localparam logic [31:0] Algorithm      = 32'd17;
  localparam logic [31:0] Parameters     = 32'd1;
  localparam int unsigned SignatureWords = 313;
  localparam int unsigned RamWords       = 1 << $clog2(Capacity / 8 + boot_verifier_pkg::HeaderWords);
  localparam int unsigned WordBits       = $clog2(RamWords);
  // Rows of the storage: the board, and the digest of root key 0, which is the key of the first
  // stage.
  localparam row_t        BoardRow       = 7'd24;
  localparam row_t        DigestRow      = 7'd32;

  // The decision of the unit, whether its part of the medium's bus is quiet, and whether the host
  // runs.
  logic release_ok, refused, quiet, host_runs;
  logic [15:0] reason;
  // Upsets of each block.
  logic unit_error, adapter_error, driver_error, engine_alert, otp_alert, is_lost, is_fault;

  // A host that runs needs the evidence for its release all the time: without it, the unit was upset.
  assign is_lost  = host_runs & ~release_ok;
  // An alert of any block puts the host back into reset.
  assign is_fault = unit_error | adapter_error | driver_error | engine_alert | otp_alert | is_lost | fault_i;
  assign alert_o  = is_fault;

  // --- one-time-programmable storage ---
  verdict_e            otp_verdict;
  lifecycle_e          otp_lifecycle;
  logic [6:0]          otp_floor;
  logic [NumSlots-1:0] otp_usable;
  logic                otp_req, otp_is_board, otp_valid, otp_good;
  logic [2:0]          otp_word;
  logic [31:0]         otp_data;
  logic [2:0]          lifecycle;

  // The lifecycles in which a first stage may start (spec/first-stage.md §6). Any other one sets no
  // bit.
  assign lifecycle = {otp_lifecycle == LcReturned, otp_lifecycle == LcProduction, otp_lifecycle == LcDevelopment};

  // The ports for keys are not used, because no engine here has a key slot.
  otp_simulated u_otp (
    .clk_i, .rst_ni,
    // Registers, for the host.
    .axil_i         (host_otp_axil_i),
    .axil_o         (host_otp_axil_o),
    // Facts about the device, and words for the unit.
    .verdict_o      (otp_verdict),
    .reason_o       (),
    .lifecycle_o    (otp_lifecycle),
    .floor_o        (otp_floor),
    .usable_o       (otp_usable),
    .seq_req_i      (otp_req),
    .seq_row_i      ((otp_is_board ? BoardRow : DigestRow) | row_t'(otp_word)),
    .seq_valid_o    (otp_valid),
    .seq_good_o     (otp_good),
    .seq_data_o     (otp_data),
    // The port for keys is not used.
    .key_valid_o    (),
    .key_ready_i    (1'b0),
    .key_data_o     (),
    .key_word_o     (),
    .key_number_o   (),
    .key_to_o       (),
    .key_abort_o    (),
    .alert_o        (otp_alert)
  );

  // --- the verification unit ---
  // Words of the image go to the engine, by an adapter and a driver, and to the RAM.
  axi_req_t  unit_medium_req;
  axi_resp_t unit_medium_resp;
  logic  takes_key, takes_signature, takes_message, is_last, adapter_ready, adapter_done, adapter_index;
  logic  ram_write;
  logic [63:0] adapter_verdict, image_data;
  logic [$clog2(Capacity / 8 + boot_verifier_pkg::HeaderWords)-1:0] ram_word;

  boot_verifier #(
    .Base           (MediumBase),
    .Algorithm      (Algorithm),
    .Parameters     (Parameters),
    .SignatureWords (SignatureWords),
    .KeyUsed        (8),
    .Soc            (Soc),
    .Capacity       (Capacity),
    .Accepted       (xmss_pkg::VerdictPassed)
  ) u_verifier (
    .clk_i, .rst_ni,
    // Storage: facts about the device, and words of board and key.
    .otp_ready_i        (otp_verdict == VerdictReady),
    .otp_failed_i       (otp_verdict == VerdictFailed),
    .otp_usable_i       (otp_usable[0]),
    .otp_lifecycle_i    (lifecycle),
    .otp_floor_i        (otp_floor),
    .otp_req_o          (otp_req),
    .otp_is_board_o     (otp_is_board),
    .otp_word_o         (otp_word),
    .otp_valid_i        (otp_valid),
    .otp_good_i         (otp_good),
    .otp_data_i         (otp_data),
    // The medium, which is read only.
    .axi_o              (unit_medium_req),
    .axi_i              (unit_medium_resp),
    // The engine, by the adapter. It needs no start: the whole key is the start.
    .engine_start_o     (),
    .engine_key_o       (takes_key),
    .engine_signature_o (takes_signature),
    .engine_message_o   (takes_message),
    .engine_last_o      (is_last),
    .engine_ready_i     (adapter_ready),
    .engine_done_i      (adapter_done),
    .engine_index_i     (adapter_index),
    .engine_verdict_i   (adapter_verdict),
    // Words of the image, for engine and RAM.
    .data_o             (image_data),
    .ram_write_o        (ram_write),
    .ram_word_o         (ram_word),
    // Alerts of the other blocks, and the decision.
    .fault_i            (adapter_error | driver_error | engine_alert | otp_alert),
    .release_o          (release_ok),
    .refused_o          (refused),
    .reason_o           (reason),
    .quiet_o            (quiet),
    .error_o            (unit_error)
  );

  // --- the engine: its registers are the unit's, then the host's ---
  axil_req_t  unit_req, engine_req;
  axil_resp_t unit_resp, engine_resp;
  logic [3:0]  key_index;
  logic [31:0] key;
  logic        key_valid, key_ready, start, sig_valid, sig_ready, sig_last, msg_valid, msg_ready, msg_last;
  logic [63:0] sig_data, msg_data;
  logic [3:0]  sig_bytes, msg_bytes;
  logic        driver_done, driver_index, driver_quiet;
  logic [63:0] driver_verdict;
  logic        unit_valid, unit_ready, unit_last, engine_valid, engine_ready, is_host;
  logic [63:0] unit_data;
  logic [3:0]  unit_bytes;

  // Converts words of the image to those that the engine takes.
  boot_verifier_engine #(.SignatureWords(SignatureWords)) u_adapter (
    .clk_i, .rst_ni,
    // Words of the image.
    .key_i            (takes_key),
    .signature_i      (takes_signature),
    .message_i        (takes_message),
    .last_i           (is_last),
    .ready_o          (adapter_ready),
    .data_i           (image_data),
    .done_o           (adapter_done),
    .index_o          (adapter_index),
    .verdict_o        (adapter_verdict),
    // Words for the engine.
    .key_valid_o      (key_valid),
    .key_index_o      (key_index),
    .key_o            (key),
    .key_ready_i      (key_ready),
    .start_o          (start),
    .sig_valid_o      (sig_valid),
    .sig_ready_i      (sig_ready),
    .sig_data_o       (sig_data),
    .sig_last_o       (sig_last),
    .sig_bytes_o      (sig_bytes),
    .msg_valid_o      (msg_valid),
    .msg_ready_i      (msg_ready),
    .msg_data_o       (msg_data),
    .msg_last_o       (msg_last),
    .msg_bytes_o      (msg_bytes),
    // The result of the engine.
    .engine_done_i    (driver_done),
    .engine_index_i   (driver_index),
    .engine_verdict_i (driver_verdict),
    .error_o          (adapter_error)
  );

  // Operates the engine like a driver in software.
  boot_verifier_driver #(.Code(Parameters), .TwoPasses(TwoPasses)) u_driver (
    .clk_i, .rst_ni,
    .key_valid_i (key_valid),
    .key_ready_o (key_ready),
    .key_index_i (key_index),
    // Words from the adapter.
    .key_i       (key),
    .start_i     (start),
    .sig_valid_i (sig_valid),
    .sig_ready_o (sig_ready),
    .sig_data_i  (sig_data),
    .sig_last_i  (sig_last),
    .sig_bytes_i (sig_bytes),
    .msg_valid_i (msg_valid),
    .msg_ready_o (msg_ready),
    .msg_data_i  (msg_data),
    .msg_last_i  (msg_last),
    .msg_bytes_i (msg_bytes),
    .done_o      (driver_done),
    .index_o     (driver_index),
    .verdict_o   (driver_verdict),
    // Registers of the engine.
    .axil_o      (unit_req),
    .axil_i      (unit_resp),
    // The engine's stream port, and the end of the sequence.
    .str_valid_o (unit_valid),
    .str_ready_i (unit_ready),
    .str_data_o  (unit_data),
    .str_last_o  (unit_last),
    .str_bytes_o (unit_bytes),
    .quiet_o     (driver_quiet),
    .error_o     (driver_error)
  );

  // The engine changes its owner at the release, for the rest of the boot.
  svu_handover u_handover (
    .clk_i, .rst_ni,
    .release_i      (host_runs),
    .is_host_o      (is_host),
    .unit_axil_i     (unit_req),
    .unit_axil_o    (unit_resp),
    .unit_valid_i   (unit_valid),
    .unit_ready_o   (unit_ready),
    .host_axil_i     (host_engine_axil_i),
    .host_axil_o    (host_engine_axil_o),
    .engine_axil_o   (engine_req),
    .engine_axil_i  (engine_resp),
    .engine_valid_o (engine_valid),
    .engine_ready_i (engine_ready)
  );

  // A change of the lifecycle is an abort of the engine. The lower four bits of a lifecycle code
  // are different for each.
  xmss #(.Lanes(Lanes), .RoundsPerCycle(RoundsPerCycle)) u_xmss (
    .clk_i, .rst_ni,
    // Registers, of the unit or of the host.
    .axil_i         (engine_req),
    .axil_o         (engine_resp),
    // Signature and message, from the unit only.
    .str_valid_i    (engine_valid),
    .str_ready_o    (engine_ready),
    .str_data_i     (unit_data),
    .str_last_i     (unit_last),
    .str_bytes_i    (unit_bytes),
    .str_abort_i    (1'b0),
    .lifecycle_i    (otp_lifecycle[3:0]),
    .irq_o          (),
    .alert_o        (engine_alert)
  );

  // --- the decision ---
  // The decision goes to the sequencer as a word, which software cannot write.
  logic decide, explain;
  logic [31:0] word;

  svu_decision u_decision (
    .clk_i, .rst_ni,
    .release_i (release_ok),
    .refused_i (refused),
    .reason_i  (reason),
    .decide_o  (decide),
    .explain_o (explain),
    .word_o    (word)
  );

  // No bus leads to the sequencer.
  boot_sequencer_core u_sequencer (
    .clk_i, .rst_ni,
    .decide_i    (decide),
    .explain_i   (explain),
    .word_i      (word),
    .is_whole_i  (1'b1),
    .fault_i     (is_fault),
    .refuses_o   (),
    .host_rst_no (host_rst_no),
    .host_trap_o (),
    .status_o    (boot_status_o),
    .reason_o    (boot_reason_o)
  );
  assign host_runs = boot_status_o == boot_sequencer_state__released;

  // --- memory for the first stage ---
  // The memory is open while the evidence and the decision are both there.
  first_stage_ram #(.Words(RamWords)) u_ram (
    .clk_i, .rst_ni,
    // Words of the image, and the verdict.
    .write_i    (ram_write),
    .word_i     (WordBits'(ram_word)),
    .data_i     (image_data),
    .open_i     (release_ok & host_runs),
    // The host, which only reads.
    .axi_i      (host_ram_axi_i),
    .axi_o      (host_ram_axi_o)
  );

  // Both sides have ids of their own, so their reads may overlap.
  // --- the medium: first the unit, which is quiet from its decision on, then the host ---
  axi_mux u_medium (
    .clk_i, .rst_ni,
    .axi_i  ({host_medium_axi_i, unit_medium_req}),
    .axi_o ({host_medium_axi_o, unit_medium_resp}),
    .sub_axi_o  (medium_axi_o),
    .sub_axi_i (medium_axi_i)
  );

  // The host starts only after the unit has released it.
  `MACHINE_ASSERT(NoHostWithoutARelease_A, $rose(host_runs) |-> $past(release_ok))
  // When the host gets the engine, the unit has no access open and begins none.
  `MACHINE_ASSERT(TheUnitIsDoneBeforeTheHost_A, is_host |-> driver_quiet && quiet && !unit_req.ar_valid)
  // A host that runs without evidence for its release is treated as a fault.
  `MACHINE_ASSERT(NoHostWithoutItsEvidence_A, host_runs && !release_ok |-> is_fault)
  // Two cycles after a fault the host is in reset.
  `MACHINE_ASSERT(AFaultEndsTheRelease_A, $past(is_fault, 2) |-> !host_rst_no)
endmodule
