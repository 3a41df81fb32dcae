// Decides what the lanes do next (FIPS 205 §9.3, algorithm 20): the trees of FORS, then layer after
// layer.
//
// In a layer all chains are independent. T_len absorbs their ends in order, each block as soon as
// its values are there, on the first lane, which then goes up the path. This part is serial, and
// the next layer signs its result. So chains are given out in order, with two exceptions. Chains of
// the checksum go out as soon as they are known, because the first of them is always long. In the
// second half long chains go first, so that the lanes end together. A chain without steps takes no
// lane: its block reads it from the signature.
//
// Interface: `prepare_i` and `start_i` are strobes. A job is given out in the cycle of valid and
// ready, at most one a cycle. Reset and `clear_i` end the pass.
//
// Hardening: any two states differ in three bits, and every other code is `error_o` until reset.
// After an upset of a digit no scan, or two of them, would take its chain; so chains are counted,
// and a wrong count is an error.

`include "assert.svh"

module slh_dsa_schedule
  import slh_dsa_pkg::*;
#(
  // Number of lanes.
  parameter int unsigned Lanes    = 1,
  // 0 builds a schedule that continues from an illegal state and with a wrong count.
  parameter bit          Hardened = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // Ends the pass.
  input  logic             clear_i,
  // The state does not exist, or a chain was lost. This lasts until reset.
  output logic             error_o,

  // A signature comes. Marks of the signature before are cleared, which takes 64 cycles.
  input  logic             prepare_i,
  // The digest is there, and a pass begins.
  input  logic             start_i,
  // This is the second pass, with trees and chains in another order.
  input  logic             is_turned_i,
  // The digest (algorithm 20): indices of FORS, of the tree and of the leaf.
  input  logic [13:0][11:0] md_i,
  input  logic [53:0]      tree_i,
  input  logic [8:0]       leaf_i,
  // The root of the hypertree is computed.
  output logic             finished_o,

  // Parts of all addresses.
  output logic [2:0]       layer_o,
  output logic [53:0]      tree_o,
  output logic [8:0]       leaf_o,

  // Digits of the value that the layer signs. A digit comes in the cycle of its index.
  output logic             sum_o,
  input  logic             summed_i,
  output logic [5:0]       digit_index_o,
  input  logic [3:0]       digit_i,

  // The next job, for one lane.
  output logic [Lanes-1:0] job_valid_o,
  input  logic [Lanes-1:0] job_ready_i,
  output job_t             job_o,

  // The result of a chain or tree is in the memory.
  input  logic             result_i,
  input  logic [5:0]       result_number_i,
  // The root of a layer, or the key of FORS, is computed.
  input  logic             root_i,

  // Tells whether a half that a block reads is one of the signature, and its place there.
  input  logic [6:0]       half_i,
  output logic             is_direct_o,
  output half_t            direct_at_o
);
  // States. `StTrees` and `StChains` end with the value that the next layer signs.
  typedef enum logic [5:0] {
    // Waits for a start.
    StIdle   = 6'b001011,
    // Gives out the trees of FORS.
    StTrees  = 6'b010101,
    // Gives out the chains of the layers.
    StChains = 6'b011110,
    // The root is computed.
    StDone   = 6'b100110,
    // Only a reset ends this state.
    StError  = 6'b110011
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_trees, in_chains, in_done, is_running, is_last_layer;
  // All scans have ended, and did not take each chain once.
  logic loses_chain;
  assign in_idle    = state_q == StIdle;
  assign in_trees   = state_q == StTrees;
  assign in_chains  = state_q == StChains;
  assign in_done    = state_q == StDone;
  assign error_o    = ~(in_idle | in_trees | in_chains | in_done);
  assign is_running = in_trees | in_chains;
  assign finished_o = in_done;

  // The phase: FORS precedes layer 0.
  logic [2:0] phase_q;
  // The place of the layer in the signature.
  half_t      base_q;
  assign layer_o       = in_trees ? 3'd0 : phase_q;
  assign is_last_layer = phase_q == 3'(Layers - 1);
  assign sum_o         = root_i & (in_trees | (in_chains & ~is_last_layer));

  // FORS and each layer end with a value that the next layer signs.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:   state_d = StIdle;
      StTrees:  if (root_i) state_d = StChains;
      StChains: if (root_i && is_last_layer) state_d = StDone;
      StDone:   state_d = StDone;
      StError:  state_d = StError;
      default:  state_d = Hardened ? StError : StIdle;
    endcase
    if (loses_chain && Hardened) state_d = StError;
    if (start_i && !error_o) state_d = StTrees;
    if ((clear_i || prepare_i) && !error_o) state_d = StIdle;
  end

  // --- marks of results ---
  // Marks tell which results are there.
  // Each number has the phase and the pass of its last result, and whether the chain had no steps.
  logic [3:0] marks [64];
  logic       direct [64];
  // The mark of this phase.
  logic [3:0] mark;
  // The mark that is cleared next.
  logic [6:0] clear_q;
  logic       clears, marks_direct, is_marked;
  logic [5:0] mark_at;
  // Number of results that are there, with all results before them.
  logic [5:0] complete_q;
  assign mark      = {is_turned_i, phase_q};
  assign clears    = ~clear_q[6];
  assign mark_at   = clears ? clear_q[5:0] : result_i ? result_number_i : digit_index_o;
  assign is_marked = marks[complete_q] == mark;

  // A cleared mark is the mark of FORS in the second pass. Before that pass all numbers for which
  // it would be read are written again.
  always_ff @(posedge clk_i) begin
    if (clears || result_i || marks_direct) begin
      marks[mark_at]  <= clears ? '1 : mark;
      direct[mark_at] <= ~clears & ~result_i;
    end
  end
  assign is_direct_o = direct[half_i[6:1]];
  assign direct_at_o = base_q + 10'(half_i);

  // --- blocks of T_l, and the path, for the first lane ---
  logic [3:0] block_q;
  logic       block_due, path_due, is_last_block, blocks_done_q, path_done_q;
  // Number of results that the block needs.
  logic [5:0] needed;
  assign is_last_block = block_q == (in_trees ? 4'(ForsBlocks - 1) : 4'(LayerBlocks - 1));
  // Block b ends in value 4b + 2, or has the last value.
  always_comb begin
    needed = {block_q, 2'b11};
    if (in_trees && is_last_block)    needed = 6'(Trees);
    if (in_chains && block_q[3])      needed = 6'(Chains);
  end
  assign block_due = is_running & ~blocks_done_q & (complete_q >= needed);
  assign path_due  = in_chains & blocks_done_q & ~path_done_q;

  // --- trees and chains, for any lane ---
  // A pass over one half of the chains, and four scans over the other half.
  localparam logic [6:0] ScansEnd = 7'(MessageChains / 2 * 5);
  // Trees that were given out, or the position in the scans over chains.
  logic [6:0]  item_q;
  // Chains of the checksum that were given out.
  logic [1:0]  check_q;
  // Chains that were given out or marked.
  logic [5:0]  chains_q;
  logic        tree_due, check_due, chain_due, item_due, is_direct, fits, passes, takes_item, takes_first;
  logic [5:0]  number;
  // The scan: 0 is the first half, and 1 to 4 take chains of the second half by the upper two bits
  // of a digit.
  logic [2:0]  rank;
  logic [3:0]  tree;
  logic [11:0] tree_index;
  half_t       tree_at;
  assign rank      = item_q[6:4];
  assign tree_due  = in_trees & (item_q != 7'(Trees));
  assign check_due = in_chains & summed_i & (check_q != 2'd3);
  assign chain_due = in_chains & (item_q != ScansEnd);
  assign loses_chain = in_chains & (item_q == ScansEnd) & (check_q == 2'd3) & (chains_q != 6'(Chains));
  assign fits      = check_due | (rank == '0) | (digit_i[3:2] == 2'(rank - 3'd1));

  // Neighbours are exchanged in the second pass, so that a fault in the same cycle hits other work.
  always_comb begin
    number = {1'b0, rank != '0, item_q[3:0] ^ {2'd0, {2{is_turned_i}}}};
    if (in_trees)       number = {2'd0, item_q[3:0] ^ {3'd0, is_turned_i}};
    else if (check_due) number = {4'b1000, is_turned_i ? 2'd2 - check_q : check_q};
  end
  assign tree          = number[3:0];
  assign digit_index_o = number;

  // The index of the tree and the place of its values, as a table, which takes less than a shift
  // and a product.
  always_comb begin
    tree_index = md_i[0];
    tree_at    = '0;
    for (int i = 0; i < Trees; i++) begin
      if (tree == 4'(i)) begin
        tree_index = md_i[Trees - 1 - i];
        tree_at    = TreesAt + 10'(2 * (1 + ForsHeight) * i);
      end
    end
  end
  assign is_direct     = ~in_trees & (digit_i == '1);
  assign item_due      = tree_due | ((check_due | chain_due) & fits & ~is_direct);
  assign passes        = chain_due & ~fits & ~takes_first;
  // A mark of a chain without steps waits while a result is marked.
  assign marks_direct  = (check_due | chain_due) & fits & is_direct & ~result_i & ~takes_first;

  // The place in the layer: values of a chain, or the path.
  half_t layer_at;
  assign layer_at = base_q + (path_due ? PathAt : {3'd0, number, 1'b0});

  // The first lane takes serial work before any other.
  assign takes_first = (block_due | path_due) & job_ready_i[0];
  always_comb begin
    job_o.kind     = in_trees ? KindTree : KindChain;
    job_o.at       = in_trees ? tree_at : layer_at;
    job_o.halves   = in_trees ? 5'd26 : 5'd2;
    job_o.hashes   = in_trees ? 4'd13 : ~digit_i;
    job_o.number   = number;
    job_o.second   = in_trees ? 6'd0 : number;
    job_o.index    = in_trees ? {tree, tree_index} : {12'd0, digit_i};
    job_o.is_right = leaf_o[0];
    job_o.is_first = block_q == '0;
    job_o.is_last  = is_last_block;
    if (takes_first && !blocks_done_q) begin
      // A block begins with the half that has the last bytes of the block before.
      job_o.kind   = in_trees ? KindRoots : KindEnds;
      job_o.at     = (block_q == '0) ? '0 : {3'd0, block_q, 3'd0} - 10'd3;
      job_o.halves = (block_q == '0) ? 5'd6 : !is_last_block ? 5'd9 : in_trees ? 5'd7 : 5'd1;
      job_o.hashes = 4'd1;
      job_o.second = '0;
      job_o.index  = '0;
    end else if (takes_first) begin
      job_o.kind   = KindPath;
      job_o.at     = layer_at;
      job_o.halves = 5'd18;
      job_o.hashes = 4'd9;
      // The first node is above the leaf (§6.3, algorithm 11).
      job_o.second = 6'd1;
      job_o.index  = {8'd0, leaf_o[8:1]};
    end
  end

  // Other jobs go to the highest lane that is free, because the first lane has more to do.
  always_comb begin
    job_valid_o = '0;
    takes_item  = 1'b0;
    if (takes_first) begin
      job_valid_o[0] = 1'b1;
    end else if (item_due) begin
      for (int lane = 0; lane < Lanes; lane++) begin
        if (job_ready_i[lane]) job_valid_o = Lanes'(1) << lane;
      end
      takes_item = job_valid_o != '0;
    end
  end

  // Bookkeeping of what was given out, and the indices of the layer (algorithm 13).
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q       <= '1;
      base_q        <= '0;
      tree_o        <= '0;
      leaf_o        <= '0;
      clear_q       <= '0;
      complete_q    <= '0;
      block_q       <= '0;
      blocks_done_q <= 1'b0;
      path_done_q   <= 1'b0;
      item_q        <= '0;
      check_q       <= '0;
      chains_q      <= '0;
    end else begin
      if (prepare_i)   clear_q <= '0;
      else if (clears) clear_q <= clear_q + 7'd1;
      if (start_i || root_i) begin
        complete_q    <= '0;
        block_q       <= '0;
        blocks_done_q <= 1'b0;
        path_done_q   <= 1'b0;
        item_q        <= '0;
        check_q       <= '0;
        chains_q      <= '0;
        phase_q       <= start_i ? '1 : phase_q + 3'd1;
        base_q        <= in_chains ? base_q + LayerSize : LayersAt;
        if (start_i) begin
          tree_o <= tree_i;
          leaf_o <= leaf_i;
        end else if (in_chains) begin
          leaf_o <= tree_o[8:0];
          tree_o <= tree_o >> TreeHeight;
        end
      end else begin
        if (is_running && is_marked) complete_q <= complete_q + 6'd1;
        if (takes_first) begin
          block_q <= block_q + 4'd1;
          if (blocks_done_q)      path_done_q   <= 1'b1;
          else if (is_last_block) blocks_done_q <= 1'b1;
        end
        if (in_chains && (takes_item || marks_direct)) chains_q <= chains_q + 6'd1;
        if (takes_item || marks_direct || passes) begin
          if (check_due) check_q <= check_q + 2'd1;
          else           item_q  <= item_q + 7'd1;
        end
      end
    end
  end

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // A job that two lanes take would be counted twice.
  `ASSERT(AJobIsForOneLane_A, $onehot0(job_valid_o))
  // A job is never given to a lane that cannot take it.
  `ASSERT(AJobIsForALaneThatIsFree_A, (job_valid_o & ~job_ready_i) == '0)
  // A mark of an earlier signature would make a result look complete.
  `ASSERT(MarksAreClearedBeforeTheFirstResult_A, start_i |-> !clears && !prepare_i)
  // A block over a value that is not there would absorb the value of another layer.
  `ASSERT(ABlockHasItsValues_A, takes_first && !blocks_done_q && block_q[3] |-> complete_q == 6'(Chains))
  // The value of a phase comes only after all work of the phase.
  `ASSERT(ARootEndsItsPhase_A, root_i && is_running |-> blocks_done_q && (in_trees || path_done_q))
  // Results are counted at most once.
  `ASSERT(NoMoreAreCompleteThanThereAre_A, is_running |-> complete_q <= (in_trees ? 6'(Trees) : 6'(Chains)))
endmodule
