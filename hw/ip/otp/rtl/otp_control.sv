// Reads the array into the shadow after each reset, and burns a word or a flag on command.
//
// A word is burned in two steps: its cells without the mark, which are read back and compared, then the mark. A power cut
// in the first leaves a row without a mark, which is half-programmed; the same value may be burned again and no other.
// After the load it clears the words of hidden fields, one row a cycle, for ever; in an error all of them.

`include "assert.svh"

module otp_control
  import otp_pkg::*;
#(
  // 0 builds variants to show that the tests detect them: one that continues from an illegal state, one that burns a mark
  // together with its word.
  parameter bit Hardened  = 1'b1,
  parameter bit MarksLast = 1'b1,
  parameter bit Guarded   = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                fail_i,        // an upset elsewhere
  output logic                error_o,

  // The array.
  output logic                array_req_o,
  output logic                array_burn_o,
  output row_t                array_row_o,  // stays with its request
  output cells_t              array_cells_o,
  input  logic                array_ack_i,
  input  cells_t              array_cells_i,

  // A row that was read after reset, and the end of the load.
  output logic                load_o,  // for a cycle a row
  output logic                loaded_o,
  output row_t                row_o,
  output logic                blank_o,
  output logic                written_o,
  output logic                half_o,  // torn, or unreadable
  output logic                corrupted_o,
  output logic                fixed_o,
  output logic [NumFlags-1:0] flags_o,
  output logic                flags_half_o,
  output logic                flags_fixed_o,

  // The code word of the row, and what `otp_secded` makes of it.
  output code_t               code_o,
  input  code_t               code_i,
  input  logic                code_fixed_i,
  input  logic                code_broken_i,

  // The shadow's port for writes.
  output logic                shadow_write_o,
  output code_t               shadow_code_o,
  input  logic                is_hidden_i,   // the field of `row_o` is

  // Burns. A command is taken while idle, and judged by the caller: `refusal_i` is of `burn_row_i` and `burn_data_o`,
  // which is forgotten after the burn.
  input  logic                data_i,
  input  logic [DataBits-1:0] burn_data_i,
  output logic [DataBits-1:0] burn_data_o,
  input  logic                burn_i,
  input  row_t                burn_row_i,
  input  result_e             refusal_i,  // none: the command may go on
  output logic                refuses_o,
  output logic                idle_o,
  output result_e             result_o,
  // A flag of `row_o` was burned and read back.
  output logic                flag_set_o,
  output logic [2:0]          flag_o
);
  // Codes of the [8,4,4] code: any two differ in four bits.
  typedef enum logic [7:0] {
    StLoad    = 8'he1,  // reads a row
    StJudge   = 8'hd2,  // and takes it into the shadow
    StIdle    = 8'h33,
    StFetch   = 8'hb4,  // reads the row that is to be burned
    StDecide  = 8'h55,
    StBurn    = 8'h66,
    StCheck   = 8'h87,  // reads it back
    StCompare = 8'h78,
    StError   = 8'h99
  } state_e;

  // The attribute keeps the encoding: synthesis would choose codes that are one bit apart.
  state_e state_d;
  (* fsm_encoding = "none" *) state_e state_q;
  // The row of the load, of a burn, and of clearing, and its complement: with another one, words of a secret would be taken
  // for those of a public field.
  row_t row_d, row_q, row_not_q;
  cells_t cells_q;  // that were read last
  logic [DataBits-1:0] burn_data_q;
  logic marks_d, marks_q;                  // the whole row, mark included, is burned and compared
  result_e result_d, result_q;

  logic in_load, in_judge, in_idle, in_fetch, in_decide, in_burn, in_check, in_compare, is_error, is_astray, reads;
  assign in_load    = state_q == StLoad;
  assign in_judge   = state_q == StJudge;
  assign in_idle    = state_q == StIdle;
  assign in_fetch   = state_q == StFetch;
  assign in_decide  = state_q == StDecide;
  assign in_burn    = state_q == StBurn;
  assign in_check   = state_q == StCheck;
  assign in_compare = state_q == StCompare;
  // The error is the complement of all other states, so an illegal state is an error in the same cycle.
  assign is_error   = Hardened ? ~(in_load | in_judge | in_idle | in_fetch | in_decide | in_burn | in_check | in_compare)
                               : state_q == StError;
  assign is_astray  = Hardened & (row_q != ~row_not_q);
  assign reads      = in_load | in_fetch | in_check;

  logic marked;
  otp_decode #(.Guarded(Guarded)) u_decode (
    .clk_i, .rst_ni, .cells_i (cells_q), .code_fixed_i, .code_broken_i, .blank_o, .written_o, .half_o, .corrupted_o,
    .fixed_o, .marked_o (marked), .flags_o, .flags_half_o, .flags_fixed_o
  );

  // --- what is burned, and whether it may be ---
  logic is_word, is_free, is_next, is_right, has_order;
  code_t code;
  cells_t target, flag_cells;  // that a burn sets
  logic [NumFlags-1:0] below;
  assign is_word    = row_q >= FirstWord;
  assign code       = {check_bits(burn_data_q), burn_data_q};
  assign flag_cells = RowBits'(5'h1f) << (5 * burn_data_q[2:0]);
  assign target     = is_word ? {marks_q ? MarkBits'('1) : '0, code} : flag_cells;

  // A word only adds cells to what is there. Once its mark is begun, the word is complete and must be this one.
  assign is_free    = ((cells_q & ~{MarkBits'('1), code}) == '0) & (~marked | (cells_q[CodeBits-1:0] == code));
  // A step of the lifecycle follows the one before it; scrapping follows any.
  assign below      = (NumFlags'(1) << burn_data_q[2:0]) - 1'b1;
  assign has_order  = row_q == RowLifecycle & burn_data_q[2:0] != 3'd4;
  assign is_next    = ~has_order | (((flags_o & below) == below) & ~flags_o[4]);
  // What was burned reads so.
  assign is_right   = is_word ? (cells_q[CodeBits-1:0] == code) & (~marks_q | (&cells_q[RowBits-1:CodeBits]))
                              : (cells_q & flag_cells) == flag_cells;

  // Loads row by row, then waits for commands. An error comes last and so has the highest priority.
  always_comb begin
    state_d   = state_q;
    row_d     = row_q;
    marks_d   = marks_q;
    result_d  = result_q;
    refuses_o = burn_i;
    unique case (state_q)
      StLoad:  if (array_ack_i) state_d = StJudge;
      StJudge: begin
        row_d   = row_q + 1'b1;
        state_d = (row_q == LastRow) ? StIdle : StLoad;
      end
      StIdle: begin
        row_d = row_q + 1'b1;
        if (burn_i) begin
          row_d    = burn_row_i;
          result_d = refusal_i;
          if (refusal_i == ResultNone) begin
            state_d   = StFetch;
            result_d  = ResultBusy;
            refuses_o = 1'b0;
          end
        end
      end
      StFetch: if (array_ack_i) state_d = StDecide;
      StDecide: begin
        state_d = StBurn;
        marks_d = ~(is_word & MarksLast);
        if (is_word ? ~is_free : ~is_next) begin
          state_d  = StIdle;
          result_d = is_word ? ResultConflict : ResultOrder;
        end
      end
      StBurn:  if (array_ack_i) state_d = StCheck;
      StCheck: if (array_ack_i) state_d = StCompare;
      StCompare: begin
        marks_d = 1'b1;
        state_d = marks_q | ~is_right ? StIdle : StBurn;
        if (~is_right)    result_d = ResultVerify;
        else if (marks_q) result_d = ResultDone;
      end
      default: state_d = Hardened ? StError : StIdle;
    endcase
    if (is_error) row_d = row_q + 1'b1;
    if (is_error | fail_i | is_astray) begin
      state_d   = StError;
      refuses_o = burn_i;
    end
  end

  // A load begins with the reset. What a burn writes is kept until the next one.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= StLoad;
      row_q       <= '0;
      row_not_q   <= '1;
      marks_q     <= 1'b0;
      result_q    <= ResultNone;
      cells_q     <= '0;
      burn_data_q <= '0;
    end else begin
      state_q  <= state_d;
      row_q     <= row_d;
      row_not_q <= ~row_d;
      marks_q  <= marks_d;
      result_q <= result_d;
      // Not longer than they are needed: they may be those of a secret.
      if (reads & array_ack_i)        cells_q <= array_cells_i;
      else if (in_idle | is_error)    cells_q <= '0;
      if (in_idle & data_i)                          burn_data_q <= burn_data_i;
      else if ((~in_idle & state_d == StIdle) | is_error) burn_data_q <= '0;
    end
  end

  // A request stays until its acknowledgement; an error withdraws it, for the array has to be left alone.
  assign array_req_o   = (reads | in_burn) & ~fail_i & ~is_astray;
  assign array_burn_o  = in_burn;
  assign array_row_o   = row_q;
  assign array_cells_o = target;

  assign load_o        = in_judge & ~is_astray;
  assign loaded_o      = in_judge & (row_q == LastRow) & ~is_astray;
  assign row_o         = row_q;
  assign idle_o        = in_idle;
  assign result_o      = result_q;
  assign error_o       = is_error | is_astray;
  assign flag_set_o    = in_compare & is_right & ~is_word & ~is_astray;
  assign flag_o        = burn_data_q[2:0];
  assign burn_data_o   = burn_data_q;
  assign code_o        = cells_q[CodeBits-1:0];

  // A refused word is not kept. Zero is a code word.
  assign shadow_write_o = (((in_judge & is_word) | (in_idle & is_hidden_i)) & ~is_astray) | is_error;
  assign shadow_code_o  = in_judge & written_o ? code_i : '0;

  `ASSERT(ErrorIsTheEnd_A, is_error |=> is_error)
  `ASSERT(ErrorBurnsNothing_A, is_error |-> !array_req_o)
  `ASSERT(AMarkFollowsItsWord_A, array_burn_o && is_word && array_cells_o[RowBits-1:CodeBits] != '0 && MarksLast |->
          cells_q[CodeBits-1:0] == code)
  `ASSERT(AWrittenWordStays_A, array_burn_o && is_word && marked |-> cells_q[CodeBits-1:0] == code)
  `ASSERT(ALifecycleStepsForward_A, array_burn_o && row_q == RowLifecycle && burn_data_q[2:0] != 3'd4 |->
          (flags_o & below) == below)
endmodule
