// Values of a lane, in distributed memory: states of the hash function, a value, and operands that
// wait.
//
// The low halves of rows belong to values and states, the high halves to states only. One row is
// written and one read in each cycle; a read is combinational. Slots have no reset, because each is
// written before it is read.

`include "assert.svh"

module slh_dsa_slots
  import xmss_pkg::row_t;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  // The upper and the lower word of the low half and of the high half are written.
  input  logic [1:0] write_low_i,
  input  logic [1:0] write_high_i,
  input  logic [4:0] write_row_i,
  input  row_t       write_data_i,
  // Rows that are read, for either half.
  input  logic [4:0] read_low_i,
  input  logic [1:0] read_high_i,
  output row_t       read_data_o
);
  logic [31:0] upper_high [4];
  logic [31:0] lower_high [4];
  logic [31:0] upper_low [32];
  logic [31:0] lower_low [32];

  // Words are separate, because a hash core with one round a cycle gives one word of each half at a
  // time.
  always_ff @(posedge clk_i) begin
    if (write_high_i[1]) upper_high[write_row_i[1:0]] <= write_data_i.high[63:32];
    if (write_high_i[0]) lower_high[write_row_i[1:0]] <= write_data_i.high[31:0];
    if (write_low_i[1])  upper_low[write_row_i] <= write_data_i.low[63:32];
    if (write_low_i[0])  lower_low[write_row_i] <= write_data_i.low[31:0];
  end

  assign read_data_o.high = {upper_high[read_high_i], lower_high[read_high_i]};
  assign read_data_o.low  = {upper_low[read_low_i], lower_low[read_low_i]};

  // A value has no high half: its place would belong to a state.
  `ASSERT(OnlyStatesHaveAHighHalf_A, write_high_i != '0 |-> write_row_i < 5'd4)
  // A state is never written in part.
  `ASSERT(AStateIsWrittenAsAWhole_A, write_high_i != '0 |-> write_low_i == write_high_i)
  // A word that is written is the word that is hashed, in its own column.
  `ASSERT(ALowWordIsKept_A, write_low_i[0] |=> lower_low[$past(write_row_i)] == $past(write_data_i.low[31:0]))
  `ASSERT(AHighWordIsKept_A, write_high_i[1] |=> upper_high[$past(write_row_i[1:0])] == $past(write_data_i.high[63:32]))
endmodule
