// This module makes sums, differences and selections, a word in each cycle, and the checks of a verdict.
//
// Protocol: `start_i` begins an operation, also in the cycle of the last word of the one before. The result has
// its first word with `done_o`, and the others in the next three cycles.
//
// Time: an operation takes four cycles, and its first result word comes a cycle after its last operand word.
// The words pass a row of four registers: when the first one leaves, the last carry is known, and
// `ed25519_writer` adds or subtracts 38 for it. There is no branch: a number that is not selected enters as
// zero.
//
// Reset: no operation runs. Nothing is hardened here; what a check finds is kept twice by `ed25519_control`.

`include "assert.svh"

module ed25519_adder
  import ed25519_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  // A clear ends the operation.
  input  logic       clear_i,

  // A start may come with the last word of the operation before.
  input  logic       start_i,
  input  add_e       op_i,
  // This is the sign of the digit.
  input  logic       negative_i,
  // This says what the condition becomes.
  input  cond_e      cond_i,
  // This says for which check the result is evidence.
  input  check_e     check_i,
  input  logic [3:0] a_i,
  // `b_i` is a register or a small number.
  input  logic [3:0] b_i,
  input  number_t    to_i,

  // These are words of registers, which are there in the same cycle.
  output logic [3:0] a_number_o,
  output logic [3:0] b_number_o,
  output logic [1:0] index_o,
  input  word_t      a_word_i,
  input  word_t      b_word_i,

  // This is the result: the first word with `done_o`, the others in the cycles after it.
  output logic       done_o,
  output word_t      word_o,
  // 38 has to be added or subtracted.
  output logic       correct_o,
  // It has to be subtracted.
  output logic       less_o,
  // The other words would carry it on.
  output logic       at_edge_o,
  output number_t    to_o,

  // This is what a check has found.
  output check_e     check_o,
  output logic       passed_o
);
  // These registers are the operation, decoded at its start.
  logic       run_q, subtract_q, raw_q, small_q, mask_q, with_cond_q, select_q, if_q, no_a_q;
  cond_e      cond_kind_q;
  check_e     check_q;
  logic [3:0] a_q, b_q;
  logic [1:0] index_q;
  number_t    to_q;  // This is the register of the result.
  logic       cond_q;  // Selections depend on this, without a branch.

  assign a_number_o = a_q;
  assign b_number_o = b_q;
  assign index_o    = index_q;

  // Signs are resolved when an operation starts, because later ones belong to other digits.
  logic subtract;
  // Addition and subtraction change places with the sign.
  always_comb begin
    unique case (op_i)
      AddSub, AddSubRaw: subtract = 1'b1;
      AddAddSigned:      subtract = negative_i;
      AddSubSigned:      subtract = ~negative_i;
      default:           subtract = 1'b0;
    endcase
  end

  // These registers are the operation, and the index of its word.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q       <= 1'b0;
      subtract_q  <= 1'b0;
      raw_q       <= 1'b0;
      small_q     <= 1'b0;
      mask_q      <= 1'b0;
      with_cond_q <= 1'b0;
      select_q    <= 1'b0;
      if_q        <= 1'b0;
      no_a_q      <= 1'b0;
      cond_kind_q <= CondKeep;
      check_q     <= CheckNone;
      a_q         <= '0;
      b_q         <= '0;
      index_q     <= '0;
      to_q        <= '0;
    end else if (clear_i) begin
      run_q <= 1'b0;
    end else if (start_i) begin
      run_q       <= 1'b1;
      subtract_q  <= subtract;
      raw_q       <= !(op_i inside {AddAdd, AddSub, AddAddSigned, AddSubSigned});
      small_q     <= op_i inside {AddLoad, AddAddSmall, AddMaskSmall, AddMaskIf};
      mask_q      <= op_i inside {AddMaskSmall, AddMaskIf, AddSelectMasked};
      with_cond_q <= op_i == AddAddCarry;
      select_q    <= op_i inside {AddSelect, AddSelectMasked};
      if_q        <= op_i == AddMaskIf;
      no_a_q      <= op_i == AddLoad;
      cond_kind_q <= cond_i;
      check_q     <= check_i;
      a_q         <= a_i;
      b_q         <= b_i;
      index_q     <= '0;
      to_q        <= to_i;
    end else if (run_q) begin
      index_q <= index_q + 2'd1;
      if (index_q == 2'd3) run_q <= 1'b0;
    end
  end

  // --- operands and sum ---

  logic        is_first, is_last, carry_q, carry, zero_q, is_zero, ones_q, first_bit_q, takes_a, takes_b;
  word_t       a, b, low_number;
  logic [64:0] sum;  // It has one bit more for the carry.
  word_t       row_q [4];  // These words wait for the last carry.

  assign is_first = index_q == 2'd0;
  assign is_last  = index_q == 2'd3;
  // The small number 15 stands for 19, the distance of p to 2^255.
  assign low_number    = (is_first && (!if_q || cond_q)) ? ((b_q == 4'd15) ? 64'd19 : {60'd0, b_q}) : '0;
  // An operand that is not selected is zero, so both selections take the same cycles.
  assign takes_a  = ~no_a_q & (~select_q | cond_q);
  assign takes_b  = ~select_q | ~cond_q;
  assign a        = {a_word_i[63] & ~(mask_q & is_last), a_word_i[62:0]} & {64{takes_a}};
  // A subtraction adds the inverse and a carry.
  assign b        = (small_q ? low_number : (b_word_i & {64{takes_b}})) ^ {64{subtract_q}};
  assign carry    = is_first ? (subtract_q | (with_cond_q & cond_q)) : carry_q;
  assign sum      = {1'b0, a} + {1'b0, b} + 65'(carry);
  assign is_zero  = (sum[63:0] == '0) & (is_first | zero_q);

  // The row of words is cleared, and not reset.
  always_ff @(posedge clk_i) begin
    for (int w = 0; w < 4; w++) begin
      if (clear_i) row_q[w] <= '0;
      else         row_q[w] <= (w == 0) ? sum[63:0] : row_q[w == 0 ? 0 : w-1];
    end
  end

  // These registers are what is known of the words: carry, zero, the edge, the condition and the check.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      carry_q     <= 1'b0;
      zero_q      <= 1'b0;
      ones_q      <= 1'b0;
      first_bit_q <= 1'b0;
      cond_q      <= 1'b0;
      done_o      <= 1'b0;
      correct_o   <= 1'b0;
      less_o      <= 1'b0;
      to_o        <= '0;
      check_o     <= CheckNone;
      passed_o    <= 1'b0;
    end else if (clear_i) begin
      cond_q  <= 1'b0;
      done_o  <= 1'b0;
      check_o <= CheckNone;
    end else begin
      done_o  <= run_q & is_last;
      check_o <= CheckNone;
      if (run_q) begin
        carry_q <= sum[64];
        zero_q  <= is_zero;
        // This is about the second to the fourth word: all ones pass a carry on, all zeros a borrow.
        ones_q  <= is_first | (ones_q & (sum[63:0] == {64{~subtract_q}}));
        if (is_first) first_bit_q <= sum[0];
        if (is_last) begin
          to_o      <= to_q;
          correct_o <= ~raw_q & (sum[64] ^ subtract_q);
          less_o    <= subtract_q;
          unique case (cond_kind_q)
            CondCarry:  cond_q <= sum[64] ^ subtract_q;
            CondTop:    cond_q <= sum[63];
            CondParity: cond_q <= cond_q ^ first_bit_q;
            default: ;
          endcase
          check_o <= check_q;
          // Each check has a condition of its own: a number below a bound, one that is not zero, or a
          // difference that is zero.
          unique case (check_q)
            CheckACanonical, CheckRCanonical:       passed_o <= ~sum[63];
            CheckAOrder, CheckROrder, CheckScalar:  passed_o <= ~is_zero;
            CheckSBelowL, CheckSAgain:              passed_o <= ~sum[64];
            default:                                passed_o <= is_zero;
          endcase
        end
      end
    end
  end

  assign word_o    = row_q[3];
  assign at_edge_o = ones_q;

  // An operation that starts too early would take the words of another one.
  `ASSERT(NoStartDuringAnother_A, start_i |-> !run_q || is_last)
  // No result is written that no operation has made.
  `ASSERT(AResultIsOfAnOperation_A, !run_q |=> !done_o)
  // Evidence comes from the last word of a check only.
  `ASSERT(OnlyChecksAreReported_A, !(run_q && is_last) |=> check_o == CheckNone)
endmodule
