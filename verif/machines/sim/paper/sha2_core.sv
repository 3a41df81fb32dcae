// `sha2_core` with the time of the engine in the fifth paper: a block takes 80 cycles, from the command to the next.
//
// A simulated machine of the lab has this file in the place of `hw/ip/sha2/rtl/sha2_core.sv`, which it knows as
// `sha2_core_at_own_speed`. Nothing else instantiates it. If the last word of a block comes more than 20 cycles after the
// command, the next command comes 61 cycles after that word.

`include "assert.svh"

module sha2_core
  import sha2_pkg::*;
#(
  parameter int unsigned WordBits       = 32,
  parameter int unsigned RoundsPerCycle = 1,
  parameter bit          Overlaps       = 1'b0,  // a core of another engine, which keeps its own speed
  parameter bit          Hardened       = 1'b1,
  localparam int unsigned LaneBits      = WordBits * RoundsPerCycle
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     cmd_valid_i,
  output logic                     cmd_ready_o,
  input  cmd_e                     cmd_i,
  input  logic                     is_384_i,
  input  logic                     wipe_i,
  output logic                     idle_o,
  output logic                     error_o,
  input  logic                     msg_valid_i,
  output logic                     msg_ready_o,
  input  logic [LaneBits-1:0]      msg_i,
  input  logic                     state_valid_i,
  output logic                     state_ready_o,
  input  logic [1:0][LaneBits-1:0] state_i,
  output logic                     state_valid_o,
  input  logic                     state_ready_i,
  output logic [1:0][LaneBits-1:0] state_o
);
  localparam int unsigned Words = 16 / RoundsPerCycle;
  // From a command to the next, and from the last word of a block to the next command.
  localparam logic [6:0]  Block = 7'd79, Rounds = 7'd60;

  // The remainder of the time of a block, and the next word of the block.
  logic [6:0]               left_q;
  logic [$clog2(Words)-1:0] word_q;
  logic                     may_begin, begins, takes, is_ready;

  assign may_begin   = Overlaps | (left_q == '0);
  assign cmd_ready_o = is_ready & may_begin;
  assign begins      = cmd_valid_i & cmd_ready_o & (cmd_i != CmdSave);
  assign takes       = msg_valid_i & msg_ready_o;

  // A wipe ends a block, and its time with it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q <= '0;
      word_q <= '0;
    end else if (wipe_i) begin
      left_q <= '0;
      word_q <= '0;
    end else begin
      left_q <= left_q - 7'(left_q != '0);
      if (begins)                                                left_q <= Block;
      else if (takes && word_q == '1 && left_q < Rounds)         left_q <= Rounds;
      word_q <= word_q + ($clog2(Words))'(takes);
    end
  end

  sha2_core_at_own_speed #(
    .WordBits      (WordBits),
    .RoundsPerCycle(RoundsPerCycle),
    .Overlaps      (Overlaps),
    .Hardened      (Hardened)
  ) u_core (
    .clk_i, .rst_ni,
    .cmd_valid_i  (cmd_valid_i & may_begin),
    .cmd_ready_o  (is_ready),
    .cmd_i, .is_384_i, .wipe_i, .idle_o, .error_o,
    .msg_valid_i, .msg_ready_o, .msg_i,
    .state_valid_i, .state_ready_o, .state_i,
    .state_valid_o, .state_ready_i, .state_o
  );

  `ASSERT(NothingBeginsTooEarly_A, cmd_valid_i && cmd_ready_o && !Overlaps |-> left_q == '0)
  `ASSERT(ABlockTakesItsTime_A, begins && !wipe_i |=> left_q == Block)
endmodule
