// The memory and what computes on whole numbers in it: one operation at a time.

`include "assert.svh"

module bignum_datapath
  import bignum_pkg::*;
#(
  parameter int unsigned Dsps = 16,
  localparam int unsigned W         = word_bits(Dsps),
  localparam int unsigned AddrBits  = $clog2(Limbs * LimbBits / W),
  localparam int unsigned IndexBits = 10
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,       // taken while not busy
  input  logic                 clear_i,       // stops, and leaves nothing but the memory
  input  vector_t              op_i,          // stable until done
  input  field_e               field_i,
  input  logic [IndexBits-1:0] words_i,
  input  slot_t                modulus_i,
  input  slot_t                factors_i,
  input  logic [W-1:0]         inverse_i,
  input  logic [3:0]           index_i,
  input  logic [2:0]           pairs_i,
  input  logic [AddrBits-1:0]  stride_i,
  output logic                 busy_o,
  output logic                 done_o,
  output logic                 is_zero_o,
  output logic                 is_negative_o,
  output logic                 is_odd_o,

  // The memory, for others while not busy.
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

  // Slots.
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

  // What becomes of them.
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

  // Port b of the memory: results, factors, the words of others; else the second word of a slot.
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
  // A word of others comes a cycle after its address, as for the datapath itself.
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

  // Words of the result follow each other.
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

  // Outside of an operation port b is that of others, whose word a result would replace.
  `ASSERT(AResultIsOfAnOperation_A, write || q_taken |-> busy_q)
  `ASSERT(ADoneOperationEnds_A, done_o |=> !busy_q)
  `ASSERT(OneWriteACycle_A, !(write && q_taken))
  `ASSERT(SlotsEndBeforeTheResult_A, done_o |-> !issue_busy)
endmodule
