// This package has the types and constants of the AXI guard.

package axi_guard_pkg;
  // The guard has this many closed ranges.
  localparam int unsigned NumRanges = 4;

  // This is a closed range of pages. A range whose first page follows its last one is empty.
  typedef struct packed {
    logic [19:0] first;
    logic [19:0] last;
  } range_t;

  // These are the types of bursts (AMBA AXI §A3.4.1); 3 is reserved.
  localparam logic [1:0] BurstFixed  = 2'b00;
  localparam logic [1:0] BurstIncr   = 2'b01;
  localparam logic [1:0] BurstWrap   = 2'b10;
  // The bus has eight bytes, so this is the largest size of a beat.
  localparam logic [2:0] LargestSize = 3'd3;
endpackage
