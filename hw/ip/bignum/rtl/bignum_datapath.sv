// This module has the memory of the engine and what computes on whole numbers in it, one operation at a time.
//
// Protocol: `start_i` begins an operation while `busy_o` is low; `op_i` and the other inputs of the operation
// are stable until `done_o`, a pulse with the last word. `clear_i` stops everything. While `busy_o` is low
// others use port b of the memory, and a word comes a cycle after its address.
//
// Time: lengths and kind of an operation decide, and no data. A product of n words by Montgomery's method takes
// about 2n² slots, one in a cycle. Reset: no operation runs; the memory has no reset. Nothing is hardened here;
// a fault gives a wrong number.

`include "assert.svh"

module bignum_datapath
  import bignum_pkg::*;
#(
  // `Dsps` is the number of DSP blocks: 16, 4 or 1. The other parameters follow from it.
  parameter int unsigned Dsps = 16,
  localparam int unsigned W         = word_bits(Dsps),
  localparam int unsigned AddrBits  = $clog2(Limbs * LimbBits / W),
  localparam int unsigned IndexBits = 10
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // A start is taken while the datapath is not busy.
  input  logic                 start_i,
  // A clear stops the operation, and leaves nothing but the memory.
  input  logic                 clear_i,
  // The operation, with its field, lengths and places, is stable until it is done. `index_i`, `pairs_i` and
  // `stride_i` describe the table of a selection.
  input  vector_t              op_i,
  input  field_e               field_i,
  input  logic [IndexBits-1:0] words_i,
  input  slot_t                modulus_i,
  input  slot_t                factors_i,
  input  logic [W-1:0]         inverse_i,
  input  logic [3:0]           index_i,
  input  logic [2:0]           pairs_i,
  input  logic [AddrBits-1:0]  stride_i,
  // These are the end of an operation, and flags of its result.
  output logic                 busy_o,
  output logic                 done_o,
  output logic                 is_zero_o,
  output logic                 is_negative_o,
  output logic                 is_odd_o,

  // These ports are the memory for others, while the datapath is not busy.
  input  logic                 write_i,
  input  logic [AddrBits-1:0]  addr_i,
  input  logic [W-1:0]         data_i,
  output logic [W-1:0]         data_o
);
  logic [AddrBits-1:0] a_addr, b_addr, issue_b_addr, q_addr, out_addr_q;
  logic [W-1:0]        a_data, b_data, q_word, out_word, b_wdata;
  logic                b_write, write, issue_busy, busy_q, hold, q_ready, q_taken, starts;
  logic                a_is_top, b_is_top, use_q, use_small, use_select, use_none;
  logic [1:0]          select;
  small_t              factor;
  tag_t                tag;

  // A clear takes precedence, so that an abort in the first cycle leaves no operation.
  assign starts = start_i & ~busy_q & ~clear_i;

  // This unit decides which words are multiplied in each cycle.
  bignum_issue #(.W(W)) u_issue (
    .clk_i, .rst_ni,
    .start_i     (starts),
    .clear_i, .op_i, .field_i, .words_i, .modulus_i, .factors_i, .index_i, .pairs_i, .stride_i,
    .busy_o      (issue_busy),
    .hold_i      (hold),
    .b_taken_i   (write),
    .q_ready_i   (q_ready),
    .q_taken_o   (q_taken),
    .q_addr_o    (q_addr),
    .a_addr_o    (a_addr),
    .b_addr_o    (issue_b_addr),
    .tag_o       (tag),
    .a_is_top_o  (a_is_top),
    .b_is_top_o  (b_is_top),
    .use_q_o     (use_q),
    .use_small_o (use_small),
    .small_o     (factor),
    .use_select_o(use_select),
    .select_o    (select),
    .use_none_o  (use_none)
  );

  // This unit multiplies them, and makes the words of the result.
  bignum_columns #(.W(W)) u_columns (
    .clk_i, .rst_ni,
    .start_i      (starts),
    .clear_i, .field_i, .inverse_i,
    .tag_i        (tag),
    .a_is_top_i   (a_is_top),
    .b_is_top_i   (b_is_top),
    .use_q_i      (use_q),
    .use_small_i  (use_small),
    .small_i      (factor),
    .use_select_i (use_select),
    .select_i     (select),
    .use_none_i   (use_none),
    .hold_o       (hold),
    .a_data_i     (a_data),
    .b_data_i     (b_data),
    .q_ready_o    (q_ready),
    .q_taken_i    (q_taken),
    .q_o          (q_word),
    .write_o      (write),
    .word_o       (out_word),
    .done_o, .is_zero_o, .is_negative_o, .is_odd_o
  );

  // Port b of the memory takes results, factors and the words of others; otherwise it reads the second word of
  // a slot.
  always_comb begin
    b_write = write | q_taken;
    b_addr  = write ? out_addr_q : q_taken ? q_addr : issue_b_addr;
    b_wdata = write ? out_word : q_word;
    if (!busy_q) begin
      b_write = write_i;
      b_addr  = addr_i;
      b_wdata = data_i;
    end
  end
  // A word for others comes a cycle after its address, as it does for the datapath itself.
  assign data_o = b_data;

  bignum_memory #(.W(W), .Words(Limbs * LimbBits / W)) u_memory (
    .clk_i, .rst_ni,
    .a_addr_i (a_addr),
    .a_data_o (a_data),
    .b_write_i(b_write),
    .b_addr_i (b_addr),
    .b_data_i (b_wdata),
    .b_data_o (b_data)
  );

  // Words of the result are written one after the other, from the first word of the slot `dst` on.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q     <= 1'b0;
      out_addr_q <= '0;
    end else begin
      if (starts)     out_addr_q <= AddrBits'(op_i.dst) << $clog2(SlotLimbs * LimbBits / W);
      else if (write) out_addr_q <= out_addr_q + 1'b1;
      if (clear_i || done_o) busy_q <= 1'b0;
      else if (starts)       busy_q <= 1'b1;
    end
  end
  assign busy_o = busy_q;

  // Without an operation port b belongs to others, whose word a result would replace.
  `ASSERT(AResultIsOfAnOperation_A, write || q_taken |-> busy_q)
  // An operation ends with its last word, so the sequencer can go on.
  `ASSERT(ADoneOperationEnds_A, done_o |=> !busy_q)
  // Port b has one write in a cycle; a second one would be lost.
  `ASSERT(OneWriteACycle_A, !(write && q_taken))
  // A result is not complete while slots are left.
  `ASSERT(SlotsEndBeforeTheResult_A, done_o |-> !issue_busy)
endmodule
