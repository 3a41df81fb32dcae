// Makes the blocks of a hash, a lane of 64 bits at a time, from slots, the address and constants (RFC 8391 §5.1).
//
// The next lane waits in a register, so that the slots are free while the state of the hash is loaded from them.

`include "assert.svh"

module xmss_feed
  import xmss_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        wipe_i,  // drops the hash

  input  logic        start_i,    // begins with the first lane of a hash, as early as the last one leaves
  input  hash_e       hash_i,  // what is hashed
  input  logic        set_i,      // of slots
  // The address (RFC 8391 §2.5).
  input  logic [3:0]  layer_i,
  input  logic [54:0] tree_i,
  input  logic [1:0]  type_i,
  input  logic [19:0] leaf_i,
  input  logic [6:0]  chain_i,    // chain, or height
  input  logic [19:0] step_i,     // step, or index
  input  logic [1:0]  part_i,     // the key or one of the masks

  // The slots, unless they are in use.
  input  logic        blocked_i,
  output logic        reads_o,  // the slots are in use
  output logic [4:0]  read_high_o,
  output logic [4:0]  read_low_o,
  input  row_t        read_data_i,

  output logic        lane_valid_o,  // two words are ready
  input  logic        lane_ready_i,
  output logic [63:0] lane_o,
  output logic        block_end_o,  // the last lane of a block leaves
  output logic        end_o         // the last lane of the hash leaves
);
  logic        active_q, valid_q;  // lanes are left to make; one waits for the core
  logic        loads, is_last, needs_slot;  // a lane is made; it is the last of the hash; it comes from the slots
  logic [3:0]  count_q, sent_q;  // lanes that were made, and that left
  logic [63:0] lane_q, lane, slot_lane;
  logic [4:0]  value_row, mask_row;  // rows of the slots
  logic [2:0]  at;
  logic        is_second, is_two;  // the second block; there are two
  logic        is_masked, is_value, half;
  slot_e       value, mask;  // the slots of both

  assign is_two    = (hash_i == HashF) || (hash_i == HashH);
  assign is_second = count_q[3];
  assign at        = count_q[2:0];
  assign half      = at[1];
  assign is_last   = (count_q[2:0] == 3'd7) && (is_second == is_two);

  // What a lane is: one of a value, perhaps with a mask, or a constant, or a part of the address.
  always_comb begin
    is_value  = 1'b0;
    is_masked = 1'b0;
    value     = SlotA;
    mask      = SlotMaskA;
    lane      = '0;
    unique case (hash_i)
      HashInit: begin
        is_value = at[2];
        value    = SlotSeed;
        lane     = {62'b0, {2{at == 3'd3}}};
      end
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
      HashF: begin
        is_value  = is_second ^ at[2];
        is_masked = is_second;
        value     = is_second ? SlotA : SlotKey;
        lane      = {at == 3'd4, 53'b0, {2{at == 3'd7}}, 8'b0};
      end
      HashKey: begin
        is_value = at[2];
        value    = SlotKey;
        lane     = {63'b0, at == 3'd3};
      end
      HashH: begin
        is_value  = ~is_second;
        is_masked = 1'b1;
        value     = at[2] ? SlotB : SlotA;
        mask      = at[2] ? SlotMaskB : SlotMaskA;
        lane      = {at == 3'd0, 52'b0, at == 3'd7, 10'b0};
      end
      default: begin
        is_value = 1'b1;
        value    = at[2] ? SlotB : SlotA;
      end
    endcase
  end

  // A mask is read from the half that the value does not use.
  assign value_row   = {(value == SlotSeed) ? 1'b0 : set_i, value, at[0]};
  assign mask_row    = {set_i, mask, at[0]};
  assign read_high_o = half ? value_row : mask_row;
  assign read_low_o  = half ? mask_row : value_row;
  assign slot_lane   = is_masked ? read_data_i.high ^ read_data_i.low :
                       half      ? read_data_i.high : read_data_i.low;

  assign needs_slot   = active_q & is_value;
  assign loads        = active_q & (~valid_q | lane_ready_i) & ~(is_value & blocked_i);
  assign reads_o      = needs_slot & loads;
  assign lane_valid_o = valid_q;
  assign lane_o       = lane_q;
  assign block_end_o  = valid_q & lane_ready_i & (sent_q[2:0] == 3'd7);
  assign end_o        = block_end_o & (sent_q[3] == is_two);

  // The lane that waits, and the places of the next one and of this one in the hash.
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
        lane_q   <= is_value ? slot_lane : lane;
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

  // One lane is ahead at most: its operands may change when its hash is over.
  `ASSERT(ALaneIsAhead_A, valid_q |-> count_q == sent_q + 4'd1)
  `ASSERT(AHashEndsWithItsLastLane_A, end_o |-> !active_q)
  `ASSERT(NoHashStartsDuringAnother_A, start_i |-> !active_q && (!valid_q || end_o))
  `ASSERT(ALaneWaits_A, lane_valid_o && !lane_ready_i && !wipe_i |=> lane_valid_o && $stable(lane_o))
  `ASSERT(SlotsAreNotReadWhileBlocked_A, blocked_i |-> !reads_o)
endmodule
