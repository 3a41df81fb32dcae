// On-chip RAM for a first stage that hardware has verified (spec/first-stage.md §9). Only the
// verification unit writes it. The host reads it through AXI4, and only while the verdict has
// opened it.
//
// While closed, every read is answered with an error and zeros: an image that was refused is never
// seen, and neither is one that an earlier boot left. A write from the bus is taken whole and
// refused.
//
// Timing: one burst is open at a time. Its first beat comes one cycle after the address, then one a
// cycle. Reset ends the burst and keeps the contents. Contents have no parity.

`include "assert.svh"

module first_stage_ram
  import hartlock_axi_pkg::*;
#(
  // Words of 64 bits, a power of two.
  parameter int unsigned Words  = 16384,
  // 0 builds a memory that is never closed, to show that the test detects it.
  parameter bit          Closes = 1'b1,
  localparam int unsigned WordBits = $clog2(Words)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // From the verification unit.
  input  logic                write_i,
  input  logic [WordBits-1:0] word_i,
  input  logic [63:0]         data_i,
  // The verdict. It may end: an alert closes the memory again.
  input  logic                open_i,

  // The host's bus. Bits of an address above those of the memory are ignored.
  input  axi_req_t            axi_i,
  output axi_resp_t           axi_o
);
  logic [63:0] mem [Words];

  // A read: the word that is shown, and the number of words that follow it.
  logic                reads_d, reads_q, is_open_q;
  logic [WordBits-1:0] next_d, next_q;
  logic [7:0]          left_d, left_q;
  logic [IdBits-1:0]   r_id_d, r_id_q;
  logic [63:0]         r_data_q;
  logic                starts, advances, fetches;
  logic [WordBits-1:0] fetched;
  // A write, which is refused.
  logic                has_id_d, has_id_q, has_data_d, has_data_q;
  logic [IdBits-1:0]   b_id_d, b_id_q;
  logic                is_visible;

  assign is_visible = open_i | ~Closes;

  // The address of a read is taken when no burst is open, and each beat that is taken fetches the
  // next word. A read in the cycle in which the memory is closed is answered as closed: the word
  // that was fetched is kept and not shown.
  assign axi_o.ar_ready = ~reads_q;
  assign starts     = axi_i.ar_valid & axi_o.ar_ready;
  assign advances   = reads_q & axi_i.r_ready;
  assign fetches    = starts | (advances & (left_q != '0));
  assign fetched    = starts ? axi_i.ar.addr[WordBits+2:3] : next_q;

  // The order of a burst, and the two halves of a write, which may come in any order.
  always_comb begin
    // The burst is open up to its last beat.
    reads_d = starts | (reads_q & ~(advances & (left_q == '0)));
    next_d  = fetches ? fetched + 1'b1 : next_q;
    left_d  = left_q;
    r_id_d  = r_id_q;
    if (starts) begin
      left_d = axi_i.ar.len;
      r_id_d = axi_i.ar_id;
    end else if (advances) begin
      left_d = left_q - 1'b1;
    end

    // Address and data of a write are taken independently, and answered when both are there.
    has_id_d   = has_id_q | axi_i.aw_valid;
    has_data_d = has_data_q | (axi_i.w_valid & axi_i.w_last);
    b_id_d     = (axi_i.aw_valid & axi_o.aw_ready) ? axi_i.aw_id : b_id_q;
    if (axi_o.b_valid && axi_i.b_ready) begin
      has_id_d   = 1'b0;
      has_data_d = 1'b0;
    end
  end

  // Control only. The contents have no reset, and are not visible until they were written and
  // judged.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reads_q    <= 1'b0;
      next_q     <= '0;
      left_q     <= '0;
      r_id_q     <= '0;
      is_open_q  <= 1'b0;
      has_id_q   <= 1'b0;
      has_data_q <= 1'b0;
      b_id_q     <= '0;
    end else begin
      reads_q    <= reads_d;
      next_q     <= next_d;
      left_q     <= left_d;
      r_id_q     <= r_id_d;
      if (fetches) is_open_q <= is_visible;
      has_id_q   <= has_id_d;
      has_data_q <= has_data_d;
      b_id_q     <= b_id_d;
    end
  end

  // Two ports of a block RAM: one writes, one reads.
  always_ff @(posedge clk_i) begin
    if (write_i) mem[word_i] <= data_i;
    if (fetches) r_data_q    <= mem[fetched];
  end

  // A beat that was fetched while the memory was open is shown only while it still is.
  logic shows;
  assign shows      = is_open_q & is_visible;
  assign axi_o.r_valid  = reads_q;
  assign axi_o.r_id     = r_id_q;
  assign axi_o.r_data   = shows ? r_data_q : '0;
  assign axi_o.r_resp   = shows ? RespOkay : RespSlverr;
  assign axi_o.r_last   = left_q == '0;

  // Only one write is open at a time, and its data are dropped as they come.
  assign axi_o.aw_ready = ~has_id_q;
  assign axi_o.w_ready  = ~has_data_q;
  assign axi_o.b_valid  = has_id_q & has_data_q;
  assign axi_o.b_id     = b_id_q;
  assign axi_o.b_resp   = RespSlverr;

  // Words are whole, bursts are of type INCR, and data of a write are dropped.
  logic unused;
  assign unused = ^{axi_i.aw, axi_i.w_data, axi_i.w_strb, axi_i.ar};

  // A closed memory shows zeros and an error.
  `ASSERT(WhatIsClosedIsNotRead_A,
          axi_o.r_valid && !open_i && Closes |-> axi_o.r_data == '0 && axi_o.r_resp == RespSlverr)
  // The burst ends with its last beat.
  `ASSERT(ABurstEndsWithItsLastBeat_A, advances && axi_o.r_last |=> !axi_o.r_valid)
  // AMBA AXI §A3.2.1: a beat stays until it is taken.
  `ASSERT(ABeatWaitsForItsReader_A,
          axi_o.r_valid && !axi_i.r_ready |=> axi_o.r_valid && $stable(axi_o.r_id) && $stable(axi_o.r_last))
  // The bus can never change what was verified.
  `ASSERT(NoWriteOfTheBusSucceeds_A, axi_o.b_valid |-> axi_o.b_resp != RespOkay)
  // A write is answered only when its address and its data have come.
  `ASSERT(AConfirmationHasItsWrite_A, axi_o.b_valid |-> has_id_q && has_data_q)
endmodule
