// A verdict that is kept twice, for the campaign that tests campaigns of upsets: its counts are known.
//
// The answer is right for one word only. Two registers of the same inputs keep the verdict, and two the word, as in an
// engine that has to survive an upset; a tool that merged them would let an upset of one through, and the campaign
// would find it. With `Copies = 1` the first of each decides alone.

`include "assert.svh"

module upset_probe #(
  parameter int unsigned Copies = 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The question, a word in each cycle in which it is valid, and how many there are.
  input  logic        ask_valid_i,
  output logic        ask_ready_o,
  input  logic [63:0] ask_data_i,
  input  logic        ask_last_i,
  input  logic [3:0]  ask_bytes_i,
  // All words, inverted.
  output logic        tell_valid_o,
  input  logic        tell_ready_i,
  output logic [63:0] tell_data_o,

  input  logic [69:0] noise_i,
  output logic        done_o,
  output logic        pass_o,
  output logic        alert_o
);
  localparam logic [63:0] Password = 64'h0123_4567_89AB_CDEF;

  // An unpacked structure, as in generated register blocks.
  typedef struct {
    logic        valid;
    logic [63:0] value;
  } word_t;

  word_t       word_q, twin_q;
  logic        right_q, copy_q, done_q;
  logic [69:0] noise_q;
  logic [7:0]  seen_q [2];

  assign ask_ready_o  = tell_ready_i;
  logic words_differ;
  assign words_differ = (word_q.valid != twin_q.valid) | (word_q.value != twin_q.value);
  assign tell_valid_o = word_q.valid & (~words_differ | (Copies < 2));
  assign tell_data_o  = ~word_q.value;

  // A verdict is final with the last word. `seen_q` and `noise_q` decide nothing.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q.valid <= 1'b0;
      word_q.value <= '0;
      twin_q.valid <= 1'b0;
      twin_q.value <= '0;
      right_q      <= 1'b0;
      copy_q       <= 1'b0;
      done_q       <= 1'b0;
      noise_q      <= '0;
      seen_q[0]    <= '0;
      seen_q[1]    <= '0;
    end else begin
      word_q.valid <= ask_valid_i & ask_ready_o;
      word_q.value <= ask_data_i;
      twin_q.valid <= ask_valid_i & ask_ready_o;
      twin_q.value <= ask_data_i;
      noise_q      <= noise_q ^ noise_i;
      if (ask_valid_i & ask_ready_o) begin
        seen_q[ask_last_i] <= {seen_q[ask_last_i][3:0], ask_bytes_i};
        right_q            <= ask_data_i == Password;
        copy_q             <= ask_data_i == Password;
        done_q             <= ask_last_i;
      end
    end
  end

  assign done_o  = done_q;
  assign pass_o  = done_q & right_q & (copy_q | (Copies < 2));
  assign alert_o = (Copies > 1) & ((right_q != copy_q) | words_differ);

  `ASSERT(CopiesAgree_A, ask_valid_i |=> right_q == copy_q && !words_differ)
endmodule
