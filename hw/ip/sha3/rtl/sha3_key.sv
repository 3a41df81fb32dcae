// This module has the key of KMAC, and puts it into the message as a block of its own after the first one
// (SP 800-185 §4.3).
//
// The key can be written and not be read: it leaves this module only into the core. Software writes it with the
// encoding of its length, which is public, so that no key has to be shifted here; the zeros up to the rate are
// made here. A message that ends in its first block would be a MAC without a key, and is refused.
//
// Protocol: the message of software enters by a valid/ready handshake, and leaves to the core by another one.
// While the key is put, words of software wait. A start or a drop begins anew.
//
// Time: words pass in the same cycle; the key takes a cycle for each lane of the rate.
//
// Reset: there is no key and no message. A key is cleared in the cycle after `forget_i` or an error. Hardening:
// the states differ in at least three bits, and an illegal one, or an error of the core, ends in StError until
// reset. The count of lanes has no copy.

`include "assert.svh"

module sha3_key
  import sha3_pkg::*;
#(
  // `Hardened` = 0 has illegal states end in StPass.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The key has 18 words in any order; `loaded_o` says that all of them are there.
  input  logic        key_valid_i,
  input  logic [4:0]  key_index_i,
  input  logic [31:0] key_i,
  output logic        loaded_o,
  input  logic        forget_i,

  // These ports begin and drop a message. `last_lane_i` is the last lane of its rate.
  input  logic        start_i,
  input  logic        is_kmac_i,
  input  logic [4:0]  last_lane_i,
  // This drops the message.
  input  logic        drop_i,
  // The message ends before the key.
  output logic        bad_end_o,
  // This is an error of the core.
  input  logic        fail_i,
  // An error stays until reset.
  output logic        error_o,

  // This is the message of software, and below it that of the core.
  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  lane_t       word_i,
  input  logic        word_last_i,
  input  logic [3:0]  word_bytes_i,
  output logic        msg_valid_o,
  input  logic        msg_ready_i,
  output lane_t       msg_o,
  output logic        msg_last_o,
  output logic [3:0]  msg_bytes_o
);
  localparam int unsigned KeyLanes = 9;

  // The states have the same code as those of `sha3_control`.
  typedef enum logic [5:0] {
    // StPass passes words, and waits for a start.
    StPass   = 6'b001011,
    // StHeader passes the first block of a KMAC, and ends with its last lane.
    StHeader = 6'b010101,
    // StKey puts the key, and ends with the last lane of its block.
    StKey    = 6'b011110,
    // StError waits for a reset.
    StError  = 6'b110011
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StPass), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic [4:0]             lane_d, lane_q;
  logic [2*KeyLanes-1:0]  there_q;
  logic [KeyLanes-1:0][1:0][31:0] key_q;

  logic in_pass, in_header, in_key, moves, is_last_lane;
  assign in_pass      = state_q == StPass;
  assign in_header    = state_q == StHeader;
  assign in_key       = state_q == StKey;
  assign error_o      = ~(in_pass | in_header | in_key);
  // Every word of the key was written since it was last forgotten.
  assign loaded_o     = &there_q;
  assign is_last_lane = lane_q == last_lane_i;
  assign moves        = msg_valid_o & msg_ready_i;
  // A message that ends in its first block has no place for the key.
  assign bad_end_o    = in_header & word_valid_i & word_last_i;

  // While the key is put, words of software wait. After the key the block is filled with zeros.
  assign msg_valid_o  = in_key | (in_pass & word_valid_i) | (in_header & word_valid_i & ~word_last_i);
  assign word_ready_o = (in_pass | in_header) & msg_ready_i;
  assign msg_last_o   = in_pass & word_last_i;
  assign msg_bytes_o  = in_pass ? word_bytes_i : 4'd8;
  assign msg_o        = !in_key ? word_i : (lane_q < 5'(KeyLanes)) ? key_q[lane_q[3:0]] : '0;

  // A KMAC passes the first block, puts the key, and passes the rest. Everything else is passed.
  always_comb begin
    state_d = state_q;
    lane_d  = lane_q + 5'(moves);
    if (moves && is_last_lane) lane_d = '0;
    unique case (state_q)
      StPass:   state_d = StPass;
      StHeader: if (moves && is_last_lane) state_d = StKey;
      StKey:    if (moves && is_last_lane) state_d = StPass;
      StError:  state_d = StError;
      default:  state_d = Hardened ? StError : StPass;
    endcase
    // A start and a drop begin anew; an error stays.
    if (start_i || drop_i) lane_d = '0;
    if (drop_i && !error_o)  state_d = StPass;
    if (start_i && !error_o) state_d = is_kmac_i ? StHeader : StPass;
    if (fail_i && Hardened)  state_d = StError;
  end

  // After a reset there is no message and no key.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lane_q  <= '0;
      there_q <= '0;
    end else begin
      lane_q  <= lane_d;
      if (forget_i || error_o) there_q <= '0;
      else if (key_valid_i)    there_q[key_index_i] <= 1'b1;
    end
  end

  for (genvar i = 0; i < 2 * KeyLanes; i++) begin : g_key
    // A key of before a reset is not there, and is replaced word by word.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni)                                 key_q[i/2][i%2] <= '0;
      else if (forget_i || error_o)                key_q[i/2][i%2] <= '0;
      else if (key_valid_i && key_index_i == 5'(i)) key_q[i/2][i%2] <= key_i;
    end
  end

  // A module that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Nobody gives or takes a word in the error.
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !msg_valid_o && !word_ready_o)
  // Nothing of a key is left in the cycle after it was forgotten.
  `ASSERT(ForgetsTheKey_A, forget_i |=> key_q == '0 && !loaded_o)
  // A part of a key would be a weaker key.
  `ASSERT(AKeyIsPutWhole_A, in_key && !drop_i && !fail_i |=> in_key || error_o || $past(moves && is_last_lane))
  // A message that ended before its key would get a MAC without one.
  `ASSERT(NoMessageEndsBeforeItsKey_A, msg_last_o |-> !in_header && !in_key)
  // No word of software is lost, or mixed with the key.
  `ASSERT(NothingPassesDuringTheKey_A, in_key |-> !word_ready_o)
endmodule
