// A register slice for a channel with a handshake: it cuts all paths between its two sides and loses no cycle.
//
// The register at the output has the word that is offered. If the receiver stalls, the word that is already on its way
// goes into a spare register, and the sender stalls a cycle later. Words pass in their order, one in each cycle, with a
// latency of one cycle. An offered word stays until it is taken or flushed.
//
// A flush drops both words, and has priority over a word that enters in the same cycle. The data registers are not
// cleared by it. Reset: no word is there, and the buffer is ready. All registers are in leaf cells (`flop_cell`); none
// of them is redundant.

`include "assert.svh"

module skid_buffer #(
  parameter int unsigned Width = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             flush_i,

  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,

  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  logic             valid_d, valid, spare_valid_d, spare_valid, enters, stalls;
  logic [Width-1:0] data_d, spare_d, spare;

  assign enters = in_valid_i & in_ready_o;
  assign stalls = valid & ~out_ready_i;

  // While the receiver stalls, a word that enters becomes the spare one. Otherwise the spare word moves up before a new
  // one is taken; it is never there in a cycle in which a word enters.
  assign valid_d       = ~flush_i & (stalls | spare_valid | enters);
  assign spare_valid_d = ~flush_i & stalls & (spare_valid | enters);
  assign data_d        = stalls ? out_data_o : spare_valid ? spare : in_data_i;
  assign spare_d       = enters ? in_data_i : spare;

  flop_cell #(.Width(1))     u_valid       (.clk_i, .rst_ni, .d_i(valid_d),       .q_o(valid));
  flop_cell #(.Width(1))     u_spare_valid (.clk_i, .rst_ni, .d_i(spare_valid_d), .q_o(spare_valid));
  flop_cell #(.Width(Width)) u_data        (.clk_i, .rst_ni, .d_i(data_d),        .q_o(out_data_o));
  flop_cell #(.Width(Width)) u_spare       (.clk_i, .rst_ni, .d_i(spare_d),       .q_o(spare));

  // Both come from registers.
  assign in_ready_o  = ~spare_valid;
  assign out_valid_o = valid;

  // Registers have any value before the first reset, so a condition about them begins with the second cycle.
  // A spare word is behind another one, or the order of words would change.
  `ASSERT(TheSpareWordIsTheSecond_A, 1'b1 |=> !spare_valid || valid)
  // A word that is offered stays as it is until it is taken or flushed.
  `ASSERT(AnOfferStays_A, out_valid_o && !out_ready_i && !flush_i |=> out_valid_o && $stable(out_data_o))
  // The sender is stopped only while two words wait, so a channel without stalls has a word in every cycle.
  `ASSERT(OneWordStopsNobody_A, out_ready_i |=> in_ready_o)
  // A flush leaves no word, not even the one that enters in its cycle.
  `ASSERT(AFlushForgets_A, flush_i |=> !out_valid_o && in_ready_o)
  // A word that enters an empty buffer is offered in the next cycle.
  `ASSERT(AWordTakesOneCycle_A, enters && !valid && !flush_i |=> out_valid_o && out_data_o == $past(in_data_i))
  // The second word waits until the first one has left.
  `ASSERT(TheSpareWordMovesUp_A, spare_valid && out_ready_i && !flush_i |=> out_valid_o && out_data_o == $past(spare))
endmodule
