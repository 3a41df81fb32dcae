// Hashes everything that is longer than a step: the message, and then from the ends of all chains
// up to the root (RFC 8554 §4.6, algorithm 4b, and §5.4.2, algorithm 6a).
//
// Its blocks go to a core that walks chains as well. A block takes the core when everything that it
// needs has come, so it never waits for a chain that needs the same core. Results stay in a slot,
// because they are the operand of the next hash.
//
// Interface: `message_i` and `root_i` are strobes while `done_o` is set. Words, reads, commands and
// lanes have valid and ready. Reset and `wipe_i` drop everything.
//
// Hardening: any two states differ in three bits, and every other code is `error_o` until reset.

`include "assert.svh"

module lms_stream
  import xmss_pkg::*;
  import lms_pkg::*;
  import sha2_pkg::*;
#(
  // 0 builds a block that continues from an illegal state, to show that the tests detect it.
  parameter bit Hardened = 1'b1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // Drops everything.
  input  logic         wipe_i,
  // A state does not exist. This lasts until reset.
  output logic         error_o,

  // Hashes the message.
  input  logic         message_i,
  // Computes the root.
  input  logic         root_i,
  // No hash is under way or asked for.
  output logic         done_o,
  // A node was computed.
  output logic         node_o,

  // Properties of the signature.
  input  logic [127:0] identifier_i,
  // q of the signature.
  input  logic [31:0]  index_i,
  // Values have 24 bytes.
  input  logic         is_short_i,
  // Numbers of chains and levels, and values of the path that came.
  input  logic [8:0]   chains_i,
  input  logic [4:0]   height_i,
  input  logic [4:0]   levels_i,
  // The message is a key, at this place.
  input  logic         from_memory_i,
  input  address_t     key_i,

  // The next end of a chain, in order.
  input  logic         end_valid_i,
  output logic         end_ready_o,
  input  logic         end_moved_i,
  input  address_t     end_chain_i,
  input  logic         end_last_i,

  // Words of the message, with the first byte in the upper bits.
  input  logic         msg_valid_i,
  output logic         msg_ready_o,
  input  logic [63:0]  msg_i,
  input  logic         msg_last_i,
  input  logic [3:0]   msg_bytes_i,

  // Reads of the memories. A row comes in the cycle after its grant.
  output logic         read_valid_o,
  input  logic         read_ready_i,
  output address_t     read_place_o,
  output logic         read_row_o,
  input  row_t         read_data_i,
  input  row_t         end_data_i,

  // The hash core, by `lms_share`.
  output logic         cmd_valid_o,
  input  logic         cmd_ready_i,
  output cmd_e         cmd_o,
  output logic         lane_valid_o,
  input  logic         lane_ready_i,
  output logic [63:0]  lane_o,
  input  logic         block_end_i,
  // The core has the state of this unit's last block, and it has not left.
  input  logic         holds_i,
  input  logic         awaits_i,
  output logic         load_valid_o,
  input  logic         load_last_i,
  input  logic         load_row_i,
  output row_t         load_o,
  input  logic         save_valid_i,
  output logic         save_ready_o,
  input  logic         save_row_i,
  input  row_t         save_i,

  // A row of the message digest comes.
  output logic         digest_o,
  // A row of the result, while nothing is to be done.
  input  logic         result_row_i,
  output row_t         result_o
);
  // A [6,3,3] code: any two states differ in at least three bits.
  typedef enum logic [5:0] {
    // Waits for a command.
    StIdle   = 6'b001011,
    // Offers a block, until the core takes it.
    StIssue  = 6'b010101,
    // Feeds the block.
    StFeed   = 6'b011110,
    // Waits for the last state.
    StResult = 6'b100110,
    // Only a reset ends this state.
    StError  = 6'b110011
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_issue, in_feed, in_result, fetch_error, is_error;
  assign in_idle   = state_q == StIdle;
  assign in_issue  = state_q == StIssue;
  assign in_feed   = state_q == StFeed;
  assign in_result = state_q == StResult;
  assign is_error  = ~(in_idle | in_issue | in_feed | in_result);
  assign error_o   = is_error | fetch_error;
  assign done_o    = in_idle;

  // --- the order of hashes ---
  long_e hash_q;
  // Level of the node that is hashed: the number of nodes below it.
  logic [4:0]  level_q;
  // Number of the node (RFC 8554 §5.3). The root has the number 1.
  logic [25:0] node_q;
  logic        is_right_q, next_hash, offers, is_first, hash_end, starts, loading_q, slots_busy, is_root;
  logic [8:0]  values;
  logic [31:0] number;

  assign next_hash = hash_end & ~(hash_q == LongMessage) & ~is_root;
  assign is_root   = (hash_q == LongNode) & (level_q == height_i);
  assign starts    = message_i | root_i | next_hash;
  assign node_o    = hash_end & (hash_q == LongLeaf || hash_q == LongNode);
  assign cmd_valid_o = in_issue & offers;
  assign cmd_o       = is_first ? CmdFirst : holds_i ? CmdNext : CmdResume;
  assign number      = (hash_q == LongMessage || hash_q == LongKey) ? index_i : 32'(node_q);

  // The blocks of a hash, and the hashes that follow each other.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:   if (message_i || root_i) state_d = StIssue;
      StIssue:  if (cmd_ready_i) state_d = StFeed;
      StFeed:   if (block_end_i) state_d = (hash_end && !next_hash) ? StResult : StIssue;
      StResult: if (!awaits_i) state_d = StIdle;
      StError:  state_d = StError;
      default:  state_d = Hardened ? StError : StIdle;
    endcase
    if (wipe_i && !is_error) state_d = StIdle;
  end

  // The hash that starts, and its number of values. A key has two values after C.
  long_e next;
  always_comb begin
    next   = message_i ? LongMessage : root_i ? LongKey : (hash_q == LongKey) ? LongLeaf : LongNode;
    unique case (next)
      LongKey:     values = chains_i;
      LongMessage: values = 9'd3;
      LongLeaf:    values = 9'd1;
      default:     values = 9'd2;
    endcase
  end

  // The kind of the hash, and the node that it computes.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hash_q     <= LongKey;
      level_q    <= '0;
      node_q     <= '0;
      is_right_q <= 1'b0;
      loading_q  <= 1'b0;
    end else begin
      if (starts) hash_q <= next;
      if (next_hash) begin
        level_q    <= (next == LongLeaf) ? '0 : level_q + 5'd1;
        // The leaf of q has the number 2^h + q.
        node_q     <= (next == LongLeaf) ? index_i[25:0] | (26'd1 << height_i) : node_q >> 1;
        is_right_q <= node_q[0];
      end
      if (cmd_valid_o && cmd_ready_i) loading_q <= cmd_o == CmdResume;
      else if (load_last_i)           loading_q <= 1'b0;
      if (wipe_i)                     loading_q <= 1'b0;
    end
  end

  // --- slots ---
  logic       write, saves;
  logic [3:0] write_row;
  logic [1:0] write_halves;
  logic [2:0] added, head;
  logic       ended, complete;
  logic [3:0] bytes;
  logic [4:0] feed_row, read_row;
  row_t       write_data, slot_data;

  assign save_ready_o = ~write;
  assign saves        = save_valid_i & save_ready_o;
  assign slots_busy   = loading_q;
  assign read_row     = loading_q ? {4'd8, load_row_i} : in_idle ? {4'd8, result_row_i} : feed_row;
  assign load_valid_o = loading_q;
  assign load_o       = slot_data;
  assign result_o     = slot_data;
  // A state in the middle of a message leaves as well when the message is late, and is no digest.
  assign digest_o     = saves & in_result & (hash_q == LongMessage);

  lms_slots u_slots (
    .clk_i, .rst_ni,
    .write_i       (write | saves),
    .write_row_i   (write ? {1'b0, write_row} : {4'd8, save_row_i}),
    .write_halves_i(write ? write_halves : 2'b11),
    .write_data_i  (write ? write_data : save_i),
    .read_row_i    (read_row),
    .read_data_o   (slot_data)
  );

  lms_fetch #(.Hardened(Hardened)) u_fetch (
    .clk_i, .rst_ni, .wipe_i,
    .error_o       (fetch_error),
    .message_i, .root_i, .from_memory_i, .key_i, .is_short_i, .height_i, .levels_i,
    .end_valid_i, .end_ready_o, .end_moved_i, .end_chain_i,
    .ends_last_i   (end_last_i),
    .msg_valid_i, .msg_ready_o, .msg_i, .msg_last_i, .msg_bytes_i,
    .read_valid_o, .read_ready_i, .read_place_o, .read_row_o, .read_data_i, .end_data_i,
    .head_i        (head),
    .blocked_i     (save_valid_i),
    .write_o       (write),
    .write_row_o   (write_row),
    .write_halves_o(write_halves),
    .write_data_o  (write_data),
    .pairs_o       (added),
    .complete_o    (complete),
    .ended_o       (ended),
    .bytes_o       (bytes)
  );

  lms_feed u_feed (
    .clk_i, .rst_ni, .wipe_i,
    .reset_ring_i (message_i | root_i),
    .start_i      (starts),
    .hash_i       (hash_q),
    .identifier_i,
    .number_i     (number),
    .values_i     (values),
    .to_end_i     (hash_q == LongMessage && !from_memory_i),
    .is_short_i,
    .is_right_i   (is_right_q),
    .pairs_added_i(added),
    .complete_i   (complete),
    .ended_i      (ended),
    .bytes_i      (bytes),
    .head_o       (head),
    .blocked_i    (slots_busy),
    .awaits_i,
    .read_row_o   (feed_row),
    .read_data_i  (slot_data),
    .offers_o     (offers),
    .is_first_o   (is_first),
    .lane_valid_o, .lane_ready_i, .lane_o, .block_end_i,
    .end_o        (hash_end)
  );

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, is_error && Hardened |=> is_error)
  // In an error no block is offered and nothing is reported as done.
  `ASSERT(AnErrorOffersNothing_A, is_error |-> !cmd_valid_o && !done_o)
  // The number of a node gives its place in the tree: a parent of the root would be compared in
  // place of the root.
  `ASSERT(TheRootHasNumberOne_A, node_o && is_root |-> node_q == 26'd1)
  // A state is loaded only after it was stored.
  `ASSERT(AResumedStateIsThere_A, loading_q |-> !awaits_i)
  // A new command would drop the hash that is under way.
  `ASSERT(WorkBeginsWhenIdle_A, message_i || root_i |-> in_idle && !awaits_i)
endmodule
