// The block cipher without masking: a round a cycle (FIPS 197 §5.1, §5.3).
//
// A block takes 10, 12 or 14 cycles. The next one is loaded in the cycle in which a result is taken, so blocks follow each
// other without a cycle between; the first round key is kept in a register for that. Decryption uses the
// MixColumns of encryption: its inverse is the same matrix after a cheaper one (`inverse_part`).

`include "assert.svh"

module aes_core
  import aes_pkg::*;
#(
  parameter bit Decrypts = 1'b1,  // without it, encryption only
  parameter bit InRam    = 1'b0,  // S-boxes are block RAM
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // Words of the key, or of what overwrites the schedule, while idle.
  input  logic       key_write_i,
  input  logic [5:0] key_index_i,
  input  word_t      key_word_i,
  input  logic       expand_i,
  output logic       idle_o,       // no block, no expansion

  // Fixed from the expansion on, and the direction from a cycle before the first block.
  input  key_len_e   len_i,
  input  logic       decrypt_i,

  input  logic       stop_i,       // ends a block and an expansion
  output logic       error_o,      // until reset

  input  logic       block_valid_i,  // taken when ready: text, or a counter
  output logic       block_ready_o,
  input  block_t     block_i,

  output logic       result_valid_o,  // stays until it is taken or stopped
  input  logic       result_ready_i,
  output block_t     result_o
);
  logic       keys_busy, keys_error, control_error, loads, steps, decrypt;
  logic [3:0] round;
  block_t     key;

  // Constant in an engine that only encrypts, so that synthesis removes the other direction.
  assign decrypt = Decrypts & decrypt_i;
  assign error_o = keys_error | control_error;

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

  block_t state_d, first_q, sub, shifted, added, whole, columns, mixed;
  logic   stores;

  // An error lets go of what is there.
  assign state_d = steps ? mixed : block_i ^ first_q;
  assign stores  = loads | steps | error_o;

  // The state, without a reset: the wipe after a reset overwrites it. SubBytes comes in front of its register or after it.
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

  // Both directions add the key here: the last round ends with it, the inverse of MixColumns follows it. Encryption takes it
  // out again, and adds it after MixColumns: in a look-up table that has an input left this is free.
  assign shifted = decrypt ? inverse_shift_rows(sub) : shift_rows(sub);
  assign added   = shifted ^ key;
  assign whole   = Decrypts ? added ^ (decrypt ? inverse_part(added) : key) : shifted;
  assign mixed   = columns ^ (decrypt ? '0 : key);
  for (genvar c = 0; c < 4; c++) begin : g_column
    aes_column u_column (.column_i(whole[4*c +: 4]), .column_o(columns[4*c +: 4]));
  end
  assign result_o = added;

  // As the state.
  always_ff @(posedge clk_i) if (idle_o || error_o) first_q <= key;

  `ASSERT(ResultsAreOfTheLastRound_A, result_valid_o |-> round == (decrypt ? 4'd0 : rounds(len_i)))
  `ASSERT(ABlockHasKeys_A, block_valid_i && block_ready_o |-> !keys_busy)
endmodule
