// Proof that the copy of a list does not stop: beside a scratchpad that answers, the next word comes within a bound, and a
// copy that is given up is quiet within one. It is a part of the composition in doc/README.md.

module dma_list_proof
  import dma_pkg::*;
#(
  parameter int unsigned Wait      = 1,
  parameter int unsigned MaxCycles = 5
) (
  input logic        clk_i,
  input logic        start_i,
  input logic        run_i,
  input logic [5:0]  list_i,
  input logic [6:0]  count_i,
  input logic        writes_i,
  input window_t     source_i,
  input window_t     destination_i,
  input logic        gnt_i,
  input logic        rvalid_i,
  input logic [31:0] rdata_i,
  input logic        err_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic req, put, done, refused, idle;
  logic [13:0] word;
  logic [IndexBits:0] put_at, kept;
  logic [IndexBits-1:0] index;
  range_t put_range;
  cause_e cause;
  dma_list dut (
    .clk_i, .rst_ni, .start_i, .run_i, .list_i, .count_i, .writes_i, .source_i, .destination_i,
    .req_o (req), .gnt_i, .word_o (word), .rvalid_i, .rdata_i, .err_i, .put_o (put), .put_at_o (put_at),
    .put_range_o (put_range), .kept_o (kept), .done_o (done), .refused_o (refused), .cause_o (cause),
    .index_o (index), .idle_o (idle)
  );

  // A request that was granted and not answered; the scratchpad answers in a later cycle.
  logic due_q, runs_q, fresh_q, was_done_q;
  logic [6:0] count_q;
  logic [5:0] list_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {due_q, runs_q, fresh_q, was_done_q, count_q, list_q} <= '0;
    else begin
      due_q                      <= (req & gnt_i) | (due_q & ~rvalid_i);
      {runs_q, count_q, list_q}  <= {run_i, count_i, list_i};
      {fresh_q, was_done_q}      <= {start_i, done | refused};
    end
  end
  always_comb begin
    // A list begins with a start on a quiet scratchpad, and its copy ends when it is done or refused.
    if (start_i) assume (!run_i && idle);
    else         assume (count_i == count_q && list_i == list_q);
    if (run_i)   assume ((runs_q && !was_done_q) || fresh_q);
    assume (count_i <= 7'(MaxDescriptors));
    if (rvalid_i) assume (due_q);
  end
  patience #(.Max(Wait), .IsAssumed(1)) u_grant (.clk_i, .rst_ni, .waits_i (req && !gnt_i));
  patience #(.Max(Wait), .IsAssumed(1)) u_answer (.clk_i, .rst_ni, .waits_i (due_q && !rvalid_i));

  // --- the claim: the number of words that have come rises until the list is done ---
  logic comes;
  assign comes = rvalid_i & run_i;
  patience #(.Max(MaxCycles)) u_word (.clk_i, .rst_ni, .waits_i (run_i && !done && !refused && !comes));
  patience #(.Max(MaxCycles)) u_quiet (.clk_i, .rst_ni, .waits_i (!run_i && !idle));
  logic [8:0] words_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      words_q <= '0;
    else if (start_i) words_q <= '0;
    else if (comes)   words_q <= words_q + 1'b1;
  end
  channel_rules #(.Bits(14)) u_request (.clk_i, .rst_ni, .valid_i (req), .ready_i (gnt_i), .payload_i (word));
  always_comb begin
    if (run_i) begin
      assert (dut.got_q == words_q && dut.got_q <= {count_i, 2'b00});
      assert (done == (words_q == {count_i, 2'b00}));
    end
    assert (dut.waits_q == due_q && !(dut.waits_q && dut.asks_q));
    if (runs_q && !was_done_q && !start_i) assert (dut.got_q == words_q && dut.got_q <= {count_i, 2'b00});
    if (fresh_q) assert (dut.got_q == '0 && words_q == '0 && idle);
    if (run_i && done) assert (!due_q && !dut.asks_q);
  end
endmodule
