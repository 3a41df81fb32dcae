// Proof that an error is for good, and that nothing is offered in it.
//
// The first state is arbitrary: any word in any register, so that all effects of all upsets are in it. There is no reset.
// All inputs are arbitrary in all cycles: commands, drops, keys, blocks, and errors of other parts.

module aes_error_proof
  import aes_pkg::*;
  import aes_modes_pkg::*;
(
  input logic        clk_i,
  // The block cipher.
  input key_len_e    len_i,
  input logic        decrypt_i,
  input logic        stop_i,
  input logic        keys_busy_i,
  input logic        fail_i,
  input logic        block_valid_i,
  input logic        result_ready_i,
  // The key schedule.
  input logic        key_write_i,
  input logic [5:0]  key_index_i,
  input word_t       key_word_i,
  input logic        expand_i,
  input logic [3:0]  round_i,
  // A message.
  input logic        start_i,
  input mode_e       mode_i,
  input logic [31:0] iv_len_i,
  input logic [31:0] aad_len_i,
  input logic [31:0] text_len_i,
  input logic        wipe_i,
  input logic        iv_write_i,
  input logic [1:0]  iv_index_i,
  input logic        input_valid_i,
  input block_t      input_block_i,
  input logic        output_ready_i,
  input logic        cipher_idle_i,
  input logic        block_ready_i,
  input logic        result_valid_i,
  input block_t      result_i,
  // The verdict.
  input logic        clear_i,
  input logic        valid_i,
  input logic        judges_i,
  input logic        equal_i
);
  logic rst_ni;
  assign rst_ni = 1'b1;

  logic control_error, control_idle, block_ready, result_valid;
  aes_control u_control (
    .clk_i, .rst_ni, .len_i, .decrypt_i, .stop_i, .keys_busy_i, .fail_i, .error_o(control_error),
    .idle_o(control_idle), .block_valid_i, .block_ready_o(block_ready), .result_valid_o(result_valid), .result_ready_i,
    .loads_o(), .steps_o(), .round_o()
  );

  logic keys_error, keys_busy;
  aes_keys u_keys (
    .clk_i, .rst_ni, .write_i(key_write_i), .index_i(key_index_i), .word_i(key_word_i), .expand_i, .len_i, .stop_i,
    .busy_o(keys_busy), .error_o(keys_error), .round_i, .key_o()
  );

  logic modes_error, busy, done, output_valid, tag_valid, wants, takes, cipher_expand;
  aes_modes u_modes (
    .clk_i, .rst_ni, .start_i, .expand_i, .mode_i, .decrypt_i, .iv_len_i, .aad_len_i, .text_len_i, .drop_i(stop_i),
    .wipe_i, .fail_i, .busy_o(busy), .done_o(done), .error_o(modes_error), .iv_write_i, .iv_index_i,
    .iv_word_i(key_word_i), .wants_o(wants), .wants_text_o(), .left_o(), .input_valid_i, .input_ready_o(takes),
    .input_block_i, .output_valid_o(output_valid), .output_ready_i, .output_o(), .output_bytes_o(), .output_last_o(),
    .tag_valid_o(tag_valid), .tag_o(), .cipher_expand_o(cipher_expand), .cipher_decrypt_o(), .cipher_idle_i,
    .block_valid_o(), .block_ready_i, .block_o(), .result_valid_i, .result_ready_o(), .result_i
  );

  logic pending, right, fails, verdict_error;
  aes_verdict u_verdict (
    .clk_i, .rst_ni, .clear_i, .valid_i, .judges_i, .equal_i, .pending_o(pending), .matches_o(right),
    .fails_o(fails), .error_o(verdict_error)
  );

  // Errors of the cycle before.
  logic control_q = 1'b0, keys_q = 1'b0, modes_q = 1'b0, verdict_q = 1'b0;
  always_ff @(posedge clk_i) begin
    {control_q, keys_q, modes_q, verdict_q} <= {control_error, keys_error, modes_error, verdict_error};
  end

  always_comb begin
    // For good.
    if (control_q) assert (control_error);
    if (keys_q)    assert (keys_error);
    if (modes_q)   assert (modes_error);
    if (verdict_q) assert (verdict_error);
    // From the first cycle on: no block, no result, no tag that is right, no message that ends well.
    if (control_error) assert (!block_ready && !result_valid && !control_idle);
    if (keys_error)    assert (keys_busy);
    if (modes_error)   assert (busy && !done && !wants && !takes && !cipher_expand);
    if (verdict_error) assert (!right && !pending);
    // From the second one on: what waited in the cycle of the upset.
    if (modes_q) assert (!output_valid && !tag_valid);
  end
endmodule
