// Makes the blocks of a hash of any length, a lane of 64 bits at a time: I, a number, D, and pairs
// of words from the slots (RFC 8554 §4.4, §4.6, §5.4.2), then the padding (FIPS 180-4 §5.1.1).
//
// 22 bytes precede the pairs, so each pair is shifted by two bytes. The next lane waits in a
// register. A lane leaves in a cycle of `lane_valid_o` and `lane_ready_i`, at most one a cycle.
// Reset and `wipe_i` drop the hash. Nothing here is hardened: a wrong word leads to another root.

`include "assert.svh"

module lms_feed
  import xmss_pkg::*;
  import lms_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  // Drops the hash.
  input  logic         wipe_i,
  // Forgets the contents of the ring.
  input  logic         reset_ring_i,

  // A hash begins.
  input  logic         start_i,
  // The kind of the hash, stable up to its end.
  input  long_e hash_i,
  input  logic [127:0] identifier_i,
  // q, or the number of a node.
  input  logic [31:0]  number_i,
  // Number of values in the hash, unless its end comes with the message.
  input  logic [8:0]   values_i,
  // The end comes with the message.
  input  logic         to_end_i,
  // Values have 24 bytes.
  input  logic         is_short_i,
  // The node that is known is a right child.
  input  logic         is_right_i,

  // The ring of slots: pairs that were added in this cycle, and what is known of the end.
  input  logic [2:0]   pairs_added_i,
  // All pairs of the message, or all ends, are in the ring.
  input  logic         complete_i,
  // The last pair of the message is in the ring, and has this number of bytes.
  input  logic         ended_i,
  input  logic [3:0]   bytes_i,
  // The slot that is read next.
  output logic [2:0]   head_o,

  // Slots: those of the ring, or the state of the hash before.
  // The slots are in use for something else.
  input  logic         blocked_i,
  // The state has not come.
  input  logic         awaits_i,
  output logic [4:0]   read_row_o,
  input  row_t         read_data_i,

  // The next block may take the core, because each of its lanes will come.
  output logic         offers_o,
  // The block is the first one of the hash.
  output logic         is_first_o,
  // Lanes of the block.
  output logic         lane_valid_o,
  input  logic         lane_ready_i,
  output logic [63:0]  lane_o,
  // The last lane of a block leaves.
  input  logic         block_end_i,
  // That block is the last one of the hash.
  output logic         end_o
);
  // Parts of a hash: pairs, the bytes that the last pair left for its next lane, zeros and the
  // length.
  typedef enum logic [1:0] {
    PartPairs = 2'd0,
    PartRest  = 2'd1,
    PartZeros = 2'd2
  } part_e;

  part_e       part_q;
  // Lanes are left to make; a lane waits; the lane is one of the first two; the block is the first
  // one.
  logic        active_q, valid_q, front_q, first_block_q;
  // The lane in its block; the slot of the ring.
  logic [2:0]  at_q, head_q;
  // The pair in its value.
  logic [1:0]  pair_q, last_pair;
  // The value is the first one of the hash.
  logic        first_value_q;
  // Values that are left, pairs in the ring, and bytes of the hash.
  logic [8:0]  left_q;
  logic [5:0]  there_q;
  logic [39:0] length_q;
  // Bytes of a pair that are left for the next lane.
  logic [47:0] carry_q;
  logic [63:0] lane_q, pair, lane;
  // The upper bytes of the pair, or what follows the last one.
  logic [15:0] upper;
  logic        loads, of_key, is_pair, from_state, pair_there, takes_pair, takes_ring, is_final, ends_value, is_length, last_block_q;
  logic [2:0]  needs;

  assign is_pair    = (part_q == PartPairs) & ~front_q;
  // The operand of a leaf, and one child of a node, are results of the hash before.
  assign from_state = (hash_i == LongLeaf) | ((hash_i == LongNode) & (first_value_q ^ is_right_i));
  assign pair_there = from_state ? ~awaits_i : there_q != '0;
  assign loads      = active_q & (~valid_q | lane_ready_i) & ~(is_pair & (~pair_there | blocked_i));
  assign takes_pair = loads & is_pair;
  assign takes_ring = takes_pair & ~from_state;
  assign is_final   = to_end_i ? ended_i & (there_q == 6'd1) : (left_q == 9'd1) & ends_value;
  // After C the slots of a message have four pairs. The second slot of a key has T[1] without its
  // first pair.
  assign of_key = (hash_i == LongMessage) & ~to_end_i & (left_q == 9'd1);
  always_comb begin
    last_pair = is_short_i ? 2'd2 : 2'd3;
    if (hash_i == LongMessage && !first_value_q) last_pair = 2'd3;
    if (of_key) last_pair = is_short_i ? 2'd1 : 2'd2;
  end
  assign ends_value = takes_pair & (pair_q == last_pair);
  assign is_length  = (part_q == PartZeros) & (at_q == 3'd7);

  assign read_row_o = from_state ? {4'd8, pair_q[0]} : {1'b0, head_q, pair_q[0]};
  assign pair       = pair_q[1] ? read_data_i.high : read_data_i.low;
  assign head_o     = head_q;

  // A block waits for its pairs before it takes the core, because chains need the same core to make
  // some of them.
  assign needs = front_q ? 3'd5 : (3'd7 - at_q);
  always_comb begin
    offers_o = (part_q != PartPairs) | (there_q > 6'(needs)) | complete_i;
    if (hash_i == LongLeaf) offers_o = 1'b1;
    if (hash_i == LongNode) offers_o = ~first_block_q | (there_q != '0);
  end
  assign is_first_o   = first_block_q;
  assign lane_valid_o = valid_q;
  assign lane_o       = lane_q;
  assign end_o        = block_end_i & last_block_q;

  // The lane that waits, and the position in the hash.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      part_q        <= PartPairs;
      active_q      <= 1'b0;
      valid_q       <= 1'b0;
      front_q       <= 1'b0;
      first_block_q <= 1'b0;
      last_block_q  <= 1'b0;
      first_value_q <= 1'b0;
      at_q          <= '0;
      head_q        <= '0;
      pair_q        <= '0;
      left_q        <= '0;
      there_q       <= '0;
      length_q      <= '0;
    end else if (wipe_i) begin
      active_q <= 1'b0;
      valid_q  <= 1'b0;
      head_q   <= '0;
      there_q  <= '0;
    end else begin
      if (lane_ready_i) valid_q <= 1'b0;
      if (block_end_i)  first_block_q <= 1'b0;
      if (loads) begin
        valid_q <= 1'b1;
        at_q    <= at_q + 3'd1;
        if (front_q) begin
          front_q <= ~at_q[0];
        end else begin
          if (part_q == PartRest) part_q <= PartZeros;
          // The marker of the padding may be in the first two bytes of the last pair.
          if (takes_pair && is_final) part_q <= (to_end_i && bytes_i < 4'd2) ? PartZeros : PartRest;
        end
        if (is_length) begin
          active_q     <= 1'b0;
          last_block_q <= 1'b1;
        end
      end
      if (takes_pair) begin
        pair_q   <= ends_value ? '0 : pair_q + 2'd1;
        left_q   <= left_q - 9'(ends_value);
        length_q <= length_q + ((to_end_i && is_final) ? 40'(bytes_i) : 40'd8);
        if (ends_value) first_value_q <= 1'b0;
        if (ends_value && !from_state) head_q <= head_q + 3'd1;
      end
      there_q <= there_q + 6'(pairs_added_i) - 6'(takes_ring);
      if (start_i) begin
        part_q        <= PartPairs;
        active_q      <= 1'b1;
        front_q       <= 1'b1;
        first_block_q <= 1'b1;
        last_block_q  <= 1'b0;
        first_value_q <= 1'b1;
        at_q          <= '0;
        pair_q        <= '0;
        left_q        <= values_i;
        length_q      <= 40'd22;
      end
      if (reset_ring_i) begin
        head_q  <= '0;
        there_q <= '0;
      end
    end
  end

  // Four sources. After the last pair the next pair is taken as zero, which makes the zeros of the
  // padding as well.
  assign upper = is_pair ? pair[63:48] : {(part_q == PartRest) & (~to_end_i | bytes_i[3]), 15'b0};
  assign lane  = front_q ? (at_q[0] ? identifier_i[63:0] : identifier_i[127:64]) :
                           (is_length ? {21'b0, length_q, 3'b0} : {carry_q, upper});

  // These registers have no reset, because the bytes that precede the pairs are written first.
  always_ff @(posedge clk_i) begin
    if (loads) begin
      lane_q  <= lane;
      carry_q <= front_q ? {number_i, {2{6'h20, hash_i}}} : is_pair ? pair[47:0] : '0;
    end
  end

  // An offered lane does not change until it is taken.
  `ASSERT(ALaneWaits_A, lane_valid_o && !lane_ready_i && !wipe_i |=> lane_valid_o && $stable(lane_o))
  // Two hashes would mix their words.
  `ASSERT(NoHashStartsDuringAnother_A, start_i |-> !active_q && (!valid_q || end_o))
  // A pair is never read before it is in the ring.
  `ASSERT(PairsAreNotReadTwice_A, takes_ring |-> there_q != '0)
  // A hash ends with a complete block.
  `ASSERT(TheLengthIsAtTheEnd_A, end_o |-> !active_q && at_q == '0)
  // The read port of the slots has one user at a time.
  `ASSERT(SlotsAreNotReadWhileBlocked_A, blocked_i |-> !takes_pair)
endmodule
