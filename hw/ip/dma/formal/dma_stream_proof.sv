// Proof of `dma_stream`: a digest covers exactly the bytes that are written.
//
// Bytes that were read and have not yet reached a sink, or the write, are counted for each of them: none gets a byte
// that was not read, and when the last word is taken none lacks one. Any one byte of a list is followed: each selected
// sink gets it after those that were read before it, and so does the write, in the lane of its address.

module dma_stream_proof #(
  parameter int unsigned NumSinks = 2
) (
  input logic                clk_i,
  input logic                clear_i,
  input logic                run_i,
  input logic [NumSinks-1:0] sinks_i,
  input logic                writes_i,
  input logic                word_valid_i,
  input logic [63:0]         word_i,
  input logic [2:0]          word_first_i,
  input logic [3:0]          word_bytes_i,
  input logic                word_end_i,
  input logic                word_final_i,
  input logic [NumSinks-1:0] sink_ready_i,
  input logic                is_written_i,
  input logic                place_valid_i,
  input logic [2:0]          place_i,
  input logic                beat_ready_i,
  input logic                follows_i,    // from here on one byte of the word is followed, unless one was before
  input logic [2:0]          offset_i      // which one
);
  // No more than 15 bytes are under way.
  typedef logic [4:0] count_t;

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic word_ready, sink_last, finished, beat_valid;
  logic [NumSinks-1:0] sink_valid;
  logic [63:0] sink_data, beat_data;
  logic [3:0]  sink_bytes;
  logic [7:0]  beat_strb;
  dma_stream #(.NumSinks(NumSinks)) dut (
    .clk_i, .rst_ni, .clear_i, .run_i, .sinks_i, .writes_i,
    .word_valid_i, .word_ready_o (word_ready), .word_i, .word_first_i, .word_bytes_i, .word_end_i, .word_final_i,
    .sink_valid_o (sink_valid), .sink_ready_i, .sink_data_o (sink_data), .sink_last_o (sink_last),
    .sink_bytes_o (sink_bytes), .is_written_i, .finished_o (finished), .place_valid_i, .place_i,
    .beat_valid_o (beat_valid), .beat_ready_i, .beat_data_o (beat_data), .beat_strb_o (beat_strb)
  );

  // --- books ---
  logic   alive_q, began_q, some_q, open_q, placed_q, ended_q, done_q, writes_q, moves, writes_beat, follows;
  logic [NumSinks-1:0] sinks_q;
  // Of the byte that is followed: that it was read, its value, and its lane in memory.
  logic       seen_q;
  logic [7:0] value_q;
  logic [2:0] lane_q, at_q;
  logic [3:0] beat_count;
  // Of each sink, of the write, and of the word that the sinks share: bytes that were read and have not come to it, and
  // how many of them it gets before the one that is followed, as long as that one has not come.
  localparam int unsigned Write = NumSinks, Shared = NumSinks + 1, Ways = NumSinks + 2;
  count_t due_q [Ways], left_q [Ways], gets [Ways];
  logic [Ways-1:0] awaits_q, is_used;
  assign is_used = {1'b1, writes_i, sinks_i};

  assign moves       = word_valid_i & word_ready;
  assign follows     = moves & follows_i & ~seen_q & (4'(offset_i) < word_bytes_i);
  assign writes_beat = beat_valid & beat_ready_i;
  always_comb begin
    beat_count = '0;
    for (int i = 0; i < 8; i++) beat_count += 4'(beat_strb[i]);
    for (int s = 0; s < NumSinks; s++) gets[s] = (sink_valid[s] && sink_ready_i[s]) ? 5'(sink_bytes) : '0;
    gets[Write]  = writes_beat ? 5'(beat_count) : '0;
    gets[Shared] = dut.is_taken ? 5'(sink_bytes) : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {alive_q, began_q, some_q, open_q, placed_q, ended_q, done_q, seen_q, value_q, lane_q, at_q} <= '0;
      {sinks_q, writes_q, awaits_q} <= '0;
      for (int w = 0; w < Ways; w++) {due_q[w], left_q[w]} <= '0;
    end else begin
      {sinks_q, writes_q} <= {sinks_i, writes_i};
      if (began_q && !run_i) alive_q <= 1'b0;
      if (run_i) began_q <= 1'b1;
      for (int w = 0; w < Ways; w++) begin
        due_q[w] <= due_q[w] - gets[w] + (moves && is_used[w] ? 5'(word_bytes_i) : '0);
        if (follows && is_used[w]) begin
          left_q[w]   <= due_q[w] - gets[w] + 5'(offset_i);
          awaits_q[w] <= 1'b1;
        end else if (awaits_q[w]) begin
          if (left_q[w] < gets[w]) awaits_q[w] <= 1'b0;
          else                     left_q[w]   <= left_q[w] - gets[w];
        end
      end
      if (moves) begin
        at_q    <= at_q + word_bytes_i[2:0];
        some_q  <= some_q | (word_bytes_i != '0);
        open_q  <= ~word_end_i & (word_bytes_i != '0);
        ended_q <= word_final_i;
        if (word_end_i) placed_q <= 1'b0;
      end
      if (follows) begin
        seen_q  <= 1'b1;
        value_q <= word_i[8*(word_first_i + offset_i) +: 8];
        lane_q  <= at_q + offset_i;
      end
      if (place_valid_i) {placed_q, at_q} <= {1'b1, place_i};
      if (finished) done_q <= 1'b1;
      if (clear_i) begin
        for (int w = 0; w < Ways; w++) due_q[w] <= '0;
        {alive_q, began_q, some_q, open_q, placed_q, ended_q, done_q, seen_q} <= {1'b1, 7'b0};
        awaits_q <= '0;
      end
    end
  end

  // --- what `dma_core` and `dma_write` do ---
  always_comb begin
    // A list begins with a clear, and one that has ended does not go on.
    if (clear_i) assume (!run_i && !place_valid_i);
    else         assume ({sinks_i, writes_i} == {sinks_q, writes_q});
    if (run_i)   assume (alive_q);
    // A place is of a range, after the write has all of the one before. It is read where words are: none is there.
    if (place_valid_i) assume (writes_i && alive_q && !placed_q && !beat_valid && !ended_q && !word_valid_i);
    // A range is words without gaps, and only its first word begins in its middle. A list without bytes is one word.
    if (word_valid_i) begin
      assume (alive_q && !ended_q);
      assume (5'(word_first_i) + 5'(word_bytes_i) <= 5'd8);
      if (word_bytes_i == '0) assume (!some_q && word_final_i && !word_end_i && !open_q && !placed_q);
      else begin
        assume (!writes_i || placed_q);
        assume (word_end_i || 4'(word_first_i) + word_bytes_i == 4'd8);
        assume (!open_q || word_first_i == '0);
        assume (word_end_i || !word_final_i);
      end
    end
    // All were acknowledged when no range is being written, and no beat waits.
    if (is_written_i) assume (!placed_q && !beat_valid);
  end

  // --- what the sinks get ---
  always_comb if (!clear_i) begin
    for (int s = 0; s < NumSinks; s++) begin
      if (sink_valid[s]) begin
        assert (sinks_i[s] && run_i && !done_q && sink_bytes <= 4'd8 && 5'(sink_bytes) <= due_q[s]);
        if (sink_last) assert (ended_q && 5'(sink_bytes) == due_q[s] && (!writes_i || due_q[Write] == '0));
        else           assert (sink_bytes == 4'd8);
        if (awaits_q[s] && left_q[s] < 5'(sink_bytes)) assert (sink_data[8*left_q[s][2:0] +: 8] == value_q);
      end
      if (finished && sinks_i[s]) assert (gets[s] == due_q[s]);
      if (done_q && sinks_i[s]) assert (due_q[s] == '0 && !awaits_q[s]);
    end
    if (finished || done_q) assert (ended_q && (!writes_i || (due_q[Write] == '0 && !awaits_q[Write])));
  end

  // --- what the write gets ---
  logic [3:0] below;
  always_comb begin
    below = '0;
    if (!clear_i && beat_valid) begin
      assert (writes_i && beat_count != '0 && 5'(beat_count) <= due_q[Write]);
      for (int i = 0; i < 8; i++) begin
        if (beat_strb[i] && awaits_q[Write] && left_q[Write] == 5'(below)) begin
          assert (beat_data[8*i +: 8] == value_q && lane_q == 3'(i));
        end
        below += 4'(beat_strb[i]);
      end
    end
  end

  // --- what the induction needs: where the bytes are that are under way ---
  count_t in_message, in_beat, message_kept, write_kept;
  logic [2:0] message_at;
  assign in_message   = dut.u_message.valid_q ? 5'(dut.u_message.bytes_q) : '0;
  assign in_beat      = dut.u_write.valid_q ? 5'(dut.u_write.bytes_q) - 5'(dut.u_write.out_first_q) : '0;
  assign message_kept = (dut.u_message.flush_q || !ended_q) ? 5'(dut.u_message.fill_q) : '0;
  assign write_kept   = placed_q ? 5'(dut.u_write.fill_q) - 5'(dut.u_write.first_q) :
                        dut.u_write.flush_q ? 5'(dut.u_write.fill_q) : '0;
  assign message_at   = 3'(left_q[Shared] - in_message);

  always_comb if (!clear_i) begin
    assert (!(open_q && ended_q) && !(placed_q && ended_q) && (writes_i || !placed_q));
    assert (!open_q || !writes_i || placed_q);
    assert (!done_q || began_q);
    if (!began_q) assert (!some_q);
    if (!some_q) assert (!open_q && !seen_q && due_q[Shared] == '0 && due_q[Write] == '0);
    if (!seen_q) assert (awaits_q == '0);
    for (int w = 0; w < Ways; w++) if (awaits_q[w]) assert (is_used[w] && left_q[w] < due_q[w]);
    // The message.
    assert (dut.u_message.first_q == '0 && (!dut.u_message.valid_q || dut.u_message.out_first_q == '0));
    assert (due_q[Shared] == in_message + message_kept);
    if (dut.u_message.valid_q) begin
      assert (dut.u_message.bytes_q <= 4'd8);
      assert (dut.u_message.end_q == (ended_q && !dut.u_message.flush_q));
      assert (dut.u_message.end_q || dut.u_message.bytes_q == 4'd8);
    end
    if (dut.u_message.flush_q) assert (ended_q && dut.u_message.valid_q && dut.u_message.fill_q != '0);
    assert (done_q == (ended_q && !dut.u_message.valid_q));
    for (int s = 0; s < NumSinks; s++) begin
      if (dut.taken_q[s]) assert (dut.u_message.valid_q && sinks_i[s]);
      if (sinks_i[s]) begin
        assert (due_q[s] == (dut.taken_q[s] ? message_kept : due_q[Shared]));
        assert (awaits_q[s] == (awaits_q[Shared] && !(dut.taken_q[s] && left_q[Shared] < in_message)));
        if (awaits_q[s]) assert (left_q[s] == left_q[Shared] - (dut.taken_q[s] ? in_message : '0));
      end
    end
    if (awaits_q[Shared]) begin
      if (left_q[Shared] < in_message) assert (dut.u_message.data_q[8*left_q[Shared][2:0] +: 8] == value_q);
      else                             assert (dut.u_message.kept_q[8*message_at +: 8] == value_q);
    end
    // The write.
    if (!writes_i) assert (!dut.u_write.valid_q && !dut.u_write.flush_q && due_q[Write] == '0 && !awaits_q[Write]);
    else begin
      assert (due_q[Write] == in_beat + write_kept);
      if (placed_q) assert (dut.u_write.fill_q == at_q && dut.u_write.fill_q >= dut.u_write.first_q);
      if (dut.u_write.valid_q) begin
        assert (4'(dut.u_write.out_first_q) < dut.u_write.bytes_q && dut.u_write.bytes_q <= 4'd8);
        if (dut.u_write.bytes_q != 4'd8) assert (!placed_q && !dut.u_write.flush_q);
      end
      if (dut.u_write.flush_q) begin
        assert (!placed_q && (dut.u_write.valid_q || !alive_q) && dut.u_write.fill_q != '0);
        assert (dut.u_write.first_q == '0);
      end
      if (awaits_q[Write]) begin
        if (left_q[Write] < in_beat) begin
          assert (3'(left_q[Write]) + dut.u_write.out_first_q == lane_q);
          assert (dut.u_write.data_q[8*lane_q +: 8] == value_q);
        end else begin
          assert (lane_q == 3'(left_q[Write] - in_beat) + (placed_q ? dut.u_write.first_q : 3'd0));
          assert (dut.u_write.kept_q[8*lane_q +: 8] == value_q);
        end
      end
    end
  end
endmodule
