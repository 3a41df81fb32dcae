// This module handles commands: their order, their programs, their results, and what must not leave.
//
// Protocol: a command is taken in a cycle with `command_valid_i` and `command_ready_o`. It is a sequence of
// programs, and `done_o` is a pulse at its end, also if it came in the wrong order. Results stay until the next
// command, an abort or a wipe. A slot is written once, until a wipe; a nonce is for the next command only.
//
// A verdict needs evidence of every check, which is kept twice, once inverted. S is valid only if the
// verification that follows it has found all of it, and a nonce only if its digest was reduced twice to the
// same number. A verification ends with a word of its own.
//
// Time: a command starts its first program in the cycle after it. A wipe takes 256 cycles. With blinding a
// product waits for entropy. A command that takes 2^16 cycles is an error.
//
// Reset: the state is a wipe, slots are empty, and nothing can be read. Hardening: states, commands, and what
// slots and nonce are, differ in several bits; step and slot are kept twice. Other codes are an error, which
// only a reset leaves, and in which the registers are overwritten all the time. `Hardened` = 0 removes this.

`include "assert.svh"

module ed25519_control
  import ed25519_pkg::*;
  import ed25519_rom_pkg::*;
#(
  // `Hardened` = 0 has illegal states return to idle, and does not require the redundant checks.
  parameter bit Hardened = 1'b1,
  // `Blinded` adds a state that takes entropy before each product.
  parameter bit Blinded = 1'b0
) (
  input  logic     clk_i,
  input  logic     rst_ni,

  // These ports take commands.
  input  logic     command_valid_i,
  output logic     command_ready_o,
  input  command_e command_i,
  input  logic [1:0] slot_i,
  // All words of the digest came since the last command.
  input  logic     digest_whole_i,
  // The digest is a key, and so no nonce and no challenge.
  input  logic     digest_clamped_i,
  // An input takes the place of S.
  input  logic     s_changes_i,
  // An abort ends the command, and forgets the nonce.
  input  logic     abort_i,
  // A wipe forgets everything, the slots included.
  input  logic     wipe_i,
  // This is an error elsewhere in the engine.
  input  logic     fail_i,
  // An error stays until reset.
  output logic     error_o,

  // Nothing runs, and inputs and commands are taken.
  output logic     idle_o,
  // This is a pulse at the end of a command, also of one in the wrong order.
  output logic     done_o,
  output result_e  result_o,
  // A or R can be read.
  output logic     out_valid_o,
  // S can be read.
  output logic     s_valid_o,
  // The prefix can leave by the side port.
  output logic     prefix_valid_o,
  // The command to sign may follow.
  output logic     nonce_valid_o,
  // These slots have a key.
  output logic [Slots-1:0] loaded_o,
  // These slots have a key with its public key.
  output logic [Slots-1:0] public_o,
  output logic [1:0] slot_o,

  // The registers are overwritten, a word in a cycle.
  output logic     wiping_o,
  output place_t   wipe_place_o,
  // All units are cleared.
  output logic     clear_o,

  // These ports take entropy before a product: Z, and 64 bits with zeros above them.
  input  logic     ent_valid_i,
  output logic     ent_ready_o,
  output logic     seed_write_o,
  output place_t   seed_place_o,
  output logic     seed_is_zero_o,

  // These ports run programs, one after the other.
  output logic     start_o,
  output logic [9:0] entry_o,
  input  logic     end_i,
  // This says what a check of a program was for, and whether it has passed.
  input  check_e   check_i,
  input  logic     passed_i,
  // Programs may write these only while the port is high: S, the words of the digest, key and prefix of the
  // slot, and its public key.
  output logic     s_open_o,
  output logic     digest_open_o,
  output logic     key_open_o,
  output logic     public_open_o
);
  // Any two states differ in at least three bits.
  typedef enum logic [5:0] {
    // StWipe overwrites the registers, and ends after the last word.
    StWipe  = 6'b001011,
    // StIdle waits for a command.
    StIdle  = 6'b010101,
    // StStart takes one cycle, in which a program begins.
    StStart = 6'b011110,
    // StRun waits for the end of the program.
    StRun   = 6'b100110,
    // StSeed waits for the words of entropy before a product; it exists with blinding only.
    StSeed  = 6'b111000,
    // StError waits for a reset.
    StError = 6'b110011
  } state_e;
  // Any two of these codes differ in two bits, so a single flipped bit makes none of them.
  localparam logic [3:0] Empty = 4'b0011, Loaded = 4'b0101, Public = 4'b1001;
  localparam logic [3:0] No = 4'b0110, Yes = 4'b1001;

  // No command takes 2^16 cycles; one that does is an error.
  localparam int unsigned LongestBit = 16;

  // The registers keep their codes through synthesis. An upset of a slot, a flag or the command stays in it, so these
  // are no state machines.
  state_e      state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StWipe), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  command_e    command_d, command_q;
  logic [$bits(command_e)-1:0] command_code;
  flop_cell #(.Width($bits(command_e)), .Reset(CmdNone)) u_command (.clk_i, .rst_ni, .d_i(command_d), .q_o(command_code));
  assign command_q = command_e'(command_code);
  // The slot of the command has a copy, and so has its program.
  logic        in_idle, in_run, is_error, is_upset, takes, in_order, is_last_step, ends;
  logic        slots_differ, steps_differ;
  logic [1:0]  slot_q;
  logic [2:0]  step_q, step_d;
  shadow_register #(.Width(2)) u_slot (
    .clk_i, .rst_ni, .write_i(takes), .d_i(slot_i), .q_o(slot_q), .differs_o(slots_differ)
  );
  shadow_register #(.Width(3)) u_step (
    .clk_i, .rst_ni, .write_i(takes | (in_run & end_i)), .d_i(step_d), .q_o(step_q), .differs_o(steps_differ)
  );
  // This is what each slot has.
  logic [Slots-1:0][3:0] slots_d, slots_q;
  for (genvar s = 0; s < int'(Slots); s++) begin : g_slots
    flop_cell #(.Width(4), .Reset(Empty)) u_has (.clk_i, .rst_ni, .d_i(slots_d[s]), .q_o(slots_q[s]));
  end
  // There is a nonce; A or R can be read; S can be read; the prefix can leave.
  logic [3:0]  nonce_d, nonce_q, out_d, out_q, s_d, s_q, prefix_d, prefix_q;
  flop_cell #(.Width(4), .Reset(No)) u_nonce  (.clk_i, .rst_ni, .d_i(nonce_d),  .q_o(nonce_q));
  flop_cell #(.Width(4), .Reset(No)) u_out    (.clk_i, .rst_ni, .d_i(out_d),    .q_o(out_q));
  flop_cell #(.Width(4), .Reset(No)) u_s      (.clk_i, .rst_ni, .d_i(s_d),      .q_o(s_q));
  flop_cell #(.Width(4), .Reset(No)) u_prefix (.clk_i, .rst_ni, .d_i(prefix_d), .q_o(prefix_q));
  // This is the evidence, and its inverse. Each has an input of its own: evidence is added to both.
  logic [Checks:1] passed_d, passed_q, missing_d, missing_q;
  flop_cell #(.Width(Checks), .Reset('0)) u_passed  (.clk_i, .rst_ni, .d_i(passed_d),  .q_o(passed_q));
  flop_cell #(.Width(Checks), .Reset('1)) u_missing (.clk_i, .rst_ni, .d_i(missing_d), .q_o(missing_q));
  // This counts the cycles of the command.
  logic [LongestBit:0] cycles_q;
  // This is the word that is overwritten.
  logic [7:0]  wipe_q;
  result_e     result_q, verdict;
  logic [9:0]  entry;

  assign in_idle = state_q == StIdle;
  assign in_run  = state_q == StRun;
  // Every code that is no state is an error as well.
  assign is_error = !(state_q inside {StWipe, StIdle, StStart, StRun} || (Blinded && state_q == StSeed));
  assign error_o  = is_error;
  // These codes and copies are as nothing has set them, so they are upsets.
  assign is_upset = Hardened & (!(command_q inside {CmdNone, CmdLoad, CmdPublic, CmdNonce, CmdSign, CmdVerify, CmdPrefix}) |
                                slots_differ | steps_differ);

  // --- order ---

  logic [3:0] slot_now;
  assign slot_now = slots_q[slot_i];
  // A slot is written once, a key without its public key does not sign, and nothing signs without a nonce. A
  // digest has to be whole.
  always_comb begin
    unique case (command_i)
      CmdLoad:              in_order = slot_now == Empty && digest_whole_i;
      CmdPublic, CmdPrefix: in_order = slot_now == Loaded || slot_now == Public;
      CmdNonce, CmdVerify:  in_order = digest_whole_i & ~digest_clamped_i;
      CmdSign:              in_order = slot_now == Public && nonce_q == Yes && digest_whole_i && !digest_clamped_i;
      default:              in_order = 1'b0;
    endcase
  end
  assign command_ready_o = in_idle & ~wipe_i & ~abort_i & ~fail_i;
  assign takes           = command_valid_i & command_ready_o;

  // These are the programs of a command, one after the other.
  always_comb begin
    entry        = EntryCheck;
    is_last_step = 1'b0;
    unique case (command_q)
      CmdLoad: begin
        entry        = (step_q == 3'd0) ? EntryLoad : EntryLoadAgain;
        is_last_step = step_q == 3'd1;
      end
      CmdPublic: begin
        entry        = (step_q == 3'd0) ? EntryKey : (step_q == 3'd1) ? EntryBase : EntryKeepPublic;
        is_last_step = step_q == 3'd2;
      end
      CmdNonce: begin
        // The digest is reduced twice: an upset would make another nonce, which nothing else can tell from the
        // right one.
        entry        = (step_q == 3'd1) ? EntryNonce : (step_q == 3'd3) ? EntryBase : (step_q == 3'd4) ? EntryKeepR :
                       EntryChallenge;
        is_last_step = step_q == 3'd4;
      end
      CmdSign: begin
        // The verification begins with the digest, because an upset of k would make an S that fits itself.
        entry        = (step_q == 3'd1) ? EntryRespond : (step_q == 3'd3) ? EntryCheck : EntryChallenge;
        is_last_step = step_q == 3'd3;
      end
      CmdVerify: begin
        entry        = (step_q == 3'd0) ? EntryChallenge : EntryCheck;
        is_last_step = step_q == 3'd1;
      end
      CmdPrefix: begin
        entry        = EntryPrefix;
        is_last_step = 1'b1;
      end
      default: is_last_step = 1'b1;
    endcase
  end
  assign start_o  = state_q == StStart;
  assign entry_o  = entry;
  assign ends     = in_run & end_i & is_last_step;
  // Other writes to these registers are upsets. Products and verifications use the registers of the digest
  // after it has been reduced.
  assign s_open_o      = in_run & ~is_upset & (entry == EntryRespond);
  assign digest_open_o = in_run & ~is_upset & (entry inside {EntryBase, EntryCheck});
  assign key_open_o    = in_run & ~is_upset & (entry == EntryLoad);
  assign public_open_o = in_run & ~is_upset & (entry == EntryKeepPublic);

  // --- entropy ---

  logic [2:0] seed_q;  // This is the word that comes next.
  logic       in_seed, needs_seed;
  assign in_seed        = Blinded & (state_q == StSeed);
  // This is about the program after this state, or after the program that ends.
  assign needs_seed     = Blinded & ((command_q == CmdPublic) ? step_d == 3'd1 : (command_q == CmdNonce) & (step_d == 3'd3));
  assign seed_is_zero_o = seed_q > 3'd4;
  assign ent_ready_o    = in_seed & ~seed_is_zero_o;
  assign seed_write_o   = in_seed & (seed_is_zero_o | ent_valid_i);
  assign seed_place_o   = {seed_q[2] ? NumberBlind : NumberZ, seed_q[1:0]};
  // There are eight words: five of entropy, and three zeros.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)           seed_q <= '0;
    else if (!in_seed)     seed_q <= '0;
    else if (seed_write_o) seed_q <= seed_q + 3'd1;
  end

  // --- verdict ---

  // These are the checks of a public key, of a signature, and of the equation between them.
  localparam logic [Checks:1] KeyChecks = 14'b00_0000_0000_0111, SignatureChecks = 14'b10_0000_0011_1000,
                              EqualChecks = 14'b00_0001_1100_0000;
  logic [Checks:1] good;
  logic is_verified, has_key, has_prefix, has_nonce;
  // Evidence counts only where both copies say so.
  assign good        = passed_q & ~missing_q;
  assign is_verified = ((good & (KeyChecks | SignatureChecks | EqualChecks)) ==
                        (KeyChecks | SignatureChecks | EqualChecks));
  // This is evidence about secrets, which nothing else checks.
  assign has_key      = good[CheckKeyEqual] | ~Hardened;
  assign has_prefix   = good[CheckPrefixEqual] | ~Hardened;
  assign has_nonce    = good[CheckNonceEqual] | ~Hardened;
  // The first check that is missing decides, in the order of a verifier in software.
  always_comb begin
    verdict = ResultDone;
    unique case (command_q)
      CmdLoad: begin
        if (!good[CheckScalar])         verdict = ResultScalar;
        else if (!has_key | !has_prefix) verdict = ResultMismatch;
      end
      CmdPublic: if (!good[CheckScalar]) verdict = ResultScalar;
      CmdNonce: begin
        if (!good[CheckScalar]) verdict = ResultScalar;
        else if (!has_nonce)    verdict = ResultMismatch;
      end
      CmdSign:   if (!is_verified) verdict = ResultMismatch;
      CmdPrefix: if (!has_prefix) verdict = ResultMismatch;
      CmdVerify: begin
        verdict = ResultGood;
        if ((good & KeyChecks) != KeyChecks)                  verdict = ResultKey;
        else if ((good & SignatureChecks) != SignatureChecks) verdict = ResultSignature;
        else if (!is_verified)                                verdict = ResultMismatch;
      end
      default: verdict = Hardened ? ResultMismatch : ResultGood;
    endcase
  end

  // --- states ---

  // A wipe is taken in every state but the error, an abort in every state but the wipe.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StWipe:  if (wipe_q == '1) state_d = StIdle;
      StIdle:  if (takes && in_order) state_d = StStart;
      StStart: state_d = StRun;
      StRun: begin
        if (end_i) state_d = ~is_last_step ? (needs_seed ? StSeed : StStart) : StIdle;
        if (cycles_q[LongestBit]) state_d = StError;
      end
      StSeed: begin
        if (seed_write_o && seed_q == '1) state_d = StStart;
        // Without entropy nothing is computed.
        if (cycles_q[LongestBit]) state_d = StError;
        if (!Blinded) state_d = Hardened ? StError : StIdle;
      end
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (abort_i && !is_error && (state_q != StWipe)) state_d = StIdle;
    if (wipe_i && !is_error) state_d = StWipe;
    if ((fail_i || is_upset) && Hardened) state_d = StError;
  end

  // In an error the registers are overwritten again and again.
  assign wiping_o     = (state_q == StWipe) | is_error;
  assign wipe_place_o = wipe_q;
  assign clear_o      = wiping_o | wipe_i | abort_i;
  assign step_d       = takes ? '0 : step_q + 3'(in_run && end_i && !is_last_step);

  // This is everything else that a command changes: what it is, its evidence, and what may be read after it.
  always_comb begin
    command_d = takes ? command_i : command_q;
    slots_d   = slots_q;
    nonce_d   = nonce_q;
    out_d     = takes ? No : out_q;
    s_d       = takes ? No : s_q;
    prefix_d  = takes ? No : prefix_q;
    passed_d  = takes ? '0 : passed_q;
    missing_d = takes ? '1 : missing_q;
    // A nonce is for the next command only.
    if (takes && in_order && command_i != CmdSign) nonce_d = No;
    if (check_i != CheckNone && passed_i) begin
      passed_d[check_i]  = 1'b1;
      missing_d[check_i] = 1'b0;
    end
    // The nonce is gone before S is shown, and also if S is not shown.
    if (command_q == CmdSign && !in_idle) nonce_d = No;
    if (ends && verdict == ResultDone) begin
      unique case (command_q)
        CmdLoad: slots_d[slot_q] = Loaded;
        CmdPublic: begin
          slots_d[slot_q] = Public;
          out_d           = Yes;
        end
        CmdNonce: begin
          nonce_d = Yes;
          out_d   = Yes;
        end
        CmdSign:   s_d      = Yes;
        CmdPrefix: prefix_d = Yes;
        default: ;
      endcase
    end
    // An input in the place of S is not the S that was verified.
    if (s_changes_i) s_d = No;
    if (clear_o) {nonce_d, out_d, s_d, prefix_d} = {No, No, No, No};
    if (wiping_o || wipe_i) slots_d = {Slots{Empty}};
  end

  // The outcome, and what counts cycles and words of a wipe.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycles_q  <= '0;
      wipe_q    <= '0;
      result_q  <= ResultNone;
      done_o    <= 1'b0;
    end else begin
      wipe_q   <= wiping_o ? wipe_q + 8'd1 : '0;
      cycles_q <= in_idle ? '0 : cycles_q + 1'b1;
      done_o   <= ends | (takes & ~in_order);
      if (takes) result_q <= in_order ? ResultNone : ResultOrder;
      if (ends)  result_q <= verdict;
      if (clear_o && (!in_idle || wipe_i)) result_q <= ResultNone;
    end
  end

  assign idle_o         = in_idle;
  // The word of a signature needs the command and the evidence to be there still.
  assign result_o       = (is_error | (Hardened & (result_q == ResultGood) & ~(in_idle & (command_q == CmdVerify) & is_verified))) ?
                          ResultNone : result_q;
  assign out_valid_o    = in_idle & (out_q == Yes);
  // The evidence itself decides, and not only what was made of it.
  assign s_valid_o      = in_idle & (s_q == Yes) & is_verified;
  assign prefix_valid_o = in_idle & (prefix_q == Yes);
  assign nonce_valid_o  = nonce_q == Yes;
  assign slot_o         = slot_q;
  for (genvar s = 0; s < int'(Slots); s++) begin : g_slot
    assign loaded_o[s] = (slots_q[s] == Loaded) | (slots_q[s] == Public);
    assign public_o[s] = slots_q[s] == Public;
  end

  // An engine that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // An error shows nothing and takes no command.
  `ASSERT(AnErrorShowsNothing_A, error_o |-> !out_valid_o && !s_valid_o && !prefix_valid_o && !command_ready_o)
  // An S that no verification has found right may give the key away.
  `ASSERT(SIsVerified_A, s_valid_o |-> (&good[CheckYEqual:CheckACanonical]))
  // Two signatures with one nonce give the key away.
  `ASSERT(ANonceIsUsedOnce_A, s_valid_o |-> !nonce_valid_o)
  // A slot that is written over could mix the scalar of one key with the prefix of another.
  `ASSERT(ASlotIsWrittenOnce_A, takes && in_order && command_i == CmdLoad |-> slot_now == Empty)
  // A part of an old digest would make another nonce, or another key.
  `ASSERT(ADigestIsWhole_A, takes && in_order && command_i inside {CmdLoad, CmdNonce, CmdSign, CmdVerify} |-> digest_whole_i)
  // A clamped digest belongs to a key, and is neither a nonce nor a challenge.
  `ASSERT(AKeyIsNoDigest_A, takes && in_order && command_i inside {CmdNonce, CmdSign, CmdVerify} |-> !digest_clamped_i)
  // The word of a signature is that of a verification with all its evidence.
  `ASSERT(ASignatureIsOfAVerification_A, Hardened && result_o == ResultGood |-> command_q == CmdVerify && is_verified)
  // An upset that is seen ends in the error.
  `ASSERT(AnUpsetIsAnError_A, is_upset |=> error_o)
  // A nonce that differs in one bit from the right one gives the key away.
  `ASSERT(ANonceIsOfItsDigest_A, Hardened && $rose(nonce_valid_o) |-> good[CheckNonceEqual])
endmodule
