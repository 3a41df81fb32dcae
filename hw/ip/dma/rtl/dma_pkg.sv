// Types and constants of the DMA engine.

package dma_pkg;
  // A list has at most this many descriptors.
  localparam int unsigned MaxDescriptors = 64;
  localparam int unsigned IndexBits      = 6;
  // A line, in words of eight bytes: reads and writes never cross one, so they never cross 4 KiB (AMBA AXI §A3.4.1).
  localparam int unsigned LineWords      = 8;

  // Why a list was not carried out. The numbers are those of `error.cause` in data/dma.rdl.
  typedef enum logic [3:0] {
    CauseNone        = 4'd0,
    CauseStart       = 4'd1,   // not locked, too long a list, or one that is not within the scratchpad
    CauseReserved    = 4'd2,   // the reserved word of a descriptor is not zero
    CauseWrap        = 4'd3,   // a range passes the end of the address space
    CauseSource      = 4'd4,   // outside of the source window
    CauseDestination = 4'd5,   // outside of the destination window
    CauseOverlap     = 4'd6,   // source and destination overlap
    CauseOrder       = 4'd7,   // destinations of a list do not ascend
    CauseScratchpad  = 4'd8,   // the scratchpad answered with an error
    CauseRead        = 4'd9,   // a beat came with an error
    CauseWrite       = 4'd10,  // a write was answered with an error
    CauseAbort       = 4'd11   // by command, or by a change of the lifecycle
  } cause_e;

  // First and last page of a window. One whose first page follows its last is empty.
  typedef struct packed {
    logic [19:0] first;
    logic [19:0] last;
  } window_t;

  // A range of a judged descriptor: its first and its last byte, and which descriptor of the list it was.
  typedef struct packed {
    logic [IndexBits-1:0] index;
    logic [31:0]          last;
    logic [31:0]          first;
  } range_t;

  // Whether a page is in a window.
  function automatic logic is_in(window_t window, logic [19:0] page);
    return page >= window.first && page <= window.last;
  endfunction
endpackage
