// Walks the columns of an operation: which words of the memory are multiplied in each cycle.
//
// Product scanning: column k of a sum of products has all terms of weight 2^(Wk), so that a column is accumulated in one
// place and its word is written once. A product reduced by Montgomery's method has the terms q_i N_(k-i) too. The factor
// q_k is known only when column k is complete, so its terms q_k N_0 and q_k N_1 come last in column k + 1; the other terms of
// that column are multiplied while q_k is computed.
//
// No cycle depends on data: lengths and kinds alone decide.

`include "assert.svh"

module bignum_issue
  import bignum_pkg::*;
#(
  parameter int unsigned W = 68,
  localparam int unsigned Parts     = LimbBits / W,
  localparam int unsigned AddrBits  = $clog2(Limbs * Parts),
  localparam int unsigned IndexBits = 10
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  logic                 clear_i,
  input  vector_t              op_i,         // stable until the end
  input  field_e               field_i,
  input  logic [IndexBits-1:0] words_i,      // of an operand
  input  slot_t                modulus_i,
  input  slot_t                factors_i,    // room for the factors q
  input  logic [3:0]           index_i,      // of the entry that is selected
  input  logic [2:0]           pairs_i,      // the last pair of entries of the table
  input  logic [AddrBits-1:0]  stride_i,     // words of an entry
  output logic                 busy_o,       // slots are left

  // Of the columns: a cycle without a slot, the port that a result occupies, and whether the next factor is there.
  input  logic                 hold_i,
  input  logic                 b_taken_i,
  input  logic                 q_ready_i,
  output logic                 q_taken_o,    // and is stored
  output logic [AddrBits-1:0]  q_addr_o,

  output logic [AddrBits-1:0]  a_addr_o,
  output logic [AddrBits-1:0]  b_addr_o,
  output tag_t                 tag_o,
  // What the operands are.
  output logic                 a_is_top_o,
  output logic                 b_is_top_o,
  output logic                 use_q_o,      // the factor with the word of port a
  output logic                 use_small_o,  // the word of port a with a small number
  output small_t               small_o,
  output logic                 use_select_o, // one of both words, or none
  output logic [1:0]           select_o,
  output logic                 use_none_o
);
  typedef logic [IndexBits-1:0] index_t;
  typedef enum logic [2:0] {
    SegProduct, SegFirst, SegSecond, SegModulus, SegCarry, SegNext, SegSelect
  } segment_e;

  logic     busy_q, gap_q, is_fresh_q, is_fresh_d;
  index_t   column_q, i_q;
  segment_e segment_q;
  logic [AddrBits-1:0] select_addr_q;

  function automatic logic [AddrBits-1:0] base(slot_t slot);
    return AddrBits'(slot) << $clog2(SlotLimbs * Parts);
  endfunction

  // --- what a column has ---
  logic is_any, is_reduced, is_mul, is_square, has_product, has_first, has_second, has_modulus, has_carry, is_upper;
  index_t last_column, low, modulus_high, lasts, next_low;

  assign is_any      = field_i == FieldAny;
  assign is_mul      = op_i.kind inside {KindProduct, KindSquare};
  assign is_square   = op_i.kind == KindSquare;
  assign is_reduced  = (is_mul || op_i.kind == KindReduce) && field_i != FieldNone;
  assign is_upper    = column_q >= words_i;
  assign lasts       = words_i - 1'b1;
  // The last column of a product has no product of words: it is the carry of all others.
  assign last_column = (is_mul || op_i.kind == KindReduce) ? {words_i[IndexBits-2:0], 1'b0} - 1'b1 : lasts;
  assign low         = is_upper ? column_q - lasts : '0;
  assign next_low    = (column_q >= lasts) ? column_q + 1'b1 - lasts : '0;

  assign has_product  = is_mul && column_q != last_column;
  assign has_first    = op_i.kind == KindLinear;
  assign has_second   = op_i.kind inside {KindLinear, KindReduce} || (is_mul && op_i.has_c && is_upper);
  assign has_modulus  = is_reduced && is_any && column_q >= 2 && column_q != last_column;
  assign has_carry    = is_reduced && is_any && column_q != '0 && column_q <= words_i;
  // Factors of the two columns before are not stored yet: their terms come last (SegCarry, SegNext).
  assign modulus_high = (column_q <= words_i) ? column_q - index_t'(2) : lasts;

  // The segment of this cycle: the next one that the column has.
  segment_e segment;
  logic     is_null;
  // Segments that a column lacks cost no cycle. One without any term has an empty slot, which closes it.
  always_comb begin
    segment = segment_q;
    is_null = 1'b0;
    if (op_i.kind == KindSelect) segment = SegSelect;
    else begin
      if (segment == SegProduct && !has_product) segment = SegFirst;
      if (segment == SegFirst   && !has_first)   segment = SegSecond;
      if (segment == SegSecond  && !has_second)  segment = SegModulus;
      if (segment == SegModulus && !has_modulus) segment = SegCarry;
      // The last column of a product may have a carry only.
      if (segment == SegCarry   && !has_carry) is_null = 1'b1;
    end
  end

  // Terms of a segment are counted by `i`.
  index_t i, j;
  logic   is_end_of_segment, is_last, is_first, has_later;
  // Squares take half of the products; the term i = j of an even column comes last.
  always_comb begin
    i = (segment == segment_q) ? i_q : low;
    j = column_q - i;
    unique case (segment)
      // Squares: pairs i < j are taken twice.
      SegProduct: is_end_of_segment = is_square ? ({i[IndexBits-2:0], 1'b0} + index_t'(2) > column_q) : (i == lasts || i == column_q);
      SegModulus: is_end_of_segment = i == modulus_high;
      SegSelect:  is_end_of_segment = i[2:0] == pairs_i;
      default:    is_end_of_segment = 1'b1;
    endcase
    has_later = (segment == SegProduct && (has_second || has_modulus || has_carry)) ||
                (segment == SegFirst) ||
                (segment == SegSecond && (has_modulus || has_carry)) ||
                (segment == SegModulus && has_carry) ||
                (segment == SegCarry && has_carry);
    is_last  = is_end_of_segment & ~has_later;
    // A product that completes the column before is none of this one.
    is_first = is_fresh_q & (segment != SegCarry || !has_carry);
  end

  // --- whether there is a slot in this cycle ---
  logic needs_b, fires, waits;
  // Linear terms and those of the newest factor have one word of the memory: a result may use the other port.
  assign needs_b = segment inside {SegProduct, SegModulus, SegSelect} && !is_null;
  assign waits   = (segment == SegCarry && !is_null && !q_ready_i) |
                   // A low column of a prime's shifted sums takes two cycles.
                   (is_last & gap_q);
  assign fires   = busy_q & ~hold_i & ~waits & ~(needs_b & b_taken_i);
  assign is_fresh_d = fires ? is_last | (is_fresh_q & ~is_first) : is_fresh_q;

  // The walk: terms of a segment, segments of a column, columns. It waits wherever there is no slot.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q        <= 1'b0;
      gap_q         <= 1'b0;
      column_q      <= '0;
      i_q           <= '0;
      segment_q     <= SegProduct;
      is_fresh_q    <= 1'b1;
      select_addr_q <= '0;
    end else if (clear_i) begin
      busy_q        <= 1'b0;
      gap_q         <= 1'b0;
      column_q      <= '0;
      i_q           <= '0;
      segment_q     <= SegProduct;
      is_fresh_q    <= 1'b1;
    end else if (start_i) begin
      busy_q        <= 1'b1;
      gap_q         <= 1'b0;
      column_q      <= '0;
      i_q           <= '0;
      segment_q     <= SegProduct;
      is_fresh_q    <= 1'b1;
      select_addr_q <= base(op_i.a);
    end else begin
      gap_q      <= fires & is_last & is_reduced & ~is_any & ~is_upper;
      is_fresh_q <= is_fresh_d;
      if (fires) begin
        segment_q     <= segment;
        i_q           <= i + 1'b1;
        select_addr_q <= select_addr_q + (stride_i << 1);
        if (is_end_of_segment) begin
          i_q <= low;
          unique case (segment)
            SegProduct: segment_q <= SegFirst;
            SegFirst:   segment_q <= SegSecond;
            SegSecond:  segment_q <= SegModulus;
            SegModulus: segment_q <= SegCarry;
            default:    segment_q <= SegNext;
          endcase
        end
        if (is_last) begin
          segment_q     <= SegProduct;
          i_q           <= (op_i.kind == KindSelect) ? '0 : next_low;
          column_q      <= column_q + 1'b1;
          select_addr_q <= base(op_i.a) + AddrBits'(column_q) + 1'b1;
          if (column_q == last_column) busy_q <= 1'b0;
        end
      end
    end
  end

  // --- the slot ---
  logic [AddrBits-1:0] linear_at;
  assign linear_at = (is_mul ? AddrBits'(column_q - words_i) : AddrBits'(column_q));
  // Addresses of both words, what they are, and what becomes of their product.
  always_comb begin
    a_addr_o     = base(op_i.a) + AddrBits'(i);
    b_addr_o     = base(is_square ? op_i.a : op_i.b) + AddrBits'(j);
    a_is_top_o   = i == lasts;
    b_is_top_o   = j == lasts;
    use_q_o      = 1'b0;
    use_small_o  = 1'b0;
    use_select_o = 1'b0;
    use_none_o   = is_null | ~fires;
    small_o      = op_i.kb;
    select_o     = {index_i == {i[2:0], 1'b1}, index_i == {i[2:0], 1'b0}};
    unique case (segment)
      SegFirst: begin
        a_addr_o    = base(op_i.a) + AddrBits'(column_q);
        a_is_top_o  = column_q == lasts;
        use_small_o = 1'b1;
        small_o     = op_i.ka;
      end
      SegSecond: begin
        a_addr_o    = base((op_i.kind == KindLinear) ? op_i.b : op_i.c) + linear_at;
        a_is_top_o  = column_q == last_column;
        use_small_o = 1'b1;
      end
      SegModulus: begin
        a_addr_o   = base(factors_i) + AddrBits'(i);
        b_addr_o   = base(modulus_i) + AddrBits'(j);
        a_is_top_o = 1'b0;
        b_is_top_o = 1'b0;
      end
      SegCarry, SegNext: begin
        a_addr_o   = base(modulus_i) + AddrBits'(segment == SegNext);
        a_is_top_o = 1'b0;
        use_q_o    = 1'b1;
      end
      SegSelect: begin
        a_addr_o     = select_addr_q;
        b_addr_o     = select_addr_q + stride_i;
        a_is_top_o   = column_q == lasts;
        b_is_top_o   = column_q == lasts;
        use_select_o = 1'b1;
      end
      default: ;
    endcase

    tag_o          = '0;
    tag_o.valid    = fires;
    tag_o.first    = is_first;
    tag_o.last     = is_last;
    tag_o.is_low   = is_reduced & ~is_upper;
    tag_o.is_out   = ~is_reduced | is_upper;
    tag_o.is_final = column_q == last_column;
    tag_o.is_carry = segment == SegCarry & ~is_null;
    if (segment == SegProduct) begin
      tag_o.negate = op_i.ka[3];
      tag_o.shift  = 2'(op_i.ka == 4'sd2 || op_i.ka == -4'sd2) + 2'(is_square && i != j);
    end
  end

  assign busy_o    = busy_q;
  assign q_taken_o = fires & (segment == SegNext);
  // The factor of the column before.
  assign q_addr_o  = base(factors_i) + AddrBits'(column_q) - 1'b1;

  // Pairs i < j count twice in a square, so that a pair j > i as well would be one too many.
  `ASSERT(APairOfASquareIsTakenOnce_A, tag_o.valid && is_square && segment == SegProduct |-> i <= j)
  `ASSERT(NoSlotWithoutRoom_A, tag_o.valid |-> !hold_i)
  `ASSERT(AWriteHasThePort_A, b_taken_i && tag_o.valid |-> !needs_b)
  `ASSERT(AFactorIsThere_A, tag_o.valid && tag_o.is_carry |-> q_ready_i)
endmodule
