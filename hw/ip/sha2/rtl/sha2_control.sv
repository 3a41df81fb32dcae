// This module decides in each cycle what the datapath of `sha2_core` does.
//
// Protocol: commands, words and states are handshakes, and a transfer happens in a cycle with valid and ready.
// A command is taken while the core is idle or in the last cycle of the rounds, so that blocks follow each
// other without a cycle between. `wipe_i` is taken in every state but the error.
//
// Time: a block takes `StateCycles + RoundCycles` cycles. The only inputs are handshakes, so the time never
// depends on data.
//
// Reset: the module begins with a wipe, which moves zeros through the datapath.
//
// Hardening: the states differ in at least three bits, and count and command have a copy. An illegal state or a
// difference ends in `StError`, which only a reset leaves. What enters (`enters_q`) has no copy: an upset of it
// gives a wrong digest.

`include "assert.svh"

module sha2_control
  import sha2_pkg::*;
#(
  // These are the cycles of the rounds of a block, and of reading or writing the state.
  parameter int unsigned RoundCycles = 64,
  parameter int unsigned StateCycles = 4,
  // In this many cycles words of the message are taken.
  parameter int unsigned WordCycles  = 16,
  // With `Overlaps` the state leaves while another one enters, and not only by a command of its own.
  parameter bit          Overlaps    = 1'b0,
  // `Hardened` = 0 builds a control that continues from an illegal state, to show that the test detects it.
  parameter bit          Hardened    = 1'b1,
  localparam int unsigned CountBits  = $clog2(RoundCycles)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // This is a command, and a wipe, which has priority. `error_o` stays until reset.
  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  cmd_e                 cmd_i,
  input  logic                 wipe_i,
  output logic                 idle_o,
  output logic                 error_o,

  // These ports are the handshakes of words, of a state that enters, and of a state that leaves.
  input  logic                 msg_valid_i,
  output logic                 msg_ready_o,
  input  logic                 state_valid_i,
  output logic                 state_ready_o,
  output logic                 state_valid_o,
  input  logic                 state_ready_i,

  // This is the round whose word is taken or computed. While the state moves it counts up to zero.
  output logic [CountBits-1:0] count_o,
  output logic                 step_o,           // The datapath advances by a cycle.
  output logic                 move_state_o,     // The state moves instead of being worked on.
  output logic                 from_first_o,     // The next three say where the state comes from.
  output logic                 from_outside_o,
  output logic                 from_kept_o,      // The state itself is worked on, or leaves.
  output enters_e              enters_o,         // This register has the same choice for a look-up table.
  output logic                 take_word_o,      // The schedule takes words and computes none.
  output logic                 clear_ahead_o,    // The next cycle takes words.
  output logic                 clear_sum_o,      // The next cycle is no round.
  output logic                 clear_vars_o,     // All working variables are cleared.
  output logic                 clear_entering_o, // Only the variables that are loaded are cleared.
  output logic                 clear_words_o
);
  // This is a [6,3,3] code without the zero word, so no upset of one or two bits turns one state into another.
  // Synthesis must keep the codes.
  typedef enum logic [5:0] {
    // StIdle waits for a command.
    StIdle   = 6'b001011,
    // StTurn adds the working variables to the state, or loads both, and ends after `StateCycles` steps.
    StTurn   = 6'b010101,
    // StRounds makes the rounds, and ends in the last one.
    StRounds = 6'b011110,
    // StSave gives the state out, and ends after the last word.
    StSave   = 6'b100110,
    // StWipe moves zeros through the datapath, and ends after as many cycles as its longest register needs.
    StWipe   = 6'b101101,
    // StError waits for a reset.
    StError  = 6'b110011
  } state_e;

  // A turn counts up to zero, where the rounds begin, so one counter serves both.
  localparam logic [CountBits-1:0] Start =
      CountBits'((RoundCycles - (StateCycles - 1)) % RoundCycles);
  localparam logic [CountBits-1:0] Last = CountBits'(RoundCycles - 1);

  // The register keeps synthesis from recoding the states, whose codes have to stay three bits apart. A reset begins
  // with a wipe, and no command is taken until it is over.
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StWipe), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic [CountBits-1:0] count_d, count_q;
  cmd_e cmd_d, cmd_q;

  // Count and command have a copy. An upset of the count would leave out rounds, and one of the command would begin a
  // block with another state.
  logic [$bits(cmd_e)-1:0] cmd_code;
  logic differs, counts_differ;
  shadow_register #(.Width(CountBits + $bits(cmd_e)), .Reset({Start, CmdNext})) u_count (
    .clk_i, .rst_ni, .write_i(1'b1), .d_i({count_d, cmd_d}), .q_o({count_q, cmd_code}), .differs_o(counts_differ)
  );
  assign cmd_q   = cmd_e'(cmd_code);
  assign differs = Hardened & counts_differ;

  // States are decoded once, by equality. Any other value is an error, whatever has caused it.
  logic in_idle, in_turn, in_rounds, in_save, in_wipe;
  logic is_last, resumes, accepts;

  assign in_idle   = state_q == StIdle;
  assign in_turn   = state_q == StTurn;
  assign in_rounds = state_q == StRounds;
  assign in_save   = state_q == StSave;
  assign in_wipe   = state_q == StWipe;
  assign is_last   = count_q == '0;
  assign resumes   = cmd_q == CmdResume;

  // A block may follow the last one without a cycle between: in the last cycle of its rounds a command is taken
  // as if the core were idle.
  assign cmd_ready_o = in_idle | (in_rounds & is_last);
  assign accepts     = cmd_valid_i & cmd_ready_o;

  // The last cycle of a turn already takes the first word, because rounds use sums that were computed a cycle
  // before.
  logic word_due, state_due, gives, turn_waits;
  assign word_due   = is_last ? in_turn : in_rounds & (count_q < CountBits'(WordCycles));
  assign state_due  = in_turn & resumes;
  // The turn of a block that does not continue gives out the state of the block before.
  assign gives      = Overlaps & in_turn & (cmd_q == CmdFirst || cmd_q == CmdResume);
  assign turn_waits = (state_due & ~state_valid_i) | (gives & ~state_ready_i);

  // A cycle of a turn needs everything that is due in it, so each side is offered only what the other sides
  // allow.
  assign msg_ready_o   = word_due & ~turn_waits;
  assign state_ready_o = state_due & ~(is_last & ~msg_valid_i) & ~(gives & ~state_ready_i);
  assign state_valid_o = in_save | (gives & ~(state_due & ~state_valid_i) & ~(is_last & ~msg_valid_i));

  // The datapath advances if a due word is valid, and if the reader of a state that leaves takes it. A stall
  // stops the whole datapath, so that no register needs an enable of its own.
  always_comb begin
    step_o = 1'b0;
    unique case (1'b1)
      in_turn:   step_o = ~turn_waits & ~(word_due & ~msg_valid_i);
      in_rounds: step_o = ~(word_due & ~msg_valid_i);
      in_save:   step_o = state_ready_i;
      in_idle:   step_o = 1'b0;
      // In a wipe and in an error zeros move through everything that cannot be cleared at once.
      default:   step_o = 1'b1;
    endcase
  end

  // This block follows the state and the count of its cycles. A turn takes a cycle for each word of a lane, and
  // the rounds follow it. A save is a turn whose words leave. Commands are taken at the ends, a wipe
  // everywhere.
  always_comb begin
    state_d = state_q;
    count_d = count_q;
    cmd_d   = cmd_q;
    if (step_o) count_d = (count_q == Last) ? '0 : count_q + 1'b1;

    unique case (state_q)
      StIdle: count_d = Start;
      StTurn: if (step_o && is_last) state_d = StRounds;
      StRounds: if (is_last) begin
        state_d = StIdle;
        count_d = Start;
      end
      StSave: if (step_o && is_last) begin
        state_d = StIdle;
        count_d = Start;
      end
      StWipe: if (count_q == CountBits'(WordCycles - 1)) begin
        state_d = StIdle;
        count_d = Start;
      end
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase

    if (accepts) begin
      state_d = (cmd_i == CmdSave) ? StSave : StTurn;
      cmd_d   = cmd_i;
    end
    // A wipe has priority over a command, but not over an error.
    if (wipe_i && (in_idle || in_turn || in_rounds || in_save || in_wipe)) begin
      state_d = StWipe;
      count_d = Start;
    end
    if (differs) state_d = StError;
  end

  // This block chooses what the next cycle moves.
  enters_e enters_d, enters_q;
  sparse_fsm #(.state_t(enters_e), .Reset(EntersNothing), .MinDistance(1)) u_enters (
    .clk_i, .rst_ni, .state_i(enters_d), .state_o(enters_q)
  );
  // A state that leaves or is worked on is the kept one; otherwise the command says what enters.
  always_comb begin
    enters_d = EntersNothing;
    if (state_d == StSave) enters_d = EntersKept;
    if (state_d == StTurn) begin
      unique case (cmd_d)
        CmdFirst:  enters_d = EntersFirst;
        CmdResume: enters_d = EntersOutside;
        default:   enters_d = EntersKept;
      endcase
    end
  end

  // The control signals of the datapath are decoded from state, command and count only. Registers are cleared a
  // cycle before an addition that must not use their contents.
  assign count_o          = count_q;
  assign enters_o         = enters_q;
  assign idle_o           = in_idle;
  assign error_o          = ~(in_idle | in_turn | in_rounds | in_save | in_wipe);
  assign move_state_o     = in_turn | in_save;
  assign from_first_o     = in_turn & (cmd_q == CmdFirst);
  assign from_outside_o   = in_turn & resumes;
  assign from_kept_o      = in_save | (in_turn & (cmd_q == CmdNext));
  assign take_word_o      = count_q < CountBits'(WordCycles);
  assign clear_ahead_o    = ~in_rounds | (count_q < CountBits'(WordCycles - 1));
  assign clear_sum_o      = ~((in_turn | in_rounds) & (in_turn == is_last));
  assign clear_words_o    = ~(in_idle | in_turn | in_rounds | in_save);
  // When another state is loaded, working variables that were not added to the state are discarded, unless they
  // are just then added to the one that leaves.
  assign clear_vars_o     = clear_words_o |
                            (accepts & ~Overlaps & (cmd_i == CmdFirst || cmd_i == CmdResume));
  assign clear_entering_o = clear_vars_o | (in_save & step_o);

  // A core that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Nobody gives a command or a word, or takes a state, in the error.
  `ASSERT(ErrorOffersNothing_A, error_o |-> !cmd_ready_o && !msg_ready_o && !state_valid_o)
  // No round is made with a word that was not there.
  `ASSERT(NoWordNoRound_A, step_o && word_due |-> msg_valid_i && msg_ready_o)
  // A state is not lost while its reader waits. A source that withdraws what it offered, as one after an upset
  // does, withdraws the state of a turn with it.
  `ASSERT(StateWaitsForItsReader_A,
          state_valid_o && !state_ready_i && !wipe_i |=>
          (state_valid_o && $stable(count_q)) || error_o || differs || $fell(msg_valid_i) || $fell(state_valid_i))
  // A command in the middle of a block would mix two blocks.
  `ASSERT(ACommandIsForAnIdleCore_A, cmd_ready_o |-> in_idle || (in_rounds && is_last))
  // A sum that is not zero in a turn would be added to the state.
  `ASSERT(ASumIsClearInATurn_A, in_turn && !is_last |-> clear_sum_o)
  // A state that is taken has moved; otherwise its reader would get the same words twice.
  `ASSERT(AStateLeavesWhenAllIsThere_A, in_turn && state_valid_o && state_ready_i |-> step_o)
  // A wipe is never lost, or secrets would stay.
  `ASSERT(WipeIsTaken_A, wipe_i && !error_o |=> clear_words_o)
  // Every block starts with its first round, whose word is taken in the last cycle of the turn.
  `ASSERT(RoundsBeginWithTheFirst_A, $rose(in_rounds) && !differs |-> count_q == CountBits'(1))
  // Rounds follow each other, so none is left out. A digest of fewer rounds can be inverted, and that of HMAC would
  // tell the key.
  `ASSERT(NoRoundIsLeftOut_A, in_rounds && $past(in_rounds) && !differs |->
          count_q == (!$past(step_o) ? $past(count_q) : $past(count_q) == Last ? '0 : $past(count_q) + 1'b1))
endmodule
