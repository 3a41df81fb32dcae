// This module says whether a burst may pass: all of its bytes are in one page, and this page is in no closed
// range. It is combinational; clock and reset serve the assertions only.
//
// A burst that keeps the rules does not leave its page (AMBA AXI §A3.4.1). One that breaks them is refused
// here, because what a subordinate makes of it is not known: a burst past the end of a page, one that wraps
// with a length or an address that is not allowed, one at a fixed address of more than sixteen beats, a
// reserved type, and beats wider than the bus.

`include "assert.svh"

module axi_guard_check
  import axi_guard_pkg::*;
#(
  // `WholeBursts` = 0 builds a variant that compares only the first byte, to show that tests and proofs detect
  // it.
  parameter bit WholeBursts = 1'b1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // These are the closed ranges.
  input  range_t [NumRanges-1:0] ranges_i,
  // These describe the burst with the fields of AXI: the first address, the number of beats less one, the
  // logarithm of the bytes of a beat, and the type.
  input  logic [31:0]            addr_i,
  input  logic [7:0]             len_i,
  input  logic [2:0]             size_i,
  input  logic [1:0]             burst_i,
  output logic                   passes_o
);
  logic [10:0] mask;
  logic [11:0] span;
  logic [11:0] unused_last;
  logic is_closed, is_long, is_wrap_good, is_legal;

  // `span` is the number of bytes after the first one, and `is_long` says whether the last byte is in another
  // page, for an incrementing burst. The first beat begins at a multiple of the size, also when the address
  // does not (§A3.4.1).
  assign mask = (11'd1 << size_i) - 11'd1;
  assign span = ({4'b0, len_i} << size_i[1:0]) | {1'b0, mask};
  assign {is_long, unused_last} = {1'b0, addr_i[11:0] & ~{1'b0, mask}} + {1'b0, span};

  // A wrapping burst has two, four, eight or sixteen beats, and begins at a multiple of the size. The block in
  // which it wraps is within a page.
  assign is_wrap_good = (len_i == 8'd1 || len_i == 8'd3 || len_i == 8'd7 || len_i == 8'd15) &
                        ((addr_i[10:0] & mask) == '0);

  // This block decides by the type whether a burst is legal. The bytes of a fixed burst are those of its first
  // beat.
  always_comb begin
    unique case (burst_i)
      BurstFixed: is_legal = len_i[7:4] == '0;
      BurstIncr:  is_legal = ~is_long;
      BurstWrap:  is_legal = is_wrap_good;
      default:    is_legal = 1'b0;
    endcase
    if (!WholeBursts)         is_legal = 1'b1;
    if (size_i > LargestSize) is_legal = 1'b0;
  end

  // A page in one range is closed, whatever the other ranges say.
  always_comb begin
    is_closed = 1'b0;
    for (int unsigned i = 0; i < NumRanges; i++) begin
      if (addr_i[31:12] >= ranges_i[i].first && addr_i[31:12] <= ranges_i[i].last) is_closed = 1'b1;
    end
  end

  assign passes_o = is_legal & ~is_closed;

  // This is the promise of the guard: nothing in a closed page passes.
  `ASSERT(AClosedPageIsClosed_A, 1'b1 |=> !(passes_o && is_closed))
  // A burst that leaves its page would reach a page that was not judged.
  `ASSERT(NoBurstLeavesItsPage_A, 1'b1 |=> !(passes_o && burst_i == BurstIncr && is_long))
  // What a subordinate makes of a beat wider than the bus is not known.
  `ASSERT(NoBeatIsWiderThanTheBus_A, 1'b1 |=> !(passes_o && size_i > LargestSize))
  // A wrapping burst of another length is not defined, so what it reaches is not known (A3.4.1).
  `ASSERT(AWrapStaysInItsBlock_A, 1'b1 |=> !(passes_o && burst_i == BurstWrap) || is_wrap_good || !WholeBursts)
  // A burst of the reserved type passes nowhere.
  `ASSERT(NoReservedBurstPasses_A, 1'b1 |=> !(passes_o && burst_i == 2'b11) || !WholeBursts)
  // A fixed burst has at most sixteen beats (A3.4.1).
  `ASSERT(AFixedBurstIsShort_A, 1'b1 |=> !(passes_o && burst_i == BurstFixed) || len_i < 8'd16 || !WholeBursts)
endmodule
