// GHASH (SP 800-38D §6.4): the product in GF(2^128), some bits a cycle, the highest power first.
//
// A block takes 128 / Digit cycles, rounded up, and one to add it: with ten bits the 14 cycles of a block of AES-256.

`include "assert.svh"

module aes_ghash
  import aes_pkg::*;
#(
  parameter int unsigned Digit = 10
) (
  input  logic   clk_i,
  input  logic   rst_ni,

  input  logic   clear_i,    // the sum becomes zero
  input  logic   valid_i,
  output logic   ready_o,
  input  block_t block_i,
  input  block_t subkey_i,
  output block_t sum_o       // while ready
);
  localparam int unsigned Steps = (128 + Digit - 1) / Digit;
  localparam int unsigned Bits  = Steps * Digit;
  localparam int unsigned CountBits = $clog2(Steps + 1);
  localparam int unsigned Threes = (Digit + 2) / 3;
  localparam int Taps [4] = '{0, 1, 2, 7};

  // Coefficient `i` of the polynomial is bit `i` here; in a byte the lowest coefficient is the highest bit (§6.3).
  function automatic logic [127:0] poly(block_t block);
    logic [127:0] out;
    for (int i = 0; i < 128; i++) out[i] = block[i/8][7-i%8];
    return out;
  endfunction

  logic [127:0]           sum_d, sum_q, subkey;
  logic [Bits-1:0]        factor_q;
  logic [CountBits-1:0]   count_q;
  logic                   starts;

  assign subkey  = poly(subkey_i);
  assign ready_o = count_q == '0;
  assign starts  = valid_i & ready_o;

  // Horner's rule: the sum times x^Digit, and the next coefficients times the subkey, before they are reduced. Sums of
  // three products are one look-up table each (`aes_three`), four for a bit with ten coefficients.
  logic [Bits-1:Bits-Digit]   coefficients;
  logic [127+Digit:0]         product;
  assign coefficients = factor_q[Bits-1:Bits-Digit];

  for (genvar i = 0; i < 128 + Digit; i++) begin : g_product
    logic [Threes:0] part;
    for (genvar t = 0; t < Threes; t++) begin : g_three
      logic [2:0] a, b;
      for (genvar k = 0; k < 3; k++) begin : g_term
        localparam int J = 3 * t + k;
        assign a[k] = (J < Digit) & coefficients[Bits-Digit+(J % Digit)];
        assign b[k] = (i >= J && i - J < 128) & subkey[(i - J) & 127];
      end
      if (3 * t + 2 < Digit) begin : g_kept
        aes_three u_three (.a_i(a), .b_i(b), .out_o(part[t]));
      end else begin : g_rest
        assign part[t] = ^(a & b);
      end
    end
    assign part[Threes] = (i >= Digit) & sum_q[(i - Digit) & 127];
    assign product[i]   = ^part;
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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      count_q <= '0;
    else if (clear_i) count_q <= '0;
    else if (starts)  count_q <= CountBits'(Steps);
    else if (!ready_o) count_q <= count_q - 1'b1;
  end

  // Data without a reset: the wipe after a reset clears it.
  always_ff @(posedge clk_i) begin
    if (clear_i || starts) sum_q <= '0;
    else if (!ready_o)     sum_q <= sum_d;
    if (starts)            factor_q <= Bits'(poly(sum_o) ^ poly(block_i));
    else                   factor_q <= factor_q << Digit;
  end

  for (genvar i = 0; i < 128; i++) begin : g_sum
    assign sum_o[i/8][7-i%8] = sum_q[i];
  end

  `ASSERT(ABlockTakesItsSteps_A, starts && !clear_i |=> count_q == CountBits'(Steps))
  `ASSERT(ASumIsOfWholeBlocks_A, !ready_o |=> !ready_o || $past(count_q) == 1 || $past(clear_i))
endmodule
