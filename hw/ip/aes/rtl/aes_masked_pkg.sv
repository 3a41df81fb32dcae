// This package has the fields of the masked S-box. GF(2^8) is GF(2^4)[z]/(z^2 + z + V), GF(2^4) is
// GF(2^2)[y]/(y^2 + y + N), and GF(2^2) is GF(2)[w]/(w^2 + w + 1), with N = w and V = wy. The upper half of a
// vector is the coefficient of z, y or w. In this tower an inverse takes four multiplications, one after the
// other.

package aes_masked_pkg;
  typedef logic [1:0] gf4_t;
  typedef logic [3:0] gf16_t;

  // These functions are the arithmetic of GF(2^2).
  function automatic gf4_t multiply4(gf4_t a, gf4_t b);
    return {(a[1] & b[0]) ^ (a[0] & b[1]) ^ (a[1] & b[1]), (a[0] & b[0]) ^ (a[1] & b[1])};
  endfunction
  // In GF(2^2) a square is an inverse as well.
  function automatic gf4_t square4(gf4_t a);
    return {a[1], a[1] ^ a[0]};
  endfunction
  // This multiplies with N.
  function automatic gf4_t scale4(gf4_t a);
    return {a[1] ^ a[0], a[1]};
  endfunction

  // These functions are the arithmetic of GF(2^4), made of products in GF(2^2).
  function automatic gf16_t multiply16(gf16_t a, gf16_t b);
    gf4_t high;
    high = multiply4(a[3:2], b[3:2]);
    return {multiply4(a[3:2], b[1:0]) ^ multiply4(a[1:0], b[3:2]) ^ high, multiply4(a[1:0], b[1:0]) ^ scale4(high)};
  endfunction
  // The square is linear, so it can be made on each share.
  function automatic gf16_t square16(gf16_t a);
    return multiply16(a, a);
  endfunction

  // This matrix leads from the standard's basis to the tower. Column `i` is the image of x^i, and the columns
  // are powers of a root of the standard's polynomial in the tower.
  parameter logic [7:0][7:0] ToTower = '{8'd196, 8'd88, 8'd154, 8'd86, 8'd108, 8'd102, 8'd65, 8'd1};

  // The change of basis is linear, so it can be made on each share.
  function automatic logic [7:0] to_tower(logic [7:0] a);
    logic [7:0] out;
    out = '0;
    for (int i = 0; i < 8; i++) out ^= ToTower[i] & {8{a[i]}};
    return out;
  endfunction

  // This function makes the inverse matrix by a search for the vectors whose images are the unit vectors. It is
  // constant.
  function automatic logic [7:0][7:0] make_from_tower();
    logic [7:0][7:0] out;
    out = '0;
    for (int v = 0; v < 256; v++) for (int i = 0; i < 8; i++) if (to_tower(8'(v)) == 8'(1 << i)) out[i] = 8'(v);
    return out;
  endfunction
  // This matrix leads back from the tower to the standard's basis.
  parameter logic [7:0][7:0] FromTower = make_from_tower();

  // This is the change back to the standard's basis.
  function automatic logic [7:0] from_tower(logic [7:0] a);
    logic [7:0] out;
    out = '0;
    for (int i = 0; i < 8; i++) out ^= FromTower[i] & {8{a[i]}};
    return out;
  endfunction

  // These functions are the linear part of the affine transformation, and that of its inverse (FIPS 197 §5.1.1,
  // §5.3.2). The constant is added to one share by the caller.
  function automatic logic [7:0] affine_part(logic [7:0] a);
    logic [7:0] out;
    for (int i = 0; i < 8; i++) out[i] = a[i] ^ a[(i+4)%8] ^ a[(i+5)%8] ^ a[(i+6)%8] ^ a[(i+7)%8];
    return out;
  endfunction
  function automatic logic [7:0] inverse_affine_part(logic [7:0] a);
    logic [7:0] out;
    for (int i = 0; i < 8; i++) out[i] = a[(i+2)%8] ^ a[(i+5)%8] ^ a[(i+7)%8];
    return out;
  endfunction

  // This function makes of a share of a byte what an S-box takes: the byte in the basis of the tower. For the
  // inverse of SubBytes the inverse of the affine transformation comes first, whose constant is added to the
  // first share only.
  function automatic logic [7:0] to_sbox(logic [7:0] a, logic is_inverse, logic is_first_share);
    return to_tower(is_inverse ? inverse_affine_part(a ^ (8'h63 & {8{is_first_share}})) : a);
  endfunction
endpackage
