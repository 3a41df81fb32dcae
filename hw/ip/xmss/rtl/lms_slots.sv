// Values beside a hash core, in distributed memory: sixteen of two rows each.
//
// Slots have no reset: each is written before it is read.

`include "assert.svh"

module lms_slots
  import xmss_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       write_i,
  input  logic [4:0] write_row_i,
  input  logic [1:0] write_halves_i,  // the upper half and the lower half of the row
  input  row_t       write_data_i,
  input  logic [4:0] read_row_i,
  output row_t       read_data_o
);
  logic [63:0] high [32];
  logic [63:0] low [32];

  // Two columns: a pair of a message is half of a row.
  always_ff @(posedge clk_i) begin
    if (write_i && write_halves_i[1]) high[write_row_i] <= write_data_i.high;
    if (write_i && write_halves_i[0]) low[write_row_i]  <= write_data_i.low;
  end
  assign read_data_o = '{high: high[read_row_i], low: low[read_row_i]};

  `ASSERT(AWriteHasAHalf_A, write_i |-> write_halves_i != '0)
endmodule
