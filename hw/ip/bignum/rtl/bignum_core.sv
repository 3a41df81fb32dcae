// This module is the engine for big numbers without a bus. Operands come in words of 32 bits, a command works
// on them, and its result leaves in words of 32 bits.
//
// Protocol: `select_*` chooses an operand while idle, and `in_*` then takes its words, the lowest first; with
// `out_*` the words of a result are given. All of them, and commands, are valid/ready handshakes. `in_wait_o`
// and `out_wait_o` tell a word that comes later from one that never comes. The memory belongs to the port while
// idle, to the program and the datapath while a command runs, and to the control in a wipe.
//
// Time: a word of 32 bits takes a few cycles, a choice up to 256, and a command the cycles that `doc/README.md`
// lists.
//
// Reset: the control wipes the memory, and the core is idle then. Hardening: see `bignum_control` and
// `bignum_sequencer`. A unit that works while the control is idle is an error as well.

`include "assert.svh"

module bignum_core
  import bignum_pkg::*;
#(
  // `Dsps` is the number of DSP blocks: 16, 4 or 1. `W` is the width of a word of the memory that follows from
  // it.
  parameter int unsigned Dsps = 16,
  // `Hardened` = 0 removes the detection of faults.
  parameter bit Hardened = 1'b1,
  localparam int unsigned W        = word_bits(Dsps),
  localparam int unsigned AddrBits = $clog2(Limbs * LimbBits / W)
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // These ports choose the operand whose words follow. A choice is taken while idle, and ignored otherwise.
  input  logic        select_valid_i,
  output logic        select_ready_o,
  input  operand_e    select_i,
  // These are words that are written into the chosen operand.
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_i,
  // A word will be taken later.
  output logic        in_wait_o,
  // These are words that are read from the result.
  input  logic        out_ready_i,
  output logic        out_valid_o,
  output logic [31:0] out_o,
  // A word will be there later.
  output logic        out_wait_o,
  // All that was written is in the memory.
  output logic        port_ready_o,

  // This is a command with the lengths of its numbers.
  input  logic        command_valid_i,
  output logic        command_ready_o,
  input  command_e    command_i,
  input  length_t     modulus_bits_i,
  input  length_t     exponent_bits_i,
  // R² is given, and need not be computed.
  input  logic        given_i,
  // An abort ends a command, and a wipe forgets everything. `done_o` is a pulse at the end of a command.
  input  logic        abort_i,
  input  logic        wipe_i,
  output logic        idle_o,
  output logic        done_o,
  output result_e     result_o,
  output logic        valid_o,
  // An error stays until reset.
  output logic        error_o
);
  localparam int unsigned IndexBits = 10;

  logic     clear, clear_port, wiping, wipe_write, start, ends, sequencer_error, given, op_start, op_done;
  logic     is_zero, is_negative, is_odd, seq_write, port_write, write, fails, sequencer_busy, datapath_busy;
  logic [AddrBits-1:0] wipe_addr, seq_addr, port_addr, addr;
  logic [W-1:0] seq_data, port_data, data, read_data, inverse;
  length_t  modulus_bits, exponent_bits;
  address_t entry, rom_addr;
  logic [LimbBits-1:0] rom_data;
  end_e     end_code;
  vector_t  op;
  field_e   field;
  slot_t    modulus, slot;
  logic [3:0] index;
  logic [2:0] pairs;
  logic [AddrBits-1:0] stride;
  logic [IndexBits-1:0] words;
  logic     port_ready, command_ready;

  // A command that came before the last word is in the memory would work on an older operand.
  assign command_ready_o = command_ready & port_ready;

  bignum_control #(.W(W), .Hardened(Hardened)) u_control (
    .clk_i, .rst_ni,
    // So the control sees a command only when the last word is in the memory.
    .command_valid_i(command_valid_i & port_ready),
    .command_ready_o(command_ready),
    .command_i, .modulus_bits_i, .exponent_bits_i, .given_i, .abort_i, .wipe_i,
    .fail_i         (fails),
    .error_o, .idle_o, .done_o, .result_o, .valid_o,
    .clear_o        (clear),
    .clear_port_o   (clear_port),
    .wiping_o       (wiping),
    .wipe_write_o   (wipe_write),
    .wipe_addr_o    (wipe_addr),
    .start_o        (start),
    .entry_o        (entry),
    .modulus_bits_o (modulus_bits),
    .exponent_bits_o(exponent_bits),
    .given_o        (given),
    .end_i          (ends),
    .end_code_i     (end_code)
  );

  // A program never ends while a unit works, and no unit works without a program; anything else is a fault.
  assign fails = sequencer_error | (idle_o & (sequencer_busy | datapath_busy));

  // The sequencer executes the program.
  bignum_sequencer #(.W(W), .Hardened(Hardened)) u_sequencer (
    .clk_i, .rst_ni,
    .clear_i        (clear),
    .start_i        (start),
    .entry_i        (entry),
    .modulus_bits_i (modulus_bits),
    .exponent_bits_i(exponent_bits),
    .given_i        (given),
    .busy_o         (sequencer_busy),
    .end_o          (ends),
    .end_code_o     (end_code),
    .error_o        (sequencer_error),
    .rom_addr_o     (rom_addr),
    .rom_data_i     (rom_data),
    .op_start_o     (op_start),
    .op_o           (op),
    .field_o        (field),
    .words_o        (words),
    .modulus_o      (modulus),
    .inverse_o      (inverse),
    .index_o        (index),
    .pairs_o        (pairs),
    .stride_o       (stride),
    .op_done_i      (op_done),
    .is_zero_i      (is_zero),
    .is_negative_i  (is_negative),
    .is_odd_i       (is_odd),
    .write_o        (seq_write),
    .addr_o         (seq_addr),
    .data_o         (seq_data),
    .data_i         (read_data)
  );

  // The ROM has the programs and their constants.
  bignum_rom u_rom (
    .clk_i, .rst_ni,
    .addr_i(rom_addr),
    .data_o(rom_data)
  );

  // The datapath has the memory, and computes on whole numbers in it.
  bignum_datapath #(.Dsps(Dsps)) u_datapath (
    .clk_i, .rst_ni,
    .start_i      (op_start),
    .clear_i      (clear),
    .op_i         (op),
    .field_i      (field),
    .words_i      (words),
    .modulus_i    (modulus),
    .factors_i    (SlotFactors),
    .inverse_i    (inverse),
    .index_i      (index),
    .pairs_i      (pairs),
    .stride_i     (stride),
    .busy_o       (datapath_busy),
    .done_o       (op_done),
    .is_zero_o    (is_zero),
    .is_negative_o(is_negative),
    .is_odd_o     (is_odd),
    .write_i      (write),
    .addr_i       (addr),
    .data_i       (data),
    .data_o       (read_data)
  );

  // --- words ---
  // This section says where an operand is. Numbers of all lengths have the same place of eight slots: 64 limbs,
  // of which the longest modulus has 61. Numbers of the length of a prime have four slots. Any choice that is
  // no operand to be written means the result, which can be read.
  logic writes, is_half, may_read, port_out_valid, port_in_ready, port_full;
  operand_e selected_q;
  logic [31:0] out_word;

  // Software names operands, and never places in the memory.
  always_comb begin
    writes  = 1'b1;
    is_half = select_i inside {OperandP, OperandQ, OperandDp, OperandDq, OperandQInverse};
    slot    = SlotModulus;
    unique case (select_i)
      OperandModulus, OperandX:     slot = SlotModulus;
      OperandBase, OperandY:        slot = SlotBase;
      OperandExponent, OperandS:    slot = SlotExponent;
      OperandFactor, OperandDigest: slot = SlotFactor;
      OperandRSquared, OperandR:    slot = SlotRSquared;
      OperandP:                     slot = SlotP;
      OperandQ:                     slot = SlotQ;
      OperandDp:                    slot = SlotDp;
      OperandDq:                    slot = SlotDq;
      OperandQInverse:              slot = SlotQInverse;
      OperandBlinding:              slot = SlotBlinding;
      OperandUnblinding:            slot = SlotUnblinding;
      default:         {writes, slot} = {1'b0, SlotResult};
    endcase
  end

  // Only results are read, and only while there is one. A choice belongs to the present result, so a command
  // that starts a program forgets it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                                     selected_q <= OperandNone;
    else if (clear_port || start)                    selected_q <= OperandNone;
    else if (select_valid_i && select_ready_o)       selected_q <= select_i;
  end
  // An operand has no way out: the name that was chosen decides, not what is at the address.
  assign may_read       = (selected_q == OperandResult) & valid_o;
  assign select_ready_o = port_ready & idle_o;
  assign port_ready_o   = port_ready;

  bignum_port #(.W(W)) u_port (
    .clk_i, .rst_ni,
    .clear_i        (clear_port | start),
    .select_valid_i (select_valid_i & select_ready_o),
    .select_slot_i  (slot),
    .select_writes_i(writes),
    .select_half_i  (is_half),
    .in_valid_i     (in_valid_i & idle_o),
    .in_ready_o     (port_in_ready),
    .full_o         (port_full),
    .in_i,
    .out_ready_i    (out_ready_i & may_read),
    .out_valid_o    (port_out_valid),
    .out_o          (out_word),
    .ready_o        (port_ready),
    .write_o        (port_write),
    .addr_o         (port_addr),
    .data_o         (port_data),
    .data_i         (read_data)
  );
  assign in_ready_o  = port_in_ready & idle_o;
  // Without a choice, or when the operand is complete, no word will ever be taken; the bus is told so at once.
  assign in_wait_o   = idle_o & !(selected_q inside {OperandNone, OperandResult}) & ~port_full & ~port_in_ready;
  assign out_valid_o = port_out_valid & may_read;
  assign out_wait_o  = may_read & ~port_full & ~port_out_valid;
  assign out_o       = out_word & {32{may_read}};

  // The memory belongs to the port while idle, and to the program otherwise. A wipe has priority.
  always_comb begin
    {write, addr, data} = {seq_write, seq_addr, seq_data};
    if (idle_o) {write, addr, data} = {port_write, port_addr, port_data};
    if (wiping) {write, addr, data} = {wipe_write, wipe_addr, W'(0)};
  end

  // No operand, and nothing that a program leaves behind, can be read.
  `ASSERT(OnlyResultsAreShown_A, out_o != '0 |-> valid_o && selected_q == OperandResult)
  // Two writers of the memory at once would lose a word.
  `ASSERT(AProgramWritesAlone_A, seq_write |-> !idle_o && !datapath_busy)
  // A program begins when all words of its operands are in the memory.
  `ASSERT(ACommandHasItsWords_A, start |-> !port_write)
endmodule
