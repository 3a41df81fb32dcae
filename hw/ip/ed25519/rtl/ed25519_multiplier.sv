// This module makes products modulo 2^256 - 38 = 2 (2^255 - 19), and raw products, with a product of two words
// in each cycle.
//
// It works column after column (product scanning). The upper four words of a product are multiplied by 38 and
// added to the lower ones as they come; `ed25519_writer` adds the last carry. A raw product is not folded: each
// of its eight words leaves at once.
//
// Protocol: `start_i` begins an operation, also in the last cycle of the one before. A folded result has its
// first word with `done_o`, and `take_i` moves on to its next word; it has to be taken before the next result
// is folded. Raw words leave with `raw_valid_o`, and have to be taken at once.
//
// Time: a product takes 16 cycles, a square 10, because its mixed products count twice, and the lower four
// words of a raw product 10. One operation follows the other without a cycle between.
//
// Reset: no operation runs. Data have no reset, and are cleared by `clear_i`. Nothing is hardened here.

`include "assert.svh"

module ed25519_multiplier
  import ed25519_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_ni,
  // A clear forgets everything.
  input  logic    clear_i,

  // A start comes in the cycle before the first word product of its operation.
  input  logic    start_i,
  // The operation is `a` times `a`.
  input  logic    square_i,
  // With `raw_i` the product is not folded.
  input  logic    raw_i,
  // Only the lower four words of a raw product are made.
  input  logic    low_i,
  // This is the register of the result.
  input  number_t to_i,

  // These are the words of the operands, which come a cycle after their index.
  // Word products are asked for.
  output logic       issue_o,
  output logic [1:0] a_index_o,
  output logic [1:0] b_index_o,
  input  word_t      a_i,
  input  word_t      b_i,

  // This is a folded result: the first word with `done_o`, the others in the cycles after it.
  output logic        done_o,
  output word_t       word_o,
  // This has to be added to the result.
  output logic [12:0] carry_o,
  // All bits of the other three words are ones.
  output logic        all_ones_o,
  // This is the register of the result.
  output number_t     to_o,
  // The word is written, and the next one follows.
  input  logic        take_i,

  // This is a raw word.
  output logic   raw_valid_o,
  // The place is the register and the word of it.
  output place_t raw_place_o,
  output word_t  raw_o
);
  // --- which words are multiplied ---

  logic       run_q, square_q, raw_q, low_q;
  logic [2:0] column_q;
  logic [1:0] i_q;
  number_t    to_q;
  logic [2:0] j;
  logic       end_column, end_all;

  assign j = column_q - {1'b0, i_q};
  // A square takes each pair once, with i >= j; a product takes all pairs of a column.
  assign end_column = square_q ? (3'(i_q) - 3'(j[1:0]) <= 3'd1) : (i_q == ((column_q > 3'd3) ? 2'(column_q - 3'd3) : 2'd0));
  assign end_all    = end_column & (column_q == (low_q ? 3'd3 : 3'd6));
  assign issue_o    = run_q;
  assign a_index_o  = i_q;
  assign b_index_o  = j[1:0];

  // This block is the order of word products. A column starts with the highest word of `a`.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q    <= 1'b0;
      square_q <= 1'b0;
      raw_q    <= 1'b0;
      low_q    <= 1'b0;
      column_q <= '0;
      i_q      <= '0;
      to_q     <= '0;
    end else if (clear_i) begin
      run_q <= 1'b0;
    end else if (start_i) begin
      run_q    <= 1'b1;
      square_q <= square_i;
      raw_q    <= raw_i;
      low_q    <= low_i;
      to_q     <= to_i;
      column_q <= '0;
      i_q      <= '0;
    end else if (run_q) begin
      if (end_all) run_q <= 1'b0;
      if (end_column) begin
        column_q <= column_q + 3'd1;
        i_q      <= (column_q >= 3'd3) ? 2'd3 : 2'(column_q + 3'd1);
      end else begin
        i_q <= i_q - 2'd1;
      end
    end
  end

  // --- the pipeline: operands, tiles, product, sum ---

  // These flags follow a word product through the pipeline.
  typedef struct packed {
    // There is a word product.
    logic       valid;
    // It counts twice, in a square.
    logic       twice;
    // It is the last one of its column.
    logic       last;
    // The result is not folded.
    logic       raw;
    // The result has nothing above the fourth word.
    logic       low;
    // The column is the word of the result to which the product belongs.
    logic [2:0] column;
    // The result goes to this register.
    number_t    to;
  } flags_t;
  flags_t flags_q [4];

  // These registers hold the flags of each stage. The first stage is the memory.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int s = 0; s < 4; s++) flags_q[s] <= '0;
    end else begin
      flags_q[0] <= '{valid: run_q & ~clear_i, twice: square_q & (i_q != j[1:0]), last: end_column, raw: raw_q, low: low_q,
                      column: column_q, to: to_q};
      for (int s = 1; s < 4; s++) begin
        flags_q[s]       <= flags_q[s-1];
        flags_q[s].valid <= flags_q[s-1].valid & ~clear_i;
      end
    end
  end

  word_t        a_q, b_q;
  logic [31:0]  tile_q [4][4];
  // `product_q` is the product of two words, and `diagonal` has the tiles of the same index, to which the
  // others are added.
  logic [127:0] product_q, diagonal, upper;
  // These are sums of tiles whose indices differ by one.
  logic [96:0]  beside;
  // These are sums of tiles whose indices differ by two.
  logic [64:0]  apart;
  // This is the sum of the tiles whose indices differ by three.
  logic [32:0]  corner;
  // This is the sum of the last two.
  logic [81:0]  outer;

  // There are 16 tiles with factors of 16 bits, for one DSP block each, and their sums. Tiles that do not
  // overlap are one operand.
  assign diagonal = {tile_q[3][3], tile_q[2][2], tile_q[1][1], tile_q[0][0]};
  assign beside   = {1'b0, tile_q[3][2], tile_q[2][1], tile_q[1][0]} + {1'b0, tile_q[2][3], tile_q[1][2], tile_q[0][1]};
  assign apart    = {1'b0, tile_q[3][1], tile_q[2][0]} + {1'b0, tile_q[1][3], tile_q[0][2]};
  assign corner   = {1'b0, tile_q[3][0]} + {1'b0, tile_q[0][3]};
  assign outer    = {17'd0, apart} + {33'd0, corner, 16'd0};
  assign upper    = {diagonal[127:16] + {15'd0, beside}, diagonal[15:0]};

  // This block runs freely: without an operation its registers hold nothing that counts.
  always_ff @(posedge clk_i) begin
    a_q <= a_i;
    b_q <= b_i;
    for (int r = 0; r < 4; r++) begin
      for (int c = 0; c < 4; c++) tile_q[r][c] <= a_q[16*r +: 16] * b_q[16*c +: 16];
    end
    product_q <= {upper[127:32] + {14'd0, outer}, upper[31:0]};
  end

  flags_t       now;
  logic [130:0] sum_q, sum;
  logic         word_valid_q, word_last_q, raw_valid_q;
  logic [2:0]   word_column_q;
  number_t      word_to_q;
  word_t        word_q, high_q;

  assign now = flags_q[3];
  assign sum = sum_q + (now.twice ? {2'b00, product_q, 1'b0} : {3'b000, product_q});

  // This is the sum of a column. At its end a word is ready, and the rest stays for the next column. The last
  // column makes two words. Like all registers of data here it is cleared, and not reset: the engine clears it
  // before it is idle.
  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      sum_q  <= '0;
      word_q <= '0;
      high_q <= '0;
    end else begin
      word_q <= sum[63:0];
      high_q <= sum[127:64];
      if (now.valid) begin
        if (!now.last)               sum_q <= sum;
        else if (now.column == 3'd6 || (now.low && now.column == 3'd3)) sum_q <= '0;
        else                         sum_q <= {64'd0, sum[130:64]};
      end
    end
  end

  // These registers say what the word is.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_valid_q  <= 1'b0;
      raw_valid_q   <= 1'b0;
      word_last_q   <= 1'b0;
      word_column_q <= '0;
      word_to_q     <= '0;
    end else begin
      word_valid_q  <= now.valid & now.last & ~now.raw & ~clear_i;
      raw_valid_q   <= now.valid & now.last & now.raw & ~clear_i;
      word_last_q   <= now.valid & now.last & (now.column == 3'd6) & ~clear_i;
      word_column_q <= now.column;
      word_to_q     <= now.to;
    end
  end

  // --- folding ---

  logic        high_valid_q, high_raw_q, high_is_folded, second_raw, fold, load_low;
  word_t       lower_q [4];
  word_t       fold_q [4];
  word_t       high, last_high_q;
  logic [70:0] folded;
  // This is the carry of the folded words, at most 38.
  logic [6:0]  carry_q;
  logic        first_fold, ones_q;

  assign high_is_folded = high_valid_q & ~high_raw_q;
  assign load_low       = word_valid_q & ~word_column_q[2];
  assign fold           = (word_valid_q & word_column_q[2]) | high_is_folded;
  assign first_fold     = word_valid_q & (word_column_q == 3'd4);
  assign high           = high_valid_q ? last_high_q : word_q;
  // 38 h is 32 h + 4 h + 2 h.
  assign folded = {2'b00, high, 5'd0} + {5'b00000, high, 2'b00} + {6'b000000, high, 1'b0} + {7'd0, lower_q[3]} +
                  {64'd0, first_fold ? 7'd0 : carry_q};

  // Lower words wait in a row until the upper ones come; folded words wait in another row until all have come.
  // Both rows move when a word enters or leaves, so that none is addressed. The second word of the last column
  // is kept for its cycle.
  always_ff @(posedge clk_i) begin
    for (int w = 0; w < 4; w++) begin
      if (clear_i) begin
        lower_q[w] <= '0;
        fold_q[w]  <= '0;
      end else begin
        if (load_low || fold) lower_q[w] <= (w == 0) ? word_q : lower_q[w == 0 ? 0 : w-1];
        if (fold || take_i)   fold_q[w]  <= (w == 0) ? folded[63:0] : fold_q[w == 0 ? 0 : w-1];
      end
    end
    if (clear_i)           last_high_q <= '0;
    else if (word_last_q)  last_high_q <= high_q;
  end

  // These registers say what is in the rows.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      high_valid_q <= 1'b0;
      high_raw_q   <= 1'b0;
      done_o       <= 1'b0;
      carry_q      <= '0;
      ones_q       <= 1'b0;
      to_o         <= '0;
    end else begin
      high_valid_q <= word_last_q & (word_valid_q | raw_valid_q) & ~clear_i;
      high_raw_q   <= raw_valid_q;
      done_o       <= high_is_folded & ~clear_i;
      if (fold) begin
        carry_q <= folded[70:64];
        ones_q  <= first_fold | (ones_q & (&folded[63:0]));
        if (first_fold) to_o <= word_to_q;
      end
    end
  end

  assign word_o     = fold_q[3];
  // This is the carry times 38.
  assign carry_o    = {1'b0, carry_q, 5'd0} + {4'd0, carry_q, 2'd0} + {5'd0, carry_q, 1'b0};
  assign all_ones_o = ones_q;

  // The second word of the last column comes a cycle after the first one.
  number_t raw_to_q;
  always_ff @(posedge clk_i) raw_to_q <= word_to_q;
  assign second_raw  = high_valid_q & high_raw_q;
  assign raw_valid_o = raw_valid_q | second_raw;
  assign raw_o       = second_raw ? last_high_q : word_q;
  assign raw_place_o = second_raw ? {raw_to_q | 6'd1, 2'd3} :
                       {word_to_q | {5'd0, word_column_q[2]}, word_column_q[1:0]};

  // An operation that starts too early would take the products of another one.
  `ASSERT(NoStartDuringAnother_A, start_i |-> !run_q || end_all)
  // Word products are those of the operation: no index leaves the numbers.
  `ASSERT(AColumnIsOfTheProduct_A, run_q |-> column_q <= 3'd6 && j <= 3'd3)
  // The sum of a column never overflows.
  `ASSERT(TheSumFits_A, now.valid |-> 132'(sum_q) + 132'(now.twice ? {2'b00, product_q, 1'b0} : {3'b000, product_q}) == 132'(sum))
  // A result has left before the next one enters its row.
  `ASSERT(AResultLeavesBeforeTheNext_A, fold |-> !take_i)
  // A clear leaves no word of a secret in sum, word or result.
  `ASSERT(AClearLeavesNothing_A, clear_i |=> sum_q == '0 && word_q == '0 && !run_q && !done_o)
endmodule
