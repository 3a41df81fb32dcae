// Lengths in limbs, the place of a bit in the memory, and digits of an exponent.
//
// A position is a word and a bit of it, because words of 68, 34 or 17 bits are no power of two. Digits are read from the top
// down, and may lie across two words, so each of their bits is read alone: two cycles, which is little beside a product.
//
// Divides by subtraction: lengths are public, and a division takes 240 cycles at most. No place depends on what a digit is.

`include "assert.svh"

module bignum_position
  import bignum_pkg::*;
#(
  parameter int unsigned W = 68,
  localparam int unsigned Parts    = LimbBits / W,
  localparam int unsigned AddrBits = $clog2(Limbs * Parts),
  localparam int unsigned BitBits  = $clog2(W)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,

  // One of these at a time, while not busy.
  input  logic                measure_i,   // a modulus of so many bits
  input  logic                locate_i,    // the bit of this number
  input  length_t             value_i,
  input  logic                read_i,      // a digit
  input  logic [2:0]          read_bits_i, // of so many bits, at least one
  input  logic                read_moves_i,
  input  logic [AddrBits-1:0] read_base_i, // the number's first word
  output logic                busy_o,
  output logic                done_o,      // in the last cycle

  output logic [6:0]          limbs_o,     // of the modulus: 68 limbs_o >= bits + 2
  output logic [7:0]          doublings_o, // that lead to R²: see data/programs.py
  output logic [AddrBits-1:0] word_o,      // of the position
  output logic [BitBits-1:0]  bit_o,
  output logic                at_end_o,    // the position is below the lowest bit
  output logic [3:0]          digit_o,

  output logic [AddrBits-1:0] addr_o,
  input  logic [W-1:0]        data_i       // a cycle later
);
  typedef enum logic [4:0] {
    StIdle   = 5'b00111,
    StDivide = 5'b01001,
    StAsk    = 5'b10010,
    StTake   = 5'b11100
  } state_e;

  (* fsm_encoding = "none" *) state_e state_q;
  logic                measures_q, moves_q, at_end_q, was_at_end_q;
  logic [13:0]         rest_q, divisor;
  logic [AddrBits-1:0] quotient_q, word_q, was_word_q, base_q;
  logic [BitBits-1:0]  bit_q, was_bit_q;
  logic [6:0]          limbs_q, above_q;
  logic [3:0]          digit_q;
  logic [2:0]          left_q;
  logic                divided;

  // A modulus is measured in limbs, whatever the words of the memory: R is the same for every multiplier.
  assign divisor = measures_q ? 14'(LimbBits) : 14'(W);
  assign divided = rest_q < divisor;

  // Divisions, and digits from the position down, a bit in two cycles.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= StIdle;
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
      state_q  <= StIdle;
      digit_q  <= '0;
    end else begin
      unique case (state_q)
        StIdle: begin
          measures_q   <= measure_i;
          rest_q       <= 14'(value_i) + 14'(measure_i);
          quotient_q   <= '0;
          was_word_q   <= word_q;
          was_bit_q    <= bit_q;
          was_at_end_q <= at_end_q;
          if (measure_i || locate_i) state_q <= StDivide;
          if (read_i) begin
            state_q <= StAsk;
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
            state_q <= StIdle;
            if (measures_q) begin
              // bits + 1 = 68 (limbs - 1) + rest, so that two bits at least are to spare: R >= 4 N.
              limbs_q <= quotient_q[6:0] + 7'd1;
              above_q <= 7'd70 - rest_q[6:0];
            end else begin
              word_q   <= quotient_q;
              bit_q    <= rest_q[BitBits-1:0];
              at_end_q <= 1'b0;
            end
          end
        end
        StAsk: state_q <= StTake;
        StTake: begin
          digit_q <= {digit_q[2:0], data_i[bit_q]};
          left_q  <= left_q - 3'd1;
          bit_q   <= bit_q - 1'b1;
          if (bit_q == '0) begin
            bit_q    <= BitBits'(W - 1);
            word_q   <= word_q - 1'b1;
            at_end_q <= word_q == '0;
          end
          if (left_q == 3'd1) begin
            state_q <= StIdle;
            if (!moves_q) begin
              word_q   <= was_word_q;
              bit_q    <= was_bit_q;
              at_end_q <= was_at_end_q;
            end
          end else begin
            state_q <= StAsk;
          end
        end
        default: state_q <= StIdle;
      endcase
    end
  end

  assign busy_o      = state_q != StIdle;
  assign done_o      = ((state_q == StDivide) & divided) | ((state_q == StTake) & (left_q == 3'd1));
  // At most 61, of 4,096 bits: the control checks lengths before.
  assign limbs_o     = limbs_q;
  // 68 limbs - (bits - 1), and the leading bits of 68 limbs.
  assign doublings_o = 8'(above_q) + 8'(limbs_q) + 8'(limbs_q[6:4]);
  assign word_o      = word_q;
  assign bit_o       = bit_q;
  assign at_end_o    = at_end_q;
  assign digit_o     = digit_q;
  // The word is asked for in every cycle; what is not taken has no effect.
  assign addr_o      = base_q + word_q;

  `ASSERT(ADigitHasBits_A, state_q == StTake |-> left_q != '0)
  `ASSERT(ABitIsOfItsWord_A, 32'(bit_q) < W)
  `ASSERT(ANumberHasItsSlots_A, 32'(limbs_q) <= SlotLimbs * NumberSlots)
  `ASSERT(NoBitBelowTheLowest_A, state_q == StTake |-> !at_end_q)
endmodule
