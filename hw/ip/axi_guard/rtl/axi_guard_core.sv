// This module is located between managers and memory (AXI4). It answers each burst that touches a closed range,
// or is not legal, with DECERR; none of its beats reaches memory.
//
// Protocol: payloads of requests pass unchanged beside this module, which gates `valid` and `ready`. Several
// reads and write responses may be outstanding. A refused request waits for those before it, so that responses
// with one id stay in order (AMBA AXI §A5.3), and is then answered here: a read with as many beats as it asked
// for, a write after its last beat was dropped (§A3.3.1). Nothing passes before the lock; after it the ranges
// do not change, so an offered request stays as it was judged.
//
// Time: a request that passes takes no further cycle. A refused one stops its direction until it is answered.
//
// Reset: nothing is outstanding. Nothing is hardened here against upsets.

`include "assert.svh"

module axi_guard_core
  import axi_guard_pkg::*;
  import hartlock_axi_pkg::RespDecerr;
#(
  // `IdBits` is the width of the ids, and `NumDue` the most requests that are outstanding in each direction.
  parameter int unsigned IdBits      = 4,
  parameter int unsigned NumDue      = 15,
  // `WholeBursts` = 0 builds a variant of the check for tests.
  parameter bit          WholeBursts = 1'b1,
  // `DropsData` = 0 builds a variant that passes data of a refused write, to show that tests and proofs detect
  // it.
  parameter bit          DropsData   = 1'b1,
  localparam int unsigned CountBits  = $clog2(NumDue + 1)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Nothing passes before the lock; from then on the ranges are stable.
  input  logic                   locked_i,
  input  range_t [NumRanges-1:0] ranges_i,
  // These are pulses in the cycle in which a request is refused.
  output logic                   read_refused_o,
  output logic                   write_refused_o,

  // These are the channels of the managers, as AXI4 defines them. The first one is the write address.
  input  logic                   aw_valid_i,
  output logic                   aw_ready_o,
  input  logic [IdBits-1:0]      aw_id_i,
  input  logic [31:0]            aw_addr_i,
  input  logic [7:0]             aw_len_i,
  input  logic [2:0]             aw_size_i,
  input  logic [1:0]             aw_burst_i,
  // This is the channel of write data.
  input  logic                   w_valid_i,
  output logic                   w_ready_o,
  input  logic                   w_last_i,
  // This is the channel of write responses.
  output logic                   b_valid_o,
  input  logic                   b_ready_i,
  output logic [IdBits-1:0]      b_id_o,
  output logic [1:0]             b_resp_o,
  // This is the channel of read addresses.
  input  logic                   ar_valid_i,
  output logic                   ar_ready_o,
  input  logic [IdBits-1:0]      ar_id_i,
  input  logic [31:0]            ar_addr_i,
  input  logic [7:0]             ar_len_i,
  input  logic [2:0]             ar_size_i,
  input  logic [1:0]             ar_burst_i,
  // This is the channel of read data.
  output logic                   r_valid_o,
  input  logic                   r_ready_i,
  output logic [IdBits-1:0]      r_id_o,
  output logic [63:0]            r_data_o,
  output logic [1:0]             r_resp_o,
  output logic                   r_last_o,

  // These are the channels of the memory. The first one is the write address, whose payload is that of the
  // managers.
  output logic                   mem_aw_valid_o,
  input  logic                   mem_aw_ready_i,
  // This is the channel of write data, which the managers drive.
  output logic                   mem_w_valid_o,
  input  logic                   mem_w_ready_i,
  // This is the channel of write responses.
  input  logic                   mem_b_valid_i,
  output logic                   mem_b_ready_o,
  input  logic [IdBits-1:0]      mem_b_id_i,
  input  logic [1:0]             mem_b_resp_i,
  // This is the channel of read addresses.
  output logic                   mem_ar_valid_o,
  input  logic                   mem_ar_ready_i,
  // This is the channel of read data.
  input  logic                   mem_r_valid_i,
  output logic                   mem_r_ready_o,
  input  logic [IdBits-1:0]      mem_r_id_i,
  input  logic [63:0]            mem_r_data_i,
  input  logic [1:0]             mem_r_resp_i,
  input  logic                   mem_r_last_i
);
  logic aw_passes, ar_passes, aw_good, ar_good;

  // Each direction has a judge of its own.
  axi_guard_check #(.WholeBursts(WholeBursts)) u_write (
    .clk_i, .rst_ni, .ranges_i, .addr_i(aw_addr_i), .len_i(aw_len_i), .size_i(aw_size_i), .burst_i(aw_burst_i),
    .passes_o(aw_passes)
  );
  axi_guard_check #(.WholeBursts(WholeBursts)) u_read (
    .clk_i, .rst_ni, .ranges_i, .addr_i(ar_addr_i), .len_i(ar_len_i), .size_i(ar_size_i), .burst_i(ar_burst_i),
    .passes_o(ar_passes)
  );
  assign aw_good = aw_passes & locked_i;
  assign ar_good = ar_passes & locked_i;

  // --- writes ---
  // A write is open from its address, or its first data, to the later one of its address and its last data;
  // then its response is due. `sent` says that its address was taken, `ended` that all of its data were.
  logic sent_d, sent_q, ended_d, ended_q, is_refused_d, is_refused_q, answers_d, answers_q;
  logic [CountBits-1:0] w_due_d, w_due_q;
  logic [IdBits-1:0] w_id_q;
  logic aw_moves, w_moves, b_moves, closes, w_room, drops;

  assign w_room        = w_due_q != CountBits'(NumDue);
  // These are the data of the open write, or of the one whose address is offered: both are offered together,
  // because a subordinate may wait for either (§A3.3.1).
  assign drops          = sent_q & is_refused_q & DropsData;
  assign mem_aw_valid_o = aw_valid_i & aw_good & ~sent_q & ~answers_q & w_room;
  assign mem_w_valid_o  = w_valid_i & ~ended_q & ~answers_q & ~drops & (sent_q | (aw_valid_i & aw_good & w_room));
  assign aw_ready_o     = ~sent_q & ~answers_q & (aw_good ? mem_aw_ready_i & w_room : 1'b1);
  assign w_ready_o      = ~ended_q & ~answers_q &
                          (drops ? 1'b1 : mem_w_ready_i & (sent_q | (aw_valid_i & aw_good & w_room)));
  assign aw_moves       = aw_valid_i & aw_ready_o;
  assign w_moves        = w_valid_i & w_ready_o;
  // The write is complete with this cycle: its address and its last data were taken.
  assign closes         = (sent_q | aw_moves) & (ended_q | (w_moves & w_last_i));

  // A refused write is answered when all writes before it were.
  assign b_valid_o     = mem_b_valid_i | (answers_q & (w_due_q == '0));
  assign b_id_o        = (w_due_q == '0) ? w_id_q : mem_b_id_i;
  assign b_resp_o      = (w_due_q == '0) ? RespDecerr : mem_b_resp_i;
  assign mem_b_ready_o = b_ready_i;
  assign b_moves       = b_valid_o & b_ready_i;

  // The next write begins when this one is closed, and after a refused one when it was answered.
  always_comb begin
    sent_d       = sent_q | aw_moves;
    ended_d      = ended_q | (w_moves & w_last_i);
    is_refused_d = aw_moves ? ~aw_good : is_refused_q;
    answers_d    = answers_q & ~(b_moves & (w_due_q == '0));
    w_due_d      = w_due_q - CountBits'(mem_b_valid_i & b_ready_i);
    if (closes) begin
      sent_d  = 1'b0;
      ended_d = 1'b0;
      if (is_refused_d) answers_d = 1'b1;
      else              w_due_d   = w_due_d + 1'b1;
    end
  end

  // --- reads ---
  // A refused read is answered here when all reads before it were, with as many beats as it asked for.
  logic r_answers_d, r_answers_q, r_moves, r_here;
  logic [CountBits-1:0] r_due_d, r_due_q;
  logic [IdBits-1:0] r_id_q;
  logic [7:0] left_d, left_q;
  logic ar_moves, r_room;

  assign r_room         = r_due_q != CountBits'(NumDue);
  assign mem_ar_valid_o = ar_valid_i & ar_good & ~r_answers_q & r_room;
  assign ar_ready_o     = ~r_answers_q & (ar_good ? mem_ar_ready_i & r_room : 1'b1);
  assign ar_moves       = ar_valid_i & ar_ready_o;
  // While no read of memory is outstanding, the channel belongs to this module.
  assign r_here         = r_due_q == '0;
  assign r_valid_o      = r_here ? r_answers_q : mem_r_valid_i;
  assign r_id_o         = r_here ? r_id_q : mem_r_id_i;
  assign r_data_o       = r_here ? '0 : mem_r_data_i;
  assign r_resp_o       = r_here ? RespDecerr : mem_r_resp_i;
  assign r_last_o       = r_here ? left_q == '0 : mem_r_last_i;
  assign mem_r_ready_o  = r_ready_i & ~r_here;
  assign r_moves        = r_valid_o & r_ready_i;

  // The beats of a refused read are counted down; reads of memory are counted as a whole.
  always_comb begin
    r_answers_d = r_answers_q;
    left_d      = left_q - 8'(r_moves & r_here);
    r_due_d     = r_due_q + CountBits'(ar_moves & ar_good) - CountBits'(r_moves && !r_here && mem_r_last_i);
    if (ar_moves && !ar_good) begin
      r_answers_d = 1'b1;
      left_d      = ar_len_i;
    end
    if (r_moves && r_here && r_last_o) r_answers_d = 1'b0;
  end

  assign read_refused_o  = ar_moves & ~ar_good;
  assign write_refused_o = aw_moves & ~aw_good;

  // These registers are the state of both directions. Ids are kept for the answers that are given here.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {sent_q, ended_q, is_refused_q, answers_q, r_answers_q} <= '0;
      w_due_q <= '0;
      r_due_q <= '0;
      left_q  <= '0;
      w_id_q  <= '0;
      r_id_q  <= '0;
    end else begin
      {sent_q, ended_q, is_refused_q} <= {sent_d, ended_d, is_refused_d};
      {answers_q, r_answers_q}        <= {answers_d, r_answers_d};
      w_due_q <= w_due_d;
      r_due_q <= r_due_d;
      left_q  <= left_d;
      if (aw_moves) w_id_q <= aw_id_i;
      if (ar_moves) r_id_q <= ar_id_i;
    end
  end

  // Before the lock it is not known which pages are closed.
  `ASSERT(NothingPassesUnlocked_A, 1'b1 |=> locked_i || !(mem_aw_valid_o || mem_w_valid_o && !sent_q || mem_ar_valid_o))
  // An address that was offered to memory is not taken back (AMBA AXI §A3.2.1).
  `ASSERT(AnAddressStays_A, mem_aw_valid_o && !mem_aw_ready_i |=> mem_aw_valid_o)
  // A beat of data that was offered is not taken back, either.
  `ASSERT(ABeatStays_A, mem_w_valid_o && !mem_w_ready_i |=> mem_w_valid_o)
  // The address of a read that was offered is not taken back, either.
  `ASSERT(AReadStays_A, mem_ar_valid_o && !mem_ar_ready_i |=> mem_ar_valid_o)
  // Data of a refused write must not become those of another write.
  `ASSERT(DataOfARefusedWriteAreDropped_A, 1'b1 |=> !(sent_q && is_refused_q && mem_w_valid_o))
  // A refused read must not show what a read before it has left on the wires.
  `ASSERT(ARefusedReadShowsNothing_A, 1'b1 |=> !(r_valid_o && r_resp_o == RespDecerr && r_here) || r_data_o == '0)
  // More requests than the counters can count would lose their order.
  `ASSERT(NoMoreThanAllowed_A, 1'b1 |=> !(mem_ar_valid_o && r_due_q == CountBits'(NumDue)) &&
          !(mem_aw_valid_o && w_due_q == CountBits'(NumDue)))
  // A response that was offered to a manager is not taken back, and neither are the data of a read.
  `ASSERT(BStays_A, b_valid_o && !b_ready_i |=> b_valid_o && $stable(b_id_o))
  `ASSERT(RStays_A, r_valid_o && !r_ready_i |=> r_valid_o && $stable(r_data_o) && $stable(r_last_o))
endmodule
