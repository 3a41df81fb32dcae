// Brings the values of chains from the memory into the blocks of their first steps, for one lane at
// a time.
//
// A value is shifted by a byte, as the lanes need it: its first word is q and 24 bits without a
// meaning before the first byte, and its last word has the marker of the padding. A word that the
// lane does not take at once is read again. While no value is brought, the bus has q for every
// lane.
//
// The first word of a value comes one cycle after its read was granted, then one a cycle if nobody
// else reads. Reset and `wipe_i` drop the value. Nothing here is hardened.

`include "assert.svh"

module lms_first
  import xmss_pkg::*;
  import lms_pkg::*;
#(
  // Number of lanes.
  parameter int unsigned Lanes = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // Drops the value.
  input  logic             wipe_i,
  // q of the signature.
  input  logic [31:0]      index_i,
  // Values have 24 bytes.
  input  logic             is_short_i,

  // Lanes that need the value of their chain, and these chains.
  input  logic [Lanes-1:0] want_i,
  input  logic [8:0]       chain_i [Lanes],
  // Lanes that would take a word in this cycle.
  input  logic [Lanes-1:0] free_i,

  // Reads of the memory. A row comes in the cycle after its grant.
  output logic             read_valid_o,
  input  logic             read_ready_i,
  output address_t         read_place_o,
  output logic             read_row_o,
  input  row_t             read_data_i,

  // The bus does not have q.
  output logic             busy_o,
  // The word is for this lane.
  output logic [Lanes-1:0] valid_o,
  output logic [63:0]      word_o
);
  logic [Lanes-1:0] owner_q, owner;
  logic             active_q, fetched_q, is_rest, is_word, takes, fetches;
  // Words that were taken; the pair that is read; pairs of a value.
  logic [2:0]       done_q, next, pairs;
  logic             half_q;
  // Bytes of a pair that are left for the next word.
  logic [55:0]      carry_q;
  logic [63:0]      pair;
  logic [8:0]       chain;

  assign pairs = is_short_i ? 3'd3 : 3'd4;

  // The lowest lane that needs a value gets one, and keeps the bus up to the last word of its
  // value.
  always_comb begin
    owner = owner_q;
    if (!active_q) begin
      owner = '0;
      for (int lane = Lanes - 1; lane >= 0; lane--) begin
        if (want_i[lane]) owner = Lanes'(1) << lane;
      end
    end
    chain = '0;
    for (int lane = 0; lane < Lanes; lane++) chain |= {9{owner[lane]}} & chain_i[lane];
  end

  assign is_rest      = active_q & (done_q == pairs);
  assign is_word      = fetched_q | is_rest;
  assign takes        = is_word & ((owner_q & free_i) != '0);
  assign next         = active_q ? done_q + 3'(fetched_q) : '0;
  assign read_valid_o = (owner != '0) & (next < pairs) & ~(fetched_q & ~takes);
  assign read_place_o = ValuePlace | chain;
  assign read_row_o   = next[0];
  assign fetches      = read_valid_o & read_ready_i;

  assign pair    = half_q ? read_data_i.high : read_data_i.low;
  assign busy_o  = done_q != '0;
  assign valid_o = owner_q & {Lanes{is_word}};
  assign word_o  = {carry_q, is_rest ? 8'h80 : pair[63:56]};

  // The position in the value that is brought.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q   <= '0;
      active_q  <= 1'b0;
      fetched_q <= 1'b0;
      half_q    <= 1'b0;
      done_q    <= '0;
    end else if (wipe_i) begin
      owner_q   <= '0;
      active_q  <= 1'b0;
      fetched_q <= 1'b0;
      done_q    <= '0;
    end else begin
      fetched_q <= fetches;
      half_q    <= next[1];
      if (fetches) begin
        owner_q  <= owner;
        active_q <= 1'b1;
      end
      if (takes) begin
        done_q <= is_rest ? '0 : done_q + 3'd1;
        if (is_rest) active_q <= 1'b0;
      end
    end
  end

  // This register has no reset, because it is written before each value.
  always_ff @(posedge clk_i) begin
    if (takes || !active_q) carry_q <= (active_q && !is_rest) ? pair[55:0] : {index_i, 24'b0};
  end

  // A word for two lanes would belong to the wrong chain in one of them.
  `ASSERT(AValueIsForOneLane_A, $onehot0(valid_o))
  // Nothing is read past the end of a value.
  `ASSERT(NoPairFollowsTheLast_A, fetched_q |-> active_q && done_q < pairs)
  // A wipe drops the value that is brought: no lane gets a further word of it.
  `ASSERT(AWipeDropsTheValue_A, wipe_i |=> !active_q && !busy_o && valid_o == '0)
  // The bus belongs to one lane up to the last word of its value.
  `ASSERT(AValueStaysWithItsLane_A, 1'b1 |=> !($past(active_q) && active_q) || $stable(owner_q))
endmodule
