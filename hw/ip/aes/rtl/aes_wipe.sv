// The sequence of a wipe, and the pseudo-random words for it.
//
// It begins with a reset, and anew with each request. Words come from a shift register with linear feedback of 64 bits
// (x^64 + x^63 + x^61 + x^60 + 1), 32 steps a cycle, into which entropy is added. They hide what was stored; they are no
// keys and no masks.

`include "assert.svh"

module aes_wipe (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        entropy_valid_i,
  input  logic [31:0] entropy_i,

  input  logic        request_i,
  output logic        busy_o,
  output logic        loads_o,    // the registers of data take their inputs
  output logic        ends_o,     // the last cycles, in which the cipher is stopped
  output logic [5:0]  index_o,    // of a word of the key schedule, and of blocks
  output logic [31:0] word_o
);
  logic [6:0]  count_q;
  logic [63:0] state_q;
  logic [31:0] fresh;

  // 64 words of the schedule, then 32 cycles in which the cipher works on what was written.
  assign busy_o  = count_q != 7'd96;
  assign loads_o = busy_o & (count_q[6:5] == 2'b10);
  assign ends_o  = busy_o & ((count_q[6:5] != 2'b10) | (count_q[4:1] == '1));
  assign index_o = count_q[5:0];
  assign word_o  = state_q[31:0];
  assign fresh   = state_q[63:32] ^ state_q[62:31] ^ state_q[60:29] ^ state_q[59:28];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      state_q <= 64'h1;
    end else begin
      if (request_i)   count_q <= '0;
      else if (busy_o) count_q <= count_q + 1'b1;
      // Zero is the state that it does not leave.
      state_q <= {state_q[31:0], fresh ^ (entropy_i & {32{entropy_valid_i}})} | 64'(state_q == '0);
    end
  end

  `ASSERT(AWipeGoesToItsEnd_A, busy_o && !request_i |=> count_q == $past(count_q) + 7'd1)
  `ASSERT(ARequestIsTaken_A, request_i |=> busy_o)
endmodule
