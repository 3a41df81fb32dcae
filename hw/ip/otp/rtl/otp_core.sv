// One-time-programmable storage without a bus: the fields of ../doc/README.md, their rules, and who
// may read which word.
//
// The array and the memory of the shadow are outside. Three readers share the memory's read port: a
// sequencer that needs no core has priority over the port to key slots, and that over the bus.
//
// Latency: the load takes two cycles a row with an array that answers in the cycle of the request,
// and one more for each cycle that the array takes longer. A sequencer has its word in the cycle
// after its request, and may ask in every cycle. The bus has its word in the second cycle after its
// request, or later when another reader was served before. Reset begins a load; until its end
// nothing is readable.
//
// Hardening: an error of any part (`error_o`) closes all fields, withdraws the request to the array
// and lasts until reset. What a reader may have is judged when it asks and again when the word is
// there, so a single upset of the row between the two opens nothing. Words in the shadow keep their
// check bits. The reason and the count of corrections decide nothing and are not redundant.

`include "assert.svh"

module otp_core
  import otp_pkg::*;
#(
  // Each parameter at 0 builds a variant that the tests have to detect. Without `Hardened` an
  // illegal state is no error. `MarksLast` and `Guarded` are those of `otp_control` and
  // `otp_decode`.
  parameter bit Hardened  = 1'b1,
  parameter bit MarksLast = 1'b1,
  parameter bit Guarded   = 1'b1
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  // The array. A request stays with all its fields until it is acknowledged.
  output logic                     array_req_o,
  // 1 sets the cells of `array_cells_o`, 0 reads the row.
  output logic                     array_burn_o,
  output row_t                     array_row_o,
  output cells_t                   array_cells_o,
  input  logic                     array_ack_i,
  // The cells that were read. They are valid with the acknowledgement of a read.
  input  cells_t                   array_cells_i,

  // The shadow's memory, `otp_shadow`. A word that is read comes in the next cycle.
  output logic                     shadow_write_o,
  output row_t                     shadow_write_row_o,
  output code_t                    shadow_code_o,
  output row_t                     shadow_read_row_o,
  input  code_t                    shadow_code_i,

  // Verdict and fields, for hardware. Verdict and lifecycle are codes of which any two differ in
  // four bits, so that a receiver can detect an upset of the wires.
  output verdict_e                 verdict_o,
  // The first fault that was found, and its row. They decide nothing.
  output reason_e                  reason_o,
  output row_t                     reason_row_o,
  // The lifecycle as it was at this reset. A step that is burned now counts from the next reset on.
  output lifecycle_e               lifecycle_o,
  // The floor of security versions, 0 to 64. In an error it is 64, which refuses every lower
  // version.
  output logic [6:0]               floor_o,
  // Root keys that are written, not revoked and part of a ready device.
  output logic [NumSlots-1:0]      usable_o,
  // The same for software. A field is locked against burns by its cells, by a latch or by an error.
  // It is good when all its words are written, and never in an error.
  output logic [NumSlots-1:0]      revoked_o,
  output logic [NumFields-1:0]     locked_o,
  output logic [NumWordFields-1:0] hidden_o,
  output logic [NumWordFields-1:0] good_o,
  output logic [NumWordFields-1:0] blank_o,
  // The number of faults that were corrected since reset, up to 255, and the row of the first of
  // them.
  output logic [7:0]               fixed_count_o,
  output row_t                     fixed_row_o,
  // An upset was found in this cycle or before. It lasts until reset.
  output logic                     error_o,

  // Words for a sequencer: root keys and board of a ready device. The answer comes in the cycle
  // after the request. Without `seq_good_o` the sequencer may not have this word, and the data are
  // zero.
  input  logic                     seq_req_i,
  input  row_t                     seq_row_i,
  output logic                     seq_valid_o,
  output logic                     seq_good_o,
  output logic [DataBits-1:0]      seq_data_o,

  // Words for the bus. A read is a strobe of one cycle, and the next one has to wait for the
  // answer, which comes as soon as no other reader has priority.
  input  logic                     read_i,
  input  row_t                     read_row_i,
  output logic                     read_valid_o,
  output logic                     read_good_o,
  output logic [DataBits-1:0]      read_data_o,

  // Latches, until reset: `hide_i` closes fields to readers and `latch_i` to burns. A bit of
  // `bits_i` is a field, and zeros change nothing.
  input  logic                     hide_i,
  input  logic                     latch_i,
  input  logic [NumFields-1:0]     bits_i,

  // Burns a word, or the flag of this number. `data_i` takes the word or the number while the block
  // is idle. `burn_i` begins the burn; the caller has checked the unlocking word before.
  input  logic                     data_i,
  input  logic [DataBits-1:0]      burn_data_i,
  input  logic                     burn_i,
  input  row_t                     burn_row_i,
  // The command of the same cycle was refused. The reason is in `result_o` from the next cycle on.
  output logic                     burn_refused_o,
  output logic                     idle_o,
  // The result of the last burn, or `ResultBusy`.
  output result_e                  result_o,

  // Sends the secret (number 0) or a key (1 to 4) to an engine. `sending_o` is set until the last
  // word was taken or the transfer was cut off.
  input  logic                     send_i,
  input  logic [2:0]               send_key_i,
  output logic                     send_refused_o,
  output logic                     sending_o,
  // Words of the key: valid and ready, with the place of the word in the key. On `key_abort_o` the
  // receiver forgets the words that it has.
  output logic                     key_valid_o,
  input  logic                     key_ready_i,
  output logic [DataBits-1:0]      key_data_o,
  output logic [2:0]               key_word_o,
  output logic                     key_abort_o
);
  // --- load and burns ---
  // The row that was read, as `otp_control` found it, and its part in a burn.
  logic load, loaded, row_blank, row_written, row_half, row_corrupted, row_fixed, flags_half, flags_fixed;
  logic flag_set, fails, upset, control_error, send_error, broken;
  row_t row;
  logic [NumFlags-1:0] flags;
  logic [2:0] flag;
  logic [DataBits-1:0] burn_data, word;
  code_t row_code;
  logic [CheckBits-1:0] word_check;
  logic word_fixed, word_broken;
  // The first rule that a command breaks.
  result_e refusal;
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
  // A row is written under the number that the control has, so a load cannot change rows of the
  // shadow in between.
  assign shadow_write_row_o = row;
  // Each of these leads to an error of the control, which only a reset ends.
  assign fails   = upset | send_error | broken;
  assign error_o = control_error | fails;

  otp_fields #(.Hardened(Hardened)) u_fields (
    .clk_i, .rst_ni, .error_i (control_error | send_error), .upset_o (upset),
    .load_i (load), .loaded_i (loaded), .row_i (row), .blank_i (row_blank), .written_i (row_written), .half_i (row_half),
    .corrupted_i (row_corrupted), .flags_i (flags), .flags_half_i (flags_half), .flag_set_i (flag_set), .flag_i (flag),
    .hide_i, .latch_i, .bits_i,
    .verdict_o, .reason_o, .reason_row_o, .lifecycle_o, .floor_o, .revoked_o, .locked_o, .hidden_o, .good_o, .blank_o
  );
  // Only a ready device has usable root keys.
  assign usable_o = verdict_o == VerdictReady ? good_o[NumSlots-1:0] & ~revoked_o : '0;

  // --- permissions ---
  logic is_ready, is_loading, is_open, is_provisioning;
  assign is_ready        = verdict_o == VerdictReady;
  assign is_loading      = verdict_o == VerdictLoading;
  // Secrets are readable in production only. Debug ports are open in the other lifecycles, and a
  // secret that could be read there would be none.
  assign is_open         = is_ready & (lifecycle_o == LcProduction);
  assign is_provisioning = (lifecycle_o == LcTest) | (lifecycle_o == LcDevelopment);

  // A hidden field is closed to every reader until reset.
  function automatic logic is_hidden(logic [3:0] field);
    return field < 4'(NumWordFields) && hidden_o[field];
  endfunction
  // A field is readable when all its words are written, nobody hid it, and the load has ended. This
  // holds for public fields of a failed device, too, so that its fault can be examined.
  function automatic logic is_readable(logic [3:0] field);
    return field < 4'(NumWordFields) && good_o[field] && !hidden_o[field] && !is_loading && (!is_secret(field) || is_open);
  endfunction

  // The first rule that a command breaks. A hidden field cannot be burned either, because the
  // result of a burn tells whether the cells fit the value and so would reveal the field.
  logic [3:0] burn_field;
  logic has_word, has_flag;
  // The step of the floor that a row and a flag stand for.
  logic [6:0] step;
  assign burn_field = field_of(burn_row_i);
  assign has_word   = burn_row_i >= FirstWord;
  assign step       = {4'(burn_row_i[3:0] - RowFloor[3:0]), burn_data[2:0]};
  // A flag has to exist. Of the floor only steps up to the next one may be burned: a gap would fail
  // the next load.
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
  // The sequencer comes first because it runs before any software and expects its word in the next
  // cycle. A read of the bus waits in `pending_q` until it is granted.
  logic pending_d, pending_q, bus_grant, send_read, send_grant;
  row_t bus_row_q, send_row, read_row_q;
  typedef struct packed {logic seq, send, bus;} who_t;
  // The reader whose word comes in this cycle.
  who_t who_d, who_q;
  logic [DataBits-1:0] good_word;
  assign send_grant = send_read & ~seq_req_i;
  assign bus_grant  = pending_q & ~seq_req_i & ~send_read;
  assign who_d      = '{seq: seq_req_i, send: send_grant, bus: bus_grant};
  assign pending_d  = (pending_q & ~bus_grant) | read_i;
  // Without a reader the memory reads row 0, which holds no word: a secret does not stay in the
  // memory's output register.
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

  // One decoder corrects both the rows of the load and the words that are read. Nothing is read
  // before the load has ended. What a reader may have is decided when the word is there, so a latch
  // that was written meanwhile counts.
  logic [3:0] read_field;
  logic readable, for_seq, was_readable_q;
  // The right to read is stored when the reader asks and needed again when the word is there. An
  // upset of the row between the two therefore opens nothing.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) was_readable_q <= 1'b0;
    else         was_readable_q <= is_readable(field_of(shadow_read_row_o));
  end
  otp_secded u_secded (
    .clk_i, .rst_ni, .code_i (load ? row_code : shadow_code_i), .data_o (word), .check_o (word_check), .fixed_o (word_fixed), .broken_o (word_broken)
  );
  // A word with a fault that cannot be corrected is shown to nobody and leads to the error.
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
  // The word of another reader does not reach the bus: it may be a key on its way to its slot.
  assign read_data_o  = read_good_o ? good_word : '0;

  // --- the port to key slots ---
  // A transfer starts for a readable field only, and one at a time. The first row of field 5 + n is
  // 64 + 8 n. The field is checked in every cycle of the transfer, so a latch cuts it off.
  logic send_idle, send_starts;
  assign send_starts    = send_i & send_idle & (send_key_i < 3'd5) & is_readable(FieldSecret + {1'b0, send_key_i}) & ~error_o;
  assign send_refused_o = send_i & ~send_starts;
  assign sending_o      = ~send_idle;
  otp_send #(.Hardened(Hardened)) u_send (
    .clk_i, .rst_ni, .start_i (send_starts), .first_row_i ({4'd8 + {1'b0, send_key_i}, 3'b000}),
    .closed_i (~is_readable(field_of(send_row)) | error_o), .idle_o (send_idle), .error_o (send_error),
    .read_o (send_read), .row_o (send_row), .grant_i (send_grant), .data_i (who_q.send ? good_word : '0),
    .key_valid_o, .key_ready_i, .key_data_o, .key_word_o, .key_abort_o
  );

  // --- corrections ---
  logic fixes;
  logic [7:0] fixed_count_d, fixed_count_q;
  row_t fixed_row_d, fixed_row_q, now_row;
  // Rows of the load count when they belong to a field, reads when their reader may have the word.
  logic load_fixes;
  assign load_fixes    = load & (row >= FirstWord ? row_fixed & (field_of(row) != FieldNone) : flags_fixed);
  assign fixes         = load_fixes | ((who_q != '0) & readable & word_fixed);
  assign now_row       = load_fixes ? row : read_row_q;
  assign fixed_count_d = fixed_count_q + 8'(fixes && fixed_count_q != '1);
  assign fixed_row_d   = fixes & (fixed_count_q == '0) ? now_row : fixed_row_q;
  // Counts and the first row are information only, so they are not redundant.
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

  // The bus gets zeros and an error for a hidden field, even if it asked before the field was
  // hidden.
  `ASSERT(AHiddenFieldShowsNothing_A, read_valid_o && hidden_o[read_field] && read_field < 4'(NumWordFields) |->
          read_data_o == '0 && !read_good_o)
  // The port of the bus shows no word of another reader, such as one of a key that is sent.
  `ASSERT(TheBusSeesOnlyItsWords_A, !read_good_o |-> read_data_o == '0)
  // Neither an engine nor the bus gets a word of a secret outside of production.
  `ASSERT(SecretsAreForProduction_A, key_valid_o || (read_good_o && is_secret(read_field)) |-> lifecycle_o == LcProduction)
  // The sequencer only gets the board and root keys that are not revoked, of a ready device.
  `ASSERT(TheSequencerHasNoSecret_A, seq_good_o |-> verdict_o == VerdictReady &&
          (read_field == FieldBoard || (read_field < FieldBoard && !revoked_o[read_field[1:0]])))
  // At most one reader is granted in a cycle. With two, one of them would get the word of the
  // other.
  `ASSERT(OneReaderAtATime_A, $onehot0(who_d))
  // No burn begins in a field that a lock of the array protects.
  `ASSERT(ALockedFieldIsNotBurned_A, $rose(array_burn_o) && !$past(error_o) |-> !u_fields.held_q.locks[field_of(array_row_o)])
  // In an error no reader gets a word and no root key may be used.
  `ASSERT(ErrorShowsNothing_A, error_o |-> !seq_good_o && !read_good_o && !key_valid_o && (usable_o == '0 || broken))
endmodule
