// Types and constants of the engine for big numbers.
//
// Numbers are kept in limbs of 68 bits: four chunks of 17, the widest unsigned factor of a DSP block on both sides. All
// sizes of interest are no multiple of 68, so that the top limb has bits to spare: sums and differences need no reduction,
// and a Montgomery product needs no final subtraction (R > 4N). The top limb is signed.

package bignum_pkg;
  parameter int unsigned LimbBits  = 68;
  parameter int unsigned ChunkBits = 17;
  // Limbs of the memory. A slot, which a program names, has eight of them.
  parameter int unsigned Limbs     = 1024;
  parameter int unsigned SlotLimbs = 8;

  // The multiplier has (W / 17)² DSP blocks for words of W bits.
  function automatic int unsigned word_bits(int unsigned dsps);
    return (dsps >= 16) ? 68 : (dsps >= 4) ? 34 : 17;
  endfunction

  typedef logic [6:0] slot_t;

  // What is done with whole numbers, column by column.
  typedef enum logic [2:0] {
    KindLinear  = 3'd0,  // ka a + kb b
    KindProduct = 3'd1,  // ka a b + kb c R
    KindSquare  = 3'd2,  // ka a² + kb c R
    KindReduce  = 3'd3,  // c of 2n words
    KindSelect  = 3'd4   // entry `index` of a table at a
  } kind_e;

  // With what a product is reduced: any modulus by Montgomery's method, the primes of the curves by shifted sums.
  typedef enum logic [1:0] {
    FieldNone = 2'd0,
    FieldAny  = 2'd1,
    FieldP256 = 2'd2,
    FieldP384 = 2'd3
  } field_e;

  typedef logic signed [3:0] small_t;

  typedef struct packed {
    kind_e  kind;
    logic   has_c;
    slot_t  dst, a, b, c;
    small_t ka, kb;
  } vector_t;

  // What a slot of the pipeline does with its product.
  typedef struct packed {
    logic       valid;
    logic       first;    // of its column
    logic       last;
    logic       is_low;   // a column below n, which gives a factor of the modulus
    logic       is_out;   // a column whose word is written
    logic       is_final; // the last word of the result
    logic       is_q;     // the product is the next factor of the modulus
    logic       is_carry; // the product completes the column before
    logic       negate;
    logic [1:0] shift;
  } tag_t;
endpackage
