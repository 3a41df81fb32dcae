// This module makes words of the stores into the FIFO window, and keeps 16 of them.
//
// A store has one to four adjacent bytes, which are appended to the message. Up to three bytes wait until a
// word is full, or until the message ends.
//
// Protocol: a store is a request of one cycle, and is answered once by `push_done_o`. A store into a full FIFO
// is answered when there is room, so that the bus waits and nothing is lost. Words leave by a valid/ready
// handshake; the last one of a message has none to three bytes.
//
// Time: a store is answered in the cycle after it, if there is room, and its word can leave a cycle later. A
// flush clears the fill level in its first cycle, and overwrites the memory in the next 16 (`sync_fifo`).
//
// Reset: the FIFO is empty, and begins with a flush. Nothing is hardened here: a fault gives a wrong message.

`include "assert.svh"

module sha2_fifo (
  input  logic        clk_i,
  input  logic        rst_ni,

  // A store is a request of one cycle, and is confirmed once. The next store comes after that.
  input  logic        push_i,
  input  logic [31:0] push_data_i,
  input  logic [3:0]  push_lanes_i,
  // The upper byte of a word is the first one of the message.
  input  logic        is_swapped_i,
  output logic        push_done_o,
  // The store was refused: there is no message that takes it, or there were gaps between its bytes.
  output logic        push_bad_o,

  // There is a message, and it takes words.
  input  logic        is_open_i,
  // The message is complete, and nothing follows.
  input  logic        is_complete_i,
  // A flush forgets everything.
  input  logic        flush_i,
  // The FIFO is still being flushed.
  output logic        busy_o,
  // This is the number of whole words.
  output logic [4:0]  level_o,
  // A store waits, or there is a part of a word.
  output logic        pending_o,

  // These are the words of the message, with the first byte in the upper bits.
  output logic        word_valid_o,
  input  logic        word_ready_i,
  output logic [31:0] word_o,
  output logic        word_last_o,
  output logic [2:0]  word_bytes_o
);
  // --- a store ---

  // One store waits here. It is examined in the cycle after it came, so that the bus sees no path through the
  // FIFO.
  logic        push_q;
  logic [31:0] data_q, ordered, aligned;
  logic [3:0]  lanes_q, lanes;
  logic [2:0]  count;
  logic [1:0]  skipped;
  logic        has_gaps, is_accepted, has_room;

  // The bytes are put into the order of the message, in which lane 3 is the first byte.
  assign ordered = is_swapped_i ? data_q : {data_q[7:0], data_q[15:8], data_q[23:16], data_q[31:24]};
  assign lanes   = is_swapped_i ? lanes_q : {lanes_q[0], lanes_q[1], lanes_q[2], lanes_q[3]};

  // This block finds how many bytes a store brings, and how many lanes are before the first of them. Bytes with
  // gaps between them have no order that both sides would agree on.
  always_comb begin
    has_gaps = 1'b0;
    skipped  = 2'd0;
    count    = 3'd0;
    unique case (lanes)
      4'b1111: count = 3'd4;
      4'b1110: count = 3'd3;
      4'b0111: {count, skipped} = {3'd3, 2'd1};
      4'b1100: count = 3'd2;
      4'b0110: {count, skipped} = {3'd2, 2'd1};
      4'b0011: {count, skipped} = {3'd2, 2'd2};
      4'b1000: count = 3'd1;
      4'b0100: {count, skipped} = {3'd1, 2'd1};
      4'b0010: {count, skipped} = {3'd1, 2'd2};
      4'b0001: {count, skipped} = {3'd1, 2'd3};
      4'b0000: count = 3'd0;
      default: has_gaps = 1'b1;
    endcase
  end
  assign aligned = ordered << {skipped, 3'b0};

  // --- words ---

  // These are up to three bytes that do not make a word yet.
  logic [23:0] rest_q;
  logic [1:0]  rest_count_q;
  logic [2:0]  total;
  logic [55:0] joined;
  logic [31:0] kept, stored;
  logic        has_word, has_stored;

  // The bytes after those of the store may have any value, so they are cut off.
  always_comb begin
    unique case (count)
      3'd4:    kept = aligned;
      3'd3:    kept = {aligned[31:8], 8'b0};
      3'd2:    kept = {aligned[31:16], 16'b0};
      3'd1:    kept = {aligned[31:24], 24'b0};
      default: kept = '0;
    endcase
  end
  // The bytes that wait and those of the store are joined. Four or more of them are a word, and the rest waits.
  assign joined      = {rest_q, 32'b0} | ({kept, 24'b0} >> {rest_count_q, 3'b0});
  assign total       = 3'(rest_count_q) + count;
  assign has_word    = total[2];
  assign is_accepted = push_q & is_open_i & ~is_complete_i & ~has_gaps;
  assign push_bad_o  = push_q & ~is_accepted;
  assign push_done_o = push_q & (~(is_accepted & has_word) | has_room);

  logic [3:0] unused_write_at, unused_read_at;
  // Whole words wait here. A flush overwrites them, also after a reset.
  sync_fifo #(.Width(32), .Depth(16), .Wipes(1'b1)) u_words (
    .clk_i, .rst_ni, .flush_i(flush_i), .busy_o, .level_o,
    .write_at_o (unused_write_at),
    .read_at_o  (unused_read_at),
    .in_valid_i (is_accepted & has_word),
    .in_ready_o (has_room),
    .in_data_i  (joined[55:24]),
    .out_valid_o(has_stored),
    .out_ready_i(word_ready_i),
    .out_data_o (stored)
  );

  // The last word may be empty: a message of whole words ends with such a word.
  assign word_valid_o = has_stored | (is_open_i & is_complete_i & ~push_q);
  assign word_last_o  = ~has_stored;
  assign word_o       = word_last_o ? {rest_q, 8'b0} : stored;
  assign word_bytes_o = word_last_o ? {1'b0, rest_count_q} : 3'd4;

  // Software reads this output as status.
  assign pending_o = push_q | (rest_count_q != '0);

  // These registers are the store that waits and the rest of a word.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      push_q       <= 1'b0;
      data_q       <= '0;
      lanes_q      <= '0;
      rest_q       <= '0;
      rest_count_q <= '0;
    end else begin
      if (push_i) begin
        push_q  <= 1'b1;
        data_q  <= push_data_i;
        lanes_q <= push_lanes_i;
      end else if (push_done_o) begin
        // The data are cleared here, so that a flush has to overwrite only the memory.
        push_q <= 1'b0;
        data_q <= '0;
      end
      if (flush_i || (word_valid_o && word_ready_i && word_last_o)) begin
        rest_q       <= '0;
        rest_count_q <= '0;
      end else if (is_accepted && push_done_o) begin
        rest_q       <= has_word ? joined[23:0] : joined[55:32];
        rest_count_q <= total[1:0];
      end
    end
  end

  // A second store would replace the one that waits.
  `ASSERT(OneStoreAtATime_A, push_i |-> !push_q || push_done_o)
  // A store that waits for room is neither lost nor changed.
  `ASSERT(WaitsWhileFull_A, push_q && !push_done_o && !flush_i |=> push_q && $stable(data_q))
  // Only the last word of a message has less than four bytes.
  `ASSERT(APartIsNoWord_A, !word_last_o |-> word_bytes_o == 3'd4)
  // No byte enters a message that has not started or has ended.
  `ASSERT(OnlyAnOpenMessageTakesBytes_A, is_accepted |-> is_open_i && !is_complete_i)
  // A flush leaves nothing of the message before.
  `ASSERT(FlushForgets_A, flush_i |=> level_o == '0 && rest_q == '0)
endmodule
