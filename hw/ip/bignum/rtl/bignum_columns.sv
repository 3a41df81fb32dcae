// This module multiplies words, accumulates the products of a column, and reduces columns modulo a number.
//
// Protocol: `start_i` begins an operation, and `clear_i` ends one at once. In each cycle `tag_i` and the
// signals beside it describe the words whose addresses the memory has. `hold_o` forbids a slot in this cycle,
// because the multiplier is needed for the next factor of the modulus. `q_ready_o` says that this factor can be
// used, and `q_taken_i` that it was stored.
//
// Time: a slot takes six cycles. Its words come out of the memory, become operands, products of chunks, a
// product, a part of the sum of its column, and, with the last slot of the column, a word of the result or what
// decides the next factor. A slot can begin in every cycle. No cycle depends on data.
//
// For the primes of the curves the factor and its multiple of the prime are shifted sums (SP 800-186 §3.2.1.3,
// §3.2.1.4, with Montgomery's reduction from below instead of the one from above):
//   P-256: p + 1 = 2^96 + 2^192 - 2^224 + 2^256, and -1 / p = 1 modulo 2^W;
//   P-384: p + 1 = 2^32 - 2^96 - 2^128 + 2^384, and -1 / p = 1 + 2^32 + 2^64 modulo 2^W.
// Reset: the pipeline is empty, and sums and flags are zero. Nothing is hardened here: a fault gives a wrong
// number, which the check of a private operation or a repeated verification has to detect.

`include "assert.svh"

module bignum_columns
  import bignum_pkg::*;
#(
  // `W` is the width of a word: 68, 34 or 17 bits.
  parameter int unsigned W = 68
) (
  input  logic          clk_i,
  input  logic          rst_ni,

  // An operation begins with `start_i`. The field of the modulus and its inverse are stable until its end.
  input  logic          start_i,
  input  logic          clear_i,
  input  field_e        field_i,
  // This is -1 / N modulo 2^W.
  input  logic [W-1:0]  inverse_i,

  // This is the slot whose addresses the memory has in this cycle: its tag, which words are signed, and what
  // the operands are.
  input  tag_t          tag_i,
  input  logic          a_is_top_i,
  input  logic          b_is_top_i,
  input  logic          use_q_i,
  input  logic          use_small_i,
  input  small_t        small_i,
  input  logic          use_select_i,
  input  logic [1:0]    select_i,
  input  logic          use_none_i,
  // No slot may be issued in a cycle with `hold_o`.
  output logic          hold_o,
  // These are the words that the memory gives a cycle later.
  input  logic [W-1:0]  a_data_i,
  input  logic [W-1:0]  b_data_i,

  // This is the next factor of the modulus.
  output logic          q_ready_o,
  input  logic          q_taken_i,
  output logic [W-1:0]  q_o,

  // These are words of the result in their order, one in a cycle with `write_o`.
  output logic          write_o,
  output logic [W-1:0]  word_o,
  // This is a pulse with the last word.
  output logic          done_o,
  // These flags describe the last result, and stay until the next one.
  output logic          is_zero_o,
  output logic          is_negative_o,
  output logic          is_odd_o
);
  // The width of a sum follows from its terms. A number of 61 limbs has 244 words of 17 bits: a column has this
  // many products, at most doubled, and this many of its reduction, which is ten bits more than one product.
  // The other bits are for the carry, a third number times -8 to 7, and the sign.
  localparam int unsigned SumBits = 2 * W + 14;
  typedef logic signed [SumBits-1:0] sum_t;
  typedef logic signed [W:0]         operand_t;

  // --- operands ---
  // The tags follow the stages of the pipeline. The other registers say what the operands of the slot in the
  // first stage are.
  tag_t       tag1_q, tag2_q, tag3_q, tag4_q;
  logic       a_top_q, b_top_q, use_q_q, use_small_q, use_select_q, use_none_q;
  small_t     small_q;
  logic [1:0] select_q;
  operand_t   a_d, b_d, a_q, b_q;
  logic [W-1:0] q_q;
  sum_t       sum_q, carry_q;
  // In this cycle the next factor is computed from the carry.
  logic       factor_now;

  // Limbs are unsigned, except for the top one. A factor of the modulus is computed in a slot that the issue
  // left free (`hold_o`).
  always_comb begin
    a_d = {a_top_q & a_data_i[W-1], a_data_i};
    b_d = {b_top_q & b_data_i[W-1], b_data_i};
    if (use_small_q) b_d = operand_t'(small_q);
    // A selection takes the word of port a, that of port b, or zero, times one.
    if (use_select_q) begin
      a_d = ({W+1{select_q[0]}} & a_d) | ({W+1{select_q[1]}} & b_d);
      b_d = operand_t'(1);
    end
    // A multiple of the modulus is the word of port a times the factor.
    if (use_q_q) begin
      b_d = {1'b0, a_data_i};
      a_d = {1'b0, q_q};
    end
    // Empty slots have zeros as operands, so no data stay in the pipeline.
    if (use_none_q || !tag1_q.valid) {a_d, b_d} = '0;
    if (factor_now) begin
      a_d = {1'b0, carry_q[W-1:0]};
      b_d = {1'b0, inverse_i};
    end
  end

  // This is the product of the operands of two cycles before.
  logic signed [2*W+1:0] product;
  bignum_multiplier #(.W(W)) u_multiplier (
    .clk_i, .rst_ni,
    .a_i      (a_q),
    .b_i      (b_q),
    .product_o(product)
  );

  tag_t factor_tag;
  // The slot of a factor belongs to no column, because its product is the factor.
  always_comb begin
    factor_tag       = '0;
    factor_tag.valid = 1'b1;
    factor_tag.is_q  = 1'b1;
  end

  // The tags follow the data. A clear empties the pipeline, so what is under way has no effect.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {tag1_q, tag2_q, tag3_q, tag4_q} <= '0;
      {a_top_q, b_top_q, use_q_q, use_small_q, use_select_q, use_none_q} <= '0;
      small_q  <= '0;
      select_q <= '0;
      a_q      <= '0;
      b_q      <= '0;
    end else begin
      tag1_q <= clear_i ? '0 : tag_i;
      tag2_q <= clear_i ? '0 : factor_now ? factor_tag : tag1_q;
      tag3_q <= clear_i ? '0 : tag2_q;
      tag4_q <= clear_i ? '0 : tag3_q;
      {a_top_q, b_top_q, use_q_q} <= {a_is_top_i, b_is_top_i, use_q_i};
      {use_small_q, use_select_q, use_none_q} <= {use_small_i, use_select_i, use_none_i};
      small_q  <= small_i;
      select_q <= select_i;
      a_q      <= clear_i ? '0 : a_d;
      b_q      <= clear_i ? '0 : b_d;
    end
  end

  // --- columns ---
  sum_t term, shifted;
  // A product is added to the sum of its column unless it is a factor or completes the column before.
  logic adds;
  assign adds    = tag4_q.valid & ~tag4_q.is_q & ~tag4_q.is_carry;
  // Factors of two are shifts. A multiplication by other factors would take another stage.
  assign shifted = sum_t'(product) <<< tag4_q.shift;
  assign term    = tag4_q.negate ? -shifted : shifted;

  // This is the history of factors for the shifted sums: `hist[k]` is the factor of the column k + 1 before
  // this one.
  localparam int unsigned History = 384 / W + 1;
  logic [W-1:0] hist_q [History];
  sum_t         multiple, carry_in;

  // This function gives 2^bits times the factors of earlier columns: it takes the word in which the shift
  // begins, and shifts it by the rest.
  function automatic sum_t at(int unsigned bits, logic [W-1:0] history [History]);
    sum_t value;
    value = '0;
    if (bits >= W) value[W-1:0] = history[bits/W-1];
    return value << (bits % W);
  endfunction

  // This block computes what the factors of earlier columns add to this column, and what the column before
  // carries over.
  always_comb begin
    unique case (field_i)
      FieldP256: multiple = at(96, hist_q) + at(192, hist_q) - at(224, hist_q) + at(256, hist_q);
      FieldP384: multiple = at(32, hist_q) - at(96, hist_q) - at(128, hist_q) + at(384, hist_q);
      default:   multiple = '0;
    endcase
    carry_in = carry_q >>> W;
  end

  // This is the factor of a prime, and what it adds to its own column.
  logic [W-1:0] carry_low, prime_q;
  sum_t         prime_multiple;
  // All of it is sums of shifted words, which fit the cycle after the column.
  always_comb begin
    carry_low = carry_q[W-1:0];
    prime_q   = carry_low;
    if (field_i == FieldP384) begin
      if (W > 32) prime_q = prime_q + (carry_low << 32);
      if (W > 64) prime_q = prime_q + (carry_low << 64);
    end
    prime_multiple = '0;
    // With P-384 and words of more than 32 bits a shifted factor is added to its own column, and the factor is
    // subtracted. In all other cases the subtraction would only make the low word zero, which is dropped
    // anyway.
    if (W > 32 && field_i == FieldP384) prime_multiple = (sum_t'({1'b0, prime_q}) <<< 32) - sum_t'({1'b0, prime_q});
  end

  // `closes_q` is the cycle after the last product of a column, `low_q` and `out_q` the cycle after that.
  logic is_any, is_prime, closes_q, closes_low_q, closes_out_q, closes_final_q;
  logic low_q, out_q, final_q, q_valid_q, any_q, odd_q, negative_q, zero_q, fresh_q;
  assign is_any   = field_i == FieldAny;
  assign is_prime = field_i inside {FieldP256, FieldP384};

  // A column is complete a cycle after its last product, and its carry is complete a cycle later.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q   <= '0;
      carry_q <= '0;
      q_q     <= '0;
      for (int k = 0; k < int'(History); k++) hist_q[k] <= '0;
      {closes_q, closes_low_q, closes_out_q, closes_final_q, low_q, out_q, final_q, q_valid_q} <= '0;
    end else if (clear_i || start_i) begin
      sum_q   <= '0;
      carry_q <= '0;
      q_q     <= '0;
      for (int k = 0; k < int'(History); k++) hist_q[k] <= '0;
      {closes_q, closes_low_q, closes_out_q, closes_final_q, low_q, out_q, final_q, q_valid_q} <= '0;
    end else begin
      if (adds) sum_q <= (tag4_q.first ? '0 : sum_q) + term;
      closes_q       <= adds & tag4_q.last;
      closes_low_q   <= tag4_q.is_low;
      closes_out_q   <= tag4_q.is_out;
      closes_final_q <= tag4_q.is_final;
      low_q          <= closes_q & closes_low_q;
      out_q          <= closes_q & closes_out_q;
      final_q        <= closes_q & closes_final_q;
      // The column closes: its sum, the carry of the column before and the multiples of earlier factors are
      // added.
      if (closes_q) begin
        carry_q <= sum_q + carry_in + multiple;
        for (int k = 1; k < int'(History); k++) hist_q[k] <= hist_q[k-1];
        hist_q[0] <= '0;
      end
      // A low column of a curve's prime gets the part of the multiple that belongs to its own factor.
      if (low_q && is_prime) begin
        carry_q   <= carry_q + prime_multiple;
        hist_q[0] <= prime_q;
      end
      // The product of a low column's factor and the lowest word of the modulus makes its low word zero.
      if (tag4_q.valid && tag4_q.is_carry) carry_q <= carry_q + sum_t'(product);
      if (tag4_q.valid && tag4_q.is_q) q_q <= product[W-1:0];
      q_valid_q <= (q_valid_q | (tag4_q.valid & tag4_q.is_q)) & ~q_taken_i;
    end
  end

  // The multiplier computes the factor itself, in the slot after the column, so no DSP block is needed for
  // factors only.
  assign hold_o     = closes_q & closes_low_q & is_any;
  assign factor_now = low_q & is_any;
  // The factor is used in the cycle in which it leaves the multiplier.
  assign q_ready_o  = q_valid_q | (tag4_q.valid & tag4_q.is_q);
  assign q_o        = q_q;

  // --- the result ---
  // The words of low columns are zero by the choice of the factor, and are not written.
  assign write_o = out_q;
  assign word_o  = carry_low;
  assign done_o  = out_q & final_q;

  // These flags describe the words of the result so far, and stay until the next operation begins to write.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {fresh_q, any_q, odd_q, negative_q, zero_q} <= '0;
    end else if (clear_i || start_i) begin
      fresh_q <= 1'b1;
      any_q   <= 1'b0;
      if (clear_i) {odd_q, negative_q, zero_q} <= '0;
    end else if (out_q) begin
      fresh_q <= 1'b0;
      any_q   <= any_q | (word_o != '0);
      if (fresh_q) odd_q <= word_o[0];
      if (final_q) begin
        negative_q <= word_o[W-1];
        zero_q     <= ~any_q & (word_o == '0);
      end
    end
  end
  assign is_zero_o     = zero_q;
  assign is_negative_o = negative_q;
  assign is_odd_o      = odd_q;

  // Later columns multiply what was stored, so a factor must not be stored before it is there.
  `ASSERT(AStoredFactorIsThere_A, q_taken_i |-> q_valid_q)
  // R >= 4 N leaves the sign of a result in its top word. A result that does not fit would be a wrong number.
  `ASSERT(AResultFitsItsWords_A, done_o |-> carry_q[SumBits-1:W-1] == '0 || carry_q[SumBits-1:W-1] == '1)
  // The factor makes the low word of a reduced column zero. Otherwise the reduction would drop bits that are
  // not zero.
  `ASSERT(AReducedColumnIsZero_A, tag4_q.valid && tag4_q.is_carry |=> carry_q[W-1:0] == '0)
  // A column must not close while the one before is still being reduced, because both use the same carry.
  `ASSERT(NoColumnClosesEarly_A, closes_q |-> !(low_q && is_prime) && !factor_now)
endmodule
