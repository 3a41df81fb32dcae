// This package has the constants and types of the SHA-3 engine (FIPS 202).
//
// A lane is a word of 64 bits, whose first byte is in the lower bits (§B.1). Lane `A[x, y]` of the standard has
// the index `x + 5y`: the first lanes are the rate, which takes and gives data.

package sha3_pkg;
  // These are the lanes of the state, and the most that a rate has (SHAKE128 and KMAC128).
  parameter int unsigned Lanes     = 25;
  parameter int unsigned RateLanes = 21;

  typedef logic [63:0] lane_t;

  // The rate is the number of bytes of a block, which decides the security strength: what is left of 200 bytes
  // is the capacity.
  typedef enum logic [2:0] {
    // This is the rate of SHA3-512.
    Rate72  = 3'd0,
    // This is the rate of SHA3-384.
    Rate104 = 3'd1,
    // This is the rate of SHA3-256, SHAKE256 and KMAC256.
    Rate136 = 3'd2,
    // This is the rate of SHA3-224.
    Rate144 = 3'd3,
    // This is the rate of SHAKE128, KMAC128 and TurboSHAKE128.
    Rate168 = 3'd4
  } rate_e;

  // This is the function with which a message is hashed.
  typedef struct packed {
    rate_e      rate;
    // TurboSHAKE makes only 12 rounds, the last ones of the 24 (RFC 9861 §2.2).
    logic       is_short;
    // The suffix has the bits after the message and the first bit of the padding: 0x06, 0x1f or 0x04.
    logic [7:0] suffix;
  } function_t;

  // This function gives the index of the last lane of a block. A rate without a name is the smallest one, so
  // that no upset of it makes a capacity smaller than that of a function of the standard.
  function automatic logic [4:0] last_lane(rate_e rate);
    unique case (rate)
      Rate104: return 5'd12;
      Rate136: return 5'd16;
      Rate144: return 5'd17;
      Rate168: return 5'd20;
      default: return 5'd8;
    endcase
  endfunction

  // These constants are what ι adds to the first lane, by rounds (§3.2.5).
  parameter lane_t RoundConstants [24] = '{
    64'h0000000000000001, 64'h0000000000008082, 64'h800000000000808a, 64'h8000000080008000,
    64'h000000000000808b, 64'h0000000080000001, 64'h8000000080008081, 64'h8000000000008009,
    64'h000000000000008a, 64'h0000000000000088, 64'h0000000080008009, 64'h000000008000000a,
    64'h000000008000808b, 64'h800000000000008b, 64'h8000000000008089, 64'h8000000000008003,
    64'h8000000000008002, 64'h8000000000000080, 64'h000000000000800a, 64'h800000008000000a,
    64'h8000000080008081, 64'h8000000000008080, 64'h0000000080000001, 64'h8000000080008008
  };

  // These are the distances by which ρ rotates each lane (§3.2.2).
  parameter int unsigned Rotations [Lanes] = '{
     0,  1, 62, 28, 27,
    36, 44,  6, 55, 20,
     3, 10, 43, 25, 39,
    41, 45, 15, 21,  8,
    18,  2, 61, 56, 14
  };
endpackage
