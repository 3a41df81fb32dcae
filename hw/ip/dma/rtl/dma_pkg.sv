// Types and constants of the DMA engine (../doc/README.md).

package dma_pkg;
  // A list has at most this many descriptors.
  localparam int unsigned MaxDescriptors = 64;
  localparam int unsigned IndexBits      = 6;
  // A line, in words of eight bytes: reads and writes never cross one, so they never cross 4 KiB (AMBA AXI §A3.4.1).
  localparam int unsigned LineWords      = 8;

  // Causes for which a list was not carried out. The numbers are those of `error.cause` in
  // data/dma.rdl.
  typedef enum logic [3:0] {
    CauseNone        = 4'd0,
    // The windows are not locked, a sink does not exist, or the list is too long or past the
    // scratchpad.
    CauseStart       = 4'd1,
    // The reserved word of a descriptor is not zero.
    CauseReserved    = 4'd2,
    // A range passes the end of the address space.
    CauseWrap        = 4'd3,
    // The source is not within the source window.
    CauseSource      = 4'd4,
    // The destination is not within the destination window.
    CauseDestination = 4'd5,
    // Source and destination of a descriptor overlap.
    CauseOverlap     = 4'd6,
    // The destinations of the list do not ascend.
    CauseOrder       = 4'd7,
    // The scratchpad answered with an error.
    CauseScratchpad  = 4'd8,
    // A beat was read with an error.
    CauseRead        = 4'd9,
    // A write was answered with an error.
    CauseWrite       = 4'd10,
    // The list was aborted by command, or by a change of the lifecycle.
    CauseAbort       = 4'd11
  } cause_e;

  // First and last page of a window. A window whose first page follows its last is empty.
  typedef struct packed {
    logic [19:0] first;
    logic [19:0] last;
  } window_t;

  // A range of a judged descriptor: the number of the descriptor in the list, its last and its
  // first byte.
  typedef struct packed {
    logic [IndexBits-1:0] index;
    logic [31:0]          last;
    logic [31:0]          first;
  } range_t;

  // Tells whether a page is in a window.
  function automatic logic is_in(window_t window, logic [19:0] page);
    return page >= window.first && page <= window.last;
  endfunction
endpackage
