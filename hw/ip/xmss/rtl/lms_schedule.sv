// Gives chains to lanes, and reports the ends of chains that are there.
//
// Chains are given out in their order, so that their ends can be hashed while others are walked. A
// chain that begins at its end has no steps: its value is taken from the signature. The second pass
// begins with the last four chains, so that a fault in the same cycle hits other work.
//
// Interface: `start_i` is a strobe. Jobs and ends have valid and ready. A chain takes two cycles of
// the schedule: its digit is read, then it is given out. Reset and `clear_i` end the pass. Nothing
// here is hardened: the verdict depends on the steps and on the values without a step.

`include "assert.svh"

module lms_schedule
  import xmss_pkg::*;
  import lms_pkg::*;
#(
  // Number of lanes.
  parameter int unsigned Lanes = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Ends the pass.
  input  logic        clear_i,

  // Begins a pass.
  input  logic        start_i,
  // The pass is the second one.
  input  logic        is_turned_i,
  // Number of chains, values of chains that came, the largest digit.
  input  logic [8:0]  chains_i,
  input  logic [8:0]  filled_i,
  input  logic [7:0]  last_i,

  // Digits: those of Q, and later those of the checksum, can be read. A digit comes in the cycle of
  // its index.
  input  logic        digits_valid_i,
  input  logic        digits_summed_i,
  output logic        digit_read_o,
  output logic [8:0]  digit_index_o,
  input  logic [7:0]  digit_i,

  // The next chain that has steps.
  output logic        job_valid_o,
  // There is a lane for it.
  input  logic        job_ready_i,
  output chain_t job_o,

  // Chains that are with the lanes, two at most for each.
  input  logic [1:0]      holds_i [Lanes],
  input  logic [1:0][8:0] chain_i [Lanes],

  // The next end, in the order of the chains.
  output logic        end_valid_o,
  input  logic        end_ready_i,
  // The end was walked to, and is not a value of the signature.
  output logic        end_moved_o,
  output address_t    end_chain_o,
  // It is the last end.
  output logic        end_last_o,
  // Ends that were values of the signature.
  output logic [8:0]  kept_o
);
  // Chains are left; a digit was read; the chains that are left began with chain 0.
  logic       running_q, read_q, wrapped_q;
  // The next chain, and the chain that a pass begins with.
  logic [8:0] chain_q, first, next, start;
  logic [7:0] digit_q;
  // The chain has no steps; its value came; the schedule is done with it.
  logic       is_end, there, passes, needs_sum;

  assign first     = chains_i - 9'd4;
  assign next      = (chain_q + 9'd1 == chains_i) ? '0 : chain_q + 9'd1;
  assign start     = is_turned_i ? first : '0;
  assign is_end    = digit_q == last_i;
  assign there     = filled_i > chain_q;
  // The last four chains are those of the checksum, and one or two others.
  assign needs_sum = chain_q >= first;

  assign digit_read_o  = running_q & ~read_q & digits_valid_i & (digits_summed_i | ~needs_sum);
  assign digit_index_o = chain_q;
  assign job_valid_o   = running_q & read_q & there & ~is_end;
  assign job_o         = '{chain: chain_q, digit: digit_q};
  assign passes        = running_q & read_q & there & (is_end | job_ready_i);

  // --- the next end ---
  // The end is in its own place. This is distributed memory, and a bit is written before it is
  // read.
  logic       moved [512];
  logic [8:0] value_q, kept_q;
  // Ends are left; the schedule has passed the chain.
  logic       values_q, passed, is_held, is_moved, takes;

  // Some lane still has the chain.
  always_comb begin
    is_held = 1'b0;
    for (int lane = 0; lane < Lanes; lane++) begin
      for (int i = 0; i < 2; i++) is_held |= holds_i[lane][i] & (chain_i[lane][i] == value_q);
    end
  end
  assign passed      = ~running_q | (wrapped_q & ((value_q < chain_q) | (is_turned_i & (value_q >= first))));
  assign is_moved    = moved[value_q];
  assign end_valid_o = values_q & passed & ~is_held;
  assign end_moved_o = is_moved;
  assign end_chain_o = value_q;
  assign takes       = end_valid_o & end_ready_i;
  assign end_last_o  = value_q + 9'd1 == chains_i;
  assign kept_o      = kept_q;

  // The place of each end.
  always_ff @(posedge clk_i) begin
    if (passes) moved[chain_q] <= ~is_end;
  end

  // A digit is read, and its chain is given out in a later cycle.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      read_q    <= 1'b0;
      wrapped_q <= 1'b0;
      chain_q   <= '0;
      digit_q   <= '0;
      value_q   <= '0;
      values_q  <= 1'b0;
      kept_q    <= '0;
    end else if (clear_i) begin
      running_q <= 1'b0;
      read_q    <= 1'b0;
      values_q  <= 1'b0;
    end else if (start_i) begin
      running_q <= 1'b1;
      read_q    <= 1'b0;
      wrapped_q <= ~is_turned_i;
      chain_q   <= start;
      value_q   <= '0;
      values_q  <= 1'b1;
      kept_q    <= '0;
    end else begin
      if (digit_read_o) begin
        read_q  <= 1'b1;
        digit_q <= digit_i;
      end
      if (passes) begin
        read_q  <= 1'b0;
        chain_q <= next;
        if (next == '0)    wrapped_q <= 1'b1;
        if (next == start) running_q <= 1'b0;
      end
      if (takes) begin
        value_q <= value_q + 9'd1;
        if (end_last_o) values_q <= 1'b0;
        if (!is_moved) kept_q <= kept_q + 9'd1;
      end
    end
  end

  // A chain is given out only after its value came.
  `ASSERT(AChainHasItsValue_A, job_valid_o |-> filled_i > chain_q)
  // An end is reported only after its chain was given out and walked.
  `ASSERT(AnEndIsOfAWalkedChain_A, end_valid_o |-> value_q < chains_i && (!running_q || (wrapped_q && value_q != chain_q)))
  // A chain that is given out a second time would be written over an end that is hashed.
  `ASSERT(EveryChainIsGivenOutOnce_A, job_valid_o |-> chain_q < chains_i && (!values_q || value_q <= chain_q || is_turned_i))
endmodule
