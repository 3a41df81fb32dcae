// Takes a signature apart (RFC 8391 §4.1.8 and §4.2.3): index, R, and for each layer one value for each chain and one for
// each level of the path. The values of a layer are taken when the one below it is done.
//
// Words of a value begin within words of the signature if the index is no number of words.
//
// It knows how long a signature has to be. One that ends early or goes on is dropped up to its end, and named. Values
// count as there when their last word is in the memory.

`include "assert.svh"

module xmss_ingest
  import xmss_pkg::*;
#(
  parameter bit HasXmssMt = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,  // drops the signature
  input  logic        start_i,  // a new one
  output logic        error_o,  // a state that does not exist
  input  logic        is_short_i,
  input  logic [4:0]  height_i,  // of the tree: values of the path
  input  index_e      form_i,
  input  logic        is_last_i,  // layer
  input  logic        next_i,     // the values of the next layer are wanted

  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  logic [31:0] word_i,
  input  logic        word_last_i,
  input  logic [2:0]  word_bytes_i,

  output logic        write_valid_o,  // a whole word of a value
  input  logic        write_ready_i,
  output place_t      write_place_o,
  output logic [2:0]  write_word_o,
  output logic [31:0] write_data_o,

  output logic [63:0] index_o,  // as it came, perhaps of no leaf; that of its tree in higher layers
  output logic        has_index_o,  // all bytes are there
  output logic        has_random_o,
  output logic [6:0]  chains_o,      // values of chains that are there
  output logic [4:0]  levels_o,      // and of the path
  output logic        ended_o,       // the last word came
  output logic        is_short_o,    // too early
  output logic        is_long_o  // bytes follow the path
);
  typedef enum logic [5:0] {
    StIdle   = 6'b001011,
    StIndex  = 6'b010101,
    StRandom = 6'b011110,
    StChains = 6'b100110,
    StPath   = 6'b101101,
    StEnd    = 6'b111000,  // everything is there, but the last word was none
    StDone   = 6'b000000   // drops what follows, up to the end
  } state_e;
  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;

  logic        waits_q;      // a layer is complete, and another one follows
  logic        has_upper_q;  // the first word of an index of two
  logic [23:0] carry_q;      // bytes of the word before that belong to the next word of a value
  logic [2:0]  needs;        // bytes of a word that complete a word of a value
  logic        is_over;      // there are more
  logic [2:0] word_q, last_word;  // of its value
  logic [6:0] chains, count_q;  // values of chains in a signature, and values of this part that came
  logic       in_idle, in_index, in_value;  // in a part that is made of values
  logic       moves, is_whole;              // a word is taken; it has four bytes
  logic       ends_value, ends_part, is_complete;
  assign chains    = is_short_i ? 7'd51 : 7'd67;
  assign last_word = is_short_i ? 3'd5 : 3'd7;
  assign in_idle   = state_q == StIdle;
  assign in_index  = state_q == StIndex;
  assign error_o   = ~(in_idle | in_index | in_value | (state_q == StEnd) | (state_q == StDone));
  assign in_value  = (state_q == StRandom) | (state_q == StChains) | (state_q == StPath);

  // What an index leaves of its last word is carried through the whole signature.
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
  // A part of a word completes nothing: its value would be what the memory had before.
  assign ends_value    = moves & in_value & is_whole & (word_q == last_word);
  // The word completes the last value of its part.
  assign ends_part     = ends_value & ((state_q == StRandom) | (count_q + 7'd1 ==
                         ((state_q == StChains) ? chains : 7'(height_i))));
  assign is_complete   = ((state_q == StPath) & ends_part & is_last_i) | (state_q == StEnd && word_bytes_i == '0);
  assign write_word_o  = word_q;

  // Places follow each other.
  always_comb begin
    unique case (state_q)
      StRandom: write_place_o = RandomPlace;
      StPath:   write_place_o = PathPlace + PlaceBits'(count_q);
      default:  write_place_o = ChainPlace + PlaceBits'(count_q);
    endcase
  end

  // The parts of a signature, in order. The last word ends it at any point, and has to end it at the right one.
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

  // Positions, and what is there.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StIdle;
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
      state_q <= state_d;
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
        // The tree of this layer is a leaf of the next one (RFC 8391 §4.2.5).
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
  `ASSERT(NothingIsTakenWhileIdle_A, in_idle |-> !word_ready_o)
  `ASSERT(OnlyWholeWordsAreWritten_A, write_valid_o |-> word_bytes_i >= needs)
  // They would take the places of values that are used.
  `ASSERT(ALayerWaitsForTheOneBelow_A, waits_q |-> !write_valid_o && levels_o == height_i)
  `ASSERT(AnEndIsOfOneKind_A, !(is_short_o && is_long_o))
  `ASSERT(ACompleteSignatureHasItsPath_A, $rose(ended_o) && !is_short_o |-> levels_o == height_i)
endmodule
