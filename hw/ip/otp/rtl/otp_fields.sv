// The registers that decide: lifecycle, floor, revocation, locks, latches and the state of each
// field.
//
// Interface: `load_i` is a strobe for one row of the load, `loaded_i` comes with the last row and
// gives the verdict in the next cycle. `flag_set_i` reports a flag that was burned. `hide_i` and
// `latch_i` are strobes. Each of these takes effect in the next cycle, and all outputs follow from
// registers and from `error_i`. Reset forgets everything: there is no lifecycle and no field until
// the load.
//
// Hardening: lifecycle and verdict are codes of which any two differ in four bits. The other
// registers have six parities, each of every sixth bit, which are compared in every cycle. A
// difference is an upset, so a burst of up to six neighbours is found; two upsets of the same
// parity are not. In the cycle of an upset everything closes. Locks, latches, revocation and floor
// only ever rise.

`include "assert.svh"

module otp_fields
  import otp_pkg::*;
#(
  // 0 builds a variant that compares nothing, to show that the tests detect it.
  parameter bit Hardened = 1'b1
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // The control or the sender is in its error.
  input  logic                     error_i,
  // This block was upset.
  output logic                     upset_o,

  // The load, one row a cycle. The following inputs describe `row_i`, which is the row of the load
  // or the row in which a flag was burned.
  input  logic                     load_i,
  input  logic                     loaded_i,
  input  row_t                     row_i,
  input  logic                     blank_i,
  input  logic                     written_i,
  input  logic                     half_i,
  input  logic                     corrupted_i,
  input  logic [NumFlags-1:0]      flags_i,
  input  logic                     flags_half_i,
  // A flag of the row was burned.
  input  logic                     flag_set_i,
  input  logic [2:0]               flag_i,
  // Latches, until reset: against readers (`hide_i`) and against burns (`latch_i`).
  input  logic                     hide_i,
  input  logic                     latch_i,
  input  logic [NumFields-1:0]     bits_i,

  // The verdict is `failed` in the cycle of an upset already.
  output verdict_e                 verdict_o,
  output reason_e                  reason_o,
  output row_t                     reason_row_o,
  output lifecycle_e               lifecycle_o,
  // The floor is the highest in an error, so that no security version passes.
  output logic [6:0]               floor_o,
  output logic [NumSlots-1:0]      revoked_o,
  // Locked against burns, hidden from readers, all words written, no word written.
  output logic [NumFields-1:0]     locked_o,
  output logic [NumWordFields-1:0] hidden_o,
  output logic [NumWordFields-1:0] good_o,
  output logic [NumWordFields-1:0] blank_o
);
  // The registers under parity. A field is good when it has written words and no blank ones.
  typedef struct packed {
    logic [6:0]               floor;
    // A step of the floor that is not set was seen, so no later one may be set.
    logic                     floor_ended;
    logic [NumSlots-1:0]      revoked;
    // Set by cells of the array.
    logic [NumFields-1:0]     locks;
    // Set by software until reset.
    logic [NumFields-1:0]     latches;
    logic [NumWordFields-1:0] hidden;
    // A word of the field is written, or is not.
    logic [NumWordFields-1:0] has_written;
    logic [NumWordFields-1:0] has_blank;
  } held_t;

  // Neighbouring bits belong to different parities, so one particle that upsets up to six is found.
  localparam int unsigned NumParities = 6;
  held_t held_d, held_q;
  logic [NumParities-1:0] parity_q;
  lifecycle_e lifecycle_d, lifecycle_q;
  verdict_e verdict_d, verdict_q;
  reason_e reason_d, reason_q, found;
  row_t reason_row_d, reason_row_q;

  // Parity i covers the bits i, i + 6, i + 12 and so on.
  function automatic logic [NumParities-1:0] parities(held_t held);
    logic [$bits(held_t)-1:0] bits;
    bits     = held;
    parities = '0;
    for (int i = 0; i < $bits(held_t); i++) parities[i % NumParities] = parities[i % NumParities] ^ bits[i];
  endfunction

  logic [3:0] field;
  logic is_word, is_step, has_gap, is_bad;
  logic [NumFlags-1:0] rises;
  logic [NumWordFields-1:0] mixed;
  assign field   = field_of(row_i);
  assign is_word = row_i >= FirstWord;
  assign is_step = field == FieldFloor;
  // A thermometer code has ones from its first step on.
  assign has_gap = is_step & (((flags_i & (flags_i + 1'b1)) != '0) | (held_q.floor_ended & (flags_i != '0)));
  // A half-programmed or corrupted word counts as written and as blank, so its field is never good.
  assign is_bad  = half_i | corrupted_i;
  // Flags that are set in the row: all at the load, one after a burn.
  assign rises   = load_i ? flags_i : flag_set_i ? NumFlags'(1) << flag_i : '0;
  // A field with written and blank words was provisioned in part.
  assign mixed   = held_d.has_written & held_d.has_blank;

  // Every bit here only rises. An error does not clear them; the outputs close instead.
  always_comb begin
    held_d = held_q;
    unique case (field)
      FieldRevoked: held_d.revoked = held_q.revoked | rises[NumSlots-1:0];
      FieldLocks: begin
        if (row_i[0]) held_d.locks[13:8] = held_q.locks[13:8] | rises[5:0];
        else          held_d.locks[7:0]  = held_q.locks[7:0] | rises;
      end
      FieldFloor: begin
        if (load_i & ~has_gap) held_d.floor = held_q.floor + 7'($countones(flags_i));
        if (load_i)            held_d.floor_ended = held_q.floor_ended | ~(&flags_i);
        // The burned flag raises the floor if it is the next step. A step that is set already may
        // be burned again and changes nothing.
        if (flag_set_i && {row_i[3:0] - RowFloor[3:0], flag_i} == held_q.floor) held_d.floor = held_q.floor + 1'b1;
      end
      default: ;
    endcase
    for (int i = 0; i < NumWordFields; i++) begin
      if (load_i && field == 4'(i)) begin
        held_d.has_written[i] = held_q.has_written[i] | written_i | is_bad;
        held_d.has_blank[i]   = held_q.has_blank[i] | blank_i | is_bad;
      end
    end
    if (hide_i)  held_d.hidden  = held_q.hidden | bits_i[NumWordFields-1:0];
    if (latch_i) held_d.latches = held_q.latches | bits_i;
  end

  // The lifecycle does not change within a boot: a step that was burned counts from the next reset
  // on.
  assign lifecycle_d = load_i && row_i == RowLifecycle ? (flags_half_i ? LcInvalid : lifecycle_of(flags_i)) : lifecycle_q;

  // The state of the fields after the last row, for the verdict.
  logic [NumWordFields-1:0] good_next;
  logic [NumSlots-1:0] usable_next;
  assign good_next   = held_d.has_written & ~held_d.has_blank;
  assign usable_next = good_next[NumSlots-1:0] & ~held_d.revoked;

  // The first fault that is found gives the reason. Faults of rows come before those of the device
  // as a whole.
  always_comb begin
    found = ReasonNone;
    if (load_i) begin
      if (is_word & (field != FieldNone)) begin
        if (half_i)           found = ReasonHalf;
        else if (corrupted_i) found = ReasonCorrupted;
      end else if (~is_word & (field != FieldNone)) begin
        if (flags_half_i)                                                      found = ReasonHalf;
        else if (has_gap)                                                      found = ReasonFloor;
        else if (field == FieldLifecycle && lifecycle_of(flags_i) == LcInvalid) found = ReasonLifecycle;
      end
    end
    reason_d     = reason_q == ReasonNone ? found : reason_q;
    reason_row_d = reason_q == ReasonNone && found != ReasonNone ? row_i : reason_row_q;
    verdict_d    = verdict_q;
    if (loaded_i) begin
      if (reason_d == ReasonNone) begin
        unique case (lifecycle_q)
          LcBlank:    reason_d = ReasonBlank;
          LcScrapped: reason_d = ReasonScrapped;
          LcInvalid:  reason_d = ReasonLifecycle;
          default: begin
            if (mixed != '0) reason_d = ReasonMixed;
            // Without a board and a root key nothing can be verified. Before production they need
            // not be there.
            else if (lifecycle_q == LcProduction & ~(good_next[FieldBoard] & (usable_next != '0))) reason_d = ReasonIncomplete;
          end
        endcase
      end
      verdict_d = reason_d == ReasonNone ? VerdictReady : VerdictFailed;
    end
  end
  // Before the load nothing is known: the lifecycle is invalid, and no field has a word.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q       <= '0;
      parity_q     <= '0;
      lifecycle_q  <= LcInvalid;
      verdict_q    <= VerdictLoading;
      reason_q     <= ReasonNone;
      reason_row_q <= '0;
    end else begin
      held_q       <= held_d;
      parity_q     <= parities(held_d);
      lifecycle_q  <= lifecycle_d;
      verdict_q    <= verdict_d;
      reason_q     <= reason_d;
      reason_row_q <= reason_row_d;
    end
  end

  // A value that is no code is an upset, too.
  logic is_lifecycle, is_verdict;
  assign is_lifecycle = lifecycle_q inside {LcBlank, LcTest, LcDevelopment, LcProduction, LcReturned, LcScrapped, LcInvalid};
  assign is_verdict   = verdict_q inside {VerdictLoading, VerdictReady, VerdictFailed};
  assign upset_o      = Hardened & ((parity_q != parities(held_q)) | ~is_lifecycle | ~is_verdict);

  // In the cycle of an upset everything closes, without a register in between.
  logic closes;
  assign closes       = error_i | upset_o;
  assign verdict_o    = closes ? VerdictFailed : verdict_q;
  assign reason_o     = closes ? ReasonUpset : verdict_q == VerdictLoading ? ReasonNone : reason_q;
  assign reason_row_o = reason_row_q;
  assign lifecycle_o  = closes ? LcInvalid : lifecycle_q;
  assign floor_o      = closes ? 7'(MaxFloor) : held_q.floor;
  assign revoked_o    = held_q.revoked | {NumSlots{closes}};
  assign locked_o     = held_q.locks | held_q.latches | {NumFields{closes}};
  assign hidden_o     = held_q.hidden | {NumWordFields{closes}};
  assign good_o       = held_q.has_written & ~held_q.has_blank & {NumWordFields{~closes}};
  assign blank_o      = ~held_q.has_written & held_q.has_blank;

  // The lifecycle of a boot does not change after the load, so what was decided with it stays
  // valid.
  `ASSERT(LifecycleIsThatOfTheReset_A, verdict_q != VerdictLoading |=> $stable(lifecycle_q) || !is_lifecycle || upset_o)
  // The device becomes ready only with the end of a load.
  `ASSERT(OnlyAWholeLoadIsReady_A, $rose(verdict_o == VerdictReady) |-> $past(loaded_i))
  // A blank, scrapped or unreadable lifecycle is never ready.
  `ASSERT(ABlankDeviceIsNotReady_A, verdict_o == VerdictReady |->
          lifecycle_o inside {LcTest, LcDevelopment, LcProduction, LcReturned})
  // A lock never opens before a reset, except in the step after an upset, when the error is already
  // set.
  `ASSERT(LocksStay_A, 1'b1 |=> ($past(locked_o) & ~locked_o) == '0 || $past(upset_o))
  // A hidden field stays hidden until reset.
  `ASSERT(HiddenStays_A, 1'b1 |=> ($past(hidden_o) & ~hidden_o) == '0 || $past(upset_o))
  // The floor never falls within a boot.
  `ASSERT(FloorOnlyRises_A, 1'b1 |=> floor_o >= $past(floor_o) || $past(upset_o))
endmodule
