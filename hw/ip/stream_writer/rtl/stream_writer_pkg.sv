// Types of the stream writer (../doc/README.md).

package stream_writer_pkg;
  // Causes for which a stream was not written. The numbers are those of `error.cause` in
  // data/stream_writer.rdl.
  typedef enum logic [2:0] {
    CauseNone   = 3'd0,
    // The window is not locked, or the range has no bytes.
    CauseStart  = 3'd1,
    // The range is not within the window.
    CauseWindow = 3'd2,
    // The stream has another length than the range.
    CauseLength = 3'd3,
    // A write was answered with an error.
    CauseWrite  = 3'd4,
    // The engine that gives the stream aborted it.
    CauseStream = 3'd5,
    // The range was aborted by command, or by a change of the lifecycle.
    CauseAbort  = 3'd6
  } cause_e;

  // All outputs of the writer's control in a cycle, to compare them with those of a copy. Data are
  // not among them.
  typedef struct packed {
    logic        busy;
    logic        done;
    logic        failed;
    cause_e      cause;
    logic        error;
    logic        str_ready;
    logic        aw_valid;
    logic [31:0] aw_addr;
    logic [7:0]  aw_len;
    logic        w_valid;
    logic [7:0]  w_strb;
    logic        w_last;
    // Places of the buffer: where the next word goes, and where it leaves.
    logic [7:0]  places;
  } told_t;
endpackage
