// A noise source for simulations: xorshift of 32 bits (Marsaglia, "Xorshift RNGs", 2003) from a
// seed, so that cycles repeat. It is no source for a chip.
//
// A number is offered from the second cycle after reset on, with valid and ready, and stays until
// it is taken. The next number is computed when one is taken, so there is one a cycle. A stuck
// source delivers the same number for ever, and an absent one delivers none.

`include "machine_assert.svh"

module noise_model (
  input  logic        clk_i,
  input  logic        rst_ni,
  // The seed, and faults of the source. All are constant during a run.
  input  logic [31:0] seed_i,
  input  logic        is_stuck_i,
  input  logic        is_absent_i,

  // Samples.
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] noise_o
);
  // The number of a stuck source.
  localparam logic [31:0] Stuck = 32'h5a5a_5a5a;

  logic        there_q;
  logic [31:0] number_q;

  // The next number of the sequence.
  function automatic logic [31:0] after(logic [31:0] number);
    logic [31:0] x;
    x = number ^ (number << 13);
    x = x ^ (x >> 17);
    return x ^ (x << 5);
  endfunction

  assign valid_o = there_q & ~is_absent_i;
  assign noise_o = is_stuck_i ? Stuck : number_q;

  // The first number follows from the seed, in the cycle after reset.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      there_q  <= 1'b0;
      number_q <= '0;
    end else if (!there_q) begin
      there_q  <= 1'b1;
      // A seed of zero is replaced by one, because zero would stay zero.
      number_q <= after(seed_i | 32'(seed_i == '0));
    end else if (valid_o && ready_i) begin
      number_q <= after(number_q);
    end
  end

  // A sample does not change until it is taken.
  `MACHINE_ASSERT(ASampleWaits_A, valid_o && !ready_i |=> valid_o && $stable(noise_o))
endmodule
