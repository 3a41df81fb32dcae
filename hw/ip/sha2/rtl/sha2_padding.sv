// This module makes blocks of a message (FIPS 180-4 §5.1): it appends a one, zeros and the length in bits.
//
// Protocol: words enter and leave by valid/ready handshakes. `start_i` begins a message at any time, also in
// the middle of another one. The last word of a message is marked, and may have no byte.
//
// Time: words pass in the cycle in which they come, and the padding gives a word in each cycle. Only the number
// of bytes, which is public, decides how many cycles the end takes.
//
// Reset: there is no message. Hardening: the states differ in three bits, and an illegal one ends in StError
// until reset. The position and the length have no copy.

`include "assert.svh"

module sha2_padding #(
  parameter int unsigned WordBits       = 32,  // This is the width of a word, 32 or 64 bits.
  // `RoundsPerCycle` is 1, 2 or 4.
  parameter int unsigned RoundsPerCycle = 1,
  // `Hardened` = 0 lets illegal states end in StDone.
  parameter bit          Hardened       = 1'b1,
  localparam int unsigned LaneBytes     = WordBits / 8 * RoundsPerCycle,
  localparam int unsigned LaneBits      = 8 * LaneBytes,
  localparam int unsigned BytesBits     = $clog2(LaneBytes + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // A start begins a message of which `start_bytes_i`, whole blocks, are hashed already.
  input  logic                 start_i,
  input  logic [60:0]          start_bytes_i,
  output logic [60:0]          bytes_o,     // This counts the bytes until now.
  output logic                 error_o,     // An error stays until reset.

  // This is the message, with the first byte in the upper bits. The last word has 0 to LaneBytes bytes; what
  // follows them in the word is ignored.
  input  logic                 msg_valid_i,
  output logic                 msg_ready_o,
  input  logic [LaneBits-1:0]  msg_i,
  input  logic                 msg_last_i,
  input  logic [BytesBits-1:0] msg_bytes_i,

  // These are words of whole blocks.
  output logic                 word_valid_o,
  input  logic                 word_ready_i,
  output logic [LaneBits-1:0]  word_o,
  output logic                 word_last_o  // It is the last word of the message.
);
  localparam int unsigned Words   = 16 / RoundsPerCycle;
  localparam int unsigned PosBits = $clog2(Words);
  localparam logic [PosBits-1:0] LastPos = PosBits'(Words - 1);

  // The states have the same code as those of `sha2_control`.
  typedef enum logic [5:0] {
    // StMessage passes words of the message, and ends with the last one.
    StMessage = 6'b001011,
    // StMarker gives a word with the one, for which the last word of the message had no room.
    StMarker  = 6'b010101,
    // StFill gives zeros, and ends with the length.
    StFill    = 6'b011110,
    // StDone waits for a start.
    StDone    = 6'b100110,
    // StError waits for a reset.
    StError   = 6'b110011
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StDone), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic [PosBits-1:0] pos_d, pos_q;
  // The length is counted in bytes. The length field of SHA-256 has 64 bits; that of SHA-512 has 128, whose
  // upper half is zero for every message here.
  logic [60:0] length_d, length_q;

  logic in_message, in_marker, in_fill;
  assign in_message = state_q == StMessage;
  assign in_marker  = state_q == StMarker;
  assign in_fill    = state_q == StFill;

  // This section counts how many bytes of the message are in this word.
  logic is_last_pos, moves, ends_message;
  logic [BytesBits-1:0] bytes;
  assign is_last_pos = pos_q == LastPos;
  assign moves       = word_valid_o & word_ready_i;
  assign bytes       = !in_message ? '0 : (msg_last_i ? msg_bytes_i : BytesBits'(LaneBytes));
  assign length_d    = length_q + 61'(bytes);

  // The length takes two words of the hash. With one word a cycle both of them hold only the length; with four,
  // the last lane may hold the end of the message as well.
  logic has_room, has_length, in_half, half_q;
  assign ends_message = in_message & msg_last_i;
  assign has_room     = (RoundsPerCycle == 4) &&
                        ((ends_message && bytes < BytesBits'(LaneBytes / 2)) || in_marker);
  assign in_half      = in_fill & (pos_q == LastPos - 1'b1);
  assign has_length   = is_last_pos & ((in_fill & (half_q | (RoundsPerCycle > 1))) | has_room);

  // Each byte is one of the message, the one that follows its last byte (0x80), or zero.
  logic [LaneBits-1:0] word;
  for (genvar b = 0; b < LaneBytes; b++) begin : g_byte
    localparam int unsigned At = 8 * (LaneBytes - 1 - b);
    logic is_message, is_marker;
    assign is_message = in_message & (~msg_last_i | (msg_bytes_i > BytesBits'(b)));
    assign is_marker  = (ends_message & (msg_bytes_i == BytesBits'(b))) | (in_marker & (b == 0));
    assign word[At +: 8] = ({8{is_message}} & msg_i[At +: 8]) | {is_marker, 7'b0};
  end

  // The length in bits goes into the last words (FIPS 180-4 §5.1.1, §5.1.2).
  logic [63:0] bits;
  assign bits = {length_d, 3'b000};
  if (RoundsPerCycle == 1) begin : g_length_in_two
    localparam logic [LaneBits-1:0] None = '0;
    assign word_o = word | (has_length ? LaneBits'(bits) :
                            in_half    ? LaneBits'({None, bits} >> WordBits) : None);
  end else begin : g_length_in_one
    assign word_o = word | LaneBits'(has_length ? bits : 64'b0);
  end

  // Words of the message may stall; those of the padding are always valid.
  assign word_valid_o = in_message ? msg_valid_i : (in_marker | in_fill);
  assign msg_ready_o  = in_message & word_ready_i;
  // Software reads the length, to resume from it later.
  assign bytes_o      = length_q;
  assign error_o      = ~(in_message | in_marker | in_fill | (state_q == StDone));

  // The message is followed by a word for the one if it had no room, by zeros up to the length, and by the end.
  // `has_length` decides by the position in the block how many words of zeros there are.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StMessage: if (moves && msg_last_i) begin
        state_d = (msg_bytes_i == BytesBits'(LaneBytes)) ? StMarker : StFill;
      end
      StMarker: if (moves) state_d = StFill;
      StFill, StDone: state_d = state_q;
      StError: state_d = StError;
      default: state_d = Hardened ? StError : StDone;
    endcase
    // A new message may start at any time, so an abort needs no state of its own.
    if (moves && word_last_o) state_d = StDone;
    if (start_i && !error_o)  state_d = StMessage;
  end

  // The word with the length is the last one.
  assign word_last_o = has_length;
  assign pos_d       = start_i ? '0 : pos_q + PosBits'(moves);

  // After a reset there is no message to pad.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pos_q    <= '0;
      half_q   <= 1'b0;
      length_q <= '0;
    end else begin
      pos_q   <= pos_d;
      if (moves) half_q <= in_half;
      if (start_i)    length_q <= start_bytes_i;
      else if (moves) length_q <= length_d;
    end
  end

  // A message that did not end with a block would never get its digest.
  `ASSERT(MessageEndsWithABlock_A, moves && word_last_o |=> pos_q == '0)
  // A padding that was upset cannot go on before a reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // Nobody gives or takes a word in the error.
  `ASSERT(AnErrorOffersNothing_A, error_o |-> !word_valid_o && !msg_ready_o)
  // Nothing follows the end of a message.
  `ASSERT(NothingFollowsTheEnd_A, state_q == StDone |-> !word_valid_o)
  // A resumed message has whole blocks before it, or its padding would be that of another length.
  `ASSERT(StartsWithWholeBlocks_A, start_i |-> (start_bytes_i & 61'(2 * WordBits - 1)) == '0)
  // The number of bytes of the last word fits the word.
  `ASSERT(BytesFitTheWord_A,
          msg_valid_i && msg_last_i |-> msg_bytes_i <= BytesBits'(LaneBytes))
endmodule
