// Gives one hash core to two users: a chain, and blocks of longer messages, which have priority.
//
// The user may change after any block. The user that loses the core gets the state of its last
// block: with `Overlaps` while the next block begins, otherwise by a command, which is also given
// when nothing follows.
//
// Interface: commands, lanes and rows have valid and ready and pass without a register. Reset and
// `wipe_i` drop all. Nothing here is hardened; the hash core has its own states.

`include "assert.svh"

module lms_share
  import xmss_pkg::*;
  import sha2_pkg::*;
#(
  // Properties of the hash core.
  parameter int unsigned RoundsPerCycle = 1,
  parameter bit          Overlaps       = 1'b0
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  // Drops the blocks of both users.
  input  logic           wipe_i,

  // The hash core.
  output hash_request_t  hash_o,
  input  hash_response_t hash_i,

  // The two users: bit 0 belongs to the chain, bit 1 to the long messages.
  // A block is offered, each lane of which will come.
  input  logic [1:0]        cmd_valid_i,
  output logic [1:0]        cmd_ready_o,
  input  cmd_e              cmd_i [2],
  input  logic [1:0]        lane_valid_i,
  output logic [1:0]        lane_ready_o,
  input  logic [1:0][63:0]  lane_i,
  // The last lane of a block leaves.
  output logic [1:0]        block_end_o,
  // The state of the last block has not come.
  output logic [1:0]        awaits_o,
  // Whole rows of the state, the last row first.
  output logic [1:0]        save_valid_o,
  input  logic [1:0]        save_ready_i,
  output logic              save_row_o,
  output row_t              save_o,

  // Only long messages continue from a state: the core still has it, or it is loaded.
  output logic        holds_o,
  input  logic        load_valid_i,
  output logic        load_last_o,
  output logic        load_row_o,
  input  row_t        load_i
);
  // Owner of this block; its lanes are taken; the state before has not left, and its owner.
  logic       owner_q, feeds_q, awaited_q, awaited_owner_q;
  // Lanes that were taken.
  logic [2:0] sent_q;
  logic       choice, offers, asks, takes, moves, block_end, row_valid, row_ready, saves;
  cmd_e       cmd;

  assign choice = cmd_valid_i[1];
  assign offers = |cmd_valid_i;
  assign cmd    = cmd_i[choice];
  // A state that no next block pushes out is asked for with a command.
  assign asks   = awaited_q & (~offers | (~Overlaps & (cmd != CmdNext)));
  assign takes  = offers & ~asks & hash_i.cmd_ready;

  assign cmd_ready_o  = {choice, ~choice} & {2{takes}};
  assign moves        = hash_o.lane_valid & hash_i.lane_ready;
  assign lane_ready_o = {owner_q, ~owner_q} & {2{feeds_q & hash_i.lane_ready}};
  assign block_end    = moves & (sent_q == 3'd7);
  assign block_end_o  = {owner_q, ~owner_q} & {2{block_end}};
  assign awaits_o     = {awaited_owner_q, ~awaited_owner_q} & {2{awaited_q}};
  assign holds_o      = owner_q;

  // A state that nobody needs is taken and dropped.
  assign save_valid_o = awaits_o & {2{row_valid}};
  assign row_ready    = ~awaited_q | save_ready_i[awaited_owner_q];
  assign saves        = awaited_q & hash_i.save_valid & hash_o.save_ready & hash_i.save_last;
  assign save_row_o   = hash_i.save_row;
  assign load_last_o  = hash_i.load_last;
  assign load_row_o   = hash_i.load_row;

  // The request to the core.
  always_comb begin
    hash_o.wipe       = wipe_i;
    hash_o.cmd_valid  = offers | asks;
    hash_o.cmd        = asks ? CmdSave : cmd;
    hash_o.lane_valid = feeds_q & lane_valid_i[owner_q];
    hash_o.lane       = lane_i[owner_q];
    hash_o.load_valid = load_valid_i;
    hash_o.load       = load_i;
    hash_o.save_ready = row_ready | ~row_valid;
  end

  // A core with one round a cycle gives a word of each half at a time, the lower one first. Two are
  // joined.
  if (RoundsPerCycle == 1) begin : g_join
    logic [1:0][31:0] lower_q;
    assign row_valid = hash_i.save_valid & hash_i.save_halves[1];
    assign save_o    = '{high: {hash_i.save.high[63:32], lower_q[1]}, low: {hash_i.save.low[63:32], lower_q[0]}};

    // The lower words of a row wait here.
    always_ff @(posedge clk_i) begin
      if (hash_i.save_valid && !hash_i.save_halves[1]) lower_q <= {hash_i.save.high[31:0], hash_i.save.low[31:0]};
    end
  end else begin : g_pass
    assign row_valid = hash_i.save_valid;
    assign save_o    = hash_i.save;
  end

  // The owner of the block, and the owner of the state that is still in the core.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q         <= 1'b0;
      feeds_q         <= 1'b0;
      sent_q          <= '0;
      awaited_q       <= 1'b0;
      awaited_owner_q <= 1'b0;
    end else if (wipe_i) begin
      owner_q         <= 1'b0;
      feeds_q         <= 1'b0;
      sent_q          <= '0;
      awaited_q       <= 1'b0;
      awaited_owner_q <= 1'b0;
    end else begin
      if (saves) awaited_q <= 1'b0;
      if (takes) begin
        owner_q <= choice;
        feeds_q <= 1'b1;
        // The block continues from this state, so it need not leave.
        if (cmd == CmdNext) awaited_q <= 1'b0;
      end
      if (moves) sent_q <= sent_q + 3'd1;
      if (block_end) begin
        feeds_q         <= 1'b0;
        awaited_q       <= 1'b1;
        awaited_owner_q <= owner_q;
      end
    end
  end

  logic unused_response;
  assign unused_response = ^{hash_i.error, hash_i.load_next, hash_i.save_halves};

  // A second state would replace the first one, which its owner would never get.
  `ASSERT(OneStateIsAwaited_A, block_end |-> !awaited_q)
  // A user never continues from the state of the other.
  `ASSERT(ABlockGoesOnFromItsOwn_A, takes && cmd == CmdNext |-> owner_q == choice)
  // A block begins only after all lanes of the one before have left.
  `ASSERT(LanesAreOfOneBlock_A, takes |-> !feeds_q && sent_q == '0)
endmodule
