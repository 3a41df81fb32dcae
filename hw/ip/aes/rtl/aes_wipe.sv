// This module is the sequence of a wipe, and makes the pseudo-random words for it.
//
// Protocol: a wipe begins with a reset, and anew with each `request_i`. While `busy_o` is high, the engine
// writes `word_o` to the places that `index_o` names. In the middle part `loads_o` lets the cipher run on these
// words.
//
// Time: a wipe takes 64 cycles for the words of the key schedule and `LoadCycles` for all other registers, 96
// together.
//
// Words come from a shift register with linear feedback of 64 bits (x^64 + x^63 + x^61 + x^60 + 1), 32 steps in
// a cycle, to which entropy is added. They hide what was stored; they are neither keys nor masks.
//
// Hardening: the count has a copy, so a wipe that an upset cuts off is reported.

`include "assert.svh"

module aes_wipe #(
  // This part has to be longer than a block takes, so that the registers of results get a block.
  parameter int unsigned LoadCycles = 32,
  // `Hardened` = 0 removes the copy of the count.
  parameter bit          Hardened   = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // This is a word of the noise source, in the cycle in which the engine takes it.
  input  logic        entropy_valid_i,
  input  logic [31:0] entropy_i,

  // A request begins a wipe. The outputs below control its parts.
  input  logic        request_i,
  output logic        busy_o,
  // The registers of data take their inputs.
  output logic        loads_o,
  // The cipher is stopped in the first and in the last cycles.
  output logic        ends_o,
  // This is the index of a word of the key schedule, and of blocks.
  output logic [5:0]  index_o,
  output logic [31:0] word_o,
  // This is an upset of the count.
  output logic        error_o
);
  // The count stays here when the wipe has ended.
  localparam logic [7:0] End = 8'(64 + LoadCycles);

  logic [7:0]  count_d, count_q;
  logic [63:0] state_q;
  logic [31:0] fresh;

  // The first 64 cycles write the words of the schedule; in the rest the cipher works on what was written. It
  // is stopped in the last two cycles, so that it is idle in the end.
  assign busy_o  = count_q != End;
  assign loads_o = busy_o & (count_q >= 8'd64);
  assign ends_o  = busy_o & ((count_q < 8'd64) | (count_q >= End - 8'd2));
  assign index_o = count_q[5:0];
  assign word_o  = state_q[31:0];
  // These are 32 steps of the shift register at once.
  assign fresh   = state_q[63:32] ^ state_q[62:31] ^ state_q[60:29] ^ state_q[59:28];

  // A request begins anew, also in the middle of a wipe, because data may have been written since the last one.
  always_comb begin
    count_d = count_q;
    if (request_i)   count_d = '0;
    else if (busy_o) count_d = count_q + 1'b1;
  end

  // The copy detects an upset of the count, which could end a wipe too early.
  register_copy #(.Width(8), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (count_d),
    .value_i(count_q),
    .differs_o(error_o)
  );

  // A reset sets the count to the start of a wipe.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      state_q <= 64'h1;
    end else begin
      count_q <= count_d;
      // The register does not leave zero by itself, so zero is replaced by one.
      state_q <= {state_q[31:0], fresh ^ (entropy_i & {32{entropy_valid_i}})} | 64'(state_q == '0);
    end
  end

  // Every wipe counts through all of its cycles, so no word of the schedule is left out.
  `ASSERT(AWipeGoesToItsEnd_A, busy_o && !request_i |=> count_q == $past(count_q) + 8'd1)
  // A request is never lost, not even in the last cycle of a wipe.
  `ASSERT(ARequestIsTaken_A, request_i |=> busy_o)
  // The cipher loads only what was overwritten, so it cannot spread words of an old key.
  `ASSERT(TheWholeScheduleComesBeforeLoads_A, $rose(loads_o) |-> $past(index_o) == 6'd63)
  // A cipher that is not stopped would offer the result of a block that no message has.
  `ASSERT(TheCipherIsStoppedAtTheEnd_A, $fell(busy_o) |-> $past(ends_o) && $past(ends_o, 2))
  // A word that repeats would mean that the register does not shift: an attacker could predict what overwrites
  // the data.
  `ASSERT(NoWordComesTwice_A, busy_o && count_q != '0 |-> word_o != $past(word_o))
endmodule
