// This module executes the microprogram, one instruction at a time. An instruction may let a unit work until it
// is done.
//
// Protocol: `start_i` begins the program at `entry_i` while `busy_o` is low, and `end_o` is a pulse in its last
// cycle, with its result. Lengths are stable until then. `clear_i` ends a program at once.
//
// Time: an instruction takes two cycles, and those of its unit. A branch can depend on a sign, on zero or on a
// digit. Programs that work on secrets have no such branch except for refusals (`data/programs.py`).
//
// Reset: the module is idle. Hardening: codes of states differ in at least two bits; an illegal state, and an
// instruction that does not exist, are errors that only a reset leaves. So is a step of a program that does not
// follow the step before: an upset of the place in the program cannot skip one. `Hardened` = 0 removes this.

`include "assert.svh"

module bignum_sequencer
  import bignum_pkg::*;
#(
  // `W` is the width of a word of the memory.
  parameter int unsigned W = 68,
  // `Hardened` = 0 has illegal states return to idle, and does not check steps.
  parameter bit Hardened = 1'b1,
  localparam int unsigned Parts     = LimbBits / W,
  localparam int unsigned AddrBits  = $clog2(Limbs * Parts),
  localparam int unsigned IndexBits = 10
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,

  // A start is taken while the module is not busy.
  input  logic                 start_i,
  input  address_t             entry_i,
  input  length_t              modulus_bits_i,
  input  length_t              exponent_bits_i,
  // R² is given, and need not be computed.
  input  logic                 given_i,
  output logic                 busy_o,
  // This is a pulse in the last cycle.
  output logic                 end_o,
  output end_e                 end_code_o,
  // An error stays until reset.
  output logic                 error_o,

  // The ROM has a word a cycle after its address.
  output address_t             rom_addr_o,
  input  logic [LimbBits-1:0]  rom_data_i,

  // These ports control the datapath. The operation is stable until `op_done_i`; the flags are those of its
  // last result.
  output logic                 op_start_o,
  output vector_t              op_o,
  output field_e               field_o,
  output logic [IndexBits-1:0] words_o,
  output slot_t                modulus_o,
  output logic [W-1:0]         inverse_o,
  output logic [3:0]           index_o,
  output logic [2:0]           pairs_o,
  output logic [AddrBits-1:0]  stride_o,
  input  logic                 op_done_i,
  input  logic                 is_zero_i,
  input  logic                 is_negative_i,
  input  logic                 is_odd_i,

  // These ports are the memory, while the datapath does nothing.
  output logic                 write_o,
  output logic [AddrBits-1:0]  addr_o,
  output logic [W-1:0]         data_o,
  input  logic [W-1:0]         data_i
);
  localparam int unsigned BitBits = $clog2(W);

  typedef enum logic [5:0] {
    // StIdle waits for a start.
    StIdle  = 6'b001011,
    // StFetch takes a cycle, in which the word of the ROM is stored.
    StFetch = 6'b010101,
    // StBegin is the first cycle of an instruction; most instructions end in it.
    StBegin = 6'b011110,
    // StWork waits for the end of the unit that the instruction has started.
    StWork  = 6'b100110,
    // StTake takes a word of the memory.
    StTake  = 6'b101101,
    // StError waits for a reset.
    StError = 6'b110011
  } state_e;

  state_e       state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  instruction_t now, now_q;
  address_t     pc_q, pc_d;
  // Programs call at most two deep; a third call would lose the first place.
  address_t     stack_q [2];
  logic [7:0]   counter_q;
  slot_t        pointer_q, modulus_q;
  field_e       field_q;
  // This is the size of numbers in limbs: a constant, or the limbs of the modulus if `is_full_q` is set.
  logic [6:0]   size_q, size;
  logic         is_full_q;
  logic [W-1:0] inverse_q;
  // This is the last step that the program has passed.
  logic [3:0]   step_q;
  // Lengths are those of the modulus of the command, or of half of its bits.
  logic         is_half_q, is_half;
  length_t      modulus_bits;
  logic         is_error, begins, leads, next, unit_done, exists, is_in_step;

  logic [AddrBits-1:0] word, position_addr, fill_addr;
  logic [BitBits-1:0]  bit_place;
  logic [6:0]   limbs;
  logic [7:0]   doublings;
  logic [3:0]   digit;
  logic         at_end, measures, locates, reads, position_done, position_busy, fills, fill_done, fill_busy, fill_rom;
  length_t      position_value;
  address_t     fill_rom_addr, constant;

  // This function gives the address of the first word of a slot.
  function automatic logic [AddrBits-1:0] base(slot_t slot);
    return AddrBits'(slot) << $clog2(SlotLimbs * Parts);
  endfunction

  // A slot of an instruction may be relative to the pointer.
  function automatic slot_t place(logic [8:0] slot, slot_t pointer);
    return slot[8] ? pointer + slot[7:0] : slot[7:0];
  endfunction

  assign now      = instruction_t'(rom_data_i[InstructionBits-1:0]);
  assign is_error = !(state_q inside {StIdle, StFetch, StBegin, StWork, StTake});
  assign begins   = state_q == StBegin;
  assign exists   = now_q.op inside {OpEnd, OpVector, OpJump, OpCall, OpReturn, OpCounter, OpLoop, OpSize, OpModulus, OpPosition,
                                     OpBits, OpPointer, OpInverse, OpSmall, OpSetBit, OpConstant, OpStep};

  // Each step has to follow the one before it, and a release the last one.
  always_comb begin
    is_in_step = 1'b1;
    if (now_q.op == OpStep) is_in_step = now_q.imm[3:0] == step_q + 4'd1;
    if (now_q.op == OpEnd && now_q.imm[7:0] == EndRelease) is_in_step = now_q.b[3:0] == step_q;
    if (!Hardened) is_in_step = 1'b1;
  end

  assign size = is_full_q ? limbs : size_q;

  // --- branches ---
  // Sign and zero are those of the last result of the datapath; what other units write changes neither.
  always_comb begin
    unique case (now_q.a[3:0])
      IfAlways:       leads = 1'b1;
      IfZero:         leads = is_zero_i;
      IfNotZero:      leads = ~is_zero_i;
      IfNegative:     leads = is_negative_i;
      IfNotNegative:  leads = ~is_negative_i;
      IfEven:         leads = ~is_odd_i;
      IfDigitZero:    leads = digit == '0;
      IfDigitNotZero: leads = digit != '0;
      IfAtEnd:        leads = at_end;
      IfGiven:        leads = given_i;
      // Without this branch a wrong result would be released; a test with `Hardened` = 0 shows that the branch
      // stops it.
      IfDiffers:      leads = ~is_zero_i & Hardened;
      IfNoLimbBit0:   leads = ~size[0];
      IfNoLimbBit1:   leads = ~size[1];
      IfNoLimbBit2:   leads = ~size[2];
      IfNoLimbBit3:   leads = ~size[3];
      default:        leads = 1'b0;
    endcase
  end

  // This block gives the place of the next instruction.
  always_comb begin
    pc_d = pc_q;
    if (next) begin
      pc_d = pc_q + 1'b1;
      if (now_q.op == OpJump && leads)             pc_d = now_q.imm;
      if (now_q.op == OpCall)                      pc_d = now_q.imm;
      if (now_q.op == OpLoop && counter_q != 8'd1) pc_d = now_q.imm;
      if (now_q.op == OpReturn)                    pc_d = stack_q[0];
    end
    if (start_i) pc_d = entry_i;
  end

  // --- units ---
  // Each unit begins in the first cycle of its instruction, and says in its last cycle that it is done. Only
  // one of them works at a time, because the memory has one port for them.
  assign op_start_o = begins & (now_q.op == OpVector);
  assign measures   = begins & (now_q.op == OpSize) & (now_q.a[1:0] != SizeImm);
  assign locates    = begins & (now_q.op == OpPosition);
  assign reads      = begins & (now_q.op == OpBits);
  assign fills      = begins & (now_q.op inside {OpSmall, OpSetBit, OpConstant});
  assign unit_done  = op_done_i | position_done | fill_done;

  // Lengths are those of the command, which are public and were checked by the control.
  always_comb begin
    is_half = is_half_q;
    if (measures && now_q.a[1]) is_half = now_q.a[0];
    modulus_bits = is_half ? modulus_bits_i >> 1 : modulus_bits_i;
    unique case (measures ? FromModulus : now_q.a[2:0])
      FromModulus:  position_value = measures ? modulus_bits : modulus_bits - 1'b1;
      FromExponent: position_value = exponent_bits_i - 1'b1;
      // These two round up to whole digits of two bits, and of four.
      FromDigits:   position_value = (exponent_bits_i - 1'b1) | 13'd1;
      FromModulusDigits: position_value = (modulus_bits - 1'b1) | 13'd3;
      default:      position_value = 13'(now_q.imm);
    endcase
  end

  // This unit has positions, lengths and digits.
  bignum_position #(.W(W)) u_position (
    .clk_i, .rst_ni, .clear_i,
    .measure_i   (measures),
    .locate_i    (locates),
    .value_i     (position_value),
    .read_i      (reads),
    .read_bits_i (now_q.b[2:0]),
    .read_moves_i(now_q.dst != '0),
    .read_base_i (base(place(now_q.a, pointer_q))),
    .busy_o      (position_busy),
    .done_o      (position_done),
    .limbs_o     (limbs),
    .doublings_o (doublings),
    .word_o      (word),
    .bit_o       (bit_place),
    .at_end_o    (at_end),
    .digit_o     (digit),
    .addr_o      (position_addr),
    .data_i
  );

  // The entries of an array are in the ROM in the order of digits, so that a digit reaches nothing but its own
  // entry.
  assign constant = now_q.imm + (now_q.has_c ? (address_t'(digit) << 3) + (now_q.b[0] ? address_t'(digit) << 2 : '0) : '0);

  // This unit writes words that are not computed. The last OpSize says how many: it fills the limbs of the
  // operands that the next operation reads.
  bignum_filler #(.W(W)) u_filler (
    .clk_i, .rst_ni, .clear_i,
    .start_i      (fills),
    .base_i       (base(place(now_q.dst, pointer_q))),
    .words_i      ((AddrBits+1)'(words_o)),
    .first_i      ((now_q.op == OpSetBit) ? W'(1) << bit_place : W'(now_q.imm)),
    .at_position_i(now_q.op == OpSetBit),
    .word_i       (word),
    .is_constant_i(now_q.op == OpConstant),
    .constant_i   (constant),
    .busy_o       (fill_busy),
    .done_o       (fill_done),
    .rom_o        (fill_rom),
    .rom_addr_o   (fill_rom_addr),
    .rom_data_i,
    .write_o,
    .addr_o       (fill_addr),
    .data_o
  );

  assign addr_o     = (now_q.op == OpInverse) ? base(place(now_q.a, pointer_q)) : fill_busy ? fill_addr : position_addr;
  assign rom_addr_o = fill_rom ? fill_rom_addr : pc_d;

  // --- states ---
  // A unit that works is left only by its own end or by a clear. An instruction is fetched in the last cycle of
  // the one before.
  always_comb begin
    state_d = state_q;
    next    = 1'b0;
    unique case (state_q)
      StIdle:  if (start_i) state_d = StFetch;
      StFetch: state_d = StBegin;
      StBegin: begin
        if (op_start_o || measures || locates || reads || fills) state_d = StWork;
        else if (now_q.op == OpInverse) state_d = StTake;
        else begin
          next    = 1'b1;
          state_d = (now_q.op == OpEnd) ? StIdle : StFetch;
        end
        if (!exists || !is_in_step) state_d = StError;
      end
      StWork: if (unit_done) {next, state_d} = {1'b1, StFetch};
      StTake: {next, state_d} = {1'b1, StFetch};
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (clear_i && !is_error) state_d = StIdle;
  end

  // These registers are what instructions change.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      now_q     <= '0;
      pc_q      <= '0;
      stack_q   <= '{default: '0};
      counter_q <= '0;
      pointer_q <= '0;
      modulus_q <= '0;
      field_q   <= FieldNone;
      size_q    <= '0;
      is_full_q <= 1'b0;
      is_half_q <= 1'b0;
      step_q    <= '0;
      inverse_q <= '0;
    end else begin
      pc_q <= pc_d;
      if (state_q == StFetch) now_q <= now;
      if (begins) begin
        unique case (now_q.op)
          OpCall:    stack_q <= '{pc_q + 1'b1, stack_q[0]};
          OpReturn:  stack_q[0] <= stack_q[1];
          OpCounter: counter_q <= (now_q.a != '0) ? doublings : now_q.imm[7:0];
          OpLoop:    counter_q <= counter_q - 1'b1;
          OpSize:    {is_full_q, is_half_q, size_q} <= {now_q.a[1:0] != SizeImm, is_half, now_q.imm[6:0]};
          OpModulus: {modulus_q, field_q} <= {place(now_q.a, pointer_q), field_e'(now_q.b[1:0])};
          OpPointer: pointer_q <= now_q.a[7:0] + {2'b00, digit, 2'b00};
          OpStep:    step_q <= now_q.imm[3:0];
          default: ;
        endcase
      end
      // The inverse of the modulus is the word that OpInverse has asked for.
      if (state_q == StTake) inverse_q <= data_i;
      if (start_i) {is_half_q, step_q} <= '0;
      if (clear_i) {inverse_q, size_q, is_full_q, is_half_q, step_q} <= '0;
    end
  end

  // --- the operation of the datapath ---
  small_t kb;
  // Factors that depend on a sign are chosen without a branch: a conditional subtraction takes the same cycles
  // with and without it, and reads the same words.
  always_comb begin
    unique case (now_q.sign)
      SignGates: kb = is_negative_i ? now_q.kb : '0;
      SignFlips: kb = is_negative_i ? -now_q.kb : now_q.kb;
      default:   kb = now_q.kb;
    endcase
  end

  // The operation of the datapath is stable until it is done.
  always_comb begin
    op_o.kind  = now_q.kind;
    op_o.has_c = now_q.has_c;
    op_o.dst   = place(now_q.dst, pointer_q);
    op_o.a     = place(now_q.a, pointer_q);
    op_o.b     = place(now_q.b, pointer_q);
    op_o.c     = place(now_q.c, pointer_q);
    op_o.ka    = now_q.ka;
    op_o.kb    = kb;
  end
  assign words_o    = IndexBits'(size) << $clog2(Parts);
  assign field_o    = field_q;
  assign modulus_o  = modulus_q;
  assign inverse_o  = inverse_q;
  assign index_o    = digit;
  assign pairs_o    = now_q.c[2:0];
  assign stride_o   = base(now_q.b[7:0]);

  assign busy_o     = state_q != StIdle;
  // The control knows which codes are ends; any other one is an error there.
  assign end_o      = begins & (now_q.op == OpEnd) & is_in_step;
  assign end_code_o = end_e'(now_q.imm[7:0]);
  assign error_o    = is_error;

  // An upset of the place in the program or of the state is not forgotten before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // An instruction that began while a unit works would share the memory with it.
  `ASSERT(AnInstructionBeginsAlone_A, begins |-> !position_busy && !fill_busy)
  // A number of no words would never be complete.
  `ASSERT(ASizeIsNotZero_A, op_start_o || fills |-> words_o != '0)
  // Montgomery's reduction needs an odd inverse, which every odd modulus has.
  `ASSERT(TheInverseIsOdd_A, op_start_o && field_q == FieldAny && op_o.kind inside {KindProduct, KindSquare} |-> inverse_q[0])
  // The assembler makes only instructions that exist, so another one is a fault.
  `ASSERT(AnInstructionExists_A, begins |-> exists)
  // Programs have their steps in order, so another step is a fault.
  `ASSERT(StepsFollowEachOther_A, begins |-> is_in_step)
endmodule
