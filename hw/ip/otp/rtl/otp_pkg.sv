// Types, constants and codes of the one-time-programmable storage (../doc/README.md).

package otp_pkg;
  // A row of the array: 32 bits of data, their check bits, and a mark that is burned when both were verified.
  localparam int unsigned DataBits  = 32;
  localparam int unsigned CheckBits = 7;
  localparam int unsigned CodeBits  = DataBits + CheckBits;
  localparam int unsigned MarkBits  = 5;
  localparam int unsigned RowBits   = CodeBits + MarkBits;
  typedef logic [CodeBits-1:0] code_t;
  typedef logic [RowBits-1:0]  cells_t;

  // Rows. The first sixteen hold flags, eight in each, of five cells; the others hold words.
  typedef logic [6:0] row_t;
  localparam row_t RowLifecycle = 7'd0;
  // 1: revocation of root keys; 2 and 3: locks
  localparam row_t RowFloor     = 7'd4;    // to 11
  localparam row_t FirstWord    = 7'd16;
  localparam row_t LastRow      = 7'd103;
  localparam int unsigned NumFlags   = 8;
  localparam int unsigned MaxFloor   = 64;
  localparam int unsigned NumSlots   = 4;

  // Fields of words, in the order of their lock bits and read latches; then what has flags, in the order of lock bits.
  localparam int unsigned NumWordFields = 10;
  localparam int unsigned NumFields     = 14;
  localparam logic [3:0] FieldBoard     = 4'd4;    // 0 to 3: root keys
  localparam logic [3:0] FieldSecret    = 4'd5;    // 6 to 9: keys
  localparam logic [3:0] FieldLifecycle = 4'd10;
  localparam logic [3:0] FieldRevoked   = 4'd11;
  localparam logic [3:0] FieldFloor     = 4'd12;
  localparam logic [3:0] FieldLocks     = 4'd13;
  localparam logic [3:0] FieldNone      = 4'd15;

  // Codes of the [8,4,4] code: any two differ in four bits. The lower four bits are different for each, too.
  typedef enum logic [7:0] {
    LcBlank       = 8'he1,
    LcTest        = 8'hd2,
    LcDevelopment = 8'h33,
    LcProduction  = 8'hb4,
    LcReturned    = 8'h55,
    LcScrapped    = 8'h66,
    LcInvalid     = 8'h87
  } lifecycle_e;

  typedef enum logic [7:0] {
    VerdictLoading = 8'h99,
    VerdictReady   = 8'haa,
    VerdictFailed  = 8'hcc
  } verdict_e;

  // Why the verdict is not `ready`. The numbers are those of `otp_reason` in ../data/otp.rdl.
  typedef enum logic [3:0] {
    ReasonNone       = 4'd0,
    ReasonBlank      = 4'd1,   // lifecycle blank: nothing was provisioned
    ReasonScrapped   = 4'd2,
    ReasonHalf       = 4'd3,   // a word or flag is half-programmed
    ReasonCorrupted  = 4'd4,   // a written word has more faults than its code corrects
    ReasonLifecycle  = 4'd5,   // flags that are no lifecycle
    ReasonFloor      = 4'd6,   // a floor with a gap
    ReasonMixed      = 4'd7,   // a field of which some words are blank
    ReasonIncomplete = 4'd8,   // production without a board or a usable root key
    ReasonUpset      = 4'd9    // the block itself was upset
  } reason_e;

  // What became of the last programming. The numbers are those of `otp_outcome`.
  typedef enum logic [2:0] {
    ResultNone      = 3'd0,
    ResultBusy      = 3'd1,
    ResultDone      = 3'd2,
    ResultLocked    = 3'd3,    // locked, latched or hidden
    ResultLifecycle = 3'd4,    // not in this lifecycle
    ResultOrder     = 3'd5,    // not the next step, or no such flag or row
    ResultConflict  = 3'd6,    // cells are burned that this value has not, or the row has another value
    ResultVerify    = 3'd7     // cells do not read as they were burned
  } result_e;

  // Hsiao's code (IBM J. Res. Dev. 14(4), 1970): distinct columns of odd weight, so that two faults never look like one.
  function automatic logic [CheckBits-1:0] check_bits(logic [DataBits-1:0] data);
    return {^(data & 32'hda691a44), ^(data & 32'hb5549522), ^(data & 32'h6cb24c91), ^(data & 32'he38e2388),
            ^(data & 32'h1f81e078), ^(data & 32'h007fe007), ^(data & 32'h00001fff)};
  endfunction

  // To which field a row belongs.
  function automatic logic [3:0] field_of(row_t row);
    unique case (row[6:3])
      4'd0:    return row[2] ? FieldFloor : row[1] ? FieldLocks : row[0] ? FieldRevoked : FieldLifecycle;
      4'd1:    return row[2] ? FieldNone : FieldFloor;
      4'd2:    return row[2] ? FieldNone : {2'b00, row[1:0]};
      4'd3:    return FieldBoard;
      4'd4, 4'd5, 4'd6, 4'd7: return {2'b00, row[4:3]};
      4'd8:    return FieldSecret;
      4'd9:    return 4'd6;
      4'd10:   return 4'd7;
      4'd11:   return 4'd8;
      4'd12:   return 4'd9;
      default: return FieldNone;
    endcase
  endfunction

  // The device secret and the keys: closed outside of production.
  function automatic logic is_secret(logic [3:0] field);
    return field >= FieldSecret && field < FieldLifecycle;
  endfunction

  // The lifecycle that flags say. Each follows the one before; a part may be scrapped from any.
  function automatic lifecycle_e lifecycle_of(logic [NumFlags-1:0] flags);
    if (flags[4]) return LcScrapped;
    unique case (flags)
      8'b0000: return LcBlank;
      8'b0001: return LcTest;
      8'b0011: return LcDevelopment;
      8'b0111: return LcProduction;
      8'b1111: return LcReturned;
      default: return LcInvalid;
    endcase
  endfunction
endpackage
