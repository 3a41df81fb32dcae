// Multiplies, accumulates columns, and reduces them.
//
// A slot takes six cycles: its words come out of the memory, become operands, products of chunks, a product, a part of the
// sum of its column, and, with the last slot of the column, a word of the result or what decides the next factor of the
// modulus.
//
// For the primes of the curves the factor and its multiple of the prime are shifted sums (SP 800-186 §3.2.1.3, §3.2.1.4,
// with Montgomery's reduction from below instead of the one from above):
//   P-256: p + 1 = 2^96 + 2^192 - 2^224 + 2^256, and -1 / p = 1 modulo 2^W;
//   P-384: p + 1 = 2^32 - 2^96 - 2^128 + 2^384, and -1 / p = 1 + 2^32 + 2^64 modulo 2^W.

`include "assert.svh"

module bignum_columns
  import bignum_pkg::*;
#(
  parameter int unsigned W = 68
) (
  input  logic          clk_i,
  input  logic          rst_ni,

  input  logic          start_i,
  input  logic          clear_i,
  input  field_e        field_i,
  input  logic [W-1:0]  inverse_i,     // -1 / N modulo 2^W

  // The slot whose addresses the memory has in this cycle.
  input  tag_t          tag_i,
  input  logic          a_is_top_i,
  input  logic          b_is_top_i,
  input  logic          use_q_i,
  input  logic          use_small_i,
  input  small_t        small_i,
  input  logic          use_select_i,
  input  logic [1:0]    select_i,
  input  logic          use_none_i,
  output logic          hold_o,        // no slot in this cycle
  // What the memory gives a cycle later.
  input  logic [W-1:0]  a_data_i,
  input  logic [W-1:0]  b_data_i,

  output logic          q_ready_o,
  input  logic          q_taken_i,
  output logic [W-1:0]  q_o,

  output logic          write_o,
  output logic [W-1:0]  word_o,
  output logic          done_o,        // with the last word
  output logic          is_zero_o,     // of the last result, as its flags
  output logic          is_negative_o,
  output logic          is_odd_o
);
  // 61 limbs have 244 words of 17 bits: a column has as many products, doubled at most, and as many of its reduction, which
  // is ten bits more than one of them. The others are for the carry, a third number times -8 to 7, and the sign.
  localparam int unsigned SumBits = 2 * W + 14;
  typedef logic signed [SumBits-1:0] sum_t;
  typedef logic signed [W:0]         operand_t;

  // --- operands ---
  tag_t       tag1_q, tag2_q, tag3_q, tag4_q;
  logic       a_top_q, b_top_q, use_q_q, use_small_q, use_select_q, use_none_q;
  small_t     small_q;
  logic [1:0] select_q;
  operand_t   a_d, b_d, a_q, b_q;
  logic [W-1:0] q_q;
  sum_t       sum_q, carry_q;
  logic       factor_now;     // the next factor is computed of the carry

  // Limbs are unsigned but for the top one. A factor of the modulus takes a slot that the issue left free (`hold_o`).
  always_comb begin
    a_d = {a_top_q & a_data_i[W-1], a_data_i};
    b_d = {b_top_q & b_data_i[W-1], b_data_i};
    if (use_small_q) b_d = operand_t'(small_q);
    if (use_select_q) begin
      a_d = ({W+1{select_q[0]}} & a_d) | ({W+1{select_q[1]}} & b_d);
      b_d = operand_t'(1);
    end
    if (use_q_q) begin
      b_d = {1'b0, a_data_i};
      a_d = {1'b0, q_q};
    end
    // Bubbles are zeros, which also leaves no data in the pipeline.
    if (use_none_q || !tag1_q.valid) {a_d, b_d} = '0;
    if (factor_now) begin
      a_d = {1'b0, carry_q[W-1:0]};
      b_d = {1'b0, inverse_i};
    end
  end

  logic signed [2*W+1:0] product;  // of the operands two cycles before
  bignum_multiplier #(.W(W)) u_multiplier (
    .clk_i, .rst_ni,
    .a_i      (a_q),
    .b_i      (b_q),
    .product_o(product)
  );

  tag_t factor_tag;
  // That slot is in no column: its product is the factor.
  always_comb begin
    factor_tag       = '0;
    factor_tag.valid = 1'b1;
    factor_tag.is_q  = 1'b1;
  end

  // Tags go beside the data. A clear lets what is under way have no effect.
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
  logic adds;
  assign adds    = tag4_q.valid & ~tag4_q.is_q & ~tag4_q.is_carry;
  // Factors of two are shifts: a multiplier of other factors would be one more stage.
  assign shifted = sum_t'(product) <<< tag4_q.shift;
  assign term    = tag4_q.negate ? -shifted : shifted;

  // Factors of columns before, for the shifted sums: `hist[k]` is that of the column k + 1 before this one.
  localparam int unsigned History = 384 / W + 1;
  logic [W-1:0] hist_q [History];
  sum_t         multiple, carry_in;

  // 2^bits times the factors of earlier columns: the word that the shift begins in, shifted by the rest.
  function automatic sum_t at(int unsigned bits, logic [W-1:0] history [History]);
    sum_t value;
    value = '0;
    if (bits >= W) value[W-1:0] = history[bits/W-1];
    return value << (bits % W);
  endfunction

  // What factors of earlier columns add to this one, and what the column before carries over.
  always_comb begin
    unique case (field_i)
      FieldP256: multiple = at(96, hist_q) + at(192, hist_q) - at(224, hist_q) + at(256, hist_q);
      FieldP384: multiple = at(32, hist_q) - at(96, hist_q) - at(128, hist_q) + at(384, hist_q);
      default:   multiple = '0;
    endcase
    carry_in = carry_q >>> W;
  end

  // The factor of a prime, and what it adds to its own column.
  logic [W-1:0] carry_low, prime_q;
  sum_t         prime_multiple;
  // All of it is sums of shifted words, so that it takes the cycle after the column.
  always_comb begin
    carry_low = carry_q[W-1:0];
    prime_q   = carry_low;
    if (field_i == FieldP384) begin
      if (W > 32) prime_q = prime_q + (carry_low << 32);
      if (W > 64) prime_q = prime_q + (carry_low << 64);
    end
    prime_multiple = '0;
    // Without this term the low word would be -q; it is dropped anyway.
    if (W > 32 && field_i == FieldP384) prime_multiple = (sum_t'({1'b0, prime_q}) <<< 32) - sum_t'({1'b0, prime_q});
  end

  logic is_any, is_prime, closes_q, closes_low_q, closes_out_q, closes_final_q;
  logic low_q, out_q, final_q, q_valid_q, any_q, odd_q, negative_q, zero_q, fresh_q;
  assign is_any   = field_i == FieldAny;
  assign is_prime = field_i inside {FieldP256, FieldP384};

  // A column is complete a cycle after its last product, and its carry a cycle later.
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
      if (closes_q) begin
        carry_q <= sum_q + carry_in + multiple;
        for (int k = 1; k < int'(History); k++) hist_q[k] <= hist_q[k-1];
        hist_q[0] <= '0;
      end
      if (low_q && is_prime) begin
        carry_q   <= carry_q + prime_multiple;
        hist_q[0] <= prime_q;
      end
      if (tag4_q.valid && tag4_q.is_carry) carry_q <= carry_q + sum_t'(product);
      if (tag4_q.valid && tag4_q.is_q) q_q <= product[W-1:0];
      q_valid_q <= (q_valid_q | (tag4_q.valid & tag4_q.is_q)) & ~q_taken_i;
    end
  end

  // The multiplier computes the factor itself, in the slot after the column: no DSP block is for factors alone.
  assign hold_o     = closes_q & closes_low_q & is_any;
  assign factor_now = low_q & is_any;
  // The factor is used in the cycle in which it leaves the multiplier.
  assign q_ready_o  = q_valid_q | (tag4_q.valid & tag4_q.is_q);
  assign q_o        = q_q;

  // --- the result ---
  // Words of low columns are zero by the choice of the factor, and are not written.
  assign write_o = out_q;
  assign word_o  = carry_low;
  assign done_o  = out_q & final_q;

  // Flags of the result: of all words so far, until the next operation.
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

  // Later columns multiply what was stored: a factor is stored once it is there, not before.
  `ASSERT(AStoredFactorIsThere_A, q_taken_i |-> q_valid_q)
  // R >= 4 N leaves the sign of a result in its top word.
  `ASSERT(AResultFitsItsWords_A, done_o |-> carry_q[SumBits-1:W-1] == '0 || carry_q[SumBits-1:W-1] == '1)
  `ASSERT(AReducedColumnIsZero_A, tag4_q.valid && tag4_q.is_carry |=> carry_q[W-1:0] == '0)
  `ASSERT(NoColumnClosesEarly_A, closes_q |-> !(low_q && is_prime) && !factor_now)
endmodule
