// This module handles commands: their programs, their results, and what can be read.
//
// Protocol: a command is taken in a cycle with `command_valid_i` and `command_ready_o`. It copies what
// configures it, so that later writes of registers change nothing. `done_o` is a pulse at its end. A result is
// valid until the next command, an abort or a wipe. A refused command has no result, so nothing can be read
// after it.
//
// Lengths are checked here, before a program runs; programs check everything that needs arithmetic. After a
// private operation, however it ended, the memory is overwritten except for a result that may be read: the key
// and what was computed with it are gone before the engine is idle. An abort of a private operation is a wipe.
//
// Time: a command begins a cycle after it is taken. A wipe and a sweep write a word in a cycle, all of the
// memory. There is no limit of time for programs: their loops count down or walk a number of at most 4,096
// bits, so each of them ends.
//
// Reset: the state is a wipe, and there is no result. Hardening: the codes of states, and the code that says
// that there is a result, differ in several bits; illegal states are an error, which only a reset leaves, and
// in which the memory is overwritten all the time. `Hardened` = 0 removes this.

`include "assert.svh"

module bignum_control
  import bignum_pkg::*;
  import bignum_rom_pkg::*;
#(
  // `W` is the width of a word of the memory.
  parameter int unsigned W = 68,
  // `Hardened` = 0 has illegal states return to idle.
  parameter bit Hardened = 1'b1,
  localparam int unsigned AddrBits = $clog2(Limbs * LimbBits / W),
  // This is the number of words of eight slots, as the logarithm of a power of two.
  localparam int unsigned NumberShift = $clog2(NumberSlots * SlotLimbs * LimbBits / W)
) (
  input  logic     clk_i,
  input  logic     rst_ni,

  // This is a command with its configuration. `given_i` says that R² is in the memory already.
  input  logic     command_valid_i,
  output logic     command_ready_o,
  input  command_e command_i,
  input  length_t  modulus_bits_i,
  input  length_t  exponent_bits_i,
  input  logic     given_i,
  // An abort ends a command and keeps operands.
  input  logic     abort_i,
  // A wipe forgets everything.
  input  logic     wipe_i,
  // This is an error elsewhere in the engine.
  input  logic     fail_i,
  // An error stays until reset.
  output logic     error_o,

  // While the engine is idle operands and commands are taken.
  output logic     idle_o,
  // This is a pulse at the end of a command, also of one that is refused.
  output logic     done_o,
  // This is the outcome of the last command.
  output result_e  result_o,
  // There is a result to read.
  output logic     valid_o,

  // All units stop.
  output logic     clear_o,
  // The port forgets the operand that was chosen.
  output logic     clear_port_o,
  // The memory is overwritten, a word in a cycle.
  output logic     wiping_o,
  // This word is written; it is low for words of a result that stays.
  output logic     wipe_write_o,
  output logic [AddrBits-1:0] wipe_addr_o,

  // These ports control the program: its entry, its configuration, and its end with a result.
  output logic     start_o,
  output address_t entry_o,
  output length_t  modulus_bits_o,
  output length_t  exponent_bits_o,
  output logic     given_o,
  input  logic     end_i,
  input  end_e     end_code_i
);
  // Any two states differ in at least three bits.
  typedef enum logic [5:0] {
    // StWipe overwrites the memory, and ends after its last word.
    StWipe  = 6'b001011,
    // StIdle waits for a command.
    StIdle  = 6'b010101,
    // StStart takes one cycle, in which the program begins.
    StStart = 6'b011110,
    // StRun waits for the end of the program.
    StRun   = 6'b100110,
    // StSweep overwrites the memory after a private operation, and ends after its last word.
    StSweep = 6'b101101,
    // StError waits for a reset.
    StError = 6'b110011
  } state_e;
  // No upset of one bit makes a result valid, because these codes differ in four.
  localparam logic [3:0] No = 4'b0110, Yes = 4'b1001;

  // The registers keep their codes through synthesis. An upset of the command, of the outcome or of its flag stays in it,
  // so these are no state machines.
  state_e     state_d, state_q;
  command_e   command_d, command_q;
  logic [3:0] valid_d, valid_q;
  result_e    result_d, result_q;
  logic [$bits(command_e)-1:0] command_code;
  logic [$bits(result_e)-1:0]  result_code;
  sparse_fsm #(.state_t(state_e), .Reset(StWipe), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  flop_cell #(.Width($bits(command_e)), .Reset(CmdNone))   u_command (.clk_i, .rst_ni, .d_i(command_d), .q_o(command_code));
  flop_cell #(.Width($bits(result_e)), .Reset(ResultNone)) u_result  (.clk_i, .rst_ni, .d_i(result_d),  .q_o(result_code));
  flop_cell #(.Width(4), .Reset(No))                       u_valid   (.clk_i, .rst_ni, .d_i(valid_d),   .q_o(valid_q));
  assign command_q = command_e'(command_code);
  assign result_q  = result_e'(result_code);
  // These are the copies of the configuration that the program sees.
  length_t    modulus_bits_q, exponent_bits_q;
  logic       given_q, in_idle, is_error, takes, has_exponent, lengths_fit, ends, done_q, is_private, sweeps, swept;
  logic [AddrBits-1:0] wipe_q;
  result_e    verdict;

  assign in_idle  = state_q == StIdle;
  // Every code that is no state is an error as well.
  assign is_error = !(state_q inside {StWipe, StIdle, StStart, StRun, StSweep});
  assign sweeps   = state_q == StSweep;
  assign swept    = sweeps & (wipe_q == '1);

  // --- commands ---
  assign has_exponent = command_i inside {CmdPower, CmdSecret, CmdPrivate};
  // A curve has lengths of its own, so those of the registers do not matter.
  assign lengths_fit  = (command_i inside {CmdP256, CmdP384}) ||
                        (modulus_bits_i >= LeastBits && modulus_bits_i <= MostBits &&
                         (!has_exponent || (exponent_bits_i != '0 && exponent_bits_i <= MostBits)) &&
                         // A modulus of two primes has an even length, of which each prime has half.
                         (command_i != CmdPrivate || (modulus_bits_i >= LeastPrivateBits && !modulus_bits_i[0])));
  assign is_private   = command_q == CmdPrivate;
  assign command_ready_o = in_idle & ~wipe_i & ~abort_i & ~fail_i;
  assign takes           = command_valid_i & command_ready_o;

  // A code that is no command starts no program: `is_command` below.
  always_comb begin
    unique case (command_q)
      CmdPower:    entry_o = EntryPower;
      CmdSecret:   entry_o = EntrySecret;
      CmdMultiply: entry_o = EntryMultiply;
      CmdP256:     entry_o = EntryP256;
      CmdP384:     entry_o = EntryP384;
      CmdPrivate:  entry_o = EntryPrivate;
      default:     entry_o = EntryPrepare;
    endcase
  end
  // The program starts a cycle after the command, so that it sees the copies.
  assign start_o = state_q == StStart;
  assign ends    = (state_q == StRun) & end_i;

  // Any other code of an end is an error, and so is a command with an unknown code.
  logic is_end, is_command;
  // The verdict is all that software sees of a program.
  always_comb begin
    is_end = 1'b1;
    unique case (end_code_i)
      EndGood:      verdict = ResultGood;
      EndModulus:   verdict = ResultModulus;
      EndOperand:   verdict = ResultOperand;
      EndExponent:  verdict = ResultExponent;
      EndSignature: verdict = ResultSignature;
      EndKey:       verdict = ResultKey;
      EndFault:     verdict = ResultFault;
      EndRelease:   verdict = ResultGood;
      default:      {is_end, verdict} = {1'b0, ResultNone};
    endcase
    // The only good end of a private operation is the one after its check, and no other command has this end.
    if (is_private ? end_code_i == EndGood : end_code_i == EndRelease) is_end = 1'b0;
  end
  assign is_command = command_q inside {CmdPower, CmdSecret, CmdMultiply, CmdPrepare, CmdP256, CmdP384, CmdPrivate};

  // --- states ---
  // A wipe is taken in every state but the error, an abort in every state but the wipe. An abort during a sweep
  // wipes the remaining words as well.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StWipe:  if (wipe_q == '1) state_d = StIdle;
      StIdle:  if (takes && lengths_fit) state_d = StStart;
      StStart: state_d = is_command ? StRun : StError;
      StRun:   if (ends) state_d = !is_end ? StError : is_private ? StSweep : StIdle;
      StSweep: if (swept) state_d = StIdle;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (abort_i && !is_error && state_q != StWipe) state_d = (is_private && !in_idle) ? StWipe : StIdle;
    if (wipe_i && !is_error) state_d = StWipe;
    if (fail_i && Hardened) state_d = StError;
  end

  // This block says what becomes of the outcome of a command.
  always_comb begin
    command_d = takes ? command_i : command_q;
    valid_d   = takes ? No : valid_q;
    result_d  = result_q;
    if (takes) result_d = lengths_fit ? ResultNone : ResultLength;
    if (ends) begin
      result_d = verdict;
      valid_d  = (verdict == ResultGood) ? Yes : No;
    end
    // A sweep keeps the outcome of its command.
    if (clear_o && (!sweeps || abort_i || wipe_i)) begin
      valid_d = No;
      // An abort while idle ends nothing, so the outcome of the last command stays.
      if (!in_idle || wipe_i) result_d = ResultNone;
    end
  end

  // These registers are everything else that a command changes.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      modulus_bits_q  <= '0;
      exponent_bits_q <= '0;
      given_q         <= 1'b0;
      done_q          <= 1'b0;
      wipe_q          <= '0;
    end else begin
      // A wipe that follows a sweep begins at the first word again.
      wipe_q <= (wiping_o && !(sweeps && state_d == StWipe)) ? wipe_q + 1'b1 : '0;
      done_q <= (ends & is_end & ~is_private) | swept | (takes & ~lengths_fit);
      if (takes) begin
        modulus_bits_q  <= modulus_bits_i;
        exponent_bits_q <= exponent_bits_i;
        given_q         <= given_i;
      end
      if (clear_o && (!sweeps || abort_i || wipe_i)) done_q <= 1'b0;
    end
  end

  // In an error the memory is overwritten again and again, because it is not known what stopped the first time.
  assign wiping_o        = (state_q == StWipe) | is_error | sweeps;
  // A sweep leaves out the words of a valid result.
  assign wipe_write_o    = wiping_o & ~(sweeps & (valid_q == Yes) & (wipe_q[AddrBits-1:NumberShift] == SlotResult[7:3]));
  assign wipe_addr_o     = wipe_q;
  // An abort keeps operands, and with them the place of the next word.
  assign clear_port_o    = wiping_o | wipe_i;
  assign clear_o         = clear_port_o | abort_i;
  assign idle_o          = in_idle;
  assign done_o          = done_q;
  assign error_o         = is_error;
  // Software may look at any time, so nothing is shown before the sweep has ended.
  assign result_o        = (is_error || sweeps) ? ResultNone : result_q;
  assign valid_o         = in_idle & (valid_q == Yes);
  assign modulus_bits_o  = modulus_bits_q;
  assign exponent_bits_o = exponent_bits_q;
  assign given_o         = given_q;

  // An engine that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // A result is shown only if it is good and nothing works on the memory.
  `ASSERT(OnlyAGoodResultIsShown_A, valid_o |-> idle_o && result_q == ResultGood)
  // The key is overwritten after a private operation, whatever its end was.
  `ASSERT(APrivateEndIsSwept_A, ends && is_private |=> state_q inside {StSweep, StWipe} || is_error)
  // A second start would run the program again from its entry, in the middle of itself.
  `ASSERT(AProgramStartsOnce_A, start_o |=> !start_o)
  // Software that is told of an end finds an outcome.
  `ASSERT(AnEndHasAResult_A, done_o |-> result_o != ResultNone)
  // A wipe begins in the cycle after its request.
  `ASSERT(AWipeIsTaken_A, wipe_i |=> wiping_o)
  // An error shows no result and takes no command.
  `ASSERT(AnErrorShowsNothing_A, error_o |-> !valid_o && !command_ready_o)
endmodule
