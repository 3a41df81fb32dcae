// A noise source of simulations: numbers that follow from a seed, so that cycles repeat. It is no source for a chip.
//
// The next number is made when one is taken, so that waiting costs nothing. A source that is stuck delivers one number for
// ever, one that is absent none.

`include "machine_assert.svh"

module noise_model (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Constant.
  input  logic [31:0] seed_i,
  input  logic        is_stuck_i,
  input  logic        is_absent_i,

  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] noise_o
);
  // An odd number, so that all counts have different products.
  localparam logic [31:0] Step  = 32'h9e37_79b9;
  localparam logic [31:0] Stuck = 32'h5a5a_5a5a;

  logic        there_q;
  logic [31:0] count_q, number_q;

  // Products and shifts mix each bit into all others.
  function automatic logic [31:0] mixed(logic [31:0] number);
    logic [31:0] x;
    x = number;
    x = (x ^ (x >> 16)) * 32'h21f0_aaad;
    x = (x ^ (x >> 15)) * 32'h735a_2d97;
    return x ^ (x >> 15);
  endfunction

  assign valid_o = there_q & ~is_absent_i;
  assign noise_o = is_stuck_i ? Stuck : number_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      there_q  <= 1'b0;
      count_q  <= '0;
      number_q <= '0;
    end else if (!there_q || (valid_o && ready_i)) begin
      there_q  <= 1'b1;
      count_q  <= count_q + Step;
      number_q <= mixed(mixed(seed_i) + count_q);
    end
  end

  `MACHINE_ASSERT(ASampleWaits_A, valid_o && !ready_i |=> valid_o && $stable(noise_o))
endmodule
