// Requests the lines of a source range, several at a time, as far as the buffer has room for them.
//
// All reads have one id, so data come in the order of requests (AMBA AXI §A5.3). The window is checked again here, at
// the port: an address outside of it was not judged, and can only be an upset.

`include "assert.svh"

module dma_read
  import dma_pkg::*;
#(
  parameter int unsigned NumReads    = 8,    // outstanding
  parameter int unsigned BufferWords = 256,
  localparam int unsigned CountBits  = $clog2(BufferWords + 1),
  localparam int unsigned ReadsBits  = $clog2(NumReads + 1)
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        clear_i,     // a new list: the buffer is empty
  input  logic        run_i,
  input  window_t     window_i,
  // The next range, taken while not active.
  input  logic        load_i,
  input  logic [31:0] first_i,
  input  logic [31:0] last_i,
  output logic        active_o,
  // A word of the buffer becomes free.
  input  logic        frees_i,
  output logic        none_due_o,  // all that was requested has come, and no request is offered
  output logic        upset_o,

  // Read address, and what of the data counts here.
  output logic        ar_valid_o,
  input  logic        ar_ready_i,
  output logic [31:0] ar_addr_o,
  output logic [7:0]  ar_len_o,
  input  logic        r_valid_i,
  input  logic        r_last_i,
  output logic        r_end_o      // the beat is the last of its range
);
  // The line, the first word in it, and the last word of the range.
  logic [25:0] line_d, line_q;
  logic [2:0]  start_d, start_q, len;
  logic [28:0] last_q;
  logic active_d, active_q, waits_q, is_last_line, passes, is_inside;
  // Words of the buffer that are filled or due, and reads that are due.
  logic [CountBits-1:0] used_d, used_q;
  logic [ReadsBits-1:0] due_d, due_q;
  logic has_room;

  assign is_last_line = line_q == last_q[28:3];
  assign len          = (is_last_line ? last_q[2:0] : 3'd7) - start_q;
  assign is_inside    = is_in(window_i, line_q[25:6]);
  assign has_room     = (used_q <= CountBits'(BufferWords - LineWords)) & (due_q != ReadsBits'(NumReads));
  assign passes       = ar_valid_o & ar_ready_i;

  // An offered request stays, whatever happens meanwhile (AMBA AXI §A3.2.1). Room does not shrink while it waits.
  assign ar_valid_o = active_q & is_inside & ((run_i & has_room) | waits_q);
  assign ar_addr_o  = {line_q, start_q, 3'b000};
  assign ar_len_o   = {5'b0, len};
  assign active_o   = active_q;
  assign none_due_o = (due_q == '0) & ~waits_q;
  assign upset_o    = active_q & ~is_inside;

  // Whether a read that is due is the last of its range: bit 1 is the youngest.
  logic [NumReads:0] ends_q;
  always_ff @(posedge clk_i) if (passes) ends_q <= (ends_q >> 1 << 2) | (NumReads + 1)'({is_last_line, 1'b0});
  assign r_end_o = r_last_i & |(ends_q & ((NumReads+1)'(1) << due_q));

  // Lines follow each other until the one of the last word.
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

  // Reads that are due survive the end of a list: they are drained.
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

  `ASSERT(ARequestStays_A, ar_valid_o && !ar_ready_i |=> ar_valid_o && $stable({ar_addr_o, ar_len_o}))
  `ASSERT(ARequestStaysInItsWindow_A, 1'b1 |=> !(ar_valid_o) || (is_in(window_i, ar_addr_o[31:12])))
  `ASSERT(ARequestStaysInItsLine_A, 1'b1 |=> !(ar_valid_o) || ({1'b0, ar_addr_o[5:3]} + ar_len_o[3:0] <= 4'd7))
  `ASSERT(NoReadWithoutRoom_A, 1'b1 |=> used_q <= CountBits'(BufferWords))
  `ASSERT(NoMoreReadsThanAllowed_A, 1'b1 |=> due_q <= ReadsBits'(NumReads))
  `ASSERT(ARangeWaitsForTheLast_A, 1'b1 |=> !(load_i) || (!active_q))
  `ASSERT(DataHaveARequest_A, 1'b1 |=> !(r_valid_i) || (due_q != '0))
endmodule
