// Decodes the cells of a row, both as a word and as flags. The block is combinational.
//
// A word is blank, written, half-programmed, or corrupted. It is written only when its mark is, and
// the mark is burned last. The mark is necessary because a torn burn leaves a subset of the cells,
// and a subset of one code word may be close to another code word, which no check of single and
// double faults detects. Marks and flags are five cells each. Up to one burned cell counts as
// clear, four or more count as set, and two or three as half. So neither a faulty cell nor a cell
// that reads differently each time takes a flag from clear to set or back.

`include "assert.svh"

module otp_decode
  import otp_pkg::*;
#(
  // 0 builds a variant that takes the majority of five cells for a flag or a mark, to show that the
  // tests detect it: its floor may fall.
  parameter bit Guarded = 1'b1
) (
  // The clock is used by assertions only.
  input  logic                clk_i,
  input  logic                rst_ni,
  // The cells of the row, and what `otp_secded` found in the code word of them.
  input  cells_t              cells_i,
  input  logic                code_fixed_i,
  input  logic                code_broken_i,

  // As a word: exactly one of the next four is set. `fixed_o` reports a fault that was corrected.
  output logic                blank_o,
  output logic                written_o,
  output logic                half_o,
  output logic                corrupted_o,
  output logic                fixed_o,
  // At least two cells of the mark are burned, so the row may hold a complete word.
  output logic                marked_o,

  // As flags: those that are set, whether any is half, and whether any had a corrected fault.
  output logic [NumFlags-1:0] flags_o,
  output logic                flags_half_o,
  output logic                flags_fixed_o
);
  // The number of five cells that are burned: at least four, exactly four, two or three, one.
  typedef struct packed {
    logic all, most, half, few;
  } count_t;
  function automatic count_t count_of(logic [4:0] cells);
    logic [2:0] ones;
    ones = 3'($countones(cells));
    return '{all: ones >= 3'd4, most: ones == 3'd4, half: ones == 3'd2 || ones == 3'd3, few: ones == 3'd1};
  endfunction

  // Each group is five neighbouring cells. The last group shares its highest cell with the mark;
  // the two are never valid in the same row.
  // Flags, and the mark as one more.
  count_t [NumFlags-1:0] groups;
  count_t mark;
  for (genvar i = 0; i < NumFlags; i++) begin : gen_groups
    assign groups[i]  = count_of(cells_i[5*i +: 5]);
    assign flags_o[i] = Guarded ? groups[i].all : $countones(cells_i[5*i +: 5]) > 2;
  end
  assign mark = count_of(cells_i[RowBits-1:CodeBits]);

  // One half flag makes the row half, and one wrong cell in a flag makes it corrected.
  always_comb begin
    flags_half_o  = 1'b0;
    flags_fixed_o = 1'b0;
    for (int i = 0; i < NumFlags; i++) begin
      flags_half_o  = flags_half_o | (groups[i].half & Guarded);
      flags_fixed_o = flags_fixed_o | groups[i].most | groups[i].few;
    end
  end

  logic is_marked, is_single, has_many, unused_few;
  // A single cell of the mark is part of `ones`, so its own bit is not needed.
  assign unused_few = mark.few;
  logic [NumFlags+3:0] ones;

  // One fault in the whole row is corrected. Two are not, even if one is in the mark and one in the
  // word.
  assign is_marked   = Guarded ? mark.all : $countones(cells_i[RowBits-1:CodeBits]) > 2;
  // At most one cell is burned. No group may have two, and of all groups and of the cells past the
  // groups one at most may have one.
  always_comb begin
    ones     = {cells_i[RowBits-1:5*NumFlags], NumFlags'(0)};
    has_many = 1'b0;
    for (int i = 0; i < NumFlags; i++) begin
      ones[i]  = groups[i].few;
      has_many = has_many | groups[i].half | groups[i].all;
    end
  end
  assign is_single   = ~has_many & ((ones & (ones - 1'b1)) == '0);
  // Blank needs no mark; written needs a mark and a correct or correctable word. All that is
  // neither is corrupted with a mark and half-programmed without one.
  assign blank_o     = is_single;
  assign written_o   = is_marked & ~code_broken_i & ~(code_fixed_i & mark.most);
  assign corrupted_o = is_marked & ~written_o;
  assign half_o      = ~is_marked & ~is_single;
  assign fixed_o     = (written_o & (code_fixed_i | mark.most)) | (is_single & (ones != '0));
  assign marked_o    = mark.all | mark.half;

  for (genvar i = 0; i < NumFlags; i++) begin : gen_asserts
    // A flag is set by four of its five cells and by no fewer, or a weak cell could change it.
    `ASSERT(AFlagIsFourCells_A, 1'b1 |=> flags_o[i] == ($countones(cells_i[5*i +: 5]) >= 4) || !Guarded)
    // A flag that a cut burn left in between is reported, so that nobody relies on it.
    `ASSERT(AHalfFlagIsTold_A, 1'b1 |=> !groups[i].half || flags_half_o || !Guarded)
  end
  // A row is never both valid and invalid: exactly one of the four answers holds.
  `ASSERT(OneAnswer_A, 1'b1 |=> $onehot({blank_o, written_o, half_o, corrupted_o}))
  // A word counts as written only with at least four of the five cells of its mark, so a torn burn
  // never does.
  `ASSERT(OnlyAMarkedWordIsWritten_A, 1'b1 |=> !written_o || $countones(cells_i[RowBits-1:CodeBits]) >= 4 || !Guarded)
endmodule
