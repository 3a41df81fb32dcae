// Holds the host in reset until the root of trust has decided, once, to release or to refuse it
// (../doc/README.md).
//
// The first decision is final until the next reset of the whole chip, which also resets the root of
// trust. `trap` releases the host, but every fetch fails, so that its own start-up code can detect
// that the boot was refused. The block never reads the image.
//
// Interface: a write strobe of one cycle is accepted or refused in the same cycle (`refuses_o`),
// and the block takes one per cycle. The state changes with the next clock edge, and the host's
// reset follows one cycle after the state. Reset leads to `StHeld`, which asserts the host's reset.
//
// Hardening: any two codes of the state differ in at least three bits, and an illegal state holds
// the host in reset. This covers a single upset of the state register. The registers of the host's
// reset and trap are not redundant.
//
// A host runs no longer than its root of trust works. `stop` is therefore accepted after a
// decision, too: software that took an unexpected trap puts the host back into reset. If the
// software cannot do even that, the input `fault_i` does.

`include "assert.svh"

module boot_sequencer_core
  import boot_sequencer_regs_pkg::*;
#(
  // 0 builds a variant that continues from an illegal state, to show that the test detects it.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Writes from the registers. Each strobe lasts one cycle and means a write of a decision or of a
  // reason, never of both. `word_i` belongs to the strobe of the same cycle.
  input  logic        decide_i,
  input  logic        explain_i,
  input  logic [31:0] word_i,
  // The write had the strobes of all four bytes.
  input  logic        is_whole_i,
  // The core of the root of trust has detected a fault of its own. The state is an error from then
  // on.
  input  logic        fault_i,
  // The write of the same cycle changes nothing, so its manager gets an error response.
  output logic        refuses_o,

  // Reset of the host: asserted asynchronously with the reset of the chip, released with the clock.
  output logic        host_rst_no,
  // Every fetch of the host fails while this is set.
  output logic        host_trap_o,
  // Status in the current cycle (`boot_sequencer_state_e`), and the last accepted reason.
  output logic [2:0]  status_o,
  output logic [31:0] reason_o
);
  // The six states. Only `StHeld` waits for something: for a decision. `StReleased`, `StRefused` and
  // `StTrapped` are decisions, which only a stop or an error ends. `StStopped` and `StError` hold the
  // host in reset until everything is reset; they differ in what the status tells an observer.
  typedef enum logic [5:0] {
    StHeld     = 6'b001011,
    StReleased = 6'b010101,
    StRefused  = 6'b011110,
    StTrapped  = 6'b100110,
    StError    = 6'b110011,
    StStopped  = 6'b101101
  } state_e;

  // The register keeps these codes through synthesis, as in all state machines that an upset could harm.
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StHeld), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic [31:0] reason_d, reason_q;
  logic        host_rst_nq, host_trap_q;

  // Before a decision only a whole word is accepted, after one only a stop. An illegal state
  // accepts nothing.
  logic is_decided, stops, accepts;
  assign is_decided = (state_q == StReleased) | (state_q == StRefused) | (state_q == StTrapped);
  assign stops      = decide_i & is_whole_i & (word_i == boot_sequencer_word__stop);
  assign accepts    = is_whole_i & (state_q == StHeld);
  assign refuses_o  = (decide_i | explain_i) & ~accepts & ~(stops & is_decided);

  // Every word that is not a release word refuses: a runaway program cannot release the host by
  // writing an arbitrary value.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StHeld: if (decide_i & accepts) begin
        unique case (word_i)
          boot_sequencer_word__release: state_d = StReleased;
          boot_sequencer_word__trap:    state_d = StTrapped;
          boot_sequencer_word__stop:    state_d = StStopped;
          default:                      state_d = StRefused;
        endcase
      end
      StReleased, StRefused, StTrapped: state_d = stops ? StStopped : state_q;
      StStopped: state_d = StStopped;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StReleased;
    endcase
    // A fault has priority over a decision in the same cycle: nothing is accepted from a core that
    // has failed.
    if (fault_i) state_d = StError;
  end

  // A reason is information only and decides nothing. After a decision it is fixed, like the decision.
  assign reason_d = explain_i & accepts ? word_i : reason_q;

  // An illegal state is reported as an error in the same cycle. Software and debugger see this value, and not the
  // code of the state, which may change with the encoding.
  boot_sequencer_state_e status;
  always_comb begin
    unique case (state_q)
      StHeld:     status = boot_sequencer_state__held;
      StReleased: status = boot_sequencer_state__released;
      StRefused:  status = boot_sequencer_state__refused;
      StTrapped:  status = boot_sequencer_state__trapped;
      StStopped:  status = boot_sequencer_state__stopped;
      default:    status = boot_sequencer_state__error;
    endcase
  end

  // The chip's reset asserts the host's reset asynchronously. The host's reset follows the state one cycle later in
  // both directions. The trap is set a cycle before the host runs, so that its first fetch already fails.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reason_q    <= '0;
      host_rst_nq <= 1'b0;
      host_trap_q <= 1'b0;
    end else begin
      reason_q    <= reason_d;
      // From a register, so that no glitch of the decoder ends the host's reset.
      host_rst_nq <= (state_q == StReleased) | (state_q == StTrapped);
      // Set a cycle before the reset ends, and never cleared.
      host_trap_q <= host_trap_q | (state_d == StTrapped);
    end
  end

  // All outputs but the status come from registers.
  assign host_rst_no = host_rst_nq;
  assign host_trap_o = host_trap_q;
  assign status_o    = status;
  assign reason_o    = reason_q;

  // The host leaves reset only from one of the two states that release it. In a trapped boot the
  // trap is already set at that time, so no fetch of the host can succeed.
  `ASSERT(OnlyADecisionReleases_A, $rose(host_rst_no) && Hardened |-> $past(state_q == StReleased) ||
          $past(state_q == StTrapped && host_trap_o))
  // No decision turns into another one, so a program that gains control later cannot release a
  // refused host.
  `ASSERT(ADecisionIsForGood_A,
          state_q != StHeld && Hardened |=> $stable(state_q) ||
          status_o inside {boot_sequencer_state__error, boot_sequencer_state__stopped})
  // A write of fewer than four bytes never decides. Otherwise two partial writes could compose a
  // word that nobody meant.
  `ASSERT(OnlyAWholeWordDecides_A, state_q == StHeld && !(decide_i && is_whole_i) |=>
          !(state_q inside {StReleased, StRefused, StTrapped, StStopped}))
  // Only the complete stop word leads to `StStopped`.
  `ASSERT(OnlyTheStopWordStops_A, state_q != StStopped && !stops |=> state_q != StStopped)
  // A stop takes effect in every state without an error, so a root of trust that has failed always
  // takes its host with it.
  `ASSERT(AStopEndsEveryDecision_A,
          stops && state_q inside {StHeld, StReleased, StRefused, StTrapped} |=> !is_decided && state_q != StHeld)
  // A fault of the core is visible as an error in the next cycle.
  `ASSERT(AFaultIsAnError_A, fault_i |=> status_o == boot_sequencer_state__error)
  // The reason stays as it was at the decision, so an observer reads the reason of this decision.
  `ASSERT(ReasonIsFixed_A, state_q != StHeld |=> $stable(reason_q))
  // Every write that has no effect is reported to its manager.
  `ASSERT(NothingIsRefusedSilently_A,
          (decide_i || explain_i) && !(state_q == StHeld && is_whole_i) && !(stops && is_decided) |-> refuses_o)
  // A refused write leaves the reason as it is.
  `ASSERT(WhatIsRefusedChangesNothing_A, refuses_o |=> $stable(reason_q))
  // The register block never raises both strobes in one cycle. `word_i` would be ambiguous.
  `ASSERT(OneWriteAtATime_A, !(decide_i && explain_i))
  // An error or a stop asserts the host's reset one cycle later at the latest.
  `ASSERT(ErrorHoldsTheHost_A,
          status_o inside {boot_sequencer_state__error, boot_sequencer_state__stopped} |=> !host_rst_no)
endmodule
