// A lane: it leads one hash core through a job, and has the operands of the job.
//
// A job passes through three stages: its operands are loaded, it is computed, its results are
// stored. So the core computes while the next job's operands come. All operands of a job exist
// before a lane is given the job, and a lane waits for no other lane: this is why no order of jobs
// can block the lanes.
//
// For the second stage a hash is over when the core has its last word. With `Overlaps` its state
// leaves while the next hash begins, of this job or of the next one. Without it, or if there is no
// next hash in time, a command of its own asks for the state.
//
// A job may forward its result: it is reported before its state leaves the core, and the next job
// of the lane, which is given to no other lane, gets the state as an operand. So nodes that follow
// from each other are neither stored nor loaded.
//
// Interface: jobs, reads, writes and reports have valid and ready. A chain step takes 4
// compressions (5 with 24 bytes), a node 6 (8). Reset and `wipe_i` drop all jobs.
//
// Hardening: states differ in three bits, and every other code is `error_o` until reset. Operands
// are not protected; a wrong one leads to another root.

`include "assert.svh"

module xmss_lane
  import xmss_pkg::*;
  import sha2_pkg::*;
#(
  // A hash begins while the state of the hash before leaves the core.
  parameter bit Overlaps = 1'b0,
  // Values of 24 bytes are built in.
  parameter bit HasShort = 1'b0,
  // 0 builds a lane that continues from an illegal state, to show that the test detects it.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Drops the jobs.
  input  logic        wipe_i,
  // The lane or its hash core is in an illegal state. It lasts until reset.
  output logic        error_o,
  // No job is loaded, computed or stored.
  output logic        idle_o,

  // Properties of the signature in this layer, for the addresses of hashes (RFC 8391 §2.5).
  // Values have 24 bytes.
  input  logic        is_short_i,
  input  logic [3:0]  layer_i,
  input  logic [54:0] tree_i,
  input  logic [19:0] leaf_i,

  // A job, all of whose operands exist. It is taken only when the core has the last word of the job
  // before.
  input  logic        job_valid_i,
  output logic        job_ready_o,
  input  job_t        job_i,

  // The memory: rows to read, which come a cycle after their grant, and rows to write.
  output logic        read_valid_o,
  input  logic        read_ready_i,
  output operand_t    read_o,
  input  row_t        read_data_i,
  output logic        write_valid_o,
  input  logic        write_ready_i,
  output result_t     write_o,
  output row_t        write_data_o,

  // A job is done, and its results are in the memory or kept for the next job.
  output logic        done_valid_o,
  input  logic        done_ready_i,
  // The kind of the job, its node or chain, and the steps of a chain.
  output job_e        done_kind_o,
  output node_t       done_node_o,
  output logic [3:0]  done_steps_o,

  // The hash core.
  output hash_request_t  hash_o,
  input  hash_response_t hash_i
);
  // A [6,3,3] code, as in `sha2_control`: any two states differ in at least three bits.
  typedef enum logic [5:0] {
    // Waits for a job whose operands are loaded.
    StIdle  = 6'b001011,
    // Offers the next block to the core, until the core takes its command.
    StIssue = 6'b010101,
    // Feeds the words of the block.
    StFeed  = 6'b011110,
    // Waits until the results of the job before are stored.
    StStore = 6'b101101,
    // Only a reset ends this state.
    StError = 6'b110011
  } state_e;

  logic is_short;
  assign is_short = HasShort & is_short_i;

  // --- operands of the next job ---
  // The job whose operands are loaded (`next_q`), and the job that is computed (`job_q`).
  job_t       next_q, job_q;
  logic       next_valid_q, next_set_q, loaded, fetches, fetched_q, takes_job, finishes;
  // The number of values that are loaded, and how many the job has.
  logic [2:0] load_q, load_end;
  logic       skips_left, skips_right;
  // The row of the current read, and of the row that comes.
  logic       load_row_q, fetched_row_q;
  // The slots of both.
  slot_e      load_slot, fetched_slot_q;
  // Words of a job are fed; a job is stored, or waits for its state.
  logic       busy, storing_q;
  // The last result is still in the core.
  logic       store_waits_q;
  // The result stays in the core for the next job of the lane, which comes in this cycle.
  logic       store_forwards_q, keeps_q, keeps, gets_child;

  // The number of loads of a job, and the slot of each. A node has the most: children, state and
  // both masks, which are ten rows.
  always_comb begin
    unique case (next_q.kind)
      JobInit:  load_end = 3'd1;
      JobChain: load_end = 3'd1;
      JobNode:  load_end = 3'd5;
      JobBlock: load_end = next_q.is_first ? 3'd2 : 3'd3;
      default:  load_end = 3'd0;
    endcase
    unique case (load_q)
      3'd0:    load_slot = (next_q.kind == JobInit) ? SlotSeed : SlotA;
      3'd1:    load_slot = SlotB;
      3'd2:    load_slot = (is_short && next_q.kind == JobNode) ? SlotKey : SlotState;
      3'd3:    load_slot = SlotMaskA;
      default: load_slot = SlotMaskB;
    endcase
  end
  // A child that is forwarded is not loaded: the left one is skipped at the start, the right one
  // after the left one was loaded.
  assign skips_left  = job_i.is_forwarded & ~job_i.is_right;
  assign skips_right = next_q.is_forwarded & next_q.is_right & (load_q == '0);
  assign read_o      = '{kind: next_q.kind, node: next_q.node, is_right: next_q.is_right, part: load_q, row: load_row_q};
  assign read_valid_o = next_valid_q & (load_q != load_end);
  assign fetches      = read_valid_o & read_ready_i;
  assign loaded       = next_valid_q & (load_q == load_end) & ~fetched_q;
  // A job is taken late, so that urgent jobs find a lane. Then at most one job before is not stored
  // yet, in the other set of slots.
  assign job_ready_o  = ~next_valid_q & ~busy & ~wipe_i & ~error_o;
  assign gets_child   = job_valid_i & job_ready_o & job_i.is_forwarded;

  // The loading of a job's operands. A row is in its slot a cycle after it was read.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_q         <= '0;
      next_valid_q   <= 1'b0;
      next_set_q     <= 1'b0;
      load_q         <= '0;
      load_row_q     <= 1'b0;
      fetched_q      <= 1'b0;
      fetched_row_q  <= 1'b0;
      fetched_slot_q <= SlotMid;
    end else if (wipe_i) begin
      next_valid_q <= 1'b0;
      load_q       <= '0;
      load_row_q   <= 1'b0;
      fetched_q    <= 1'b0;
    end else begin
      fetched_q      <= fetches;
      fetched_row_q  <= load_row_q;
      fetched_slot_q <= load_slot;
      if (fetches) begin
        load_row_q <= ~load_row_q;
        if (load_row_q) load_q <= load_q + (skips_right ? 3'd2 : 3'd1);
      end
      if (takes_job) begin
        next_valid_q <= 1'b0;
        next_set_q   <= ~next_set_q;
      end
      if (job_valid_i && job_ready_o) begin
        next_q       <= job_i;
        next_valid_q <= 1'b1;
        load_q       <= 3'(skips_left);
      end
    end
  end

  // --- the job that is computed ---
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic       in_idle, in_issue, in_feed, in_store;
  // Set of slots of the job; an upset of the core; the words of a hash begin.
  logic       set_q, hash_error, starts_feed;
  logic       has_hash, is_last_step, is_end;
  // The hash within a step or node.
  logic [1:0] hash_step_q;
  // The step within the chain.
  logic [3:0] chain_step_q;
  // This is the second block; a state enters the core; the hash begins with a stored state.
  logic       block_q, loading_q, resumes;
  hash_e      hash;
  // The slot of the result of this hash.
  slot_e      result_slot;
  // The state of the hash before was not taken yet. It goes to this set and to this slot.
  logic       save_wanted_q, save_set_q;
  slot_e      save_slot_q;
  logic       saves, save_ends;
  // A block is offered; the core takes a command; it takes the command of the block.
  logic       cmd_valid, cmd_ready, takes_cmd;
  logic       lane_valid, lane_ready, load_last, hash_load_row, feed_end, block_end;
  logic       save_valid, save_ready, save_last, hash_save_row;
  // The words of each half that leave in this cycle.
  logic [1:0] save_halves;
  logic [63:0] lane;
  row_t       save_data, slot_data;
  cmd_e       cmd;

  assign in_idle  = state_q == StIdle;
  assign in_issue = state_q == StIssue;
  assign in_feed  = state_q == StFeed;
  assign in_store = state_q == StStore;
  assign error_o  = ~(in_idle | in_issue | in_feed | in_store) | hash_error;
  assign busy     = ~in_idle;
  assign idle_o   = in_idle & ~next_valid_q & ~storing_q;

  // The hashes of a job, one after the other, and the slot of each result. The first PRF makes the
  // key.
  always_comb begin
    hash         = HashPrf;
    result_slot  = SlotKey;
    is_last_step = 1'b0;
    unique case (job_q.kind)
      JobInit:  {hash, result_slot, is_last_step} = {HashInit, SlotMid, 1'b1};
      JobChain: unique case (hash_step_q)
        2'd0:    {hash, result_slot, is_last_step} = {HashPrf, SlotKey, 1'b0};
        2'd1:    {hash, result_slot, is_last_step} = {HashPrf, SlotMaskA, 1'b0};
        default: {hash, result_slot, is_last_step} = {HashF, SlotA, 1'b1};
      endcase
      JobPrep: unique case (hash_step_q)
        2'd0:    {hash, result_slot, is_last_step} = {HashPrf, SlotKey, 1'b0};
        2'd1:    {hash, result_slot, is_last_step} = {HashPrf, SlotMaskA, 1'b0};
        // With 24 bytes the block with the key has words of a child as well, so the key is kept and
        // not a state.
        2'd2:    {hash, result_slot, is_last_step} = {HashPrf, SlotMaskB, is_short};
        default: {hash, result_slot, is_last_step} = {HashKey, SlotState, 1'b1};
      endcase
      JobNode:  {hash, result_slot, is_last_step} = {HashH, SlotA, 1'b1};
      default:  {hash, result_slot, is_last_step} = {HashRaw, SlotState, 1'b1};
    endcase
  end

  // A chain ends with step w - 2 (w is 16). A chain whose digit is w - 1 has no steps.
  assign is_end    = is_last_step & ((job_q.kind != JobChain) | (chain_step_q == 4'd14));
  // With 24 bytes no block is the same for all PRFs, nor for a node before its children are known
  // (SP 800-208 §5).
  assign resumes   = (~is_short & ((hash == HashPrf) | (hash == HashH))) | ((hash == HashRaw) & ~job_q.is_first);
  assign cmd       = block_q ? CmdNext : resumes ? CmdResume : CmdFirst;
  assign finishes  = (in_store | (feed_end & is_end)) & ~storing_q;
  // The first job computes the state that every later job begins with, so that state has to be
  // stored.
  assign takes_job = in_idle & loaded & ~(save_wanted_q & (save_slot_q == SlotMid)) & ~wipe_i;
  assign has_hash  = (next_q.kind != JobChain) | (next_q.step != 4'd15);
  // The first words of a hash are prepared before its command is taken, because they never depend
  // on the hash before.
  assign starts_feed = (feed_end & ~is_end) | (takes_job & has_hash);

  // The blocks of a hash: each is offered to the core, and then fed.
  always_comb begin
    state_d     = state_q;
    cmd_valid   = 1'b0;
    unique case (state_q)
      StIdle: state_d = StIdle;
      StIssue: begin
        cmd_valid = 1'b1;
        if (takes_cmd) state_d = StFeed;
      end
      StFeed: begin
        if (block_end) state_d = StIssue;
        if (feed_end && is_end) state_d = StStore;
      end
      StStore: state_d = StStore;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (finishes)  state_d = StIdle;
    if (takes_job) state_d = has_hash ? StIssue : StStore;
    if (wipe_i && !error_o) state_d = StIdle;
    if (hash_error && Hardened) state_d = StError;
  end

  // --- the state of the hash before ---
  // If no other hash begins in time, the core is asked for its state with a command, after its
  // rounds.
  logic core_cmd_valid, asks;
  cmd_e core_cmd;
  // A forwarded child has to leave before the hash, whose first words are made of it. Until its job
  // comes it stays in the core.
  assign asks           = save_wanted_q & ~keeps & (in_idle | in_store | (in_issue & (~Overlaps | job_q.is_forwarded)));
  assign keeps          = keeps_q | (storing_q & store_forwards_q);
  assign core_cmd_valid = cmd_valid | asks;
  assign core_cmd       = asks ? CmdSave : cmd;
  // The command for a state comes first, because its answer belongs to the hash before.
  assign takes_cmd      = in_issue & cmd_ready & ~asks;
  // A state that nobody needs is taken and dropped.
  assign save_ready     = ~fetched_q | ~save_wanted_q;
  assign saves          = save_wanted_q & save_valid & save_ready;
  assign save_ends      = saves & save_last;

  // The place within a job: its hash, its block, its step; and the destination of the state.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      job_q           <= '0;
      set_q           <= 1'b0;
      hash_step_q     <= '0;
      chain_step_q    <= '0;
      block_q         <= 1'b0;
      loading_q       <= 1'b0;
      save_wanted_q   <= 1'b0;
      save_set_q      <= 1'b0;
      save_slot_q     <= SlotMid;
    end else begin
      if (wipe_i) begin
        block_q         <= 1'b0;
        loading_q       <= 1'b0;
        save_wanted_q   <= 1'b0;
      end else begin
        if (takes_job) begin
          job_q        <= next_q;
          set_q        <= next_set_q;
          hash_step_q  <= '0;
          chain_step_q <= next_q.step;
        end
        if (takes_cmd)      loading_q <= resumes & ~block_q;
        else if (load_last) loading_q <= 1'b0;
        if (block_end) block_q <= ~feed_end;
        if (save_ends) save_wanted_q <= 1'b0;
        if (gets_child) begin
          save_set_q  <= next_set_q;
          save_slot_q <= job_i.is_right ? SlotB : SlotA;
        end
        if (feed_end) begin
          hash_step_q   <= is_last_step ? '0 : hash_step_q + 2'd1;
          chain_step_q  <= chain_step_q + 4'(is_last_step);
          save_wanted_q <= 1'b1;
          save_set_q    <= set_q;
          save_slot_q   <= result_slot;
        end
      end
    end
  end

  // --- slots ---
  // The read ports of the slots have three users: a state that enters the core has priority over
  // words of a hash, and these over results that are stored.
  // The hash, or the storing of results, uses the read ports.
  logic       feed_reads, store_reads;
  logic [4:0] feed_upper_high, feed_upper_low, feed_lower_high, feed_lower_low;
  logic [4:0] read_upper_high, read_upper_low, read_lower_high, read_lower_low, state_row, store_row;
  slot_e      store_slot;
  logic       store_set_q, store_row_q;
  row_t       slot_write;

  assign state_row = (hash == HashPrf) ? {1'b0, SlotMid, hash_load_row} : {set_q, SlotState, hash_load_row};
  assign store_row = {store_set_q, store_slot, store_row_q};
  assign read_upper_high = loading_q ? state_row : feed_reads ? feed_upper_high : store_row;
  assign read_upper_low  = loading_q ? state_row : feed_reads ? feed_upper_low : store_row;
  assign read_lower_high = loading_q ? state_row : feed_reads ? feed_lower_high : store_row;
  assign read_lower_low  = loading_q ? state_row : feed_reads ? feed_lower_low : store_row;

  // Masks have their halves exchanged, so that they are read together with a value (`xmss_feed`).
  // The state that leaves the core is a mask.
  logic is_mask;
  assign is_mask         = (save_slot_q == SlotMaskA) || (save_slot_q == SlotMaskB);
  assign slot_write.high = fetched_q ? read_data_i.high : is_mask ? save_data.low : save_data.high;
  assign slot_write.low  = fetched_q ? read_data_i.low : is_mask ? save_data.high : save_data.low;

  // The slot of a row from memory, and of a row of the state.
  logic [4:0] fetch_row, save_row;
  assign fetch_row = {(fetched_slot_q == SlotSeed) ? 1'b0 : next_set_q, fetched_slot_q, fetched_row_q};
  assign save_row  = {(save_slot_q == SlotMid) ? 1'b0 : save_set_q, save_slot_q, hash_save_row};

  xmss_slots u_slots (
    .clk_i, .rst_ni,
    .write_i       (fetched_q | saves),
    .write_row_i   (fetched_q ? fetch_row : save_row),
    .write_halves_i(fetched_q ? 2'b11 : save_halves),
    .write_data_i  (slot_write),
    .read_upper_high_i(read_upper_high),
    .read_upper_low_i (read_upper_low),
    .read_lower_high_i(read_lower_high),
    .read_lower_low_i (read_lower_low),
    .read_data_o   (slot_data)
  );

  xmss_feed #(.HasShort(HasShort)) u_feed (
    .clk_i, .rst_ni, .wipe_i,
    .start_i     (starts_feed),
    .hash_i      (hash),
    .is_short_i  (is_short),
    .set_i       (set_q),
    .type_i      (job_q.kind == JobChain ? TypeOts : job_q.node.is_path ? TypeHashTree : TypeLTree),
    .layer_i, .tree_i,
    .leaf_i      (job_q.node.is_path ? '0 : leaf_i),
    .chain_i     (job_q.chain),
    // At least one of the two is zero: a chain has no index, and a preparation has no steps.
    .step_i      (job_q.index | 20'(chain_step_q)),
    .part_i      (hash_step_q),
    .blocked_i   (loading_q | (job_q.is_forwarded & save_wanted_q)),
    .reads_o     (feed_reads),
    .read_upper_high_o(feed_upper_high),
    .read_upper_low_o (feed_upper_low),
    .read_lower_high_o(feed_lower_high),
    .read_lower_low_o (feed_lower_low),
    .read_data_i (slot_data),
    .lane_valid_o(lane_valid),
    .lane_ready_i(lane_ready),
    .lane_o      (lane),
    .block_end_o (block_end),
    .end_o       (feed_end)
  );

  // --- the hash core ---
  assign hash_o = '{
    wipe:       wipe_i,
    cmd_valid:  core_cmd_valid,
    cmd:        core_cmd,
    lane_valid: lane_valid,
    lane:       lane,
    load_valid: loading_q,
    load:       slot_data,
    save_ready: save_ready
  };
  assign hash_error    = hash_i.error;
  assign cmd_ready     = hash_i.cmd_ready;
  assign lane_ready    = hash_i.lane_ready;
  assign load_last     = hash_i.load_last;
  assign hash_load_row = hash_i.load_row;
  assign save_valid    = hash_i.save_valid;
  assign save_last     = hash_i.save_last;
  assign hash_save_row = hash_i.save_row;
  assign save_halves   = hash_i.save_halves;
  assign save_data     = hash_i.save;

  // --- results ---
  // The number of values that are stored, and how many there are.
  logic [1:0] store_q, store_end;
  // The job whose results are stored, with what the report needs of it.
  job_e       store_kind_q;
  node_t      store_node_q;
  logic [3:0] store_steps_q;

  // The number of values that a job stores, and their slots.
  always_comb begin
    store_end  = 2'd1;
    store_slot = SlotA;
    unique case (store_kind_q)
      JobInit:  store_end = 2'd0;
      JobPrep: begin
        store_end  = 2'd3;
        store_slot = (store_q == 2'd0) ? SlotMaskA : (store_q == 2'd1) ? SlotMaskB :
                     is_short ? SlotKey : SlotState;
      end
      JobBlock: store_slot = SlotState;
      default:  store_slot = SlotA;
    endcase
  end
  assign write_valid_o = storing_q & ~store_waits_q & (store_q != store_end) & ~loading_q & ~feed_reads;
  assign store_reads   = write_valid_o & write_ready_i;
  assign write_o       = '{kind: store_kind_q, node: store_node_q, part: store_q, row: store_row_q};
  assign write_data_o  = slot_data;
  assign done_valid_o  = storing_q & (store_forwards_q | (~store_waits_q & (store_q == store_end)));
  assign done_kind_o   = store_kind_q;
  assign done_node_o   = store_node_q;
  assign done_steps_o  = store_steps_q;

  // The job that is stored. It leaves when it was reported.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      storing_q      <= 1'b0;
      store_waits_q  <= 1'b0;
      store_q        <= '0;
      store_row_q    <= 1'b0;
      store_set_q    <= 1'b0;
      store_kind_q   <= JobInit;
      store_node_q   <= '0;
      store_steps_q    <= '0;
      store_forwards_q <= 1'b0;
      keeps_q          <= 1'b0;
    end else if (wipe_i) begin
      storing_q     <= 1'b0;
      keeps_q       <= 1'b0;
      store_waits_q <= 1'b0;
      store_row_q   <= 1'b0;
    end else begin
      if (store_reads) begin
        store_row_q <= ~store_row_q;
        store_q     <= store_q + 2'(store_row_q);
      end
      if (done_valid_o && done_ready_i) begin
        storing_q <= 1'b0;
        keeps_q   <= store_forwards_q;
      end
      if (gets_child) keeps_q <= 1'b0;
      // From the last word of a job on its result is awaited. It may leave the core only while the
      // next job's first hash begins.
      if (save_ends) store_waits_q <= 1'b0;
      if (finishes) begin
        storing_q      <= 1'b1;
        store_waits_q  <= feed_end | (save_wanted_q & ~save_ends);
        store_q        <= '0;
        store_set_q    <= set_q;
        store_kind_q   <= job_q.kind;
        store_node_q   <= job_q.node;
        store_forwards_q <= job_q.forwards;
        store_steps_q  <= chain_step_q + 4'(feed_end) - job_q.step;
      end
    end
  end

  logic unused_load_next;
  assign unused_load_next = hash_i.load_next;

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // A lane with an error gets no more work.
  `ASSERT(AnErrorTakesNoJob_A, error_o |-> !job_ready_o)
  // A job begins only when all of its operands are in their slots.
  `ASSERT(AJobBeginsWithItsOperands_A, takes_job |-> load_q == load_end && !fetched_q)
  // Operands are never loaded over those of a job that is computed or stored.
  `ASSERT(ASetInUseIsNotLoaded_A, fetched_q |-> !(busy && set_q == next_set_q) && !(storing_q && store_set_q == next_set_q))
  // A chain that ends early would give another public key (RFC 8391 §3.1.6).
  `ASSERT(AChainIsWalkedToItsEnd_A, finishes && job_q.kind == JobChain |->
          chain_step_q + 4'(feed_end) == 4'd15)
  // The state of a hash has left before the next one ends; otherwise it would be lost.
  `ASSERT(AStateIsTakenBeforeTheNext_A, feed_end |-> !save_wanted_q)
  // With 24 bytes F begins with the key and has a masked word in its fourth lane already. The mask
  // has to be stored by then.
  `ASSERT(AMaskIsThereWhenItIsHashed_A, hash == HashF && feed_reads && save_wanted_q && save_slot_q == SlotMaskA |->
          !(u_feed.source_upper.is_value && u_feed.source_upper.is_masked) &&
          !(u_feed.source_lower.is_value && u_feed.source_lower.is_masked))
  // The lane reads the state of all PRFs only after it was stored, although it may write the state
  // of the hash before at the same time.
  `ASSERT(APrfHasItsState_A, loading_q && hash == HashPrf |-> !save_wanted_q || save_slot_q != SlotMid)
  // A result is stored only after it left the core.
  `ASSERT(AResultIsThereWhenItIsStored_A, write_valid_o |-> !save_wanted_q || save_set_q != store_set_q)
  // A child that went elsewhere would be missing, and a child that is not kept would never come.
  `ASSERT(AForwardedChildIsKept_A, gets_child |-> keeps_q && save_wanted_q)
  // While a child is kept, only the job that uses it is taken.
  `ASSERT(OnlyItsJobFollowsAChild_A, job_valid_i && job_ready_o && keeps |-> job_i.is_forwarded)
  // A row that comes belongs to the job whose operands are loaded.
  `ASSERT(RowsAreNotLost_A, fetched_q |-> next_valid_q)
endmodule
