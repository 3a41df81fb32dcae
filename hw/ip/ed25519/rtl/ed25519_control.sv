// Commands: their order, their programs, their results, and what must not leave.
//
// A verdict needs evidence of every check, which is kept twice, once inverted. S is valid only if the verification that
// follows it has found all of it. States, and what slots and nonce are, differ in several bits; illegal ones are an error,
// which only a reset leaves.

`include "assert.svh"

module ed25519_control
  import ed25519_pkg::*;
  import ed25519_rom_pkg::*;
#(
  parameter bit Hardened = 1'b1
) (
  input  logic     clk_i,
  input  logic     rst_ni,

  input  logic     command_valid_i,
  output logic     command_ready_o,
  input  command_e command_i,
  input  logic [1:0] slot_i,
  input  logic     slow_i,
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

  // Programs, one after the other.
  output logic     start_o,
  output logic [9:0] entry_o,
  input  logic     end_i,
  input  check_e   check_i,       // what a check of a program was for, and whether it found it
  input  logic     passed_i,
  // S may be written.
  output logic     s_open_o
);
  // Any two states differ in three bits at least.
  typedef enum logic [5:0] {
    StWipe  = 6'b001011,
    StIdle  = 6'b010101,
    StStart = 6'b011110,
    StRun   = 6'b100110,
    StSlow  = 6'b101101,
    StError = 6'b110011
  } state_e;
  // And any two of these in two: one flipped bit is none of them.
  localparam logic [3:0] Empty = 4'b0011, Loaded = 4'b0101, Public = 4'b1001;
  localparam logic [3:0] No = 4'b0110, Yes = 4'b1001;

  // The paper's cycles (3-quick-boot-tee): a base-point product, and S.
  localparam logic [18:0] SlowProduct = 19'd463_294, SlowResponse = 19'd5_464;
  // No command takes as long, unless it is slow: then it is an error. 2^16 cycles.
  localparam int unsigned LongestBit = 16;

  (* fsm_encoding = "none" *) state_e state_q;
  state_e      state_d;
  (* fsm_encoding = "none" *) command_e command_q;
  logic [1:0]  slot_q, step_q;
  (* fsm_encoding = "none" *) logic [3:0] slots_q [Slots];
  (* fsm_encoding = "none" *) logic [3:0] nonce_q;  // there is a nonce
  (* fsm_encoding = "none" *) logic [3:0] out_q;  // A or R can be read
  (* fsm_encoding = "none" *) logic [3:0] s_q;  // S can be read
  (* fsm_encoding = "none" *) logic [3:0] prefix_q;  // the prefix can leave
  (* fsm_encoding = "none" *) logic [3:0] slow_q;  // the paper's cycles
  logic [Checks:1] passed_q, missing_q;  // evidence, and its inverse
  logic [18:0] cycles_q;  // of the command
  logic [7:0]  wipe_q;  // the word that is overwritten
  result_e     result_q, verdict;
  logic        in_idle, in_run, is_error, takes, in_order, is_last_step, ends, ends_now, slow_done;
  logic [9:0]  entry;

  assign in_idle = state_q == StIdle;
  assign in_run  = state_q == StRun;
  // Every code that is no state, too.
  assign is_error = !(state_q inside {StWipe, StIdle, StStart, StRun, StSlow});
  assign error_o  = is_error;

  // --- order ---

  logic [3:0] slot_now;
  assign slot_now = slots_q[slot_i];
  // A slot is written once; a key without its public key does not sign, and nothing signs without a nonce.
  always_comb begin
    unique case (command_i)
      CmdLoad:              in_order = slot_now == Empty;
      CmdPublic, CmdPrefix: in_order = slot_now == Loaded || slot_now == Public;
      CmdNonce, CmdVerify:  in_order = 1'b1;
      CmdSign:              in_order = slot_now == Public && nonce_q == Yes;
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
        entry        = EntryLoad;
        is_last_step = 1'b1;
      end
      CmdPublic: begin
        entry        = (step_q == 2'd0) ? EntryKey : (step_q == 2'd1) ? EntryBase : EntryKeepPublic;
        is_last_step = step_q == 2'd2;
      end
      CmdNonce: begin
        entry        = (step_q == 2'd0) ? EntryChallenge : (step_q == 2'd1) ? EntryNonce :
                       (step_q == 2'd2) ? EntryBase : EntryKeepR;
        is_last_step = step_q == 2'd3;
      end
      CmdSign: begin
        // The verification begins with the digest: an upset of k would make an S that fits itself.
        entry        = (step_q == 2'd1) ? EntryRespond : (step_q == 2'd3) ? EntryCheck : EntryChallenge;
        // Without a verification of S only where the paper's engine has none either.
        is_last_step = (step_q == 2'd3) | ((step_q == 2'd1) & (slow_q == Yes));
      end
      CmdVerify: begin
        entry        = (step_q == 2'd0) ? EntryChallenge : EntryCheck;
        is_last_step = step_q == 2'd1;
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
  assign s_open_o = in_run & (command_q == CmdSign) & (step_q == 2'd1);

  // --- verdict ---

  localparam logic [Checks:1] KeyChecks = 10'b0000000111, SignatureChecks = 10'b0000111000, EqualChecks = 10'b0111000000;
  logic [Checks:1] good;
  logic is_verified;
  // Evidence counts where both copies say so.
  assign good        = passed_q & ~missing_q;
  assign is_verified = ((good & (KeyChecks | SignatureChecks | EqualChecks)) ==
                        (KeyChecks | SignatureChecks | EqualChecks));
  // The first that is missing decides, in the order of software.
  always_comb begin
    verdict = ResultGood;
    unique case (command_q)
      CmdLoad, CmdPublic, CmdNonce: if (!good[CheckScalar]) verdict = ResultScalar;
      CmdSign: if (!is_verified && slow_q != Yes) verdict = ResultMismatch;
      CmdVerify: begin
        if ((good & KeyChecks) != KeyChecks)                  verdict = ResultKey;
        else if ((good & SignatureChecks) != SignatureChecks) verdict = ResultSignature;
        else if (!is_verified)                                verdict = ResultMismatch;
      end
      default: ;
    endcase
  end

  // --- states ---
  // A command runs its programs, and with `slow_i` waits for the paper's cycles.

  logic has_slow_time;
  assign has_slow_time = (slow_q == Yes) && (command_q inside {CmdPublic, CmdNonce, CmdSign});
  assign slow_done     = cycles_q == ((command_q == CmdSign) ? SlowResponse : SlowProduct) - 19'd1;
  assign ends_now      = (ends & ~has_slow_time) | ((state_q == StSlow) & slow_done);

  // A wipe is taken in every state but the error, an abort in every one but the wipe.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StWipe:  if (wipe_q == '1) state_d = StIdle;
      StIdle:  if (takes && in_order) state_d = StStart;
      StStart: state_d = StRun;
      StRun: begin
        if (end_i) state_d = ~is_last_step ? StStart : (has_slow_time ? StSlow : StIdle);
        if (cycles_q[LongestBit] && slow_q != Yes) state_d = StError;
      end
      StSlow: if (slow_done) state_d = StIdle;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (abort_i && !is_error && (state_q != StWipe)) state_d = StIdle;
    if (wipe_i && !is_error) state_d = StWipe;
    if (fail_i && Hardened) state_d = StError;
  end

  // The state machine. It begins with a wipe.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= StWipe;
    else         state_q <= state_d;
  end

  assign wiping_o     = (state_q == StWipe) | is_error;
  assign wipe_place_o = wipe_q;
  assign clear_o      = wiping_o | wipe_i | abort_i;

  // Everything else that a command changes.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      command_q <= CmdNone;
      slot_q    <= '0;
      step_q    <= '0;
      nonce_q   <= No;
      out_q     <= No;
      s_q       <= No;
      prefix_q  <= No;
      slow_q    <= No;
      passed_q  <= '0;
      missing_q <= '1;
      cycles_q  <= '0;
      wipe_q    <= '0;
      result_q  <= ResultNone;
      done_o    <= 1'b0;
      for (int s = 0; s < int'(Slots); s++) slots_q[s] <= Empty;
    end else begin
      wipe_q   <= wiping_o ? wipe_q + 8'd1 : '0;
      cycles_q <= in_idle ? '0 : cycles_q + 19'd1;
      done_o   <= 1'b0;
      if (takes) begin
        command_q <= command_i;
        slot_q    <= slot_i;
        step_q    <= '0;
        slow_q    <= slow_i ? Yes : No;
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
      if (in_run && end_i && !is_last_step) step_q <= step_q + 2'd1;
      if (check_i != CheckNone && passed_i) begin
        passed_q[check_i]  <= 1'b1;
        missing_q[check_i] <= 1'b0;
      end
      // The nonce is gone before S is shown, and whether it is shown or not.
      if (command_q == CmdSign && !in_idle) nonce_q <= No;
      if (ends_now) begin
        result_q <= verdict;
        done_o   <= 1'b1;
        if (verdict == ResultGood) begin
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
  assign result_o       = is_error ? ResultNone : result_q;
  assign out_valid_o    = in_idle & (out_q == Yes);
  // The evidence itself decides, and not only what was made of it.
  assign s_valid_o      = in_idle & (s_q == Yes) & (is_verified | (slow_q == Yes));
  assign prefix_valid_o = in_idle & (prefix_q == Yes);
  assign nonce_valid_o  = nonce_q == Yes;
  assign slot_o         = slot_q;
  for (genvar s = 0; s < int'(Slots); s++) begin : g_slot
    assign loaded_o[s] = (slots_q[s] == Loaded) | (slots_q[s] == Public);
    assign public_o[s] = slots_q[s] == Public;
  end

  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  `ASSERT(AnErrorShowsNothing_A, error_o |-> !out_valid_o && !s_valid_o && !prefix_valid_o && !command_ready_o)
  `ASSERT(SIsVerified_A, s_valid_o && slow_q != Yes |-> (&good[CheckYEqual:CheckACanonical]))
  `ASSERT(ANonceIsUsedOnce_A, s_valid_o |-> !nonce_valid_o)
  `ASSERT(ASlotIsWrittenOnce_A, takes && in_order && command_i == CmdLoad |-> slot_now == Empty)
endmodule
