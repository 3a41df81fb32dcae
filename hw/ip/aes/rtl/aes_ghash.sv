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

  // Coefficient `i` of the polynomial is bit `i` here; in a byte the lowest coefficient is the highest bit (§6.3).
  function automatic logic [127:0] poly(block_t block);
    logic [127:0] out;
    for (int i = 0; i < 128; i++) out[i] = block[i/8][7-i%8];
    return out;
  endfunction
  function automatic logic [127:0] times_x(logic [127:0] p);
    return {p[126:0], 1'b0} ^ (128'h87 & {128{p[127]}});
  endfunction

  logic [127:0]           sum_d, sum_q, subkey;
  logic [Bits-1:0]        factor_q;
  logic [CountBits-1:0]   count_q;
  logic                   starts;

  assign subkey  = poly(subkey_i);
  assign ready_o = count_q == '0;
  assign starts  = valid_i & ready_o;

  // Horner's rule: the sum times x^Digit, and the next coefficients times the subkey.
  always_comb begin
    logic [127:0] power;
    sum_d = sum_q;
    power = subkey;
    for (int i = 0; i < Digit; i++) sum_d = times_x(sum_d);
    for (int i = 0; i < Digit; i++) begin
      sum_d ^= power & {128{factor_q[Bits-Digit+i]}};
      power  = times_x(power);
    end
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
