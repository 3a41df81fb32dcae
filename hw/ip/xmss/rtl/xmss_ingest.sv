// Splits a signature (RFC 8391 §4.1.8 and §4.2.3) into index, R, and for each layer one value for
// each chain and one for each level of the path. Values of a layer are taken when the layer below
// is done.
//
// Words of a value begin within words of the signature if the index has no whole number of words.
//
// The length of a signature follows from its type. A signature that ends early or is too long is
// dropped up to its end and reported. A value counts as there when its last word is in the memory.
//
// Interface: words in and writes to the memory have valid and ready, without a register between
// them, so a word takes one cycle. `start_i` and `next_i` are strobes. Reset and `clear_i` drop the
// signature.
//
// Hardening: any two states differ in at least three bits, and every code that is no state is
// `error_o`.

`include "assert.svh"

module xmss_ingest
  import xmss_pkg::*;
#(
  // 1 builds an index of three to eight bytes and more than one layer.
  parameter bit HasXmssMt = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Drops the signature.
  input  logic        clear_i,
  // A new signature begins.
  input  logic        start_i,
  // The state does not exist.
  output logic        error_o,
  // Properties of the type: values of 24 bytes, levels of the path, form of the index.
  input  logic        is_short_i,
  input  logic [4:0]  height_i,
  input  index_e      form_i,
  // The layer is the last one; or the values of the next layer are wanted.
  input  logic        is_last_i,
  input  logic        next_i,

  // Words of the signature, with the first byte in the upper bits.
  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  logic [31:0] word_i,
  input  logic        word_last_i,
  input  logic [2:0]  word_bytes_i,

  // A whole word of a value, for the memory.
  output logic        write_valid_o,
  input  logic        write_ready_i,
  output place_t      write_place_o,
  output logic [2:0]  write_word_o,
  output logic [31:0] write_data_o,

  // The index as it came, which may be too large. In higher layers it is the index of their tree.
  output logic [63:0] index_o,
  // All bytes of the index, and of R, are there.
  output logic        has_index_o,
  output logic        has_random_o,
  // Values of chains, and values of the path, that are there.
  output logic [6:0]  chains_o,
  output logic [4:0]  levels_o,
  // The last word came. The signature was too short, or bytes follow the path.
  output logic        ended_o,
  output logic        is_short_o,
  output logic        is_long_o
);
  // States. All but `StDone` end with the last value of their part, or with the last word of the
  // signature.
  typedef enum logic [5:0] {
    // Waits for a start.
    StIdle   = 6'b001011,
    // Takes the index, one word or two.
    StIndex  = 6'b010101,
    // Takes R.
    StRandom = 6'b011110,
    // Takes the values of the chains of a layer, then its path.
    StChains = 6'b100110,
    StPath   = 6'b101101,
    // All values are there. A last word without bytes may follow.
    StEnd    = 6'b111000,
    // Drops what follows, up to the end.
    StDone   = 6'b000000
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  // A layer is complete, and another one follows.
  logic        waits_q;
  // The first word of an index of two words came.
  logic        has_upper_q;
  // Bytes of the word before that belong to the next word of a value.
  logic [23:0] carry_q;
  // Number of bytes of a word that complete a word of a value.
  logic [2:0]  needs;
  // The word has more bytes than that.
  logic        is_over;
  // Number of a word in its value.
  logic [2:0] word_q, last_word;
  // Values of chains in a signature, and values of this part that came.
  logic [6:0] chains, count_q;
  // The part consists of values.
  logic       in_idle, in_index, in_value;
  // A word is taken; it completes a word of a value.
  logic       moves, is_whole;
  logic       ends_value, ends_part, is_complete;
  assign chains    = is_short_i ? 7'd51 : 7'd67;
  assign last_word = is_short_i ? 3'd5 : 3'd7;
  assign in_idle   = state_q == StIdle;
  assign in_index  = state_q == StIndex;
  assign error_o   = ~(in_idle | in_index | in_value | (state_q == StEnd) | (state_q == StDone));
  assign in_value  = (state_q == StRandom) | (state_q == StChains) | (state_q == StPath);

  // The bytes that an index leaves of its last word are carried through the whole signature.
  always_comb begin
    unique case (form_i)
      IndexThree: {needs, write_data_o} = {3'd3, carry_q[7:0], word_i[31:8]};
      IndexFive:  {needs, write_data_o} = {3'd1, carry_q, word_i[31:24]};
      default:    {needs, write_data_o} = {3'd4, word_i};
    endcase
  end
  assign is_whole      = word_bytes_i >= needs;
  assign is_over       = HasXmssMt & (word_bytes_i > needs);
  assign write_valid_o = word_valid_i & in_value & is_whole & ~waits_q;
  assign word_ready_o  = ~in_idle & ~waits_q & (write_ready_i | ~in_value | ~is_whole);
  assign moves         = word_valid_i & word_ready_o;
  // A part of a word completes no word of a value: the value would be what the memory had before.
  assign ends_value    = moves & in_value & is_whole & (word_q == last_word);
  // The word completes the last value of its part.
  assign ends_part     = ends_value & ((state_q == StRandom) | (count_q + 7'd1 ==
                         ((state_q == StChains) ? chains : 7'(height_i))));
  assign is_complete   = ((state_q == StPath) & ends_part & is_last_i) | (state_q == StEnd && word_bytes_i == '0);
  assign write_word_o  = word_q;

  // Values of a part have successive places.
  always_comb begin
    unique case (state_q)
      StRandom: write_place_o = RandomPlace;
      StPath:   write_place_o = PathPlace + PlaceBits'(count_q);
      default:  write_place_o = ChainPlace + PlaceBits'(count_q);
    endcase
  end

  // The parts of a signature, in order. The last word ends it at any point, and has to end it at
  // the right one.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIndex:  if (moves && (form_i != IndexFive && form_i != IndexEight || has_upper_q)) state_d = StRandom;
      StRandom: if (ends_part) state_d = StChains;
      StChains: if (ends_part) state_d = StPath;
      StPath:   if (ends_part) state_d = ~is_last_i ? StChains : is_over ? StDone : StEnd;
      StEnd:    if (moves) state_d = StDone;
      default:  state_d = state_q;
    endcase
    if (moves && word_last_i) state_d = StIdle;
    if (start_i) state_d = StIndex;
    if (clear_i) state_d = StIdle;
  end

  // The position in the signature, and the values that are there.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q       <= '0;
      count_q      <= '0;
      index_o      <= '0;
      has_index_o  <= 1'b0;
      has_random_o <= 1'b0;
      chains_o     <= '0;
      levels_o     <= '0;
      ended_o      <= 1'b0;
      is_short_o   <= 1'b0;
      is_long_o    <= 1'b0;
      waits_q      <= 1'b0;
      has_upper_q  <= 1'b0;
      carry_q      <= '0;
    end else begin
      if (start_i || clear_i) begin
        word_q       <= '0;
        count_q      <= '0;
        index_o      <= '0;
        has_index_o  <= 1'b0;
        has_random_o <= 1'b0;
        chains_o     <= '0;
        levels_o     <= '0;
        ended_o      <= 1'b0;
        is_short_o   <= 1'b0;
        is_long_o    <= 1'b0;
        waits_q      <= 1'b0;
        has_upper_q  <= 1'b0;
        carry_q      <= '0;
      end else if (next_i) begin
        // The tree of this layer is a leaf of the next layer (RFC 8391 §4.2.5).
        index_o  <= height_i == 5'd5 ? index_o >> 5 : height_i == 5'd10 ? index_o >> 10 : index_o >> 20;
        chains_o <= '0;
        levels_o <= '0;
        waits_q  <= 1'b0;
      end else if (moves) begin
        if (HasXmssMt) carry_q <= word_i[23:0];
        if (in_index && word_bytes_i == 3'd4) begin
          has_upper_q <= HasXmssMt;
          has_index_o <= 1'b1;
          unique case (form_i)
            IndexFour:  index_o <= 64'(word_i);
            IndexThree: index_o <= 64'(word_i[31:8]);
            IndexFive:  {index_o, has_index_o} <= {has_upper_q ? 64'({index_o[31:0], word_i[31:24]}) : 64'(word_i), has_upper_q};
            default:    {index_o, has_index_o} <= {index_o[31:0], word_i, has_upper_q};
          endcase
        end
        if (in_value) word_q <= ends_value ? '0 : word_q + 3'd1;
        if (ends_value) begin
          count_q <= ends_part ? '0 : count_q + 7'd1;
          if (state_q == StRandom) has_random_o <= 1'b1;
          if (state_q == StChains) chains_o <= count_q + 7'd1;
          if (state_q == StPath)   levels_o <= 5'(count_q) + 5'd1;
          if (state_q == StPath && ends_part) {waits_q, is_long_o} <= {~is_last_i, is_last_i & is_over};
        end
        if (state_q == StEnd && word_bytes_i != '0) is_long_o <= 1'b1;
        if (word_last_i) begin
          ended_o    <= 1'b1;
          waits_q    <= 1'b0;
          is_short_o <= ~is_complete & (state_q != StEnd) & (state_q != StDone);
        end
      end
    end
  end

  // Values past the last one would be written over other places of the memory.
  `ASSERT(NoMoreValuesThanTheTypeHas_A, !in_idle |-> chains_o <= chains && levels_o <= height_i)
  // No word of an earlier signature is taken as a part of the next one.
  `ASSERT(NothingIsTakenWhileIdle_A, in_idle |-> !word_ready_o)
  // A word with missing bytes is never written.
  `ASSERT(OnlyWholeWordsAreWritten_A, write_valid_o |-> word_bytes_i >= needs)
  // Values of the next layer would overwrite values that are still used.
  `ASSERT(ALayerWaitsForTheOneBelow_A, waits_q |-> !write_valid_o && levels_o == height_i)
  // A signature is too short or too long, and never both.
  `ASSERT(AnEndIsOfOneKind_A, !(is_short_o && is_long_o))
  // A signature without a fault has all values of its path.
  `ASSERT(ACompleteSignatureHasItsPath_A, $rose(ended_o) && !is_short_o |-> levels_o == height_i)
endmodule
