// This module computes lengths in limbs and the place of a bit in the memory, and reads digits of an exponent.
//
// A position is a word and a bit of it, because words of 68, 34 or 17 bits are no power of two. Digits are read
// from the top down, and may lie across two words, so each of their bits is read by itself.
//
// Protocol: one of `measure_i`, `locate_i` and `read_i` begins an operation while `busy_o` is low. `done_o` is
// a pulse in its last cycle. `clear_i` ends it at once.
//
// Time: a division subtracts once in a cycle, 240 cycles at most; the lengths are public. A bit of a digit
// takes two cycles, which is little compared with a product. No place and no time depends on what a digit is.
//
// Reset: the module is idle, and the position is zero. An illegal state leads to StIdle, and the sequencer then
// waits in vain.

`include "assert.svh"

module bignum_position
  import bignum_pkg::*;
#(
  // `W` is the width of a word of the memory.
  parameter int unsigned W = 68,
  localparam int unsigned Parts    = LimbBits / W,
  localparam int unsigned AddrBits = $clog2(Limbs * Parts),
  localparam int unsigned BitBits  = $clog2(W)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,

  // One of these is given at a time, while the module is not busy.
  // This measures a modulus of `value_i` bits in limbs.
  input  logic                measure_i,
  // This sets the position to bit `value_i`.
  input  logic                locate_i,
  // This is a number of bits, or the index of a bit.
  input  length_t             value_i,
  input  logic                read_i,
  // This reads a digit of `read_bits_i` bits, at least one, of the number at `read_base_i`. With `read_moves_i`
  // the position moves down by as many bits.
  input  logic [2:0]          read_bits_i,
  input  logic                read_moves_i,
  input  logic [AddrBits-1:0] read_base_i,
  output logic                busy_o,
  // This is a pulse in the last cycle.
  output logic                done_o,

  // This is the length of the modulus in limbs: 68 limbs_o >= bits + 2.
  output logic [6:0]          limbs_o,
  // This is the number of doublings that lead to R², which `data/programs.py` explains.
  output logic [7:0]          doublings_o,
  // This is the position, as a word and a bit.
  output logic [AddrBits-1:0] word_o,
  output logic [BitBits-1:0]  bit_o,
  // The position is below the lowest bit.
  output logic                at_end_o,
  output logic [3:0]          digit_o,

  // A word comes a cycle after its address.
  output logic [AddrBits-1:0] addr_o,
  input  logic [W-1:0]        data_i
);
  typedef enum logic [4:0] {
    // StIdle waits for an operation.
    StIdle   = 5'b00111,
    // StDivide subtracts until the rest is below the divisor.
    StDivide = 5'b01001,
    // StAsk has the address of the word with the next bit.
    StAsk    = 5'b10010,
    // StTake takes the bit, and goes back to StAsk until the digit is complete.
    StTake   = 5'b11100
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  logic                measures_q, moves_q, at_end_q, was_at_end_q;
  logic [13:0]         rest_q, divisor;
  logic [AddrBits-1:0] quotient_q, word_q, was_word_q, base_q;
  logic [BitBits-1:0]  bit_q, was_bit_q;
  logic [6:0]          limbs_q, above_q;
  logic [3:0]          digit_q;
  logic [2:0]          left_q;
  logic                divided;

  // A modulus is measured in limbs, whatever the width of the memory is: R is the same for every multiplier.
  assign divisor = measures_q ? 14'(LimbBits) : 14'(W);
  assign divided = rest_q < divisor;

  // A read has priority over a division, and a clear ends both.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: begin
        if (measure_i || locate_i) state_d = StDivide;
        if (read_i) state_d = StAsk;
      end
      StDivide: if (divided) state_d = StIdle;
      StAsk:    state_d = StTake;
      StTake:   state_d = (left_q == 3'd1) ? StIdle : StAsk;
      default:  state_d = StIdle;
    endcase
    if (clear_i) state_d = StIdle;
  end

  // This block divides, and reads digits from the position down, a bit in two cycles.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      measures_q <= 1'b0;
      {moves_q, at_end_q, was_at_end_q} <= '0;
      rest_q     <= '0;
      quotient_q <= '0;
      {word_q, was_word_q, base_q} <= '0;
      {bit_q, was_bit_q} <= '0;
      limbs_q    <= '0;
      above_q    <= '0;
      digit_q    <= '0;
      left_q     <= '0;
    end else if (clear_i) begin
      digit_q  <= '0;
    end else begin
      unique case (state_q)
        StIdle: begin
          measures_q   <= measure_i;
          rest_q       <= 14'(value_i) + 14'(measure_i);
          quotient_q   <= '0;
          // The position before a digit is kept, for a digit that does not move it.
          was_word_q   <= word_q;
          was_bit_q    <= bit_q;
          was_at_end_q <= at_end_q;
          if (read_i) begin
            digit_q <= '0;
            left_q  <= read_bits_i;
            moves_q <= read_moves_i;
            base_q  <= read_base_i;
          end
        end
        StDivide: begin
          if (!divided) begin
            rest_q     <= rest_q - divisor;
            quotient_q <= quotient_q + 1'b1;
          end else begin
            if (measures_q) begin
              // Here bits + 1 = 68 (limbs - 1) + rest, so that at least two bits are to spare: R >= 4 N.
              limbs_q <= quotient_q[6:0] + 7'd1;
              above_q <= 7'd70 - rest_q[6:0];
            end else begin
              word_q   <= quotient_q;
              bit_q    <= rest_q[BitBits-1:0];
              at_end_q <= 1'b0;
            end
          end
        end
        StTake: begin
          digit_q <= {digit_q[2:0], data_i[bit_q]};
          left_q  <= left_q - 3'd1;
          bit_q   <= bit_q - 1'b1;
          // Below bit 0 of a word follows the top bit of the next lower word.
          if (bit_q == '0) begin
            bit_q    <= BitBits'(W - 1);
            word_q   <= word_q - 1'b1;
            at_end_q <= word_q == '0;
          end
          if (left_q == 3'd1 && !moves_q) begin
            word_q   <= was_word_q;
            bit_q    <= was_bit_q;
            at_end_q <= was_at_end_q;
          end
        end
        default: ;
      endcase
    end
  end

  assign busy_o      = state_q != StIdle;
  assign done_o      = ((state_q == StDivide) & divided) | ((state_q == StTake) & (left_q == 3'd1));
  // There are at most 61 limbs, of 4,096 bits, because the control checks lengths before.
  assign limbs_o     = limbs_q;
  // The sum has 68 limbs - (bits - 1), and the leading bits of 68 limbs.
  assign doublings_o = 8'(above_q) + 8'(limbs_q) + 8'(limbs_q[6:4]);
  assign word_o      = word_q;
  assign bit_o       = bit_q;
  assign at_end_o    = at_end_q;
  assign digit_o     = digit_q;
  // The word is asked for in every cycle; a word that is not taken has no effect.
  assign addr_o      = base_q + word_q;

  // A digit ends with its last bit, so no bit of a digit is read twice.
  `ASSERT(ADigitHasBits_A, state_q == StTake |-> left_q != '0)
  // A bit beyond its word would be zero, and not that of the exponent.
  `ASSERT(ABitIsOfItsWord_A, 32'(bit_q) < W)
  // A number does not reach into the slots of the next one.
  `ASSERT(ANumberHasItsSlots_A, 32'(limbs_q) <= SlotLimbs * NumberSlots)
  // A digit does not reach below the lowest bit of the number.
  `ASSERT(NoBitBelowTheLowest_A, state_q == StTake |-> !at_end_q)
endmodule
