// This module makes the random bits for the masks. It is Trivium (ISO/IEC 29192-3 §5.3) with 128 steps in a
// cycle, whose state takes in every sample of the noise source.
//
// Protocol: a word of the source is taken in a cycle with `entropy_valid_i` and `entropy_ready_o`. `random_o`
// has new bits in every cycle, and they may be used while `ready_o` is high. `clear_i` asks for a new start-up
// test.
//
// Time: a word of the source is eight samples of four bits, so the health tests see all of its bits; it takes
// eight cycles. `ready_o` comes with the end of the start-up test: by then 1,024 samples are in the state of
// 288 bits. A step permutes the state, so nothing of them is lost, and later samples go on changing it.
//
// Reset: the state becomes a constant. Until `ready_o` the bits only hide what a wipe overwrites; they are not
// random.
//
// Hardening: a source that fails its tests, or falls silent, takes `ready_o` back, and the engine stops. The
// bits come from registers, so glitches of this module reach no share. Of its registers only the verdict of the
// health tests has a copy.

`include "assert.svh"

module aes_masks #(
  // After this many cycles without a word the source counts as failed.
  parameter int unsigned SilentCycles = 65536,
  // With `Hardened` = 0 the verdict of the health tests has no copy.
  parameter bit          Hardened     = 1'b1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // The source has to pass its start-up test again.
  input  logic         clear_i,

  // These are words of the noise source, taken when valid and ready are both high.
  input  logic         entropy_valid_i,
  output logic         entropy_ready_o,
  input  logic [31:0]  entropy_i,

  // The bits are random while `ready_o` is high.
  output logic         ready_o,
  // This is a pulse for each failure of the source.
  output logic         failed_o,
  // These bits are new in every cycle.
  output logic [127:0] random_o
);
  localparam int unsigned SilentBits = $clog2(SilentCycles + 1);
  // This is the fraction of pi: a constant that nobody has chosen for a purpose.
  localparam logic [287:0] Start = 288'h243f6a88_85a308d3_13198a2e_03707344_a4093822_299f31d0_082efa98_ec4e6c89_452821e6;

  // These are the registers s1 to s93, s94 to s177 and s178 to s288 of the standard; the newest bit of each is
  // bit 0.
  typedef struct packed {
    logic [92:0]  a;
    logic [83:0]  b;
    logic [110:0] c;
  } state_t;

  // This structure is the state after 64 steps, and their output with the bit of the first step in bit 63.
  typedef struct packed {
    state_t      state;
    logic [63:0] out;
  } steps_t;

  // This function makes 64 steps at once, which is possible because a new bit reaches its first tap after 66
  // steps.
  function automatic steps_t steps(state_t s);
    steps_t      next;
    logic [63:0] t1, t2, t3;
    t1 = s.a[65:2] ^ s.a[92:29];
    t2 = s.b[68:5] ^ s.b[83:20];
    t3 = s.c[65:2] ^ s.c[110:47];
    next.out     = t1 ^ t2 ^ t3;
    next.state.b = {s.b[19:0], t1 ^ (s.a[90:27] & s.a[91:28]) ^ s.b[77:14]};
    next.state.c = {s.c[46:0], t2 ^ (s.b[81:18] & s.b[82:19]) ^ s.c[86:23]};
    next.state.a = {s.a[28:0], t3 ^ (s.c[108:45] & s.c[109:46]) ^ s.a[68:5]};
    return next;
  endfunction

  logic [31:0]           word_q;
  // This counts the samples of the word that are left.
  logic [3:0]            left_d, left_q;
  logic [SilentBits-1:0] silent_d, silent_q;
  logic                  takes, samples, is_silent, healthy, test_failed;
  steps_t                first, second;
  state_t                state_q;
  logic [127:0]          random_q;

  // A sample is taken in each cycle until the word is used up; then the next word is asked for.
  assign samples         = left_q != '0;
  assign entropy_ready_o = ~samples;
  assign takes           = entropy_valid_i & entropy_ready_o;
  assign left_d          = takes ? 4'd8 : samples ? left_q - 4'd1 : left_q;

  // The health tests see every sample.
  entropy_health #(.Hardened(Hardened)) u_health (
    .clk_i, .rst_ni,
    .clear_i,
    .valid_i  (samples),
    .sample_i (word_q[3:0]),
    .healthy_o(healthy),
    .failed_o (test_failed)
  );

  // A source that delivers nothing fails in the same way as one that repeats itself, so no user of it waits for
  // ever. The counter stays at its end until a clear.
  assign is_silent = silent_q == SilentBits'(SilentCycles);
  assign silent_d  = clear_i ? '0 : is_silent ? silent_q : takes ? '0 : silent_q + 1'b1;
  assign ready_o   = healthy & ~is_silent;
  assign failed_o  = test_failed | (~is_silent & (silent_d == SilentBits'(SilentCycles)));

  // Two times 64 steps are made in a cycle.
  assign first    = steps(state_q);
  assign second   = steps(first.state);
  assign random_o = random_q;

  // Word, counters, state and output have a reset. In each cycle of a sample its four bits are added to the
  // state.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q   <= '0;
      left_q   <= '0;
      silent_q <= '0;
      state_q  <= Start;
      random_q <= Start[127:0];
    end else begin
      if (takes)        word_q <= entropy_i;
      else if (samples) word_q <= word_q >> 4;
      left_q   <= left_d;
      silent_q <= silent_d;
      state_q  <= second.state ^ {89'b0, word_q[3:0] & {4{samples}}, 195'b0};
      random_q <= {first.out, second.out};
    end
  end

  // The bits count as random only after a sample, namely the one that ends the start-up test.
  `ASSERT(NoBitsAreRandomBeforeTheStartUpTest_A, !ready_o |=> !ready_o || $past(samples))
  // A masked engine must not go on with bits that an attacker may predict because the source is cut off.
  `ASSERT(ASilentSourceHasFailed_A, is_silent |-> !ready_o)
  // A new word replaces none whose samples were not all tested.
  `ASSERT(AWordIsTestedWhole_A, takes |-> !samples)
  // A generator whose output stands still would make the masks worthless.
  `ASSERT(TheBitsAreNotStuck_A, 1'b1 |=> random_o != $past(random_o))
  // A word has eight samples of four bits. More would be tested although they are zeros of the shift.
  `ASSERT(AWordHasEightSamples_A, left_q <= 4'd8)
endmodule
