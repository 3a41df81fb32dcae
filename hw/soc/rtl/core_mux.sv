// Connects two readers to one memory port of Ibex's kind. The first reader has priority.
//
// Answers come in the order of the grants, so a reader waits until the other one has all of its
// answers. A memory always answers (core_memory.sv), and the second reader gets no new grant while
// the first one waits. So the first reader waits no longer than the memory takes for the requests
// that were granted.
//
// Data of an answer bypass this block: both readers see them, and take theirs. Requests and answers
// pass without a register. Reset forgets answers that are due. Nothing here is hardened.

`include "assert.svh"

module core_mux #(
  // Bits of the number of a word.
  parameter int unsigned AddressBits    = 14,
  // The largest number of answers that are due.
  parameter int unsigned MaxOutstanding = 15,
  // 0 builds a variant in which readers do not wait for each other, to show that the test detects it.
  parameter bit          Ordered        = 1'b1,
  localparam int unsigned CountBits     = $clog2(MaxOutstanding + 1)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  // The readers.
  input  logic [1:0]                  reader_req_i,
  output logic [1:0]                  reader_gnt_o,
  input  logic [1:0][AddressBits-1:0] reader_word_i,
  output logic [1:0]                  reader_rvalid_o,

  // The memory.
  output logic                        req_o,
  input  logic                        gnt_i,
  output logic [AddressBits-1:0]      word_o,
  input  logic                        rvalid_i
);
  logic [CountBits-1:0] count_d, count_q;
  logic                 owner_d, owner_q, choice, is_free, grants;

  // The second reader is chosen only if the first one asks for nothing.
  assign choice  = ~reader_req_i[0];
  assign is_free = (count_q == '0) || ((owner_q == choice || !Ordered) && count_q < CountBits'(MaxOutstanding));
  assign req_o   = (|reader_req_i) & is_free;
  assign word_o  = reader_word_i[choice];
  assign grants  = req_o & gnt_i;

  assign reader_gnt_o    = {choice, ~choice} & {2{is_free & gnt_i}};
  assign reader_rvalid_o = {owner_q, ~owner_q} & {2{rvalid_i}};

  // The number of answers that are due, and their reader.
  always_comb begin
    count_d = count_q + CountBits'(grants) - CountBits'(rvalid_i);
    owner_d = grants ? choice : owner_q;
  end

  // After reset no answer is due.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q <= 1'b0;
      count_q <= '0;
    end else begin
      owner_q <= owner_d;
      count_q <= count_d;
    end
  end

  // The memory answers only what was requested.
  `ASSERT(AnAnswerIsDue_A, rvalid_i |-> count_q != '0)
  // All answers that are due belong to one reader.
  `ASSERT(AnswersHaveOneOwner_A, grants && count_q != '0 && Ordered |-> choice == owner_q)
  // The second reader never delays a request of the first one by a new grant.
  `ASSERT(TheFirstHasPriority_A, reader_req_i[0] |-> !reader_gnt_o[1])
  // The counter of answers does not overflow.
  `ASSERT(CountsDoNotOverflow_A, count_q == CountBits'(MaxOutstanding) |-> !grants)
  // An answer has one reader: the other one would take it for the answer of its own request.
  `ASSERT(AnAnswerHasOneReader_A, $onehot0(reader_rvalid_o))
endmodule
