// Types and constants of the verification of LMS and HSS signatures (RFC 8554, SP 800-208).
//
// Values have the same rows as those of XMSS (`xmss_pkg`). A pair is two words of a value or of a
// message, which is what a hash core takes in a cycle. Pair p of a value is in row p[0], in the
// half p[1].

package lms_pkg;
  // The place of a value in one of the two memories.
  typedef logic [8:0] address_t;

  // Values of the signature, chain by chain, at most 265.
  parameter address_t ValuePlace      = 9'd0;
  // The authentication path, at most 25 values.
  parameter address_t SiblingPlace    = 9'd288;
  // C of the signature.
  parameter address_t RandomizerPlace = 9'd320;
  // A key takes two places, as it is encoded: type of the tree, type of the one-time signature, I,
  // T[1].
  // The key of the caller.
  parameter address_t KeyPlace        = 9'd322;
  // The key of a tree further down, in one of two areas.
  parameter address_t NextPlace       = 9'd324;

  // Hashes of several blocks, by their domain separators D without the upper bits (RFC 8554 §7.1).
  typedef enum logic [1:0] {
    // 8080: the ends of all chains.
    LongKey     = 2'd0,
    // 8181: the message.
    LongMessage = 2'd1,
    // 8282: a leaf.
    LongLeaf    = 2'd2,
    // 8383: a node.
    LongNode    = 2'd3
  } long_e;

  // A chain, and the digit at which it begins.
  typedef struct packed {
    logic [8:0] chain;
    logic [7:0] digit;
  } chain_t;

  // A type of tree (RFC 8554 §5.1, SP 800-208 §4.2).
  typedef struct packed {
    logic       is_known;
    // Values have 24 bytes and not 32.
    logic       is_short;
    logic [4:0] height;
  } tree_t;

  // A type of one-time signature (RFC 8554 §4.1, SP 800-208 §4.1).
  typedef struct packed {
    logic       is_known;
    logic       is_short;
    // Digits have 1, 2, 4 or 8 bits.
    logic [1:0] log_width;
    logic [8:0] chains;
  } ots_t;

  // The parameters of a type of tree, by its number.
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

  // The parameters of a type of one-time signature, by its number.
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

  // The largest digit, 2^w - 1.
  function automatic logic [7:0] last_digit(logic [1:0] log_width);
    unique case (log_width)
      2'd0:    return 8'h01;
      2'd1:    return 8'h03;
      2'd2:    return 8'h0f;
      default: return 8'hff;
    endcase
  endfunction
endpackage
