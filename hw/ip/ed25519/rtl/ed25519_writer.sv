// This module makes the last carry of a result, and is the one port by which results reach the registers.
//
// A result of multiplier or adder has four words. What is beyond 2^256 was taken as a small number, which is
// added to the first word (or subtracted from it) and carried on. The result may overflow once more: then all
// other words are at the edge, and what is left is small (at most 38 · 38), so a second 38 changes only twelve
// bits.
//
// Protocol: a result begins in a cycle with `mul_done_i` or `add_done_i`; its words follow in the next three
// cycles, and the microcode lets no other result begin meanwhile. A raw word is written in its own cycle.
//
// Time: each word is written in the cycle in which it comes. Reset: no result is being written. Nothing is
// hardened here.

`include "assert.svh"

module ed25519_writer
  import ed25519_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // A clear ends the result.
  input  logic        clear_i,

  // These ports take results of the multiplier.
  input  logic        mul_done_i,
  input  word_t       mul_word_i,
  // This is 38 times what is beyond 2^256.
  input  logic [12:0] mul_carry_i,
  // All bits of the other three words are ones.
  input  logic        mul_all_ones_i,
  input  number_t     mul_to_i,
  // A word of the multiplier is taken, and the next one has to follow.
  output logic        mul_take_o,
  input  logic        raw_valid_i,
  input  place_t      raw_place_i,
  input  word_t       raw_i,

  // These ports take results of the adder.
  input  logic        add_done_i,
  input  word_t       add_word_i,
  // There was a carry or a borrow, which counts 38.
  input  logic        add_correct_i,
  // It was a borrow.
  input  logic        add_less_i,
  // The other three words would carry it on.
  input  logic        add_at_edge_i,
  input  number_t     add_to_i,

  // A word reaches its register.
  output logic        write_o,
  output place_t      place_o,
  output word_t       word_o
);
  logic       of_mul_q, carry_q, less_q;
  // The index is zero if no result is being written, or only its first word.
  logic [1:0] index_q;
  // This is the register of the result.
  number_t    to_q;
  logic       is_first, of_mul, less, at_edge, again;
  word_t      word, operand;
  logic [64:0] sum, added;
  logic [11:0] lower;

  assign is_first = index_q == 2'd0;
  assign of_mul   = is_first ? mul_done_i : of_mul_q;
  assign less     = is_first ? (~mul_done_i & add_less_i) : less_q;
  assign word     = of_mul ? mul_word_i : add_word_i;
  assign at_edge  = of_mul ? mul_all_ones_i : add_at_edge_i;
  // The first word takes the small number, the other words its carry.
  always_comb begin
    operand = '0;
    if (!is_first)       operand[0]    = carry_q;
    else if (mul_done_i) operand[12:0] = mul_carry_i;
    else if (add_correct_i) operand[5:0] = 6'd38;
  end
  // The same adder makes a carry or a borrow.
  assign added = {1'b0, word} + {1'b0, operand ^ {64{less}}} + 65'(less);
  assign sum   = {added[64] ^ less, added[63:0]};
  // If the carry would pass all four words, the second 38 is added at once.
  assign again = is_first & sum[64] & at_edge;
  assign lower = sum[11:0] + (again ? (less ? -12'd38 : 12'd38) : 12'd0);

  assign mul_take_o = of_mul & (mul_done_i | ~is_first);
  assign write_o    = mul_done_i | add_done_i | ~is_first | raw_valid_i;
  assign word_o     = raw_valid_i ? raw_i : {sum[63:12], lower};
  assign place_o    = raw_valid_i ? raw_place_i : {is_first ? (mul_done_i ? mul_to_i : add_to_i) : to_q, index_q};

  // These registers say which word is next.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      of_mul_q <= 1'b0;
      carry_q  <= 1'b0;
      less_q   <= 1'b0;
      index_q  <= '0;
      to_q     <= '0;
    end else if (clear_i) begin
      index_q <= '0;
      carry_q <= 1'b0;
    end else begin
      carry_q <= sum[64];
      if (!is_first || mul_done_i || add_done_i) index_q <= index_q + 2'd1;
      if (is_first) begin
        of_mul_q <= mul_done_i;
        less_q   <= less;
        to_q     <= mul_done_i ? mul_to_i : add_to_i;
      end
    end
  end

  // Two results at once would lose a word.
  `ASSERT(OneResultAtATime_A, $onehot0({mul_done_i, add_done_i, ~is_first, raw_valid_i}))
  // The second 38 fits the lower twelve bits, which is what makes one pass enough.
  `ASSERT(TheSecondCarryIsSmall_A,
          again && (mul_done_i || add_done_i) |->
          less ? (sum[63:12] == '1 && sum[11:0] >= 12'd38) : (sum[63:12] == '0 && sum[11:0] < 12'd4058))
  // The four words of a result follow each other, or its register would keep a part of an older number.
  `ASSERT(WordsFollowEachOther_A, 1'b1 |=> $past(is_first || clear_i) || index_q == 2'($past(index_q) + 2'd1))
  // All words of a result reach the register that it began with.
  `ASSERT(AResultStaysInItsRegister_A, 1'b1 |=> $past(is_first) || $stable(to_q))
endmodule
