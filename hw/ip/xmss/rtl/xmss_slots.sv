// The operands of a lane: 16 slots of one value each, in distributed memory.
//
// One row is written a cycle, by halves of its words, and one is read in the same cycle
// (combinational). Each half of a row has its own read address, so that a value and a mask with
// exchanged halves are read together. The upper and the lower words have their own addresses as
// well: values of 24 bytes are hashed from the second word of a lane on. Slots have no reset,
// because each is written before the job that reads it begins. They have no parity.

`include "assert.svh"

module xmss_slots
  import xmss_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  // Port for writes: the row, the words of both halves that are written, and the data.
  input  logic       write_i,
  input  logic [4:0] write_row_i,
  input  logic [1:0] write_halves_i,
  input  row_t       write_data_i,
  // Read addresses of the upper words of both halves, and of the lower words.
  input  logic [4:0] read_upper_high_i,
  input  logic [4:0] read_upper_low_i,
  input  logic [4:0] read_lower_high_i,
  input  logic [4:0] read_lower_low_i,
  output row_t       read_data_o
);
  logic [31:0] upper_high [32];
  logic [31:0] lower_high [32];
  logic [31:0] upper_low [32];
  logic [31:0] lower_low [32];

  // Four columns, because a hash core of one round a cycle gives one word of each half at a time.
  always_ff @(posedge clk_i) begin
    if (write_i && write_halves_i[1]) begin
      upper_high[write_row_i] <= write_data_i.high[63:32];
      upper_low[write_row_i]  <= write_data_i.low[63:32];
    end
    if (write_i && write_halves_i[0]) begin
      lower_high[write_row_i] <= write_data_i.high[31:0];
      lower_low[write_row_i]  <= write_data_i.low[31:0];
    end
  end

  assign read_data_o.high = {upper_high[read_upper_high_i], lower_high[read_lower_high_i]};
  assign read_data_o.low  = {upper_low[read_upper_low_i], lower_low[read_lower_low_i]};

  // Seed and state of PRFs belong to the lane and not to a job: only half of the jobs would read a
  // second copy.
  `ASSERT(TheLaneHasOneSeed_A, write_i && write_row_i[4] |-> write_row_i[3:1] != SlotSeed && write_row_i[3:1] != SlotMid)
  // A write changes at least one word.
  `ASSERT(AWriteHasWords_A, write_i |-> write_halves_i != '0)
  // A word that is written is the word that is hashed, in its own column.
  `ASSERT(ALowWordIsKept_A,
          write_i && write_halves_i[0] |=> lower_low[$past(write_row_i)] == $past(write_data_i.low[31:0]))
  `ASSERT(AHighWordIsKept_A,
          write_i && write_halves_i[1] |=> upper_high[$past(write_row_i)] == $past(write_data_i.high[63:32]))
endmodule
