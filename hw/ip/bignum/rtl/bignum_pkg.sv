// Types and constants of the engine for big numbers.
//
// Numbers are kept in limbs of 68 bits: four chunks of 17, the widest unsigned factor of a DSP block on both sides. All
// sizes of interest are no multiple of 68, so that the top limb has bits to spare: sums and differences need no reduction,
// and a Montgomery product needs no final subtraction (R > 4N). The top limb is signed.

package bignum_pkg;
  parameter int unsigned LimbBits  = 68;
  parameter int unsigned ChunkBits = 17;
  // Limbs of the memory. A slot, which a program names, has eight of them. The upper half is of private operations alone: no
  // other program names a slot of it, so that no command can give a private key as a result.
  parameter int unsigned Limbs     = 2048;
  parameter int unsigned SlotLimbs = 8;

  // The multiplier has (W / 17)² DSP blocks for words of W bits.
  function automatic int unsigned word_bits(int unsigned dsps);
    return (dsps >= 16) ? 68 : (dsps >= 4) ? 34 : 17;
  endfunction

  typedef logic [7:0] slot_t;

  // What is done with whole numbers, column by column.
  typedef enum logic [2:0] {
    KindLinear  = 3'd0,  // ka a + kb b
    KindProduct = 3'd1,  // ka a b + kb c R
    KindSquare  = 3'd2,  // ka a² + kb c R
    KindReduce  = 3'd3,  // c of 2n words
    KindSelect  = 3'd4   // entry `index` of a table at a
  } kind_e;

  // With what a product is reduced: any modulus by Montgomery's method, the primes of the curves by shifted sums.
  typedef enum logic [1:0] {
    FieldNone = 2'd0,
    FieldAny  = 2'd1,
    FieldP256 = 2'd2,
    FieldP384 = 2'd3
  } field_e;

  typedef logic signed [3:0] small_t;

  typedef struct packed {
    kind_e  kind;
    logic   has_c;
    slot_t  dst, a, b, c;
    small_t ka, kb;
  } vector_t;

  // What a slot of the pipeline does with its product.
  typedef struct packed {
    logic       valid;
    logic       first;    // of its column
    logic       last;
    logic       is_low;   // a column below n, which gives a factor of the modulus
    logic       is_out;   // a column whose word is written
    logic       is_final; // the last word of the result
    logic       is_q;     // the product is the next factor of the modulus
    logic       is_carry; // the product completes the column before
    logic       negate;
    logic [1:0] shift;
  } tag_t;

  // --- the microprogram (`../data/programs.py`; the assembler reads the encodings here) ---

  // Instructions. Fields without a meaning for one are zero.
  typedef enum logic [5:0] {
    OpEnd      = 6'd1,   // imm: the result; of EndRelease, b is the step that the program has to have reached
    OpVector   = 6'd2,   // an operation of the datapath; of KindSelect, b are the slots of an entry, and c is the last pair
    OpJump     = 6'd4,   // to imm, if the condition `a` holds
    OpCall     = 6'd7,   // imm
    OpReturn   = 6'd8,
    OpCounter  = 6'd11,  // counter := imm, or the doublings of R² if `a` is not zero
    OpLoop     = 6'd13,  // the counter is decremented; to imm unless it is zero then
    OpSize     = 6'd14,  // limbs of an operand: imm, or what `a` names
    OpModulus  = 6'd16,  // the modulus is at slot a, its field is b
    OpPosition = 6'd19,  // the position of a bit: what `a` names
    OpBits     = 6'd21,  // digit := b bits from the position down, of the number at a; the position moves if dst is not zero
    OpPointer  = 6'd22,  // to slot a, plus four times the digit
    OpInverse  = 6'd25,  // -1 / N modulo 2^W is at slot a
    OpSmall    = 6'd26,  // slot dst := imm
    OpSetBit   = 6'd28,  // slot dst := 2^position
    OpConstant = 6'd31,  // slot dst := constant at imm, plus the digit times four times b
    OpStep     = 6'd35   // the program is at step imm: an error unless it was at the one before
  } opcode_e;

  // How the sign of the last result changes `kb`.
  typedef enum logic [1:0] {
    SignIgnored = 2'd0,
    SignGates   = 2'd1,  // zero unless negative
    SignFlips   = 2'd2   // -kb if negative
  } sign_e;

  // A slot of an instruction with the highest bit is relative to the pointer, by its lowest eight bits.
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

  // What `a` of OpJump names. The last four are for bits of the number of limbs, 0 to 3.
  parameter logic [3:0] IfAlways = 4'd0, IfZero = 4'd1, IfNotZero = 4'd2, IfNegative = 4'd3, IfNotNegative = 4'd4,
                        IfEven = 4'd5, IfDigitZero = 4'd6, IfAtEnd = 4'd7, IfGiven = 4'd8, IfDigitNotZero = 4'd9,
                        IfDiffers = 4'd10,  // not zero: two results that have to be the same
                        IfNoLimbBit0 = 4'd12, IfNoLimbBit1 = 4'd13, IfNoLimbBit2 = 4'd14, IfNoLimbBit3 = 4'd15;
  // What `a` of OpPosition names: the bit imm, the top bit of the modulus, that of the exponent, the latter of whole digits of
  // two bits, and the top bit of the modulus in whole digits of four bits.
  parameter logic [2:0] FromImm = 3'd0, FromModulus = 3'd1, FromExponent = 3'd2, FromDigits = 3'd3, FromModulusDigits = 3'd4;
  // What `a` of OpSize names: imm, the limbs of the modulus, those of the whole one from here on, those of half its bits.
  parameter logic [1:0] SizeImm = 2'd0, SizeModulus = 2'd1, SizeWhole = 2'd2, SizeHalf = 2'd3;

  typedef logic [9:0]  address_t;  // of the ROM
  typedef logic [12:0] length_t;   // bits of a number
  parameter length_t LeastBits = 13'd256, MostBits = 13'd4096;
  // Of a modulus of two primes, which have half of them each.
  parameter length_t LeastPrivateBits = 13'd512;

  // --- commands and results ---

  // Any two differ in two bits at least, of those that are used.
  typedef enum logic [7:0] {
    CmdNone     = 8'h00,
    CmdPower    = 8'h33,  // base^exponent, in a time that depends on the exponent
    CmdSecret   = 8'h55,  // base^exponent, in a time that depends on its length
    CmdMultiply = 8'h66,  // base * factor
    CmdPrepare  = 8'h0f,  // R²
    CmdP256     = 8'h69,  // verifies a signature of ECDSA
    CmdP384     = 8'h3c,
    CmdPrivate  = 8'h5a   // base^d by a private key of RSA
  } command_e;

  // Any two differ in four bits at least.
  typedef enum logic [7:0] {
    ResultNone     = 8'h00,
    ResultGood     = 8'hc3,
    ResultLength   = 8'h3c,  // of the modulus or of the exponent
    ResultModulus  = 8'h55,  // even, or not of its length
    ResultOperand  = 8'haa,  // not below the modulus
    ResultExponent = 8'h69,  // zero, or not below two to its length
    ResultSignature = 8'h96, // is none of the digest by the key
    ResultKey      = 8'h5a,  // a private key whose parts do not fit each other
    ResultFault    = 8'ha5   // the result of a private operation is not the base, to the power of the public exponent
  } result_e;

  // What a program ends with: the result, but for that of a private operation, which no other end releases.
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

  typedef enum logic [4:0] {
    OperandNone     = 5'd0,
    OperandModulus  = 5'd1,
    OperandBase     = 5'd2,
    OperandExponent = 5'd3,
    OperandFactor   = 5'd4,
    OperandRSquared = 5'd5,
    OperandResult   = 5'd6,
    // Of a curve. They have the places of numbers above.
    OperandX        = 5'd7,
    OperandY        = 5'd8,
    OperandR        = 5'd9,
    OperandS        = 5'd10,
    OperandDigest   = 5'd11,
    // Of a private key, and r^e and 1/r of the blinding. They have places of their own.
    OperandP        = 5'd12,
    OperandQ        = 5'd13,
    OperandDp       = 5'd14,
    OperandDq       = 5'd15,
    OperandQInverse = 5'd16,
    OperandBlinding = 5'd17,
    OperandUnblinding = 5'd18
  } operand_e;

  // Where they are. A number has eight slots.
  parameter slot_t SlotModulus = 8'd0, SlotBase = 8'd8, SlotRSquared = 8'd16, SlotResult = 8'd24, SlotTemp = 8'd32,
                   SlotFactors = 8'd40, SlotExponent = 8'd48, SlotFactor = 8'd56, SlotTable = 8'd64;
  // Numbers of half the length, and two whole ones.
  parameter slot_t SlotP = 8'd128, SlotQ = 8'd132, SlotDp = 8'd136, SlotDq = 8'd140, SlotQInverse = 8'd144,
                   SlotBlinding = 8'd152, SlotUnblinding = 8'd160;
  parameter int unsigned NumberSlots = 8;
endpackage
