// Values that belong to a hash core, in distributed memory: sixteen slots of two rows each.
//
// One row is written by halves and one row is read in each cycle; a read is combinational. Slots
// have no reset, because each is written before it is read. They have no parity.

`include "assert.svh"

module lms_slots
  import xmss_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  // Port for writes.
  input  logic       write_i,
  input  logic [4:0] write_row_i,
  // The upper half and the lower half of the row.
  input  logic [1:0] write_halves_i,
  input  row_t       write_data_i,
  // Port for reads.
  input  logic [4:0] read_row_i,
  output row_t       read_data_o
);
  logic [63:0] high [32];
  logic [63:0] low [32];

  // Two columns, because a pair of a message is half of a row.
  always_ff @(posedge clk_i) begin
    if (write_i && write_halves_i[1]) high[write_row_i] <= write_data_i.high;
    if (write_i && write_halves_i[0]) low[write_row_i]  <= write_data_i.low;
  end
  assign read_data_o = '{high: high[read_row_i], low: low[read_row_i]};

  // A write changes at least one half.
  `ASSERT(AWriteHasAHalf_A, write_i |-> write_halves_i != '0)
  // A half that is written is the half that is hashed, in its own column.
  `ASSERT(ALowHalfIsKept_A, write_i && write_halves_i[0] |=> low[$past(write_row_i)] == $past(write_data_i.low))
  `ASSERT(AHighHalfIsKept_A, write_i && write_halves_i[1] |=> high[$past(write_row_i)] == $past(write_data_i.high))
endmodule
