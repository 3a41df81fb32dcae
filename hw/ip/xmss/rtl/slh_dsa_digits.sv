// The value that a layer signs, which is the key of FORS or the root of the layer below: its
// digits, base 16, and the digits of their checksum (FIPS 205 §5.3, algorithm 8). After the last
// layer it is the root that is compared.
//
// Words are stored as they leave the hash core. `sum_i` begins the checksum: one digit a cycle, so
// its digits can be read after 32 cycles. A digit is read in the cycle of its index. Reset clears
// everything. Nothing here is hardened: the verdict depends on the count of steps, and the value
// has no parity.

`include "assert.svh"

module slh_dsa_digits
  import slh_dsa_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  // A pass begins, so no steps were counted.
  input  logic         start_i,

  // Words of the half `write_half_i`, each with its enable.
  input  logic         write_i,
  input  logic         write_half_i,
  input  logic [1:0]   write_words_i,
  input  logic [63:0]  write_data_i,
  // All words are there, and a layer signs them.
  input  logic         sum_i,
  // The digits of the checksum can be read.
  output logic         summed_o,

  // Steps of all chains of this pass.
  output logic [11:0]  steps_o,
  // A chain, and its digit.
  input  logic [5:0]   index_i,
  output logic [3:0]   digit_o,
  // The value. Its first word is the last element.
  output logic [3:0][31:0] root_o
);
  // The checksum, at most 32 * 15 = 480.
  logic [8:0] sum_q;
  // The digit that is added.
  logic [5:0] at_q;
  // The sum is under way.
  logic       sums_q;
  // The digit that is added, and the steps of its chain.
  logic [3:0] digit, steps;

  // A digit of the message or of the checksum, which has twelve bits (lg_w * len_2) and so three
  // digits.
  function automatic logic [3:0] digit_of(logic [31:0][3:0] message, logic [8:0] sum, logic [5:0] index);
    if (!index[5]) return message[~index[4:0]];
    unique case (index[1:0])
      2'd0:    return {3'd0, sum[8]};
      2'd1:    return sum[7:4];
      default: return sum[3:0];
    endcase
  endfunction
  assign digit_o  = digit_of(root_o, sum_q, index_i);
  assign digit    = digit_of(root_o, sum_q, at_q);
  // A chain has w - 1 steps minus its digit. The verdict depends on the total, so a chain that was
  // skipped does not pass.
  assign steps    = ~digit;
  assign summed_o = ~sums_q | at_q[5];

  // One digit is added in a cycle. Digits of the message make the checksum; then digits of the
  // checksum have steps, too.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      root_o  <= '0;
      sum_q   <= '0;
      steps_o <= '0;
      at_q    <= '0;
      sums_q  <= 1'b0;
    end else begin
      for (int word = 0; word < 2; word++) begin
        if (write_i && write_words_i[word]) root_o[{~write_half_i, 1'(word)}] <= write_data_i[32*word +: 32];
      end
      if (start_i) begin
        steps_o <= '0;
        sums_q  <= 1'b0;
      end else if (sum_i) begin
        sum_q  <= '0;
        at_q   <= '0;
        sums_q <= 1'b1;
      end else if (sums_q) begin
        if (!at_q[5]) sum_q <= sum_q + 9'(steps);
        steps_o <= steps_o + 12'(steps);
        at_q    <= at_q + 6'd1;
        if (at_q == 6'(Chains - 1)) sums_q <= 1'b0;
      end
    end
  end

  // The checksum fits into its digits.
  `ASSERT(TheSumIsInRange_A, sum_q <= 9'd480)
  // A value that changes while it is summed would get the checksum of another value.
  `ASSERT(AMessageIsStableWhileItIsSummed_A, sums_q |-> !write_i)
endmodule
