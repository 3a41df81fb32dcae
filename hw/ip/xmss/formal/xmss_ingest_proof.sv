// Proof that the parser of signatures writes nothing outside of the places of a signature, and each value in its own.
//
// Words, their ends and sizes, starts and aborts are arbitrary. A type does not change between two starts. It is of XMSS: the
// engine has no layers.

module xmss_ingest_proof
  import xmss_pkg::*;
(
  input logic        clk_i,
  input logic        rst_i,
  input logic        clear_i,
  input logic        start_i,
  input logic        is_short_i,
  input logic [4:0]  height_i,
  input logic        word_valid_i,
  input logic [31:0] word_i,
  input logic        word_last_i,
  input logic [2:0]  word_bytes_i,
  input logic        write_ready_i
);
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  logic rst_ni;
  assign rst_ni = started_q & ~rst_i;

  // The type of this signature, and how many words of values were written since its start.
  logic        is_short_q;
  logic [4:0]  height_q;
  logic [10:0] words_q;

  logic        error, word_ready, write_valid, has_index, has_random, ended, is_short, is_long;
  place_t      place;
  logic [2:0]  word;
  logic [31:0] data;
  logic [63:0] index;
  logic [6:0]  chains;
  logic [4:0]  levels;
  xmss_ingest dut (
    .clk_i, .rst_ni, .clear_i, .start_i, .error_o(error), .is_short_i(is_short_q), .height_i(height_q),
    .form_i(IndexFour), .is_last_i(1'b1), .next_i(1'b0), .word_valid_i,
    .word_ready_o(word_ready), .word_i, .word_last_i, .word_bytes_i, .write_valid_o(write_valid), .write_ready_i,
    .write_place_o(place), .write_word_o(word), .write_data_o(data), .index_o(index), .has_index_o(has_index),
    .has_random_o(has_random), .chains_o(chains), .levels_o(levels), .ended_o(ended), .is_short_o(is_short),
    .is_long_o(is_long)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      is_short_q <= 1'b0;
      height_q   <= 5'd10;
      words_q    <= '0;
    end else begin
      if (start_i) {is_short_q, height_q} <= {is_short_i, height_i};
      if (start_i || clear_i) words_q <= '0;
      else if (write_valid && write_ready_i) words_q <= words_q + 11'd1;
    end
  end

  // States of the parser, by their codes.
  localparam logic [5:0] StIndex = 6'b010101, StRandom = 6'b011110, StChains = 6'b100110, StPath = 6'b101101;
  localparam logic [5:0] StEnd = 6'b111000, StDone = 6'b000000;

  // Values in the order of the signature: R, the chains, the path.
  logic [6:0] most, value;
  logic [2:0] last, part;
  assign most  = is_short_q ? 7'd51 : 7'd67;
  assign last  = is_short_q ? 3'd5 : 3'd7;
  assign value = (dut.state_q == StRandom) ? 7'd0 :
                 (dut.state_q == StChains) ? dut.count_q + 7'd1 : dut.count_q + most + 7'd1;
  assign part  = dut.word_q;
  always_comb begin
    // Words have four bytes at most, and are whole up to the last one.
    assume (word_bytes_i <= 3'd4);
    if (word_valid_i && !word_last_i) assume (word_bytes_i == 3'd4);
    if (start_i) assume (height_i inside {5'd10, 5'd16, 5'd20});
    if (rst_ni) begin
      // The claims.
      assert (!error);
      if (write_valid) begin
        assert (word_bytes_i == 3'd4 && word <= last);
        assert ((place == RandomPlace && words_q <= 11'(last)) ||
                (place < ChainPlace + PlaceBits'(most)) ||
                (place >= PathPlace && place < PathPlace + PlaceBits'(height_q)));
        // Every word is written where its number says, so none is written twice.
        assert (words_q == (is_short_q ? 11'd6 : 11'd8) * 11'(value) + 11'(word));
        if (value != '0 && value <= most) assert (place == ChainPlace + PlaceBits'(value - 7'd1));
        if (value > most) assert (place == PathPlace + PlaceBits'(value - most - 7'd1));
      end
      // What is there was written whole.
      if (has_random) assert (words_q >= (is_short_q ? 11'd6 : 11'd8));
      assert (words_q >= (is_short_q ? 11'd6 : 11'd8) * 11'(chains));
      assert (chains <= most && levels <= height_q);
      if (ended && !is_short) assert (words_q == (is_short_q ? 11'd6 : 11'd8) * 11'(most + 7'd1 + 7'(height_q)));
      // What the induction needs.
      assert (height_q inside {5'd10, 5'd16, 5'd20});
      assert (!dut.waits_q);
      if (dut.in_value) begin
        assert (part <= last);
        assert (words_q == (is_short_q ? 11'd6 : 11'd8) * 11'(value) + 11'(part));
        assert (has_random == (dut.state_q != StRandom));
        assert (chains == ((dut.state_q == StRandom) ? 7'd0 : (dut.state_q == StChains) ? dut.count_q : most));
        assert (levels == ((dut.state_q == StPath) ? 5'(dut.count_q) : 5'd0));
        assert (!ended);
      end
      if (dut.state_q == StRandom) assert (dut.count_q == '0);
      if (dut.state_q == StChains) assert (dut.count_q < most);
      if (dut.state_q == StPath)   assert (dut.count_q < 7'(height_q));
      if (dut.state_q == StIndex)  assert (words_q == '0 && dut.word_q == '0 && dut.count_q == '0 && chains == '0 &&
                                               levels == '0 && !has_random && !ended);
      if ((dut.state_q == StEnd) || (dut.state_q == StDone)) begin
        assert (words_q == (is_short_q ? 11'd6 : 11'd8) * 11'(most + 7'd1 + 7'(height_q)) && !ended);
        assert (dut.word_q == '0 && dut.count_q == '0 && chains == most && has_random);
      end
    end
  end
endmodule
