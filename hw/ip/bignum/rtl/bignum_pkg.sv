// This package has the types and constants of the engine for big numbers. The assembler of the microprogram
// reads the encodings of instructions, conditions, kinds and slots from this file.
//
// Numbers are kept in limbs of 68 bits: four chunks of 17, the widest unsigned factor of a DSP block on both
// sides. All sizes of interest are no multiple of 68, so the top limb has bits to spare: sums and differences
// need no reduction, and a Montgomery product needs no final subtraction (R > 4N). The top limb is signed.

package bignum_pkg;
  // A limb has 68 bits, and a chunk, which is a factor of a DSP block, has 17.
  parameter int unsigned LimbBits  = 68;
  parameter int unsigned ChunkBits = 17;
  // The memory has this many limbs. A slot, which an instruction names, has eight of them. The upper half
  // belongs to private operations only: no other program names a slot of it, so no command can give a private
  // key as a result.
  parameter int unsigned Limbs     = 2048;
  parameter int unsigned SlotLimbs = 8;

  // The multiplier has (W / 17)² DSP blocks for words of W bits. A word is a limb, half of one, or a quarter.
  function automatic int unsigned word_bits(int unsigned dsps);
    return (dsps >= 16) ? 68 : (dsps >= 4) ? 34 : 17;
  endfunction

  typedef logic [7:0] slot_t;

  // The kind of an operation says what is done with whole numbers, column by column. `a`, `b` and `c` are
  // numbers, `ka` and `kb` small factors.
  typedef enum logic [2:0] {
    // KindLinear is ka a + kb b.
    KindLinear  = 3'd0,
    // KindProduct is ka a b + kb c R.
    KindProduct = 3'd1,
    // KindSquare is ka a² + kb c R.
    KindSquare  = 3'd2,
    // KindReduce reduces `c`, which has 2n words.
    KindReduce  = 3'd3,
    // KindSelect takes entry `index` of a table at `a`.
    KindSelect  = 3'd4
  } kind_e;

  // The field says how a product is reduced: by Montgomery's method for any modulus, or by shifted sums for the
  // primes of the curves.
  typedef enum logic [1:0] {
    FieldNone = 2'd0,
    FieldAny  = 2'd1,
    FieldP256 = 2'd2,
    FieldP384 = 2'd3
  } field_e;

  // This is a small factor of an operation.
  typedef logic signed [3:0] small_t;

  // This is an operation of the datapath: its kind, the slots of its numbers, and its small factors. `has_c`
  // says that a product adds the number at `c`.
  typedef struct packed {
    kind_e  kind;
    logic   has_c;
    slot_t  dst, a, b, c;
    small_t ka, kb;
  } vector_t;

  // A tag goes through the pipeline with a product, and says what has to be done with it.
  typedef struct packed {
    logic       valid;
    // It is the first product of its column.
    logic       first;
    // It is the last product of its column.
    logic       last;
    // It belongs to a column below n, from which a factor of the modulus follows.
    logic       is_low;
    // It belongs to a column whose word is written.
    logic       is_out;
    // It belongs to the last word of the result.
    logic       is_final;
    // The product is the next factor of the modulus.
    logic       is_q;
    // The product completes the column before.
    logic       is_carry;
    // The product is negated, and shifted to the left by this many bits, before it is added.
    logic       negate;
    logic [1:0] shift;
  } tag_t;

  // --- the microprogram, which `data/programs.py` describes ---

  // These are the instructions. Fields without a meaning for an instruction are zero.
  typedef enum logic [5:0] {
    // OpEnd ends the program; `imm` is the result. For EndRelease `b` is the step that the program has to have
    // reached.
    OpEnd      = 6'd1,
    // OpVector is an operation of the datapath. For KindSelect `b` has the slots of an entry, and `c` the last
    // pair of entries.
    OpVector   = 6'd2,
    // OpJump goes to `imm` if the condition `a` holds.
    OpJump     = 6'd4,
    // OpCall goes to `imm`, and OpReturn back to the instruction after it.
    OpCall     = 6'd7,
    OpReturn   = 6'd8,
    // OpCounter sets the counter to `imm`, or to the doublings that lead to R² if `a` is not zero.
    OpCounter  = 6'd11,
    // OpLoop decrements the counter, and goes to `imm` unless it is zero then.
    OpLoop     = 6'd13,
    // OpSize sets the limbs of an operand to `imm` or to what `a` names.
    OpSize     = 6'd14,
    // OpModulus says that the modulus is at slot `a`, and its field is `b`.
    OpModulus  = 6'd16,
    // OpPosition sets the position to the bit that `a` names.
    OpPosition = 6'd19,
    // OpBits reads a digit of `b` bits from the position down, of the number at `a`. The position moves if
    // `dst` is not zero.
    OpBits     = 6'd21,
    // OpPointer sets the pointer to slot `a` plus four times the digit.
    OpPointer  = 6'd22,
    // OpInverse takes -1 / N modulo 2^W from slot `a`.
    OpInverse  = 6'd25,
    // OpSmall sets slot `dst` to `imm`.
    OpSmall    = 6'd26,
    // OpSetBit sets slot `dst` to two to the power of the position.
    OpSetBit   = 6'd28,
    // OpConstant sets slot `dst` to the constant at `imm`, plus, if `has_c` is set, the digit times four times
    // `b`, which is 2 or 3.
    OpConstant = 6'd31,
    // OpStep says that the program is at step `imm`. It is an error unless the program was at the step before.
    OpStep     = 6'd35
  } opcode_e;

  // This says how the sign of the last result changes `kb`.
  typedef enum logic [1:0] {
    SignIgnored = 2'd0,
    // SignGates makes `kb` zero unless the sign is negative.
    SignGates   = 2'd1,
    // SignFlips negates `kb` if the sign is negative.
    SignFlips   = 2'd2
  } sign_e;

  // This is a word of the microprogram. A slot with the highest bit set is relative to the pointer, by its
  // lower eight bits.
  typedef struct packed {
    opcode_e    op;
    kind_e      kind;
    logic       has_c;
    logic [8:0] dst, a, b, c;
    small_t     ka, kb;
    sign_e      sign;
    logic [9:0] imm;
  } instruction_t;
  parameter int unsigned InstructionBits = $bits(instruction_t);

  // These are the conditions that `a` of OpJump names. The last four test bits 0 to 3 of the number of limbs.
  // IfDiffers is taken if the last result is not zero, where two results have to be the same.
  parameter logic [3:0] IfAlways = 4'd0, IfZero = 4'd1, IfNotZero = 4'd2, IfNegative = 4'd3, IfNotNegative = 4'd4,
                        IfEven = 4'd5, IfDigitZero = 4'd6, IfAtEnd = 4'd7, IfGiven = 4'd8, IfDigitNotZero = 4'd9,
                        IfDiffers = 4'd10,  // This compares two results that have to be the same.
                        IfNoLimbBit0 = 4'd12, IfNoLimbBit1 = 4'd13, IfNoLimbBit2 = 4'd14, IfNoLimbBit3 = 4'd15;
  // These are the positions that `a` of OpPosition names: the bit `imm`, the top bit of the modulus, that of
  // the exponent, that of the exponent in whole digits of two bits, and that of the modulus in whole digits of
  // four bits.
  parameter logic [2:0] FromImm = 3'd0, FromModulus = 3'd1, FromExponent = 3'd2, FromDigits = 3'd3, FromModulusDigits = 3'd4;
  // These are the sizes that `a` of OpSize names: `imm`, the limbs of the modulus, those of the whole modulus
  // from here on, and those of half of its bits from here on.
  parameter logic [1:0] SizeImm = 2'd0, SizeModulus = 2'd1, SizeWhole = 2'd2, SizeHalf = 2'd3;

  // This is an address of the ROM.
  typedef logic [9:0]  address_t;
  // This is a length of a number in bits. The engine takes lengths from 256 to 4,096.
  typedef logic [12:0] length_t;
  // These are the bounds of the length of a modulus.
  parameter length_t LeastBits = 13'd256, MostBits = 13'd4096;
  // A modulus of two primes has at least this many bits, of which each prime has half.
  parameter length_t LeastPrivateBits = 13'd512;

  // --- commands and results ---

  // Any two commands differ in at least two bits of those that are used.
  typedef enum logic [7:0] {
    CmdNone     = 8'h00,
    // This computes base^exponent, in a time that depends on the exponent.
    CmdPower    = 8'h33,
    // This computes base^exponent, in a time that depends on the length of the exponent only.
    CmdSecret   = 8'h55,
    // This computes base * factor.
    CmdMultiply = 8'h66,
    // This computes R².
    CmdPrepare  = 8'h0f,
    // These two verify a signature of ECDSA with P-256 and P-384.
    CmdP256     = 8'h69,
    CmdP384     = 8'h3c,
    // This computes base^d by a private key of RSA.
    CmdPrivate  = 8'h5a
  } command_e;

  // Any two results differ in at least four bits.
  typedef enum logic [7:0] {
    ResultNone     = 8'h00,
    ResultGood     = 8'hc3,
    // The length of the modulus or of the exponent is out of range.
    ResultLength   = 8'h3c,
    // The modulus is even, or not of its length.
    ResultModulus  = 8'h55,
    // An operand is not below the modulus.
    ResultOperand  = 8'haa,
    // The exponent is zero, or not below two to its length.
    ResultExponent = 8'h69,
    // The signature is none of this digest by this key.
    ResultSignature = 8'h96,
    // A private key has parts that do not fit each other.
    ResultKey      = 8'h5a,
    // The result of a private operation, to the power of the public exponent, is not the base.
    ResultFault    = 8'ha5
  } result_e;

  // A program ends with its result. Only a private operation that has passed its check ends with EndRelease,
  // and no other end releases its result.
  typedef enum logic [7:0] {
    EndGood      = 8'hc3,
    EndModulus   = 8'h55,
    EndOperand   = 8'haa,
    EndExponent  = 8'h69,
    EndSignature = 8'h96,
    EndKey       = 8'h5a,
    EndFault     = 8'ha5,
    EndRelease   = 8'h0f
  } end_e;

  // --- operands ---

  // These are the operands that software names.
  typedef enum logic [4:0] {
    OperandNone     = 5'd0,
    OperandModulus  = 5'd1,
    OperandBase     = 5'd2,
    OperandExponent = 5'd3,
    OperandFactor   = 5'd4,
    OperandRSquared = 5'd5,
    OperandResult   = 5'd6,
    // These belong to a curve. They have the places of the numbers above.
    OperandX        = 5'd7,
    OperandY        = 5'd8,
    OperandR        = 5'd9,
    OperandS        = 5'd10,
    OperandDigest   = 5'd11,
    // These belong to a private key, with r^e and 1/r of the blinding. They have places of their own.
    OperandP        = 5'd12,
    OperandQ        = 5'd13,
    OperandDp       = 5'd14,
    OperandDq       = 5'd15,
    OperandQInverse = 5'd16,
    OperandBlinding = 5'd17,
    OperandUnblinding = 5'd18
  } operand_e;

  // These are the slots of numbers in the memory. A number has eight slots.
  parameter slot_t SlotModulus = 8'd0, SlotBase = 8'd8, SlotRSquared = 8'd16, SlotResult = 8'd24, SlotTemp = 8'd32,
                   SlotFactors = 8'd40, SlotExponent = 8'd48, SlotFactor = 8'd56, SlotTable = 8'd64;
  // These are numbers of half the length, with four slots each, and two whole ones.
  parameter slot_t SlotP = 8'd128, SlotQ = 8'd132, SlotDp = 8'd136, SlotDq = 8'd140, SlotQInverse = 8'd144,
                   SlotBlinding = 8'd152, SlotUnblinding = 8'd160;
  // A number has this many slots.
  parameter int unsigned NumberSlots = 8;
endpackage
