// What a layer signs, which is the key of FORS or the root of the layer below: its digits, base 16, and those of their
// checksum (FIPS 205 §5.3, algorithm 8). After the last layer it is the root that is compared.

`include "assert.svh"

module slh_dsa_digits
  import slh_dsa_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,  // of a pass: no steps were counted

  input  logic         write_i,  // words of half `write_half_i`
  input  logic         write_half_i,
  input  logic [1:0]   write_words_i,
  input  logic [63:0]  write_data_i,
  input  logic         sum_i,     // all words are there, and are signed by a layer
  output logic         summed_o,  // the digits of the checksum can be read

  output logic [11:0]  steps_o,  // of all chains of this pass
  input  logic [5:0]   index_i,  // of a chain
  output logic [3:0]   digit_o,
  output logic [3:0][31:0] root_o  // the first word is the last element
);
  logic [8:0] sum_q;   // the checksum: at most 32 * 15 = 480
  logic [5:0] at_q;    // the digit that is added
  logic       sums_q;
  logic [3:0] digit, steps;  // the digit that is added, and the steps of its chain

  // A digit of the message or of the checksum, which has twelve bits (lg_w * len_2) and fills three digits.
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
  // Each chain has w - 1 steps without its digit. The verdict depends on this count, so that no skipped chain can pass.
  assign steps    = ~digit;
  assign summed_o = ~sums_q | at_q[5];

  // A digit a cycle is added: those of the message make the checksum, and then those of the checksum have steps, too.
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

  `ASSERT(TheSumIsInRange_A, sum_q <= 9'd480)
  // A value that changes while it is summed would have the checksum of another one.
  `ASSERT(AMessageIsStableWhileItIsSummed_A, sums_q |-> !write_i)
endmodule
