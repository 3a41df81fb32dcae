// The digits of a message digest, base 16, and the digits of their checksum (RFC 8391 §3.1.5,
// algorithm 5).
//
// Words of the digest are stored, then `sum_i` begins the checksum: one digit a cycle, so `valid_o`
// comes after 67 cycles (51 with 24 bytes). Then a digit is read in the cycle of its index. Reset
// and `clear_i` forget the checksum. Nothing here is hardened: the verdict depends on the count of
// steps.

`include "assert.svh"

module xmss_digits
  import xmss_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // Forgets the digest of the layer before.
  input  logic        clear_i,
  // Values have 24 bytes.
  input  logic        is_short_i,

  // A word of the digest. It is stored at the end of the cycle.
  input  logic        word_valid_i,
  input  logic [2:0]  word_index_i,
  input  logic [31:0] word_i,
  // All words are there, so the checksum may begin.
  input  logic        sum_i,
  // All digits can be read.
  output logic        valid_o,
  // The number of steps of all chains.
  output logic [10:0] steps_o,

  // A chain, and its digit.
  input  logic [6:0]  index_i,
  output logic [3:0]  digit_o
);
  // The digest.
  logic [31:0] words [8];
  // The checksum, at most 64 * 15 = 960.
  logic [11:0] sum_q;
  // The digit that is added, and the number of digits.
  logic [6:0]  at_q, length;
  // The digit that is read. A word has eight.
  logic [6:0]  index;
  // Digits are added; all were added.
  logic        sums_q, valid_q;
  logic [31:0] word;
  // A digit, and the steps of its chain.
  logic [3:0]  digit, steps;
  // Steps of all chains, at most 67 * 15.
  logic [10:0] steps_q;

  assign length = is_short_i ? 7'd48 : 7'd64;
  assign index  = sums_q ? at_q : index_i;
  assign word   = words[index[5:3]];
  assign digit  = word[31 - 4*int'(index[2:0]) -: 4];

  // The checksum has three digits, the upper one first. They follow those of the digest.
  always_comb begin
    digit_o = digit;
    if (index >= length) begin
      unique case (2'(index - length))
        2'd0:    digit_o = sum_q[11:8];
        2'd1:    digit_o = sum_q[7:4];
        default: digit_o = sum_q[3:0];
      endcase
    end
  end
  assign valid_o = valid_q;
  // A chain has w - 1 steps minus its digit. The verdict depends on the total, so a chain that was
  // skipped does not pass.
  assign steps   = ~digit_o;
  assign steps_o = steps_q;

  // The digest has no reset, so it may be distributed memory.
  always_ff @(posedge clk_i) begin
    if (word_valid_i) words[word_index_i] <= word_i;
  end

  // One digit is added in a cycle. Digits of the message make the checksum; then digits of the
  // checksum have steps, too.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q   <= '0;
      steps_q <= '0;
      at_q    <= '0;
      sums_q  <= 1'b0;
      valid_q <= 1'b0;
    end else if (clear_i) begin
      sum_q   <= '0;
      steps_q <= '0;
      at_q    <= '0;
      sums_q  <= 1'b0;
      valid_q <= 1'b0;
    end else if (sum_i) begin
      sum_q   <= '0;
      steps_q <= '0;
      at_q    <= '0;
      sums_q  <= 1'b1;
      valid_q <= 1'b0;
    end else if (sums_q) begin
      if (at_q < length) sum_q <= sum_q + 12'(steps);
      steps_q <= steps_q + 11'(steps);
      at_q    <= at_q + 7'd1;
      if (at_q == length + 7'd2) begin
        sums_q  <= 1'b0;
        valid_q <= 1'b1;
      end
    end
  end

  // The checksum fits into its three digits.
  `ASSERT(TheSumIsInRange_A, sum_q <= 12'd960)
  // A digit that is left out, or added twice, would make another checksum (algorithm 5, line 2).
  `ASSERT(EveryDigitIsAddedOnce_A, sum_i |-> at_q == '0)
  // No digit is read while the checksum is incomplete.
  `ASSERT(NoDigitsWhileTheyAreSummed_A, sums_q |-> !valid_o)
  // The verdict depends on the steps of all chains: 67 of at most fifteen.
  `ASSERT(TheStepsAreInRange_A, 1'b1 |=> steps_o <= 11'd1005)
  // No digit past the checksum is added.
  `ASSERT(NoDigitTooMany_A, 1'b1 |=> !sums_q || at_q <= length + 7'd2)
  // Digits of the layer before are not read for the next one.
  `ASSERT(AClearForgets_A, clear_i |=> !valid_o && steps_o == '0)
endmodule
