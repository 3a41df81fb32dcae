// Types of the stream writer.

package stream_writer_pkg;
  // Why a stream was not written. The numbers are those of `error.cause` in data/stream_writer.rdl.
  typedef enum logic [2:0] {
    CauseNone   = 3'd0,
    CauseStart  = 3'd1,  // not locked, or no bytes
    CauseWindow = 3'd2,  // the range is not within the window
    CauseLength = 3'd3,  // the stream has another length
    CauseWrite  = 3'd4,  // a write was answered with an error
    CauseStream = 3'd5,  // aborted by the engine that gives the stream
    CauseAbort  = 3'd6   // by command, or by a change of the lifecycle
  } cause_e;

  // All that the control of the writer says in a cycle, to compare it with a copy. Data are no part of it.
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
    logic [7:0]  places;   // of the buffer: where words go, and where they come from
  } told_t;
endpackage
