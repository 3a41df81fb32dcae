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
endpackage
