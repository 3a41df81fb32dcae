// Types, constants and codes of the one-time-programmable storage (../doc/README.md).

package otp_pkg;
  // A row of the array: 32 bits of data, their check bits, and a mark that is burned after both
  // were verified.
  localparam int unsigned DataBits  = 32;
  localparam int unsigned CheckBits = 7;
  localparam int unsigned CodeBits  = DataBits + CheckBits;
  localparam int unsigned MarkBits  = 5;
  localparam int unsigned RowBits   = CodeBits + MarkBits;
  typedef logic [CodeBits-1:0] code_t;
  typedef logic [RowBits-1:0]  cells_t;

  // Rows. The first sixteen hold flags, eight in each row and five cells for each; the others hold
  // words. Row 1 has the revocation of root keys, rows 2 and 3 have locks, and the floor extends to
  // row 11.
  typedef logic [6:0] row_t;
  localparam row_t RowLifecycle = 7'd0;
  localparam row_t RowFloor     = 7'd4;
  localparam row_t FirstWord    = 7'd16;
  localparam row_t LastRow      = 7'd103;
  // Flags in a row, steps of the floor, and root keys.
  localparam int unsigned NumFlags   = 8;
  localparam int unsigned MaxFloor   = 64;
  localparam int unsigned NumSlots   = 4;

  // Fields of words, in the order of their lock bits and read latches, then fields of flags. The
  // numbers 0 to 3 are root keys, and 6 to 9 are keys for engines.
  localparam int unsigned NumWordFields = 10;
  localparam int unsigned NumFields     = 14;
  localparam logic [3:0] FieldBoard     = 4'd4;
  localparam logic [3:0] FieldSecret    = 4'd5;
  localparam logic [3:0] FieldLifecycle = 4'd10;
  localparam logic [3:0] FieldRevoked   = 4'd11;
  localparam logic [3:0] FieldFloor     = 4'd12;
  localparam logic [3:0] FieldLocks     = 4'd13;
  localparam logic [3:0] FieldNone      = 4'd15;

  // Lifecycles, as codes of the [8,4,4] code: any two differ in four bits. The lower four bits are
  // different for each, too, because some engines watch only these.
  typedef enum logic [7:0] {
    LcBlank       = 8'he1,
    LcTest        = 8'hd2,
    LcDevelopment = 8'h33,
    LcProduction  = 8'hb4,
    LcReturned    = 8'h55,
    LcScrapped    = 8'h66,
    LcInvalid     = 8'h87
  } lifecycle_e;

  // Verdicts of the load, with the same distance.
  typedef enum logic [7:0] {
    VerdictLoading = 8'h99,
    VerdictReady   = 8'haa,
    VerdictFailed  = 8'hcc
  } verdict_e;

  // Reasons for a verdict that is not `ready`. The numbers are those of `otp_reason` in
  // ../data/otp.rdl.
  typedef enum logic [3:0] {
    ReasonNone       = 4'd0,
    // The lifecycle is blank: nothing was provisioned.
    ReasonBlank      = 4'd1,
    // The lifecycle is scrapped.
    ReasonScrapped   = 4'd2,
    // A word or a flag is half-programmed.
    ReasonHalf       = 4'd3,
    // A written word has more faults than its code corrects.
    ReasonCorrupted  = 4'd4,
    // The flags of the lifecycle are out of order.
    ReasonLifecycle  = 4'd5,
    // The floor has a gap.
    ReasonFloor      = 4'd6,
    // Some words of a field are blank and some are not.
    ReasonMixed      = 4'd7,
    // A device in production has no board or no usable root key.
    ReasonIncomplete = 4'd8,
    // The block itself was upset.
    ReasonUpset      = 4'd9
  } reason_e;

  // Results of the last burn. The numbers are those of `otp_outcome`.
  typedef enum logic [2:0] {
    ResultNone      = 3'd0,
    ResultBusy      = 3'd1,
    ResultDone      = 3'd2,
    // The field is locked, latched or hidden.
    ResultLocked    = 3'd3,
    // The lifecycle does not permit this burn.
    ResultLifecycle = 3'd4,
    // The flag is not the next step, or there is no such flag or row.
    ResultOrder     = 3'd5,
    // The row has cells that the value has not, or it holds another value.
    ResultConflict  = 3'd6,
    // The cells do not read as they were burned.
    ResultVerify    = 3'd7
  } result_e;

  // Check bits of Hsiao's code (IBM J. Res. Dev. 14(4), 1970): its columns are distinct and of odd
  // weight, so that two faults never look like one.
  function automatic logic [CheckBits-1:0] check_bits(logic [DataBits-1:0] data);
    return {^(data & 32'hda691a44), ^(data & 32'hb5549522), ^(data & 32'h6cb24c91), ^(data & 32'he38e2388),
            ^(data & 32'h1f81e078), ^(data & 32'h007fe007), ^(data & 32'h00001fff)};
  endfunction

  // The field to which a row belongs.
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

  // The device secret and the keys are secrets. They are closed outside of production.
  function automatic logic is_secret(logic [3:0] field);
    return field >= FieldSecret && field < FieldLifecycle;
  endfunction

  // The lifecycle that the flags of row 0 mean. Each step follows the one before; a part may be
  // scrapped from any.
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
