// Types and constants of the engine for hash-based signatures (RFC 8391, SP 800-208;
// ../doc/README.md).
//
// A value is a hash value in a place of 32 bytes. Memory and slots hold it as two rows of 128 bits,
// each of which has two words of either half of the state: row 0 is (H0, H1, H4, H5), row 1 is (H2,
// H3, H6, H7). So the state of SHA-256 enters and leaves by rows, and a message by pairs of words
// (lanes of 64 bits).

package xmss_pkg;
  // Number of a value's place in the memory.
  parameter int unsigned PlaceBits = 10;
  typedef logic [PlaceBits-1:0] place_t;

  // A row: the words of H0 to H3 in `low`, those of H4 to H7 in `high`.
  typedef struct packed {
    logic [63:0] high;
    logic [63:0] low;
  } row_t;

  // Places of the memory.
  // Values of the signature, chain by chain.
  parameter place_t ChainPlace = 10'd0;
  // Values of the authentication path.
  parameter place_t PathPlace  = 10'd96;
  // Ends of chains and nodes. Node i of level l is at i << l, the place of its leftmost chain.
  parameter place_t NodePlace  = 10'd128;
  // Blocks of the message, as a ring.
  parameter place_t RingPlace  = 10'd256;
  // The root and the seed of the public key.
  parameter place_t RootPlace  = 10'd272;
  parameter place_t SeedPlace  = 10'd273;
  // R of the signature.
  parameter place_t RandomPlace = 10'd274;
  // State of the message digest after the last block.
  parameter place_t StatePlace = 10'd275;
  // The rest of the memory is for preparations of nodes: the masks, and the state after the block
  // with the key. Three regions of 128 places from place 512 on are those of the L-tree. The fourth
  // region has three parts of 32 places for the path.

  // Kinds of jobs, each of which one lane carries out.
  typedef enum logic [2:0] {
    // Loads the public seed, and computes the state that all PRFs have after their first block.
    JobInit  = 3'd0,
    // Walks a chain to its end (RFC 8391 §3.1.2).
    JobChain = 3'd1,
    // Computes the part of a node that depends on no data: the masks and the key (RFC 8391 §4.1.4).
    JobPrep  = 3'd2,
    // Computes the rest of a node, the hash of its masked children.
    JobNode  = 3'd3,
    // Compresses a block of the message.
    JobBlock = 3'd4
  } job_e;

  // Nodes are numbered as in a heap: chain i is a 0 and i in seven bits, and node i of level l is l
  // ones, a zero and i. So the number of a parent is a shift. Levels of the path have numbers of
  // their own.
  typedef struct packed {
    logic       is_path;
    logic [7:0] number;
  } node_t;

  // A job with all that a lane has to know of it.
  typedef struct packed {
    job_e        kind;
    // A chain, a node, or the place of a block in the ring.
    node_t       node;
    // On the path: the node below is the right child.
    logic        is_right;
    // The first step of a chain.
    logic [3:0]  step;
    // The number of a chain, or the height of a node's children.
    logic [6:0]  chain;
    // The number of a node in its level.
    logic [19:0] index;
    // The block is the first of its message.
    logic        is_first;
    // The result is an operand of the next job of this lane, and goes nowhere else.
    logic        forwards;
    // The node below is the result of the job before, in this lane.
    logic        is_forwarded;
  } job_t;

  // A row of an operand of a job, and a row of its result.
  typedef struct packed {
    job_e       kind;
    node_t      node;
    logic       is_right;
    // The number of the operand.
    logic [2:0] part;
    // 0 is (H0, H1, H4, H5), 1 is (H2, H3, H6, H7).
    logic       row;
  } operand_t;
  typedef struct packed {
    job_e       kind;
    node_t      node;
    // The number of the result.
    logic [1:0] part;
    logic       row;
  } result_t;
  // Address of a row in the memory.
  typedef logic [PlaceBits:0] row_address_t;

  // Forms of the index at the start of a signature: four bytes (XMSS), or an eighth of the height
  // (XMSS^MT), which is three, five or eight bytes.
  typedef enum logic [1:0] {
    IndexFour  = 2'd0,
    IndexThree = 2'd1,
    IndexFive  = 2'd2,
    IndexEight = 2'd3
  } index_e;

  // Types of addresses (RFC 8391 §2.5).
  parameter logic [1:0] TypeOts      = 2'd0;
  parameter logic [1:0] TypeLTree    = 2'd1;
  parameter logic [1:0] TypeHashTree = 2'd2;

  // The last node of an odd level is lifted to the next level without a hash (RFC 8391 §4.1.5).
  // These are the lifted nodes of an L-tree of 51 and of 67 chains.
  function automatic logic is_lifted(logic [7:0] number, logic is_short);
    if (is_short) return number inside {8'h32, 8'hcc, 8'he6};
    return number inside {8'h42, 8'hd0, 8'he8, 8'hf4, 8'hfa};
  endfunction

  // The place in which a part of a node's preparation is kept.
  function automatic place_t prep_place(node_t node, logic [1:0] part);
    // No adder is needed: the number of a node is below 128 in the L-tree, and a level of the path
    // is below 32.
    return {1'b1, node.is_path ? {2'd3, part, node.number[4:0]} : {part, node.number[6:0]}};
  endfunction

  // Node i of level l is at i << l. Its level is the number of ones at the start of its number.
  function automatic logic [6:0] node_offset(logic [7:0] number);
    for (int level = 1; level < 7; level++) begin
      if (!number[7-level]) return 7'(number << level);
    end
    return '0;
  endfunction

  // The right child of a node of level l is 1 << (l - 1) places after the left one.
  function automatic logic [6:0] right_offset(logic [7:0] number);
    for (int level = 1; level < 7; level++) begin
      if (!number[7-level]) return 7'(number << level) | 7'(1 << (level - 1));
    end
    return 7'd64;
  endfunction

  // Row of an operand: children first, then the preparation. The sibling is on the left of an odd
  // node (RFC 8391 §4.1.10).
  function automatic row_address_t operand_row(operand_t operand);
    place_t child, place;
    node_t  node;
    node  = operand.node;
    child = NodePlace | PlaceBits'(operand.part[0] ? right_offset(node.number) : node_offset(node.number));
    if (node.is_path) begin
      child = (operand.part[0] == operand.is_right) ? NodePlace : PathPlace | PlaceBits'(node.number[4:0]);
    end
    unique case (operand.kind)
      JobInit:  place = SeedPlace;
      JobChain: place = ChainPlace | PlaceBits'(node.number[6:0]);
      JobBlock: place = operand.part[1] ? StatePlace : RingPlace | PlaceBits'({node.number[2:0], operand.part[0]});
      default:  place = (operand.part[2:1] == '0) ? child :
                        prep_place(node, {~operand.part[2] & ~operand.part[0], operand.part[2]});
    endcase
    return {place, operand.row};
  endfunction

  // Row of a result. All nodes of the path share one place, because each is used by the next one
  // only.
  function automatic row_address_t result_row(result_t result);
    place_t place;
    unique case (result.kind)
      JobPrep:  place = prep_place(result.node, result.part);
      JobChain: place = NodePlace | PlaceBits'(result.node.number[6:0]);
      JobBlock: place = StatePlace;
      default:  place = NodePlace | PlaceBits'(result.node.is_path ? '0 : node_offset(result.node.number));
    endcase
    return {place, result.row};
  endfunction

  // Hashes that a core computes as a whole, of one or two blocks (RFC 8391 §5.1).
  typedef enum logic [2:0] {
    // The block of toByte(3, 32) and the seed, which all PRFs begin with.
    HashInit = 3'd0,
    // A PRF: the block with the address, after `HashInit`.
    HashPrf  = 3'd1,
    // F: toByte(0, 32) and the key, then the masked value.
    HashF    = 3'd2,
    // The first block of H: toByte(1, 32) and the key.
    HashKey  = 3'd3,
    // The second block of H: the masked children.
    HashH    = 3'd4,
    // Two values without a change.
    HashRaw  = 3'd5
  } hash_e;

  // Slots of a lane. Each job has its own six, in one of two sets, so that the next job's operands
  // are loaded while one is computed. The first two slots belong to the lane.
  typedef enum logic [2:0] {
    // The state after the first block of a PRF.
    SlotMid   = 3'd0,
    // The public seed.
    SlotSeed  = 3'd1,
    // Operands of a hash: values, key, masks, and a state to continue from.
    SlotA     = 3'd2,
    SlotB     = 3'd3,
    SlotKey   = 3'd4,
    // Masks have their halves exchanged, so that a mask and a value are read together
    // (`xmss_feed`).
    SlotMaskA = 3'd5,
    SlotMaskB = 3'd6,
    SlotState = 3'd7
  } slot_e;

  // Reasons for which a signature is refused.
  typedef enum logic [3:0] {
    NoError        = 4'd0,
    // The computed root differs from the root of the key.
    ErrorMismatch  = 4'd1,
    // The type is not one that is built in.
    ErrorType      = 4'd2,
    // The key has another type than was expected.
    ErrorKeyType   = 4'd3,
    // The tree has no leaf of this index.
    ErrorIndex     = 4'd4,
    // The signature ends too early.
    ErrorShort     = 4'd5,
    // Bytes follow the signature.
    ErrorLong      = 4'd6,
    // The signature has other types than the key.
    ErrorParameters = 4'd7,
    // The verification was aborted.
    ErrorAborted   = 4'd8,
    // A state that does not exist was found. It lasts until reset.
    ErrorUpset     = 4'd9
  } error_e;

  // Families of signatures. Each has a core of its own and one bit here.
  parameter int unsigned NumFamilies = 3;
  typedef logic [NumFamilies-1:0] families_t;
  typedef enum families_t {
    FamilyXmss   = 3'b001,
    FamilyLms    = 3'b010,
    FamilySlhDsa = 3'b100
  } family_e;

  // Algorithms. The number of a type has another meaning in each of them.
  typedef enum logic [1:0] {
    AlgorithmXmss   = 2'd0,
    AlgorithmXmssMt = 2'd1,
    // LMS, and HSS (RFC 8554).
    AlgorithmLms    = 2'd2,
    AlgorithmSlhDsa = 2'd3
  } algorithm_e;

  // The ports of `xmss_hash` as two structures: the requests of a family to a hash core, and its
  // answers.
  typedef struct packed {
    // Drops the block.
    logic           wipe;
    logic           cmd_valid;
    sha2_pkg::cmd_e cmd;
    // Two words of the message.
    logic           lane_valid;
    logic [63:0]    lane;
    // A row of a state from outside.
    logic           load_valid;
    row_t           load;
    logic           save_ready;
  } hash_request_t;

  // Rows of a state enter (`load_*`) and leave (`save_*`) in the order in which the core needs
  // them.
  typedef struct packed {
    logic       error;
    logic       cmd_ready;
    logic       lane_ready;
    logic       load_next;
    logic       load_last;
    logic       load_row;
    logic       save_valid;
    logic       save_last;
    logic       save_row;
    logic [1:0] save_halves;
    row_t       save;
  } hash_response_t;

  // A step of the verdict of `xmss_control`. After a count and eight words, twice and without a
  // difference, the constant is what is left. The rotation makes every step matter, also in pairs.
  function automatic logic [63:0] mix_verdict(logic [63:0] verdict, logic [31:0] differs);
    return {verdict[56:0], verdict[63:57]} ^ {differs, differs[15:0], differs[31:16]} ^ 64'h9e37_79b9_7f4a_7c15;
  endfunction
  // The verdict begins with this value, and ends with `VerdictPassed` after 18 steps without a
  // difference.
  localparam logic [63:0] VerdictBegin = 64'h6861_7274_6c6f_636b;
  function automatic logic [63:0] passed_verdict();
    logic [63:0] value;
    value = VerdictBegin;
    for (int i = 0; i < 18; i++) value = mix_verdict(value, '0);
    return value;
  endfunction
  localparam logic [63:0] VerdictPassed = passed_verdict();
endpackage
