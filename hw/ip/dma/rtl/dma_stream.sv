// Gives each word that was read to the sinks and to the write in the same cycle: what is written is
// what is hashed.
//
// Two aligners get the same words. The aligner of the sinks joins all ranges of a list to one
// message, and the other one begins each range at its destination. A word of the message leaves
// when every selected sink has taken it. The last word is offered only after all writes were
// acknowledged, so no sink completes a digest of data that were not written.
//
// Interface: valid and ready on all sides. Latency is one cycle, that of `dma_align`, and
// throughput one word a cycle if nobody waits. A word for the sinks stays until it is taken or
// `run_i` drops. Reset and `clear_i` forget everything. Nothing here is hardened.

`include "assert.svh"

module dma_stream #(
  // Number of sinks.
  parameter int unsigned NumSinks = 3
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // A new list begins.
  input  logic                clear_i,
  // The list runs. When it fails this drops, and nothing is offered any more.
  input  logic                run_i,
  // The selected sinks. They are stable while the list runs.
  input  logic [NumSinks-1:0] sinks_i,
  input  logic                writes_i,

  // Words that were read, with the offset of their first byte and their number of bytes.
  input  logic                word_valid_i,
  output logic                word_ready_o,
  input  logic [63:0]         word_i,
  input  logic [2:0]          word_first_i,
  input  logic [3:0]          word_bytes_i,
  // The last word of its range.
  input  logic                word_end_i,
  // The last word of the list.
  input  logic                word_final_i,

  // To the sinks: all see the same word, and each takes it when it is ready.
  output logic [NumSinks-1:0] sink_valid_o,
  input  logic [NumSinks-1:0] sink_ready_i,
  output logic [63:0]         sink_data_o,
  output logic                sink_last_o,
  output logic [3:0]          sink_bytes_o,
  // All writes were acknowledged.
  input  logic                is_written_i,
  // All selected sinks have taken the last word.
  output logic                finished_o,

  // To the write: words as they are placed in memory. `place_i` is the offset of the next range.
  input  logic                place_valid_i,
  input  logic [2:0]          place_i,
  output logic                beat_valid_o,
  input  logic                beat_ready_i,
  output logic [63:0]         beat_data_o,
  output logic [7:0]          beat_strb_o
);
  logic to_sinks_ready, to_write_ready, writes_word;

  // A word moves when both aligners can take it. The word of an empty list has no bytes and goes to
  // the sinks only.
  assign writes_word  = writes_i & (word_bytes_i != '0);
  assign word_ready_o = to_sinks_ready & (to_write_ready | ~writes_word);

  logic message_valid, message_last, offers, is_taken;
  logic [2:0] unused_first;
  logic [NumSinks-1:0] taken_q;

  // The message of the sinks begins at the first byte of a word and has no gaps.
  dma_align u_message (
    .clk_i, .rst_ni, .run_i,
    .set_i      (clear_i),
    .place_i    (3'd0),
    .in_valid_i (word_valid_i & (to_write_ready | ~writes_word)),
    .in_ready_o (to_sinks_ready),
    .in_data_i  (word_i),
    .in_first_i (word_first_i),
    .in_bytes_i (word_bytes_i),
    .in_end_i   (word_final_i),
    .out_valid_o(message_valid),
    .out_ready_i(is_taken),
    .out_data_o (sink_data_o),
    .out_first_o(unused_first),
    .out_bytes_o(sink_bytes_o),
    .out_end_o  (message_last)
  );

  // Each sink takes the word once. When the list fails the word is withdrawn together with the
  // abort.
  assign offers       = message_valid & run_i & (~message_last | is_written_i);
  assign sink_valid_o = {NumSinks{offers}} & sinks_i & ~taken_q;
  assign sink_last_o  = message_last;
  assign is_taken     = offers & (&(~sinks_i | taken_q | sink_ready_i));
  assign finished_o   = is_taken & message_last;

  // The sinks that have taken the word already, until all have it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                  taken_q <= '0;
    else if (clear_i || is_taken) taken_q <= '0;
    else                          taken_q <= taken_q | (sink_valid_o & sink_ready_i);
  end

  // The bytes of a beat that belong to the range.
  logic [2:0] beat_first;
  logic [3:0] beat_bytes;
  logic       unused_end;

  // Each range of the write begins at the offset of its destination.
  dma_align u_write (
    .clk_i, .rst_ni, .run_i,
    .set_i      (place_valid_i | clear_i),
    .place_i    (place_i),
    .in_valid_i (word_valid_i & to_sinks_ready & writes_word),
    .in_ready_o (to_write_ready),
    .in_data_i  (word_i),
    .in_first_i (word_first_i),
    .in_bytes_i (word_bytes_i),
    .in_end_i   (word_end_i),
    .out_valid_o(beat_valid_o),
    .out_ready_i(beat_ready_i),
    .out_data_o (beat_data_o),
    .out_first_o(beat_first),
    .out_bytes_o(beat_bytes),
    .out_end_o  (unused_end)
  );

  // Write strobes: a beat changes only the bytes of its range.
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      beat_strb_o[i] = (3'(i) >= beat_first) & (4'(i) < beat_bytes);
    end
  end

  // No word reaches only one of the two: what is written is what is hashed.
  `ASSERT(OneWordForBoth_A, 1'b1 |=>
          !(word_valid_i && word_ready_o && writes_word) || (to_sinks_ready && to_write_ready))
  // A sink that was not selected sees nothing of the list.
  `ASSERT(OnlySelectedSinksGetWords_A, 1'b1 |=> (sink_valid_o & ~sinks_i) == '0)
  // No sink can complete its digest before memory has acknowledged the data.
  `ASSERT(NoLastBeforeTheWrites_A, 1'b1 |=> !(|sink_valid_o && sink_last_o) || (is_written_i))
  // A sink never gets a word twice.
  `ASSERT(ASinkTakesAWordOnce_A, 1'b1 |=> (sink_valid_o & taken_q) == '0)
  // After a failure no sink can take a word.
  `ASSERT(AnAbortOffersNothing_A, 1'b1 |=> !(!run_i) || (sink_valid_o == '0))
  // The next word is offered only when each selected sink has this one.
  `ASSERT(AWordWaitsForAllSinks_A, 1'b1 |=> !(is_taken) || (((sink_valid_o & ~sink_ready_i) == '0)))
endmodule
