// A queue of words between two handshakes of one clock. Words leave in the order in which they entered.
//
// Protocol: a word enters in a cycle with `in_valid_i` and `in_ready_o`, and leaves in one with `out_valid_o` and
// `out_ready_i`. An offered word stays until it is taken or flushed. No output depends on an input of the same cycle,
// so the queue cuts paths in both directions; a full queue takes a word one cycle after another has left.
//
// A flush drops all words, and has priority over a word that enters in the same cycle. With `Wipes` it also overwrites
// the memory with zeros in the `Depth` cycles after it, and so does a reset. `busy_o` is set meanwhile, and the queue
// takes nothing. Without `Wipes` words stay in the memory, where nothing reads them.
//
// Time: a word can leave in the cycle after it has entered. The places and the level are in leaf cells (`flop_cell`),
// the words in a `memory_cell`. None of them is redundant.

`include "assert.svh"

module sync_fifo #(
  parameter int unsigned  Width = 1,
  // The number of words, a power of two of at least two.
  parameter int unsigned  Depth = 2,
  parameter bit           Wipes = 1'b0,
  localparam int unsigned AtBits = $clog2(Depth)
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              flush_i,
  // The memory is being overwritten.
  output logic              busy_o,
  // The number of words, up to `Depth`.
  output logic [AtBits:0]   level_o,
  // The places of the next word that enters and that leaves, so that they can be compared with those of a copy.
  output logic [AtBits-1:0] write_at_o,
  output logic [AtBits-1:0] read_at_o,

  input  logic              in_valid_i,
  output logic              in_ready_o,
  input  logic [Width-1:0]  in_data_i,

  output logic              out_valid_o,
  input  logic              out_ready_i,
  output logic [Width-1:0]  out_data_o
);
  logic [AtBits-1:0] write_d, write_at, read_d, read_at;
  logic [AtBits:0]   level_d, level;
  logic              enters, leaves;

  assign enters = in_valid_i & in_ready_o;
  assign leaves = out_valid_o & out_ready_i;

  // The places wrap, because the depth is a power of two.
  always_comb begin
    write_d = write_at + AtBits'(enters);
    read_d  = read_at + AtBits'(leaves);
    level_d = level + (AtBits + 1)'(enters) - (AtBits + 1)'(leaves);
    if (flush_i) begin
      write_d = '0;
      read_d  = '0;
      level_d = '0;
    end
  end
  flop_cell #(.Width(AtBits))     u_write (.clk_i, .rst_ni, .d_i(write_d), .q_o(write_at));
  flop_cell #(.Width(AtBits))     u_read  (.clk_i, .rst_ni, .d_i(read_d),  .q_o(read_at));
  flop_cell #(.Width(AtBits + 1)) u_level (.clk_i, .rst_ni, .d_i(level_d), .q_o(level));

  // The place that a wipe overwrites. A wipe ends with the last place.
  logic [AtBits-1:0] wipe_at;
  if (Wipes) begin : g_wipe
    logic [AtBits-1:0] wipe_d;
    logic              busy_d;
    assign wipe_d    = flush_i ? '0 : wipe_at + AtBits'(busy_o);
    assign busy_d    = flush_i | (busy_o & (wipe_at != '1));
    flop_cell #(.Width(AtBits))         u_wipe (.clk_i, .rst_ni, .d_i(wipe_d), .q_o(wipe_at));
    flop_cell #(.Width(1), .Reset(1'b1)) u_busy (.clk_i, .rst_ni, .d_i(busy_d), .q_o(busy_o));
  end else begin : g_none
    assign wipe_at = '0;
    assign busy_o  = 1'b0;
  end

  memory_cell #(.Width(Width), .Depth(Depth)) u_memory (
    .clk_i,
    .write_i     (enters | busy_o),
    .write_at_i  (busy_o ? wipe_at : write_at),
    .write_data_i(busy_o ? '0 : in_data_i),
    .read_at_i   (read_at),
    .read_data_o (out_data_o)
  );

  assign in_ready_o  = ~level[AtBits] & ~busy_o;
  assign out_valid_o = level != '0;
  assign level_o     = level;
  assign write_at_o  = write_at;
  assign read_at_o   = read_at;

  // Registers have any value before the first reset, so conditions about them begin with the second cycle.
  // More words than places would overwrite one that was not read.
  `ASSERT(NeverTooFull_A, 1'b1 |=> level <= (AtBits + 1)'(Depth))
  // Nothing enters a full queue.
  `ASSERT(AFullQueueTakesNothing_A, 1'b1 |=> level != (AtBits + 1)'(Depth) || !in_ready_o)
  // A word that is offered stays as it is until it is taken or flushed. (An upset of the place would show another word;
  // a user that has to notice this compares the places with those of a copy.)
  `ASSERT(AnOfferStays_A,
          out_valid_o && !out_ready_i && !flush_i |=> out_valid_o && ($stable(out_data_o) || !$stable(read_at)))
  // A flush leaves no word, not even the one that enters in its cycle.
  `ASSERT(AFlushForgets_A, flush_i |=> level == '0)
  // A word changes the level once: neither is it lost nor does it appear from nowhere.
  `ASSERT(EveryWordCountsOnce_A,
          !flush_i |=> level == $past(level) + (AtBits + 1)'($past(enters)) - (AtBits + 1)'($past(leaves)))
  // A wipe begins with a flush and never without one.
  `ASSERT(AWipeFollowsAFlush_A, flush_i |=> busy_o == Wipes)
  // A wipe finds the queue empty, so it overwrites no word that is still to be read.
  `ASSERT(AWipeHasNoWords_A, 1'b1 |=> !busy_o || level == '0)
endmodule
