// The memory of values, in block RAM with two ports: one reads rows, and writes words of the control when it reads none; the
// other one writes rows of lanes. So no multiplexer is before the data of either.
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

  // The control: rows are read, and words are written while none is read.
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

  row_address_t       row, lane_row;  // a place and one of its two rows: of the port that reads, and of the one of lanes
  logic [3:0]         columns;  // in which the control writes
  logic               reads, lane_writes;  // anyone does
  row_t               data;  // of the lane

  // The lane that may read and the one that may write, as numbers: places and data are chosen before they are computed, once
  // for all lanes. They are chosen a cycle before, so that a choice of two bits is before the data, and no order of lanes.
  logic [LaneBits-1:0] reader_d, writer_d, reader_q, writer_q;
  operand_t            operand;
  result_t             result;
  // The lowest lane that asks.
  always_comb begin
    reader_d = '0;
    writer_d = '0;
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      if (lane_read_i[lane])  reader_d = LaneBits'(lane);
      if (lane_write_i[lane]) writer_d = LaneBits'(lane);
    end
  end
  assign operand = lane_operand_i[reader_q];
  assign result  = lane_result_i[writer_q];

  // Who asked in the cycle before.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reader_q <= '0;
      writer_q <= '0;
    end else begin
      reader_q <= reader_d;
      writer_q <= writer_d;
    end
  end

  // A lane, or the control.
  assign lane_read_ready_o = lane_read_i & (Lanes'(1) << reader_q);
  assign read_ready_o      = ~|lane_read_ready_o;
  assign reads             = read_i | ~read_ready_o;
  assign write_ready_o     = ~reads;
  assign row               = ~read_ready_o ? operand_row(operand) :
                             read_i        ? {read_place_i, read_row_i} : {write_place_i, write_word_i[1]};
  // A word of the control is one of the four columns.
  assign columns           = (write_i & ~reads) ? 4'b0001 << {write_word_i[2], ~write_word_i[0]} : 4'b0000;

  assign lane_write_ready_o = lane_write_i & (Lanes'(1) << writer_q);
  assign lane_writes        = |lane_write_ready_o;
  assign lane_row           = result_row(result);
  assign data               = lane_write_data_i[writer_q];

  // Columns of a word: each has its own write enable.
  always_ff @(posedge clk_i) begin
    if (lane_writes) begin
      column_3[lane_row] <= data.high[63:32];
      column_2[lane_row] <= data.high[31:0];
      column_1[lane_row] <= data.low[63:32];
      column_0[lane_row] <= data.low[31:0];
    end
    if (columns[3]) column_3[row] <= write_data_i;
    if (columns[2]) column_2[row] <= write_data_i;
    if (columns[1]) column_1[row] <= write_data_i;
    if (columns[0]) column_0[row] <= write_data_i;
    // No row is read while it is written, so block RAM may give what it wants then: with the word before, which an ECP5 cannot
    // give, Yosys would make it of flip-flops.
    if (reads) begin
      read_data_o <= (lane_writes && row == lane_row) ? 'x : {column_3[row], column_2[row], column_1[row], column_0[row]};
    end
  end

  // A lane takes a grant as its own row: one that it did not ask for would be another lane's data.
  `ASSERT(AGrantIsOfARequest_A, ((lane_read_ready_o & ~lane_read_i) | (lane_write_ready_o & ~lane_write_i)) == '0)
  `ASSERT(OneReadAtATime_A, $onehot0({lane_read_ready_o, read_ready_o}))
  `ASSERT(OneWriteAtATime_A, $onehot0(lane_write_ready_o))
  // The port has one address: a word would go to the place that is read.
  `ASSERT(NoWordIsWrittenDuringARead_A, reads |-> columns == '0)
  `ASSERT(NoRowIsReadWhileItIsWritten_A, reads && lane_writes |-> row != lane_row)
  // Which of the two remains is undefined in block RAM.
  `ASSERT(TwoWritesAreOfTwoRows_A, lane_writes && columns != '0 |-> row != lane_row)
endmodule
