// Types of the AXI guard.

package axi_guard_pkg;
  localparam int unsigned NumRanges = 4;

  // A closed range of pages. One whose first page follows its last is empty.
  typedef struct packed {
    logic [19:0] first;
    logic [19:0] last;
  } range_t;

  // Burst types (AMBA AXI §A3.4.1); 3 is reserved.
  localparam logic [1:0] BurstFixed  = 2'b00;
  localparam logic [1:0] BurstIncr   = 2'b01;
  localparam logic [1:0] BurstWrap   = 2'b10;
  localparam logic [1:0] RespDecerr  = 2'b11;
  // The bus has eight bytes.
  localparam logic [2:0] LargestSize = 3'd3;
endpackage
