// The sequence of a wipe, and the pseudo-random words for it.
//
// It begins with a reset, and anew with each request. Words come from a shift register with linear feedback of 64 bits
// (x^64 + x^63 + x^61 + x^60 + 1), 32 steps a cycle, into which entropy is added. They hide what was stored; they are no
// keys and no masks.

`include "assert.svh"

module aes_wipe #(
  parameter int unsigned LoadCycles = 32,  // longer than a block, so that registers of results get one
  parameter bit          Hardened   = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        entropy_valid_i,
  input  logic [31:0] entropy_i,

  input  logic        request_i,
  output logic        busy_o,
  output logic        loads_o,    // the registers of data take their inputs
  output logic        ends_o,     // the last cycles, in which the cipher is stopped
  output logic [5:0]  index_o,    // of a word of the key schedule, and of blocks
  output logic [31:0] word_o,
  output logic        error_o     // an upset
);
  localparam logic [7:0] End = 8'(64 + LoadCycles);

  logic [7:0]  count_d, count_q;
  logic [63:0] state_q;
  logic [31:0] fresh;

  // 64 words of the schedule, then cycles in which the cipher works on what was written.
  assign busy_o  = count_q != End;
  assign loads_o = busy_o & (count_q >= 8'd64);
  assign ends_o  = busy_o & ((count_q < 8'd64) | (count_q >= End - 8'd2));
  assign index_o = count_q[5:0];
  assign word_o  = state_q[31:0];
  assign fresh   = state_q[63:32] ^ state_q[62:31] ^ state_q[60:29] ^ state_q[59:28];

  // A request begins anew, also in the middle: what was written since the last one is overwritten as well.
  always_comb begin
    count_d = count_q;
    if (request_i)   count_d = '0;
    else if (busy_o) count_d = count_q + 1'b1;
  end

  aes_copy #(.Bits(8), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (1'b1),
    .next_i (count_d),
    .value_i(count_q),
    .differs_o(error_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      state_q <= 64'h1;
    end else begin
      count_q <= count_d;
      // Zero is the state that it does not leave.
      state_q <= {state_q[31:0], fresh ^ (entropy_i & {32{entropy_valid_i}})} | 64'(state_q == '0);
    end
  end

  `ASSERT(AWipeGoesToItsEnd_A, busy_o && !request_i |=> count_q == $past(count_q) + 8'd1)
  `ASSERT(ARequestIsTaken_A, request_i |=> busy_o)
  `ASSERT(TheWholeScheduleComesBeforeLoads_A, $rose(loads_o) |-> $past(index_o) == 6'd63)
  // A cipher that is not stopped would offer a result of a block that no message has.
  `ASSERT(TheCipherIsStoppedAtTheEnd_A, $fell(busy_o) |-> $past(ends_o) && $past(ends_o, 2))
  // The same word again would be a register that does not shift: what it overwrites could be told.
  `ASSERT(NoWordComesTwice_A, busy_o && count_q != '0 |-> word_o != $past(word_o))
endmodule
