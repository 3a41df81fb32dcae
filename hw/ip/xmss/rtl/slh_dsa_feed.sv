// Makes the block of a hash, a lane of 64 bits at a time (FIPS 205 §11.2.1): address, values, padding.
//
// The compressed address has 22 bytes, so values are six bytes off the lanes. The block is made of halves that begin two
// bytes before a lane: lane k is the last six bytes of half k - 1 and the first two of half k. So halves of values, of the
// address and of the padding pass through the same two registers. Half -1 is loaded first.

`include "assert.svh"

module slh_dsa_feed
  import slh_dsa_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        wipe_i,   // drops the block
  input  logic        start_i,  // begins with the next block

  // What it is, from the start on. The address: layer, tree, type, key pair, and two words more (§11.2).
  input  kind_e       kind_i,
  input  logic [2:0]  layer_i,
  input  logic [53:0] tree_i,
  input  logic [8:0]  key_pair_i,
  input  logic [5:0]  second_i,
  input  logic [15:0] third_i,
  input  logic        is_pair_i,    // H, of two values
  input  logic [4:0]  operands_i,   // halves of values in this block
  input  logic        continues_i,  // no address: the block goes on with values, from the last half of the one before
  input  logic        has_value_i,  // a value is the lane's own
  input  logic        is_right_i,   // and the second one

  // The slots, unless they are in use.
  input  logic        blocked_i,
  input  logic        value_waits_i,  // the lane's own value is not there yet
  input  logic        queue_valid_i,
  output logic        queue_take_o,
  output logic        of_value_o,  // the half is the lane's own value's, otherwise the next in the queue
  output logic        value_half_o,
  input  logic [63:0] read_data_i,

  output logic        lane_valid_o,
  input  logic        lane_ready_i,
  output logic [63:0] lane_o,
  output logic        end_o  // the last lane leaves
);
  logic [3:0]  at_q;    // halves that were loaded: half k is loaded at k + 1
  logic [4:0]  used_q;  // those that were operands
  logic        padded_q, valid_q;  // the one of the padding was made; a lane is complete
  logic        is_address, is_operand, is_there, is_first, loads;
  logic [63:0] half, half_q;
  logic [47:0] before_q;
  logic [15:0] bits;  // of the message, with the block of the seed

  assign is_address   = ~continues_i & (at_q < 4'd3);
  assign is_operand   = ~is_address & (used_q != operands_i);
  assign is_first     = at_q < 4'd5;  // of two values
  assign of_value_o   = has_value_i & (~is_pair_i | (is_first ^ is_right_i));
  // Halves come to odd and even positions: half 2 is the first of a value.
  assign value_half_o = ~at_q[0];
  assign is_there     = ~is_operand | (~blocked_i & (of_value_o ? ~value_waits_i : queue_valid_i));
  assign loads        = (at_q != 4'd9) & is_there & (~valid_q | lane_ready_i);
  assign queue_take_o = loads & is_operand & ~of_value_o;

  // FIPS 180-4 §5.1.1: 64 bytes of the seed, 22 of the address, and the values.
  always_comb begin
    unique case (kind_i)
      KindEnds:  bits = 16'd5168;
      KindRoots: bits = 16'd2480;
      default:   bits = is_pair_i ? 16'd944 : 16'd816;
    endcase
  end

  // The half that is loaded: of the address, an operand, the one of the padding, zeros, the length.
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

  // Two halves, and what was made of the block.
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
  `ASSERT(ALaneWaits_A, lane_valid_o && !lane_ready_i && !wipe_i |=> lane_valid_o && $stable(lane_o))
  `ASSERT(SlotsAreNotReadWhileBlocked_A, blocked_i && loads |-> !is_operand)
  // The one of the padding follows the values, and the length does not overwrite it (FIPS 180-4 §5.1.1).
  `ASSERT(ALengthFollowsThePadding_A, loads && at_q == 4'd8 && !is_operand |-> padded_q)
endmodule
