// Makes the blocks of the message in the memory: words, the padding, the length (FIPS 180-4
// §5.1.1).
//
// The blocks are a ring of eight. A word waits while the next block was not hashed. Words in,
// writes and blocks out have valid and ready; a word takes one cycle. A message has less than 2^61
// bytes, as the standard allows. Reset and `clear_i` forget the message.
//
// Hardening: any two states differ in at least three bits, and every code that is no state is
// `error_o`.

`include "assert.svh"

module xmss_message
  import xmss_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // A new message begins.
  input  logic        start_i,
  // The message is dropped.
  input  logic        clear_i,
  // The state does not exist.
  output logic        error_o,

  // Words of the message, with the first byte in the upper bits. A word has four bytes; the last
  // one has none to four.
  input  logic        word_valid_i,
  // The ring has room, and the memory takes the word.
  output logic        word_ready_o,
  input  logic [31:0] word_i,
  input  logic        word_last_i,
  input  logic [2:0]  word_bytes_i,

  // Writes into the ring.
  output logic        write_valid_o,
  input  logic        write_ready_i,
  output place_t      write_place_o,
  output logic [2:0]  write_word_o,
  output logic [31:0] write_data_o,

  // A whole block is in the ring: its place, and whether it begins from the initial hash value.
  output logic        block_valid_o,
  input  logic        block_ready_i,
  output logic [2:0]  block_index_o,
  output logic        block_first_o,
  // A block was hashed, so its place is free again.
  input  logic        block_done_i,
  // All blocks are hashed.
  output logic        finished_o
);
  // States. A state that writes ends with its last word.
  typedef enum logic [5:0] {
    // Waits for a start.
    StIdle   = 6'b001011,
    // Takes words of the message, up to the last one.
    StWords  = 6'b010101,
    // Writes the marker, because the last word had no room for it.
    StMarker = 6'b011110,
    // Writes zeros up to the last two words of a block.
    StZeros  = 6'b100110,
    // Writes the length in bits, two words.
    StLength = 6'b101101,
    // The message is complete, until the next start.
    StDone   = 6'b111000
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  // The word in its block; blocks that are not hashed.
  logic [3:0]  at_q, open_q;
  // The block that is written, and the block to be hashed next.
  logic [2:0]  block_q, next_q;
  // No block was given out; a word of the padding is made.
  logic        first_q, makes;
  // A word is written; it is the last of its block; the ring has room.
  logic        moves, ends_block, has_room;
  // The bytes of the message. A shorter count would wrap, and give a long message the padding of a
  // short one.
  logic [60:0] length_q;
  // The last word with its padding.
  logic [31:0] ended;
  // Blocks that no lane has got.
  logic [3:0]  unissued_q;

  // In the last word the bytes after the message are replaced by the marker and zeros.
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

  // The message, the marker, zeros up to the last two words of a block, the length in bits.
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
        write_data_o = at_q[0] ? {length_q[28:0], 3'b0} : length_q[60:29];
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

  // The place of the next word, and the blocks that were made, given out and hashed.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q       <= '0;
      open_q     <= '0;
      unissued_q <= '0;
      block_q    <= '0;
      next_q     <= '0;
      first_q    <= 1'b1;
      length_q   <= '0;
    end else begin
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
        if (moves && state_q == StWords) length_q <= length_q + 61'(word_bytes_i);
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
  // The message ends with a complete block.
  `ASSERT(TheMessageEndsWithABlock_A, state_q == StDone |-> at_q == '0)
  // Padding inside of a message would give two messages the same digest.
  `ASSERT(OnlyTheLastWordIsShort_A, word_valid_i && !word_last_i |-> word_bytes_i == 3'd4)
  // No block is overwritten before it was hashed.
  `ASSERT(TheRingIsNotOverrun_A, open_q <= 4'd8)
  // A block is given out only after it was made.
  `ASSERT(NoMoreAreGivenOutThanMade_A, unissued_q <= open_q)
  // Nothing is hashed after the padding.
  `ASSERT(NothingFollowsTheEnd_A, state_q == StDone |-> !write_valid_o)
  // A count that wrapped would give two messages the same end.
  `ASSERT(TheLengthDoesNotWrap_A, !start_i && !clear_i |=> length_q >= $past(length_q))
endmodule
