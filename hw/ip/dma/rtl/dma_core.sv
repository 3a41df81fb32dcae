// Reads the ranges of a list once, and gives what it read to several sinks and to a write.
//
// A list is copied and judged as a whole before the first beat (`dma_list`). Then lines are read
// ahead into a buffer (`dma_read`), leave it in order as one stream (`dma_stream`), and are written
// (`dma_write`). An error, an abort or an upset ends the list: the sinks get `sink_abort_o` and
// never a last word. Requests that are under way are completed by the rules of the bus, and the
// list ends when the bus is quiet.
//
// Interface: `start_i` and `abort_i` are strobes. The inputs of the list are stable while `busy_o`
// is set. A list ends with one cycle of `done_o` or of `failed_o`. The core moves at most one word
// of eight bytes a cycle; reads of ranges from the buffer take some of these cycles. Reset leads to
// `StIdle` with an empty buffer, and forgets requests that are under way.
//
// Hardening: the states differ in at least three bits, and every other value is an error that only
// a reset ends. The windows are checked again at the port to memory, so an upset of an address is
// an error, too. Data, counters and the list in the buffer are not redundant.

`include "assert.svh"

module dma_core
  import dma_pkg::*;
#(
  // Number of sinks, bursts of reads that may be outstanding, and bytes of the scratchpad as a
  // power of two (at most 16).
  parameter int unsigned NumSinks    = 3,
  parameter int unsigned NumReads    = 8,
  parameter int unsigned ScratchBits = 16,
  // 0 builds a core that continues from an illegal state, to show that the test detects it.
  parameter bit          Hardened    = 1'b1,
  localparam int unsigned WordBits   = ScratchBits - 2
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // Windows that cannot change any more. Without the lock nothing starts.
  input  logic                   locked_i,
  input  window_t                source_i,
  input  window_t                destination_i,

  // The list: a place in units of 1 KiB, its number of descriptors, the sinks that get the message,
  // and whether it is written. They are stable while busy.
  input  logic                   start_i,
  input  logic                   abort_i,
  input  logic [ScratchBits-11:0] list_i,
  input  logic [6:0]             count_i,
  input  logic [7:0]             sinks_i,
  input  logic                   writes_i,

  // The result. `cause_o` and `index_o` are valid with `failed_o` and until the next start.
  output logic                   busy_o,
  // The list was carried out. The strobe lasts one cycle.
  output logic                   done_o,
  // The list has failed. The strobe lasts one cycle.
  output logic                   failed_o,
  output cause_e                 cause_o,
  output logic [IndexBits-1:0]   index_o,
  // The core has detected an upset. This lasts until reset.
  output logic                   error_o,

  // The scratchpad: a request stays until its grant, and words come in the order of requests.
  output logic                   scratch_req_o,
  input  logic                   scratch_gnt_i,
  output logic [WordBits-1:0]    scratch_word_o,
  input  logic                   scratch_rvalid_i,
  input  logic [31:0]            scratch_rdata_i,
  input  logic                   scratch_err_i,

  // The sinks: all see the same word, and each takes it when it is ready.
  output logic [NumSinks-1:0]    sink_valid_o,
  input  logic [NumSinks-1:0]    sink_ready_i,
  output logic [63:0]            sink_data_o,
  output logic                   sink_last_o,
  output logic [3:0]             sink_bytes_o,
  output logic                   sink_abort_o,

  // Memory: AXI4 of 64 bits, bursts of whole words (INCR) and one id. `ready` of both responses is
  // always high.
  // Read address.
  output logic                   ar_valid_o,
  input  logic                   ar_ready_i,
  output logic [31:0]            ar_addr_o,
  output logic [7:0]             ar_len_o,
  // Read data.
  input  logic                   r_valid_i,
  output logic                   r_ready_o,
  input  logic [63:0]            r_data_i,
  input  logic [1:0]             r_resp_i,
  input  logic                   r_last_i,
  // Write address.
  output logic                   aw_valid_o,
  input  logic                   aw_ready_i,
  output logic [31:0]            aw_addr_o,
  output logic [7:0]             aw_len_o,
  // Write data.
  output logic                   w_valid_o,
  input  logic                   w_ready_i,
  output logic [63:0]            w_data_o,
  output logic [7:0]             w_strb_o,
  output logic                   w_last_o,
  // Write response.
  input  logic                   b_valid_i,
  output logic                   b_ready_o,
  input  logic [1:0]             b_resp_i
);
  // The codes have a distance of three, and zero is none of them. Synthesis must keep the codes,
  // hence the shared register below.
  typedef enum logic [5:0] {
    // Waits for a start.
    StIdle  = 6'b001011,
    // Copies the list and judges it. It ends with the last word, a refusal, or an abort.
    StCopy  = 6'b010101,
    // Moves data. It ends when all sinks have the last word, or with an error or an abort.
    StRun   = 6'b011110,
    // The list has failed. It waits until no request is under way.
    StDrain = 6'b100110,
    // An upset was detected. Only a reset ends this state.
    StError = 6'b110011
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  cause_e cause_d, cause_q;
  logic [IndexBits-1:0] index_d, index_q;

  logic in_idle, in_copy, in_run, in_drain, is_illegal, is_upset, is_quiet, clear, starts;
  assign in_idle    = state_q == StIdle;
  assign in_copy    = state_q == StCopy;
  assign in_run     = state_q == StRun;
  assign in_drain   = state_q == StDrain;
  assign is_illegal = ~(in_idle | in_copy | in_run | in_drain);

  // --- the list ---

  // Results of the copy. `kept` is the number of descriptors that move something.
  logic list_done, list_refused, list_idle, put;
  logic [IndexBits:0] put_at, kept;
  range_t put_range;
  cause_e list_cause;
  logic [IndexBits-1:0] list_index;
  logic is_startable;

  // A sink that does not exist cannot be selected, because nobody would take its words.
  assign is_startable = locked_i & ((sinks_i >> NumSinks) == '0) & (count_i <= 7'(MaxDescriptors));
  assign starts       = in_idle & start_i & is_startable;
  assign clear        = starts;

  // Copy and judgement, before anything is read.
  dma_list #(.ScratchBits(ScratchBits)) u_list (
    .clk_i, .rst_ni,
    .start_i      (clear),
    .run_i        (in_copy),
    .list_i, .count_i, .writes_i, .source_i, .destination_i,
    .req_o        (scratch_req_o),
    .gnt_i        (scratch_gnt_i),
    .word_o       (scratch_word_o),
    .rvalid_i     (scratch_rvalid_i),
    .rdata_i      (scratch_rdata_i),
    .err_i        (scratch_err_i),
    .put_o        (put),
    .put_at_o     (put_at),
    .put_range_o  (put_range),
    .kept_o       (kept),
    .done_o       (list_done),
    .refused_o    (list_refused),
    .cause_o      (list_cause),
    .index_o      (list_index),
    .idle_o       (list_idle)
  );

  // --- the buffer ---

  // The words that are in the buffer, and where: `tail_q` is the place of the next one that comes
  // and `head_q` of the next one that leaves. Both wrap with the upper half of the memory.
  logic [7:0] head_q, tail_q;
  logic [8:0] level_d, level_q;
  logic       reads_data, fills_data;
  logic [69:0] held;
  logic [8:0]  read_at;
  logic        reads;
  range_t      held_range;
  logic        r_failed, r_end;

  // Memory answered a beat with an error (AMBA AXI §A3.4.4). The error is stored with the beat.
  assign r_failed   = r_resp_i != 2'b00;
  assign fills_data = r_valid_i & ~in_copy;

  // Ranges are put while no data come, so one port for writes is enough.
  dma_buffer u_buffer (
    .clk_i, .rst_ni,
    .write_i     (put | fills_data),
    .write_at_i  (put ? {2'b00, put_at} : {1'b1, tail_q}),
    .write_data_i(put ? put_range : {4'b0, r_end, r_failed, r_data_i}),
    .read_i      (reads),
    .read_at_i   (read_at),
    .read_data_o (held)
  );
  assign held_range = range_t'(held);

  // --- ranges: one is read ahead, one is moved ---

  // Purposes of a read of the buffer, as requested (`_d`) and, in the next cycle, of its output
  // (`_q`).
  logic is_ahead_d, is_ahead_q, is_source_d, is_source_q, is_target_d, is_target_q, is_word_d, is_word_q;
  // `ahead_q` counts the ranges whose reads are requested, `moved_q` those whose data are moved.
  logic [IndexBits:0] ahead_q, moved_q;
  logic has_source_d, has_source_q, has_target_d, has_target_q, is_free, all_read;
  logic read_active, read_none_due, read_upset, write_active, write_none_due, write_failed, write_upset;
  logic wants_source, wants_target, wants_ahead, wants_word;
  logic word_ready, word_good, ends, is_empty_word, empty_q;

  // The next read of the buffer may begin when its output is free: it holds no word, or one that
  // moves in this cycle.
  assign is_free      = in_run & (~is_word_q | word_ready) & ~is_empty_word;
  // The word that is held is the last of its range, so nothing more of this range is to be read.
  assign ends         = is_word_q & held[65];
  // Order of reads: first the range that moves next, then its destination, then the range whose
  // lines are requested next, then data. So the requests stay ahead of the data.
  assign wants_source = (~has_source_q | ends) & ~is_source_q & (moved_q != kept);
  assign wants_target = writes_i & has_source_q & ~ends & ~has_target_q & ~is_target_q & ~write_active;
  assign wants_ahead  = ~read_active & ~is_ahead_q & (ahead_q != kept);
  assign wants_word   = has_source_q & ~ends & (has_target_q | ~writes_i) & (level_q != '0);
  assign is_source_d  = is_free & wants_source;
  assign is_target_d  = is_free & ~wants_source & wants_target;
  assign is_ahead_d   = is_free & ~wants_source & ~wants_target & wants_ahead;
  assign reads_data   = is_free & ~wants_source & ~wants_target & ~wants_ahead & wants_word;
  assign reads        = is_source_d | is_target_d | is_ahead_d | reads_data;
  assign read_at      = reads_data  ? {1'b1, head_q} :
                        is_source_d ? {2'b00, moved_q[IndexBits-1:0], 1'b0} :
                        // The destination belongs to the range whose source was loaded before.
                        is_target_d ? {2'b00, IndexBits'(moved_q - 1'b1), 1'b1} :
                                      {2'b00, ahead_q[IndexBits-1:0], 1'b0};
  // All data of every range that was requested are in the buffer, also those of the range that is
  // moved.
  assign all_read     = ~read_active & read_none_due;

  // The range that is moved: the offsets of its first and of its last byte in their words.
  logic [2:0] first_q, stop_q;
  logic [3:0] word_bytes;
  logic       is_final;

  // A list without bytes is a message without bytes: one last word of no bytes.
  assign is_empty_word = empty_q;
  // A word that memory answered with an error goes to nobody.
  assign word_good     = (is_word_q & ~held[64]) | is_empty_word;
  assign word_bytes    = is_empty_word ? 4'd0 : {1'b0, ends ? stop_q : 3'd7} - {1'b0, first_q} + 4'd1;
  assign is_final      = is_empty_word | (ends & (moved_q == kept));

  // State of the buffer's output, and of the range that is moved. It all ends with the list.
  always_comb begin
    is_word_d    = reads_data | (is_word_q & ~word_ready);
    has_source_d = (has_source_q & ~(ends & word_ready)) | is_source_q;
    has_target_d = (has_target_q & ~(ends & word_ready)) | is_target_q;
    level_d      = level_q + 9'(fills_data) - 9'(reads_data);
    if (!in_run) begin
      is_word_d    = 1'b0;
      has_source_d = 1'b0;
      has_target_d = 1'b0;
    end
    if (clear) level_d = '0;
  end

  // Registers of control. A new list clears pointers and counters, because an earlier list may have
  // been cut off.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {head_q, tail_q, level_q}                          <= '0;
      {ahead_q, moved_q}                                 <= '0;
      {is_ahead_q, is_source_q, is_target_q, is_word_q} <= '0;
      {has_source_q, has_target_q, empty_q}              <= '0;
    end else begin
      level_q      <= level_d;
      head_q       <= clear ? '0 : head_q + 8'(reads_data);
      tail_q       <= clear ? '0 : tail_q + 8'(fills_data);
      ahead_q      <= clear ? '0 : ahead_q + 7'(is_ahead_d);
      moved_q      <= clear ? '0 : moved_q + 7'(is_source_d);
      is_ahead_q   <= is_ahead_d;
      is_source_q  <= is_source_d;
      is_target_q  <= is_target_d;
      is_word_q    <= is_word_d;
      has_source_q <= has_source_d;
      has_target_q <= has_target_d;
      empty_q      <= (in_copy & list_done & (kept == '0)) | (empty_q & in_run & ~word_ready);
    end
  end

  // Only the first word of a range begins in its middle, and only the last one ends there.
  always_ff @(posedge clk_i) begin
    if (is_source_q) begin
      first_q <= held_range.first[2:0];
      stop_q  <= held_range.last[2:0];
    end else if (is_word_q & word_ready) begin
      first_q <= '0;
    end
  end

  // --- reads ---

  // Reads are requested ahead of the data that move, as far as the buffer has room.
  dma_read #(.NumReads(NumReads), .BufferWords(256)) u_read (
    .clk_i, .rst_ni,
    .clear_i   (clear),
    .run_i     (in_run),
    .window_i  (source_i),
    .load_i    (is_ahead_q & in_run),
    .first_i   (held_range.first),
    .last_i    (held_range.last),
    .active_o  (read_active),
    .frees_i   (reads_data),
    .none_due_o(read_none_due),
    .upset_o   (read_upset),
    .ar_valid_o, .ar_ready_i, .ar_addr_o, .ar_len_o,
    .r_valid_i, .r_last_i,
    .r_end_o   (r_end)
  );
  // The buffer has room for every beat that was requested, so data never wait.
  assign r_ready_o = 1'b1;

  // --- the stream ---

  // Beats of the write, each with the bytes of memory that it changes.
  logic beat_valid, beat_ready, finished;
  logic [63:0] beat_data;
  logic [7:0]  beat_strb;

  // The same words go to the sinks and to the write.
  dma_stream #(.NumSinks(NumSinks)) u_stream (
    .clk_i, .rst_ni,
    .clear_i      (clear),
    .run_i        (in_run),
    .sinks_i      (sinks_i[NumSinks-1:0]),
    .writes_i,
    .word_valid_i (word_good),
    .word_ready_o (word_ready),
    .word_i       (held[63:0]),
    .word_first_i (is_empty_word ? 3'd0 : first_q),
    .word_bytes_i (word_bytes),
    .word_end_i   (ends),
    .word_final_i (is_final),
    .sink_valid_o, .sink_ready_i, .sink_data_o, .sink_last_o, .sink_bytes_o,
    .is_written_i (~write_active & write_none_due),
    .finished_o   (finished),
    .place_valid_i(is_target_q),
    .place_i      (held_range.first[2:0]),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_data_o  (beat_data),
    .beat_strb_o  (beat_strb)
  );

  // --- the write ---

  // A line is written at once, when the buffer has all of it.
  dma_write u_write (
    .clk_i, .rst_ni,
    .clear_i     (clear),
    .run_i       (in_run),
    .window_i    (destination_i),
    .load_i      (is_target_q & in_run),
    .first_i     (held_range.first),
    .last_i      (held_range.last),
    .active_o    (write_active),
    .is_filled_i ((level_q >= 9'(LineWords)) | all_read),
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

  // The list may end when no request of any part is under way. A check of the windows counts while
  // the list runs; later an address may lie past its range.
  assign is_quiet = list_idle & read_none_due & write_none_due;
  assign is_upset = in_run & (read_upset | write_upset);

  // The first cause counts. An abort has priority over the end of a list, and an upset over
  // everything.
  always_comb begin
    state_d = state_q;
    cause_d = cause_q;
    index_d = index_q;
    unique case (state_q)
      StIdle: if (start_i) begin
        state_d = is_startable ? StCopy : StDrain;
        cause_d = is_startable ? CauseNone : CauseStart;
        index_d = '0;
        // The abort comes from a change of the lifecycle: the command belongs to the lifecycle
        // before.
        if (abort_i) begin
          state_d = StDrain;
          cause_d = CauseAbort;
        end
      end
      StCopy: begin
        if (abort_i) begin
          state_d = StDrain;
          cause_d = CauseAbort;
          index_d = list_index;
        end else if (list_refused) begin
          state_d = StDrain;
          cause_d = list_cause;
          index_d = list_index;
        end else if (list_done) begin
          state_d = StRun;
        end
      end
      StRun: begin
        if (is_source_q) index_d = held_range.index;
        if (abort_i) begin
          state_d = StDrain;
          cause_d = CauseAbort;
        end else if (write_failed) begin
          state_d = StDrain;
          cause_d = CauseWrite;
        end else if (is_word_q && held[64]) begin
          state_d = StDrain;
          cause_d = CauseRead;
        end else if (finished) begin
          state_d = StIdle;
        end
      end
      StDrain: if (is_quiet) state_d = StIdle;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (is_upset) state_d = StError;
  end

  // After reset there is no list, and no request is under way.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cause_q <= CauseNone;
      index_q <= '0;
    end else begin
      cause_q <= cause_d;
      index_q <= index_d;
    end
  end

  // The abort reaches the sinks in the cycle in which nothing is offered to them any more.
  assign busy_o       = ~in_idle;
  assign done_o       = in_run & (state_d == StIdle);
  assign failed_o     = in_drain & is_quiet;
  assign cause_o      = cause_q;
  assign index_o      = index_q;
  assign error_o      = is_illegal;
  assign sink_abort_o = in_drain | is_illegal;

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // In an error the sinks get nothing, and forget what they have.
  `ASSERT(ErrorReadsAndWritesNothing_A, 1'b1 |=> !(error_o) || (sink_valid_o == '0 && sink_abort_o))
  // Memory and sinks see nothing of a list that was not judged as a whole.
  `ASSERT(NothingMovesBeforeTheJudgement_A, 1'b1 |=> !(in_copy) || (!ar_valid_o && !aw_valid_o && sink_valid_o == '0))
  // Nothing is copied, and so nothing is read, before the windows are locked.
  `ASSERT(NothingStartsWithoutALock_A, in_idle && !locked_i |=> !in_copy)
  // An abort is never lost, also in the cycle of a start or of the end of a list.
  `ASSERT(AnAbortIsTaken_A, abort_i && (in_copy || in_run || (in_idle && start_i)) |=> sink_abort_o)
  // A list that fails tells the sinks, and has a cause.
  `ASSERT(AFailedListAborts_A, 1'b1 |=> !(failed_o) || (sink_abort_o && cause_o != CauseNone))
  // When a list is done nothing of it is under way, so its results are complete.
  `ASSERT(ADoneListIsQuiet_A, done_o |=> read_none_due && write_none_due && list_idle)
  // A beat with an error ends the list before it can reach a sink or the write.
  `ASSERT(ABadBeatGoesNowhere_A, is_word_q && held[64] |=> !in_run)
endmodule
