// Proof that no word waits for ever in `dma_stream`: beside sinks and a write that answer, each word moves, and the last
// one is taken, within a bound. It is a part of the composition in doc/README.md.

module dma_wait_proof #(
  parameter int unsigned NumSinks  = 2,
  parameter int unsigned Wait      = 1,
  parameter int unsigned MaxCycles = 6
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
  input logic                beat_ready_i
);
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

  // --- what `dma_core` and `dma_write` do, as in `dma_stream_proof` ---
  logic moves, alive_q, began_q, some_q, placed_q, ended_q, done_q, written_q, writes_q;
  logic [NumSinks-1:0] sinks_q;
  assign moves = word_valid_i & word_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {alive_q, began_q, some_q, placed_q, ended_q, done_q, written_q, writes_q, sinks_q} <= '0;
    else begin
      {sinks_q, writes_q} <= {sinks_i, writes_i};
      if (began_q && !run_i) alive_q <= 1'b0;
      if (run_i) began_q <= 1'b1;
      if (moves) begin
        some_q  <= some_q | (word_bytes_i != '0);
        ended_q <= word_final_i;
        if (word_end_i) placed_q <= 1'b0;
      end
      if (place_valid_i) placed_q <= 1'b1;
      if (finished) done_q <= 1'b1;
      written_q <= ended_q & is_written_i;
      if (clear_i) {alive_q, began_q, some_q, placed_q, ended_q, done_q, written_q} <= {1'b1, 6'b0};
    end
  end
  always_comb begin
    if (clear_i) assume (!run_i && !place_valid_i);
    else         assume ({sinks_i, writes_i} == {sinks_q, writes_q});
    if (run_i)   assume (alive_q);
    if (place_valid_i) assume (writes_i && alive_q && !placed_q && !beat_valid && !ended_q && !word_valid_i);
    if (word_valid_i) begin
      assume (alive_q && !ended_q && 5'(word_first_i) + 5'(word_bytes_i) <= 5'd8);
      if (word_bytes_i == '0) assume (!some_q && word_final_i && !word_end_i && !placed_q);
      else                    assume ((!writes_i || placed_q) && (word_end_i || !word_final_i));
    end
    if (is_written_i) assume (!placed_q && !beat_valid);
    // No write follows the last one.
    if (written_q) assume (is_written_i);
  end

  // --- answers ---
  for (genvar s = 0; s < NumSinks; s++) begin : gen_sink
    patience #(.Max(Wait), .IsAssumed(1)) u_takes (
      .clk_i, .rst_ni, .waits_i (sink_valid[s] && !sink_ready_i[s])
    );
  end
  patience #(.Max(Wait), .IsAssumed(1)) u_beat (.clk_i, .rst_ni, .waits_i (run_i && beat_valid && !beat_ready_i));
  patience #(.Max(Wait), .IsAssumed(1)) u_written (
    .clk_i, .rst_ni, .waits_i (run_i && ended_q && !beat_valid && !is_written_i)
  );

  // --- the claim ---
  patience #(.Max(MaxCycles)) u_word (.clk_i, .rst_ni, .waits_i (run_i && word_valid_i && !word_ready));
  patience #(.Max(2 * MaxCycles)) u_last (.clk_i, .rst_ni, .waits_i (run_i && ended_q && !done_q && !finished));

  // --- what the induction needs ---
  always_comb if (!clear_i) begin
    assert (!(placed_q && ended_q) && (writes_i || !placed_q) && (!done_q || began_q));
    if (!began_q) assert (!some_q);
    if (!some_q) assert (!dut.u_write.valid_q && !dut.u_write.flush_q);
    if (!writes_i) assert (!dut.u_write.valid_q && !dut.u_write.flush_q);
    if (dut.u_message.valid_q) assert (dut.u_message.end_q == (ended_q && !dut.u_message.flush_q));
    if (dut.u_message.flush_q) assert (ended_q && dut.u_message.valid_q);
    assert (done_q == (ended_q && !dut.u_message.valid_q));
    if (dut.u_write.flush_q) assert (!placed_q && (dut.u_write.valid_q || !alive_q));
    assert ((dut.taken_q & ~sinks_i) == '0 && (dut.u_message.valid_q || dut.taken_q == '0));
  end
endmodule
