// One word that was read goes to the sinks and to the write, in the same cycle: what is written is what is hashed.
//
// Two aligners get the same words. The one of the sinks joins all ranges of a list to one message, the other begins
// each range at its destination. A word of the message leaves when every selected sink has taken it. The last one is
// offered only after all writes were acknowledged, so no sink completes a digest of data that were not written.

`include "assert.svh"

module dma_stream #(
  parameter int unsigned NumSinks = 3
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,   // a new list
  input  logic                run_i,
  input  logic [NumSinks-1:0] sinks_i,   // those that are selected, stable while running
  input  logic                writes_i,

  // Words that were read.
  input  logic                word_valid_i,
  output logic                word_ready_o,
  input  logic [63:0]         word_i,
  input  logic [2:0]          word_first_i,
  input  logic [3:0]          word_bytes_i,
  input  logic                word_end_i,    // the last of its range
  input  logic                word_final_i,  // the last of the list

  // To the sinks: all see the same word, and take it when they can.
  output logic [NumSinks-1:0] sink_valid_o,
  input  logic [NumSinks-1:0] sink_ready_i,
  output logic [63:0]         sink_data_o,
  output logic                sink_last_o,
  output logic [3:0]          sink_bytes_o,
  input  logic                is_written_i,  // all writes were acknowledged
  output logic                finished_o,    // the last word was taken by all

  // To the write: words as they are located in memory.
  input  logic                place_valid_i,
  input  logic [2:0]          place_i,
  output logic                beat_valid_o,
  input  logic                beat_ready_i,
  output logic [63:0]         beat_data_o,
  output logic [7:0]          beat_strb_o
);
  logic to_sinks_ready, to_write_ready, writes_word;

  // A word moves when both can take it. That of an empty list has no bytes, and is for the sinks only.
  assign writes_word  = writes_i & (word_bytes_i != '0);
  assign word_ready_o = to_sinks_ready & (to_write_ready | ~writes_word);

  logic message_valid, message_last, offers, is_taken;
  logic [2:0] unused_first;
  logic [NumSinks-1:0] taken_q;

  // The message of the sinks begins at the first byte of a word.
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

  // Each sink takes the word once. It is withdrawn when the list fails: the abort signal goes with it.
  assign offers       = message_valid & run_i & (~message_last | is_written_i);
  assign sink_valid_o = {NumSinks{offers}} & sinks_i & ~taken_q;
  assign sink_last_o  = message_last;
  assign is_taken     = offers & (&(~sinks_i | taken_q | sink_ready_i));
  assign finished_o   = is_taken & message_last;

  // Sinks that have the word, until all have it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                  taken_q <= '0;
    else if (clear_i || is_taken) taken_q <= '0;
    else                          taken_q <= taken_q | (sink_valid_o & sink_ready_i);
  end

  // Which bytes of a beat belong to the range.
  logic [2:0] beat_first;
  logic [3:0] beat_bytes;
  logic       unused_end;

  // Each range of the write begins at its own place.
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

  // Bytes of memory that a beat changes.
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      beat_strb_o[i] = (3'(i) >= beat_first) & (4'(i) < beat_bytes);
    end
  end

  `ASSERT(OneWordForBoth_A, 1'b1 |=>
          !(word_valid_i && word_ready_o && writes_word) || (to_sinks_ready && to_write_ready))
  `ASSERT(OnlySelectedSinksGetWords_A, 1'b1 |=> (sink_valid_o & ~sinks_i) == '0)
  `ASSERT(NoLastBeforeTheWrites_A, 1'b1 |=> !(|sink_valid_o && sink_last_o) || (is_written_i))
  `ASSERT(ASinkTakesAWordOnce_A, 1'b1 |=> (sink_valid_o & taken_q) == '0)
  `ASSERT(AnAbortOffersNothing_A, 1'b1 |=> !(!run_i) || (sink_valid_o == '0))
  `ASSERT(AWordWaitsForAllSinks_A, 1'b1 |=> !(is_taken) || (((sink_valid_o & ~sink_ready_i) == '0)))
endmodule
