// Collects a block of input: words of 32 bits from registers in any order, or of 64 bits from the stream.
//
// The stream carries the text only, and has to end where the length of the text says.

`include "assert.svh"

module aes_input
  import aes_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        wants_i,       // a block is wanted
  input  logic        from_stream_i,  // else from registers; stable while a block is wanted
  input  logic [31:0] left_i,        // bytes, from this block on
  input  logic        clear_i,       // a drop: half a block is no block of the next message
  input  logic        wipe_i,        // takes words of the store, whatever they are
  output logic        free_o,        // for stores
  output logic        bad_end_o,     // of the stream

  input  logic        store_i,       // of a word of a register; ignored unless free
  input  logic [1:0]  index_i,
  input  word_t       word_i,

  input  logic        str_valid_i,
  output logic        str_ready_o,
  input  logic [63:0] str_data_i,
  input  logic        str_last_i,
  input  logic [3:0]  str_bytes_i,

  output logic        valid_o,       // a whole block, or the end of the stream
  input  logic        ready_i,
  output block_t      block_o,
  output logic        error_o        // an upset
);
  logic [3:0][31:0] words_q;
  logic [3:0]       there_d, there_q;        // words of the block that have come
  logic [63:0]      data;
  logic             half;                    // the first word of the stream is there
  logic             is_end, moves, full;
  logic [4:0]       bytes_before;

  assign full        = &there_q;
  assign valid_o     = full;
  assign block_o     = words_q;
  assign free_o      = wants_i & ~from_stream_i & ~full;
  assign str_ready_o = wants_i & from_stream_i & ~full;
  assign moves       = str_valid_i & str_ready_o;

  // The word that has the last byte of the text has to be the last word, with as many bytes as there are.
  assign half         = there_q[0];
  assign bytes_before = {1'b0, half, 3'b0};
  assign is_end       = left_i <= 32'(bytes_before) + 32'd8;
  assign bad_end_o    = moves & ((str_last_i != is_end) |
                                 (is_end & (32'(str_bytes_i) + 32'(bytes_before) != left_i)));

  // Which words are there.
  always_comb begin
    there_d = there_q;
    if (clear_i || ready_i)     there_d = '0;
    else if (moves)             there_d = (half || str_last_i) ? '1 : 4'b0011;
    else if (store_i && !full)  there_d[index_i] = 1'b1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) there_q <= '0;
    else         there_q <= there_d;
  end

  aes_copy #(.Bits(4), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (there_d),
    .value_i(there_q),
    .differs_o(error_o)
  );

  // Data without a reset: the wipe after a reset overwrites it.
  assign data = moves ? str_data_i : {word_i, word_i};
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 4; i++) begin
      if (moves ? half == i[1] : ((store_i && free_o) || wipe_i) && index_i == 2'(i)) words_q[i] <= data[32*(i%2) +: 32];
    end
  end

  `ASSERT(ABlockIsNotReplaced_A, valid_o && !ready_i && !clear_i && !wipe_i |=> $stable(block_o) && valid_o)
  `ASSERT(NothingIsTakenUnasked_A, moves || (store_i && free_o) |-> wants_i)
  `ASSERT(AWordStaysUntilItsBlockIsTaken_A, !ready_i && !clear_i |=> (there_q & $past(there_q)) == $past(there_q) || error_o)
  `ASSERT(AStreamEndsWithItsText_A, moves && str_last_i && !bad_end_o |-> left_i <= 32'd16)
endmodule
