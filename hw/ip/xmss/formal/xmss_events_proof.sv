// Proof that the schedule loses no event: a node comes into the queue once, and when all its three operands exist.
//
// It is about one node, which is arbitrary, so it holds for all; what is about all of them together is assumed, with its
// reason. All inputs are arbitrary: reports in any order and at any time, lanes that are free or not.
//
// `told_q` has the three events of the node that were reported: its preparation, its left child, and its right child or
// the value of the path.

module xmss_events_proof
  import xmss_pkg::*;
(
  input logic        clk_i,
  input logic [35:0] choice_i,
  input logic        clear_i,
  input logic        start_i,
  input logic [6:0]  filled_i,
  input logic        path_valid_i,
  input logic [4:0]  path_index_i,
  input logic        path_complete_i,
  input logic        digits_valid_i,
  input logic [3:0]  digit_i,
  input logic        block_valid_i,
  input logic        job_ready_i,
  input logic        done_valid_i,
  input job_e        done_kind_i,
  input node_t       done_node_i
);
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  logic rst_ni;
  assign rst_ni = started_q;

  // Arbitrary, and the same in all cycles.
  logic        is_short_q, is_turned_q;
  logic [4:0]  height_q;
  logic [19:0] leaf_q;
  node_t       node_q;          // the node
  // Without the load in the reset they would be constants without a value.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {is_short_q, is_turned_q, height_q, leaf_q, node_q} <= choice_i;
  end

  logic [6:0] chains;
  logic [7:0] root;
  assign chains = is_short_q ? 7'd51 : 7'd67;
  assign root   = is_short_q ? 8'hfc : 8'hfe;

  logic       busy, path_ready, block_ready, job_valid, done_ready, finished;
  logic [6:0] digit_index;
  job_t       job;
  xmss_schedule #(.Forwards(1'b1)) dut (
    .clk_i, .rst_ni, .clear_i, .busy_o(busy), .start_i, .is_short_i(is_short_q), .height_i(height_q), .leaf_i(leaf_q),
    .is_turned_i(is_turned_q), .filled_i, .path_valid_i, .path_ready_o(path_ready), .path_index_i, .path_complete_i, .digits_valid_i,
    .digit_index_o(digit_index), .digit_i, .block_valid_i, .block_ready_o(block_ready), .block_index_i('0),
    .block_first_i(1'b0), .job_valid_o(job_valid), .job_ready_i, .job_o(job), .done_valid_i, .done_ready_o(done_ready),
    .done_kind_i, .done_node_i, .finished_o(finished)
  );

  // --- the tree (RFC 8391 §4.1.5) ---
  // The level of a node of the L-tree, its place in it, and how many pairs a level has.
  function automatic logic [2:0] level_of(logic [7:0] number);
    level_of = 3'd0;
    for (int l = 1; l <= 7; l++) if (&(number | (8'hff >> l))) level_of = 3'(l);
  endfunction
  function automatic logic [5:0] pairs_of(logic [2:0] level);
    unique case (level)
      3'd1:    return is_short_q ? 6'd25 : 6'd33;
      3'd2:    return is_short_q ? 6'd13 : 6'd17;
      3'd3:    return is_short_q ? 6'd6 : 6'd8;
      3'd4:    return is_short_q ? 6'd3 : 6'd4;
      3'd5:    return 6'd2;
      3'd6:    return 6'd1;
      3'd7:    return is_short_q ? 6'd0 : 6'd1;
      default: return 6'd0;
    endcase
  endfunction
  logic [2:0] node_level;
  logic [5:0] node_index;
  logic       is_node;  // there is such a node, and it has two children
  assign node_level = level_of(node_q.number);
  assign node_index = 6'(node_q.number & (8'h7f >> node_level));
  assign is_node    = node_q.is_path ? (node_q.number < 8'(height_q)) :
                                       (node_level != 3'd0) && (node_index < pairs_of(node_level)) && (node_q.number <= root);

  // The node that has a chain or a node as a child, and on which side; lifted nodes have no hash.
  typedef struct packed {
    logic       is_any;
    logic       is_right;
    node_t      node;
  } parent_t;
  function automatic parent_t parent_of(node_t child);
    logic [7:0] number;
    number = child.number;
    for (int i = 0; i < 6; i++) if (is_lifted(number, is_short_q)) number = {1'b1, number[7:1]};
    parent_of.is_any   = 1'b1;
    parent_of.is_right = number[0];
    parent_of.node     = '{is_path: 1'b0, number: {1'b1, number[7:1]}};
    if (child.is_path) parent_of = '{is_any: child.number + 8'd1 != 8'(height_q), is_right: 1'b0,
                                     node: '{is_path: 1'b1, number: child.number + 8'd1}};
    else if (number == root) parent_of = '{is_any: 1'b1, is_right: 1'b0, node: '{is_path: 1'b1, number: 8'd0}};
  endfunction

  // --- what is told ---
  logic    takes_done, takes_path, is_child, tells;
  logic [1:0] side;  // 0: the preparation; 1: left; 2: right, or the value of the path
  parent_t parent;
  assign takes_done = done_valid_i & done_ready & (done_kind_i inside {JobPrep, JobChain, JobNode});
  assign takes_path = path_valid_i & path_ready;
  assign is_child   = done_kind_i != JobPrep;
  assign parent     = parent_of(done_node_i);
  always_comb begin
    side  = 2'd0;
    tells = 1'b0;
    if (takes_done && is_child) begin
      side  = parent.is_right ? 2'd2 : 2'd1;
      tells = parent.is_any & (parent.node == node_q);
    end else if (takes_done) begin
      tells = done_node_i == node_q;
    end else if (takes_path) begin
      side  = 2'd2;
      tells = node_q == {1'b1, 8'(path_index_i)};
    end
  end

  logic [2:0] told_q, counted;
  logic [1:0] side_q;               // of the event that waits
  logic       waits_q, posted_q, active_q;
  logic [2:0] lifts_q;              // cycles in which no report was taken
  logic       posts_node;
  assign counted     = told_q & ~(3'(waits_q) << side_q);
  assign posts_node  = dut.posts & dut.is_third & (dut.target == node_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {told_q, side_q, waits_q, posted_q, active_q, lifts_q} <= '0;
    end else begin
      lifts_q <= done_ready || busy ? '0 : lifts_q + 3'd1;
      if (tells) begin
        told_q[side] <= 1'b1;
        side_q       <= side;
      end
      if (tells)                             waits_q <= 1'b1;
      else if (!(dut.event_valid_q & dut.lifts)) waits_q <= 1'b0;
      if (posts_node) posted_q <= 1'b1;
      if (start_i || clear_i) begin
        {told_q, waits_q, posted_q} <= '0;
        active_q <= start_i & ~clear_i;
      end
    end
  end

  // --- the environment ---
  always_comb begin
    assume (height_q inside {5'd10, 5'd16, 5'd20});
    assume (is_node);
    if (rst_ni) begin
      // Each report is of a job that was given out, and comes once; so are values of the path.
      if (tells) assume (!told_q[side] && active_q);
      if (takes_done || takes_path) assume (active_q && !start_i);
      if (takes_done && done_kind_i == JobChain) assume (!done_node_i.is_path && done_node_i.number < 8'(chains));
      if (takes_done && done_kind_i != JobChain && !done_node_i.is_path) begin
        assume (done_node_i.number[7] && done_node_i.number <= root && 6'(done_node_i.number & (8'h7f >> level_of(done_node_i.number))) <
                pairs_of(level_of(done_node_i.number)));
      end
      if (takes_done && done_kind_i != JobChain && done_node_i.is_path) assume (done_node_i.number < 8'(height_q));
      if (takes_path) assume (path_index_i < height_q);
      // A start finds an idle schedule. The root is the last node of a pass, so that nothing of a node is left then.
      if (start_i) assume (!busy && !clear_i && (told_q == '0 || posted_q) && !waits_q && !dut.event_valid_q);
      if (dut.finishes) assume (posted_q);
    end
  end

  // --- claims ---
  always_comb begin
    if (rst_ni && !dut.clears_q && active_q) begin
      // In the queue with all operands, once; and not later than the third event is counted.
      if (posts_node) assert (told_q == 3'b111 && !posted_q);
      if (told_q == 3'b111) assert (waits_q || posted_q);
      // An event is counted after five cycles at most, the last node of four levels in a row.
      assert (lifts_q <= 3'd4);
    end
  end

  // --- what the induction needs ---
  logic [1:0] told;  // events of the node that were counted
  assign told  = 2'(counted[0]) + 2'(counted[1]) + 2'(counted[2]);
  parent_t waiting;
  assign waiting = parent_of(dut.event_q);
  always_comb begin
    if (rst_ni) begin
      // Entry by entry: a solver is fast when indices are constants.
      for (int entry = 0; entry < 512; entry++) begin
        if (dut.clears_q && dut.clear_q > 9'(entry)) assert (dut.counts[entry] == '0);
        if (!dut.clears_q && node_q == 9'(entry)) assert (dut.counts[entry] == ((told == 2'd3) ? 2'd0 : told));
      end
      if (dut.clears_q) assert (!active_q && !dut.event_valid_q && !waits_q);
      if (dut.was_clear_q) assert (!active_q);
      if (!active_q) assert ({told_q, waits_q, posted_q} == '0 && !dut.event_valid_q);
      if (!dut.clears_q) begin
        assert (posted_q == (told == 2'd3));
      end
      // The event that waits is this node's.
      if (waits_q) assert (dut.event_valid_q && told_q[side_q] && (dut.event_child_q == (side_q == 2'd1 ||
                           (side_q == 2'd2 && !node_q.is_path))));
      if (dut.event_valid_q && dut.event_child_q) begin
        assert (waits_q == (waiting.is_any && waiting.node == node_q));
        if (waits_q) assert (side_q == (waiting.is_right ? 2'd2 : 2'd1));
      end
      if (dut.event_valid_q && !dut.event_child_q) assert (waits_q == (dut.event_q == node_q));
      // The last node of level 2 is lifted to level 6, or with 51 chains of level 2 to level 4.
      if (dut.event_valid_q && dut.lifts) begin
        assert (lifts_q <= ((dut.event_q.number inside {8'he8, 8'he6}) ? 3'd1 : (dut.event_q.number == 8'hf4) ? 3'd2 :
                            (dut.event_q.number == 8'hfa) ? 3'd3 : 3'd0));
      end
    end
  end
endmodule
