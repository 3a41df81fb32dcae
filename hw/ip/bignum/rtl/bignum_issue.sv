// This module walks through the columns of an operation, and says which words of the memory are multiplied in
// each cycle.
//
// It is product scanning: column k of a sum of products has all terms of weight 2^(Wk), so a column is
// accumulated in one place, and its word is written once. A product that is reduced by Montgomery's method has
// the terms q_i N_(k-i) as well. The factor q_k is known only when column k is complete, so its terms q_k N_0
// and q_k N_1 come last in column k + 1; the other terms of that column are multiplied while q_k is computed.
//
// Protocol: `start_i` begins an operation, whose inputs are stable until `busy_o` falls. In each cycle with a
// slot `tag_o.valid` is set, and the addresses and the kind of the operands belong to it. `clear_i` ends the
// walk at once.
//
// Time: a slot in each cycle, except for those that the columns, a result or a factor that is not ready forbid.
// No cycle depends on data: only lengths and kinds decide.
//
// Reset: there is no walk. Nothing is hardened here; a fault gives a wrong number.

`include "assert.svh"

module bignum_issue
  import bignum_pkg::*;
#(
  // `W` is the width of a word of the memory; a limb has `Parts` of them.
  parameter int unsigned W = 68,
  localparam int unsigned Parts     = LimbBits / W,
  localparam int unsigned AddrBits  = $clog2(Limbs * Parts),
  localparam int unsigned IndexBits = 10
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  logic                 clear_i,
  // The operation is stable until its end.
  input  vector_t              op_i,
  // This is how a product is reduced.
  input  field_e               field_i,
  // This is the number of words of an operand.
  input  logic [IndexBits-1:0] words_i,
  // This is the place of the modulus, and of the factors q.
  input  slot_t                modulus_i,
  input  slot_t                factors_i,
  // A selection takes the entry `index_i` of a table. `pairs_i` is the last pair of its entries, `stride_i` the
  // number of words of an entry.
  input  logic [3:0]           index_i,
  input  logic [2:0]           pairs_i,
  input  logic [AddrBits-1:0]  stride_i,
  // Slots of the operation are left.
  output logic                 busy_o,

  // These ports come from the columns: a cycle that has no slot, a cycle in which a result occupies port b, and
  // the next factor.
  input  logic                 hold_i,
  input  logic                 b_taken_i,
  input  logic                 q_ready_i,
  // The factor is taken, and stored at this address.
  output logic                 q_taken_o,
  output logic [AddrBits-1:0]  q_addr_o,

  // These are the addresses of both words, and the tag of their product.
  output logic [AddrBits-1:0]  a_addr_o,
  output logic [AddrBits-1:0]  b_addr_o,
  output tag_t                 tag_o,
  // These ports say what the operands are. A top word is signed.
  output logic                 a_is_top_o,
  output logic                 b_is_top_o,
  // The factor is multiplied with the word of port a.
  output logic                 use_q_o,
  // The word of port a is multiplied with a small number.
  output logic                 use_small_o,
  output small_t               small_o,
  // One of both words is selected, or none.
  output logic                 use_select_o,
  output logic [1:0]           select_o,
  // Both operands are zero.
  output logic                 use_none_o
);
  typedef logic [IndexBits-1:0] index_t;
  // These are the segments of a column in their order: products of words, the two terms with small factors,
  // products of the modulus with stored factors, the product that completes the column before, the next product
  // of this factor. SegSelect is the only segment of a selection.
  typedef enum logic [2:0] {
    SegProduct, SegFirst, SegSecond, SegModulus, SegCarry, SegNext, SegSelect
  } segment_e;

  // The walk is at term `i_q` of a segment of column `column_q`. `is_fresh_q` says that the column has no term
  // yet.
  logic     busy_q, gap_q, is_fresh_q, is_fresh_d;
  index_t   column_q, i_q;
  segment_e segment_q;
  logic [AddrBits-1:0] select_addr_q;

  // This function gives the address of the first word of a slot.
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

  // A column has those segments whose conditions hold.
  assign has_product  = is_mul && column_q != last_column;
  assign has_first    = op_i.kind == KindLinear;
  assign has_second   = op_i.kind inside {KindLinear, KindReduce} || (is_mul && op_i.has_c && is_upper);
  assign has_modulus  = is_reduced && is_any && column_q >= 2 && column_q != last_column;
  assign has_carry    = is_reduced && is_any && column_q != '0 && column_q <= words_i;
  // The factors of the two columns before are not stored yet, so their terms come last (SegCarry and SegNext).
  assign modulus_high = (column_q <= words_i) ? column_q - index_t'(2) : lasts;

  // The segment of this cycle is the next one that the column has.
  segment_e segment;
  logic     is_null;
  // Segments that a column lacks take no cycle. A column without any term has one empty slot, which closes it.
  always_comb begin
    segment = segment_q;
    is_null = 1'b0;
    if (op_i.kind == KindSelect) segment = SegSelect;
    else begin
      if (segment == SegProduct && !has_product) segment = SegFirst;
      if (segment == SegFirst   && !has_first)   segment = SegSecond;
      if (segment == SegSecond  && !has_second)  segment = SegModulus;
      if (segment == SegModulus && !has_modulus) segment = SegCarry;
      // The last column of a product may have nothing but a carry.
      if (segment == SegCarry   && !has_carry) is_null = 1'b1;
    end
  end

  // The terms of a segment are counted by `i`; `j` is the index of the other factor.
  index_t i, j;
  logic   is_end_of_segment, is_last, is_first, has_later;
  // A square takes half of the products; the term i = j of an even column comes last.
  always_comb begin
    i = (segment == segment_q) ? i_q : low;
    j = column_q - i;
    unique case (segment)
      // The pairs i < j of a square are counted twice.
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
    // A product that completes the column before does not belong to this column, so it is not its first term.
    is_first = is_fresh_q & (segment != SegCarry || !has_carry);
  end

  // --- is there a slot in this cycle? ---
  logic needs_b, fires, waits;
  // Linear terms and those of the newest factor need only one word of the memory, so a result may use the other
  // port.
  assign needs_b = segment inside {SegProduct, SegModulus, SegSelect} && !is_null;
  assign waits   = (segment == SegCarry && !is_null && !q_ready_i) |
                   // A low column of a prime's shifted sums takes at least two cycles.
                   (is_last & gap_q);
  assign fires   = busy_q & ~hold_i & ~waits & ~(needs_b & b_taken_i);
  assign is_fresh_d = fires ? is_last | (is_fresh_q & ~is_first) : is_fresh_q;

  // The walk goes through the terms of a segment, the segments of a column, and the columns. It waits in every
  // cycle without a slot.
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

  // --- the slot of this cycle ---
  logic [AddrBits-1:0] linear_at;
  assign linear_at = (is_mul ? AddrBits'(column_q - words_i) : AddrBits'(column_q));
  // This block gives the addresses of both words, what they are, and what becomes of their product.
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
    // A pair of entries is read at once, and at most one of both is selected; all entries are read.
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

    // The tag says what the columns have to do with the product.
    tag_o          = '0;
    tag_o.valid    = fires;
    tag_o.first    = is_first;
    tag_o.last     = is_last;
    tag_o.is_low   = is_reduced & ~is_upper;
    tag_o.is_out   = ~is_reduced | is_upper;
    tag_o.is_final = column_q == last_column;
    tag_o.is_carry = segment == SegCarry & ~is_null;
    // A product is doubled by shifts: for a factor of two, and for a pair of a square.
    if (segment == SegProduct) begin
      tag_o.negate = op_i.ka[3];
      tag_o.shift  = 2'(op_i.ka == 4'sd2 || op_i.ka == -4'sd2) + 2'(is_square && i != j);
    end
  end

  assign busy_o    = busy_q;
  assign q_taken_o = fires & (segment == SegNext);
  // This is the place of the factor of the column before.
  assign q_addr_o  = base(factors_i) + AddrBits'(column_q) - 1'b1;

  // The pairs i < j of a square count twice, so a pair j > i as well would be one too many.
  `ASSERT(APairOfASquareIsTakenOnce_A, tag_o.valid && is_square && segment == SegProduct |-> i <= j)
  // A slot in the cycle of a factor would lose its product to that of the factor.
  `ASSERT(NoSlotWithoutRoom_A, tag_o.valid |-> !hold_i)
  // A slot that needs port b would multiply the word of another address.
  `ASSERT(AWriteHasThePort_A, b_taken_i && tag_o.valid |-> !needs_b)
  // A column is completed with its own factor, and not with that of a column before.
  `ASSERT(AFactorIsThere_A, tag_o.valid && tag_o.is_carry |-> q_ready_i)
endmodule
