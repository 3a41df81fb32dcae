// This module gives the digits of scalars, which say what is added next.
//
// Four scalars have a copy here, which is read a bit at a time. For the comb a digit is odd: its five bits are
// plus and minus one, so no digit is zero, and every scalar takes the same steps. For a verification scalars
// are public, and a digit is that of the non-adjacent form of width 5: its bits are those of the scalar, except
// for the lowest one, which is 1. So only the places of digits have to be marked, from the lowest bit on.
//
// Protocol: `comb_i` or `recode_i` begins with a scalar, then `next_i` or `position_i` asks for the next digit.
// There is no ready: the microcode waits long enough for each digit.
//
// Time: a digit of the comb takes five cycles, a bit in each. The marks of a verification take 512 cycles, and
// a position two.
//
// Reset: no digit is under way; the copies have no reset, and a wipe of the registers overwrites them. Nothing
// is hardened here.

`include "assert.svh"

module ed25519_digits
  import ed25519_pkg::*;
#(
  // With `Blinded` the scalar of the comb has 320 bits instead of 260.
  parameter bit Blinded = 1'b0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // A clear ends what is under way, and forgets digits.
  input  logic       clear_i,

  // These are words of registers 12 to 15.
  // A word of the copy is written.
  input  logic       write_i,
  input  logic [3:0] place_i,
  input  word_t      word_i,
  // A word is read here while nothing is computed.
  input  logic       read_i,
  input  logic [3:0] read_place_i,
  output word_t      read_o,

  // This begins with the digits of the comb.
  input  logic       comb_i,
  // This begins with the digits of a verification.
  input  logic       recode_i,
  // This asks for the next digit of the comb.
  input  logic       next_i,
  // This asks for the next position of a verification.
  input  logic       position_i,

  // This is a digit of the comb or of S.
  output digit_t     digit_o,
  // This is a digit of k.
  output digit_t     digit_a_o,
  // The digits are those of a verification.
  output logic       in_window_o,
  // These outputs describe the position that is next.
  // There is no further position.
  output logic       at_end_o,
  // S or k has a digit there.
  output logic       has_sum_o,
  // These outputs describe the present position.
  // k has a digit, and S has one.
  output logic       has_a_o,
  output logic       has_b_o
);
  localparam int unsigned Rows = Blinded ? 32 : 26;
  // These are registers 12, 13 and 14, less 12. The upper bits of a blinded scalar are in register 15.
  localparam logic [1:0] ScalarK = 2'd0, ScalarS = 2'd1, ScalarN = 2'd2;

  // StIdle waits. StComb takes the bits of a digit, and StCombReady has it. StMark marks the places of digits
  // from the lowest bit on, StWalk goes down to the next position, and StReady has its digits.
  typedef enum logic [2:0] {StIdle, StComb, StCombReady, StMark, StWalk, StReady} state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(1)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  word_t scalar [16];
  // The copy is written along with the registers.
  always_ff @(posedge clk_i) if (write_i) scalar[place_i] <= word_i;

  // --- a bit in each cycle ---

  // This is the number of the bit; beyond 255 there are zeros.
  logic [8:0] bit_q;
  // It is a bit of the second one of two scalars.
  logic       second_q;
  // This says which scalar it is.
  logic [1:0] which;
  logic       bit_now, upper;
  word_t      word;

  assign which   = (state_q == StComb) ? ScalarN : (second_q ? ScalarS : ScalarK);
  assign upper   = Blinded & (state_q == StComb) & bit_q[8];
  assign word    = scalar[read_i ? read_place_i : {which | {1'b0, upper}, bit_q[7:6]}];
  assign read_o  = word;
  assign bit_now = word[bit_q[5:0]] & (~bit_q[8] | upper);

  // --- the comb ---

  localparam logic [8:0] ToothStep = 9'(2 * Rows);
  localparam logic [8:0] TopBit    = 9'(10 * Rows);
  // These are the row of the comb, and the bits of its digit so far.
  logic [4:0] row_q, teeth_q;
  // This says which one of the two tables is used.
  logic       table_q;
  // This says which one of the five teeth is next.
  logic [2:0] tooth_q;
  logic       tooth;
  digit_t     comb_digit;

  // An odd scalar is the sum of 2^i over its bits as plus and minus one: bit i of this form is bit i + 1 of the
  // scalar, and the highest one is plus.
  assign tooth      = bit_now | (bit_q == TopBit);
  assign comb_digit = '{negative: ~teeth_q[4], index: {table_q, teeth_q[3:0] ~^ {4{teeth_q[4]}}}};

  // --- a verification ---

  // This many bits still belong to the last digit.
  logic [1:0][2:0] skip_q;
  // This is the carry of the last digit.
  logic [1:0]      carry_q;
  // These are the bits above this position.
  logic [1:0][3:0] window_q;
  logic            marks, k_marks_q, any_q;
  logic [7:0]      top_q, at_q;
  logic [1:0]      marked, marks_now;
  digit_t          k_digit, s_digit;
  logic            ended_q;

  // A digit begins where the last one has ended, and the bit with its carry is one.
  assign marks     = (skip_q[second_q] == '0) & (bit_now ^ carry_q[second_q]);
  assign marks_now = {marks, k_marks_q};

  // The marks are in a memory of 256 × 2 bits, in four parts.
  logic [3:0][1:0] part;
  for (genvar p = 0; p < 4; p++) begin : g_part
    logic [1:0] memory [64];
    // The marks of a position, those of k and of S, are written at once.
    always_ff @(posedge clk_i) if (state_q == StMark && second_q && bit_q[1:0] == 2'(p)) memory[bit_q[7:2]] <= marks_now;
    assign part[p] = memory[at_q[7:2]];
  end
  assign marked = part[at_q[1:0]] & {2{~ended_q}};

  // The sign is the highest bit; digits below zero have the others inverted.
  function automatic digit_t digit_of(logic [3:0] bits);
    return '{negative: bits[3], index: {2'd0, bits[2:0] ^ {3{bits[3]}}}};
  endfunction
  assign k_digit = digit_of(window_q[0]);
  assign s_digit = digit_of(window_q[1]);

  assign at_end_o  = ended_q;
  assign has_sum_o = |marked;

  // The walk has come to the highest position that has a digit.
  logic arrives;
  assign arrives = at_q <= top_q;

  // The states follow the bits that the next block counts. A request comes while the state waits for one.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StComb: if (tooth_q == 3'd4) state_d = StCombReady;
      StMark: if (second_q && bit_q == 9'd255) state_d = StWalk;
      StWalk: if (second_q && (!any_q || arrives)) state_d = StReady;
      default: ;
    endcase
    if (next_i) state_d = (table_q && row_q == '0) ? StCombReady : StComb;
    if (position_i) begin
      if (at_q != '0 && !ended_q) state_d = StWalk;
      if (ended_q) state_d = StIdle;
    end
    if (comb_i)   state_d = StComb;
    if (recode_i) state_d = StMark;
    if (clear_i)  state_d = StIdle;
  end

  // This block does the rest. The microcode waits long enough for each digit, since all times are known.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bit_q       <= '0;
      second_q    <= 1'b0;
      row_q       <= '0;
      teeth_q     <= '0;
      table_q     <= 1'b0;
      tooth_q     <= '0;
      skip_q      <= '0;
      carry_q     <= '0;
      window_q    <= '0;
      k_marks_q   <= 1'b0;
      any_q       <= 1'b0;
      top_q       <= '0;
      at_q        <= '0;
      ended_q     <= 1'b0;
      digit_o     <= '0;
      digit_a_o   <= '0;
      has_a_o     <= 1'b0;
      has_b_o     <= 1'b0;
      in_window_o <= 1'b0;
    end else if (clear_i) begin
      teeth_q   <= '0;
      window_q  <= '0;
      digit_o   <= '0;
      digit_a_o <= '0;
    end else begin
      unique case (state_q)
        StComb: begin
          teeth_q <= {tooth, teeth_q[4:1]};
          bit_q   <= bit_q + ToothStep;
          tooth_q <= tooth_q + 3'd1;
        end
        StMark: begin
          second_q <= ~second_q;
          // The bits of a digit are skipped; its highest bit is the carry to the next one.
          if (skip_q[second_q] != '0) begin
            skip_q[second_q]  <= skip_q[second_q] - 3'd1;
            carry_q[second_q] <= bit_now;
          end else if (marks) begin
            skip_q[second_q] <= 3'd4;
          end
          if (!second_q) k_marks_q <= marks;
          else begin
            bit_q <= bit_q + 9'd1;
            if (|marks_now) begin
              any_q <= 1'b1;
              top_q <= bit_q[7:0];
            end
            if (bit_q == 9'd255) begin
              bit_q <= 9'd256;
              at_q  <= 8'd255;
            end
          end
        end
        StWalk: begin
          // Bit `at_q` + 1 of both scalars enters the windows, and then the position is complete.
          second_q           <= ~second_q;
          window_q[second_q] <= {window_q[second_q][2:0], bit_now};
          if (second_q) begin
            bit_q <= bit_q - 9'd1;
            if (!any_q)        ended_q <= 1'b1;
            else if (!arrives) at_q <= at_q - 8'd1;
          end
        end
        default: ;
      endcase
      if (next_i) begin
        digit_o <= comb_digit;
        table_q <= ~table_q;
        tooth_q <= '0;
        row_q   <= row_q - 5'(table_q);
        bit_q   <= 9'(row_q) - 9'(table_q) + 9'd1 + (table_q ? 9'd0 : 9'(Rows));
      end
      if (position_i) begin
        digit_o   <= s_digit;
        digit_a_o <= k_digit;
        {has_b_o, has_a_o} <= marked;
        if (at_q == '0) ended_q <= 1'b1;
        else if (!ended_q) at_q <= at_q - 8'd1;
      end
      if (comb_i) begin
        in_window_o <= 1'b0;
        row_q       <= 5'(Rows - 1);
        table_q     <= 1'b0;
        tooth_q     <= '0;
        bit_q       <= 9'(Rows);
      end
      if (recode_i) begin
        in_window_o <= 1'b1;
        second_q    <= 1'b0;
        bit_q       <= '0;
        skip_q      <= '0;
        carry_q     <= '0;
        window_q    <= '0;
        any_q       <= 1'b0;
        ended_q     <= 1'b0;
        top_q       <= '0;
      end
    end
  end

  // The digit of the comb is complete when the microcode takes it; otherwise another point would be added.
  `ASSERT(ADigitIsThereInTime_A, next_i |-> state_q == StCombReady)
  // The digits of a position are complete when the microcode takes them.
  `ASSERT(APositionIsThereInTime_A, position_i |-> state_q == StReady)
endmodule
