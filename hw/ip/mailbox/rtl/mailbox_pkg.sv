// What passes through the mailbox (../doc/README.md).

package mailbox_pkg;
  // Room for the longest digest, 512 bits.
  localparam int unsigned ResultWords = 16;

  // What the host asks for. Nothing in it is checked here: that is for whoever serves it.
  typedef struct packed {
    logic [15:0] operation;
    logic [15:0] flags;
    logic [31:0] id;
    logic [63:0] source;
    logic [63:0] destination;
    logic [31:0] length;
  } request_t;

  // What it gets. The number is not the root of trust's to choose: hardware takes it from the request.
  typedef struct packed {
    logic [7:0]                         status;
    logic [15:0]                        reason;
    logic [ResultWords-1:0][31:0]       result;
  } answer_t;

  // As software reads it; the state itself has more bits.
  typedef enum logic [2:0] {
    ViewClosed   = 3'd0,
    ViewReady    = 3'd1,
    ViewBusy     = 3'd2,
    ViewAnswered = 3'd3,
    ViewFault    = 3'd7
  } view_e;
endpackage
