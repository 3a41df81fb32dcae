// Makes the blocks of a hash from slots, the address and constants, a lane of 64 bits at a time
// (RFC 8391 §5.1; with 24 bytes SP 800-208 §5).
//
// The next lane waits in a register, so the slots are free while the state of the hash is loaded
// from them. A lane leaves in a cycle of `lane_valid_o` and `lane_ready_i`, at most one a cycle; a
// block has eight.
//
// With 24 bytes a block begins with one word of a number, and values follow: the upper word of a
// lane is a lower word of a row, and the other way round.
//
// Reset and `wipe_i` drop the hash. Nothing here is hardened: a wrong word leads to another root.

`include "assert.svh"

module xmss_feed
  import xmss_pkg::*;
#(
  // 1 builds values of 24 bytes in.
  parameter bit HasShort = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Drops the hash.
  input  logic        wipe_i,

  // Begins with the first lane of a hash. It may come in the cycle in which the last lane of a hash
  // leaves.
  input  logic        start_i,
  // The kind of the hash. It is stable until the last lane was made.
  input  hash_e       hash_i,
  // Values have 24 bytes.
  input  logic        is_short_i,
  // The set of slots.
  input  logic        set_i,
  // The address (RFC 8391 §2.5). It is stable until the last lane was made.
  input  logic [3:0]  layer_i,
  input  logic [54:0] tree_i,
  input  logic [1:0]  type_i,
  input  logic [19:0] leaf_i,
  // Number of a chain, or height of a node.
  input  logic [6:0]  chain_i,
  // Step in a chain, or index of a node.
  input  logic [19:0] step_i,
  // The key or one of the masks.
  input  logic [1:0]  part_i,

  // Read ports of the slots: rows of the upper words and of the lower words of both halves. While
  // `blocked_i` is set they are in use for something else.
  input  logic        blocked_i,
  // This hash uses the ports.
  output logic        reads_o,
  output logic [4:0]  read_upper_high_o,
  output logic [4:0]  read_upper_low_o,
  output logic [4:0]  read_lower_high_o,
  output logic [4:0]  read_lower_low_o,
  input  row_t        read_data_i,

  // Two words are ready.
  output logic        lane_valid_o,
  input  logic        lane_ready_i,
  output logic [63:0] lane_o,
  // The last lane of a block leaves, and the last lane of the hash.
  output logic        block_end_o,
  output logic        end_o
);
  // The source of a word of a lane.
  typedef struct packed {
    // The word comes from a slot, and a mask is added.
    logic  is_value;
    logic  is_masked;
    // Slots of the value and of the mask.
    slot_e value;
    slot_e mask;
    // The word is of H4 to H7, and not of H0 to H3; row of the slot.
    logic  half;
    logic  row;
  } source_t;

  // Lanes are left to make; one waits for the core.
  logic        active_q, valid_q;
  // A lane is made; it is the last one of the hash; it needs the slots.
  logic        loads, is_last, needs_slot;
  // Lanes that were made, and lanes that left.
  logic [3:0]  count_q, sent_q;
  logic [63:0] lane_q, lane, short_lane, made;
  // Words from the slots.
  logic [31:0] upper, lower;
  logic [2:0]  at;
  // The second block is made; the hash has two.
  logic        is_short, is_second, is_two;
  // Source of both words, and with 24 bytes a source each for upper and lower words.
  source_t     source, source_upper, source_lower;

  assign is_short  = HasShort & is_short_i & (hash_i != HashInit) & (hash_i != HashRaw);
  assign is_two    = (hash_i == HashH) || ((hash_i == HashF) && !is_short) || ((hash_i == HashPrf) && is_short);
  assign is_second = count_q[3];
  assign at        = count_q[2:0];
  assign is_last   = (count_q[2:0] == 3'd7) && (is_second == is_two);

  // A lane is a part of a value, perhaps with a mask, or a constant, or a part of the address.
  always_comb begin
    source       = '{is_value: 1'b0, is_masked: 1'b0, value: SlotA, mask: SlotMaskA, half: at[1], row: at[0]};
    lane         = '0;
    unique case (hash_i)
      // toByte(3, 32) and the seed.
      HashInit: begin
        source.is_value = at[2];
        source.value    = SlotSeed;
        lane            = {62'b0, {2{at == 3'd3}}};
      end
      // The address, then the padding of 96 bytes: 768 bits.
      HashPrf: begin
        unique case (at)
          3'd0:    lane = {28'b0, layer_i, 9'b0, tree_i[54:32]};
          3'd1:    lane = {tree_i[31:0], 30'b0, type_i};
          3'd2:    lane = {12'b0, leaf_i, 25'b0, chain_i};
          3'd3:    lane = {12'b0, step_i, 30'b0, part_i};
          3'd4:    lane = {1'b1, 63'b0};
          3'd7:    lane = 64'd768;
          default: lane = '0;
        endcase
      end
      // toByte(0, 32) and the key; then the masked value and the padding of 96 bytes.
      HashF: begin
        source.is_value  = is_second ^ at[2];
        source.is_masked = is_second;
        source.value     = is_second ? SlotA : SlotKey;
        lane             = {at == 3'd4, 53'b0, {2{at == 3'd7}}, 8'b0};
      end
      // toByte(1, 32) and the key.
      HashKey: begin
        source.is_value = at[2];
        source.value    = SlotKey;
        lane            = {63'b0, at == 3'd3};
      end
      // The masked children, then the padding of 128 bytes: 1,024 bits.
      HashH: begin
        source.is_value  = ~is_second;
        source.is_masked = 1'b1;
        source.value     = at[2] ? SlotB : SlotA;
        source.mask      = at[2] ? SlotMaskB : SlotMaskA;
        lane             = {at == 3'd0, 52'b0, at == 3'd7, 10'b0};
      end
      default: begin
        source.is_value = 1'b1;
        source.value    = at[2] ? SlotB : SlotA;
      end
    endcase
    source_upper = source;
    source_lower = source;
    if (is_short) begin
      {source_upper, source_lower} = {short_source(at, 1'b0), short_source(at, 1'b1)};
      lane                         = short_lane;
    end
  end

  // With 24 bytes: toByte(x, 4), key or seed, then the address or masked values, each of three rows
  // of two words. The upper words of a row are lower words of a lane, and its lower words are upper
  // words of the next lane.
  function automatic source_t short_source(logic [2:0] lane_at, logic is_lower);
    source_t    result;
    // The row, counted over all values.
    logic [3:0] place;
    // The value, and the third of it.
    logic [1:0] operand, third;
    place = 4'(lane_at) - 4'(is_lower) + (is_second ? 4'd8 : 4'd0);
    operand = (place < 4'd3) ? 2'd0 : (place < 4'd6) ? 2'd1 : (place < 4'd9) ? 2'd2 : 2'd3;
    unique case (place)
      4'd0, 4'd3, 4'd6: third = 2'd0;
      4'd1, 4'd4, 4'd7: third = 2'd1;
      default:          third = 2'd2;
    endcase
    result.row       = third[0];
    result.half      = third[1];
    result.is_masked = operand != 2'd0;
    result.value     = (operand == 2'd0) ? (hash_i == HashPrf ? SlotSeed : SlotKey) : operand[0] ? SlotA : SlotB;
    result.mask      = operand[0] ? SlotMaskA : SlotMaskB;
    unique case (hash_i)
      HashPrf: result.is_value = operand == 2'd0;
      HashF:   result.is_value = ~operand[1];
      default: result.is_value = operand != 2'd3;
    endcase
    return result;
  endfunction

  // Words that belong to no value: numbers, the address, and the padding. The second block of a PRF
  // is only padding.
  always_comb begin
    short_lane = '0;
    unique case (hash_i)
      HashPrf: begin
        unique case (at)
          3'd0:    short_lane = {32'd3, 32'd0};
          3'd3:    short_lane = {32'd0, 28'd0, layer_i};
          3'd4:    short_lane = {9'b0, tree_i};
          3'd5:    short_lane = {30'b0, type_i, 12'b0, leaf_i};
          3'd6:    short_lane = {25'b0, chain_i, 12'b0, step_i};
          3'd7:    short_lane = {30'b0, part_i, 1'b1, 31'b0};
          default: short_lane = '0;
        endcase
        if (is_second) short_lane = (at == 3'd7) ? 64'd480 : '0;
      end
      HashF: begin
        if (at == 3'd6) short_lane = {32'b0, 1'b1, 31'b0};
        if (at == 3'd7) short_lane = 64'd416;
      end
      default: begin
        if (!is_second && at == 3'd0) short_lane = {32'd1, 32'd0};
        if (is_second && at == 3'd1)  short_lane = {32'b0, 1'b1, 31'b0};
        if (is_second && at == 3'd7)  short_lane = 64'd608;
      end
    endcase
  end

  // A mask is read from the half that the value does not use, because masks have their halves
  // exchanged.
  function automatic logic [4:0] row_of(slot_e slot, logic row, logic set);
    return {(slot == SlotSeed) ? 1'b0 : set, slot, row};
  endfunction
  assign read_upper_high_o = row_of(source_upper.half ? source_upper.value : source_upper.mask, source_upper.row, set_i);
  assign read_upper_low_o  = row_of(source_upper.half ? source_upper.mask : source_upper.value, source_upper.row, set_i);
  assign read_lower_high_o = row_of(source_lower.half ? source_lower.value : source_lower.mask, source_lower.row, set_i);
  assign read_lower_low_o  = row_of(source_lower.half ? source_lower.mask : source_lower.value, source_lower.row, set_i);
  assign upper = source_upper.is_masked ? read_data_i.high[63:32] ^ read_data_i.low[63:32] :
                 source_upper.half      ? read_data_i.high[63:32] : read_data_i.low[63:32];
  assign lower = source_lower.is_masked ? read_data_i.high[31:0] ^ read_data_i.low[31:0] :
                 source_lower.half      ? read_data_i.high[31:0] : read_data_i.low[31:0];
  assign made  = is_short ? {source_lower.is_value ? lower : lane[63:32], source_upper.is_value ? upper : lane[31:0]} :
                            source.is_value ? {upper, lower} : lane;

  // A lane is made when the one before leaves and, if it needs the slots, when these are free.
  assign needs_slot   = active_q & (source_upper.is_value | source_lower.is_value);
  assign loads        = active_q & (~valid_q | lane_ready_i) & ~(needs_slot & blocked_i);
  assign reads_o      = needs_slot & loads;
  assign lane_valid_o = valid_q;
  assign lane_o       = lane_q;
  assign block_end_o  = valid_q & lane_ready_i & (sent_q[2:0] == 3'd7);
  assign end_o        = block_end_o & (sent_q[3] == is_two);

  // The lane that waits, and the numbers of the lanes that were made and that left.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      valid_q  <= 1'b0;
      count_q  <= '0;
      sent_q   <= '0;
      lane_q   <= '0;
    end else if (wipe_i) begin
      active_q <= 1'b0;
      valid_q  <= 1'b0;
      lane_q   <= '0;
    end else begin
      if (lane_ready_i) valid_q <= 1'b0;
      if (valid_q && lane_ready_i) sent_q <= sent_q + 4'd1;
      if (loads) begin
        valid_q  <= 1'b1;
        lane_q   <= made;
        count_q  <= count_q + 4'd1;
        active_q <= ~is_last;
      end
      if (start_i) begin
        active_q <= 1'b1;
        count_q  <= '0;
        sent_q   <= '0;
      end
    end
  end

  // At most one lane is made ahead, because operands of a hash may change when the hash is over.
  `ASSERT(ALaneIsAhead_A, valid_q |-> count_q == sent_q + 4'd1)
  // The last lane leaves after all lanes were made.
  `ASSERT(AHashEndsWithItsLastLane_A, end_o |-> !active_q)
  // Two hashes would mix their words.
  `ASSERT(NoHashStartsDuringAnother_A, start_i |-> !active_q && (!valid_q || end_o))
  // An offered lane does not change until it is taken.
  `ASSERT(ALaneWaits_A, lane_valid_o && !lane_ready_i && !wipe_i |=> lane_valid_o && $stable(lane_o))
  // The ports of the slots have one user at a time.
  `ASSERT(SlotsAreNotReadWhileBlocked_A, blocked_i |-> !reads_o)
  // The last eight bytes of a slot are no part of a value of 24.
  `ASSERT(AShortValueHasThreeRows_A, is_short && reads_o |-> !(source_upper.is_value && source_upper.half && source_upper.row) &&
          !(source_lower.is_value && source_lower.half && source_lower.row))
endmodule
