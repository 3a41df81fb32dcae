// Proves a queue for all orders of words: each word leaves once, unchanged and in its turn.
//
// A model beside the queue keeps the words in an array that moves on with each word that leaves. The induction needs to
// know where the queue keeps a word, so the model's words are compared with its memory.

module sync_fifo_proof #(
  parameter int unsigned  Depth  = 4,
  parameter bit           Wipes  = 1'b0,
  localparam int unsigned Width  = 2,
  localparam int unsigned AtBits = $clog2(Depth)
) (
  input logic             clk_i,
  input logic             flush_i,
  input logic             in_valid_i,
  input logic [Width-1:0] in_data_i,
  input logic             out_ready_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic             busy, in_ready, out_valid;
  logic [AtBits:0]  level;
  logic [AtBits-1:0] write_at, read_at;
  logic [Width-1:0] out_data;

  sync_fifo #(.Width(Width), .Depth(Depth), .Wipes(Wipes)) u_fifo (
    .clk_i, .rst_ni, .flush_i, .busy_o(busy), .level_o(level), .write_at_o(write_at), .read_at_o(read_at), .in_valid_i, .in_ready_o(in_ready), .in_data_i,
    .out_valid_o(out_valid), .out_ready_i, .out_data_o(out_data)
  );

  logic [Width-1:0] model_q [Depth];
  logic [AtBits:0]  count_q, left;
  assign left = count_q - (AtBits + 1)'(out_valid & out_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      for (int unsigned at = 0; at < Depth; at++) model_q[at] <= '0;
    end else begin
      if (out_valid & out_ready_i) begin
        for (int unsigned at = 0; at + 1 < Depth; at++) model_q[at] <= model_q[at + 1];
      end
      if (in_valid_i & in_ready) model_q[AtBits'(left)] <= in_data_i;
      count_q <= flush_i ? '0 : left + (AtBits + 1)'(in_valid_i & in_ready);
    end
  end

  always_comb begin
    assert (level == count_q);
    assert (count_q <= (AtBits + 1)'(Depth));
    assert (out_valid == (count_q != '0));
    assert (!out_valid || out_data == model_q[0]);
    // A queue that is neither full nor wiped takes a word.
    assert (in_ready == (count_q != (AtBits + 1)'(Depth) && !busy));
    assert (!busy || (Wipes && count_q == '0));
    // The places are as far apart as words are there, and the words are between them.
    assert (AtBits'(count_q) == write_at - read_at);
    for (int unsigned at = 0; at < Depth; at++) begin
      assert ((AtBits + 1)'(at) >= count_q || u_fifo.u_memory.words_q[AtBits'(read_at + AtBits'(at))] == model_q[at]);
    end
  end
endmodule
