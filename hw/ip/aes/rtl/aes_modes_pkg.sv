// This package has the modes of the AES engine and the codes of the states of a message, which
// `aes_modes` and the proofs share.

package aes_modes_pkg;
  // The values are those of the register field `control.mode`. With `ModeOff` no message can be
  // started.
  typedef enum logic [2:0] {
    ModeOff = 3'd0,
    ModeEcb = 3'd1,
    ModeCbc = 3'd2,
    ModeCtr = 3'd3,
    ModeGcm = 3'd4
  } mode_e;

  // Any two codes differ in at least four bits: they are words of the extended Hamming code. So no
  // upset of up to three bits leads from one state to another one.
  typedef enum logic [7:0] {
    // StIdle waits for a start.
    StIdle    = 8'b00010111,
    // StExpand waits until the cipher has expanded the key.
    StExpand  = 8'b00101011,
    // StTurn takes one cycle, in which the cipher reads the first round key of the direction.
    StTurn    = 8'b00111100,
    // StSubkey (GCM) encrypts zero, and ends with the result, the subkey of GHASH.
    StSubkey  = 8'b01001101,
    // StIv (GCM) puts the blocks of a long vector into GHASH, and ends after the last one.
    StIv      = 8'b01011010,
    // StIvEnd (GCM) adds the length of the vector, and ends when GHASH has the sum, which is the first
    // counter block.
    StIvEnd   = 8'b01100110,
    // StFirst (GCM) encrypts the first counter block, and ends with the result, which hides the tag.
    StFirst   = 8'b01110001,
    // StAad (GCM) puts the data that are authenticated only into GHASH, and ends after the last block.
    StAad     = 8'b10001110,
    // StText processes the text, and ends when the result of the last block is stored.
    StText    = 8'b10011001,
    // StLengths (GCM) adds the two lengths, and ends when GHASH has taken them.
    StLengths = 8'b10100101,
    // StTag (GCM) waits for the sum of GHASH, of which the tag is made.
    StTag     = 8'b10110010,
    // StError is left by a reset only.
    StError   = 8'b11010100
  } state_e;
endpackage
