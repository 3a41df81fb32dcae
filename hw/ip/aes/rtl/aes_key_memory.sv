// Round keys of one share in distributed memory: a bank a column, one write port and one read port.

`include "assert.svh"

module aes_key_memory
  import aes_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       write_i,
  input  logic [5:0] index_i,  // of a word of the schedule
  input  word_t      word_i,
  input  logic [3:0] round_i,
  output block_t     key_o     // in the same cycle
);
  for (genvar c = 0; c < 4; c++) begin : g_bank
    word_t memory [16];
    always_ff @(posedge clk_i) begin
      if (write_i && index_i[1:0] == 2'(c)) memory[index_i[5:2]] <= word_i;
    end
    assign key_o[4*c +: 4] = memory[round_i];
  end

  `ASSERT(AWordIsKept_A, write_i && index_i[5:2] == round_i |=>
          round_i != $past(round_i) || key_o[4*$past(index_i[1:0]) +: 4] == $past(word_i))
endmodule
