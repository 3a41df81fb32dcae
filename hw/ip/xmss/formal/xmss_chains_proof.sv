// Proof that the schedule gives out each chain and each preparation once, and a chain not before its value came.
//
// It is about one chain and one node, which are arbitrary. All inputs are arbitrary: lanes that are free or not, values and
// digits that come late, reports. What is about all chains together is assumed, with its reason.

module xmss_chains_proof
  import xmss_pkg::*;
#(
  parameter bit SortsChains = 1'b1
) (
  input logic        clk_i,
  input logic [24:0] choice_i,
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
  logic       is_short_q, is_turned_q;
  logic [4:0] height_q;
  node_t      node_q;   // the node whose preparation it is about
  logic [6:0] chain_q;  // the chain
  logic [1:0] rank_q;   // upper bits of its digit
  // Without the load in the reset they would be constants without a value.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {is_short_q, is_turned_q, height_q, node_q, chain_q, rank_q} <= choice_i;
  end

  logic [6:0] chains;
  logic [7:0] root;
  assign chains = is_short_q ? 7'd51 : 7'd67;
  assign root   = is_short_q ? 8'hfc : 8'hfe;

  logic       busy, path_ready, block_ready, job_valid, done_ready, finished;
  logic [6:0] digit_index;
  job_t       job;
  xmss_schedule #(.SortsChains(SortsChains), .Forwards(1'b1)) dut (
    .clk_i, .rst_ni, .clear_i, .busy_o(busy), .start_i, .is_short_i(is_short_q), .height_i(height_q), .leaf_i('0),
    .is_turned_i(is_turned_q), .filled_i, .path_valid_i, .path_ready_o(path_ready), .path_index_i, .path_complete_i, .digits_valid_i,
    .digit_index_o(digit_index), .digit_i, .block_valid_i, .block_ready_o(block_ready), .block_index_i('0),
    .block_first_i(1'b0), .job_valid_o(job_valid), .job_ready_i, .job_o(job), .done_valid_i, .done_ready_o(done_ready),
    .done_kind_i, .done_node_i, .finished_o(finished)
  );

  // --- the tree (RFC 8391 §4.1.5): the level of a node, its place in it, and how many pairs a level has ---
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
  logic [2:0] level;
  logic [5:0] index;
  assign level = level_of(node_q.number);
  assign index = 6'(node_q.number & (8'h7f >> level));

  // --- what was given out ---
  logic prepared_q, chained_q, active_q, over_q;
  logic gives_prep, gives_chain;
  assign gives_prep  = job_valid & job_ready_i & (job.kind == JobPrep) & (job.node == node_q);
  assign gives_chain = job_valid & job_ready_i & (job.kind == JobChain) & (job.node == {2'b0, chain_q});
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {prepared_q, chained_q, active_q, over_q} <= '0;
    end else begin
      if (gives_prep)  prepared_q <= 1'b1;
      if (gives_chain) chained_q <= 1'b1;
      if (dut.ends_scan && dut.rank_q == 2'd3) over_q <= 1'b1;
      if (start_i || clear_i) begin
        {prepared_q, chained_q, over_q} <= '0;
        active_q <= start_i & ~clear_i;
      end
    end
  end

  always_comb begin
    assume (height_q inside {5'd10, 5'd16, 5'd20});
    assume (node_q.is_path ? (node_q.number < 8'(height_q)) : (level != 3'd0) && (index < pairs_of(level)) && (node_q.number <= root));
    assume (chain_q < chains);
    if (rst_ni) begin
      // A digit does not change.
      if (digit_index == chain_q) assume (digit_i[3:2] == rank_q);
      // The root is the last node of a pass, and has all chains and all nodes below it.
      if (dut.finishes) assume (chained_q && prepared_q);
      // `left_q` is the number of chains less those that were given out, and none of them was given out twice, which is
      // shown below. So if this one was not, there is one left, and after the last scan there is none.
      if (SortsChains && dut.running_q && !chained_q) assume (dut.left_q != '0);
      if (SortsChains && dut.ends_scan && dut.rank_q == 2'd3) assume (dut.left_q == 7'(dut.takes_chain));
    end
  end

  // --- claims ---
  logic is_free;  // nothing more urgent is there
  assign is_free = !(block_valid_i && !dut.block_busy_q) && !dut.has_node;
  always_comb begin
    if (rst_ni && active_q) begin
      if (gives_chain) assert (filled_i > chain_q && digits_valid_i && !chained_q);
      if (gives_prep)  assert (!prepared_q);
      // A chain is offered when its scan has come to it and its value came. Each scan goes on: it passes other chains without a
      // lane, and waits for values only.
      if (dut.running_q && is_free && !chained_q && dut.chain_q == chain_q && digits_valid_i && filled_i > chain_q &&
          (!SortsChains || dut.rank_q == rank_q)) begin
        assert (job_valid && job.kind == JobChain && job.node == {2'b0, chain_q});
      end
      if (dut.running_q && digits_valid_i && dut.left_q != '0 && SortsChains && digit_i[3:2] != dut.rank_q) begin
        assert (dut.next_chain);
      end
      // Preparations wait for nothing.
      if (dut.running_q && !prepared_q) assert (job_valid);
    end
  end

  // --- what the induction needs ---
  // Places of chains in the order of a scan.
  function automatic logic [6:0] scan(logic [6:0] chain);
    if (!is_turned_q) return chain;
    return (chain >= 7'd32) ? chain - 7'd32 : chain + chains - 7'd32;
  endfunction
  always_comb begin
    if (rst_ni) begin
      if (!active_q) assert (!dut.running_q && !chained_q && !prepared_q && !over_q);
      if (active_q && !dut.running_q) assert (chained_q && prepared_q);
      if (dut.running_q) begin
        assert (dut.chain_q < chains);
        if (SortsChains) begin
          assert (chained_q == (over_q || dut.rank_q > rank_q ||
                                (dut.rank_q == rank_q && scan(chain_q) < scan(dut.chain_q))));
          if (over_q) assert (dut.left_q == '0);
        end else begin
          assert (dut.left_q == chains - scan(dut.chain_q) || (dut.left_q == '0 && scan(dut.chain_q) == '0));
          assert (chained_q == (dut.left_q == '0 || scan(chain_q) < scan(dut.chain_q)));
          assert (!over_q);
        end
        if (dut.preps_done_q) begin
          assert (prepared_q);
        end else if (dut.prep_path_q) begin
          assert (dut.prep_height_q < height_q);
          assert (prepared_q == (!node_q.is_path || node_q.number[4:0] < dut.prep_height_q));
        end else begin
          assert (dut.prep_height_q == '0 && dut.prep_level_q != '0 && level_of(dut.prep_base_q) == dut.prep_level_q);
          assert ((dut.prep_base_q & (8'h7f >> dut.prep_level_q)) == '0);
          assert (dut.prep_base_q <= root && dut.prep_index_q < pairs_of(dut.prep_level_q));
          assert (prepared_q == (!node_q.is_path && (level < dut.prep_level_q ||
                                 (level == dut.prep_level_q && index < dut.prep_index_q))));
        end
      end
    end
  end
endmodule
