// This module has the health tests of a noise source (SP 800-90B §4.4): repetition count and adaptive
// proportion, on samples of `SampleBits` bits.
//
// Protocol: a sample is a cycle with `valid_i`. `failed_o` is a pulse in the cycle of the sample that fails.
// `healthy_o` is high after the start-up test of 1,024 samples, two windows (§4.3), until a failure. A failure
// stays until `clear_i`, and the start-up test begins anew then.
//
// Reset: nothing is trusted, and the counts are zero. Hardening: the verdict and the place in a window have a
// copy, and an upset of them counts as a failure of the source. The counts of both tests have none: an upset of
// one of them delays a failure by a window at most, or makes one. `Hardened` = 0 removes the copy.

`include "assert.svh"

module entropy_health #(
  // A sample has this many bits.
  parameter int unsigned SampleBits       = 4,
  // The cut-offs are for a false alarm in 2^20 samples. The repetition count has 1 + 20/H (§4.4.1), here for
  // one bit of entropy in a sample.
  parameter int unsigned RepetitionCutoff = 21,
  // The adaptive proportion has the critical value of the binomial distribution (§4.4.2), here for windows of
  // 512 samples with one bit of entropy each.
  parameter int unsigned ProportionCutoff = 325,
  // The adaptive proportion looks at windows of this many samples.
  parameter int unsigned Window           = 512,
  // With `Hardened` = 0 there is no copy.
  parameter bit          Hardened         = 1'b1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // A clear forgets all samples and a failure.
  input  logic                  clear_i,
  input  logic                  valid_i,
  input  logic [SampleBits-1:0] sample_i,
  // Two windows have passed, and nothing has failed since.
  output logic                  healthy_o,
  // This is a pulse for each failure.
  output logic                  failed_o
);
  localparam int unsigned CountBits = $clog2(Window + 1);

  // This structure is what decides about trust.
  typedef struct packed {
    // A sample has come since the last clear, so there is one to compare with.
    logic                 there;
    // `half` says that one window has passed, `passed` that two have.
    logic                 half;
    logic                 passed;
    logic                 failed;
    // This is the place of the next sample in its window.
    logic [CountBits-1:0] index;
  } trust_t;

  trust_t                trust_d, trust_q;
  // `reference_q` is the first sample of a window, and `equals_q` counts how often it came in the window
  // (§4.4.2).
  logic [SampleBits-1:0] last_q, reference_q;
  logic [CountBits-1:0]  repeats_d, repeats_q, equals_d, equals_q;
  logic                  is_first, is_end, is_failure, copy_differs, differs;

  assign is_first  = trust_q.index == '0;
  assign is_end    = trust_q.index == CountBits'(Window - 1);
  // The count of repetitions stays at its greatest value instead of wrapping around.
  assign repeats_d = (trust_q.there && sample_i == last_q) ? repeats_q + CountBits'(repeats_q != '1) : CountBits'(1);
  assign equals_d  = is_first ? CountBits'(1) : equals_q + CountBits'(sample_i == reference_q);

  // Both tests see every sample, also those between a failure and the clear that follows it.
  assign is_failure = valid_i & ((repeats_d >= CountBits'(RepetitionCutoff)) |
                                 (equals_d >= CountBits'(ProportionCutoff)));
  assign failed_o   = is_failure | differs;
  // An upset is not trusted in its own cycle either.
  assign healthy_o  = trust_q.passed & ~trust_q.failed & ~differs;

  // A window without a failure brings trust, and a source that failed has to pass the start-up test again.
  always_comb begin
    trust_d = trust_q;
    if (valid_i) begin
      trust_d.there = 1'b1;
      trust_d.index = is_end ? '0 : trust_q.index + 1'b1;
      if (is_end && !is_failure) {trust_d.passed, trust_d.half} = {trust_q.passed | trust_q.half, 1'b1};
    end
    if (failed_o) trust_d.failed = 1'b1;
    if (clear_i)  trust_d        = '0;
  end

  register_copy #(.Width($bits(trust_t)), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (trust_d),
    .value_i(trust_q),
    .differs_o(copy_differs)
  );
  assign differs = Hardened & copy_differs;

  // These registers are verdict and counts. The last sample and the first one of a window are kept, but no port
  // shows them, because masks may be made of them.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trust_q                <= '0;
      {last_q, reference_q}  <= '0;
      {repeats_q, equals_q}  <= '0;
    end else begin
      trust_q <= trust_d;
      if (clear_i) begin
        {repeats_q, equals_q} <= '0;
      end else if (valid_i) begin
        last_q    <= sample_i;
        repeats_q <= repeats_d;
        equals_q  <= equals_d;
        if (is_first) reference_q <= sample_i;
      end
    end
  end

  // A failure cannot be overlooked: only a clear takes it back.
  `ASSERT(AFailureIsNotForgotten_A, trust_q.failed && !clear_i && !differs |=> (trust_q.failed || differs) && !healthy_o)
  // The source is trusted only at the end of a window without a failure.
  `ASSERT(NoSampleIsTrustedBeforeAWindow_A, !healthy_o && !differs |=> !healthy_o || $past(is_end && valid_i))
  // Software learns of every failure by a pulse.
  `ASSERT(AFailureIsReported_A, !trust_q.failed && !differs |=> !trust_q.failed || $past(failed_o) || differs)
  // An upset must not make a source healthy, in no cycle.
  `ASSERT(AnUpsetIsAFailure_A, differs |-> !healthy_o && failed_o)
  // After a clear the source has to prove itself again.
  `ASSERT(AClearTrustsNothing_A, clear_i |=> !healthy_o)
  // The sample that is counted is the first one of its window, and it counts itself (§4.4.2, steps 1 to 4).
  `ASSERT(AWindowCountsItsFirstSample_A, valid_i && is_first && !clear_i |=> equals_q == CountBits'(1))
  // A sample that comes too often in a row ends the trust (§4.4.1).
  `ASSERT(ARepetitionEndsTheTrust_A, valid_i && repeats_d >= CountBits'(RepetitionCutoff) |=> !healthy_o)
  // So does one that comes too often in a window (§4.4.2).
  `ASSERT(AProportionEndsTheTrust_A, valid_i && equals_d >= CountBits'(ProportionCutoff) |=> !healthy_o)
  // The start-up test has 1,024 samples, which are two windows (§4.3).
  `ASSERT(TrustTakesTwoWindows_A, $rose(trust_q.passed) && !differs |-> $past(trust_q.half))
endmodule
