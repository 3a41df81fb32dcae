// Commands: their order, their programs, their results, and what must not leave.
//
// A verdict needs evidence of every check, which is kept twice, once inverted. S is valid only if the verification that
// follows it has found all of it, a nonce only if its digest was reduced twice to the same. A verification alone ends with
// the word of a signature. States, commands, and what slots and nonce are, differ in several bits; step and slot are kept
// twice. Other codes are an error, which only a reset leaves.

`include "assert.svh"

module ed25519_control
  import ed25519_pkg::*;
  import ed25519_rom_pkg::*;
#(
  parameter bit Hardened = 1'b1,
  parameter bit Blinded = 1'b0
) (
  input  logic     clk_i,
  input  logic     rst_ni,

  input  logic     command_valid_i,
  output logic     command_ready_o,
  input  command_e command_i,
  input  logic [1:0] slot_i,
  input  logic     digest_whole_i,   // all its words came since the last command
  input  logic     digest_clamped_i, // it is a key: no nonce and no challenge
  input  logic     s_changes_i,      // an input takes the place of S
  input  logic     abort_i,        // end the command, and forget the nonce
  input  logic     wipe_i,         // forget everything, slots included
  input  logic     fail_i,         // an error elsewhere
  output logic     error_o,        // until reset

  output logic     idle_o,         // nothing runs: inputs and commands are taken
  output logic     done_o,         // a pulse, also for a command in the wrong order
  output result_e  result_o,
  output logic     out_valid_o,    // A or R can be read
  output logic     s_valid_o,
  output logic     prefix_valid_o, // for the side port
  output logic     nonce_valid_o,  // `sign` may follow
  output logic [Slots-1:0] loaded_o,  // slots with a key
  output logic [Slots-1:0] public_o,  // and with its public key
  output logic [1:0] slot_o,

  // The registers are overwritten, a word a cycle.
  output logic     wiping_o,
  output place_t   wipe_place_o,
  output logic     clear_o,        // of all units

  // Entropy before a product: Z, and 64 bits with zeros above.
  input  logic     ent_valid_i,
  output logic     ent_ready_o,
  output logic     seed_write_o,
  output place_t   seed_place_o,
  output logic     seed_is_zero_o,

  // Programs, one after the other.
  output logic     start_o,
  output logic [9:0] entry_o,
  input  logic     end_i,
  input  check_e   check_i,       // what a check of a program was for, and whether it found it
  input  logic     passed_i,
  // What programs may write: S, the words of the digest, key and prefix of the slot, its public key.
  output logic     s_open_o,
  output logic     digest_open_o,
  output logic     key_open_o,
  output logic     public_open_o
);
  // Any two states differ in three bits at least.
  typedef enum logic [5:0] {
    StWipe  = 6'b001011,
    StIdle  = 6'b010101,
    StStart = 6'b011110,
    StRun   = 6'b100110,
    StSeed  = 6'b111000,  // with blinding only
    StError = 6'b110011
  } state_e;
  // And any two of these in two: one flipped bit is none of them.
  localparam logic [3:0] Empty = 4'b0011, Loaded = 4'b0101, Public = 4'b1001;
  localparam logic [3:0] No = 4'b0110, Yes = 4'b1001;

  // No command takes as long: then it is an error. 2^16 cycles.
  localparam int unsigned LongestBit = 16;

  (* fsm_encoding = "none" *) state_e state_q;
  state_e      state_d;
  (* fsm_encoding = "none" *) command_e command_q;
  logic [1:0]  slot_q, other_slot_q;  // and its inverse
  logic [2:0]  step_q, other_step_q, step_d;  // of the programs of a command
  (* fsm_encoding = "none" *) logic [3:0] slots_q [Slots];
  (* fsm_encoding = "none" *) logic [3:0] nonce_q;  // there is a nonce
  (* fsm_encoding = "none" *) logic [3:0] out_q;  // A or R can be read
  (* fsm_encoding = "none" *) logic [3:0] s_q;  // S can be read
  (* fsm_encoding = "none" *) logic [3:0] prefix_q;  // the prefix can leave
  logic [Checks:1] passed_q, missing_q;  // evidence, and its inverse
  logic [LongestBit:0] cycles_q;  // of the command
  logic [7:0]  wipe_q;  // the word that is overwritten
  result_e     result_q, verdict;
  logic        in_idle, in_run, is_error, is_upset, takes, in_order, is_last_step, ends;
  logic [9:0]  entry;

  assign in_idle = state_q == StIdle;
  assign in_run  = state_q == StRun;
  // Every code that is no state, too.
  assign is_error = !(state_q inside {StWipe, StIdle, StStart, StRun} || (Blinded && state_q == StSeed));
  assign error_o  = is_error;
  // What has a code that nothing gave it.
  assign is_upset = Hardened & (!(command_q inside {CmdNone, CmdLoad, CmdPublic, CmdNonce, CmdSign, CmdVerify, CmdPrefix}) |
                                (other_slot_q != ~slot_q) | (other_step_q != ~step_q));

  // --- order ---

  logic [3:0] slot_now;
  assign slot_now = slots_q[slot_i];
  // A slot is written once; a key without its public key does not sign, and nothing signs without a nonce. A digest is whole.
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

  // The programs of a command, one after the other.
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
        // The digest is reduced twice: an upset would make another nonce, which nothing else can tell from the right one.
        entry        = (step_q == 3'd1) ? EntryNonce : (step_q == 3'd3) ? EntryBase : (step_q == 3'd4) ? EntryKeepR :
                       EntryChallenge;
        is_last_step = step_q == 3'd4;
      end
      CmdSign: begin
        // The verification begins with the digest: an upset of k would make an S that fits itself.
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
  // Other writes to these are upsets. Products and verifications use the registers of the digest when it has been reduced.
  assign s_open_o      = in_run & ~is_upset & (entry == EntryRespond);
  assign digest_open_o = in_run & ~is_upset & (entry inside {EntryBase, EntryCheck});
  assign key_open_o    = in_run & ~is_upset & (entry == EntryLoad);
  assign public_open_o = in_run & ~is_upset & (entry == EntryKeepPublic);

  // --- entropy ---

  logic [2:0] seed_q;  // the word that comes next
  logic       in_seed, needs_seed;
  assign in_seed        = Blinded & (state_q == StSeed);
  // The program after this state, or the one after the program that ends.
  assign needs_seed     = Blinded & ((command_q == CmdPublic) ? step_d == 3'd1 : (command_q == CmdNonce) & (step_d == 3'd3));
  assign seed_is_zero_o = seed_q > 3'd4;
  assign ent_ready_o    = in_seed & ~seed_is_zero_o;
  assign seed_write_o   = in_seed & (seed_is_zero_o | ent_valid_i);
  assign seed_place_o   = {seed_q[2] ? NumberBlind : NumberZ, seed_q[1:0]};
  // Eight words: five of entropy, and three zeros.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)           seed_q <= '0;
    else if (!in_seed)     seed_q <= '0;
    else if (seed_write_o) seed_q <= seed_q + 3'd1;
  end

  // --- verdict ---

  localparam logic [Checks:1] KeyChecks = 14'b00_0000_0000_0111, SignatureChecks = 14'b10_0000_0011_1000,
                              EqualChecks = 14'b00_0001_1100_0000;
  logic [Checks:1] good;
  logic is_verified, has_key, has_prefix, has_nonce;
  // Evidence counts where both copies say so.
  assign good        = passed_q & ~missing_q;
  assign is_verified = ((good & (KeyChecks | SignatureChecks | EqualChecks)) ==
                        (KeyChecks | SignatureChecks | EqualChecks));
  // Of secrets, which nothing else checks.
  assign has_key      = good[CheckKeyEqual] | ~Hardened;
  assign has_prefix   = good[CheckPrefixEqual] | ~Hardened;
  assign has_nonce    = good[CheckNonceEqual] | ~Hardened;
  // The first that is missing decides, in the order of software.
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

  // A wipe is taken in every state but the error, an abort in every one but the wipe.
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

  // The state machine. It begins with a wipe.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= StWipe;
    else         state_q <= state_d;
  end

  assign wiping_o     = (state_q == StWipe) | is_error;
  assign wipe_place_o = wipe_q;
  assign clear_o      = wiping_o | wipe_i | abort_i;
  assign step_d       = takes ? '0 : step_q + 3'(in_run && end_i && !is_last_step);

  // Everything else that a command changes.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      command_q <= CmdNone;
      slot_q    <= '0;
      step_q    <= '0;
      other_slot_q <= '1;
      other_step_q <= '1;
      nonce_q   <= No;
      out_q     <= No;
      s_q       <= No;
      prefix_q  <= No;
      passed_q  <= '0;
      missing_q <= '1;
      cycles_q  <= '0;
      wipe_q    <= '0;
      result_q  <= ResultNone;
      done_o    <= 1'b0;
      for (int s = 0; s < int'(Slots); s++) slots_q[s] <= Empty;
    end else begin
      wipe_q   <= wiping_o ? wipe_q + 8'd1 : '0;
      cycles_q <= in_idle ? '0 : cycles_q + 1'b1;
      done_o   <= 1'b0;
      step_q   <= step_d;
      // Where both moved alike an upset of one would be hidden.
      if (takes || (in_run && end_i)) other_step_q <= ~step_d;
      if (takes) begin
        command_q    <= command_i;
        slot_q       <= slot_i;
        other_slot_q <= ~slot_i;
        passed_q  <= '0;
        missing_q <= '1;
        out_q     <= No;
        s_q       <= No;
        prefix_q  <= No;
        result_q  <= in_order ? ResultNone : ResultOrder;
        done_o    <= ~in_order;
        // A nonce is for the next command only.
        if (in_order && command_i != CmdSign) nonce_q <= No;
      end
      if (check_i != CheckNone && passed_i) begin
        passed_q[check_i]  <= 1'b1;
        missing_q[check_i] <= 1'b0;
      end
      // The nonce is gone before S is shown, and whether it is shown or not.
      if (command_q == CmdSign && !in_idle) nonce_q <= No;
      if (ends) begin
        result_q <= verdict;
        done_o   <= 1'b1;
        if (verdict == ResultDone) begin
          unique case (command_q)
            CmdLoad: slots_q[slot_q] <= Loaded;
            CmdPublic: begin
              slots_q[slot_q] <= Public;
              out_q           <= Yes;
            end
            CmdNonce: begin
              nonce_q <= Yes;
              out_q   <= Yes;
            end
            CmdSign:   s_q      <= Yes;
            CmdPrefix: prefix_q <= Yes;
            default: ;
          endcase
        end
      end
      if (s_changes_i) s_q <= No;
      if (clear_o) begin
        {nonce_q, out_q, s_q, prefix_q} <= {No, No, No, No};
        if (!in_idle || wipe_i) result_q <= ResultNone;
      end
      if (wiping_o || wipe_i) begin
        for (int s = 0; s < int'(Slots); s++) slots_q[s] <= Empty;
      end
    end
  end

  assign idle_o         = in_idle;
  // The word of a signature needs the command and the evidence still to be there.
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

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(AnErrorShowsNothing_A, error_o |-> !out_valid_o && !s_valid_o && !prefix_valid_o && !command_ready_o)
  `ASSERT(SIsVerified_A, s_valid_o |-> (&good[CheckYEqual:CheckACanonical]))
  `ASSERT(ANonceIsUsedOnce_A, s_valid_o |-> !nonce_valid_o)
  `ASSERT(ASlotIsWrittenOnce_A, takes && in_order && command_i == CmdLoad |-> slot_now == Empty)
  `ASSERT(ADigestIsWhole_A, takes && in_order && command_i inside {CmdLoad, CmdNonce, CmdSign, CmdVerify} |-> digest_whole_i)
  `ASSERT(AKeyIsNoDigest_A, takes && in_order && command_i inside {CmdNonce, CmdSign, CmdVerify} |-> !digest_clamped_i)
  `ASSERT(ASignatureIsOfAVerification_A, Hardened && result_o == ResultGood |-> command_q == CmdVerify && is_verified)
  `ASSERT(AnUpsetIsAnError_A, is_upset |=> error_o)
  `ASSERT(ANonceIsOfItsDigest_A, Hardened && $rose(nonce_valid_o) |-> good[CheckNonceEqual])
endmodule
