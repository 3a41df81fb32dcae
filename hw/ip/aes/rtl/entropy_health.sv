// Health tests of a noise source (SP 800-90B §4.4): repetition count and adaptive proportion, on samples of some bits.
//
// The cut-offs are parameters: 1 + 20/H for the repetition count (§4.4.1), the critical value of the binomial
// distribution for the proportion (§4.4.2), both for a false alarm in 2^20. A failure stays until `clear_i`, and
// the source is trusted after a start-up test of 1,024 samples (§4.3), two windows.

`include "assert.svh"

module entropy_health #(
  parameter int unsigned SampleBits       = 4,
  parameter int unsigned RepetitionCutoff = 21,   // one bit of entropy a sample
  parameter int unsigned ProportionCutoff = 325,  // of 512 samples with two values or more, one bit each
  parameter int unsigned Window           = 512
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,
  input  logic                  valid_i,
  input  logic [SampleBits-1:0] sample_i,
  output logic                  healthy_o,  // two windows have passed, and nothing has failed since
  output logic                  failed_o    // a pulse for each failure
);
  localparam int unsigned CountBits = $clog2(Window + 1);

  // `reference_q` is the first sample of a window, `equals_q` how often it came (§4.4.2).
  logic [SampleBits-1:0] last_q, reference_q;
  logic [CountBits-1:0]  repeats_d, repeats_q, equals_d, equals_q, index_d, index_q;
  logic                  there_q;            // a sample has come
  logic                  half_q, passed_q, failed_q, is_first, is_end, is_failure;  // `half_q`: one window has passed

  assign is_first  = index_q == '0;
  assign is_end    = index_q == CountBits'(Window - 1);
  assign repeats_d = (there_q && sample_i == last_q) ? repeats_q + CountBits'(repeats_q != '1) : CountBits'(1);
  assign equals_d  = is_first ? CountBits'(1) : equals_q + CountBits'(sample_i == reference_q);
  assign index_d   = is_end ? '0 : index_q + 1'b1;

  // Both tests see every sample, also those between a failure and the clear that follows it.
  assign is_failure = valid_i & ((repeats_d >= CountBits'(RepetitionCutoff)) |
                                 (equals_d >= CountBits'(ProportionCutoff)));
  assign failed_o   = is_failure;
  assign healthy_o  = passed_q & ~failed_q;

  // Counts and verdict. The last sample and the first of a window are kept, and no port shows them: masks may be made of them.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {there_q, half_q, passed_q, failed_q}  <= '0;
      {last_q, reference_q}                  <= '0;
      {repeats_q, equals_q, index_q}         <= '0;
    end else if (clear_i) begin
      // A failed source has to pass a window again.
      {there_q, half_q, passed_q, failed_q}  <= '0;
      {repeats_q, equals_q, index_q}         <= '0;
    end else if (valid_i) begin
      there_q   <= 1'b1;
      last_q    <= sample_i;
      repeats_q <= repeats_d;
      equals_q  <= equals_d;
      index_q   <= index_d;
      if (is_first)   reference_q <= sample_i;
      if (is_failure)  failed_q <= 1'b1;
      else if (is_end) {passed_q, half_q} <= {passed_q | half_q, 1'b1};
    end
  end

  `ASSERT(AFailureIsNotForgotten_A, failed_q && !clear_i |=> failed_q && !healthy_o)
  `ASSERT(NoSampleIsTrustedBeforeAWindow_A, !healthy_o |=> !healthy_o || $past(is_end && valid_i))
  `ASSERT(AFailureIsReported_A, !failed_q |=> !failed_q || $past(failed_o))
  `ASSERT(AClearTrustsNothing_A, clear_i |=> !healthy_o)
  // §4.4.2, steps 1 to 4: the sample that is counted is the first of its window, and counts itself.
  `ASSERT(AWindowCountsItsFirstSample_A, valid_i && is_first && !clear_i |=> equals_q == CountBits'(1))
endmodule
