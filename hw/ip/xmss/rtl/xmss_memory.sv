// The memory of values, in block RAM with two ports. One port reads rows, and writes words of the
// control while it reads none. The other port writes rows of the lanes. So neither has a
// multiplexer in front of its data.
//
// Interface: a request stays until its grant, and a row that was read comes in the next cycle.
// Lanes have priority, the lowest one first. The choice of a lane is made in the cycle before, so a
// lane is granted at once only if it was the choice already, and otherwise a cycle after it asked
// or later. The reads and writes of a job are bounded, so none waits for long. Contents have
// neither reset nor parity.

`include "assert.svh"

module xmss_memory
  import xmss_pkg::*;
#(
  // Number of lanes.
  parameter int unsigned Lanes = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Reads and writes of the lanes: rows, by job and node. A request is stable until granted.
  input  logic   [Lanes-1:0]  lane_read_i,
  output logic   [Lanes-1:0]  lane_read_ready_o,
  input  operand_t            lane_operand_i [Lanes],
  input  logic   [Lanes-1:0]  lane_write_i,
  output logic   [Lanes-1:0]  lane_write_ready_o,
  input  result_t             lane_result_i [Lanes],
  input  row_t                lane_write_data_i [Lanes],

  // The control: rows are read, and words are written while nobody reads.
  // Rows for the control.
  input  logic                read_i,
  output logic                read_ready_o,
  input  place_t              read_place_i,
  input  logic                read_row_i,
  // Words of key, signature and message.
  input  logic                write_i,
  output logic                write_ready_o,
  input  place_t              write_place_i,
  input  logic   [2:0]        write_word_i,
  input  logic   [31:0]       write_data_i,

  // The row that was granted in the cycle before.
  output row_t                read_data_o
);
  // Each place has two rows.
  localparam int unsigned Rows     = 2 ** (PlaceBits + 1);
  localparam int unsigned LaneBits = (Lanes > 1) ? $clog2(Lanes) : 1;

  // The columns have no reset, because every job reads only what was written after the last start.
  logic [31:0] column_0 [Rows];
  logic [31:0] column_1 [Rows];
  logic [31:0] column_2 [Rows];
  logic [31:0] column_3 [Rows];

  // A row is a place and one of its two rows: of the port that reads, and of the port of the lanes.
  row_address_t       row, lane_row;
  // The column in which the control writes.
  logic [3:0]         columns;
  // Somebody reads, or a lane writes.
  logic               reads, lane_writes;
  // The row that a lane writes.
  row_t               data;

  // The lane that may read and the lane that may write, as numbers: place and data are chosen
  // before they are computed, once for all lanes. The choice is made a cycle before, so that only a
  // choice of two bits, and no priority among lanes, is in front of the data.
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

  // The lanes that asked in the cycle before.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reader_q <= '0;
      writer_q <= '0;
    end else begin
      reader_q <= reader_d;
      writer_q <= writer_d;
    end
  end

  // A lane reads, or the control does.
  assign lane_read_ready_o = lane_read_i & (Lanes'(1) << reader_q);
  assign read_ready_o      = ~|lane_read_ready_o;
  assign reads             = read_i | ~read_ready_o;
  assign write_ready_o     = ~reads;
  assign row               = ~read_ready_o ? operand_row(operand) :
                             read_i        ? {read_place_i, read_row_i} : {write_place_i, write_word_i[1]};
  // A word of the control goes into one of the four columns.
  assign columns           = (write_i & ~reads) ? 4'b0001 << {write_word_i[2], ~write_word_i[0]} : 4'b0000;

  assign lane_write_ready_o = lane_write_i & (Lanes'(1) << writer_q);
  assign lane_writes        = |lane_write_ready_o;
  assign lane_row           = result_row(result);
  assign data               = lane_write_data_i[writer_q];

  // Each column has its own write enable.
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
    // No row is read while it is written, so the memory may give any value then. The old word is
    // something that an ECP5 cannot give, and Yosys would make the memory of flip-flops.
    if (reads) begin
      read_data_o <= (lane_writes && row == lane_row) ? 'x : {column_3[row], column_2[row], column_1[row], column_0[row]};
    end
  end

  // A lane takes a grant as its own row: a grant without a request would be another lane's data.
  `ASSERT(AGrantIsOfARequest_A, ((lane_read_ready_o & ~lane_read_i) | (lane_write_ready_o & ~lane_write_i)) == '0)
  // The read port has one user at a time.
  `ASSERT(OneReadAtATime_A, $onehot0({lane_read_ready_o, read_ready_o}))
  // The write port has one user at a time.
  `ASSERT(OneWriteAtATime_A, $onehot0(lane_write_ready_o))
  // The port has one address: a word would be written to the place that is read.
  `ASSERT(NoWordIsWrittenDuringARead_A, reads |-> columns == '0)
  // The value of such a read is undefined.
  `ASSERT(NoRowIsReadWhileItIsWritten_A, reads && lane_writes |-> row != lane_row)
  // In block RAM it is undefined which of two writes remains.
  `ASSERT(TwoWritesAreOfTwoRows_A, lane_writes && columns != '0 |-> row != lane_row)
endmodule
