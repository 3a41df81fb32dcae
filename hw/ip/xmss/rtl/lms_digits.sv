// The digits of Q and of its checksum (RFC 8554 §3.1.3, algorithms 2 and 4b).
//
// Q comes by rows of the hash core's state. A walk over all digits, one a cycle, makes the checksum, and counts what the
// verdict needs: the steps of all chains, and the chains without any. It pauses while the schedule reads a digit.

`include "assert.svh"

module lms_digits
  import xmss_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,      // a new Q follows
  input  logic        is_short_i,   // 24 bytes
  input  logic [1:0]  log_width_i,  // digits have 1, 2, 4 or 8 bits
  input  logic [7:0]  last_i,       // the largest digit
  input  logic [8:0]  chains_i,

  input  logic        write_i,  // a row of Q; row 0 is the second one
  input  logic        row_i,
  input  row_t        data_i,

  output logic        valid_o,   // digits of Q can be read
  output logic        summed_o,  // and those of the checksum
  input  logic        read_i,
  input  logic [8:0]  index_i,
  output logic [7:0]  digit_o,  // in the cycle of the read

  // When `summed_o`.
  output logic [13:0] steps_o,  // of all chains: at most 34 * 255
  output logic [8:0]  ends_o    // chains that begin at their end
);
  logic [31:0] words_q [8];
  logic        valid_q, summed_q;
  logic [8:0]  at_q, index;    // the digit that is added, and the one that is read
  logic [12:0] sum_q;          // at most 32 * 255
  logic [13:0] steps_q;
  logic [8:0]  ends_q;
  logic [15:0] checksum;
  logic [8:0]  bits;           // where a digit begins, without its lowest bits: in bytes of Q and checksum
  logic [2:0]  offset;         // and where in its byte
  logic        of_sum, adds;   // the digit is the checksum's; a digit is added
  logic [7:0]  value, digit, steps;

  assign index = read_i ? index_i : at_q;

  // The i-th digit is at bit i * w.
  always_comb begin
    unique case (log_width_i)
      2'd0:    {bits, offset} = {3'b0, index};
      2'd1:    {bits, offset} = {2'b0, index, 1'b0};
      2'd2:    {bits, offset} = {1'b0, index, 2'b0};
      default: {bits, offset} = {index, 3'b0};
    endcase
  end
  assign of_sum = bits >= (is_short_i ? 9'd24 : 9'd32);

  // The checksum is shifted to the upper bits of 16: ls of RFC 8554 §4.1.
  always_comb begin
    unique case (log_width_i)
      2'd0:    checksum = is_short_i ? {sum_q[7:0], 8'b0} : {sum_q[8:0], 7'b0};
      2'd1:    checksum = {sum_q[9:0], 6'b0};
      2'd2:    checksum = {sum_q[11:0], 4'b0};
      default: checksum = {3'b0, sum_q};
    endcase
  end

  // A byte, and a part of it, the first one in the upper bits.
  always_comb begin
    value = words_q[bits[4:2]][31 - 8*int'(bits[1:0]) -: 8];
    if (of_sum) value = bits[0] ? checksum[7:0] : checksum[15:8];
    unique case (log_width_i)
      2'd0:    digit = {7'b0, value[3'd7 - offset]};
      2'd1:    digit = {6'b0, value[7 - 2*int'(offset[2:1]) -: 2]};
      2'd2:    digit = {4'b0, offset[2] ? value[3:0] : value[7:4]};
      default: digit = value;
    endcase
  end
  assign digit_o  = digit;
  assign steps    = ~digit & last_i;
  assign adds     = valid_q & ~summed_q & ~read_i;
  assign valid_o  = valid_q;
  assign summed_o = summed_q;
  assign steps_o  = steps_q;
  assign ends_o   = ends_q;

  // Q: without a reset, each word is written before it is valid.
  always_ff @(posedge clk_i) begin
    if (write_i) begin
      {words_q[{1'b0, row_i, 1'b0}], words_q[{1'b0, row_i, 1'b1}]} <= data_i.low;
      {words_q[{1'b1, row_i, 1'b0}], words_q[{1'b1, row_i, 1'b1}]} <= data_i.high;
    end
  end

  // The walk. Digits of the checksum follow those that it is made of, so the sum is over when they are read.
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

  `ASSERT(TheSumIsInRange_A, sum_q <= 13'd8160)
  // A digit of an unfinished checksum would begin its chain elsewhere.
  `ASSERT(ADigitIsReadWhenItIsThere_A, read_i |-> valid_o && (summed_o || !of_sum))
  `ASSERT(EveryDigitIsAddedOnce_A, $rose(summed_o) |-> at_q == chains_i)
endmodule
