// Splits a signature (RFC 8554 §5.4 and §6.2) into types, q, C, a value for each chain and one for
// each level of the path. With HSS the count of levels comes first, and after all trees but the
// last one the key of the next tree.
//
// Types have to be those of the key, and q has to be a leaf of its tree. The first fault in the
// order of bytes is reported, and the rest is dropped. Each tree is taken after the one above was
// verified.
//
// Interface: words have valid and ready, and a word takes one cycle. Writes to the memory never
// wait. `start_i` and `next_i` are strobes. Reset and `clear_i` drop the signature.
//
// Hardening: any two states differ in four bits, and every other code is `alert_o` until reset.

`include "assert.svh"

module lms_ingest
  import xmss_pkg::*;
  import lms_pkg::*;
#(
  // 0 builds a parser that continues from an illegal state, to show that the tests detect it.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Drops the signature.
  input  logic        clear_i,
  // The state does not exist. This lasts until reset.
  output logic        alert_o,
  // A new signature begins.
  input  logic        start_i,
  // The tree above is verified.
  input  logic        next_i,

  // Properties of the key: the count of levels, or zero without HSS. Of this tree: whether it is
  // the last one, and its types with their parameters.
  input  logic [3:0]  count_i,
  input  logic        is_last_i,
  input  logic [3:0]  tree_code_i,
  input  logic [3:0]  ots_code_i,
  input  logic [4:0]  height_i,
  // Number of chains.
  input  logic [8:0]  values_i,
  // Values have 24 bytes.
  input  logic        is_short_i,
  // The place of the next key.
  input  address_t    next_key_i,

  // Words of the signature, with the first byte in the upper bits.
  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  logic [31:0] word_i,
  input  logic        word_last_i,
  input  logic [2:0]  word_bytes_i,

  // A whole word, for the memory.
  output logic        write_valid_o,
  output address_t    write_place_o,
  output logic [2:0]  write_word_o,
  output logic [31:0] write_data_o,

  // q, which is a leaf of the tree, and C are there.
  output logic [31:0] index_o,
  output logic        has_random_o,
  // Values of chains, and values of the path, that are there.
  output logic [8:0]  chains_o,
  output logic [4:0]  levels_o,
  // The next key is there, and has these types.
  output logic        has_key_o,
  output logic [3:0]  next_tree_o,
  output logic [3:0]  next_ots_o,
  // The signature is complete.
  output logic        ended_o,
  // The first fault.
  output error_e      error_o
);
  // States as words of an extended Hamming code, as in `lms_control`.
  typedef enum logic [7:0] {
    // Waits for a start.
    StIdle    = 8'h0f,
    // Takes the number of keys in the signature.
    StCount   = 8'h33,
    // Takes q.
    StIndex   = 8'h3c,
    // Takes the type of the one-time signature.
    StOts     = 8'h55,
    // Takes C.
    StRandom  = 8'h5a,
    // Takes the values of the chains.
    StChains  = 8'h66,
    // Takes the type of the tree.
    StTree    = 8'h69,
    // Takes the values of the path.
    StPath    = 8'h96,
    // Takes the types of the next key.
    StKeyTree = 8'h99,
    StKeyOts  = 8'ha5,
    // Takes I and T[1] of the next key.
    StKey     = 8'haa,
    // Waits for the verification of this tree.
    StWait    = 8'hc3,
    // All values are there. A last word without bytes may follow.
    StEnd     = 8'hcc,
    // Drops what follows, up to the end.
    StDrop    = 8'h00,
    // Only a reset ends this state.
    StError   = 8'hf0
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(4)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_random, in_chains, in_path, in_key, in_wait, in_end, in_drop;
  logic in_count, in_index, in_ots, in_tree, in_key_tree, in_key_ots;
  assign in_idle     = state_q == StIdle;
  assign in_count    = state_q == StCount;
  assign in_index    = state_q == StIndex;
  assign in_ots      = state_q == StOts;
  assign in_random   = state_q == StRandom;
  assign in_chains   = state_q == StChains;
  assign in_tree     = state_q == StTree;
  assign in_path     = state_q == StPath;
  assign in_key_tree = state_q == StKeyTree;
  assign in_key_ots  = state_q == StKeyOts;
  assign in_key      = state_q == StKey;
  assign in_wait     = state_q == StWait;
  assign in_end      = state_q == StEnd;
  assign in_drop     = state_q == StDrop;
  assign alert_o     = ~(in_idle | in_count | in_index | in_ots | in_random | in_chains | in_tree | in_path | in_key_tree |
                         in_key_ots | in_key | in_wait | in_end | in_drop);

  // The word of a value, or of a key.
  logic [3:0] word_q, last_word;
  // Values of this part that came.
  logic [8:0] count_q;
  logic       is_whole, moves, stores, ends_value, ends_part, is_complete, is_code, is_past;
  tree_t      next_tree;
  ots_t       next_ots;
  logic       unused_next;
  error_e     fault;

  // Every code that is known has four bits.
  assign is_code   = word_i[31:4] == '0;
  assign next_tree = tree_of(word_i[3:0]);
  assign next_ots  = ots_of(word_i[3:0]);
  // The other fields are decoded again when the types are those of a level.
  assign unused_next = ^{next_tree.height, next_ots.log_width, next_ots.chains};
  // I and T[1] follow two words of types.
  assign last_word = in_key ? (is_short_i ? 4'd11 : 4'd13) : (is_short_i ? 4'd5 : 4'd7);

  assign is_whole      = word_bytes_i == 3'd4;
  assign stores        = in_random | in_chains | in_path | in_key_tree | in_key_ots | in_key;
  assign write_valid_o = word_valid_i & stores & is_whole;
  assign word_ready_o  = ~in_idle & ~in_wait & ~alert_o;
  assign moves         = word_valid_i & word_ready_o;
  assign ends_value    = moves & is_whole & (word_q == last_word);
  assign ends_part     = ends_value & (in_random | in_key | (in_chains & (count_q + 9'd1 == values_i)) |
                                       (in_path & (count_q + 9'd1 == 9'(height_i))));
  assign is_complete   = (in_path & is_last_i & ends_part) | (in_end & (word_bytes_i == '0));
  assign write_word_o  = word_q[2:0];
  assign write_data_o  = word_i;

  // Values of a part have successive places.
  always_comb begin
    unique case (1'b1)
      in_random: write_place_o = RandomizerPlace;
      in_chains: write_place_o = ValuePlace | count_q;
      in_path:   write_place_o = SiblingPlace | 9'(count_q[4:0]);
      default:   write_place_o = next_key_i | 9'(word_q[3]);
    endcase
  end

  // A tree of this height has no such leaf. Heights are 5, 10, 15, 20 and 25.
  always_comb begin
    is_past = word_i[31:25] != '0;
    for (int h = 5; h < 25; h += 5) begin
      if (height_i <= 5'(h) && word_i[h +: 5] != '0) is_past = 1'b1;
    end
  end

  // The fault of this word. A signature that ends here has no other fault than its length.
  always_comb begin
    fault = NoError;
    unique case (1'b1)
      in_count:    if (!is_code || word_i[3:0] != count_i - 4'd1) fault = ErrorParameters;
      in_index:    if (is_past) fault = ErrorIndex;
      in_ots:      if (!is_code || word_i[3:0] != ots_code_i)  fault = ErrorParameters;
      in_tree:     if (!is_code || word_i[3:0] != tree_code_i) fault = ErrorParameters;
      // A key further down has to have the same hash function (SP 800-208 §4).
      in_key_tree: if (!is_code || !next_tree.is_known) fault = ErrorType;
                   else if (next_tree.is_short != is_short_i) fault = ErrorParameters;
      in_key_ots:  if (!is_code || !next_ots.is_known) fault = ErrorType;
                   else if (next_ots.is_short != is_short_i) fault = ErrorParameters;
      default:     fault = NoError;
    endcase
    if (in_end && word_bytes_i != '0) fault = ErrorLong;
    else if (!in_end && !is_whole)    fault = ErrorShort;
    else if (word_last_i && !is_complete && fault == NoError) fault = ErrorShort;
    if (in_drop) fault = NoError;
  end

  // The parts of a signature, in order. The last word ends it at any point, and has to end it at
  // the right one.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StCount:   if (moves) state_d = StIndex;
      StIndex:   if (moves) state_d = StOts;
      StOts:     if (moves) state_d = StRandom;
      StRandom:  if (ends_part) state_d = StChains;
      StChains:  if (ends_part) state_d = StTree;
      StTree:    if (moves) state_d = StPath;
      StPath:    if (ends_part) state_d = is_last_i ? StEnd : StKeyTree;
      StKeyTree: if (moves) state_d = StKeyOts;
      StKeyOts:  if (moves) state_d = StKey;
      StKey:     if (ends_part) state_d = StWait;
      StWait:    if (next_i) state_d = StIndex;
      StIdle, StEnd, StDrop: state_d = state_q;
      StError:   state_d = StError;
      default:   state_d = Hardened ? StError : StIdle;
    endcase
    if (moves && fault != NoError) state_d = StDrop;
    if (moves && word_last_i) state_d = StIdle;
    if (start_i && !alert_o) state_d = (count_i == '0) ? StIndex : StCount;
    if (clear_i && !alert_o) state_d = StIdle;
  end

  // The position in the signature, and the values that are there.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q       <= '0;
      count_q      <= '0;
      index_o      <= '0;
      has_random_o <= 1'b0;
      chains_o     <= '0;
      levels_o     <= '0;
      has_key_o    <= 1'b0;
      next_tree_o  <= '0;
      next_ots_o   <= '0;
      ended_o      <= 1'b0;
      error_o      <= NoError;
    end else begin
      if (start_i || clear_i || next_i) begin
        word_q       <= '0;
        count_q      <= '0;
        has_random_o <= 1'b0;
        chains_o     <= '0;
        levels_o     <= '0;
        has_key_o    <= 1'b0;
        if (start_i || clear_i) begin
          ended_o <= 1'b0;
          error_o <= NoError;
        end
      end else if (moves) begin
        if (in_index)    index_o     <= word_i;
        if (in_key_tree) next_tree_o <= word_i[3:0];
        if (in_key_ots)  next_ots_o  <= word_i[3:0];
        if (stores && is_whole) word_q <= ends_value ? '0 : word_q + 4'd1;
        if (ends_value) begin
          count_q <= ends_part ? '0 : count_q + 9'd1;
          if (in_random) has_random_o <= 1'b1;
          if (in_chains) chains_o <= count_q + 9'd1;
          if (in_path)   levels_o <= 5'(count_q) + 5'd1;
          if (in_key)    has_key_o <= 1'b1;
        end
        if (error_o == NoError) error_o <= fault;
        if (word_last_i && is_complete) ended_o <= 1'b1;
      end
    end
  end

  // Values past the last one would be written over other places of the memory.
  `ASSERT(NoMoreValuesThanTheTypeHas_A, !in_idle |-> chains_o <= values_i && levels_o <= height_i)
  // No word of an earlier signature, or of a tree that is not verified yet, is taken.
  `ASSERT(NothingIsTakenWhileIdle_A, in_idle || in_wait |-> !word_ready_o)
  // A word with missing bytes is never written.
  `ASSERT(OnlyWholeWordsAreWritten_A, write_valid_o |-> word_bytes_i == 3'd4)
  // A signature without a fault has all values of the path of its last tree.
  `ASSERT(ACompleteSignatureHasItsPath_A, $rose(ended_o) |-> levels_o == height_i && is_last_i)
  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, alert_o && Hardened |=> alert_o)
endmodule
