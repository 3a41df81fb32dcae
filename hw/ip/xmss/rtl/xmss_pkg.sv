// Types and constants of the engine for hash-based signatures (RFC 8391).
//
// A value is a hash value in a place of 32 bytes. Memory and slots hold it as two rows of 128 bits, each of
// which has two words of either half: row 0 is (H0, H1, H4, H5), row 1 is (H2, H3, H6, H7). So the state of
// SHA-256 comes and goes by rows, and a message by lanes of 64 bits.

package xmss_pkg;
  parameter int unsigned PlaceBits = 10;
  typedef logic [PlaceBits-1:0] place_t;

  // A row: the words of H0 to H3 in `low`, those of H4 to H7 in `high`.
  typedef struct packed {
    logic [63:0] high;
    logic [63:0] low;
  } row_t;

  // Places of the memory.
  parameter place_t ChainPlace = 10'd0;    // values of the signature: chain by chain
  parameter place_t PathPlace  = 10'd96;   // the authentication path
  parameter place_t NodePlace  = 10'd128;  // ends of chains and nodes: node (l, i) is at i << l
  parameter place_t RingPlace  = 10'd256;  // blocks of the message
  parameter place_t RootPlace  = 10'd272;
  parameter place_t SeedPlace  = 10'd273;
  parameter place_t RandomPlace = 10'd274; // R of the signature
  parameter place_t StatePlace = 10'd275;  // of the message digest
  // What runs ahead for a node: its masks, and the state after the block with its key. Three regions of 128 places
  // from 512 on are those of the L-tree; the fourth has three parts of 32 for the path.

  // What a lane does.
  typedef enum logic [2:0] {
    JobInit  = 3'd0,  // loads the public seed, and computes the state of all PRFs after their first block
    JobChain = 3'd1,  // walks a chain to its end
    JobPrep  = 3'd2,  // computes what a node needs and no data decides
    JobNode  = 3'd3,  // the rest of a node
    JobBlock = 3'd4   // a block of the message
  } job_e;

  // Nodes are numbered as in a heap: chain i is 0 and i in seven bits, node i of level l is l ones, a zero and i. So a
  // parent is a shift. Level k of the path is numbered apart.
  typedef struct packed {
    logic       is_path;
    logic [7:0] number;
  } node_t;

  typedef struct packed {
    job_e        kind;
    node_t       node;      // a chain, a node, or the place of a block in its ring
    logic        is_right;  // on the path: the node below is the right child
    logic [3:0]  step;      // the first one of a chain
    logic [6:0]  chain;     // a chain, or the height of a node's children
    logic [19:0] index;     // of a node in its level
    logic        is_first;  // block of the message
    logic        forwards;      // the result is an operand of the next job of this lane, and goes nowhere else
    logic        is_forwarded;  // the node below is the result of the job before
  } job_t;

  // A row of a job's operand, and one of its result.
  typedef struct packed {
    job_e       kind;
    node_t      node;
    logic       is_right;
    logic [2:0] part;  // which operand
    logic       row;   // 0: H0, H1, H4, H5
  } operand_t;
  typedef struct packed {
    job_e       kind;
    node_t      node;
    logic [1:0] part;  // which result
    logic       row;
  } result_t;
  typedef logic [PlaceBits:0] row_address_t;

  // How a signature begins: an index of four bytes (XMSS), or of an eighth of the height (XMSS^MT).
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

  // The last node of an odd level is lifted to the next one without a hash (RFC 8391 §4.1.5): with 67 chains and with 51.
  function automatic logic is_lifted(logic [7:0] number, logic is_short);
    if (is_short) return number inside {8'h32, 8'hcc, 8'he6};
    return number inside {8'h42, 8'hd0, 8'he8, 8'hf4, 8'hfa};
  endfunction

  // Where the preparation of a node is kept.
  function automatic place_t prep_place(node_t node, logic [1:0] part);
    // No adder: the number of a node is below 128 in the L-tree, and a level of the path below 32.
    return {1'b1, node.is_path ? {2'd3, part, node.number[4:0]} : {part, node.number[6:0]}};
  endfunction

  // Node (l, i) is at i << l: the ones in front of its number are as many as its level.
  function automatic logic [6:0] node_offset(logic [7:0] number);
    for (int level = 1; level < 7; level++) begin
      if (!number[7-level]) return 7'(number << level);
    end
    return '0;
  endfunction

  // Its right child is half of 1 << l further.
  function automatic logic [6:0] right_offset(logic [7:0] number);
    for (int level = 1; level < 7; level++) begin
      if (!number[7-level]) return 7'(number << level) | 7'(1 << (level - 1));
    end
    return 7'd64;
  endfunction

  // Operands of a job: children first, then the preparation. The sibling is on the left of an odd node (RFC 8391 §4.1.10).
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

  // What a hash core computes at a time, in one or two blocks.
  typedef enum logic [2:0] {
    HashInit = 3'd0,  // toByte(3, 32) and the seed: the state of every PRF
    HashPrf  = 3'd1,  // the address
    HashF    = 3'd2,  // toByte(0, 32), the key; the masked value
    HashKey  = 3'd3,  // of H: toByte(1, 32) and the key
    HashH    = 3'd4,  // the masked children
    HashRaw  = 3'd5   // two values as they are
  } hash_e;

  // Slots of a lane. Each job has six, in one of two sets, so that the next job's operands come while one is computed.
  typedef enum logic [2:0] {
    SlotMid   = 3'd0,  // of the lane: the state after the first block of a PRF
    SlotSeed  = 3'd1,  // of the lane
    SlotA     = 3'd2,
    SlotB     = 3'd3,
    SlotKey   = 3'd4,
    SlotMaskA = 3'd5,  // masks have their halves exchanged
    SlotMaskB = 3'd6,
    SlotState = 3'd7
  } slot_e;

  // Why a signature is refused.
  typedef enum logic [3:0] {
    NoError        = 4'd0,
    ErrorMismatch  = 4'd1,  // the root is another one
    ErrorType      = 4'd2,  // no type that is built in
    ErrorKeyType   = 4'd3,  // the key has another type than was expected
    ErrorIndex     = 4'd4,  // there is no such leaf
    ErrorShort     = 4'd5,  // the signature ends too early
    ErrorLong      = 4'd6,  // bytes follow the signature
    ErrorParameters = 4'd7, // the signature has other types than the key
    ErrorAborted   = 4'd8,
    ErrorUpset     = 4'd9   // a state that does not exist; until reset
  } error_e;

  // Families of signatures, each of which has a core of its own, one bit each.
  parameter int unsigned NumFamilies = 3;
  typedef logic [NumFamilies-1:0] families_t;
  typedef enum families_t {
    FamilyXmss   = 3'b001,
    FamilyLms    = 3'b010,
    FamilySlhDsa = 3'b100
  } family_e;

  // Algorithms, in each of which a number of a type means something else.
  typedef enum logic [1:0] {
    AlgorithmXmss   = 2'd0,
    AlgorithmXmssMt = 2'd1,
    AlgorithmLms    = 2'd2,  // and HSS
    AlgorithmSlhDsa = 2'd3
  } algorithm_e;

  // The ports of `xmss_hash` as two structures: what a family of signatures asks of a hash core, and what it gets.
  typedef struct packed {
    logic           wipe;        // drops the block
    logic           cmd_valid;
    sha2_pkg::cmd_e cmd;
    logic           lane_valid;  // two words of the message
    logic [63:0]    lane;
    logic           load_valid;  // a row of the state, from outside
    row_t           load;
    logic           save_ready;
  } hash_request_t;

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
endpackage
