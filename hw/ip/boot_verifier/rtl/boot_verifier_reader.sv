// Reads an image once, from its first byte on: lines of 64 bytes through AXI4, at most two of them
// outstanding.
//
// Words leave in order, with valid and ready, at most one a cycle. A word is offered in the cycle
// after its beat. Room for a line is reserved before the line is requested, so the bus never waits.
// A beat with an error ends the reading: nothing is requested any more, and what is due is taken
// and dropped. Reset begins with the first line.
//
// Hardening: a beat that was not due, or whose mark of the last beat does not fit the count, is a
// failure.

`include "assert.svh"

module boot_verifier_reader #(
  // Address of the image, a multiple of 64.
  parameter logic [31:0] Base = 32'h8800_0000,
  // Words of eight bytes in a line, and in the buffer.
  localparam int unsigned LineWords = 8,
  localparam int unsigned Room      = 2 * LineWords
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The number of lines that may be read. It only grows.
  input  logic [18:0] lines_i,
  // Nothing is requested any more.
  input  logic        stop_i,

  // Words of the image. A word stays until it is taken, or until a failure.
  output logic        valid_o,
  input  logic        ready_i,
  output logic [63:0] data_o,
  // A beat had an error, or an upset was found. This lasts until reset.
  output logic        failed_o,
  // No beat is due.
  output logic        quiet_o,

  // Read address.
  output logic        ar_valid_o,
  input  logic        ar_ready_i,
  output logic [31:0] ar_addr_o,
  output logic [7:0]  ar_len_o,
  // Read data and response.
  input  logic        r_valid_i,
  output logic        r_ready_o,
  input  logic [63:0] r_data_i,
  input  logic [1:0]  r_resp_i,
  input  logic        r_last_i
);
  // Requests are ahead of the words that leave by the room of the buffer, and no further.
  // The next line, words that are due, those that are in the buffer, and both together.
  logic [18:0] line_d, line_q;
  logic [4:0]  due_d, due_q, level, used, used_d;
  logic        offers_d, offers_q, failed_d, failed_q;
  logic        comes, leaves, requests;

  assign requests = ar_valid_o & ar_ready_i;
  assign comes    = r_valid_i & r_ready_o;
  assign leaves   = valid_o & ready_i;

  // An offered request stays (AMBA AXI §A3.2.1). A new one begins if there is a line to read and
  // room for it.
  assign offers_d   = (offers_q & ~ar_ready_i) |
                      ((~offers_q | ar_ready_i) & ~stop_i & ~failed_d & (line_d < lines_i) & (used_d <= 5'(Room - LineWords)));
  assign ar_valid_o = offers_q;
  assign ar_addr_o  = Base + {7'd0, line_q, 6'd0};
  assign ar_len_o   = 8'(LineWords - 1);
  assign r_ready_o  = 1'b1;

  // Counts of lines and words. A beat has to be due, to come without an error, and to be marked as
  // the last of its line exactly when it is.
  always_comb begin
    line_d   = line_q + 19'(requests);
    used_d   = used - 5'(leaves);
    due_d    = due_q - 5'(comes);
    failed_d = failed_q | (comes & (r_resp_i != 2'b00)) | (comes & (due_q == '0)) |
               (comes & (r_last_i != (due_q[2:0] == 3'd1)));
    // A whole line is due now, and has its room.
    if (requests) begin
      used_d = used_d + 5'(LineWords);
      due_d  = due_d + 5'(LineWords);
    end
  end

  // Everything begins anew with a reset only: an image is read once.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      line_q   <= '0;
      due_q    <= '0;
      offers_q <= 1'b0;
      failed_q <= 1'b0;
    end else begin
      line_q   <= line_d;
      due_q    <= due_d;
      offers_q <= offers_d;
      failed_q <= failed_d;
    end
  end

  // A word that comes without room was not due, so it is a failure.
  logic has_word, unused_busy, unused_ready;
  logic [3:0] unused_write_at, unused_read_at;
  sync_fifo #(.Width(64), .Depth(Room)) u_words (
    .clk_i, .rst_ni,
    .flush_i    (1'b0),
    .busy_o     (unused_busy),
    .level_o    (level),
    .write_at_o (unused_write_at),
    .read_at_o  (unused_read_at),
    .in_valid_i (comes),
    .in_ready_o (unused_ready),
    .in_data_i  (r_data_i),
    .out_valid_o(has_word),
    .out_ready_i(leaves),
    .out_data_o (data_o)
  );
  assign used     = due_q + level;
  assign valid_o  = has_word & ~failed_q;
  assign failed_o = failed_q;
  // Once this is set, no beat of this boot can come after a following reset.
  assign quiet_o  = (due_q == '0) & ~offers_q;

  // AMBA AXI §A3.2.1: an offered request must not change.
  `ASSERT(RequestsStay_A, ar_valid_o && !ar_ready_i |=> ar_valid_o && $stable(ar_addr_o))
  // No line is requested that the unit has not allowed.
  `ASSERT(NothingPastItsLines_A, !ar_valid_o |=> !ar_valid_o || line_q < $past(lines_i))
  // The buffer does not overflow, so `r_ready` may always be high.
  `ASSERT(ThereIsRoomForWhatIsDue_A, requests |=> used <= 5'(Room) && due_q <= used)
  // After a failure no word leaves.
  `ASSERT(NothingAfterAFailure_A, failed_o |-> !valid_o)
  // An offered word does not change until it is taken.
  `ASSERT(WordsStay_A, valid_o && !ready_i |=> (valid_o && $stable(data_o)) || failed_o)
endmodule
