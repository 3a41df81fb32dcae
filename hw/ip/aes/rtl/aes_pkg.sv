// This package has the types, constants and functions of the AES engine (FIPS 197).
//
// Byte `i` of a block has the index `i`: the first byte of memory is in the lower bits, in words as well. Row
// `r` and column `c` of the standard's state are byte `4c + r` (§3.4).

package aes_pkg;
  typedef logic [31:0]      word_t;
  typedef logic [15:0][7:0] block_t;

  // This is the length of a key. The code without a name is no key.
  typedef enum logic [1:0] {
    Key128 = 2'd0,
    Key192 = 2'd1,
    Key256 = 2'd2
  } key_len_e;

  // These functions give the words of a key (Nk) and the rounds (Nr) of the standard, table 3.
  function automatic logic [3:0] key_words(key_len_e len);
    return len == Key256 ? 4'd8 : (len == Key192 ? 4'd6 : 4'd4);
  endfunction
  function automatic logic [3:0] rounds(key_len_e len);
    return len == Key256 ? 4'd14 : (len == Key192 ? 4'd12 : 4'd10);
  endfunction

  // This is the multiplication by x in GF(2^8) (§4.2).
  function automatic logic [7:0] xtime(logic [7:0] a);
    return {a[6:0], 1'b0} ^ (8'h1b & {8{a[7]}});
  endfunction

  // The functions from here on are constant: tables are calculated from their definition, so no table was
  // typed. This one multiplies in GF(2^8) (§4.2).
  function automatic logic [7:0] multiply(logic [7:0] a, logic [7:0] b);
    logic [7:0] sum, power;
    sum   = '0;
    power = a;
    for (int i = 0; i < 8; i++) begin
      if (b[i]) sum ^= power;
      power = xtime(power);
    end
    return sum;
  endfunction

  // The inverse is the power 254, the product of the powers 2, 4, 8 and so on up to 128. Zero remains zero
  // (§5.1.1).
  function automatic logic [7:0] invert(logic [7:0] a);
    logic [7:0] square, product;
    square  = a;
    product = 8'h01;
    for (int i = 1; i < 8; i++) begin
      square  = multiply(square, square);
      product = multiply(product, square);
    end
    return product;
  endfunction

  // The affine transformation follows the inverse in SubBytes (§5.1.1).
  function automatic logic [7:0] affine(logic [7:0] a);
    logic [7:0] out;
    for (int i = 0; i < 8; i++) out[i] = a[i] ^ a[(i+4)%8] ^ a[(i+5)%8] ^ a[(i+6)%8] ^ a[(i+7)%8];
    return out ^ 8'h63;
  endfunction

  typedef logic [255:0][7:0] table_t;

  // These functions make the tables of SubBytes (§5.1.1) and of the inverses in GF(2^8).
  function automatic table_t make_sbox();
    table_t out;
    for (int i = 0; i < 256; i++) out[i] = affine(invert(8'(i)));
    return out;
  endfunction
  function automatic table_t make_inverses();
    table_t out;
    for (int i = 0; i < 256; i++) out[i] = invert(8'(i));
    return out;
  endfunction

  // This is the inverse of the affine transformation (§5.3.2).
  function automatic logic [7:0] inverse_affine(logic [7:0] a);
    logic [7:0] out;
    for (int i = 0; i < 8; i++) out[i] = a[(i+2)%8] ^ a[(i+5)%8] ^ a[(i+7)%8];
    return out ^ 8'h05;
  endfunction

  // This function makes the table of the inverse of SubBytes (§5.3.2).
  function automatic table_t make_inverse_sbox();
    table_t out;
    for (int i = 0; i < 256; i++) out[i] = invert(inverse_affine(8'(i)));
    return out;
  endfunction

  // This is MixColumns (§5.1.3).
  function automatic block_t mix_columns(block_t s);
    block_t out;
    for (int c = 0; c < 16; c += 4) begin
      for (int r = 0; r < 4; r++) begin
        out[c+r] = xtime(s[c+r] ^ s[c+(r+1)%4]) ^ s[c+(r+1)%4] ^ s[c+(r+2)%4] ^ s[c+(r+3)%4];
      end
    end
    return out;
  endfunction

  // The matrix of the inverse of MixColumns is a product (§5.3.3): {0e, 0b, 0d, 09} = {02, 03, 01, 01} * {05,
  // 00, 04, 00}. The first factor is MixColumns. This function gives what the second factor adds to a column.
  function automatic block_t inverse_part(block_t s);
    block_t out;
    for (int c = 0; c < 16; c += 4) begin
      for (int r = 0; r < 4; r++) out[c+r] = xtime(xtime(s[c+r] ^ s[c+(r+2)%4]));
    end
    return out;
  endfunction

  // These are ShiftRows and its inverse (§5.1.2, §5.3.1).
  function automatic block_t shift_rows(block_t s);
    block_t out;
    for (int c = 0; c < 4; c++) for (int r = 0; r < 4; r++) out[4*c+r] = s[4*((c+r)%4)+r];
    return out;
  endfunction
  function automatic block_t inverse_shift_rows(block_t s);
    block_t out;
    for (int c = 0; c < 4; c++) for (int r = 0; r < 4; r++) out[4*c+r] = s[4*((c+4-r)%4)+r];
    return out;
  endfunction
endpackage
