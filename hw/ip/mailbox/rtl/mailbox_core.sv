// The state machine of the mailbox, and the rules for what each side may read and change
// (../doc/README.md).
//
// There is one copy of a request: the words that the host wrote. They cannot be written from the
// cycle of the doorbell on, so the root of trust uses the values that it checked (no time-of-check
// to time-of-use race). The same holds for an answer. Each side reads words of the other only while
// they are handed over, and they are cleared before the next ones can be written.
//
// Interface: commands are strobes of one cycle, any number of them in any cycle. Each is accepted
// or refused at once, and its effect shows in the next cycle. Permissions and words are
// combinational. Reset leads to `StIdle`, and the storage outside clears its words.
//
// Hardening: any two states differ in four bits, and every other code is an error in the same
// cycle and until reset. The bits that report refusals are not redundant; they decide nothing.

`include "assert.svh"

module mailbox_core
  import mailbox_pkg::*;
#(
  // 0 builds a variant that does not detect an illegal state, to show that the tests detect it.
  parameter bit Hardened = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // Commands of the host (doorbell, acknowledgement) and of the root of trust (answer, discard).
  // Each lasts one cycle.
  input  logic       ring_i,
  input  logic       acknowledge_i,
  input  logic       respond_i,
  input  logic       discard_i,
  // The root of trust takes requests while this is set.
  input  logic       open_i,
  // The mailbox is emptied and closed on command, and in the cycle of a change of the lifecycle.
  input  logic       wipe_i,
  input  logic [3:0] lifecycle_i,

  // The words are stored outside, in the register blocks. These are the permissions to write and to
  // clear them, the words as they are stored, and the words as the other side may read them.
  output logic       request_write_o,
  output logic       answer_write_o,
  output logic       clear_o,
  output logic       open_clear_o,
  input  request_t   request_i,
  output request_t   request_o,
  input  answer_t    answer_i,
  output answer_t    answer_o,
  output logic [31:0] answer_id_o,

  // Status for both sides, the last command of each side was refused, a request was dropped, events
  // for interrupts, and an illegal state.
  output view_e      view_o,
  output logic       host_refused_o,
  output logic       host_emptied_o,
  output logic       rot_refused_o,
  output logic       host_event_o,
  output logic       rot_event_o,
  output logic       error_o
);
  // States; any two codes differ in four bits.
  typedef enum logic [5:0] {
    // Waits for the doorbell. The host may write its request.
    StIdle    = 6'b001011,
    // Waits for the answer. The request is locked, and the root of trust may write its answer.
    StRequest = 6'b010101,
    // Waits for the acknowledgement. The answer is locked.
    StAnswer  = 6'b100110,
    // Only a reset ends this state.
    StError   = 6'b111000
  } state_e;

  // The register keeps these codes: synthesis would choose some that are one bit apart.
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(4)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic host_refused_d, host_refused_q, rot_refused_d, rot_refused_q, emptied_d, emptied_q;
  logic [3:0] lifecycle_q;
  // The first cycle after a reset is over, so `lifecycle_q` is that of an earlier cycle.
  logic       is_awake_q;

  // States are decoded once, by equality.
  logic in_idle, in_request, in_answer, is_error;
  assign in_idle    = state_q == StIdle;
  assign in_request = state_q == StRequest;
  assign in_answer  = state_q == StAnswer;
  // The error is the complement of all legal states, so an illegal state is an error in the same cycle.
  assign is_error   = Hardened ? ~(in_idle | in_request | in_answer) : state_q == StError;

  // A request must not survive a change of the lifecycle: it was made under other permissions. A reset is no
  // change.
  logic closes, forgets;
  assign closes  = wipe_i | (is_awake_q & (lifecycle_i != lifecycle_q));
  assign forgets = closes | discard_i;

  // Accepted commands. All others are refused, and their side can read that. An acknowledgement
  // also ends the notice of a dropped request.
  logic rings, acknowledges, responds;
  assign rings        = ring_i & in_idle & open_i & ~forgets;
  assign acknowledges = acknowledge_i & (in_answer | (in_idle & emptied_q)) & ~forgets;
  assign responds     = respond_i & in_request & ~forgets;

  // The sequence: the host rings, the root of trust responds, the host acknowledges. A wipe ends
  // any of these states. The error comes last in the process and so has the highest priority; only
  // a reset ends it.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:    if (rings) state_d = StRequest;
      StRequest: if (responds) state_d = StAnswer;
      StAnswer:  if (acknowledges) state_d = StIdle;
      default:   state_d = Hardened ? StError : StIdle;
    endcase
    if (forgets) state_d = StIdle;
    if (is_error) state_d = StError;
  end

  // Each bit is about the last command of its side. A command in the cycle of a wipe is refused as
  // well.
  always_comb begin
    host_refused_d = host_refused_q;
    if (ring_i | acknowledge_i) host_refused_d = ~(rings | acknowledges);
    rot_refused_d = rot_refused_q;
    if (respond_i) rot_refused_d = ~responds;
    // The host learns that no answer will come, but not why.
    emptied_d = emptied_q;
    if (rings | acknowledges) emptied_d = 1'b0;
    if (forgets & (in_request | in_answer)) emptied_d = 1'b1;
  end

  // After reset the mailbox is empty, and no command of either side counts as refused.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      host_refused_q <= 1'b0;
      rot_refused_q  <= 1'b0;
      emptied_q      <= 1'b0;
      lifecycle_q    <= '0;
      is_awake_q     <= 1'b0;
    end else begin
      host_refused_q <= host_refused_d;
      rot_refused_q  <= rot_refused_d;
      emptied_q      <= emptied_d;
      lifecycle_q    <= lifecycle_i;
      is_awake_q     <= 1'b1;
    end
  end

  // A write may come in the same cycle as a doorbell that preceded it on the bus. Then it is too
  // late.
  assign request_write_o = in_idle & ~ring_i;
  assign answer_write_o  = in_request & ~respond_i;
  assign clear_o         = forgets | (acknowledges & in_answer) | is_error;
  assign open_clear_o    = closes | is_error;

  // Words read as zero for a side that may not read them.
  assign request_o   = in_request ? request_i : '0;
  assign answer_o    = in_answer ? answer_i : '0;
  assign answer_id_o = in_answer ? request_i.id : '0;

  // Both sides read the same status. While idle it tells the host whether a doorbell would be accepted.
  always_comb begin
    if (is_error) view_o = ViewFault;
    else if (in_request) view_o = ViewBusy;
    else if (in_answer) view_o = ViewAnswered;
    else view_o = open_i ? ViewReady : ViewClosed;
  end
  // Events for interrupts. Events of the host are an answer or a request that was dropped, and the
  // event of the root of trust is a request. A fault is an event of both.
  assign host_refused_o = host_refused_q;
  assign host_emptied_o = emptied_q;
  assign rot_refused_o  = rot_refused_q;
  assign host_event_o   = in_answer | emptied_q | is_error;
  assign rot_event_o    = in_request | is_error;
  // The root of trust raises its alert with this.
  assign error_o        = is_error;

  // A request does not change after the doorbell, so what was checked is what is used.
  `ASSERT(RequestIsASnapshot_A, in_request & $past(in_request) |-> $stable(request_i))
  // An answer does not change after it was given, nor does its request.
  `ASSERT(AnswerIsASnapshot_A, in_answer & $past(in_answer) |-> $stable({answer_i, request_i}))
  // Words of a request that is not handed over read as zero.
  `ASSERT(RequestIsSeenAfterTheDoorbellOnly_A, !in_request |-> request_o == '0)
  // Words of an answer that is not handed over read as zero.
  `ASSERT(AnswerIsSeenAfterTheDoorbellOnly_A, !in_answer |-> {answer_o, answer_id_o} == '0)
  // After the acknowledgement no word of the exchange is left for the next one.
  `ASSERT(NothingIsLeftOfTheLast_A, in_idle & $past(in_answer) |-> {request_i, answer_i} == '0)
  // The two sides never write in the same cycle, so nobody answers a request that may still change.
  `ASSERT(OneSideWritesAtATime_A, !(request_write_o & answer_write_o))
  // No exchange survives a change of the lifecycle, and a reset is none.
  `ASSERT(AChangeEmpties_A, $past(rst_ni) && lifecycle_i != $past(lifecycle_i) && !is_error |=> in_idle || is_error)
  `ASSERT(AResetIsNoChange_A, !is_awake_q && !wipe_i && !is_error |-> !open_clear_o)
  if (Hardened) begin : gen_hardened
    // An error lasts until reset.
    `ASSERT(ErrorIsTheEnd_A, $past(error_o) & $past(rst_ni) |-> error_o)
  end
endmodule
