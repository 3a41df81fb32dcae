// This package has the types and constants of the Ed25519 engine.
//
// A number has four words of 64 bits, the lowest first. The register file has 64 numbers: 0 to 15 are operands
// of the adder as well, 16 to 31 are the key slots, and 32 to 63 are the multiples of a public key and other
// intermediates.

package ed25519_pkg;
  typedef logic [63:0] word_t;
  typedef logic [5:0]  number_t;  // This is a number of a register.
  typedef logic [7:0]  place_t;   // This is the place of a word in the register file.

  // The engine keeps keys in this many slots.
  parameter int unsigned Slots = 4;

  // These registers take inputs, and S as a result.
  parameter number_t NumberA    = 6'd6;
  parameter number_t NumberR    = 6'd8;
  parameter number_t NumberLow  = 6'd10;
  parameter number_t NumberHigh = 6'd11;
  parameter number_t NumberS    = 6'd13;
  // These registers take entropy.
  parameter number_t NumberZ     = 6'd2;
  parameter number_t NumberBlind = 6'd5;

  // Any two commands differ in four bits, and every other code is an upset.
  typedef enum logic [6:0] {
    CmdNone   = 7'b000_0000,
    // CmdLoad puts scalar and prefix, which are the digest, into an empty slot.
    CmdLoad   = 7'b101_0101,
    // CmdPublic computes the public key of a slot, which stays with it.
    CmdPublic = 7'b011_0011,
    // CmdNonce makes the nonce r of the digest, and gives R = r B.
    CmdNonce  = 7'b110_0110,
    // CmdSign takes the digest as k, and gives S after its verification.
    CmdSign   = 7'b000_1111,
    // CmdVerify takes the digest as k, and verifies A, R and S.
    CmdVerify = 7'b101_1010,
    // CmdPrefix gives the prefix of a slot to the side port.
    CmdPrefix = 7'b011_1100
  } command_e;

  // The result says what came of a command. Any two results differ in at least four bits.
  typedef enum logic [7:0] {
    ResultNone      = 8'b0000_0000,
    // Only a verification ends with this: the signature is right.
    ResultGood      = 8'b1100_0011,
    // Any other command ends with this if it was done.
    ResultDone      = 8'b1010_0101,
    // A was refused.
    ResultKey       = 8'b0011_1100,
    // R or S was refused.
    ResultSignature = 8'b0101_0101,
    // It is no signature of this message, or something was made wrong.
    ResultMismatch  = 8'b1010_1010,
    // A scalar is zero modulo L.
    ResultScalar    = 8'b0110_1001,
    // There is no such slot, nonce or whole digest, or the slot is not empty.
    ResultOrder     = 8'b1001_0110
  } result_e;

  // These are the operations of the adder, with the codes of `data/microcode.py`. `a` and `b` are its operands.
  typedef enum logic [3:0] {
    // AddNone starts nothing.
    AddNone         = 4'd0,
    // AddAdd and AddSub work modulo 2^256 - 38.
    AddAdd          = 4'd1,
    AddSub          = 4'd2,
    // AddAddSigned is the sum or the difference, by the sign of a digit.
    AddAddSigned    = 4'd3,
    // AddSubSigned is the difference or the sum, by the sign of a digit.
    AddSubSigned    = 4'd4,
    // AddAddRaw works modulo 2^256.
    AddAddRaw       = 4'd5,
    // AddAddCarry adds one more if the condition holds.
    AddAddCarry     = 4'd6,
    // AddSubRaw works modulo 2^256.
    AddSubRaw       = 4'd7,
    // AddSelect is `a` if the condition holds, and `b` otherwise.
    AddSelect       = 4'd8,
    // AddLoad is a small number.
    AddLoad         = 4'd9,
    // AddAddSmall is `a` plus a small number.
    AddAddSmall     = 4'd10,
    // AddMaskSmall is the same, without the highest bit of `a`.
    AddMaskSmall    = 4'd11,
    // AddMaskIf is the same, but adds the small number only if the condition holds.
    AddMaskIf       = 4'd12,
    // AddSelectMasked is a selection without the highest bit of `a`.
    AddSelectMasked = 4'd13
  } add_e;

  // This says what becomes of the condition of the adder: it stays, or becomes the carry, the highest bit, or
  // its sum with the lowest bit.
  typedef enum logic [1:0] {CondKeep = 2'd0, CondCarry = 2'd1, CondTop = 2'd2, CondParity = 2'd3} cond_e;

  // A check is the evidence for one part of a verdict. Its name says what it has to find.
  parameter int unsigned Checks = 14;
  typedef enum logic [3:0] {
    CheckNone       = 4'd0,
    CheckACanonical = 4'd1,
    CheckAOrder     = 4'd2,
    CheckAOnCurve   = 4'd3,
    CheckRCanonical = 4'd4,
    CheckROrder     = 4'd5,
    CheckSBelowL    = 4'd6,
    CheckROnCurve   = 4'd7,
    CheckXEqual     = 4'd8,
    CheckYEqual     = 4'd9,
    CheckScalar     = 4'd10,
    // These checks compare what was computed twice: a nonce, a key and a prefix. CheckSAgain repeats
    // CheckSBelowL.
    CheckNonceEqual = 4'd11,
    CheckKeyEqual   = 4'd12,
    CheckPrefixEqual = 4'd13,
    CheckSAgain     = 4'd14
  } check_e;

  // This says where the second operand of a product comes from: a register, a constant, the table of the base
  // point, or the multiples of the public key.
  typedef enum logic [1:0] {FromRegister = 2'd0, FromConstant = 2'd1, FromFixed = 2'd2, FromMultiple = 2'd3} b_from_e;

  // This says how the next instruction is found.
  typedef enum logic [3:0] {
    // ControlNext goes to the next address.
    ControlNext     = 4'd0,
    ControlJump     = 4'd1,
    // ControlLoop goes back as often as `ControlCount` said.
    ControlLoop     = 4'd2,
    ControlCount    = 4'd3,
    ControlEnd      = 4'd4,
    // ControlPosition goes on to the next position of a verification, by a vector of four addresses.
    ControlPosition = 4'd5,
    // ControlSummands goes on by the summands of the position, by a vector as well.
    ControlSummands = 4'd6,
    // ControlComb begins with the digits of a comb.
    ControlComb     = 4'd7,
    // ControlRecode begins with the digits of a verification.
    ControlRecode   = 4'd8
  } control_e;

  // This is a microinstruction, whose fields are those of `data/microcode.py`, from the last to the first.
  typedef struct packed {
    logic       next_index;
    logic       add_indexed;
    logic       low;
    logic       sign_of_a;
    check_e     check;
    cond_e      cond;
    number_t    add_to;
    logic [3:0] add_b;
    logic [3:0] add_a;
    add_e       add;
    logic       mul_indexed;
    number_t    mul_to;
    number_t    mul_b;
    number_t    mul_a;
    b_from_e    b_from;
    logic       raw;
    logic       square;
    logic       mul;
    logic       next_digit;
    logic [9:0] target;
    control_e   control;
    logic [4:0] stay;
  } instruction_t;

  // This is a digit of a scalar: the index of a summand, and whether it is subtracted.
  typedef struct packed {
    logic       negative;
    logic [4:0] index;
  } digit_t;
endpackage
