// What the cells of a row say, as a word and as flags.
//
// A word is blank, written, half-programmed, or corrupted. It is written only when its mark is, which is burned last: a
// torn burn leaves a subset of the cells, and a subset of one code word may be close to another one, which no check of
// single and double faults sees. Marks and flags are five cells each: up to one is none, from four on is all, and what is
// between is half. So neither a faulty cell nor one that reads differently each time takes one to the other.

`include "assert.svh"

module otp_decode
  import otp_pkg::*;
#(
  // 0 builds a variant that takes the majority for a flag or a mark, to show that the tests detect it.
  parameter bit Guarded = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  cells_t              cells_i,
  input  logic                code_fixed_i,    // of its code word
  input  logic                code_broken_i,

  // As a word: one of the four.
  output logic                blank_o,
  output logic                written_o,
  output logic                half_o,
  output logic                corrupted_o,
  output logic                fixed_o,
  // At least two cells of the mark are burned.
  output logic                marked_o,

  // As flags.
  output logic [NumFlags-1:0] flags_o,
  output logic                flags_half_o,
  output logic                flags_fixed_o
);
  // How many of five cells are burned.
  typedef struct packed {
    logic all, most, half, few;
  } count_t;
  function automatic count_t count_of(logic [4:0] cells);
    logic [2:0] ones;
    ones = 3'($countones(cells));
    return '{all: ones >= 3'd4, most: ones == 3'd4, half: ones == 3'd2 || ones == 3'd3, few: ones == 3'd1};
  endfunction

  // Flags, and the mark as one more.
  count_t [NumFlags-1:0] groups;
  count_t mark;
  for (genvar i = 0; i < NumFlags; i++) begin : gen_groups
    assign groups[i]  = count_of(cells_i[5*i +: 5]);
    assign flags_o[i] = Guarded ? groups[i].all : $countones(cells_i[5*i +: 5]) > 2;
  end
  assign mark = count_of(cells_i[RowBits-1:CodeBits]);

  // Any half flag, any corrected one.
  always_comb begin
    flags_half_o  = 1'b0;
    flags_fixed_o = 1'b0;
    for (int i = 0; i < NumFlags; i++) begin
      flags_half_o  = flags_half_o | (groups[i].half & Guarded);
      flags_fixed_o = flags_fixed_o | groups[i].most | groups[i].few;
    end
  end

  logic is_marked, is_single, has_many, unused_few;
  assign unused_few = mark.few;
  logic [NumFlags+3:0] ones;

  // One fault in the whole row is corrected, two are not: not one in the mark and one in the word either.
  assign is_marked   = Guarded ? mark.all : $countones(cells_i[RowBits-1:CodeBits]) > 2;
  // At most one cell is burned: in no group two, and in one of all groups and of the cells past them one.
  always_comb begin
    ones     = {cells_i[RowBits-1:5*NumFlags], NumFlags'(0)};
    has_many = 1'b0;
    for (int i = 0; i < NumFlags; i++) begin
      ones[i]  = groups[i].few;
      has_many = has_many | groups[i].half | groups[i].all;
    end
  end
  assign is_single   = ~has_many & ((ones & (ones - 1'b1)) == '0);
  assign blank_o     = is_single;
  assign written_o   = is_marked & ~code_broken_i & ~(code_fixed_i & mark.most);
  assign corrupted_o = is_marked & ~written_o;
  assign half_o      = ~is_marked & ~is_single;
  assign fixed_o     = (written_o & (code_fixed_i | mark.most)) | (is_single & (ones != '0));
  assign marked_o    = mark.all | mark.half;

  `ASSERT(OneAnswer_A, 1'b1 |=> $onehot({blank_o, written_o, half_o, corrupted_o}))
  `ASSERT(OnlyAMarkedWordIsWritten_A, 1'b1 |=> !written_o || $countones(cells_i[RowBits-1:CodeBits]) >= 4 || !Guarded)
endmodule
