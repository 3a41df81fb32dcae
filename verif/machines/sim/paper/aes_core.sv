// `aes_core` with the time of the engine in the fifth paper: a block takes 56, 66 or 72 cycles, as in OpenTitan's masked engine.
//
// A simulated machine of the lab has this file in the place of `hw/ip/aes/rtl/aes_core.sv`, which it knows as
// `aes_core_at_own_speed`. Nothing else instantiates it. A result is held back until the time of its block has passed.

`include "assert.svh"

module aes_core
  import aes_pkg::*;
#(
  parameter bit Decrypts = 1'b1,
  parameter bit InRam    = 1'b0,
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       key_write_i,
  input  logic [5:0] key_index_i,
  input  word_t      key_word_i,
  input  logic       expand_i,
  output logic       idle_o,
  input  key_len_e   len_i,
  input  logic       decrypt_i,
  input  logic       stop_i,
  output logic       error_o,
  input  logic       block_valid_i,
  output logic       block_ready_o,
  input  block_t     block_i,
  output logic       result_valid_o,
  input  logic       result_ready_i,
  output block_t     result_o
);
  // The remainder of the time of a block, which begins with the cycle after its load.
  logic [6:0] left_q, whole;
  logic       is_over, is_there;

  assign whole          = len_i == Key256 ? 7'd72 : (len_i == Key192 ? 7'd66 : 7'd56);
  assign is_over        = left_q == '0;
  assign result_valid_o = is_there & is_over;

  // A stop ends a block, and its time with it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                             left_q <= '0;
    else if (stop_i)                         left_q <= '0;
    else if (block_valid_i && block_ready_o) left_q <= whole - 7'd1;
    else if (!is_over)                       left_q <= left_q - 7'd1;
  end

  aes_core_at_own_speed #(.Decrypts(Decrypts), .InRam(InRam), .Hardened(Hardened)) u_core (
    .clk_i, .rst_ni,
    .key_write_i, .key_index_i, .key_word_i, .expand_i, .idle_o,
    .len_i, .decrypt_i, .stop_i, .error_o,
    .block_valid_i, .block_ready_o, .block_i,
    .result_valid_o(is_there),
    .result_ready_i(result_ready_i & is_over),
    .result_o
  );

  `ASSERT(AResultIsNotEarly_A, result_valid_o |-> left_q == '0)
endmodule
