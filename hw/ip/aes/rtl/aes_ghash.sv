// GHASH (SP 800-38D §6.4): the product in GF(2^128), some bits a cycle, the highest power first.
//
// A block takes 128 / Digit cycles, rounded up, and one to add it: with ten bits the 14 cycles of a block of AES-256.

`include "assert.svh"

module aes_ghash
  import aes_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic   clk_i,
  input  logic   rst_ni,

  input  logic   clear_i,    // the sum becomes zero
  input  logic   valid_i,
  output logic   ready_o,
  input  logic   adds_a_i,   // the block is `a_i`, or `b_i`, or neither; and `c_i`
  input  logic   adds_b_i,
  input  block_t a_i,        // a result of this cycle: ciphertext of an encryption
  input  block_t b_i,        // an input: ciphertext of a decryption, or other data
  input  block_t c_i,        // lengths
  input  block_t subkey_i,   // H, stable while not ready
  output block_t sum_o,      // while ready
  output logic   error_o     // an upset of the count
);
  localparam int unsigned Digit = 10;                         // bits a cycle
  localparam int unsigned Steps = (128 + Digit - 1) / Digit;  // 13
  localparam int unsigned Bits  = Steps * Digit;              // zeros in front of the highest power
  localparam int unsigned CountBits = $clog2(Steps + 1);
  localparam int Taps [4] = '{0, 1, 2, 7};                    // of the polynomial below x^128

  // Coefficient `i` of the polynomial is bit `i` here; in a byte the lowest coefficient is the highest bit (§6.3).
  function automatic logic [127:0] poly(block_t block);
    logic [127:0] out;
    for (int i = 0; i < 128; i++) out[i] = block[i/8][7-i%8];
    return out;
  endfunction

  logic [127:0]           sum_d, sum_q, subkey;
  logic [Bits-1:0]        factor_q;          // coefficients that are not multiplied yet, the next ones on top
  logic [CountBits-1:0]   count_d, count_q;  // steps that are left
  logic                   starts;

  assign subkey  = poly(subkey_i);
  assign ready_o = count_q == '0;
  assign starts  = valid_i & ready_o;

  // What the factor becomes, by a code of two bits: six inputs for each bit, a look-up table.
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

  // Horner's rule: the sum times x^Digit, and the next coefficients times the subkey, before they are reduced. A bit has
  // ten products: three sums of three, and the last one, which meets the sum. That is four look-up tables.
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

  // x^128 = x^7 + x^2 + x + 1.
  always_comb begin
    logic [127+Digit:0] rest;
    rest = product;
    for (int i = 127 + Digit; i >= 128; i--) begin
      for (int k = 0; k < 4; k++) rest[i-128+Taps[k]] ^= rest[i];
    end
    sum_d = rest[127:0];
  end

  // As many steps for every block and every subkey: the time tells neither of them. A clear has priority, at any step.
  always_comb begin
    count_d = count_q;
    if (clear_i)       count_d = '0;
    else if (starts)   count_d = CountBits'(Steps);
    else if (!ready_o) count_d = count_q - 1'b1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else         count_q <= count_d;
  end

  aes_copy #(.Bits(CountBits), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (count_d),
    .value_i(count_q),
    .differs_o(error_o)
  );

  // Data without a reset: the wipe after a reset clears it.
  always_ff @(posedge clk_i) begin
    if (clear_i || starts) sum_q <= '0;
    else if (!ready_o)     sum_q <= sum_d;
    factor_q <= taken ^ Bits'(poly(c_i) & {128{starts}});
  end

  for (genvar i = 0; i < 128; i++) begin : g_sum
    assign sum_o[i/8][7-i%8] = sum_q[i];
  end

  `ASSERT(ABlockTakesItsSteps_A, starts && !clear_i |=> count_q == CountBits'(Steps))
  `ASSERT(ASumIsOfWholeBlocks_A, !ready_o |=> !ready_o || $past(count_q) == 1 || $past(clear_i))
  `ASSERT(AClearIsOfAllBits_A, clear_i |=> sum_o == '0)
endmodule
