// Writes beats to a destination range, a line at a time.
//
// Address and first beat are offered together (AMBA AXI §A3.3.1). A burst begins only when all of its data are in the
// buffer: beats never wait for reads, which a subordinate that carries out one transaction at a time would not answer.
// A burst that is open when the list fails is completed with beats that change no byte.

`include "assert.svh"

module dma_write
  import dma_pkg::*;
#(
  parameter int unsigned NumWrites  = 8,  // outstanding
  localparam int unsigned CountBits = $clog2(NumWrites + 1)
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        clear_i,
  input  logic        run_i,
  input  window_t     window_i,
  input  logic        load_i,       // the next range, taken while not active
  input  logic [31:0] first_i,
  input  logic [31:0] last_i,
  output logic        active_o,
  input  logic        is_filled_i,  // the buffer has the data of a line, or all that are to come
  output logic        none_due_o,   // no burst is open, and all were answered
  output logic        failed_o,     // one was answered with an error
  output logic        upset_o,

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
  // The line, the first word of the burst and the next one to be sent, and the last word of the range.
  logic [25:0] line_d, line_q;
  logic [2:0]  start_d, start_q, beat_d, beat_q, stop;
  logic [28:0] last_q;
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

  // Of an open burst the address waits for its `ready`, and so do the beats, each for its own.
  assign aw_valid_o   = is_open & ~sent_q;
  assign aw_addr_o    = {line_q, start_q, 3'b000};
  assign aw_len_o     = {5'b0, stop - start_q};
  assign w_valid_o    = is_open & ~ended_q & (beat_valid_i | ~run_i);
  assign w_data_o     = beat_data_i;
  // A beat that was offered stays as it is; those after it change nothing once the list has failed.
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

  // A clear comes when no burst is open: see `none_due_o`.
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

  // The lowest bits are places in a word, which the aligner knows.
  logic unused_offsets;
  assign unused_offsets = ^{first_i[2:0], last_i[2:0]};

  `ASSERT(AnAddressStays_A, aw_valid_o && !aw_ready_i |=> aw_valid_o && $stable({aw_addr_o, aw_len_o}))
  `ASSERT(ABeatStays_A, w_valid_o && !w_ready_i |=> w_valid_o && $stable({w_data_o, w_strb_o, w_last_o}))
  `ASSERT(AWriteStaysInItsWindow_A, 1'b1 |=> !(aw_valid_o) || (is_in(window_i, aw_addr_o[31:12])))
  `ASSERT(AWriteStaysInItsLine_A, 1'b1 |=> !(aw_valid_o) || ({1'b0, aw_addr_o[5:3]} + aw_len_o[3:0] <= 4'd7))
  `ASSERT(BeatsHaveAnAddress_A, 1'b1 |=> !(w_valid_o) || (aw_valid_o || sent_q))
  `ASSERT(NoMoreWritesThanAllowed_A, 1'b1 |=> due_q <= CountBits'(NumWrites))
  `ASSERT(AFailedListChangesNoByte_A, 1'b1 |=> !(w_valid_o && !run_i && !waits_q) || (w_strb_o == '0))
  `ASSERT(AResponseHasAWrite_A, 1'b1 |=> !(b_valid_i) || (due_q != '0))
endmodule
