// A lane: what takes a hash core through a job, and the operands of that.
//
// A job passes through three stages: its operands are loaded, it is computed, its results are stored. So the core
// computes while the next job's operands come. All operands of a job exist before a lane is given it, and a lane waits
// for no other: this is why no order of jobs can block the lanes.
//
// A hash is over for the second stage when the core has its last word. With `Overlaps` its state comes out while the
// next hash begins, of this job or of the next one; without it, or if there is none in time, by a command of its own.
//
// A job may forward its result: it is reported before its state comes out, and the next job of the lane, which is given
// to no other, gets it as an operand. So nodes that follow from each other are neither stored nor loaded.

`include "assert.svh"

module xmss_lane
  import xmss_pkg::*;
  import sha2_pkg::*;
#(
  parameter bit Overlaps = 1'b0,  // a hash begins while the state of the one before comes out
  parameter bit HasShort = 1'b0,  // values of 24 bytes
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        wipe_i,  // drops the job
  output logic        error_o,   // until reset
  output logic        idle_o,  // nothing is loaded, computed or stored

  // Of the signature, in this layer.
  input  logic        is_short_i,  // values of 24 bytes
  input  logic [3:0]  layer_i,
  input  logic [54:0] tree_i,
  input  logic [19:0] leaf_i,

  input  logic        job_valid_i,  // all operands of the job exist
  output logic        job_ready_o,  // only when the core has the last word of the job before
  input  job_t        job_i,

  // The memory: rows to read, which come a cycle after they were granted, and rows to write.
  output logic        read_valid_o,
  input  logic        read_ready_i,
  output operand_t    read_o,
  input  row_t        read_data_i,  // a cycle after the grant
  output logic        write_valid_o,
  input  logic        write_ready_i,
  output result_t     write_o,
  output row_t        write_data_o,

  // The job is done, and its results are in the memory.
  output logic        done_valid_o,
  input  logic        done_ready_i,
  output job_e        done_kind_o,  // what it was
  output node_t       done_node_o,  // and of which node or chain
  output logic [3:0]  done_steps_o,  // of a chain

  output hash_request_t  hash_o,  // the core
  input  hash_response_t hash_i
);
  // A [6,3,3] code, as in `sha2_control`.
  typedef enum logic [5:0] {
    StIdle  = 6'b001011,
    StIssue = 6'b010101,  // offers the next block to the core
    StFeed  = 6'b011110,
    StStore = 6'b101101,  // waits until the job before is stored
    StError = 6'b110011
  } state_e;

  logic is_short;
  assign is_short = HasShort & is_short_i;

  // --- operands of the next job ---
  job_t       next_q, job_q;
  logic       next_valid_q, next_set_q, loaded, fetches, fetched_q, takes_job, finishes;
  logic [2:0] load_q, load_end;  // values that are loaded, and how many there are
  logic       skips_left, skips_right;
  logic       load_row_q, fetched_row_q;  // of the read, and of the row that comes
  slot_e      load_slot, fetched_slot_q;  // and their slots
  logic       busy, storing_q;  // words of a job are fed; one is stored, or waits for its state
  logic       store_waits_q;  // the last result is still in the core
  logic       store_forwards_q, keeps_q, keeps, gets_child;  // and stays there for the next job, which comes

  // How many loads a job has, and what each one is. A node has the most: children, state and both masks, ten rows.
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
  // A child that is forwarded is not loaded.
  assign skips_left  = job_i.is_forwarded & ~job_i.is_right;
  assign skips_right = next_q.is_forwarded & next_q.is_right & (load_q == '0);
  assign read_o      = '{kind: next_q.kind, node: next_q.node, is_right: next_q.is_right, part: load_q, row: load_row_q};
  assign read_valid_o = next_valid_q & (load_q != load_end);
  assign fetches      = read_valid_o & read_ready_i;
  assign loaded       = next_valid_q & (load_q == load_end) & ~fetched_q;
  // A job is taken late, so that urgent ones find a lane. Then at most one job before is not stored, in the other set.
  assign job_ready_o  = ~next_valid_q & ~busy & ~wipe_i & ~error_o;
  assign gets_child   = job_valid_i & job_ready_o & job_i.is_forwarded;

  // The job whose operands are loaded. A row is in its slot a cycle after it was read.
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
  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;
  logic       in_idle, in_issue, in_feed, in_store;
  logic       set_q, hash_error, starts_feed;  // the slots of the job; an upset of the core; lanes of a hash are made
  logic       has_hash, is_last_step, is_end;
  logic [1:0] hash_step_q;  // of the hashes of a step or node
  logic [3:0] chain_step_q;  // of the chain
  logic       block_q, loading_q, resumes;  // the second block; the state goes in; it has to
  hash_e      hash;
  slot_e      result_slot;  // of the hash
  logic       save_wanted_q, save_set_q;  // the state of the hash before was not taken; it goes to this set of slots
  slot_e      save_slot_q;                // and to this slot
  logic       saves, save_ends;
  logic       cmd_valid, cmd_ready, takes_cmd;  // a block is offered; the core takes a command; it is that of the block
  logic       lane_valid, lane_ready, load_last, hash_load_row, feed_end, block_end;
  logic       save_valid, save_ready, save_last, hash_save_row;
  logic [1:0] save_halves;  // the words that come out in this cycle
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

  // Hashes of a job, one after the other, and where the result of each goes. A PRF gives the key first.
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
        // With 24 bytes the block with the key has words of a child as well, so that the key is kept and not a state.
        2'd2:    {hash, result_slot, is_last_step} = {HashPrf, SlotMaskB, is_short};
        default: {hash, result_slot, is_last_step} = {HashKey, SlotState, 1'b1};
      endcase
      JobNode:  {hash, result_slot, is_last_step} = {HashH, SlotA, 1'b1};
      default:  {hash, result_slot, is_last_step} = {HashRaw, SlotState, 1'b1};
    endcase
  end

  // A chain ends with step w - 2; one whose digit is w - 1 has no steps.
  assign is_end    = is_last_step & ((job_q.kind != JobChain) | (chain_step_q == 4'd14));
  // With 24 bytes no block is the same for all PRFs, nor for a node before its children are known (SP 800-208 §5).
  assign resumes   = (~is_short & ((hash == HashPrf) | (hash == HashH))) | ((hash == HashRaw) & ~job_q.is_first);
  assign cmd       = block_q ? CmdNext : resumes ? CmdResume : CmdFirst;
  assign finishes  = (in_store | (feed_end & is_end)) & ~storing_q;
  // The first job makes what the next one begins with.
  assign takes_job = in_idle & loaded & ~(save_wanted_q & (save_slot_q == SlotMid)) & ~wipe_i;
  assign has_hash  = (next_q.kind != JobChain) | (next_q.step != 4'd15);
  // The first lanes of a hash are made before its command is taken, because they never depend on the hash before.
  assign starts_feed = (feed_end & ~is_end) | (takes_job & has_hash);

  // The blocks of a hash: each is offered to the core, and fed.
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
  // Without another hash in time the core is asked for it, when its rounds are over.
  logic core_cmd_valid, asks;
  cmd_e core_cmd;
  // A forwarded child comes before the hash, whose first words are made of it. Until its job is there it stays in the core.
  assign asks           = save_wanted_q & ~keeps & (in_idle | in_store | (in_issue & (~Overlaps | job_q.is_forwarded)));
  assign keeps          = keeps_q | (storing_q & store_forwards_q);
  assign core_cmd_valid = cmd_valid | asks;
  assign core_cmd       = asks ? CmdSave : cmd;
  // The command of a state comes first: its answer belongs to the hash before.
  assign takes_cmd      = in_issue & cmd_ready & ~asks;
  // A state without a use is let go.
  assign save_ready     = ~fetched_q | ~save_wanted_q;
  assign saves          = save_wanted_q & save_valid & save_ready;
  assign save_ends      = saves & save_last;

  // Where a job is: its hash, its block, its step.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q         <= StIdle;
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
      state_q <= state_d;
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

  // --- slots: reads of the state first, then of the message, then of results ---
  logic       feed_reads, store_reads;  // who has the read ports
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

  // Masks have their halves exchanged, see `xmss_feed`.
  logic is_mask;  // what comes out is a mask
  assign is_mask         = (save_slot_q == SlotMaskA) || (save_slot_q == SlotMaskB);
  assign slot_write.high = fetched_q ? read_data_i.high : is_mask ? save_data.low : save_data.high;
  assign slot_write.low  = fetched_q ? read_data_i.low : is_mask ? save_data.high : save_data.low;

  logic [4:0] fetch_row, save_row;  // where a row from memory goes, and one of the state
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
    // One of them is zero: a chain has no index, and a preparation no steps.
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
  logic [1:0] store_q, store_end;  // values that are stored, and how many there are
  job_e       store_kind_q;  // the job whose results are stored, and what of it is needed
  node_t      store_node_q;
  logic [3:0] store_steps_q;

  // How many values a job stores, and which.
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
      // From the last word of a job on its result is awaited. It may leave only in the turn of the next job's first hash.
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

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(AnErrorTakesNoJob_A, error_o |-> !job_ready_o)
  `ASSERT(AJobBeginsWithItsOperands_A, takes_job |-> load_q == load_end && !fetched_q)
  `ASSERT(ASetInUseIsNotLoaded_A, fetched_q |-> !(busy && set_q == next_set_q) && !(storing_q && store_set_q == next_set_q))
  `ASSERT(AChainIsWalkedToItsEnd_A, finishes && job_q.kind == JobChain |->
          chain_step_q + 4'(feed_end) == 4'd15)
  `ASSERT(AStateIsTakenBeforeTheNext_A, feed_end |-> !save_wanted_q)
  // The lane reads the state of all PRFs while it may write the state of the hash before.
  // With 24 bytes F begins with the key, and has the mask of the hash before in its fourth lane already.
  `ASSERT(AMaskIsThereWhenItIsHashed_A, hash == HashF && feed_reads && save_wanted_q && save_slot_q == SlotMaskA |->
          !(u_feed.source_upper.is_value && u_feed.source_upper.is_masked) &&
          !(u_feed.source_lower.is_value && u_feed.source_lower.is_masked))
  `ASSERT(APrfHasItsState_A, loading_q && hash == HashPrf |-> !save_wanted_q || save_slot_q != SlotMid)
  `ASSERT(AResultIsThereWhenItIsStored_A, write_valid_o |-> !save_wanted_q || save_set_q != store_set_q)
  // A child that left for another place would be missing, and one that is not kept would never come.
  `ASSERT(AForwardedChildIsKept_A, gets_child |-> keeps_q && save_wanted_q)
  `ASSERT(OnlyItsJobFollowsAChild_A, job_valid_i && job_ready_o && keeps |-> job_i.is_forwarded)
  `ASSERT(RowsAreNotLost_A, fetched_q |-> next_valid_q)
endmodule
