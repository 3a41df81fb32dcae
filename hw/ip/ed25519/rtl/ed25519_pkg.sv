// Types and constants of the Ed25519 engine.
//
// A number has four words of 64 bits, the lowest first. The register file has 64 numbers: 0 to 15 are operands of
// the adder as well, 16 to 31 are the key slots, 32 to 63 the multiples of a public key and other intermediates.

package ed25519_pkg;
  typedef logic [63:0] word_t;
  typedef logic [5:0]  number_t;  // of a register
  typedef logic [7:0]  place_t;   // of a word in the register file

  parameter int unsigned Slots = 4;

  // Registers of inputs, and of S as a result.
  parameter number_t NumberA    = 6'd6;
  parameter number_t NumberR    = 6'd8;
  parameter number_t NumberLow  = 6'd10;
  parameter number_t NumberHigh = 6'd11;
  parameter number_t NumberS    = 6'd13;
  // Where entropy comes.
  parameter number_t NumberZ     = 6'd2;
  parameter number_t NumberBlind = 6'd5;

  // Any two differ in four bits; every other code is an upset.
  typedef enum logic [6:0] {
    CmdNone   = 7'b000_0000,
    CmdLoad   = 7'b101_0101,  // digest: scalar and prefix, into an empty slot
    CmdPublic = 7'b011_0011,  // the public key of a slot, which stays with it
    CmdNonce  = 7'b110_0110,  // digest: r; gives R = r B
    CmdSign   = 7'b000_1111,  // digest: k; gives S, after its verification
    CmdVerify = 7'b101_1010,  // digest: k, and A, R, S
    CmdPrefix = 7'b011_1100   // the prefix of a slot, for the side port
  } command_e;

  // What came of a command. Any two differ in four bits at least.
  typedef enum logic [7:0] {
    ResultNone      = 8'b0000_0000,
    ResultGood      = 8'b1100_0011,  // of a verification alone: a signature
    ResultDone      = 8'b1010_0101,  // of any other command
    ResultKey       = 8'b0011_1100,  // A is refused
    ResultSignature = 8'b0101_0101,  // R or S is refused
    ResultMismatch  = 8'b1010_1010,  // not a signature of this message, or something was made wrong
    ResultScalar    = 8'b0110_1001,  // a scalar that is zero modulo L
    ResultOrder     = 8'b1001_0110   // no such slot, nonce or whole digest, or a slot that is not empty
  } result_e;

  // Operations of the adder, as in data/microcode.py.
  typedef enum logic [3:0] {
    AddNone         = 4'd0,   // nothing starts
    AddAdd          = 4'd1,   // modulo 2^256 - 38
    AddSub          = 4'd2,
    AddAddSigned    = 4'd3,   // or the difference, by the sign of a digit
    AddSubSigned    = 4'd4,   // or the sum
    AddAddRaw       = 4'd5,   // modulo 2^256
    AddAddCarry     = 4'd6,   // and one if the condition holds
    AddSubRaw       = 4'd7,   // modulo 2^256
    AddSelect       = 4'd8,   // a if the condition holds, or b
    AddLoad         = 4'd9,   // a small number
    AddAddSmall     = 4'd10,  // a and a small number
    AddMaskSmall    = 4'd11,  // so, without the highest bit of a
    AddMaskIf       = 4'd12,  // so, the small number only if the condition holds
    AddSelectMasked = 4'd13   // as a selection, without the highest bit of a
  } add_e;

  typedef enum logic [1:0] {CondKeep = 2'd0, CondCarry = 2'd1, CondTop = 2'd2, CondParity = 2'd3} cond_e;

  // What a check has to find, each of which is evidence for a verdict.
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
    CheckNonceEqual = 4'd11,  // what was computed twice
    CheckKeyEqual   = 4'd12,
    CheckPrefixEqual = 4'd13,
    CheckSAgain     = 4'd14
  } check_e;

  typedef enum logic [1:0] {FromRegister = 2'd0, FromConstant = 2'd1, FromFixed = 2'd2, FromMultiple = 2'd3} b_from_e;

  typedef enum logic [3:0] {
    ControlNext     = 4'd0,  // the next address
    ControlJump     = 4'd1,
    ControlLoop     = 4'd2,  // as often as `ControlCount` said
    ControlCount    = 4'd3,
    ControlEnd      = 4'd4,
    ControlPosition = 4'd5,  // the next position of a verification: a vector of four addresses
    ControlSummands = 4'd6,  // which summands the position has, likewise
    ControlComb     = 4'd7,  // begins with the digits of a comb
    ControlRecode   = 4'd8   // begins with those of a verification
  } control_e;

  // A microinstruction: fields as in data/microcode.py, from the last to the first.
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

  // A digit of a scalar: the index of a summand, and whether it is subtracted.
  typedef struct packed {
    logic       negative;
    logic [4:0] index;
  } digit_t;
endpackage
