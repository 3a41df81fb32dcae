// Proof of the padding of a message (FIPS 180-4 §5.1.1): the words that were taken, a one, zeros, the length, at the end of
// a block, and nothing else. So two messages have two sequences of blocks.
//
// Words, their sizes, starts, and how fast blocks are hashed are arbitrary. `length_q` counts the bytes apart from the block.

module xmss_message_proof
  import xmss_pkg::*;
(
  input logic        clk_i,
  input logic        rst_i,
  input logic        start_i,
  input logic        clear_i,
  input logic        word_valid_i,
  input logic [31:0] word_i,
  input logic        word_last_i,
  input logic [2:0]  word_bytes_i,
  input logic        write_ready_i,
  input logic        block_ready_i,
  input logic        block_done_i
);
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  logic rst_ni;
  assign rst_ni = started_q & ~rst_i;

  logic        error, word_ready, write_valid, block_valid, block_first, finished;
  place_t      place;
  logic [2:0]  block_index;
  logic [2:0]  word;
  logic [31:0] data;
  xmss_message dut (
    .clk_i, .rst_ni, .start_i, .clear_i, .error_o(error), .word_valid_i, .word_ready_o(word_ready), .word_i, .word_last_i,
    .word_bytes_i, .write_valid_o(write_valid), .write_ready_i, .write_place_o(place), .write_word_o(word),
    .write_data_o(data), .block_valid_o(block_valid), .block_ready_i, .block_index_o(block_index),
    .block_first_o(block_first), .block_done_i, .finished_o(finished)
  );

  // States of the padding, by their codes.
  localparam logic [5:0] StWords = 6'b010101, StMarker = 6'b011110, StZeros = 6'b100110, StLength = 6'b101101;
  localparam logic [5:0] StDone = 6'b111000;

  // What may come next: a word of the message; the one, after a whole last word; zeros; the two words of the length; nothing.
  typedef enum logic [2:0] {
    Nothing = 3'd0,
    Words   = 3'd1,
    One     = 3'd2,
    Zeros   = 3'd3,
    Upper   = 3'd4,
    Lower   = 3'd5
  } next_e;
  next_e       next_q;
  logic [3:0]  at_q;      // the word of its block
  logic [2:0]  block_q;   // the block of the ring
  logic [3:0]  open_q, given_q;  // blocks that are whole and not hashed, and those of them that a lane has
  logic [60:0] length_q;  // bytes
  logic        writes, takes, ends;
  logic [31:0] padded;
  assign writes = write_valid & write_ready_i;
  assign takes  = word_valid_i & word_ready;
  assign ends   = writes & (at_q == 4'd15);
  always_comb begin
    unique case (word_bytes_i)
      3'd0:    padded = 32'h8000_0000;
      3'd1:    padded = {word_i[31:24], 24'h80_0000};
      3'd2:    padded = {word_i[31:16], 16'h8000};
      default: padded = {word_i[31:8], 8'h80};
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_q   <= Nothing;
      {at_q, block_q, open_q, given_q, length_q} <= '0;
    end else if (start_i || clear_i) begin
      next_q   <= clear_i ? Nothing : Words;
      {at_q, block_q, open_q, given_q, length_q} <= '0;
    end else begin
      if (takes) length_q <= length_q + 61'(word_bytes_i);
      open_q  <= open_q + 4'(ends) - 4'(block_done_i);
      given_q <= given_q + 4'(block_valid & block_ready_i) - 4'(block_done_i);
      if (writes) begin
        at_q    <= at_q + 4'd1;
        block_q <= block_q + 3'(at_q == 4'd15);
        unique case (next_q)
          Words:   if (word_last_i) next_q <= (word_bytes_i == 3'd4) ? One : (at_q == 4'd13) ? Upper : Zeros;
          One:     next_q <= (at_q == 4'd13) ? Upper : Zeros;
          Zeros:   if (at_q == 4'd13) next_q <= Upper;
          Upper:   next_q <= Lower;
          default: next_q <= Nothing;
        endcase
      end
    end
  end

  always_comb begin
    // Words are whole up to the last one; a block is hashed that a lane has.
    assume (word_bytes_i <= 3'd4);
    if (word_valid_i && !word_last_i) assume (word_bytes_i == 3'd4);
    if (block_done_i) assume (given_q != '0);
    if (rst_ni) begin
      // The claims.
      assert (!error);
      if (takes) assert (writes && next_q == Words);
      if (write_valid) begin
        assert (next_q != Nothing && open_q < 4'd8);
        assert (place == {RingPlace[PlaceBits-1:4], block_q, at_q[3]} && word == at_q[2:0]);
        unique case (next_q)
          Words:   assert (data == ((word_last_i && word_bytes_i != 3'd4) ? padded : word_i));
          One:     assert (data == 32'h8000_0000);
          Zeros:   assert (data == '0);
          Upper:   assert (data == length_q[60:29] && at_q == 4'd14);
          default: assert (data == {length_q[28:0], 3'b0} && at_q == 4'd15);
        endcase
      end
      if (next_q != Nothing && next_q != Words && open_q < 4'd8) assert (write_valid);
      if (finished) assert (next_q == Nothing && at_q == '0 && open_q == '0);
      // Blocks are given out in order, each once: the first that no lane has.
      if (block_valid) assert (block_index == 3'(block_q - 3'(open_q) + 3'(given_q)));
      assert (block_valid == (open_q != given_q));
      // What the induction needs.
      assert (next_q <= Lower);
      assert (given_q <= open_q && open_q <= 4'd8 && dut.open_q == open_q && dut.unissued_q == open_q - given_q);
      assert (dut.at_q == at_q && dut.block_q == block_q && dut.length_q == length_q);
      assert (dut.next_q == 3'(block_q - 3'(open_q) + 3'(given_q)));
      assert ((dut.state_q == StWords) == (next_q == Words) && (dut.state_q == StMarker) == (next_q == One));
      assert ((dut.state_q == StZeros) == (next_q == Zeros));
      assert ((dut.state_q == StLength) == (next_q == Upper || next_q == Lower));
      if (next_q == Upper) assert (at_q == 4'd14);
      if (next_q == Lower) assert (at_q == 4'd15);
      if (dut.state_q == StDone) assert (at_q == '0);
    end
  end
endmodule
