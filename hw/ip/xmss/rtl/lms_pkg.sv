// Types and constants of the verification of LMS and HSS signatures (RFC 8554, SP 800-208).
//
// Values are in the same memory and in the same rows as those of XMSS (`xmss_pkg`). A pair is two words of a value, or
// of a message: what a hash core takes in a cycle. Pair p of a value is in row p[0], in the half p[1].

package lms_pkg;
  // A place of a value in one of the two memories.
  typedef logic [8:0] address_t;

  parameter address_t ValuePlace      = 9'd0;    // values of the signature: chain by chain, 265 at most
  parameter address_t SiblingPlace    = 9'd288;  // the authentication path: 25 values at most
  parameter address_t RandomizerPlace = 9'd320;  // C of the signature
  // A key in two places, as it is encoded: type of the tree, type of the one-time signature, I, T[1].
  parameter address_t KeyPlace        = 9'd322;  // the caller's
  parameter address_t NextPlace       = 9'd324;  // of a tree further down, in one of two areas

  // What is hashed by blocks that follow each other: the domain separators D of RFC 8554 §7.1 without their upper bits.
  typedef enum logic [1:0] {
    LongKey     = 2'd0,  // 8080: the ends of all chains
    LongMessage = 2'd1,  // 8181
    LongLeaf    = 2'd2,  // 8282
    LongNode    = 2'd3   // 8383
  } long_e;

  // A chain, and the digit that it begins with.
  typedef struct packed {
    logic [8:0] chain;
    logic [7:0] digit;
  } chain_t;

  // A type of tree (RFC 8554 §5.1, SP 800-208 §4.2).
  typedef struct packed {
    logic       is_known;
    logic       is_short;  // 24 bytes, not 32
    logic [4:0] height;
  } tree_t;

  // A type of one-time signature (RFC 8554 §4.1, SP 800-208 §4.1).
  typedef struct packed {
    logic       is_known;
    logic       is_short;
    logic [1:0] log_width;  // digits have 1, 2, 4 or 8 bits
    logic [8:0] chains;
  } ots_t;

  function automatic tree_t tree_of(logic [3:0] code);
    tree_t tree;
    tree = '{is_known: 1'b1, is_short: code > 4'd9, height: '0};
    unique case (code)
      4'd5, 4'd10: tree.height = 5'd5;
      4'd6, 4'd11: tree.height = 5'd10;
      4'd7, 4'd12: tree.height = 5'd15;
      4'd8, 4'd13: tree.height = 5'd20;
      4'd9, 4'd14: tree.height = 5'd25;
      default:       tree.is_known = 1'b0;
    endcase
    return tree;
  endfunction

  function automatic ots_t ots_of(logic [3:0] code);
    ots_t ots;
    ots = '{is_known: 1'b1, is_short: code > 4'd4, log_width: 2'(code[1:0] - 2'd1), chains: '0};
    unique case (code)
      4'd1:   ots.chains = 9'd265;
      4'd2:   ots.chains = 9'd133;
      4'd3:   ots.chains = 9'd67;
      4'd4:   ots.chains = 9'd34;
      4'd5:   ots.chains = 9'd200;
      4'd6:   ots.chains = 9'd101;
      4'd7:   ots.chains = 9'd51;
      4'd8:   ots.chains = 9'd26;
      default: ots.is_known = 1'b0;
    endcase
    return ots;
  endfunction

  // The largest digit.
  function automatic logic [7:0] last_digit(logic [1:0] log_width);
    unique case (log_width)
      2'd0:    return 8'h01;
      2'd1:    return 8'h03;
      2'd2:    return 8'h0f;
      default: return 8'hff;
    endcase
  endfunction
endpackage
