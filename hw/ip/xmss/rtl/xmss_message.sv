// Makes blocks of the message in the memory: words, the padding, the length (FIPS 180-4 §5.1.1).
//
// The blocks are a ring of eight; a word waits while the next block is not hashed yet.

`include "assert.svh"

module xmss_message
  import xmss_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,  // a new message
  input  logic        clear_i,  // no message
  output logic        error_o,  // a state that does not exist

  input  logic        word_valid_i,
  output logic        word_ready_o,  // while the ring has room
  input  logic [31:0] word_i,        // the first byte in the upper bits
  input  logic        word_last_i,
  input  logic [2:0]  word_bytes_i,  // 0 to 4; before the last word, 4

  output logic        write_valid_o,  // into the ring
  input  logic        write_ready_i,
  output place_t      write_place_o,
  output logic [2:0]  write_word_o,
  output logic [31:0] write_data_o,

  output logic        block_valid_o,  // a whole block is in the ring
  input  logic        block_ready_i,
  output logic [2:0]  block_index_o,
  output logic        block_first_o,  // it begins from the initial hash value
  input  logic        block_done_i,  // its place is free again
  output logic        finished_o     // all blocks are hashed
);
  typedef enum logic [5:0] {
    StIdle   = 6'b001011,
    StWords  = 6'b010101,
    StMarker = 6'b011110,  // the last word had no room for the one
    StZeros  = 6'b100110,
    StLength = 6'b101101,
    StDone   = 6'b111000
  } state_e;
  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;

  logic [3:0]  at_q, open_q;         // the word of its block; blocks that are not hashed
  logic [2:0]  block_q, next_q;  // the block that is written, and the one to be hashed
  logic        first_q, makes;             // no block was given out; a word of the padding is made
  logic        moves, ends_block, has_room;  // a word is written; it is the last of its block; the ring has room
  logic [31:0] length_q, ended;  // bytes; the last word with its padding
  logic [3:0]  unissued_q;  // blocks that no lane has got

  // Bytes after the last one are replaced by the one of the padding and zeros.
  always_comb begin
    unique case (word_bytes_i[1:0])
      2'd0:    ended = 32'h8000_0000;
      2'd1:    ended = {word_i[31:24], 24'h80_0000};
      2'd2:    ended = {word_i[31:16], 16'h8000};
      default: ended = {word_i[31:8], 8'h80};
    endcase
  end

  assign has_room     = open_q != 4'd8;
  assign makes        = (state_q == StMarker) | (state_q == StZeros) | (state_q == StLength);
  assign error_o      = ~(makes | (state_q == StIdle) | (state_q == StWords) | (state_q == StDone));
  assign write_valid_o = has_room & (makes | ((state_q == StWords) & word_valid_i));
  assign moves        = write_valid_o & write_ready_i;
  assign word_ready_o = (state_q == StWords) & has_room & write_ready_i;
  assign ends_block   = moves & (at_q == 4'd15);
  assign write_place_o = RingPlace | PlaceBits'({block_q, at_q[3]});
  assign write_word_o  = at_q[2:0];

  // The message, the one, zeros up to the last two words of a block, the length in bits.
  always_comb begin
    state_d      = state_q;
    write_data_o = '0;
    unique case (state_q)
      StWords: begin
        write_data_o = (word_last_i && !word_bytes_i[2]) ? ended : word_i;
        if (moves && word_last_i) begin
          if (word_bytes_i[2]) state_d = StMarker;
          else                 state_d = (at_q == 4'd13) ? StLength : StZeros;
        end
      end
      StMarker: begin
        write_data_o = 32'h8000_0000;
        if (moves) state_d = (at_q == 4'd13) ? StLength : StZeros;
      end
      StZeros: if (moves && at_q == 4'd13) state_d = StLength;
      StLength: begin
        write_data_o = at_q[0] ? {length_q[28:0], 3'b0} : {29'b0, length_q[31:29]};
        if (ends_block) state_d = StDone;
      end
      default: state_d = state_q;
    endcase
    if (start_i) state_d = StWords;
    if (clear_i) state_d = StIdle;
  end

  assign block_valid_o = unissued_q != '0;
  assign block_index_o = next_q;
  assign block_first_o = first_q;
  assign finished_o    = (state_q == StDone) & (open_q == '0);

  // Where the next word goes, and blocks that were made, given out and hashed.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= StIdle;
      at_q       <= '0;
      open_q     <= '0;
      unissued_q <= '0;
      block_q    <= '0;
      next_q     <= '0;
      first_q    <= 1'b1;
      length_q   <= '0;
    end else begin
      state_q <= state_d;
      if (start_i || clear_i) begin
        at_q       <= '0;
        open_q     <= '0;
        unissued_q <= '0;
        block_q    <= '0;
        next_q     <= '0;
        first_q    <= 1'b1;
        length_q   <= '0;
      end else begin
        if (moves) at_q <= at_q + 4'd1;
        if (moves && state_q == StWords) length_q <= length_q + 32'(word_bytes_i);
        if (ends_block) block_q <= block_q + 3'd1;
        if (block_valid_o && block_ready_i) begin
          next_q  <= next_q + 3'd1;
          first_q <= 1'b0;
        end
        unissued_q <= unissued_q + 4'(ends_block) - 4'(block_valid_o & block_ready_i);
        open_q     <= open_q + 4'(ends_block) - 4'(block_done_i);
      end
    end
  end

  // FIPS 180-4 §5.1.1: the length in bits is the last 64 bits of a block, and nothing follows that block.
  `ASSERT(TheLengthIsAtTheEnd_A, state_q == StLength |-> at_q >= 4'd14)
  `ASSERT(TheMessageEndsWithABlock_A, state_q == StDone |-> at_q == '0)
  // Padding inside of a message would make two messages with one digest.
  `ASSERT(OnlyTheLastWordIsShort_A, word_valid_i && !word_last_i |-> word_bytes_i == 3'd4)
  `ASSERT(TheRingIsNotOverrun_A, open_q <= 4'd8)
  `ASSERT(NoMoreAreGivenOutThanMade_A, unissued_q <= open_q)
  `ASSERT(NothingFollowsTheEnd_A, state_q == StDone |-> !write_valid_o)
endmodule
