// A lane: it leads a hash core through chains, trees of FORS and paths, and the first lane through
// T_l.
//
// A job reads its operands from consecutive places of the memory, through a queue that runs ahead,
// and hashes one block after the other. A value stays in the lane from hash to hash: its state
// leaves the core while the next block's state enters, two cycles before the block needs it. So a
// step takes no more cycles than the core's rounds and turn, 34 with two rounds a cycle. Results go
// from the core to the memory. A lane waits for no other lane: all operands of a job exist, or come
// with the stream.
//
// Interface: jobs, reads and results have valid and ready. Reset and `wipe_i` drop the job.
//
// Hardening: any two states differ in three bits, and every other code is `error_o` until reset.
// Operands are not protected; a wrong one leads to another root.

`include "assert.svh"

module slh_dsa_lane
  import slh_dsa_pkg::*;
  import xmss_pkg::row_t;
  import xmss_pkg::hash_request_t;
  import xmss_pkg::hash_response_t;
  import sha2_pkg::*;
#(
  // 1 builds the lane that has blocks of T_l and keeps their state.
  parameter bit IsFirst  = 1'b0,
  // As in the hash core.
  parameter bit Overlaps = 1'b1,
  // 0 builds a lane that continues from an illegal state, to show that the test detects it.
  parameter bit Hardened = 1'b1
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  // Drops the job.
  input  logic           wipe_i,
  // The lane or its hash core is in an illegal state, until reset.
  output logic           error_o,
  // Nothing is computed, and no state waits to leave.
  output logic           idle_o,

  // Parts of all addresses (§4.2).
  input  logic [2:0]     layer_i,
  input  logic [53:0]    tree_i,
  input  logic [8:0]     leaf_i,

  // A job. It is taken only when the core has the last word of the job before.
  input  logic           job_valid_i,
  output logic           job_ready_o,
  input  job_t           job_i,

  // Reads of the memory. A half comes in the cycle after its grant.
  output logic           read_valid_o,
  input  logic           read_ready_i,
  output half_t          read_at_o,
  // The half is one of the results, and not of the signature.
  output logic           of_results_o,
  input  logic [63:0]    read_data_i,

  // The state after PK.seed (§11.2.1), which all lanes get at the same time.
  input  logic           mid_valid_i,
  input  logic           mid_row_i,
  input  logic [1:0]     mid_words_i,
  input  row_t           mid_i,

  // Words of a result, as the core gives them.
  output logic           result_valid_o,
  input  logic           result_ready_i,
  output logic [6:0]     result_at_o,
  output logic           result_last_o,
  // Words of the root of a layer, or of the key of FORS.
  output logic           root_valid_o,
  output logic           root_last_o,

  // A step of a chain was fed, or another hash.
  output logic           step_o,
  output logic           node_o,

  // The hash core.
  output hash_request_t  hash_o,
  input  hash_response_t hash_i
);
  // A [6,3,3] code, as in `sha2_control`: any two states differ in at least three bits.
  typedef enum logic [5:0] {
    // Waits for a job.
    StIdle  = 6'b001011,
    // Offers the next block to the core, until the core takes its command.
    StIssue = 6'b010101,
    // Feeds the block. The last hash of a job leads to `StIdle`.
    StFeed  = 6'b011110,
    // Only a reset ends this state.
    StError = 6'b110011
  } state_e;
  // Destinations of the state of a hash.
  typedef enum logic [1:0] {
    // The slot of the lane's value.
    ToValue  = 2'd0,
    // The slot of the state of T_l.
    ToState  = 2'd1,
    // The memory of results, or the register of the root.
    ToResult = 2'd2,
    ToRoot   = 2'd3
  } goal_e;
  // Slots of two rows each: the state after the seed, the state of T_l, the value. The queue has
  // the upper half of the rows.
  localparam logic [3:0] MidRows   = 4'd0;
  localparam logic [3:0] StateRows = 4'd1;
  localparam logic [3:0] ValueRows = 4'd2;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic in_idle, in_issue, in_feed, takes_job, takes_cmd, asks, feed_end, is_end;

  // --- the job ---
  kind_e       kind_q;
  // Hashes of the job that are left.
  logic [3:0]  left_q;
  // Number of halves in a block.
  logic [4:0]  halves_q;
  logic [5:0]  number_q, second_q;
  logic [15:0] index_q;
  logic        has_value_q, is_right_q, is_first_q, is_last_q;
  logic        is_block, is_pair, continues;

  assign is_block  = IsFirst & (kind_q == KindEnds || kind_q == KindRoots);
  assign is_pair   = (kind_q == KindPath) | ((kind_q == KindTree) & has_value_q);
  assign continues = is_block & ~is_first_q;
  assign is_end    = left_q == 4'd1;

  assign in_idle     = state_q == StIdle;
  assign in_issue    = state_q == StIssue;
  assign in_feed     = state_q == StFeed;
  assign error_o     = ~(in_idle | in_issue | in_feed) | hash_i.error;
  assign job_ready_o = in_idle & ~wipe_i & ~error_o;
  assign takes_job   = job_valid_i & job_ready_o;

  // The blocks of a job: each is offered to the core, and then fed.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  if (takes_job) state_d = StIssue;
      StIssue: if (takes_cmd) state_d = StFeed;
      StFeed:  if (feed_end) state_d = is_end ? StIdle : StIssue;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (wipe_i && !error_o) state_d = StIdle;
    if (hash_i.error && Hardened) state_d = StError;
  end

  // The job, and the position in it. The index of a node is half of the index of its child, which
  // is on the right if its index is odd.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kind_q      <= KindChain;
      left_q      <= '0;
      halves_q    <= '0;
      number_q    <= '0;
      second_q    <= '0;
      index_q     <= '0;
      has_value_q <= 1'b0;
      is_right_q  <= 1'b0;
      is_first_q  <= 1'b0;
      is_last_q   <= 1'b0;
    end else begin
      if (takes_job) begin
        kind_q      <= job_i.kind;
        left_q      <= job_i.hashes;
        halves_q    <= job_i.halves;
        number_q    <= job_i.number;
        second_q    <= job_i.second;
        index_q     <= job_i.index;
        is_right_q  <= job_i.is_right;
        has_value_q <= job_i.kind == KindPath;
        is_first_q  <= job_i.is_first;
        is_last_q   <= job_i.is_last;
      end else if (feed_end && in_feed) begin
        left_q      <= left_q - 4'd1;
        has_value_q <= 1'b1;
        is_right_q  <= index_q[0];
        if (kind_q == KindChain) begin
          index_q[3:0] <= index_q[3:0] + 4'd1;
        end else begin
          index_q  <= index_q >> 1;
          second_q[3:0] <= second_q[3:0] + 4'd1;
        end
      end
    end
  end

  // --- operands: from the memory into the queue ---
  // Operands go from the memory into the queue of sixteen halves.
  half_t      read_at_q;
  // Halves to load; places of the queue to take, to ask for, and filled.
  logic [4:0] loads_q, head_q, tail_q, there_q;
  logic       fetches, fetched_q, queue_valid, queue_take;
  assign read_valid_o = (loads_q != '0) & ((head_q ^ tail_q) != 5'b10000);
  assign read_at_o    = read_at_q;
  assign of_results_o = is_block;
  assign fetches      = read_valid_o & read_ready_i;
  assign queue_valid  = head_q != there_q;

  // A half is in its place two cycles after its grant.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_at_q <= '0;
      loads_q   <= '0;
      head_q    <= '0;
      tail_q    <= '0;
      there_q   <= '0;
      fetched_q <= 1'b0;
    end else if (wipe_i) begin
      loads_q   <= '0;
      head_q    <= '0;
      tail_q    <= '0;
      there_q   <= '0;
      fetched_q <= 1'b0;
    end else begin
      fetched_q <= fetches;
      there_q   <= tail_q;
      head_q    <= head_q + 5'(queue_take);
      if (takes_job) begin
        read_at_q <= job_i.at;
        loads_q   <= job_i.halves;
      end else if (fetches) begin
        read_at_q <= read_at_q + 10'd1;
        loads_q   <= loads_q - 5'd1;
        tail_q    <= tail_q + 5'd1;
      end
    end
  end

  logic        lane_valid;
  // A lane of the core's message.
  logic [63:0] lane;

  // --- the state of the hash before ---
  logic       save_wanted_q, loading_q, goes_on, offers, saves, save_ends, save_ready, to_slots;
  goal_e      goal, goal_q;
  logic [5:0] result_q;

  // A block of T_l that follows the one before at once continues with the core's own state.
  assign goes_on   = continues & save_wanted_q & (goal_q == ToState);
  // If no other hash begins in time, the core is asked for its state with a command, after its
  // rounds.
  assign asks      = save_wanted_q & (in_idle | (in_issue & ~Overlaps & ~goes_on));
  // A block that continues with a state from the slots needs its first lane before: the slots are
  // read for one of them at a time.
  assign offers    = in_issue & (~continues | lane_valid);
  assign takes_cmd = offers & hash_i.cmd_ready & ~asks;
  assign to_slots  = ~goal_q[1];
  assign saves     = save_wanted_q & hash_i.save_valid & save_ready;
  assign save_ends = saves & hash_i.save_last;

  // The destination of the result of the hash that is fed.
  always_comb begin
    goal = ToValue;
    unique case (kind_q)
      KindChain, KindTree: if (is_end) goal = ToResult;
      KindPath:            if (is_end) goal = ToRoot;
      KindEnds:            if (!is_last_q) goal = ToState;
      default:             goal = is_last_q ? ToRoot : ToState;
    endcase
  end

  // A state that nobody needs is taken and dropped.
  always_comb begin
    save_ready = 1'b1;
    if (save_wanted_q) begin
      if (goal_q == ToResult) save_ready = result_ready_i;
      else if (to_slots)      save_ready = ~fetched_q;
    end
  end

  assign result_valid_o = save_wanted_q & hash_i.save_valid & (goal_q == ToResult);
  assign result_at_o    = {result_q, hash_i.save_row};
  assign result_last_o  = hash_i.save_last;
  assign root_valid_o   = saves & (goal_q == ToRoot);
  assign root_last_o    = hash_i.save_last;
  assign idle_o         = in_idle & ~save_wanted_q;
  assign step_o         = feed_end & in_feed & (kind_q == KindChain);
  assign node_o         = feed_end & in_feed & (kind_q != KindChain);

  // The state that is awaited, its destination, and whether a state enters the core.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      save_wanted_q <= 1'b0;
      loading_q     <= 1'b0;
      goal_q        <= ToValue;
      result_q      <= '0;
    end else if (wipe_i) begin
      save_wanted_q <= 1'b0;
      loading_q     <= 1'b0;
    end else begin
      if (save_ends) save_wanted_q <= 1'b0;
      if (takes_cmd) begin
        loading_q <= ~goes_on;
        if (goes_on) save_wanted_q <= 1'b0;
      end else if (hash_i.load_last) begin
        loading_q <= 1'b0;
      end
      if (feed_end && in_feed) begin
        save_wanted_q <= 1'b1;
        goal_q        <= goal;
        result_q      <= number_q;
      end
    end
  end

  // --- slots ---
  // The slots have one port for writes and one for reads. A state that enters the core has priority
  // over operands.
  logic       of_value, value_half;
  logic [1:0] low_words, high_words;
  logic [4:0] write_row, feed_row;
  row_t       write_data, read_data;

  // The state after the seed precedes the first job. Halves of the queue have priority over states,
  // which can wait.
  always_comb begin
    write_row       = {(goal_q == ToState) ? StateRows : ValueRows, hash_i.save_row};
    low_words       = (saves & to_slots) ? hash_i.save_halves : 2'b00;
    high_words      = (IsFirst && saves && goal_q == ToState) ? hash_i.save_halves : 2'b00;
    write_data.low  = hash_i.save.low;
    // Lanes other than the first have no state of T_l.
    write_data.high = IsFirst ? hash_i.save.high : mid_i.high;
    if (fetched_q) begin
      write_row      = {1'b1, there_q[3:0]};
      low_words      = 2'b11;
      high_words     = 2'b00;
      write_data.low = read_data_i;
    end
    if (mid_valid_i) begin
      write_row  = {MidRows, mid_row_i};
      low_words  = mid_words_i;
      high_words = mid_words_i;
      write_data = mid_i;
    end
  end

  logic [3:0] state_rows;
  assign state_rows = continues ? StateRows : MidRows;
  assign feed_row   = of_value ? {ValueRows, value_half} : {1'b1, head_q[3:0]};

  slh_dsa_slots u_slots (
    .clk_i, .rst_ni,
    .write_low_i (low_words),
    .write_high_i(high_words),
    .write_row_i (write_row),
    .write_data_i(write_data),
    .read_low_i  (loading_q ? {state_rows, hash_i.load_row} : feed_row),
    .read_high_i ({state_rows[0], hash_i.load_row}),
    .read_data_o (read_data)
  );

  slh_dsa_feed u_feed (
    .clk_i, .rst_ni, .wipe_i,
    .start_i      (takes_job | (feed_end & in_feed & ~is_end)),
    .kind_i       (kind_q),
    .layer_i, .tree_i,
    .key_pair_i   (leaf_i),
    .second_i     (second_q),
    .third_i      (index_q),
    .is_pair_i    (is_pair),
    .operands_i   (is_block ? halves_q : is_pair ? 5'd4 : 5'd2),
    .continues_i  (continues),
    .has_value_i  (has_value_q),
    .is_right_i   (is_right_q),
    .blocked_i    (loading_q),
    .value_waits_i(save_wanted_q),
    .queue_valid_i(queue_valid),
    .queue_take_o (queue_take),
    .of_value_o   (of_value),
    .value_half_o (value_half),
    .read_data_i  (read_data.low),
    .lane_valid_o (lane_valid),
    .lane_ready_i (hash_i.lane_ready),
    .lane_o       (lane),
    .end_o        (feed_end)
  );

  // The request to the hash core.
  always_comb begin
    hash_o.wipe       = wipe_i;
    hash_o.cmd_valid  = offers | asks;
    hash_o.cmd        = asks ? CmdSave : goes_on ? CmdNext : CmdResume;
    hash_o.lane_valid = lane_valid;
    hash_o.lane       = lane;
    hash_o.load_valid = loading_q;
    hash_o.load       = read_data;
    hash_o.save_ready = save_ready;
  end

  logic unused_ports;
  assign unused_ports = ^{hash_i.load_next};

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // A lane with an error gets no more work.
  `ASSERT(AnErrorTakesNoJob_A, error_o |-> !job_ready_o)
  // The queue is empty when a job begins, so it gets only its own operands.
  `ASSERT(AJobReadsAllOfItsOperands_A, takes_job |-> loads_q == '0 && head_q == tail_q)
  // The state of a hash has left before the next one ends; otherwise it would be lost.
  `ASSERT(AStateIsTakenBeforeTheNext_A, feed_end |-> !save_wanted_q)
  // A chain that ends early would give another public key (§5.3, algorithm 8).
  `ASSERT(AChainIsWalkedToItsEnd_A, feed_end && is_end && kind_q == KindChain |-> index_q == 16'd14)
  // The state after the seed does not collide with a half from the memory.
  `ASSERT(RowsAreNotLost_A, fetched_q |-> !mid_valid_i)
  // Other lanes have no slot for the state of T_l.
  `ASSERT(OnlyTheFirstLaneCompresses_A, takes_job && (job_i.kind == KindEnds || job_i.kind == KindRoots) |-> IsFirst)
endmodule
