// This module writes words that are not computed: zeros, small numbers, powers of two, and constants of the
// ROM.
//
// All words of the number are written, so that nothing of what was there before stays above a short value. A
// constant has the limbs of the ROM, which are split for narrower memories: one ROM serves every multiplier.
//
// Protocol: `start_i` begins while `busy_o` is low, and its inputs are taken in this cycle. `done_o` is a pulse
// with the last word. `clear_i` ends it at once. Time: a word takes a cycle, and each limb of a constant one
// more, for the ROM.
//
// Reset: nothing is written. Nothing is hardened here.

`include "assert.svh"

module bignum_filler
  import bignum_pkg::*;
#(
  // `W` is the width of a word of the memory; a limb has `Parts` of them.
  parameter int unsigned W = 68,
  localparam int unsigned Parts     = LimbBits / W,
  localparam int unsigned AddrBits  = $clog2(Limbs * Parts),
  localparam int unsigned CountBits = AddrBits + 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,

  // A start is taken while the module is not busy.
  input  logic                 start_i,
  input  logic [AddrBits-1:0]  base_i,
  // The number has at least one word.
  input  logic [CountBits-1:0] words_i,
  // This is the first word, or the one at the position. All others are zero.
  input  logic [W-1:0]         first_i,
  // With `at_position_i` the word `word_i` of the number is the one that is not zero.
  input  logic                 at_position_i,
  input  logic [AddrBits-1:0]  word_i,
  // With `is_constant_i` all words come from the ROM, from `constant_i` on.
  input  logic                 is_constant_i,
  input  address_t             constant_i,
  output logic                 busy_o,
  // This is a pulse in the last cycle.
  output logic                 done_o,

  // The ROM is needed in this cycle.
  output logic                 rom_o,
  output address_t             rom_addr_o,
  // A word of the ROM comes a cycle after its address.
  input  logic [LimbBits-1:0]  rom_data_i,

  // These ports write the memory.
  output logic                 write_o,
  output logic [AddrBits-1:0]  addr_o,
  output logic [W-1:0]         data_o
);
  // The parts of a limb are counted, also if there is only one, because a counter needs at least one bit.
  localparam int unsigned PartBits = (Parts > 1) ? $clog2(Parts) : 1;

  logic                 busy_q, asks_q, is_constant_q;
  logic [CountBits-1:0] left_q;
  logic [AddrBits-1:0]  addr_q, special_q;
  logic [W-1:0]         first_q;
  logic [PartBits-1:0]  part_q;
  // This is the address of the next limb in the ROM.
  address_t             rom_addr_q;
  logic                 is_last_part;

  assign is_last_part = part_q == PartBits'(Parts - 1);

  // A word is written in each cycle, while the datapath does nothing. Each limb of a constant takes one cycle
  // more, for the ROM.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q        <= 1'b0;
      asks_q        <= 1'b0;
      is_constant_q <= 1'b0;
      left_q        <= '0;
      addr_q        <= '0;
      special_q     <= '0;
      first_q       <= '0;
      part_q        <= '0;
      rom_addr_q    <= '0;
    end else if (clear_i) begin
      busy_q <= 1'b0;
      asks_q <= 1'b0;
    end else if (start_i) begin
      busy_q        <= 1'b1;
      asks_q        <= is_constant_i;
      is_constant_q <= is_constant_i;
      left_q        <= words_i;
      addr_q        <= base_i;
      special_q     <= at_position_i ? base_i + word_i : base_i;
      first_q       <= first_i;
      part_q        <= '0;
      rom_addr_q    <= constant_i;
    end else if (asks_q) begin
      asks_q     <= 1'b0;
      rom_addr_q <= rom_addr_q + 1'b1;
    end else if (busy_q) begin
      left_q <= left_q - 1'b1;
      addr_q <= addr_q + 1'b1;
      part_q <= is_last_part ? '0 : part_q + 1'b1;
      asks_q <= is_constant_q & is_last_part & ~done_o;
      if (done_o) busy_q <= 1'b0;
    end
  end

  assign busy_o     = busy_q;
  // Lengths of zero do not occur, which the sequencer asserts.
  assign done_o     = write_o & (left_q == CountBits'(1));
  // Until the last part of a limb is written, the ROM has to show this limb.
  assign rom_o      = busy_q & is_constant_q & (asks_q | ~is_last_part);
  assign rom_addr_o = asks_q ? rom_addr_q : rom_addr_q - 1'b1;
  assign write_o    = busy_q & ~asks_q;
  assign addr_o     = addr_q;
  assign data_o     = is_constant_q ? rom_data_i[W*part_q +: W] : (addr_q == special_q) ? first_q : '0;

  // The sequencer fetches instructions from the ROM as well, so only constants may ask for it.
  `ASSERT(OnlyConstantsAskTheRom_A, rom_o || asks_q |-> is_constant_q)
  // No word of the number keeps what was there before.
  `ASSERT(WordsFollowEachOther_A, write_o && !done_o && !clear_i |=> addr_o == $past(addr_o) + 1'b1)
  // A word too many would be written into the next number.
  `ASSERT(NoWordTooMany_A, write_o |-> left_q != '0)
  // All words but one are zero, so a number has no other value than the one that was asked for.
  `ASSERT(OtherWordsAreZero_A, write_o && !is_constant_q && addr_o != special_q |-> data_o == '0)
endmodule
