// This module has the round keys of one share in distributed memory: a bank for each column, with one write
// port and one read port. A write is visible in the next cycle, a read is combinational.
//
// Reset: there is none. A wipe has to overwrite the memory word by word. Nothing is hardened here; the caller
// guards the indices.

`include "assert.svh"

module aes_key_memory
  import aes_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       write_i,
  // This is the index of a word of the schedule; its lower bits choose the bank.
  input  logic [5:0] index_i,
  input  word_t      word_i,
  input  logic [3:0] round_i,
  // The round key of `round_i` is there in the same cycle.
  output block_t     key_o
);
  for (genvar c = 0; c < 4; c++) begin : g_bank
    word_t memory [16];
    // A word of the schedule is written into the bank of its column.
    always_ff @(posedge clk_i) begin
      if (write_i && index_i[1:0] == 2'(c)) memory[index_i[5:2]] <= word_i;
    end
    assign key_o[4*c +: 4] = memory[round_i];
  end

  // A key that is written is the key that is read, or the message would be encrypted with another one.
  `ASSERT(AWordIsKept_A, write_i && index_i[5:2] == round_i |=>
          round_i != $past(round_i) || key_o[4*$past(index_i[1:0]) +: 4] == $past(word_i))
endmodule
