// Requests the lines of a source range, several at a time, as far as the buffer has room for them.
//
// All reads have one id, so data come in the order of requests (AMBA AXI §A5.3).
//
// Interface: a range is loaded with the strobe `load_i` while `active_o` is clear, and its first
// request is offered in the next cycle. One line a cycle can be requested. A request that is
// offered stays, also when the list ends. Reset forgets the range and all reads that are due.
//
// Hardening: the window is compared again with each address at the port. An address outside of it
// was not judged and can only be an upset: it is not requested, and `upset_o` reports it. The
// counters are not redundant.

`include "assert.svh"

module dma_read
  import dma_pkg::*;
#(
  // Bursts that may be outstanding, and words of the buffer.
  parameter int unsigned NumReads    = 8,
  parameter int unsigned BufferWords = 256,
  localparam int unsigned CountBits  = $clog2(BufferWords + 1),
  localparam int unsigned ReadsBits  = $clog2(NumReads + 1)
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // A new list begins, and the buffer is empty.
  input  logic        clear_i,
  // The list runs. Without it no new request is offered.
  input  logic        run_i,
  input  window_t     window_i,
  // The next range: its first and its last byte, taken while not active.
  input  logic        load_i,
  input  logic [31:0] first_i,
  input  logic [31:0] last_i,
  output logic        active_o,
  // A word left the buffer, so its place is free.
  input  logic        frees_i,
  // All data that were requested have come, and no request is offered.
  output logic        none_due_o,
  output logic        upset_o,

  // Read address, and the signals of the read data that are counted here.
  output logic        ar_valid_o,
  input  logic        ar_ready_i,
  output logic [31:0] ar_addr_o,
  output logic [7:0]  ar_len_o,
  input  logic        r_valid_i,
  input  logic        r_last_i,
  // The beat is the last of its range.
  output logic        r_end_o
);
  // The line, the first word that is requested in it, and the last word of the range.
  logic [25:0] line_d, line_q;
  logic [2:0]  start_d, start_q, len;
  logic [28:0] last_q;
  logic active_d, active_q, waits_q, is_last_line, passes, is_inside;
  // Words of the buffer that are filled or due, and bursts that are due.
  logic [CountBits-1:0] used_d, used_q;
  logic [ReadsBits-1:0] due_d, due_q;
  logic has_room;

  assign is_last_line = line_q == last_q[28:3];
  assign len          = (is_last_line ? last_q[2:0] : 3'd7) - start_q;
  assign is_inside    = is_in(window_i, line_q[25:6]);
  assign has_room     = (used_q <= CountBits'(BufferWords - LineWords)) & (due_q != ReadsBits'(NumReads));
  assign passes       = ar_valid_o & ar_ready_i;

  // An offered request stays, whatever happens meanwhile (AMBA AXI §A3.2.1). The room of the buffer
  // does not shrink while it waits.
  assign ar_valid_o = active_q & is_inside & ((run_i & has_room) | waits_q);
  assign ar_addr_o  = {line_q, start_q, 3'b000};
  assign ar_len_o   = {5'b0, len};
  assign active_o   = active_q;
  assign none_due_o = (due_q == '0) & ~waits_q;
  assign upset_o    = active_q & ~is_inside;

  // For each burst that is due a bit says whether it is the last of its range. Bit 1 belongs to the
  // youngest burst, so the oldest one has the bit of number `due_q`.
  logic [NumReads:0] ends_q;
  always_ff @(posedge clk_i) if (passes) ends_q <= (ends_q >> 1 << 2) | (NumReads + 1)'({is_last_line, 1'b0});
  assign r_end_o = r_last_i & |(ends_q & ((NumReads+1)'(1) << due_q));

  // Lines follow each other up to the line of the last word.
  always_comb begin
    line_d   = line_q;
    start_d  = start_q;
    active_d = active_q;
    used_d   = used_q + (passes ? CountBits'(len) + 1'b1 : '0) - CountBits'(frees_i);
    due_d    = due_q + ReadsBits'(passes) - ReadsBits'(r_valid_i & r_last_i);
    if (passes) begin
      line_d   = line_q + 1'b1;
      start_d  = '0;
      active_d = ~is_last_line;
    end
    if (load_i) begin
      line_d   = first_i[31:6];
      start_d  = first_i[5:3];
      active_d = 1'b1;
    end
    if (clear_i) begin
      active_d = 1'b0;
      used_d   = '0;
    end
  end

  // Bursts that are due survive the end of a list: their data still come and are counted.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      waits_q  <= 1'b0;
      used_q   <= '0;
      due_q    <= '0;
      line_q   <= '0;
      start_q  <= '0;
      last_q   <= '0;
    end else begin
      active_q <= active_d;
      waits_q  <= ar_valid_o & ~ar_ready_i;
      used_q   <= used_d;
      due_q    <= due_d;
      line_q   <= line_d;
      start_q  <= start_d;
      if (load_i) last_q <= last_i[31:3];
    end
  end

  // The lowest bits are offsets in a word, which the buffer's reader uses.
  logic unused_offsets;
  assign unused_offsets = ^{first_i[2:0], last_i[2:0]};

  // AMBA AXI §A3.2.1: an offered request must not change.
  `ASSERT(ARequestStays_A, ar_valid_o && !ar_ready_i |=> ar_valid_o && $stable({ar_addr_o, ar_len_o}))
  // No request leaves the window, whatever range was loaded.
  `ASSERT(ARequestStaysInItsWindow_A, 1'b1 |=> !(ar_valid_o) || (is_in(window_i, ar_addr_o[31:12])))
  // A burst stays in its line, so it never crosses 4 KiB (AMBA AXI §A3.4.1).
  `ASSERT(ARequestStaysInItsLine_A, 1'b1 |=> !(ar_valid_o) || ({1'b0, ar_addr_o[5:3]} + ar_len_o[3:0] <= 4'd7))
  // The buffer never overflows, so `r_ready` may always be high.
  `ASSERT(NoReadWithoutRoom_A, 1'b1 |=> used_q <= CountBits'(BufferWords))
  // The bits of `ends_q` suffice for all bursts that are due.
  `ASSERT(NoMoreReadsThanAllowed_A, 1'b1 |=> due_q <= ReadsBits'(NumReads))
  // A range is loaded only after all of the range before was requested.
  `ASSERT(ARangeWaitsForTheLast_A, 1'b1 |=> !(load_i) || (!active_q))
  // Memory answers only what was requested.
  `ASSERT(DataHaveARequest_A, 1'b1 |=> !(r_valid_i) || (due_q != '0))
endmodule
