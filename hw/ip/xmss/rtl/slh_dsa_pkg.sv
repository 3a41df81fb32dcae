// Types and constants of the verification of SLH-DSA-SHA2-128s (FIPS 205).
//
// A value has n = 16 bytes. Memories and operands hold it as two halves of 64 bits, which are lanes
// of a hash core's message and the lower words of its state: half 0 is (H0, H1), half 1 is (H2,
// H3).

package slh_dsa_pkg;
  // The parameter set (table 2): h = 63, d = 7, h' = 9, a = 12, k = 14, len = 35.
  parameter int unsigned Layers     = 7;
  // Height of the tree of a layer.
  parameter int unsigned TreeHeight = 9;
  parameter int unsigned Chains     = 35;
  // Chains of the message. The other three belong to the checksum.
  parameter int unsigned MessageChains = 32;
  // Trees of FORS.
  parameter int unsigned Trees      = 14;
  parameter int unsigned ForsHeight = 12;

  // The number of the type that is built in, in `expected_i` and in a key.
  parameter logic [31:0] TypeSha2128s = 32'd1;

  // A half of a value in the memory of the signature.
  typedef logic [9:0] half_t;
  // The signature in its order (§9.2, figure 17): R, for each tree a secret and a path, for each
  // layer chains and a path.
  parameter half_t SignatureHalves = 10'd982;
  parameter half_t TreesAt   = 10'd2;
  parameter half_t LayersAt  = 10'd366;
  parameter half_t LayerSize = 10'd88;
  // The path, in its layer.
  parameter half_t PathAt    = 10'd70;
  // The root and the seed of the key, after the signature.
  parameter half_t RootAt    = 10'd1008;
  parameter half_t SeedAt    = 10'd1010;

  // The kinds of work, which are the types of their addresses (§4.2, table 1).
  typedef enum logic [2:0] {
    // WOTS_HASH: walks a chain to its end.
    KindChain = 3'd0,
    // WOTS_PK: a block of T_len over the ends of chains.
    KindEnds  = 3'd1,
    // TREE: from the leaf of a layer to its root.
    KindPath  = 3'd2,
    // FORS_TREE: from a secret to the root of its tree.
    KindTree  = 3'd3,
    // FORS_ROOTS: a block of T_k over the roots of trees.
    KindRoots = 3'd4
  } kind_e;

  // A job with all that a lane has to know of it.
  typedef struct packed {
    kind_e       kind;
    // The first half that is read: of the signature, or for a block of the results.
    half_t       at;
    // Number of halves that are read, one after the other.
    logic [4:0]  halves;
    // Number of hashes.
    logic [3:0]  hashes;
    // Number of the chain or tree.
    logic [5:0]  number;
    // Words of the first address: the chain or a height, and the first step of a chain or an index
    // in a level.
    logic [5:0]  second;
    logic [15:0] index;
    // The first child of a path is the right one.
    logic        is_right;
    // The block is the first one, or the last one.
    logic        is_first;
    logic        is_last;
  } job_t;

  // Hashes besides the steps of chains: trees, blocks of T_k, and for each layer blocks of T_len
  // and nodes.
  parameter int unsigned ForsBlocks  = 4;
  parameter int unsigned LayerBlocks = 10;
  parameter int unsigned Nodes = Trees * (1 + ForsHeight) + ForsBlocks + Layers * (LayerBlocks + TreeHeight);
endpackage
