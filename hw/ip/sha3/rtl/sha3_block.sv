// This module collects the words of a message into a block, and pads the last one (FIPS 202 §5.1, §B.2).
//
// Protocol: `clear_i` with `start_i` begins a message. Words are a valid/ready handshake. `valid_o` offers a
// whole block until `take_i`; a word may enter the next block in that cycle.
//
// Time: a word is in its lane a cycle after it came. Only the number of bytes, which is public, decides how
// many cycles the end takes: at most two. Lanes that no word reaches are zero, because a block is cleared when
// it is taken; the padding writes only its first and its last byte.
//
// Reset: there is no message; the lanes have no reset, as the control begins with a wipe. Hardening: the states
// differ in at least three bits, and an illegal one, or an error of the control, ends in StError until reset.
// The lane and the flags have no copy.

`include "assert.svh"

module sha3_block
  import sha3_pkg::*;
#(
  // `Hardened` = 0 has illegal states end in StDone.
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // With a clear this begins a message.
  input  logic       start_i,
  // A clear empties the block, and ends the message.
  input  logic       clear_i,
  // This is an error of the control.
  input  logic       fail_i,
  // An error stays until reset.
  output logic       error_o,

  // These belong to the function of the message, and are stable until its end.
  input  logic [7:0] suffix_i,
  input  logic [4:0] last_lane_i,

  // These are the words of the message.
  input  logic       msg_valid_i,
  output logic       msg_ready_o,
  input  lane_t      msg_i,
  input  logic       msg_last_i,
  input  logic [3:0] msg_bytes_i,

  // This is the block.
  output logic       valid_o,
  // The block ends the message.
  output logic       final_o,
  input  logic       take_i,
  output lane_t      block_o [RateLanes]
);
  // The states have the same code as those of `sha3_control`.
  typedef enum logic [5:0] {
    // StMessage takes words of the message, and ends with the last one.
    StMessage = 6'b001011,
    // StSuffix writes a word with the suffix, for which the last word of the message had no room.
    StSuffix  = 6'b010101,
    // StEnd writes the last byte of the padding, which is in another word than the first one.
    StEnd     = 6'b011110,
    // StDone waits for a start.
    StDone    = 6'b100110,
    // StError waits for a reset.
    StError   = 6'b110011
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StDone), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic [4:0] lane_d, lane_q, lane;
  logic       full_d, full_q, final_d, final_q;

  logic in_message, in_suffix, in_end;
  assign in_message = state_q == StMessage;
  assign in_suffix  = state_q == StSuffix;
  assign in_end     = state_q == StEnd;
  assign error_o    = ~(in_message | in_suffix | in_end | (state_q == StDone));

  // A word may enter the next block in the cycle in which this one is taken.
  logic has_room, moves, is_last_lane, has_suffix, ends;
  assign has_room     = ~full_q | take_i;
  assign msg_ready_o  = in_message & has_room;
  assign moves        = has_room & ((in_message & msg_valid_i) | in_suffix | in_end);
  assign lane         = in_end ? last_lane_i : lane_q;
  assign is_last_lane = lane == last_lane_i;
  // `has_suffix` says that the word has the first byte of the padding, and `ends` that it has the last one.
  assign has_suffix   = in_suffix | (in_message & msg_last_i & ~msg_bytes_i[3]);
  assign ends         = in_end | (has_suffix & is_last_lane);

  // Each byte is one of the message, the suffix, or zero; the last byte of a block may have the end of the
  // padding as well.
  lane_t word;
  for (genvar b = 0; b < 8; b++) begin : g_byte
    logic is_message, is_suffix;
    assign is_message = in_message & (~msg_last_i | (msg_bytes_i > 4'(b)));
    assign is_suffix  = (in_message & msg_last_i & (msg_bytes_i == 4'(b))) | (in_suffix & (b == 0));
    assign word[8*b +: 8] = ({8{is_message}} & msg_i[8*b +: 8]) | ({8{is_suffix}} & suffix_i) |
                            {(b == 7) & ends, 7'b0};
  end

  for (genvar l = 0; l < RateLanes; l++) begin : g_lane
    logic loads, clears;
    assign loads  = moves & (lane == 5'(l));
    // The first lane may take a word of the next block at once.
    assign clears = clear_i | (take_i & ((l != 0) | ~loads));
    // The lanes have no reset, because the reset begins with a wipe.
    always_ff @(posedge clk_i) begin
      if (clears)     block_o[l] <= '0;
      else if (loads) block_o[l] <= word;
    end
  end

  // The message is followed by a word for the suffix if it had no room, and by one for the end if that is
  // another word.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StMessage: if (moves && msg_last_i) begin
        state_d = !has_suffix ? StSuffix : (ends ? StDone : StEnd);
      end
      StSuffix: if (moves) state_d = ends ? StDone : StEnd;
      StEnd:    if (moves) state_d = StDone;
      StDone:   state_d = StDone;
      StError:  state_d = StError;
      default:  state_d = Hardened ? StError : StDone;
    endcase
    if (clear_i && !error_o) state_d = start_i ? StMessage : StDone;
    if (fail_i && Hardened)  state_d = StError;
  end

  // This block follows where the next word goes, and whether the block is complete.
  always_comb begin
    lane_d  = lane_q;
    full_d  = full_q & ~take_i;
    final_d = final_q;
    if (moves) begin
      lane_d  = is_last_lane ? '0 : lane + 1'b1;
      full_d  = is_last_lane;
      final_d = ends;
    end
    if (clear_i) begin
      lane_d  = '0;
      full_d  = 1'b0;
      final_d = 1'b0;
    end
  end

  // After a reset there is no message.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lane_q  <= '0;
      full_q  <= 1'b0;
      final_q <= 1'b0;
    end else begin
      lane_q  <= lane_d;
      full_q  <= full_d;
      final_q <= final_d;
    end
  end

  assign valid_o = full_q & ~error_o;
  assign final_o = final_q;

  // A block that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Nobody gives a word or takes a block in the error.
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !msg_ready_o && !valid_o)
  // The number of bytes of the last word fits the word.
  `ASSERT(BytesFitTheWord_A, msg_valid_i && msg_last_i |-> msg_bytes_i <= 4'd8)
  // A block that waits is not mixed with the words of the next one.
  `ASSERT(ABlockIsNotOverwritten_A, moves && full_q |-> take_i)
  // A message without the end of its padding could be extended, or have the digest of another message.
  `ASSERT(AMessageEndsPadded_A, valid_o && final_o |-> block_o[last_lane_i][63])
  // Nothing follows the end of a message.
  `ASSERT(NothingFollowsTheEnd_A, state_q == StDone |-> !moves)
  // A word beyond the rate would reach the capacity, on which the security rests.
  `ASSERT(ALaneIsOfTheRate_A, moves |-> lane <= last_lane_i)
  // A block that has its last lane is offered; otherwise its words would be mixed with the next ones.
  `ASSERT(ACompleteBlockIsFull_A, moves && is_last_lane && !clear_i |=> full_q)
  // Lanes are filled in order, so each word has one place.
  `ASSERT(LanesAreFilledInOrder_A, moves && !is_last_lane && !clear_i |=> lane_q == $past(lane) + 5'd1)
  // Nothing of a block is left in the next one, whose padding relies on zeros.
  `ASSERT(ATakenBlockIsCleared_A, take_i && !moves |=> block_o[0] == '0)
endmodule
