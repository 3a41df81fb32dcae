// Writes words that are not computed: zeros, small numbers, powers of two, constants of the ROM.
//
// All words of the number are written, so that nothing of what was there before stays above a short value. A constant has
// the limbs of the ROM, which are split for narrower memories: the ROM is one for every multiplier.

`include "assert.svh"

module bignum_filler
  import bignum_pkg::*;
#(
  parameter int unsigned W = 68,
  localparam int unsigned Parts     = LimbBits / W,
  localparam int unsigned AddrBits  = $clog2(Limbs * Parts),
  localparam int unsigned CountBits = AddrBits + 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,

  input  logic                 start_i,       // while not busy
  input  logic [AddrBits-1:0]  base_i,
  input  logic [CountBits-1:0] words_i,       // at least one
  input  logic [W-1:0]         first_i,       // the first word, or the one at the position; all others are zero
  input  logic                 at_position_i,
  input  logic [AddrBits-1:0]  word_i,
  input  logic                 is_constant_i, // words of the ROM instead
  input  address_t             constant_i,
  output logic                 busy_o,
  output logic                 done_o,        // in the last cycle

  output logic                 rom_o,         // needs the ROM in this cycle
  output address_t             rom_addr_o,
  input  logic [LimbBits-1:0]  rom_data_i,    // a cycle later

  output logic                 write_o,
  output logic [AddrBits-1:0]  addr_o,
  output logic [W-1:0]         data_o
);
  // Parts of a limb are counted, also if there is one only: a counter of no bits is none.
  localparam int unsigned PartBits = (Parts > 1) ? $clog2(Parts) : 1;

  logic                 busy_q, asks_q, is_constant_q;
  logic [CountBits-1:0] left_q;
  logic [AddrBits-1:0]  addr_q, special_q;
  logic [W-1:0]         first_q;
  logic [PartBits-1:0]  part_q;
  address_t             rom_addr_q;
  logic                 is_last_part;

  assign is_last_part = part_q == PartBits'(Parts - 1);

  // A word a cycle, while the datapath does nothing. Each limb of a constant takes one more, for the ROM.
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
  // Lengths of zero do not occur: the sequencer asserts it.
  assign done_o     = write_o & (left_q == CountBits'(1));
  // Until the last part of a limb the ROM shows it.
  assign rom_o      = busy_q & is_constant_q & (asks_q | ~is_last_part);
  assign rom_addr_o = asks_q ? rom_addr_q : rom_addr_q - 1'b1;
  assign write_o    = busy_q & ~asks_q;
  assign addr_o     = addr_q;
  assign data_o     = is_constant_q ? rom_data_i[W*part_q +: W] : (addr_q == special_q) ? first_q : '0;

  // The sequencer fetches from the ROM as well: it is asked for constants alone.
  `ASSERT(OnlyConstantsAskTheRom_A, rom_o || asks_q |-> is_constant_q)
  // No word of the number keeps what was there before.
  `ASSERT(WordsFollowEachOther_A, write_o && !done_o && !clear_i |=> addr_o == $past(addr_o) + 1'b1)
  `ASSERT(NoWordTooMany_A, write_o |-> left_q != '0)
endmodule
