// Makes the blocks of a hash of any length, a lane of 64 bits at a time: I, a number, D, and pairs out of the slots
// (RFC 8554 §4.4, §4.6, §5.4.2), then the padding (FIPS 180-4 §5.1.1).
//
// What comes before the pairs has 22 bytes, so that each pair is shifted by two bytes. The next lane waits in a register.

`include "assert.svh"

module lms_feed
  import xmss_pkg::*;
  import lms_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         wipe_i,  // drops the hash
  input  logic         reset_ring_i,

  input  logic         start_i,  // a hash begins
  input  long_e hash_i, // which one, up to its end
  input  logic [127:0] identifier_i,
  input  logic [31:0]  number_i,     // q, or the number of a node
  input  logic [8:0]   values_i,     // of the hash, unless its end comes with the message
  input  logic         to_end_i,     // it does
  input  logic         is_short_i,   // 24 bytes
  input  logic         is_right_i,   // the node that is known is a right child

  // The ring.
  input  logic [2:0]   pairs_added_i,
  input  logic         complete_i,   // all pairs of the message, or all ends, are in the ring
  input  logic         ended_i,      // the last pair of the message is in the ring
  input  logic [3:0]   bytes_i,      // and has so many bytes
  output logic [2:0]   head_o,

  // Slots: those of the ring, or the state of the hash before.
  input  logic         blocked_i,  // they are in use
  input  logic         awaits_i,   // the state has not come
  output logic [4:0]   read_row_o,
  input  row_t         read_data_i,

  output logic         offers_o,      // each lane of the next block will come
  output logic         is_first_o,    // it is the hash's first block
  output logic         lane_valid_o,
  input  logic         lane_ready_i,
  output logic [63:0]  lane_o,
  input  logic         block_end_i,   // the last lane of a block leaves
  output logic         end_o          // it is the hash's last block
);
  // What is left of a hash: pairs, what the last pair left for its next lane, zeros and the length.
  typedef enum logic [1:0] {
    PartPairs = 2'd0,
    PartRest  = 2'd1,
    PartZeros = 2'd2
  } part_e;

  part_e       part_q;
  logic        active_q, valid_q, front_q, first_block_q;  // front_q: the lane is one of the first two
  logic [2:0]  at_q, head_q;       // the lane of its block; the slot of the ring
  logic [1:0]  pair_q, last_pair;  // in its value
  logic        first_value_q;      // of the hash
  logic [8:0]  left_q;             // values
  logic [5:0]  there_q;            // pairs in the ring
  logic [39:0] length_q;           // bytes
  logic [47:0] carry_q;            // of a pair, what is left for the next lane
  logic [63:0] lane_q, pair, lane;
  logic [15:0] upper;  // of the pair, or what follows the last one
  logic        loads, of_key, is_pair, from_state, pair_there, takes_pair, takes_ring, is_final, ends_value, is_length, last_block_q;
  logic [2:0]  needs;

  assign is_pair    = (part_q == PartPairs) & ~front_q;
  // The operand of a leaf, and a child of a node, is the result before.
  assign from_state = (hash_i == LongLeaf) | ((hash_i == LongNode) & (first_value_q ^ is_right_i));
  assign pair_there = from_state ? ~awaits_i : there_q != '0;
  assign loads      = active_q & (~valid_q | lane_ready_i) & ~(is_pair & (~pair_there | blocked_i));
  assign takes_pair = loads & is_pair;
  assign takes_ring = takes_pair & ~from_state;
  assign is_final   = to_end_i ? ended_i & (there_q == 6'd1) : (left_q == 9'd1) & ends_value;
  // After C, slots of a message have four pairs; but the second one of a key has T[1] without its first pair.
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

  // A block waits for its pairs before it takes the core, which chains need to make some of them.
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

  // The lane that waits, and what the next one is made of.
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
          // The one of the padding may be in the first two bytes of the last pair.
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

  // Four sources. After the last pair the next one is taken as zero, which makes the zeros of the padding, too.
  assign upper = is_pair ? pair[63:48] : {(part_q == PartRest) & (~to_end_i | bytes_i[3]), 15'b0};
  assign lane  = front_q ? (at_q[0] ? identifier_i[63:0] : identifier_i[127:64]) :
                           (is_length ? {21'b0, length_q, 3'b0} : {carry_q, upper});

  // Without a reset: what is before the pairs is written first.
  always_ff @(posedge clk_i) begin
    if (loads) begin
      lane_q  <= lane;
      carry_q <= front_q ? {number_i, {2{6'h20, hash_i}}} : is_pair ? pair[47:0] : '0;
    end
  end

  `ASSERT(ALaneWaits_A, lane_valid_o && !lane_ready_i && !wipe_i |=> lane_valid_o && $stable(lane_o))
  `ASSERT(NoHashStartsDuringAnother_A, start_i |-> !active_q && (!valid_q || end_o))
  `ASSERT(PairsAreNotReadTwice_A, takes_ring |-> there_q != '0)
  `ASSERT(TheLengthIsAtTheEnd_A, end_o |-> !active_q && at_q == '0)
  `ASSERT(SlotsAreNotReadWhileBlocked_A, blocked_i |-> !takes_pair)
endmodule
