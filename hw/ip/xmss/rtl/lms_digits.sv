// The digits of Q and of its checksum (RFC 8554 §3.1.3, algorithms 2 and 4b).
//
// Q comes by rows of the hash core's state. A walk over all digits, one a cycle, makes the checksum
// and counts what the verdict needs: the steps of all chains, and the chains without any. It pauses
// while the schedule reads a digit.
//
// A digit is read in the cycle of its index. Digits of Q can be read at once (`valid_o`), and those
// of the checksum after the walk (`summed_o`), at most 265 cycles and the reads later. Reset and
// `clear_i` forget Q. Nothing here is hardened: the verdict depends on both counts.

`include "assert.svh"

module lms_digits
  import xmss_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // A new Q follows.
  input  logic        clear_i,
  // Values have 24 bytes.
  input  logic        is_short_i,
  // Digits have 1, 2, 4 or 8 bits.
  input  logic [1:0]  log_width_i,
  // The largest digit.
  input  logic [7:0]  last_i,
  // Number of chains, which is the number of digits.
  input  logic [8:0]  chains_i,

  // A row of Q. Row 0 comes second.
  input  logic        write_i,
  input  logic        row_i,
  input  row_t        data_i,

  // Digits of Q can be read, and those of the checksum.
  output logic        valid_o,
  output logic        summed_o,
  input  logic        read_i,
  input  logic [8:0]  index_i,
  // The digit, in the cycle of the read.
  output logic [7:0]  digit_o,

  // Counts, valid while `summed_o` is set.
  // Steps of all chains, at most 34 * 255.
  output logic [13:0] steps_o,
  // Chains that begin at their end.
  output logic [8:0]  ends_o
);
  // The rows of Q.
  row_t         first_q, second_q;
  logic [255:0] q;
  logic [7:0]   quads [8], halves [2];
  logic        valid_q, summed_q;
  // The digit that is added, and the digit that is read.
  logic [8:0]  at_q, index;
  // The sum, at most 32 * 255.
  logic [12:0] sum_q;
  logic [13:0] steps_q;
  logic [8:0]  ends_q;
  // Place of a digit of the checksum, counted from its end.
  logic [3:0]  from_end;
  // The byte of the digit, in Q and checksum.
  logic [5:0]  at;
  // Digits and bits that follow it in its byte.
  logic [2:0]  part, shift;
  // The digit belongs to the checksum, and to its upper byte; a digit is added.
  logic        of_sum, is_upper, adds;
  logic [7:0]  value, digit, steps;

  assign index = read_i ? index_i : at_q;

  // Digit i is at bit i * w of Q. Digits of the checksum are counted from its end, where its last
  // digit is in the lowest bits: `ls` of RFC 8554 §4.1 only shifts them to the front.
  assign from_end = 4'(chains_i - 9'd1 - index);
  always_comb begin
    unique case (log_width_i)
      2'd0:    at = index[8:3];
      2'd1:    at = index[7:2];
      2'd2:    at = index[6:1];
      default: at = index[5:0];
    endcase
  end
  assign part = of_sum ? from_end[2:0] : ~index[2:0];
  always_comb begin
    unique case (log_width_i)
      2'd0:    {is_upper, shift} = {from_end[3], part};
      2'd1:    {is_upper, shift} = {from_end[2], part[1:0], 1'b0};
      2'd2:    {is_upper, shift} = {from_end[1], part[0], 2'b0};
      default: {is_upper, shift} = {from_end[0], 3'b0};
    endcase
  end
  // Bytes after the 32 (or 24) bytes of Q are those of the checksum.
  assign of_sum = at[5] | (is_short_i & (at[4:3] == 2'b11));

  // Selection of a byte, in stages of four, and then of a part of it.
  always_comb begin
    for (int i = 0; i < 8; i++) begin
      quads[i] = at[1] ? (at[0] ? q[224-32*i +: 8] : q[232-32*i +: 8]) : (at[0] ? q[240-32*i +: 8] : q[248-32*i +: 8]);
    end
    for (int i = 0; i < 2; i++) begin
      halves[i] = at[3] ? (at[2] ? quads[4*i+3] : quads[4*i+2]) : (at[2] ? quads[4*i+1] : quads[4*i]);
    end
    value = of_sum ? (is_upper ? {3'b0, sum_q[12:8]} : sum_q[7:0]) : (at[4] ? halves[1] : halves[0]);
    digit[0]   = value[shift];
    digit[1]   = last_i[1] & value[{shift[2:1], 1'b1}];
    digit[3:2] = {2{last_i[2]}} & (shift[2] ? value[7:6] : value[3:2]);
    digit[7:4] = {4{last_i[4]}} & value[7:4];
  end
  assign digit_o  = digit;
  assign steps    = ~digit & last_i;
  assign adds     = valid_q & ~summed_q & ~read_i;
  assign valid_o  = valid_q;
  assign summed_o = summed_q;
  assign steps_o  = steps_q;
  assign ends_o   = ends_q;

  // Q has no reset, because each row is written before it is valid.
  always_ff @(posedge clk_i) begin
    if (write_i && !row_i) first_q  <= data_i;
    if (write_i && row_i)  second_q <= data_i;
  end
  assign q = {first_q.low, second_q.low, first_q.high, second_q.high};

  // The walk. Digits of the checksum follow the digits that it is made of, so the sum is complete
  // when they are read.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      summed_q <= 1'b0;
      at_q     <= '0;
      sum_q    <= '0;
      steps_q  <= '0;
      ends_q   <= '0;
    end else if (clear_i) begin
      valid_q  <= 1'b0;
      summed_q <= 1'b0;
      at_q     <= '0;
      sum_q    <= '0;
      steps_q  <= '0;
      ends_q   <= '0;
    end else begin
      if (write_i && !row_i) valid_q <= 1'b1;
      if (adds) begin
        at_q <= at_q + 9'd1;
        if (!of_sum) sum_q <= sum_q + 13'(steps);
        steps_q <= steps_q + 14'(steps);
        if (steps == '0) ends_q <= ends_q + 9'd1;
        if (at_q + 9'd1 == chains_i) summed_q <= 1'b1;
      end
    end
  end

  // The checksum fits into its bits.
  `ASSERT(TheSumIsInRange_A, sum_q <= 13'd8160)
  // A digit of an incomplete checksum would let its chain begin elsewhere.
  `ASSERT(ADigitIsReadWhenItIsThere_A, read_i |-> valid_o && (summed_o || !of_sum))
  // The counts of the verdict cover each digit exactly once.
  `ASSERT(EveryDigitIsAddedOnce_A, $rose(summed_o) |-> at_q == chains_i)
  // The verdict depends on the steps of all chains: 34 of at most 255 for the widest digits.
  `ASSERT(TheStepsAreInRange_A, 1'b1 |=> steps_o <= 14'd8670)
  // Digits of an earlier signature do not count for the next one.
  `ASSERT(AClearForgets_A, clear_i |=> !valid_o && !summed_o && steps_o == '0)
endmodule
