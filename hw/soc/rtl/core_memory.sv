// Scratchpad or boot ROM of the root of trust: words with two ports of Ibex's kind, one to fetch
// and one for data, like the two ports of a block RAM.
//
// A request is granted at once and answered `Latency` cycles later, and each port takes one a
// cycle. The contents are not reset. A memory that is not `Writable` answers a write with an error
// and keeps its contents. Reset forgets requests that are not answered. Contents have no parity.

`include "assert.svh"

module core_memory #(
  // Number of words of 32 bits.
  parameter int unsigned Words    = 16384,
  // Cycles from grant to response, at least 1. Each further cycle is a register stage of the
  // response.
  parameter int unsigned Latency  = 1,
  // 0 builds a ROM.
  parameter bit          Writable = 1'b1,
  localparam int unsigned AddressBits = $clog2(Words)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // The port for fetches.
  input  logic                   fetch_req_i,
  output logic                   fetch_gnt_o,
  input  logic [AddressBits-1:0] fetch_word_i,
  output logic                   fetch_rvalid_o,
  output logic [31:0]            fetch_rdata_o,

  // The port for loads and stores, with byte enables.
  input  logic                   data_req_i,
  output logic                   data_gnt_o,
  input  logic                   data_we_i,
  input  logic [3:0]             data_be_i,
  input  logic [AddressBits-1:0] data_word_i,
  input  logic [31:0]            data_wdata_i,
  output logic                   data_rvalid_o,
  output logic [31:0]            data_rdata_o,
  output logic                   data_err_o
);
  // A bench finds the memory by this name, to load programs (verif/machines/sim/rot).
  logic [31:0] mem [Words];

  // Stages of the response: valid bits, errors and words.
  logic [Latency-1:0]       fetch_valid_q, data_valid_q, data_err_q;
  logic [Latency-1:0][31:0] fetch_rdata_q, data_rdata_q;
  logic                     refuses;

  // There is always room: each stage can hold one outstanding request.
  assign fetch_gnt_o = 1'b1;
  assign data_gnt_o  = 1'b1;
  assign refuses     = data_we_i & ~Writable;

  // No reset: a block RAM has none, and only the root of trust can read its old contents.
  always_ff @(posedge clk_i) begin
    if (data_req_i && data_we_i && !refuses) begin
      for (int unsigned lane = 0; lane < 4; lane++) begin
        if (data_be_i[lane]) mem[data_word_i][8*lane +: 8] <= data_wdata_i[8*lane +: 8];
      end
    end
  end

  // Words come out a cycle later, and then pass the register stages. A fetch and a write of the same word in the
  // same cycle: the fetch gets the old word.
  always_ff @(posedge clk_i) begin
    if (fetch_req_i) fetch_rdata_q[0] <= mem[fetch_word_i];
    if (data_req_i)  data_rdata_q[0]  <= mem[data_word_i];
    for (int unsigned stage = 1; stage < Latency; stage++) begin
      fetch_rdata_q[stage] <= fetch_rdata_q[stage-1];
      data_rdata_q[stage]  <= data_rdata_q[stage-1];
    end
  end

  // A valid bit for each stage. These bits have a reset: after it no answer is outstanding, even
  // if the stages of the words still hold data.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fetch_valid_q <= '0;
      data_valid_q  <= '0;
      data_err_q    <= '0;
    end else begin
      fetch_valid_q[0] <= fetch_req_i;
      data_valid_q[0]  <= data_req_i;
      data_err_q[0]    <= data_req_i & refuses;
      for (int unsigned stage = 1; stage < Latency; stage++) begin
        fetch_valid_q[stage] <= fetch_valid_q[stage-1];
        data_valid_q[stage]  <= data_valid_q[stage-1];
        data_err_q[stage]    <= data_err_q[stage-1];
      end
    end
  end

  assign fetch_rvalid_o = fetch_valid_q[Latency-1];
  assign fetch_rdata_o  = fetch_rdata_q[Latency-1];
  assign data_rvalid_o  = data_valid_q[Latency-1];
  assign data_rdata_o   = data_rdata_q[Latency-1];
  assign data_err_o     = data_err_q[Latency-1];

  // An error is never shown without a response.
  `ASSERT(ARefusalIsAResponse_A, data_err_o |-> data_rvalid_o)
  // Software learns that a store to a ROM had no effect.
  `ASSERT(AWriteToARomIsAnError_A,
          data_req_i && data_we_i && !Writable |=> data_valid_q[0] && data_err_q[0])
  // No request is lost, and no response comes without one.
  `ASSERT(EveryFetchIsKept_A, fetch_req_i |=> fetch_valid_q[0])
  `ASSERT(EveryAccessIsKept_A, data_req_i |=> data_valid_q[0])
  `ASSERT(NoAnswerUnasked_A, !data_req_i |=> !data_valid_q[0] && !data_err_q[0])
  // Only stores are refused.
  `ASSERT(AReadIsNoError_A, data_req_i && !data_we_i |=> !data_err_q[0])
endmodule
