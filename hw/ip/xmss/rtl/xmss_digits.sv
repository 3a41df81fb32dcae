// The digits of a message digest, base 16, and those of their checksum (RFC 8391 §3.1.5, algorithm 5).

`include "assert.svh"

module xmss_digits
  import xmss_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        is_short_i,   // 24 bytes

  input  logic        word_valid_i,  // a word of the digest
  input  logic [2:0]  word_index_i,
  input  logic [31:0] word_i,
  input  logic        sum_i,        // all words are there
  output logic        valid_o,  // all digits can be read
  output logic [10:0] steps_o,      // of all chains

  input  logic [6:0]  index_i,  // of a chain
  output logic [3:0]  digit_o
);
  logic [31:0] words [8];  // the digest
  logic [11:0] sum_q;  // the checksum: at most 64 * 15 = 960
  logic [6:0]  at_q, length;  // the digit that is added, and how many there are
  logic [6:0]  index;  // of the digit that is read: eight in a word
  logic        sums_q, valid_q;  // digits are added; they were
  logic [31:0] word;
  logic [3:0]  digit, steps;  // a digit, and the steps of its chain
  logic [10:0] steps_q;       // of all chains: at most 67 * 15

  assign length = is_short_i ? 7'd48 : 7'd64;
  assign index  = sums_q ? at_q : index_i;
  assign word   = words[index[5:3]];
  assign digit  = word[31 - 4*int'(index[2:0]) -: 4];

  // The checksum has three digits, the upper one first.
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
  // Each chain has w - 1 steps without its digit. The verdict depends on this count, so that no skipped chain can pass.
  assign steps   = ~digit_o;
  assign steps_o = steps_q;

  // Without a reset it may be distributed memory.
  always_ff @(posedge clk_i) begin
    if (word_valid_i) words[word_index_i] <= word_i;
  end

  // A digit a cycle is added: those of the message make the checksum, and then those of the checksum have steps, too.
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

  `ASSERT(TheSumIsInRange_A, sum_q <= 12'd960)
  // A digit that is left out, or added twice, would make another checksum (algorithm 5, line 2).
  `ASSERT(EveryDigitIsAddedOnce_A, sum_i |-> at_q == '0)
  `ASSERT(NoDigitsWhileTheyAreSummed_A, sums_q |-> !valid_o)
endmodule
