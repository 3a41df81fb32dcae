// Modes of the AES engine, and the states of a message.

package aes_modes_pkg;
  // Values as in the register `control.mode`.
  typedef enum logic [2:0] {
    ModeOff = 3'd0,
    ModeEcb = 3'd1,
    ModeCbc = 3'd2,
    ModeCtr = 3'd3,
    ModeGcm = 3'd4
  } mode_e;

  // Any two codes differ in four bits: words of the extended Hamming code.
  typedef enum logic [7:0] {
    StIdle    = 8'b00010111,
    StExpand  = 8'b00101011,
    StTurn    = 8'b00111100,
    StSubkey  = 8'b01001101,
    StIv      = 8'b01011010,
    StIvEnd   = 8'b01100110,
    StFirst   = 8'b01110001,
    StAad     = 8'b10001110,
    StText    = 8'b10011001,
    StLengths = 8'b10100101,
    StTag     = 8'b10110010,
    StError   = 8'b11010100
  } state_e;
endpackage
