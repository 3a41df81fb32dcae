// Writes beats to a destination range, a line at a time.
//
// Address and first beat are offered together (AMBA AXI §A3.3.1). A burst begins only when all of
// its data are in the buffer. So beats never wait for reads, which a subordinate that carries out
// one transaction at a time would not answer. A burst that is open when the list fails is completed
// with beats that change no byte.
//
// Interface: a range is loaded with the strobe `load_i` while `active_o` is clear. Addresses and
// beats have valid and ready and stay until they are taken; responses are always taken. One beat a
// cycle can pass. Reset forgets the range and all writes that are due.
//
// Hardening: the window is compared again with the address before a burst begins. An address
// outside of it is an upset, which `upset_o` reports. The counters are not redundant.

`include "assert.svh"

module dma_write
  import dma_pkg::*;
#(
  // Bursts that may wait for their response.
  parameter int unsigned NumWrites  = 8,
  localparam int unsigned CountBits = $clog2(NumWrites + 1)
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // A new list begins, or the list runs. Without `run_i` no burst begins.
  input  logic        clear_i,
  input  logic        run_i,
  input  window_t     window_i,
  // Loads the next range: its first and its last byte. It is taken while not active.
  input  logic        load_i,
  input  logic [31:0] first_i,
  input  logic [31:0] last_i,
  output logic        active_o,
  // The buffer has the data of a line, or all data that are to come.
  input  logic        is_filled_i,
  // No burst is open, and all were answered.
  output logic        none_due_o,
  // A write was answered with an error.
  output logic        failed_o,
  output logic        upset_o,

  // Beats of the range, as they are placed in memory.
  input  logic        beat_valid_i,
  output logic        beat_ready_o,
  input  logic [63:0] beat_data_i,
  input  logic [7:0]  beat_strb_i,

  // Write address.
  output logic        aw_valid_o,
  input  logic        aw_ready_i,
  output logic [31:0] aw_addr_o,
  output logic [7:0]  aw_len_o,
  // Write data.
  output logic        w_valid_o,
  input  logic        w_ready_i,
  output logic [63:0] w_data_o,
  output logic [7:0]  w_strb_o,
  output logic        w_last_o,
  // Response: always taken.
  input  logic        b_valid_i,
  input  logic [1:0]  b_resp_i
);
  // The line, the first word of the burst, the next word to be sent, and the last word of the
  // range.
  logic [25:0] line_d, line_q;
  logic [2:0]  start_d, start_q, beat_d, beat_q, stop;
  logic [28:0] last_q;
  // `open_q`: a burst has begun and is not complete. `sent_q`: its address was taken. `ended_q`:
  // its last beat was taken. `waits_q`: a beat of the running list was offered and not taken.
  logic active_d, active_q, open_d, open_q, sent_d, sent_q, ended_d, ended_q, waits_q;
  logic [CountBits-1:0] due_d, due_q;
  logic is_last_line, is_inside, begins, is_open, aw_passes, w_passes, closes;

  assign is_last_line = line_q == last_q[28:3];
  assign stop         = is_last_line ? last_q[2:0] : 3'd7;
  assign is_inside    = is_in(window_i, line_q[25:6]);
  assign begins       = active_q & ~open_q & run_i & beat_valid_i & is_filled_i & is_inside &
                        (due_q != CountBits'(NumWrites));
  assign is_open      = open_q | begins;
  assign upset_o      = active_q & ~is_inside;

  // Address and beats of an open burst are offered independently, and each waits for its own
  // `ready`.
  assign aw_valid_o   = is_open & ~sent_q;
  assign aw_addr_o    = {line_q, start_q, 3'b000};
  assign aw_len_o     = {5'b0, stop - start_q};
  assign w_valid_o    = is_open & ~ended_q & (beat_valid_i | ~run_i);
  assign w_data_o     = beat_data_i;
  // A beat that was offered stays as it is. The beats after it change no byte once the list has
  // failed.
  assign w_strb_o     = beat_strb_i & {8{run_i | waits_q}};
  assign w_last_o     = beat_q == stop;
  assign beat_ready_o = is_open & ~ended_q & w_ready_i & (run_i | waits_q);
  assign aw_passes    = aw_valid_o & aw_ready_i;
  assign w_passes     = w_valid_o & w_ready_i;
  assign closes       = is_open & (sent_q | aw_passes) & (ended_q | (w_passes & w_last_o));
  assign active_o     = active_q;
  assign none_due_o   = ~open_q & (due_q == '0);
  assign failed_o     = b_valid_i & (b_resp_i != 2'b00);

  // A burst is open until its address and all of its beats were taken, in any order.
  always_comb begin
    line_d   = line_q;
    start_d  = start_q;
    active_d = active_q;
    open_d   = is_open;
    sent_d   = sent_q | aw_passes;
    ended_d  = ended_q | (w_passes & w_last_o);
    beat_d   = beat_q + 3'(w_passes);
    due_d    = due_q + CountBits'(begins) - CountBits'(b_valid_i);
    if (closes) begin
      open_d   = 1'b0;
      sent_d   = 1'b0;
      ended_d  = 1'b0;
      line_d   = line_q + 1'b1;
      start_d  = '0;
      beat_d   = '0;
      active_d = ~is_last_line;
    end
    if (load_i) begin
      line_d   = first_i[31:6];
      start_d  = first_i[5:3];
      beat_d   = first_i[5:3];
      active_d = 1'b1;
    end
    if (clear_i) active_d = 1'b0;
  end

  // A new list begins only while no burst is open (`none_due_o`), so a clear cuts off nothing.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      open_q   <= 1'b0;
      sent_q   <= 1'b0;
      ended_q  <= 1'b0;
      waits_q  <= 1'b0;
      due_q    <= '0;
      line_q   <= '0;
      start_q  <= '0;
      beat_q   <= '0;
      last_q   <= '0;
    end else begin
      active_q <= active_d;
      open_q   <= open_d;
      sent_q   <= sent_d;
      ended_q  <= ended_d;
      waits_q  <= w_valid_o & ~w_ready_i & (run_i | waits_q);
      due_q    <= due_d;
      line_q   <= line_d;
      start_q  <= start_d;
      beat_q   <= beat_d;
      if (load_i) last_q <= last_i[31:3];
    end
  end

  // The lowest bits are offsets in a word, which the aligner knows.
  logic unused_offsets;
  assign unused_offsets = ^{first_i[2:0], last_i[2:0]};

  // AMBA AXI §A3.2.1: an offered address must not change.
  `ASSERT(AnAddressStays_A, aw_valid_o && !aw_ready_i |=> aw_valid_o && $stable({aw_addr_o, aw_len_o}))
  // AMBA AXI §A3.2.1: an offered beat must not change, also when the list fails.
  `ASSERT(ABeatStays_A, w_valid_o && !w_ready_i |=> w_valid_o && $stable({w_data_o, w_strb_o, w_last_o}))
  // No write leaves the window, whatever range was loaded.
  `ASSERT(AWriteStaysInItsWindow_A, 1'b1 |=> !(aw_valid_o) || (is_in(window_i, aw_addr_o[31:12])))
  // A burst stays in its line, so it never crosses 4 KiB (AMBA AXI §A3.4.1).
  `ASSERT(AWriteStaysInItsLine_A, 1'b1 |=> !(aw_valid_o) || ({1'b0, aw_addr_o[5:3]} + aw_len_o[3:0] <= 4'd7))
  // No beat is offered before its address.
  `ASSERT(BeatsHaveAnAddress_A, 1'b1 |=> !(w_valid_o) || (aw_valid_o || sent_q))
  // The counter of responses that are due does not overflow.
  `ASSERT(NoMoreWritesThanAllowed_A, 1'b1 |=> due_q <= CountBits'(NumWrites))
  // Once the list has failed, a beat that was not offered before changes no byte of memory.
  `ASSERT(AFailedListChangesNoByte_A, 1'b1 |=> !(w_valid_o && !run_i && !waits_q) || (w_strb_o == '0))
  // Memory answers only bursts that were begun.
  `ASSERT(AResponseHasAWrite_A, 1'b1 |=> !(b_valid_i) || (due_q != '0))
endmodule
