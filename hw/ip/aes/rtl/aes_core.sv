// This module is the block cipher without masking (FIPS 197 §5.1, §5.3), with its key schedule. It computes one
// round in a cycle.
//
// Protocol: the words of a key are written while the core is idle, then `expand_i` starts the expansion. A
// block is taken in a cycle with `block_valid_i` and `block_ready_o`. The result stays at the port until
// `result_ready_i`, or until a stop. `stop_i` ends a block and an expansion at once.
//
// Time: a block takes 10, 12 or 14 cycles. The next one is loaded in the cycle in which a result is taken, so
// blocks follow each other without a cycle between; the first round key is kept in a register for that. Both
// directions take the same time. Decryption uses the MixColumns of encryption: its inverse is the same matrix
// after a cheaper one (`inverse_part`).
//
// Reset: the core is idle. State and key memory have no reset; a wipe after the reset has to overwrite them.
//
// Hardening: an upset of control or of the key schedule ends in an error until reset (`aes_control`,
// `aes_keys`). The state and the keys have no protection against faults or probing.

`include "assert.svh"

module aes_core
  import aes_pkg::*;
#(
  // Without `Decrypts` the core only encrypts, and is smaller.
  parameter bit Decrypts = 1'b1,
  // With `InRam` the S-boxes are in block RAM, otherwise in look-up tables.
  parameter bit InRam    = 1'b0,
  // `Hardened` = 0 removes the detection of upsets.
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // These ports take words of the key, or of what overwrites the schedule, while the core is idle. `idle_o`
  // says that neither a block nor an expansion is under way.
  input  logic       key_write_i,
  input  logic [5:0] key_index_i,
  input  word_t      key_word_i,
  input  logic       expand_i,
  output logic       idle_o,

  // The length is fixed from the expansion on, and the direction from a cycle before the first block.
  input  key_len_e   len_i,
  input  logic       decrypt_i,

  // A stop ends a block and an expansion. An error stays until reset.
  input  logic       stop_i,
  output logic       error_o,

  // A block, which is text or a counter, is taken when valid and ready are both high.
  input  logic       block_valid_i,
  output logic       block_ready_o,
  input  block_t     block_i,

  // A result stays until it is taken or stopped.
  output logic       result_valid_o,
  input  logic       result_ready_i,
  output block_t     result_o
);
  logic       keys_busy, keys_error, control_error, loads, steps, decrypt;
  logic [3:0] round;
  block_t     key;

  // In an engine that only encrypts this is constant, so that synthesis removes the other direction.
  assign decrypt = Decrypts & decrypt_i;
  assign error_o = keys_error | control_error;

  // The key schedule gives the key of a round in the same cycle. An error of the control stops it.
  aes_keys #(.InRam(InRam), .Hardened(Hardened)) u_keys (
    .clk_i, .rst_ni,
    .write_i (key_write_i),
    .index_i (key_index_i),
    .word_i  (key_word_i),
    .expand_i(expand_i),
    .len_i   (len_i),
    .stop_i  (stop_i | control_error),
    .busy_o  (keys_busy),
    .error_o (keys_error),
    .round_i (round),
    .key_o   (key)
  );

  // The control decides when a block is loaded and when a round is made.
  aes_control #(.Hardened(Hardened)) u_control (
    .clk_i, .rst_ni,
    .len_i, .stop_i,
    .decrypt_i  (decrypt),
    .keys_busy_i(keys_busy),
    .fail_i     (keys_error),
    .error_o    (control_error),
    .idle_o,
    .block_valid_i, .block_ready_o, .result_valid_o, .result_ready_i,
    .loads_o    (loads),
    .steps_o    (steps),
    .round_o    (round)
  );

  // --- a round ---

  // `sub`, `shifted`, `added`, `whole` and `columns` are the state after each step of a round, in this order.
  block_t state_d, first_q, sub, shifted, added, whole, columns, mixed;
  logic   stores;

  // An error overwrites the state, so that no intermediate value stays.
  assign state_d = steps ? mixed : block_i ^ first_q;
  assign stores  = loads | steps | error_o;

  // The state has no reset: the wipe after a reset overwrites it. With S-boxes in RAM the substitution comes in
  // front of the register, because the RAM is the register; otherwise it comes after it.
  if (InRam) begin : g_ram
    for (genvar i = 0; i < 16; i += 2) begin : g_sub
      aes_sbox_ram u_sbox (
        .clk_i, .rst_ni,
        .load_i   (stores),
        .inverse_i(decrypt),
        .byte_i   (state_d[i+1:i]),
        .byte_o   (sub[i+1:i])
      );
    end
  end else begin : g_tables
    block_t state_q;
    always_ff @(posedge clk_i) if (stores) state_q <= state_d;
    for (genvar i = 0; i < 16; i++) begin : g_sub
      aes_sbox #(.Inverts(Decrypts)) u_sbox (.inverse_i(decrypt), .byte_i(state_q[i]), .byte_o(sub[i]));
    end
  end

  // Both directions add the round key here, because the last round ends with it, and the inverse of MixColumns
  // follows it. Encryption takes the key out again, and adds it after MixColumns. This is free in a look-up
  // table with an unused input.
  assign shifted = decrypt ? inverse_shift_rows(sub) : shift_rows(sub);
  assign added   = shifted ^ key;
  assign whole   = Decrypts ? added ^ (decrypt ? inverse_part(added) : key) : shifted;
  assign mixed   = columns ^ (decrypt ? '0 : key);
  // MixColumns works on each column by itself.
  for (genvar c = 0; c < 4; c++) begin : g_column
    aes_column u_column (.column_i(whole[4*c +: 4]), .column_o(columns[4*c +: 4]));
  end
  assign result_o = added;

  // The first round key has no reset, either. It is read while the core is idle, when the key memory shows it.
  always_ff @(posedge clk_i) if (idle_o || error_o) first_q <= key;

  // A result of fewer rounds would reveal the key.
  `ASSERT(ResultsAreOfTheLastRound_A, result_valid_o |-> round == (decrypt ? 4'd0 : rounds(len_i)))
  // A block must not be encrypted with a schedule that is still being made.
  `ASSERT(ABlockHasKeys_A, block_valid_i && block_ready_o |-> !keys_busy)
endmodule
