// Types of what passes through the mailbox (../doc/README.md).

package mailbox_pkg;
  // Words of a result. The longest digest, 512 bits, fits.
  localparam int unsigned ResultWords = 16;

  // A request of the host. Nothing in it is checked in hardware: the software of the root of trust
  // does that.
  typedef struct packed {
    logic [15:0] operation;
    logic [15:0] flags;
    logic [31:0] id;
    logic [63:0] source;
    logic [63:0] destination;
    logic [31:0] length;
  } request_t;

  // An answer of the root of trust, which cannot choose the number: hardware takes it from the
  // request.
  typedef struct packed {
    logic [7:0]                         status;
    logic [15:0]                        reason;
    logic [ResultWords-1:0][31:0]       result;
  } answer_t;

  // The status as software reads it. The state itself has more bits and another encoding.
  typedef enum logic [2:0] {
    ViewClosed   = 3'd0,
    ViewReady    = 3'd1,
    ViewBusy     = 3'd2,
    ViewAnswered = 3'd3,
    ViewFault    = 3'd7
  } view_e;
endpackage
