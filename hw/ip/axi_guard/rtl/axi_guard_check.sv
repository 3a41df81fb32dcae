// Whether a burst may pass: all of its bytes are in one page, and this page is in no closed range.
//
// A burst that keeps the rules does not leave its page (AMBA AXI §A3.4.1). One that breaks them is refused here, because
// what a subordinate makes of it is not known: a burst past the end of a page, one that wraps with a length or an
// address that is not allowed, one at a fixed address of more than sixteen beats, a reserved type, and beats wider than
// the bus.

`include "assert.svh"

module axi_guard_check
  import axi_guard_pkg::*;
#(
  // 0 builds a variant that compares the first byte only, to show that tests and proofs detect it.
  parameter bit WholeBursts = 1'b1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  range_t [NumRanges-1:0] ranges_i,
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

  // Bytes after the first one, and whether the last byte is in another page, for an incrementing burst: its first beat
  // begins at a multiple of the size, also when its address does not (§A3.4.1).
  assign mask = (11'd1 << size_i) - 11'd1;
  assign span = ({4'b0, len_i} << size_i[1:0]) | {1'b0, mask};
  assign {is_long, unused_last} = {1'b0, addr_i[11:0] & ~{1'b0, mask}} + {1'b0, span};

  // Two, four, eight or sixteen beats, from a multiple of the size. The block that it wraps in is within a page.
  assign is_wrap_good = (len_i == 8'd1 || len_i == 8'd3 || len_i == 8'd7 || len_i == 8'd15) &
                        ((addr_i[10:0] & mask) == '0);

  // What a burst is by its type. Bytes of a fixed one are those of its first beat.
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

  // A page in one range is closed, whatever the others say.
  always_comb begin
    is_closed = 1'b0;
    for (int unsigned i = 0; i < NumRanges; i++) begin
      if (addr_i[31:12] >= ranges_i[i].first && addr_i[31:12] <= ranges_i[i].last) is_closed = 1'b1;
    end
  end

  assign passes_o = is_legal & ~is_closed;

  `ASSERT(AClosedPageIsClosed_A, 1'b1 |=> !(passes_o && is_closed))
  `ASSERT(NoBurstLeavesItsPage_A, 1'b1 |=> !(passes_o && burst_i == BurstIncr && is_long))
  `ASSERT(NoBeatIsWiderThanTheBus_A, 1'b1 |=> !(passes_o && size_i > LargestSize))
endmodule
