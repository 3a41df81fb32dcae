// Words that the core pushes into the hash engine, by single stores of 64 bits, in addition to the
// stream of the DMA engine.
//
// | offset       | a store of eight bytes |
// | 0x00         | pushes them |
// | 0x80 + 8 * n | pushes the first n of them, at most 8, as the end of the message |
//
// A store waits on the bus while the word before waits for the hash engine, which takes one block
// at most. A word that is not taken for longer, because no message is open, is dropped, and the
// message that is open ends: the core is never stopped. Reset drops the word.

`include "assert.svh"

module tee_push
  import hartlock_axi_pkg::*;
#(
  // The largest number of cycles that a word waits: two blocks of the slower core.
  parameter int unsigned Patience = 48
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The stores, AXI4-Lite. A word that is pushed has 64 bits, so the upper half of its data comes
  // beside the port. Every read is an error.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,
  input  logic [31:0] upper_data_i,
  input  logic [3:0]  upper_strb_i,

  // The stream of the DMA engine.
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_data_i,
  input  logic        in_last_i,
  input  logic [3:0]  in_bytes_i,
  input  logic        in_abort_i,

  // To the hash engine.
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_data_o,
  output logic        out_last_o,
  output logic [3:0]  out_bytes_o,
  output logic        out_abort_o
);
  // Offset of the words, and upper bits of the offset of the end.
  localparam logic [11:0] Push = 12'h000;
  localparam logic [4:0]  End  = 5'h01;
  localparam logic [3:0]  WordBytes = 4'd8;
  localparam int unsigned CountBits = $clog2(Patience + 1);

  // The word that waits, and the response.
  logic                 pending_q, last_q, b_valid_q, b_err_q;
  logic [63:0]          word_q;
  logic [3:0]           bytes_q;
  logic [CountBits-1:0] count_q;
  // Events of this cycle.
  logic       is_good, takes, taken, drops, is_last;
  logic [3:0] bytes;

  // --- stores ---

  // A store is good if it is whole and goes to an offset of the table.
  assign is_last    = (axil_i.aw_addr[11:7] == End) & (axil_i.aw_addr[2:0] == '0) & (axil_i.aw_addr[6:3] <= WordBytes);
  assign bytes      = is_last ? axil_i.aw_addr[6:3] : WordBytes;
  assign is_good    = ({upper_strb_i, axil_i.w_strb} == '1) & (is_last | (axil_i.aw_addr == Push));
  assign takes      = axil_i.aw_valid & axil_i.w_valid & (~b_valid_q | axil_i.b_ready) & (~is_good | ~pending_q | taken);

  // The response of a store. One is open at a time.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
      b_err_q   <= 1'b0;
    end else if (takes) begin
      b_valid_q <= 1'b1;
      b_err_q   <= ~is_good;
    end else if (axil_i.b_ready) begin
      b_valid_q <= 1'b0;
    end
  end

  // The page cannot be read: a read gets zeros and an error in the next cycle.
  logic r_valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) r_valid_q <= 1'b0;
    else         r_valid_q <= r_valid_q ? ~axil_i.r_ready : axil_i.ar_valid;
  end
  logic unused_address;
  assign unused_address = ^axil_i.ar_addr;

  assign axil_o = '{
    aw_ready: takes,
    w_ready:  takes,
    b_valid:  b_valid_q,
    b_resp:   b_err_q ? RespSlverr : RespOkay,
    ar_ready: ~r_valid_q,
    r_valid:  r_valid_q,
    r_data:   '0,
    r_resp:   RespSlverr
  };

  // Words are cleared once they are taken: the page cannot be read, and nothing of a message stays.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= 1'b0;
      last_q    <= 1'b0;
      bytes_q   <= '0;
      word_q    <= '0;
      count_q   <= '0;
    end else begin
      count_q <= (pending_q && !taken && !drops) ? count_q + 1'b1 : '0;
      if (taken || drops) begin
        pending_q <= 1'b0;
        word_q    <= '0;
      end
      if (takes && is_good) begin
        pending_q <= 1'b1;
        word_q    <= {upper_data_i, axil_i.w_data};
        last_q    <= is_last;
        bytes_q   <= bytes;
      end
    end
  end

  // --- one of two sources ---

  // An offer stays until it is taken (AMBA AXI-Stream §2.2). Otherwise a pushed word has priority.
  logic of_push, owner_q, waits_q;
  assign of_push     = waits_q ? owner_q : pending_q;
  assign out_valid_o = of_push ? pending_q : in_valid_i;
  assign out_data_o  = of_push ? word_q : in_data_i;
  assign out_last_o  = of_push ? last_q : in_last_i;
  assign out_bytes_o = of_push ? bytes_q : in_bytes_i;
  assign in_ready_o  = out_ready_i & ~of_push;
  assign taken       = of_push & pending_q & out_ready_i;
  assign drops       = pending_q & ~taken & (32'(count_q) == Patience);
  assign out_abort_o = in_abort_i | drops;

  // The source of an offer that was not taken.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
      owner_q <= 1'b0;
    end else begin
      waits_q <= out_valid_o & ~out_ready_i & ~out_abort_o;
      owner_q <= of_push;
    end
  end

  // An offered word does not change until it is taken, unless the message is aborted.
  `ASSERT(AnOfferStays_A, out_valid_o && !out_ready_i && !out_abort_o && !in_abort_i |=>
          in_abort_i || (out_valid_o && $stable(out_data_o) && $stable(out_last_o)))
  // A word waits for a bounded time, so the core is never stopped.
  `ASSERT(NoWordWaitsForEver_A, 32'(count_q) <= Patience)
  // A message of which a word is missing gets no digest.
  `ASSERT(ADroppedWordEndsTheMessage_A, pending_q && 32'(count_q) == Patience && !taken |-> out_abort_o)
  // Every store has a response in the next cycle.
  `ASSERT(AStoreIsAnswered_A, takes |=> axil_o.b_valid)
  // Nothing of a message stays in the register.
  `ASSERT(WhatIsTakenIsNotKept_A, !pending_q |-> word_q == '0)
  // Only the last word of a message may have fewer than eight bytes.
  `ASSERT(PartsArePushedLastAlone_A, pending_q |-> last_q ? bytes_q <= WordBytes : bytes_q == WordBytes)
endmodule
