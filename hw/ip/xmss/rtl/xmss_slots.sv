// The operands of a lane: 16 slots of a value each, in distributed memory.
//
// Each half of a row has its own read address, so that a value and a mask with exchanged halves are read together. So have
// the upper and the lower words: values of 24 bytes are hashed from the second word of a lane on.
// Slots have no reset: each is written before the job that reads it begins.

`include "assert.svh"

module xmss_slots
  import xmss_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       write_i,
  input  logic [4:0] write_row_i,
  input  logic [1:0] write_halves_i,  // the upper words and the lower words of the two halves
  input  row_t       write_data_i,
  input  logic [4:0] read_upper_high_i,  // rows of upper words of both halves
  input  logic [4:0] read_upper_low_i,
  input  logic [4:0] read_lower_high_i,  // and of lower words
  input  logic [4:0] read_lower_low_i,
  output row_t       read_data_o
);
  logic [31:0] upper_high [32];
  logic [31:0] lower_high [32];
  logic [31:0] upper_low [32];
  logic [31:0] lower_low [32];

  // Four columns: a hash core with a round a cycle gives a word of each half at a time.
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

  // Seed and state of PRFs are the lane's, not a job's: a second copy would be read by half of the jobs only.
  `ASSERT(TheLaneHasOneSeed_A, write_i && write_row_i[4] |-> write_row_i[3:1] != SlotSeed && write_row_i[3:1] != SlotMid)
  `ASSERT(AWriteHasWords_A, write_i |-> write_halves_i != '0)
endmodule
