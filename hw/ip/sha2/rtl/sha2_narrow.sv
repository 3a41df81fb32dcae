// This module gives words of eight bytes in halves, for an engine that takes four bytes in a cycle.
//
// Protocol: both sides are valid/ready handshakes, and the word has to stay on its wires until its last half is
// taken. The first byte is the highest one. A word of at most four bytes, which only the last word of a message
// may have, is one half; every other word is two. The last half is marked, also if it has no byte.
//
// Time: a half takes a cycle. All paths are combinational, except for the register that says which half is due.
//
// Reset: the first half is due. Nothing is hardened here.

`include "assert.svh"

module sha2_narrow (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Nothing more comes of this message, so the next word begins with its first half.
  input  logic        flush_i,

  // These are words of eight bytes.
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [63:0] data_i,
  input  logic        last_i,
  input  logic [3:0]  bytes_i,  // A word has 0 to 8 bytes, and exactly 8 before the last one.

  // These are halves.
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] data_o,
  output logic        last_o,
  output logic [2:0]  bytes_o   // A half has 0 to 4 bytes.
);
  logic is_second_q, has_second, is_end;

  // A word that is not the last one has eight bytes, and so two halves.
  assign has_second = bytes_i > 4'd4;
  assign is_end     = is_second_q | ~has_second;
  // The word stays on its wires until its last half is taken.
  assign valid_o    = valid_i;
  assign ready_o    = ready_i & is_end;
  assign data_o     = is_second_q ? data_i[31:0] : data_i[63:32];
  assign last_o     = last_i & is_end;
  // A second half has one to four bytes: the five to eight of its word, less four.
  assign bytes_o    = is_second_q ? 3'(bytes_i - 4'd4) : has_second ? 3'd4 : bytes_i[2:0];

  // The next word begins with its first half, also after a message that broke off.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) is_second_q <= 1'b0;
    else if (flush_i) is_second_q <= 1'b0;
    else if (valid_o && ready_i) is_second_q <= ~is_end;
  end

  // A word with less than eight bytes in the middle of a message would be an error of the source.
  `ASSERT(WordsBeforeTheLastAreWhole_A, valid_i && !last_i |-> bytes_i == 4'd8)
  // A word is taken with its last half and not before, or bytes would be lost.
  `ASSERT(AWordIsTakenWithItsLastHalf_A, valid_i && ready_o |-> valid_o && ready_i && is_end)
  // A second half without bytes would be an empty word in the middle of a message.
  `ASSERT(ASecondHalfFollowsAFirst_A, is_second_q && valid_i |-> bytes_i > 4'd4)
  // A half that waits stays the same half.
  `ASSERT(AHalfWaitsForReady_A, valid_o && !ready_i && !flush_i |=> $stable(is_second_q))
  // After a flush between two halves the next message begins with a first half, or its first four bytes would be lost.
  `ASSERT(AFlushEndsAWord_A, flush_i |=> !is_second_q)
endmodule
