// Copies a list of descriptors out of the scratchpad and judges each word as it comes.
//
// A word is read once, and judged on its way into the copy: what the scratchpad holds later has no
// effect. The first descriptor that breaks a rule ends the copy. Nothing of such a list is carried
// out, because reads and writes begin after the last descriptor was judged.
//
// A descriptor is four words: length, source, destination, zero. A descriptor of length zero moves
// nothing, and its addresses are not judged, because an empty buffer may have any address.
// Destinations are judged and copied only if the list writes.
//
// Interface: `start_i` is a strobe that clears the counters, and `run_i` stays until `done_o`,
// `refused_o` or an abort. One request is under way at a time, so a word takes two cycles with a
// scratchpad that grants at once and answers in the next cycle. Reset forgets the list and its
// request. Nothing here is hardened; the windows are checked again at the port to memory.

`include "assert.svh"

module dma_list
  import dma_pkg::*;
#(
  // Bytes of the scratchpad, as a power of two.
  parameter int unsigned ScratchBits = 16,
  localparam int unsigned WordBits   = ScratchBits - 2
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // The list: its place in units of 64 descriptors, its number of descriptors, whether it writes,
  // and the windows. All are stable while `run_i` is set.
  input  logic                   start_i,
  // Drops when the list is refused or aborted.
  input  logic                   run_i,
  input  logic [ScratchBits-11:0] list_i,
  input  logic [6:0]             count_i,
  input  logic                   writes_i,
  input  window_t                source_i,
  input  window_t                destination_i,

  // The scratchpad: a request stays until its grant, and each request gets one word, in order (as
  // at a port of `core_memory`).
  output logic                   req_o,
  input  logic                   gnt_i,
  output logic [WordBits-1:0]    word_o,
  input  logic                   rvalid_i,
  input  logic [31:0]            rdata_i,
  input  logic                   err_i,

  // The copy: a source for each descriptor that moves something, at an even place, and its
  // destination after it. `kept_o` counts these descriptors.
  output logic                   put_o,
  output logic [IndexBits:0]     put_at_o,
  output range_t                 put_range_o,
  output logic [IndexBits:0]     kept_o,

  // Results. `done_o` follows the last word; `refused_o` comes with the word that breaks a rule,
  // and `cause_o` and `index_o` belong to it.
  output logic                   done_o,
  output logic                   refused_o,
  output cause_e                 cause_o,
  output logic [IndexBits-1:0]   index_o,
  // No request is under way.
  output logic                   idle_o
);
  // `got_q` counts the words that came, four a descriptor. A list begins at a multiple of its
  // largest size, so it cannot pass the end of the scratchpad.
  logic [8:0] got_d, got_q;
  logic asks_q, waits_d, waits_q, takes, is_granted;

  // One request at a time. A request that was not granted stays, also after the list has ended.
  assign req_o      = asks_q | (run_i & ~done_o & ~waits_q);
  assign is_granted = req_o & gnt_i;
  assign word_o     = {list_i, got_q[7:0]};
  assign takes      = rvalid_i & waits_q & run_i;
  assign idle_o     = ~waits_q & ~asks_q;
  assign done_o     = run_i & (got_q == {count_i, 2'b00});

  // Words of the descriptor that later words are compared with. `length_q` is the length minus one,
  // so that a sum with it is the last byte and not the byte after it.
  logic [31:0] length_q, source_q, source_last_q, last_q, last, addend;
  logic is_empty_d, is_empty_q, has_last_q, wraps, keeps;
  logic [IndexBits:0] kept_d, kept_q;
  logic is_length, is_source, is_destination, is_reserved, is_range;

  assign is_length      = takes & (got_q[1:0] == 2'd0);
  assign is_source      = takes & (got_q[1:0] == 2'd1) & ~is_empty_q;
  assign is_destination = takes & (got_q[1:0] == 2'd2) & ~is_empty_q & writes_i;
  assign is_reserved    = takes & (got_q[1:0] == 2'd3);
  assign is_range       = is_source | is_destination;
  assign keeps          = is_reserved & ~is_empty_q;

  // The last byte of a range. A carry says that the range passes the end of the address space,
  // which a comparison of its end with a window would not detect. The same adder takes one from the
  // length.
  assign addend         = length_q | {32{got_q[1:0] == 2'd0}};
  assign {wraps, last}  = {1'b0, rdata_i} + {1'b0, addend};

  assign index_o     = got_q[7:2];
  assign kept_o      = kept_q;
  assign put_o       = is_range;
  assign put_at_o    = {kept_q[IndexBits-1:0], is_destination};
  assign put_range_o = '{index: index_o, last: last, first: rdata_i};

  // The rules, each with its cause. An error of the scratchpad comes first, because the word has no
  // meaning then.
  always_comb begin
    cause_o = CauseNone;
    if (takes && err_i) begin
      cause_o = CauseScratchpad;
    end else if (is_reserved && rdata_i != '0) begin
      cause_o = CauseReserved;
    end else if (is_range && wraps) begin
      cause_o = CauseWrap;
    end else if (is_source && !(rdata_i[31:12] >= source_i.first && last[31:12] <= source_i.last)) begin
      cause_o = CauseSource;
    end else if (is_destination &&
                 !(rdata_i[31:12] >= destination_i.first && last[31:12] <= destination_i.last)) begin
      cause_o = CauseDestination;
    end else if (is_destination && !(rdata_i > source_last_q || last < source_q)) begin
      cause_o = CauseOverlap;
    end else if (is_destination && has_last_q && rdata_i <= last_q) begin
      // A byte that is written twice would differ from what was hashed first.
      cause_o = CauseOrder;
    end
  end
  assign refused_o = cause_o != CauseNone;

  // Counts of words, and of descriptors that move something.
  always_comb begin
    got_d      = got_q + 9'(takes);
    waits_d    = is_granted | (waits_q & ~rvalid_i);
    kept_d     = kept_q + 7'(keeps && !refused_o);
    is_empty_d = is_length ? rdata_i == '0 : is_empty_q;
    if (start_i) begin
      got_d   = '0;
      kept_d  = '0;
    end
  end

  // A request stays until it is granted, also when it is not needed any more.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      got_q      <= '0;
      kept_q     <= '0;
      asks_q     <= 1'b0;
      waits_q    <= 1'b0;
      is_empty_q <= 1'b0;
      has_last_q <= 1'b0;
    end else begin
      got_q      <= got_d;
      kept_q     <= kept_d;
      asks_q     <= req_o & ~gnt_i;
      waits_q    <= waits_d;
      is_empty_q <= is_empty_d;
      has_last_q <= ~start_i & (has_last_q | is_destination);
    end
  end

  // Words that a later word of the descriptor, or of the next descriptor, is compared with. They
  // need no reset, because each is written before it is used.
  always_ff @(posedge clk_i) begin
    if (is_length) length_q <= last;
    if (is_source) begin
      source_q      <= rdata_i;
      source_last_q <= last;
    end
    if (is_destination) last_q <= last;
  end

  // The port of the scratchpad relies on a stable request.
  `ASSERT(ARequestStays_A, req_o && !gnt_i |=> req_o && $stable(word_o))
  // The counter does not pass the largest list, so no word outside of it is read.
  `ASSERT(NoMoreWordsThanTheList_A, 1'b1 |=> got_q <= 9'd256)
  // A second request could mix up the words.
  `ASSERT(OneRequestAtATime_A, 1'b1 |=> !(is_granted) || !waits_q)
  // A refused range is never carried out.
  `ASSERT(ARefusedRangeIsNotKept_A, refused_o |=> $stable(kept_q))
  // A range of the copy ends where it begins or after it, so its length is what was judged.
  `ASSERT(ARangeDoesNotWrap_A, 1'b1 |=> !(put_o && !refused_o) || (put_range_o.last >= put_range_o.first))
  // Reads stay in the window that firmware locked.
  `ASSERT(ASourceIsInItsWindow_A, 1'b1 |=>
          !(is_source && !refused_o) || (is_in(source_i, put_range_o.first[31:12]) && is_in(source_i, put_range_o.last[31:12])))
  // Writes stay in the window that firmware locked.
  `ASSERT(ADestinationIsInItsWindow_A, 1'b1 |=>
          !(is_destination && !refused_o) || (is_in(destination_i, put_range_o.first[31:12]) && is_in(destination_i, put_range_o.last[31:12])))
  // Destinations ascend, so no byte is written twice.
  `ASSERT(NoByteIsWrittenTwice_A, 1'b1 |=> !(is_destination && !refused_o && has_last_q) || (rdata_i > last_q))
endmodule
