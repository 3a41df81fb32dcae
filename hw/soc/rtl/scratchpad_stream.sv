// Streams bytes of the scratchpad to an engine: data that the root of trust has copied there and
// judged.
//
// DMA reads the host's memory only, which may change after it was judged, and the core would spend
// ten cycles a word. This block reads only the scratchpad, and feeds only one engine. It has three
// registers. 0x0 `source` is the offset of the first byte, a multiple of four. 0x4 `count` starts a
// message of so many bytes. 0x8 `status` has a bit that says that the engine has not taken all of
// the message, and a write to it ends a message early. A write at another time, and a range that is
// not in the scratchpad, are errors.
//
// A message is words of eight bytes, the first byte in the lower bits. The last word has none to
// eight, and its other bytes are zero, so that no byte after the message leaves the scratchpad.
//
// Timing: a word takes two reads of the scratchpad, so it takes two cycles with a memory that
// grants at once. Reset ends a message. Nothing here is hardened.

`include "assert.svh"

module scratchpad_stream
  import hartlock_axi_pkg::*;
#(
  // Bytes of the scratchpad, as a power of two, at most 16.
  parameter int unsigned ScratchBits = 16,
  // Words of eight bytes that are read ahead, a power of two.
  parameter int unsigned Depth       = 4,
  localparam int unsigned WordBits   = ScratchBits - 2
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // The registers, AXI4-Lite.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // The scratchpad: words of 32 bits, answered in the order of the requests.
  output logic                scratch_req_o,
  input  logic                scratch_gnt_i,
  output logic [WordBits-1:0] scratch_word_o,
  input  logic                scratch_rvalid_i,
  input  logic [31:0]         scratch_rdata_i,

  // The message, with valid and ready. `str_abort_o` says that there will be no last word.
  output logic                str_valid_o,
  input  logic                str_ready_i,
  output logic [63:0]         str_data_o,
  output logic                str_last_o,
  output logic [3:0]          str_bytes_o,
  output logic                str_abort_o
);
  // Offsets of the registers.
  localparam logic [11:0] Source = 12'h000;
  localparam logic [11:0] Count  = 12'h004;
  localparam logic [11:0] Status = 12'h008;
  // Sizes of counters: words of eight bytes in the scratchpad, and words that are kept.
  localparam int unsigned PairBits = ScratchBits - 3;
  localparam int unsigned RoomBits = $clog2(Depth + 1);

  // --- registers ---

  logic                   write, unused_read, write_err, is_good_source, is_good_count, starts, aborts;
  logic [11:0]            write_addr, read_addr;
  logic [31:0]            write_data, read_data;
  logic [WordBits-1:0]    source_q;
  logic                   busy_q;
  logic [ScratchBits-1:0] room, last;

  // Each access takes one cycle, and a write of a partial word is an error.
  axi_lite_registers u_registers (
    .clk_i,
    .rst_ni,
    .axil_i,
    .axil_o,
    .write_o      (write),
    .write_addr_o (write_addr),
    .write_data_o (write_data),
    .write_err_i  (write_err),
    .read_o       (unused_read),
    .read_addr_o  (read_addr),
    .read_data_i  (read_data),
    .read_err_i   (read_addr != Status)
  );

  // The last byte of the scratchpad and the last byte of a message, both counted from the source
  // on. A message of the whole scratchpad is one byte longer than the register can say.
  assign room           = ~{source_q, 2'b00};
  assign last           = write_data[ScratchBits-1:0] - ScratchBits'(write_data != '0);
  assign is_good_source = write_addr == Source && !busy_q && write_data[1:0] == '0 && write_data[31:ScratchBits] == '0;
  assign is_good_count  = write_addr == Count && !busy_q && last <= room && write_data[31:ScratchBits] == '0;
  assign write_err      = !is_good_source && !is_good_count && write_addr != Status;
  assign starts         = write & is_good_count;
  assign aborts         = write & (write_addr == Status);
  assign read_data      = {31'd0, busy_q};

  // --- words that are read ---

  // The next word of 32 bits. After the last word of the scratchpad the first one follows, of which
  // no byte is shown.
  logic [WordBits-1:0] request_q;
  // Of the message: words that are not requested, words that are not taken, bytes of the last one.
  logic [PairBits-1:0] requests_q, rest_q;
  logic [3:0]          bytes_q;
  // Requests and answers alternate: the lower half, the upper half.
  logic                half_q, answer_half_q, gives_up_q, has_requests_q;
  logic [31:0]         lower_q;
  // Words that are requested or kept, and words that are kept. A late answer belongs to the message
  // that was given up.
  logic [RoomBits-1:0] claimed_q, kept;
  logic [63:0]         kept_word;
  logic                claims, arrives, takes, is_quiet, forgets, has_word;
  logic [2:0]          last_bytes;

  assign scratch_req_o  = has_requests_q & (half_q | (~gives_up_q & (claimed_q < RoomBits'(Depth))));
  assign scratch_word_o = request_q;
  assign claims         = scratch_req_o & scratch_gnt_i & ~half_q;
  assign arrives        = scratch_rvalid_i & answer_half_q;

  assign str_valid_o = busy_q & ~gives_up_q & has_word;
  assign str_last_o  = rest_q == '0;
  assign str_bytes_o = str_last_o ? bytes_q : 4'd8;
  assign str_abort_o = aborts & busy_q;
  assign takes       = str_valid_o & str_ready_i & ~aborts;
  // In the last word the bytes after the message are zero.
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) str_data_o[8*i+:8] = 4'(i) < str_bytes_o ? kept_word[8*i+:8] : '0;
  end

  // No answer is due.
  assign is_quiet   = ~has_requests_q & (claimed_q == kept);
  assign last_bytes = write_data[2:0];

  // A message lasts from the write of its length to the cycle in which the engine takes its last
  // word, or after an abort to the cycle in which the last answer has come.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      source_q       <= '0;
      busy_q         <= 1'b0;
      gives_up_q     <= 1'b0;
      has_requests_q <= 1'b0;
      request_q      <= '0;
      requests_q     <= '0;
      rest_q         <= '0;
      bytes_q        <= '0;
      half_q         <= 1'b0;
    end else begin
      if (write && is_good_source) source_q <= write_data[ScratchBits-1:2];
      if (scratch_req_o && scratch_gnt_i) begin
        half_q    <= ~half_q;
        request_q <= request_q + 1'b1;
        if (half_q) begin
          requests_q     <= requests_q - 1'b1;
          has_requests_q <= (requests_q != '0) & ~gives_up_q;
        end
      end
      if (takes) begin
        rest_q <= rest_q - 1'b1;
        if (str_last_o) busy_q <= 1'b0;
      end
      // Both halves of a word are requested even after an abort, so that answers keep alternating.
      if (gives_up_q) begin
        if (!half_q)  has_requests_q <= 1'b0;
        if (is_quiet) {gives_up_q, busy_q} <= '0;
      end else if (aborts && busy_q) begin
        gives_up_q <= 1'b1;
      end
      if (starts) begin
        busy_q         <= 1'b1;
        has_requests_q <= 1'b1;
        request_q      <= source_q;
        // The number of whole words before the last one. An empty message has a last word, too.
        requests_q     <= last[ScratchBits-1:3];
        rest_q         <= last[ScratchBits-1:3];
        bytes_q        <= {write_data != '0 && last_bytes == '0, last_bytes};
      end
    end
  end

  // Answers become words of eight bytes, which wait in a queue for the engine. Places are claimed before a word is
  // requested, so the queue is never full when it arrives. Words of a message that was given up are dropped when its
  // last answer has come.
  logic unused_busy, unused_ready;
  logic [$clog2(Depth)-1:0] unused_write_at, unused_read_at;
  assign forgets = gives_up_q & is_quiet;
  sync_fifo #(.Width(64), .Depth(Depth)) u_words (
    .clk_i,
    .rst_ni,
    .flush_i     (forgets),
    .busy_o      (unused_busy),
    .level_o     (kept),
    .write_at_o  (unused_write_at),
    .read_at_o   (unused_read_at),
    .in_valid_i  (arrives),
    .in_ready_o  (unused_ready),
    .in_data_i   ({scratch_rdata_i, lower_q}),
    .out_valid_o (has_word),
    .out_ready_i (takes),
    .out_data_o  (kept_word)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answer_half_q <= 1'b0;
      lower_q       <= '0;
      claimed_q     <= '0;
    end else begin
      if (scratch_rvalid_i) begin
        answer_half_q <= ~answer_half_q;
        if (!answer_half_q) lower_q <= scratch_rdata_i;
      end
      claimed_q <= forgets ? '0 : claimed_q + RoomBits'(claims) - RoomBits'(takes);
    end
  end

  // An offered word does not change until it is taken, unless the message is aborted.
  `ASSERT(OffersStay_A, str_valid_o && !str_ready_i && !aborts |=> str_valid_o && $stable(str_data_o))
  // No word is written over one that waits.
  `ASSERT(WordsHaveRoom_A, arrives |-> kept < claimed_q)
  // The scratchpad is read only for a message that software started.
  `ASSERT(NothingIsReadWithoutAMessage_A, scratch_req_o |-> busy_q)
  // After an abort the engine gets nothing more.
  `ASSERT(AnAbortOffersNothing_A, gives_up_q |-> !str_valid_o)
  // No byte after the message leaves the scratchpad.
  `ASSERT(TheRestIsZero_A, str_valid_o && str_bytes_o < 4'd8 |-> str_data_o[63:56] == '0)
endmodule
