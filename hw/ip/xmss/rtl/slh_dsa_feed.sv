// Makes the block of a hash, a lane of 64 bits at a time (FIPS 205 §11.2.1): address, values,
// padding.
//
// The compressed address has 22 bytes, so values are six bytes off the lanes. The block is made of
// halves that begin two bytes before a lane: lane k is the last six bytes of half k - 1 and the
// first two bytes of half k. So halves of values, of the address and of the padding pass through
// the same two registers. Half -1 is loaded first.
//
// A lane leaves in a cycle of `lane_valid_o` and `lane_ready_i`, at most one a cycle; a block takes
// nine halves. Reset and `wipe_i` drop the block. Nothing here is hardened: a wrong word leads to
// another root.

`include "assert.svh"

module slh_dsa_feed
  import slh_dsa_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // Drops the block.
  input  logic        wipe_i,
  // Begins with the next block.
  input  logic        start_i,

  // The hash, from the start on: its kind, and its address with layer, tree, type, key pair and two
  // words more (§11.2).
  input  kind_e       kind_i,
  input  logic [2:0]  layer_i,
  input  logic [53:0] tree_i,
  input  logic [8:0]  key_pair_i,
  input  logic [5:0]  second_i,
  input  logic [15:0] third_i,
  // The hash is H, of two values.
  input  logic        is_pair_i,
  // Number of halves of values in this block.
  input  logic [4:0]  operands_i,
  // There is no address: the block continues with values, from the last half of the block before.
  input  logic        continues_i,
  // A value is the lane's own.
  input  logic        has_value_i,
  // The lane's own value is the second one.
  input  logic        is_right_i,

  // The slots. Operands come from the queue or from the lane's own value.
  // The slots are in use for something else.
  input  logic        blocked_i,
  // The lane's own value is not there yet.
  input  logic        value_waits_i,
  // A half is in the queue, and is taken.
  input  logic        queue_valid_i,
  output logic        queue_take_o,
  // The half is one of the lane's own value, and not the next in the queue.
  output logic        of_value_o,
  output logic        value_half_o,
  input  logic [63:0] read_data_i,

  // Lanes of the block.
  output logic        lane_valid_o,
  input  logic        lane_ready_i,
  output logic [63:0] lane_o,
  // The last lane leaves.
  output logic        end_o
);
  // Number of halves that were loaded: half k is loaded as number k + 1.
  logic [3:0]  at_q;
  // Number of operands among them.
  logic [4:0]  used_q;
  // The marker of the padding was made; a lane is complete.
  logic        padded_q, valid_q;
  logic        is_address, is_operand, is_there, is_first, loads;
  logic [63:0] half, half_q;
  logic [47:0] before_q;
  // Bits of the message, with the block of the seed.
  logic [15:0] bits;

  assign is_address   = ~continues_i & (at_q < 4'd3);
  assign is_operand   = ~is_address & (used_q != operands_i);
  // The half belongs to the first of two values.
  assign is_first     = at_q < 4'd5;
  assign of_value_o   = has_value_i & (~is_pair_i | (is_first ^ is_right_i));
  // Halves of a value come to odd and even positions: half 2 is the first one of a value.
  assign value_half_o = ~at_q[0];
  assign is_there     = ~is_operand | (~blocked_i & (of_value_o ? ~value_waits_i : queue_valid_i));
  assign loads        = (at_q != 4'd9) & is_there & (~valid_q | lane_ready_i);
  assign queue_take_o = loads & is_operand & ~of_value_o;

  // FIPS 180-4 §5.1.1: the length counts 64 bytes of the seed, 22 of the address, and the values.
  always_comb begin
    unique case (kind_i)
      KindEnds:  bits = 16'd5168;
      KindRoots: bits = 16'd2480;
      default:   bits = is_pair_i ? 16'd944 : 16'd816;
    endcase
  end

  // The half that is loaded: a part of the address, an operand, the marker of the padding, zeros,
  // the length.
  always_comb begin
    half = '0;
    if (is_address) begin
      unique case (at_q[1:0])
        2'd0:    half = {16'b0, 5'b0, layer_i, 10'b0, tree_i[53:24]};
        2'd1:    half = {tree_i[23:0], 5'b0, kind_i, 23'b0, (kind_i == KindPath) ? 9'd0 : key_pair_i};
        default: half = {26'b0, second_i, 16'b0, third_i};
      endcase
    end else if (is_operand) begin
      half = read_data_i;
    end else begin
      half[63] = ~padded_q;
      if (at_q == 4'd8) half[63:48] = bits;
    end
  end

  assign lane_valid_o = valid_q;
  assign lane_o       = {before_q, half_q[63:48]};
  assign end_o        = valid_q & lane_ready_i & (at_q == 4'd9);

  // Two halves, and the position in the block.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q     <= 4'd9;
      used_q   <= '0;
      padded_q <= 1'b0;
      valid_q  <= 1'b0;
      half_q   <= '0;
      before_q <= '0;
    end else if (wipe_i) begin
      at_q    <= 4'd9;
      valid_q <= 1'b0;
    end else begin
      if (lane_ready_i) valid_q <= 1'b0;
      if (loads) begin
        valid_q  <= at_q != '0;
        at_q     <= at_q + 4'd1;
        used_q   <= used_q + 5'(is_operand);
        padded_q <= padded_q | ~(is_address | is_operand);
        half_q   <= half;
        before_q <= half_q[47:0];
      end
      if (start_i) begin
        at_q     <= '0;
        used_q   <= '0;
        padded_q <= 1'b0;
      end
    end
  end

  // A block that starts early would mix two messages.
  `ASSERT(NoBlockStartsDuringAnother_A, start_i |-> at_q == 4'd9 && (!valid_q || end_o))
  // An offered lane does not change until it is taken.
  `ASSERT(ALaneWaits_A, lane_valid_o && !lane_ready_i && !wipe_i |=> lane_valid_o && $stable(lane_o))
  // The read port of the slots has one user at a time.
  `ASSERT(SlotsAreNotReadWhileBlocked_A, blocked_i && loads |-> !is_operand)
  // The marker of the padding follows the values, and the length does not overwrite it (FIPS 180-4
  // §5.1.1).
  `ASSERT(ALengthFollowsThePadding_A, loads && at_q == 4'd8 && !is_operand |-> padded_q)
endmodule
