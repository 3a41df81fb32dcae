// Reads an image once, from its first byte on: lines of 64 bytes through AXI4, two of them outstanding at most.
//
// The words come out in order. Room for a line is set aside before it is requested, so the bus never waits. A beat with an
// error ends it: nothing is requested any more, and what is due is taken and dropped.

`include "assert.svh"

module boot_verifier_reader #(
  parameter logic [31:0] Base = 32'h8800_0000,  // where the image is, a multiple of 64
  localparam int unsigned LineWords = 8,
  localparam int unsigned Room      = 2 * LineWords
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // How many lines may be read: it only grows.
  input  logic [18:0] lines_i,
  input  logic        stop_i,      // nothing is requested any more

  output logic        valid_o,
  input  logic        ready_i,
  output logic [63:0] data_o,
  output logic        failed_o,    // a beat had an error, or an upset was found
  output logic        quiet_o,     // nothing is due

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
  logic [63:0] words_q [Room];
  // Requests run ahead of what is taken by the room of the buffer, and no further.
  logic [18:0] line_d, line_q;         // the next one
  logic [4:0]  used_d, used_q;         // words that are in the buffer or due
  logic [4:0]  due_d, due_q;           // of them, due
  logic [3:0]  in_d, in_q, out_d, out_q;
  logic        offers_d, offers_q, failed_d, failed_q;
  logic        comes, leaves, requests;

  assign requests = ar_valid_o & ar_ready_i;
  assign comes    = r_valid_i & r_ready_o;
  assign leaves   = valid_o & ready_i;

  // An offered request stays (AMBA AXI §A3.2.1). One begins if there is a line to read and room for it.
  assign offers_d   = (offers_q & ~ar_ready_i) |
                      ((~offers_q | ar_ready_i) & ~stop_i & ~failed_d & (line_d < lines_i) & (used_d <= 5'(Room - LineWords)));
  assign ar_valid_o = offers_q;
  assign ar_addr_o  = Base + {7'd0, line_q, 6'd0};
  assign ar_len_o   = 8'(LineWords - 1);
  assign r_ready_o  = 1'b1;

  // Words in their order, and what is due.
  always_comb begin
    line_d   = line_q + 19'(requests);
    used_d   = used_q - 5'(leaves);
    due_d    = due_q - 5'(comes);
    in_d     = in_q + 4'(comes);
    out_d    = out_q + 4'(leaves);
    failed_d = failed_q | (comes & (r_resp_i != 2'b00)) | (comes & (due_q == '0)) |
               (comes & (r_last_i != (due_q[2:0] == 3'd1)));
    // A whole line is due, and has its room.
    if (requests) begin
      used_d = used_d + 5'(LineWords);
      due_d  = due_d + 5'(LineWords);
    end
  end

  // Counts. Everything begins anew with a reset alone: an image is read once.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      line_q   <= '0;
      used_q   <= '0;
      due_q    <= '0;
      in_q     <= '0;
      out_q    <= '0;
      offers_q <= 1'b0;
      failed_q <= 1'b0;
    end else begin
      line_q   <= line_d;
      used_q   <= used_d;
      due_q    <= due_d;
      in_q     <= in_d;
      out_q    <= out_d;
      offers_q <= offers_d;
      failed_q <= failed_d;
    end
  end

  // The buffer has no reset: nothing is read of it before it was written.
  always_ff @(posedge clk_i) if (comes) words_q[in_q] <= r_data_i;

  assign valid_o  = (used_q != due_q) & ~failed_q;
  assign data_o   = words_q[out_q];
  assign failed_o = failed_q;
  // After a reset that follows, no beat of an earlier boot can come.
  assign quiet_o  = (due_q == '0) & ~offers_q;

  `ASSERT(RequestsStay_A, ar_valid_o && !ar_ready_i |=> ar_valid_o && $stable(ar_addr_o))
  `ASSERT(NothingPastItsLines_A, !ar_valid_o |=> !ar_valid_o || line_q < $past(lines_i))
  `ASSERT(ThereIsRoomForWhatIsDue_A, requests |=> used_q <= 5'(Room) && due_q <= used_q)
  `ASSERT(NothingAfterAFailure_A, failed_o |-> !valid_o)
  `ASSERT(WordsStay_A, valid_o && !ready_i |=> (valid_o && $stable(data_o)) || failed_o)
endmodule
