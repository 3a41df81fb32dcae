// The memory of values, in block RAM: a row is read and a row is written in each cycle.
//
// Lanes go first, the lowest one first; what a job reads and writes is bounded, so none waits for long.

`include "assert.svh"

module xmss_memory
  import xmss_pkg::*;
#(
  parameter int unsigned Lanes = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic   [Lanes-1:0]  lane_read_i,
  output logic   [Lanes-1:0]  lane_read_ready_o,
  input  operand_t            lane_operand_i [Lanes],  // stable until granted
  input  logic   [Lanes-1:0]  lane_write_i,
  output logic   [Lanes-1:0]  lane_write_ready_o,
  input  result_t             lane_result_i [Lanes],
  input  row_t                lane_write_data_i [Lanes],  // whole rows

  // The control: words are written, rows are read.
  input  logic                read_i,  // rows for the control
  output logic                read_ready_o,
  input  place_t              read_place_i,
  input  logic                read_row_i,
  input  logic                write_i,  // words of key, signature and message
  output logic                write_ready_o,
  input  place_t              write_place_i,
  input  logic   [2:0]        write_word_i,
  input  logic   [31:0]       write_data_i,

  output row_t                read_data_o  // of the cycle before
);
  localparam int unsigned Rows     = 2 ** (PlaceBits + 1);  // two of each place
  localparam int unsigned LaneBits = (Lanes > 1) ? $clog2(Lanes) : 1;

  // Without a reset: every job reads only what was written after the last start.
  logic [31:0] column_0 [Rows];
  logic [31:0] column_1 [Rows];
  logic [31:0] column_2 [Rows];
  logic [31:0] column_3 [Rows];

  row_address_t       read_row, write_row;  // a place and one of its two rows
  logic [3:0]         columns;  // those that are written
  logic               reads;  // anyone does
  row_t               data;  // to be written, in the columns that `columns` names

  // The lowest lane that asks, as a number: places and data are chosen before they are computed, once for all lanes.
  logic [LaneBits-1:0] reader, writer;
  operand_t            operand;
  result_t             result;
  always_comb begin
    reader = '0;
    writer = '0;
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      if (lane_read_i[lane])  reader = LaneBits'(lane);
      if (lane_write_i[lane]) writer = LaneBits'(lane);
    end
  end
  assign operand = lane_operand_i[reader];
  assign result  = lane_result_i[writer];

  // A lane, or the control.
  assign read_ready_o      = ~|lane_read_i;
  assign lane_read_ready_o = lane_read_i & (Lanes'(1) << reader);
  assign reads             = read_i | (|lane_read_i);
  assign read_row          = read_ready_o ? {read_place_i, read_row_i} : operand_row(operand);

  // The same for a write. A word of the control is one of the four columns.
  assign write_ready_o      = ~|lane_write_i;
  assign lane_write_ready_o = lane_write_i & (Lanes'(1) << writer);
  assign write_row          = write_ready_o ? {write_place_i, write_word_i[1]} : result_row(result);
  assign data               = write_ready_o ? '{high: {2{write_data_i}}, low: {2{write_data_i}}} : lane_write_data_i[writer];
  assign columns            = ~write_ready_o ? 4'b1111 :
                              write_i        ? 4'b0001 << {write_word_i[2], ~write_word_i[0]} : 4'b0000;

  // Columns of a word: each has its own write enable.
  always_ff @(posedge clk_i) begin
    if (columns[3]) column_3[write_row] <= data.high[63:32];
    if (columns[2]) column_2[write_row] <= data.high[31:0];
    if (columns[1]) column_1[write_row] <= data.low[63:32];
    if (columns[0]) column_0[write_row] <= data.low[31:0];
    if (reads) begin
      read_data_o <= {column_3[read_row], column_2[read_row], column_1[read_row], column_0[read_row]};
    end
  end

  // A lane takes a grant as its own row: one that it did not ask for would be another lane's data.
  `ASSERT(AGrantIsOfARequest_A, ((lane_read_ready_o & ~lane_read_i) | (lane_write_ready_o & ~lane_write_i)) == '0)
  // Half a value would be mixed with what its place had before.
  `ASSERT(ALaneWritesWholeRows_A, lane_write_ready_o != '0 |-> &columns)
  `ASSERT(OneReadAtATime_A, $onehot0({lane_read_ready_o, read_ready_o}))
  `ASSERT(OneWriteAtATime_A, $onehot0({lane_write_ready_o, write_ready_o}))
endmodule
