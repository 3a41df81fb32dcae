// Writes a stream to a range of memory that was judged before.
//
// Words are moved to their places (`dma_align`), wait in a buffer of two lines, and leave as bursts
// of at most a line (`dma_write`). A burst begins when all of its data are in the buffer: no beat
// waits for the stream, and so for none of the reads that feed the engine before it. A word whose
// length is wrong is not written, and nothing after it is either.
//
// Interface: `start_i` and `abort_i` are strobes; address and length are stable while `busy_o` is
// set. A range ends with one cycle of `done_o` or of `failed_o`. The stream has valid and ready, at
// most one word a cycle. Addresses and beats stay until they are taken. Reset forgets the range.
//
// Hardening: the states differ in at least three bits, and every other value is an error that only
// a reset ends. An end of the write that does not fit the count of the stream is an error, too. The
// counters themselves are protected by the copy outside (`told_o`).

`include "assert.svh"

module stream_writer_core
  import stream_writer_pkg::*;
#(
  // 0 builds a core that continues from an illegal state, to show that the test detects it.
  parameter bit Hardened = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // A window that cannot change any more. Without the lock nothing starts.
  input  logic             locked_i,
  input  dma_pkg::window_t window_i,

  // The range, stable while busy: its first byte and its number of bytes.
  input  logic             start_i,
  input  logic             abort_i,
  input  logic [31:0]      address_i,
  input  logic [31:0]      length_i,

  // The result. `cause_o` is valid with `failed_o` and until the next start.
  output logic             busy_o,
  // The range was written. The strobe lasts one cycle.
  output logic             done_o,
  // The range has failed. The strobe lasts one cycle.
  output logic             failed_o,
  output cause_e           cause_o,
  // The core has detected an upset. This lasts until reset.
  output logic             error_o,

  // The stream: words of eight bytes, the first byte in the lower bits. The last word has one to
  // eight bytes. An abort says that there will be no last word.
  input  logic             str_valid_i,
  output logic             str_ready_o,
  input  logic [63:0]      str_data_i,
  input  logic             str_last_i,
  input  logic [3:0]       str_bytes_i,
  input  logic             str_abort_i,

  // Memory: AXI4 of 64 bits, bursts of whole words (INCR) and one id. `ready` of responses is
  // always high.
  // Write address.
  output logic             aw_valid_o,
  input  logic             aw_ready_i,
  output logic [31:0]      aw_addr_o,
  output logic [7:0]       aw_len_o,
  // Write data.
  output logic             w_valid_o,
  input  logic             w_ready_i,
  output logic [63:0]      w_data_o,
  output logic [7:0]       w_strb_o,
  output logic             w_last_o,
  // Write response.
  input  logic             b_valid_i,
  output logic             b_ready_o,
  input  logic [1:0]       b_resp_i,

  // Outputs of the control, for comparison with a copy.
  output told_t            told_o
);
  // The buffer has two lines: one is filled while the other is written.
  localparam int unsigned BufferWords = 2 * dma_pkg::LineWords;
  localparam int unsigned PlaceBits   = $clog2(BufferWords);

  // The codes have a distance of three, and zero is none of them. Synthesis must keep the codes,
  // hence the shared register below.
  typedef enum logic [5:0] {
    // Waits for a start.
    StIdle  = 6'b001011,
    // Writes the range. It ends when all writes were acknowledged, or with an error or an abort.
    StRun   = 6'b010101,
    // The range has failed. It waits until no write is under way.
    StDrain = 6'b011110,
    // An upset was detected. Only a reset ends this state.
    StError = 6'b110011
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  cause_e cause_d, cause_q;

  logic in_idle, in_run, in_drain, is_illegal, is_upset, starts;
  assign in_idle    = state_q == StIdle;
  assign in_run     = state_q == StRun;
  assign in_drain   = state_q == StDrain;
  assign is_illegal = ~(in_idle | in_run | in_drain);

  // --- the range ---

  // The last byte of the range, and not the byte after it. A carry says that the range passes the
  // end of the address space.
  logic [31:0] last;
  logic        wraps, is_startable, is_inside;
  assign {wraps, last} = {1'b0, address_i} + {1'b0, length_i - 32'd1};
  assign is_startable  = locked_i & (length_i != '0);
  assign is_inside     = ~wraps & (address_i[31:12] >= window_i.first) & (last[31:12] <= window_i.last);
  assign starts        = in_idle & start_i & is_startable & is_inside & ~abort_i;

  // --- the stream ---

  // The bytes that have not come yet, whether the last word has come, and whether all words are in
  // the buffer.
  logic [31:0] left_d, left_q;
  logic        ended_d, ended_q, all_d, all_q;
  logic        takes, is_end, is_good, is_bad, align_ready;

  // The word with the last byte has to be marked as the last one, and no other word.
  assign is_end      = left_q <= 32'd8;
  assign is_good     = (str_last_i == is_end) & (str_bytes_i == (is_end ? left_q[3:0] : 4'd8));
  assign str_ready_o = in_run & ~ended_q & align_ready;
  assign takes       = str_valid_i & str_ready_o;
  assign is_bad      = takes & ~is_good;

  // Words with their places in memory, as the buffer takes them.
  logic        word_valid, word_ready, word_end;
  logic [63:0] word;
  logic [2:0]  word_first;
  logic [3:0]  word_bytes;
  logic [7:0]  word_strb;

  dma_align u_align (
    .clk_i, .rst_ni,
    .run_i      (in_run),
    .set_i      (starts),
    .place_i    (address_i[2:0]),
    .in_valid_i (takes & is_good),
    .in_ready_o (align_ready),
    .in_data_i  (str_data_i),
    .in_first_i (3'd0),
    .in_bytes_i (str_bytes_i),
    .in_end_i   (str_last_i),
    .out_valid_o(word_valid),
    .out_ready_i(word_ready),
    .out_data_o (word),
    .out_first_o(word_first),
    .out_bytes_o(word_bytes),
    .out_end_o  (word_end)
  );

  // Write strobes: a beat changes only the bytes of its range.
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) word_strb[i] = (3'(i) >= word_first) & (4'(i) < word_bytes);
  end

  // --- the buffer ---

  // The number of the words in the buffer, and their places: `tail` is where the next word goes, and `head` where it
  // leaves. The buffer is empty when a range begins.
  logic [PlaceBits-1:0] head, tail;
  logic [PlaceBits:0]   level;
  logic                 fills, beat_valid, beat_ready, unused_busy;
  logic [63:0]          beat_data;
  logic [7:0]           beat_strb;

  // The strobes are in a queue, which counts. The words are beside them, at the same places: the copy of the control has
  // strobes and no words.
  sync_fifo #(.Width(8), .Depth(BufferWords)) u_strobes (
    .clk_i, .rst_ni,
    .flush_i    (starts),
    .busy_o     (unused_busy),
    .level_o    (level),
    .write_at_o (tail),
    .read_at_o  (head),
    .in_valid_i (word_valid & in_run),
    .in_ready_o (word_ready),
    .in_data_i  (word_strb),
    .out_valid_o(beat_valid),
    .out_ready_i(beat_ready),
    .out_data_o (beat_strb)
  );
  assign fills = word_valid & word_ready & in_run;
  memory_cell #(.Width(64), .Depth(BufferWords)) u_words (
    .clk_i,
    .write_i     (fills),
    .write_at_i  (tail),
    .write_data_i(word),
    .read_at_i   (head),
    .read_data_o (beat_data)
  );

  // Counts of bytes. All begin anew with a range.
  always_comb begin
    left_d  = left_q - (takes ? 32'(str_bytes_i) : '0);
    ended_d = ended_q | (takes & str_last_i);
    all_d   = all_q | (fills & word_end);
    if (starts) begin
      left_d  = length_i;
      ended_d = 1'b0;
      all_d   = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q  <= '0;
      ended_q <= 1'b0;
      all_q   <= 1'b0;
    end else begin
      left_q  <= left_d;
      ended_q <= ended_d;
      all_q   <= all_d;
    end
  end

  // --- the write ---

  logic write_active, write_none_due, write_failed, write_upset, finished;

  dma_write u_write (
    .clk_i, .rst_ni,
    .clear_i     (in_idle & ~starts),
    .run_i       (in_run),
    .window_i,
    .load_i      (starts),
    .first_i     (address_i),
    .last_i      (last),
    .active_o    (write_active),
    .is_filled_i ((level >= (PlaceBits + 1)'(dma_pkg::LineWords)) | all_q),
    .none_due_o  (write_none_due),
    .failed_o    (write_failed),
    .upset_o     (write_upset),
    .beat_valid_i(beat_valid),
    .beat_ready_o(beat_ready),
    .beat_data_i (beat_data),
    .beat_strb_i (beat_strb),
    .aw_valid_o, .aw_ready_i, .aw_addr_o, .aw_len_o,
    .w_valid_o, .w_ready_i, .w_data_o, .w_strb_o, .w_last_o,
    .b_valid_i, .b_resp_i
  );
  // Responses are counted and never wait.
  assign b_ready_o = 1'b1;

  // --- control ---

  // The write has ended before all of the stream came, or with a word left: one of the counts was
  // upset.
  assign finished = ~write_active & write_none_due;
  assign is_upset = in_run & (write_upset | (finished & (~all_q | beat_valid)));

  // The first cause counts. An abort has priority over the end of a stream, and an upset over
  // everything.
  always_comb begin
    state_d = state_q;
    cause_d = cause_q;
    unique case (state_q)
      StIdle: if (start_i) begin
        state_d = starts ? StRun : StDrain;
        // The abort comes from a change of the lifecycle: the command belongs to the lifecycle
        // before.
        if (abort_i)            cause_d = CauseAbort;
        else if (!is_startable) cause_d = CauseStart;
        else if (!is_inside)    cause_d = CauseWindow;
        else                    cause_d = CauseNone;
      end
      StRun: begin
        if (abort_i) begin
          state_d = StDrain;
          cause_d = CauseAbort;
        end else if (str_abort_i) begin
          state_d = StDrain;
          cause_d = CauseStream;
        end else if (write_failed) begin
          state_d = StDrain;
          cause_d = CauseWrite;
        end else if (is_bad) begin
          state_d = StDrain;
          cause_d = CauseLength;
        end else if (finished) begin
          state_d = StIdle;
        end
      end
      StDrain: if (write_none_due) state_d = StIdle;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (is_upset) state_d = StError;
  end

  // After reset nothing is written.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cause_q <= CauseNone;
    end else begin
      cause_q <= cause_d;
    end
  end

  // Results of the range. `done_o` is set in the last cycle of the run.
  assign busy_o   = ~in_idle;
  assign done_o   = in_run & (state_d == StIdle);
  assign failed_o = in_drain & write_none_due;
  assign cause_o  = cause_q;
  assign error_o  = is_illegal;

  // Outputs that are compared with those of the copy. Strobes without a beat have no meaning and
  // are left out.
  always_comb begin
    told_o.busy      = busy_o;
    told_o.done      = done_o;
    told_o.failed    = failed_o;
    told_o.cause     = cause_o;
    told_o.error     = error_o;
    told_o.str_ready = str_ready_o;
    told_o.aw_valid  = aw_valid_o;
    told_o.aw_addr   = aw_addr_o;
    told_o.aw_len    = aw_len_o;
    told_o.w_valid   = w_valid_o;
    told_o.w_strb    = w_strb_o & {8{w_valid_o}};
    told_o.w_last    = w_last_o;
    told_o.places    = {tail, head};
  end

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // The stream passes only while a range is written, up to its last word.
  `ASSERT(NothingIsTakenUnlessItRuns_A, 1'b1 |=> !(str_ready_o) || (in_run && !ended_q))
  // A range is done only when all of its bytes came and left the buffer.
  `ASSERT(ADoneStreamIsWritten_A, 1'b1 |=> !(done_o) || (left_q == '0 && ended_q && level == '0))
  // An abort ends the range in any cycle, also in the cycle of its end.
  `ASSERT(AnAbortIsTaken_A, (abort_i || str_abort_i) && in_run |=> !in_run && !in_idle)
  // Once a burst has begun, its beats are there: memory never waits for the stream.
  `ASSERT(ABeatDoesNotWaitForTheStream_A, 1'b1 |=> !(u_write.is_open && !u_write.ended_q && in_run) || w_valid_o)
  // A word of a wrong length ends the range before it is written.
  `ASSERT(ABadWordEndsTheRange_A, is_bad |=> !in_run)
endmodule
