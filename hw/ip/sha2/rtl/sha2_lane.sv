// This module collects words of 32 bits, or pairs of them, for a core that takes several in a cycle, or one of
// 64 bits.
//
// Protocol: words and lanes are valid/ready handshakes. A message comes in words or in pairs, not in both.
// `flush_i` discards everything.
//
// Time: a lane is filled while the one before waits for the core. So the module takes a cycle at the beginning
// of a message and none later, as long as a word comes in each cycle and the core takes a lane in as many
// cycles. With one word it is a wire.
//
// A message that ends inside a lane leaves old words after its end. The padding cuts them off by the number of
// bytes, so they need not be cleared, which would cost an enable for each word.
//
// Reset: the lane is empty. Nothing is hardened here.

`include "assert.svh"

module sha2_lane #(
  parameter int unsigned Words      = 1,  // A lane has 1, 2, 4 or 8 words.
  localparam int unsigned LaneBits  = 32 * Words,
  localparam int unsigned BytesBits = $clog2(LaneBits / 8 + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // A flush discards the words that were collected.
  input  logic                 flush_i,

  // These are words of the message, with their end.
  input  logic                 word_valid_i,
  output logic                 word_ready_o,
  input  logic [63:0]          word_i,        // A word is in the upper half, and a pair in both.
  input  logic                 word_pair_i,   // This is never set with one word a lane.
  input  logic                 word_last_i,
  input  logic [3:0]           word_bytes_i,

  // These are lanes for the core.
  output logic                 lane_valid_o,
  input  logic                 lane_ready_i,
  output logic [LaneBits-1:0]  lane_o,
  output logic                 lane_last_o,
  output logic [BytesBits-1:0] lane_bytes_o,  // The last lane has this many bytes.
  output logic                 empty_o
);
  // With one word there is nothing to collect: it passes without a cycle.
  if (Words == 1) begin : g_direct
    assign lane_valid_o = word_valid_i;
    assign word_ready_o = lane_ready_i;
    assign lane_o       = word_i[63:32];
    assign lane_last_o  = word_last_i;
    assign lane_bytes_o = word_bytes_i[2:0];
    assign empty_o      = 1'b1;
    // No state is kept, so a flush has nothing to clear.
    logic unused_flush;
    assign unused_flush = flush_i ^ (^word_i[31:0]) ^ word_pair_i ^ word_bytes_i[3];
  end else begin : g_collected
    localparam int unsigned CountBits = $clog2(Words);
    logic [Words-1:0][31:0] words_q;
    logic [CountBits-1:0]   count_q;
    logic                   valid_q, last_q, takes, fills;
    logic [BytesBits-1:0]   bytes_q;

    assign word_ready_o = ~valid_q | lane_ready_i;
    assign takes        = word_valid_i & word_ready_o;
    assign lane_valid_o = valid_q;
    assign lane_o       = words_q;
    assign lane_last_o  = last_q;
    assign lane_bytes_o = bytes_q;
    assign empty_o      = ~valid_q & (count_q == '0);
    // The word takes the last place of the lane, or the pair the last two.
    assign fills        = (count_q | CountBits'(word_pair_i)) == CountBits'(Words - 1);

    // A full lane is valid until it is taken, and a word may come in that same cycle. A flush discards the
    // collected words, because they may be part of a secret message.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        words_q <= '0;
        count_q <= '0;
        valid_q <= 1'b0;
        last_q  <= 1'b0;
        bytes_q <= '0;
      end else if (flush_i) begin
        words_q <= '0;
        count_q <= '0;
        valid_q <= 1'b0;
      end else begin
        if (lane_ready_i) valid_q <= 1'b0;
        if (takes) begin
          // The first word is the upper one. Words after the last one are cut off by the number of bytes.
          words_q[Words - 1 - int'(count_q)] <= word_i[63:32];
          if (word_pair_i) words_q[Words - 1 - (int'(count_q) | 1)] <= word_i[31:0];
          count_q <= (word_last_i || fills) ? '0 : (count_q | CountBits'(word_pair_i)) + 1'b1;
          valid_q <= word_last_i | fills;
          last_q  <= word_last_i;
          bytes_q <= BytesBits'({count_q, 2'b0}) + BytesBits'(word_bytes_i);
        end
      end
    end
  end

  // A lane that waits for the core is not lost.
  `ASSERT(LaneWaits_A, lane_valid_o && !lane_ready_i && !flush_i |=> lane_valid_o || Words == 1)
  // Nothing of a message is left after a flush.
  `ASSERT(FlushForgets_A, flush_i |=> empty_o)
  // The padding relies on a number of bytes that fits a lane.
  `ASSERT(ALaneHasItsBytes_A, lane_valid_o && lane_last_o |-> lane_bytes_o <= BytesBits'(LaneBits / 8))
  // A number of bytes that does not fit the word would be an error of the source.
  `ASSERT(BytesFitTheWord_A, word_valid_i && word_last_i |-> word_bytes_i <= (word_pair_i ? 4'd8 : 4'd4))
  // A pair does not fit a lane of one word.
  `ASSERT(PairsNeedPlaces_A, word_valid_i && word_pair_i |-> Words > 1)
endmodule
