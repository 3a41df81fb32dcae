// Decides what the lanes do next, and keeps the one queue of nodes that are ready.
//
// There are three kinds of work at any time: nodes whose children, sibling and preparation are
// complete (the queue), chains, and preparations of nodes, which depend on no data and run ahead.
// They are given out in this order. Each operand has a place of its own, so nothing is allocated
// and no job waits for room.
//
// Three events make a node ready: two children, or a child and a value of the path, and its
// preparation. They are counted for each node. The third event puts the node into the queue and
// clears the count, so all counts are zero again after a signature.
//
// Interface: a job is given out in the cycle of `job_valid_o` and `job_ready_i`, at most one a
// cycle; a job that waits may be replaced by a more urgent one. Reports of lanes have valid and
// ready and wait at most for a lift. `clear_i` and reset clear all counts, which takes 512 cycles
// (`busy_o`).
//
// Nothing here is hardened: the verdict depends on the counts of hashes and on the root.

`include "assert.svh"

module xmss_schedule
  import xmss_pkg::*;
#(
  // 1 gives out long chains first, so that the lanes end together. It takes four scans over the
  // digits.
  parameter bit SortsChains = 1'b0,
  // 1 keeps nodes of the path in their lane.
  parameter bit Forwards    = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Forgets everything. `busy_o` is set until that is done.
  input  logic        clear_i,
  output logic        busy_o,

  // The signature.
  // Begins a tree, whose index is known.
  input  logic        start_i,
  // The tree has 51 chains and not 67.
  input  logic        is_short_i,
  // Height of the tree, and the leaf.
  input  logic [4:0]  height_i,
  input  logic [19:0] leaf_i,
  // Chains begin in the middle.
  input  logic        is_turned_i,
  // Number of chain values that came.
  input  logic [6:0]  filled_i,
  // A value of the path came: its level, and whether it was the last.
  input  logic        path_valid_i,
  output logic        path_ready_o,
  input  logic [4:0]  path_index_i,
  input  logic        path_complete_i,

  // Digits in the order of the chains; the digit belongs to the index of the same cycle.
  input  logic        digits_valid_i,
  output logic [6:0]  digit_index_o,
  input  logic [3:0]  digit_i,

  // Blocks of the message: the place in the ring, and whether it is the first of its message.
  input  logic        block_valid_i,
  output logic        block_ready_o,
  input  logic [2:0]  block_index_i,
  input  logic        block_first_i,

  // The most urgent job.
  output logic        job_valid_o,
  // There is a lane for this job.
  input  logic        job_ready_i,
  output job_t        job_o,

  // Reports of lanes: a job of this kind, for this node or chain, is done.
  input  logic        done_valid_i,
  output logic        done_ready_o,
  input  job_e        done_kind_i,
  input  node_t       done_node_i,
  // The root is computed.
  output logic        finished_o
);
  // Number of chains, and the number of the root of the L-tree.
  logic [6:0] chains;
  logic [7:0] root;
  assign chains = is_short_i ? 7'd51 : 7'd67;
  assign root   = is_short_i ? 8'hfc : 8'hfe;

  // --- events ---
  // An event is to be counted. It is about a child, so it counts for the parent.
  logic       event_valid_q, event_child_q;
  // The event is lifted, is counted, is the third one of its node, or ends the tree.
  logic       lifts, posts, is_third, finishes;
  // The node of the event, and the node that it counts for.
  node_t      event_q, target;
  // Events of every node so far, in distributed memory. A clear takes 512 cycles.
  logic [1:0] counts [512];
  // Events of the target before this one.
  logic [1:0] count;
  // The count that is cleared next.
  logic [8:0] clear_q;
  logic       clears_q, was_clear_q;

  assign lifts = event_child_q & ~event_q.is_path & is_lifted(event_q.number, is_short_i);

  // An event counts for the node itself (a preparation), or for its parent (a child). The root of
  // the L-tree is the leaf below the path.
  always_comb begin
    target = event_q;
    if (event_child_q) begin
      if (event_q.is_path)             target.number = event_q.number + 8'd1;
      else if (event_q.number == root) target = '{is_path: 1'b1, number: 8'd0};
      else                             target.number = {1'b1, event_q.number[7:1]};
    end
  end
  assign finishes = event_valid_q & event_child_q & event_q.is_path & (target.number[4:0] == height_i);
  assign posts    = event_valid_q & ~lifts & ~finishes;
  assign count    = counts[{target.is_path, target.number}];
  assign is_third = count == 2'd2;

  // Events of lanes have priority over values of the path. An event is taken when the one before
  // was counted.
  logic takes_event;
  assign takes_event  = ~event_valid_q | ~lifts;
  assign done_ready_o = takes_event & ~clears_q;
  assign path_ready_o = takes_event & ~done_valid_i & ~clears_q;
  assign busy_o       = clears_q;

  // One write a cycle: a count, or a zero of a clear.
  always_ff @(posedge clk_i) begin
    if (clears_q)   counts[clear_q] <= '0;
    else if (posts) counts[{target.is_path, target.number}] <= is_third ? 2'd0 : count + 2'd1;
  end

  // The event that is counted next. A lifted node is counted as its parent, one level a cycle.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      event_valid_q <= 1'b0;
      event_child_q <= 1'b0;
      event_q       <= '0;
      clear_q       <= '0;
      clears_q      <= 1'b1;
      was_clear_q   <= 1'b0;
      finished_o    <= 1'b0;
    end else begin
      // A clear takes a cycle for each count.
      was_clear_q <= clear_i;
      if (clear_i && !was_clear_q) begin
        clear_q  <= '0;
        clears_q <= 1'b1;
      end else begin
        clear_q <= clear_q + 9'(clears_q);
        if (clear_q == '1) clears_q <= 1'b0;
      end
      if (clear_i) begin
        event_valid_q <= 1'b0;
        finished_o    <= 1'b0;
      end else begin
        if (finishes) finished_o <= 1'b1;
        if (start_i)  finished_o <= 1'b0;
        if (event_valid_q && lifts) begin
          event_q.number <= {1'b1, event_q.number[7:1]};
        end else begin
          event_valid_q <= (done_valid_i & done_ready_o &
                            (done_kind_i == JobChain || done_kind_i == JobNode || done_kind_i == JobPrep)) |
                           (path_valid_i & path_ready_o);
          event_child_q <= done_valid_i & (done_kind_i != JobPrep);
          event_q       <= done_valid_i ? done_node_i : '{is_path: 1'b1, number: 8'(path_index_i)};
        end
      end
    end
  end

  // --- the queue of nodes ---
  node_t      queue [64];
  // Places in the queue: of the node that leaves next, and of the node that comes next.
  logic [5:0] head_q, tail_q;
  logic       has_node, takes_node;
  node_t      node;
  assign has_node = head_q != tail_q;
  assign node     = queue[head_q];

  // Distributed memory. It has more places than there are nodes that can be ready at a time.
  always_ff @(posedge clk_i) begin
    if (posts && is_third) queue[tail_q] <= target;
  end

  // --- jobs that are given out ---
  // A block of the message is with a lane.
  logic       block_busy_q;
  logic       running_q, has_chain, has_prep, takes_chain, takes_prep, takes_block;
  // The next chain, and the number of chains that were not given out.
  logic [6:0] chain_q, left_q;
  // The next preparation: level by level of the L-tree, then the path.
  logic [2:0] prep_level_q;
  logic [4:0] prep_height_q, node_path;
  // Number of the first node of the level.
  logic [7:0] prep_base_q;
  logic [5:0] prep_index_q, prep_last;
  logic       prep_path_q, prep_ends, preps_done_q;
  // Index of the node on the path.
  logic [19:0] prep_leaf_q;
  // Preparations of the path that are done.
  logic [4:0] prepared_q;
  // The node at the head forwards its result; the node that was given out last does.
  logic       forwards, forwarded_q;

  // Each scan gives out the chains whose digits have the same two upper bits, and passes the
  // others. A small digit means many steps, so long chains go first.
  logic       chains_left, fits, passes_chain, next_chain, ends_scan;
  // The upper bits of the digits of this scan.
  logic [1:0] rank_q;
  logic [6:0] first_chain, chain;
  assign chains_left  = running_q & digits_valid_i & (left_q != '0);
  assign fits         = ~SortsChains | (digit_i[3:2] == rank_q);
  assign passes_chain = chains_left & ~fits;
  assign next_chain   = passes_chain | (takes_chain & job_ready_i);
  // A second pass begins with another chain, so that a fault in the same cycle hits other work.
  assign first_chain  = is_turned_i ? 7'd32 : '0;
  assign chain        = (chain_q == chains - 7'd1) ? '0 : chain_q + 7'd1;
  assign ends_scan    = SortsChains & next_chain & (chain == first_chain);

  assign has_chain     = chains_left & fits & (filled_i > chain_q);
  assign has_prep      = running_q & ~preps_done_q;
  assign digit_index_o = chain_q;

  // Number of the last pair in each level: the nodes below it, halved and rounded down (RFC 8391
  // §4.1.5).
  always_comb begin
    unique case (prep_level_q)
      3'd1:    prep_last = is_short_i ? 6'd24 : 6'd32;
      3'd2:    prep_last = is_short_i ? 6'd12 : 6'd16;
      3'd3:    prep_last = is_short_i ? 6'd5 : 6'd7;
      3'd4:    prep_last = is_short_i ? 6'd2 : 6'd3;
      3'd5:    prep_last = 6'd1;
      default: prep_last = 6'd0;
    endcase
  end
  assign prep_ends = prep_index_q == prep_last;

  assign node_path = node.number[4:0];
  // A result stays in its lane if the node above has everything else. Then no other work is left,
  // and the lane is free for that node.
  assign forwards  = Forwards & path_complete_i & (prepared_q == height_i) &
                     (node.is_path ? node_path + 5'd1 != height_i : node.number == root);

  // The most urgent job: a block of the message, a node that is ready, a chain, a preparation.
  always_comb begin
    job_o       = '0;
    takes_node  = 1'b0;
    takes_chain = 1'b0;
    takes_prep  = 1'b0;
    takes_block = 1'b0;
    if (block_valid_i && !block_busy_q) begin
      takes_block    = 1'b1;
      job_o.kind     = JobBlock;
      job_o.node     = '{is_path: 1'b0, number: 8'(block_index_i)};
      job_o.is_first = block_first_i;
    end else if (has_node) begin
      takes_node         = 1'b1;
      job_o.kind         = JobNode;
      job_o.node         = node;
      job_o.is_right     = leaf_i[node_path];
      job_o.forwards     = forwards;
      job_o.is_forwarded = forwarded_q;
    end else if (has_chain) begin
      takes_chain = 1'b1;
      job_o.kind  = JobChain;
      job_o.node  = '{is_path: 1'b0, number: {1'b0, chain_q}};
      job_o.chain = chain_q;
      job_o.step  = digit_i;
    end else if (has_prep) begin
      takes_prep  = 1'b1;
      job_o.kind  = JobPrep;
      job_o.node  = prep_path_q ? '{is_path: 1'b1, number: 8'(prep_height_q)} :
                                  '{is_path: 1'b0, number: prep_base_q | 8'(prep_index_q)};
      job_o.chain = prep_path_q ? 7'(prep_height_q) : 7'(prep_level_q - 3'd1);
      job_o.index = prep_path_q ? prep_leaf_q : 20'(prep_index_q);
    end
  end
  assign job_valid_o   = takes_block | takes_node | takes_chain | takes_prep;
  assign block_ready_o = takes_block & job_ready_i;

  // Bookkeeping of what was given out. Blocks of a message follow each other; all other jobs only
  // follow their operands.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q        <= '0;
      tail_q        <= '0;
      block_busy_q  <= 1'b0;
      running_q     <= 1'b0;
      chain_q       <= '0;
      left_q        <= '0;
      rank_q        <= '0;
      prep_level_q  <= '0;
      prep_height_q <= '0;
      prep_base_q   <= '0;
      prep_index_q  <= '0;
      prep_path_q   <= 1'b0;
      preps_done_q  <= 1'b0;
      prep_leaf_q   <= '0;
      prepared_q    <= '0;
      forwarded_q   <= 1'b0;
    end else if (clear_i) begin
      head_q       <= '0;
      tail_q       <= '0;
      block_busy_q <= 1'b0;
      running_q    <= 1'b0;
      forwarded_q  <= 1'b0;
    end else begin
      if (done_valid_i && done_ready_o && done_kind_i == JobPrep && done_node_i.is_path) prepared_q <= prepared_q + 5'd1;
      if (posts && is_third) tail_q <= tail_q + 6'd1;
      if (done_valid_i && done_ready_o && done_kind_i == JobBlock) block_busy_q <= 1'b0;
      if (finishes) running_q <= 1'b0;
      if (start_i) begin
        running_q     <= 1'b1;
        chain_q       <= first_chain;
        left_q        <= chains;
        rank_q        <= '0;
        prep_level_q  <= 3'd1;
        prep_height_q <= '0;
        prep_base_q   <= 8'h80;
        prep_index_q  <= '0;
        prep_path_q   <= 1'b0;
        preps_done_q  <= 1'b0;
        prep_leaf_q   <= leaf_i >> 1;
        prepared_q    <= '0;
        forwarded_q   <= 1'b0;
      end else begin
        // A scan continues while other work is given out, because passing a chain takes no lane.
        if (next_chain) chain_q <= chain;
        if (ends_scan)  rank_q <= rank_q + 2'd1;
        if (job_ready_i) begin
          if (takes_block) block_busy_q <= 1'b1;
          if (takes_node)  {head_q, forwarded_q} <= {head_q + 6'd1, forwards};
          if (takes_chain) left_q <= left_q - 7'd1;
          if (takes_prep && !prep_path_q) begin
            prep_index_q <= prep_ends ? '0 : prep_index_q + 6'd1;
            if (prep_ends) begin
              prep_level_q <= prep_level_q + 3'd1;
              prep_base_q  <= {1'b1, prep_base_q[7:1]};
              prep_path_q  <= prep_base_q == root;
            end
          end
          if (takes_prep && prep_path_q) begin
            prep_height_q <= prep_height_q + 5'd1;
            prep_leaf_q   <= prep_leaf_q >> 1;
            preps_done_q  <= prep_height_q + 5'd1 == height_i;
          end
        end
      end
    end
  end

  // The root is the last node. A node above it would be compared in its place.
  `ASSERT(NothingIsAboveTheRoot_A, posts && target.is_path |-> target.number < 8'(height_i))
  // A full queue would look empty.
  `ASSERT(TheQueueIsNeverFull_A, posts && is_third |-> tail_q + 6'd1 != head_q)
  // A fourth event would be lost, so a node has exactly three.
  `ASSERT(ThreeEventsAreANode_A, posts |-> count != 2'd3)
  // A chain is given out only after its value came.
  `ASSERT(AChainHasItsValue_A, takes_chain |-> filled_i > chain_q)
  // A chain that no scan takes would never be given out, and the engine would hang.
  `ASSERT(FourScansTakeEveryChain_A, ends_scan && rank_q == 2'd3 |-> left_q == 7'(takes_chain))
  // The lane that keeps a result has room for one job only, and the result is in no memory.
  `ASSERT(NothingElseIsReadyWhenANodeForwards_A, forwarded_q |-> !has_chain && !has_prep && !block_valid_i)
  // A block of the message continues from the state of the block before.
  `ASSERT(BlocksFollowEachOther_A, takes_block |-> !block_busy_q)
  // A job that is given out in the cycle of a start would be given out again. There is none: the
  // first start precedes the message, and another start follows a root, which is the last node of
  // its tree and follows the message.
  `ASSERT(NothingIsReadyWhenAPassStarts_A, start_i |-> !job_valid_o)
endmodule
