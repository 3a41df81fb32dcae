// The memory of a signature and its keys, and the memory of the ends of chains, in block RAM.
//
// Each is written and read in the same cycle: the first by words and by rows, the second by rows of
// lanes, the lowest lane first. The first memory has several readers. The reader of long messages
// has priority, and the control is last; the reads of a lane are bounded, so none waits for long.
//
// Words are written without a handshake. Rows come in the cycle after their grant. Contents have
// neither reset nor parity.

`include "assert.svh"

module lms_memory
  import xmss_pkg::*;
  import lms_pkg::*;
#(
  // Number of lanes.
  parameter int unsigned Lanes = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // Words of keys and of signatures.
  input  logic             write_i,
  input  address_t         write_place_i,
  input  logic [2:0]       write_word_i,
  input  logic [31:0]      write_data_i,

  // Rows, which come a cycle after their grant, for three readers: long messages, first steps, the
  // control.
  input  logic [2:0]       read_i,
  output logic [2:0]       read_ready_o,
  input  address_t         read_place_i [3],
  input  logic [2:0]       read_row_i,
  output row_t             read_data_o,

  // Ends of chains, written by rows.
  input  logic [Lanes-1:0] end_write_i,
  output logic [Lanes-1:0] end_ready_o,
  input  address_t         end_place_i [Lanes],
  input  logic [Lanes-1:0] end_row_i,
  input  row_t             end_data_i [Lanes],
  // The reader of ends is the first reader of the other memory, with the same row.
  output row_t             end_data_o
);
  // Each place has two rows.
  localparam int unsigned Rows     = 1024;
  localparam int unsigned LaneBits = (Lanes > 1) ? $clog2(Lanes) : 1;

  // The memories have no reset, because only what was written after the last start is read.
  logic [31:0] column_0 [Rows];
  logic [31:0] column_1 [Rows];
  logic [31:0] column_2 [Rows];
  logic [31:0] column_3 [Rows];
  logic [127:0] ends [Rows];

  logic [9:0] write_row, read_row, end_row;
  // The columns that are written.
  logic [3:0] columns;
  row_t       end_data;
  logic [LaneBits-1:0] choice;

  // A word is in one of the four columns of a row (`xmss_pkg`).
  assign write_row = {write_place_i, write_word_i[1]};
  assign columns   = write_i ? 4'b0001 << {write_word_i[2], ~write_word_i[0]} : 4'b0000;

  // The first reader that asks is granted. The last one is granted whenever nobody else asks.
  always_comb begin
    read_row     = {read_place_i[2], read_row_i[2]};
    read_ready_o = 3'b100;
    for (int reader = 1; reader >= 0; reader--) begin
      if (read_i[reader]) begin
        read_row     = {read_place_i[reader], read_row_i[reader]};
        read_ready_o = 3'b001 << reader;
      end
    end
  end

  // The lowest lane that has an end is granted.
  always_comb begin
    end_ready_o = '0;
    choice      = '0;
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      if (end_write_i[lane]) begin
        end_ready_o = Lanes'(1) << lane;
        choice      = LaneBits'(lane);
      end
    end
  end
  assign end_row  = {end_place_i[choice], end_row_i[choice]};
  assign end_data = end_data_i[choice];

  // Each column has its own write enable.
  always_ff @(posedge clk_i) begin
    if (columns[3]) column_3[write_row] <= write_data_i;
    if (columns[2]) column_2[write_row] <= write_data_i;
    if (columns[1]) column_1[write_row] <= write_data_i;
    if (columns[0]) column_0[write_row] <= write_data_i;
    read_data_o <= {column_3[read_row], column_2[read_row], column_1[read_row], column_0[read_row]};
  end

  // The reader of ends is the reader with priority, so no other reader changes its row.
  always_ff @(posedge clk_i) begin
    if (end_ready_o != '0) ends[end_row] <= end_data;
    end_data_o <= ends[{read_place_i[0], read_row_i[0]}];
  end

  // A reader takes a grant as its own row: a grant without a request would be another reader's
  // data.
  `ASSERT(OneReadAtATime_A, $onehot(read_ready_o) && (read_ready_o[1:0] & ~read_i[1:0]) == '0)
  // An end is written only for a lane that has one, and for one lane at a time.
  `ASSERT(OneEndAtATime_A, $onehot0(end_ready_o) && (end_ready_o & ~end_write_i) == '0)
  // A word has one column. It never overwrites its neighbours, which belong to the same value.
  `ASSERT(AWordHasOneColumn_A, write_i |-> $onehot(columns))
  // Ends of chains come with the row of the first reader, so no other reader is granted before it.
  `ASSERT(TheFirstReaderIsFirst_A, read_i[0] |-> read_ready_o[0])
endmodule
