// Constants of the first-stage form (spec/first-stage.md) as words of 64 bits, with the first byte
// in the lower bits.
package boot_verifier_pkg;
  // Words of the parts whose size is the same for every algorithm (§3).
  localparam int unsigned LeadWords   = 8;
  localparam int unsigned KeyWords    = 8;
  localparam int unsigned HeaderWords = 32;

  // "HARTLOCK-FRST-v1" and "HARTLOCK-CODE-v1" (§4, §6).
  localparam logic [1:0][63:0] LeadTag   = {64'h31762d545352462d, 64'h4b434f4c54524148};
  localparam logic [1:0][63:0] HeaderTag = {64'h31762d45444f432d, 64'h4b434f4c54524148};

  // Rules of the header, in the order in which a refusal reports them (§8, steps 6 and 7).
  typedef enum logic [3:0] {
    RuleTag       = 4'd0,
    RuleAlgorithm = 4'd1,
    RuleReserved  = 4'd2,
    RuleMask      = 4'd3,
    RuleNext      = 4'd4,
    RuleBoard     = 4'd5,
    RuleSoc       = 4'd6,
    RuleFloor     = 4'd7,
    RuleLifecycle = 4'd8
  } rule_e;
  localparam int unsigned NumRules = 9;

  // The name of the system on a chip (§6), `rot`, with the first letter in the lower bits.
  localparam logic [255:0] SocName = 256'h746f72;

  // Reasons (spec/errors.toml): the number after the E, in decimal.
  typedef enum logic [15:0] {
    ReasonNone          = 16'd0,
    ReasonLeadTag       = 16'd102,
    ReasonHeaderTag     = 16'd103,
    ReasonCodeSize      = 16'd106,
    ReasonPadding       = 16'd203,
    ReasonAlgorithm     = 16'd206,
    ReasonSignature     = 16'd301,
    ReasonKey           = 16'd304,
    ReasonIndex         = 16'd308,
    ReasonReserved      = 16'd401,
    ReasonMask          = 16'd408,
    ReasonMismatch      = 16'd412,
    ReasonNext          = 16'd425,
    ReasonBoard         = 16'd601,
    ReasonSoc           = 16'd602,
    ReasonFloor         = 16'd603,
    ReasonLifecycle     = 16'd604,
    ReasonMedium        = 16'd901,
    ReasonDevice        = 16'd904
  } reason_e;

  // The reason that a refusal gives for a broken rule.
  function automatic reason_e reason_of(rule_e rule);
    unique case (rule)
      RuleTag:       return ReasonHeaderTag;
      RuleAlgorithm: return ReasonMismatch;
      RuleReserved:  return ReasonReserved;
      RuleMask:      return ReasonMask;
      RuleNext:      return ReasonNext;
      RuleBoard:     return ReasonBoard;
      RuleSoc:       return ReasonSoc;
      RuleFloor:     return ReasonFloor;
      default:       return ReasonLifecycle;
    endcase
  endfunction

  // Tells whether the numbers are an algorithm with one of its parameter sets (§2), whether this
  // unit carries it out or not.
  function automatic logic is_pair(logic [31:0] algorithm, logic [31:0] parameters);
    logic is_hss, is_32, is_24;
    // LMS and LM-OTS types of 32 and of 24 bytes, in one to eight levels (HSS).
    is_32  = parameters[7:0] >= 8'd5 && parameters[7:0] <= 8'd9 && parameters[15:8] >= 8'd1 && parameters[15:8] <= 8'd4;
    is_24  = parameters[7:0] >= 8'd10 && parameters[7:0] <= 8'd14 && parameters[15:8] >= 8'd5 && parameters[15:8] <= 8'd8;
    is_hss = (is_32 || is_24) && parameters[31:16] >= 16'd1 && parameters[31:16] <= 16'd8;
    unique case (algorithm)
      32'd16:  return is_hss;
      // XMSS: the sets 1 to 3 of 32 bytes and 13 to 15 of 24 bytes.
      32'd17:  return (parameters >= 32'd1 && parameters <= 32'd3) || (parameters >= 32'd13 && parameters <= 32'd15);
      32'd18:  return (parameters >= 32'd1 && parameters <= 32'd8) || (parameters >= 32'd33 && parameters <= 32'd40);
      32'd20:  return parameters == 32'd1;
      default: return 1'b0;
    endcase
  endfunction
endpackage
