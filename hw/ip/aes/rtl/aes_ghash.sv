// This module is GHASH (SP 800-38D §6.4): it adds a block to a sum, and multiplies the sum with the subkey in
// GF(2^128). It takes `Digit` bits of one factor in a cycle, the highest powers first.
//
// Protocol: a block is taken in a cycle with `valid_i` and `ready_o`. While `ready_o` is high, `sum_o` is the
// result of all blocks since the last `clear_i`. The subkey has to be stable while `ready_o` is low.
//
// Time: a block takes 128 / `Digit` cycles, rounded up, and one in which it is added. With ten bits these are
// the 14 cycles of a block of AES-256. The time depends neither on the block nor on the subkey.
//
// Reset: the module is ready. Sum and factor have no reset; a clear and the wipe after a reset overwrite them.
//
// Hardening: the count of steps has a copy, so no sum of too few steps passes unnoticed. `Hardened` = 0 removes
// it.

`include "assert.svh"

module aes_ghash
  import aes_pkg::*;
#(
  // `Hardened` = 0 removes the copy of the count.
  parameter bit Hardened = 1'b1
) (
  input  logic   clk_i,
  input  logic   rst_ni,

  // With `clear_i` the sum becomes zero.
  input  logic   clear_i,
  input  logic   valid_i,
  output logic   ready_o,
  // The block that is added is `a_i` or `b_i` or neither of them; `c_i` is always added.
  input  logic   adds_a_i,
  input  logic   adds_b_i,
  // `a_i` is a result of this cycle, which is the ciphertext of an encryption. `b_i` is an input, which is the
  // ciphertext of a decryption or data that are authenticated only. `c_i` has the lengths.
  input  block_t a_i,
  input  block_t b_i,
  input  block_t c_i,
  // The subkey H is stable while `ready_o` is low. The sum is valid while `ready_o` is high.
  input  block_t subkey_i,
  output block_t sum_o,
  // `error_o` reports an upset of the count.
  output logic   error_o
);
  // `Digit` bits of the factor are multiplied in a cycle.
  localparam int unsigned Digit = 10;
  // This gives 13 steps.
  localparam int unsigned Steps = (128 + Digit - 1) / Digit;
  // The factor has this many bits, with zeros in front of the highest power.
  localparam int unsigned Bits  = Steps * Digit;
  localparam int unsigned CountBits = $clog2(Steps + 1);
  // These are the exponents of the polynomial below x^128.
  localparam int Taps [4] = '{0, 1, 2, 7};

  // In the vectors of this module bit `i` is the coefficient of x^i. In a byte of the standard the lowest
  // coefficient is the highest bit (§6.3).
  function automatic logic [127:0] poly(block_t block);
    logic [127:0] out;
    for (int i = 0; i < 128; i++) out[i] = block[i/8][7-i%8];
    return out;
  endfunction

  logic [127:0]           sum_d, sum_q, subkey;
  // These coefficients are not multiplied yet; the next ones are on top.
  logic [Bits-1:0]        factor_q;
  // The count says how many steps are left.
  logic [CountBits-1:0]   count_d, count_q;
  logic                   starts;

  assign subkey  = poly(subkey_i);
  assign ready_o = count_q == '0;
  assign starts  = valid_i & ready_o;

  // What the factor becomes is chosen by a code of two bits, so that each bit has six inputs and fits a look-up
  // table.
  typedef enum logic [1:0] {TakeShift, TakeSum, TakeA, TakeB} take_e;
  take_e           take;
  logic [Bits-1:0] taken;
  assign take = !starts ? TakeShift : adds_a_i ? TakeA : adds_b_i ? TakeB : TakeSum;
  always_comb begin
    unique case (take)
      TakeShift: taken = factor_q << Digit;
      TakeSum:   taken = Bits'(sum_q);
      TakeA:     taken = Bits'(sum_q ^ poly(a_i));
      TakeB:     taken = Bits'(sum_q ^ poly(b_i));
      default:   taken = '0;
    endcase
  end

  // This is Horner's rule: the sum times x^Digit, plus the next coefficients times the subkey, not reduced yet.
  // A bit is the sum of ten products: three sums of three, and the last product together with the sum. That
  // takes four look-up tables.
  logic [Digit-1:0]   coefficients;
  logic [127+Digit:0] product;
  assign coefficients = factor_q[Bits-1:Bits-Digit];

  for (genvar i = 0; i < 128 + Digit; i++) begin : g_product
    logic [2:0]       part;
    logic [Digit-1:0] other;
    for (genvar j = 0; j < Digit; j++) begin : g_term
      assign other[j] = (i >= j && i - j < 128) & subkey[(i - j) & 127];
    end
    for (genvar t = 0; t < 3; t++) begin : g_three
      aes_three u_three (.a_i(coefficients[3*t +: 3]), .b_i(other[3*t +: 3]), .out_o(part[t]));
    end
    aes_rest u_rest (
      .part_i(part),
      .a_i   (coefficients[Digit-1]),
      .b_i   (other[Digit-1]),
      .bit_i ((i >= Digit) & sum_q[(i - Digit) & 127]),
      .out_o (product[i])
    );
  end

  // The reduction replaces x^128 by x^7 + x^2 + x + 1, from the highest power down.
  always_comb begin
    logic [127+Digit:0] rest;
    rest = product;
    for (int i = 127 + Digit; i >= 128; i--) begin
      for (int k = 0; k < 4; k++) rest[i-128+Taps[k]] ^= rest[i];
    end
    sum_d = rest[127:0];
  end

  // Every block and every subkey take the same number of steps, so the time tells nothing about them. A clear
  // has priority in any step.
  always_comb begin
    count_d = count_q;
    if (clear_i)       count_d = '0;
    else if (starts)   count_d = CountBits'(Steps);
    else if (!ready_o) count_d = count_q - 1'b1;
  end
  // After a reset no step is left, so the module is ready.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else         count_q <= count_d;
  end

  // The copy detects an upset of the count: a tag of too few steps would not depend on all of the text.
  register_copy #(.Width(CountBits), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (count_d),
    .value_i(count_q),
    .differs_o(error_o)
  );

  // Data have no reset: the wipe after a reset clears them.
  always_ff @(posedge clk_i) begin
    if (clear_i || starts) sum_q <= '0;
    else if (!ready_o)     sum_q <= sum_d;
    factor_q <= taken ^ Bits'(poly(c_i) & {128{starts}});
  end

  // The sum leaves in the order of bits that the standard uses.
  for (genvar i = 0; i < 128; i++) begin : g_sum
    assign sum_o[i/8][7-i%8] = sum_q[i];
  end

  // A block gets all of its steps from its first cycle on.
  `ASSERT(ABlockTakesItsSteps_A, starts && !clear_i |=> count_q == CountBits'(Steps))
  // The module becomes ready after the last step or a clear only, so no reader takes a partial product as a
  // sum.
  `ASSERT(ASumIsOfWholeBlocks_A, !ready_o |=> !ready_o || $past(count_q) == 1 || $past(clear_i))
  // A clear leaves nothing of the message before.
  `ASSERT(AClearIsOfAllBits_A, clear_i |=> sum_o == '0)
  // Every block takes the same steps, and no more.
  `ASSERT(TheCountIsInRange_A, 1'b1 |=> count_q <= CountBits'(Steps) || error_o)
endmodule
