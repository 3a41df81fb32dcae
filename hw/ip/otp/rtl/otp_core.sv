// One-time-programmable storage without a bus: the fields of ../doc/README.md, their rules, and who may read which word.
//
// The array and the shadow's memory are outside. Three readers share the memory's port: a sequencer that needs no core,
// before all others, then the port to key slots, then the bus.

`include "assert.svh"

module otp_core
  import otp_pkg::*;
#(
  // 0 builds variants for tests that have to detect them.
  parameter bit Hardened  = 1'b1,
  parameter bit MarksLast = 1'b1,
  parameter bit Guarded   = 1'b1
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  // The array: a request stays until it is acknowledged, with what was read.
  output logic                     array_req_o,  // stays until its acknowledgement
  output logic                     array_burn_o,  // sets cells; 0 reads
  output row_t                     array_row_o,
  output cells_t                   array_cells_o,  // to be set
  input  logic                     array_ack_i,
  input  cells_t                   array_cells_i,  // of a read, with its acknowledgement

  // The shadow's memory, `otp_shadow`.
  output logic                     shadow_write_o,
  output row_t                     shadow_write_row_o,
  output code_t                    shadow_code_o,
  output row_t                     shadow_read_row_o,
  input  code_t                    shadow_code_i,  // of the row of the cycle before

  // Verdict and fields, for hardware.
  output verdict_e                 verdict_o,  // a code: any two are four bits apart
  output reason_e                  reason_o,  // of the first fault that was found
  output row_t                     reason_row_o,
  output lifecycle_e               lifecycle_o,  // of this reset; a code, too
  output logic [6:0]               floor_o,  // 0 to 64; 64 in an error
  output logic [NumSlots-1:0]      usable_o,      // root keys that are there and not revoked
  // The same for software.
  output logic [NumSlots-1:0]      revoked_o,
  output logic [NumFields-1:0]     locked_o,  // against burns: cells, latches, an error
  output logic [NumWordFields-1:0] hidden_o,
  output logic [NumWordFields-1:0] good_o,  // all words are written; not in an error
  output logic [NumWordFields-1:0] blank_o,
  output logic [7:0]               fixed_count_o, // faults that were corrected, up to 255
  output row_t                     fixed_row_o,   // of the first
  output logic                     error_o,  // in the cycle of an upset, and from then on

  // Words for a sequencer: root keys and board of a ready device. The answer comes in the next cycle.
  input  logic                     seq_req_i,
  input  row_t                     seq_row_i,
  output logic                     seq_valid_o,
  output logic                     seq_good_o,    // 0: it may not have this word
  output logic [DataBits-1:0]      seq_data_o,

  // Words for the bus; one read at a time.
  input  logic                     read_i,  // for a cycle
  input  row_t                     read_row_i,
  output logic                     read_valid_o,  // the answer, when no other reader was first
  output logic                     read_good_o,
  output logic [DataBits-1:0]      read_data_o,

  // Latches, until reset.
  input  logic                     hide_i,
  input  logic                     latch_i,
  input  logic [NumFields-1:0]     bits_i,  // of fields; zeros change nothing

  // Burns a word, or the flag of this number.
  input  logic                     data_i,          // takes the word or the number, while idle
  input  logic [DataBits-1:0]      burn_data_i,
  input  logic                     burn_i,
  input  row_t                     burn_row_i,  // the unlocking word was checked before
  output logic                     burn_refused_o,  // of the same cycle
  output logic                     idle_o,
  output result_e                  result_o,  // of the last burn

  // Sends the secret (0) or a key (1 to 4) to an engine.
  input  logic                     send_i,
  input  logic [2:0]               send_key_i,
  output logic                     send_refused_o,
  output logic                     sending_o,  // until the last word was taken, or it was cut off
  output logic                     key_valid_o,
  input  logic                     key_ready_i,
  output logic [DataBits-1:0]      key_data_o,
  output logic [2:0]               key_word_o,  // its place in the key
  output logic                     key_abort_o  // the receiver forgets what it has
);
  // --- load and burns ---
  logic load, loaded, row_blank, row_written, row_half, row_corrupted, row_fixed, flags_half, flags_fixed;  // of the row that was read
  logic flag_set, fails, upset, control_error, send_error, broken;
  row_t row;
  logic [NumFlags-1:0] flags;
  logic [2:0] flag;
  logic [DataBits-1:0] burn_data, word;
  code_t row_code;
  logic [CheckBits-1:0] word_check;
  logic word_fixed, word_broken;
  result_e refusal;  // the first rule that a command breaks
  otp_control #(.Hardened(Hardened), .MarksLast(MarksLast), .Guarded(Guarded)) u_control (
    .clk_i, .rst_ni, .fail_i (fails), .error_o (control_error),
    .array_req_o, .array_burn_o, .array_row_o, .array_cells_o, .array_ack_i, .array_cells_i,
    .load_o (load), .loaded_o (loaded), .row_o (row), .blank_o (row_blank), .written_o (row_written),
    .half_o (row_half), .corrupted_o (row_corrupted), .fixed_o (row_fixed),
    .flags_o (flags), .flags_half_o (flags_half), .flags_fixed_o (flags_fixed),
    .code_o (row_code), .code_i ({word_check, word}), .code_fixed_i (word_fixed), .code_broken_i (word_broken),
    .shadow_write_o, .shadow_code_o, .is_hidden_i (is_hidden(field_of(row))),
    .data_i, .burn_data_i, .burn_data_o (burn_data), .burn_i, .burn_row_i, .refusal_i (refusal), .refuses_o (burn_refused_o), .idle_o, .result_o,
    .flag_set_o (flag_set), .flag_o (flag)
  );
  assign shadow_write_row_o = row;
  assign fails   = upset | send_error | broken;  // none of these is left but by a reset
  assign error_o = control_error | fails;

  otp_fields #(.Hardened(Hardened)) u_fields (
    .clk_i, .rst_ni, .error_i (control_error | send_error), .upset_o (upset),
    .load_i (load), .loaded_i (loaded), .row_i (row), .blank_i (row_blank), .written_i (row_written), .half_i (row_half),
    .corrupted_i (row_corrupted), .flags_i (flags), .flags_half_i (flags_half), .flag_set_i (flag_set), .flag_i (flag),
    .hide_i, .latch_i, .bits_i,
    .verdict_o, .reason_o, .reason_row_o, .lifecycle_o, .floor_o, .revoked_o, .locked_o, .hidden_o, .good_o, .blank_o
  );
  assign usable_o = verdict_o == VerdictReady ? good_o[NumSlots-1:0] & ~revoked_o : '0;

  // --- who may do what ---
  logic is_ready, is_loading, is_open, is_provisioning;
  assign is_ready        = verdict_o == VerdictReady;
  assign is_loading      = verdict_o == VerdictLoading;
  // Debug ports are open in other lifecycles, so a secret that was read there is none.
  assign is_open         = is_ready & (lifecycle_o == LcProduction);
  assign is_provisioning = (lifecycle_o == LcTest) | (lifecycle_o == LcDevelopment);

  function automatic logic is_hidden(logic [3:0] field);
    return field < 4'(NumWordFields) && hidden_o[field];
  endfunction
  function automatic logic is_readable(logic [3:0] field);
    return field < 4'(NumWordFields) && good_o[field] && !hidden_o[field] && !is_loading && (!is_secret(field) || is_open);
  endfunction

  // The first rule that a command breaks. A hidden field cannot be burned either: whether its cells fit would tell of them.
  logic [3:0] burn_field;
  logic has_word, has_flag;
  logic [6:0] step;  // of the floor, from its row and its flag
  assign burn_field = field_of(burn_row_i);
  assign has_word   = burn_row_i >= FirstWord;
  assign step       = {4'(burn_row_i[3:0] - RowFloor[3:0]), burn_data[2:0]};
  always_comb begin
    unique case (burn_field)
      FieldLifecycle: has_flag = burn_data[2:0] < 3'd5;
      FieldRevoked:   has_flag = burn_data[2:0] < 3'd4;
      FieldLocks:     has_flag = ~burn_row_i[0] | (burn_data[2:0] < 3'd6);
      FieldFloor:     has_flag = step <= floor_o;
      default:        has_flag = 1'b0;
    endcase
    refusal = ResultNone;
    if (burn_field == FieldNone)                                  refusal = ResultOrder;
    else if (locked_o[burn_field] | is_hidden(burn_field))        refusal = ResultLocked;
    else if (burn_field != FieldLifecycle & ~is_provisioning &
             (is_secret(burn_field) | (lifecycle_o != LcProduction))) refusal = ResultLifecycle;
    else if (~has_word & (~has_flag | (burn_data[DataBits-1:3] != '0))) refusal = ResultOrder;
  end

  // --- readers of the shadow ---
  logic pending_d, pending_q, bus_grant, send_read, send_grant;
  row_t bus_row_q, send_row, read_row_q;
  typedef struct packed {logic seq, send, bus;} who_t;
  who_t who_d, who_q;  // whose word comes in this cycle
  logic [DataBits-1:0] good_word;
  assign send_grant = send_read & ~seq_req_i;
  assign bus_grant  = pending_q & ~seq_req_i & ~send_read;
  assign who_d      = '{seq: seq_req_i, send: send_grant, bus: bus_grant};
  assign pending_d  = (pending_q & ~bus_grant) | read_i;
  // Without a reader row 0, which holds no word: a secret does not stay in the memory's output.
  assign shadow_read_row_o = seq_req_i ? seq_row_i : send_read ? send_row : bus_grant ? bus_row_q : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q  <= 1'b0;
      bus_row_q  <= '0;
      who_q      <= '0;
      read_row_q <= '0;
    end else begin
      pending_q  <= pending_d;
      who_q      <= who_d;
      read_row_q <= shadow_read_row_o;
      if (read_i) bus_row_q <= read_row_i;
    end
  end

  // The same corrects the rows of the load, before which nothing is read.
  // What a reader may have is decided when the word is there: a latch that was written meanwhile counts.
  logic [3:0] read_field;
  logic readable, for_seq, was_readable_q;
  // Asked for, and there: an upset of the row between the two opens nothing.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) was_readable_q <= 1'b0;
    else         was_readable_q <= is_readable(field_of(shadow_read_row_o));
  end
  otp_secded u_secded (
    .clk_i, .rst_ni, .code_i (load ? row_code : shadow_code_i), .data_o (word), .check_o (word_check), .fixed_o (word_fixed), .broken_o (word_broken)
  );
  assign read_field   = field_of(read_row_q);
  assign readable     = was_readable_q & is_readable(read_field) & (read_row_q >= FirstWord);
  assign for_seq      = readable & is_ready & ((read_field == FieldBoard) | (read_field < 4'd4 & usable_o[read_field[1:0]]));
  assign broken       = (who_q != '0) & readable & word_broken;
  assign good_word    = readable & ~word_broken & ~error_o ? word : '0;
  assign seq_valid_o  = who_q.seq;
  assign seq_good_o   = who_q.seq & for_seq & ~error_o;
  assign seq_data_o   = seq_good_o ? good_word : '0;
  assign read_valid_o = who_q.bus;
  assign read_good_o  = who_q.bus & readable & ~error_o;
  assign read_data_o  = good_word;

  // --- the port to key slots ---
  logic send_idle, send_starts;  // one transfer at a time
  assign send_starts    = send_i & send_idle & (send_key_i < 3'd5) & is_readable(FieldSecret + {1'b0, send_key_i}) & ~error_o;
  assign send_refused_o = send_i & ~send_starts;
  assign sending_o      = ~send_idle;
  otp_send #(.Hardened(Hardened)) u_send (
    .clk_i, .rst_ni, .start_i (send_starts), .first_row_i ({4'd8 + {1'b0, send_key_i}, 3'b000}),
    .closed_i (~is_readable(field_of(send_row)) | error_o), .idle_o (send_idle), .error_o (send_error),
    .read_o (send_read), .row_o (send_row), .grant_i (send_grant), .data_i (who_q.send ? good_word : '0),
    .key_valid_o, .key_ready_i, .key_data_o, .key_word_o, .key_abort_o
  );

  // --- what was corrected ---
  logic fixes;
  logic [7:0] fixed_count_d, fixed_count_q;
  row_t fixed_row_d, fixed_row_q, now_row;
  logic load_fixes;
  assign load_fixes    = load & (row >= FirstWord ? row_fixed & (field_of(row) != FieldNone) : flags_fixed);
  assign fixes         = load_fixes | ((who_q != '0) & readable & word_fixed);
  assign now_row       = load_fixes ? row : read_row_q;
  assign fixed_count_d = fixed_count_q + 8'(fixes && fixed_count_q != '1);
  assign fixed_row_d   = fixes & (fixed_count_q == '0) ? now_row : fixed_row_q;
  // Information only.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fixed_count_q <= '0;
      fixed_row_q   <= '0;
    end else begin
      fixed_count_q <= fixed_count_d;
      fixed_row_q   <= fixed_row_d;
    end
  end
  assign fixed_count_o = fixed_count_q;
  assign fixed_row_o   = fixed_row_q;

  `ASSERT(AHiddenFieldShowsNothing_A, read_valid_o && hidden_o[read_field] && read_field < 4'(NumWordFields) |->
          read_data_o == '0 && !read_good_o)
  `ASSERT(SecretsAreForProduction_A, key_valid_o || (read_good_o && is_secret(read_field)) |-> lifecycle_o == LcProduction)
  `ASSERT(TheSequencerHasNoSecret_A, seq_good_o |-> verdict_o == VerdictReady &&
          (read_field == FieldBoard || (read_field < FieldBoard && !revoked_o[read_field[1:0]])))
  `ASSERT(OneReaderAtATime_A, $onehot0(who_d))
  `ASSERT(ALockedFieldIsNotBurned_A, $rose(array_burn_o) && !$past(error_o) |-> !u_fields.held_q.locks[field_of(array_row_o)])
  `ASSERT(ErrorShowsNothing_A, error_o |-> !seq_good_o && !read_good_o && !key_valid_o && (usable_o == '0 || broken))
endmodule
