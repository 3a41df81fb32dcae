// Reads the array into the shadow after each reset, and burns a word or a flag on command.
//
// A word is burned in two steps: first its cells without the mark, which are read back and
// compared, then the mark. A power cut in the first step leaves a row without a mark, which is
// half-programmed; the same value may be burned again and no other. After the load the block
// overwrites the words of hidden fields in the shadow, one row a cycle, for ever. In an error it
// overwrites all words.
//
// Interface: `array_req_o` stays until `array_ack_i`. A row of the load is judged in the cycle
// after its acknowledgement (`load_o`), so the load takes one cycle a row more than the array does.
// A burn is accepted only while `idle_o` is set; `refuses_o` answers in the same cycle, and
// `result_o` is `ResultBusy` until the burn has ended. Reset begins a new load.
//
// Hardening: any two codes of the state differ in four bits, and every other value is an error. The
// row has a complement, which is compared in every cycle. An error withdraws the request to the
// array, clears the shadow and lasts until reset. The number that is burned is not redundant.

`include "assert.svh"

module otp_control
  import otp_pkg::*;
#(
  // Each parameter at 0 builds a variant that the tests have to detect. Without `Hardened` the
  // block continues from an illegal state. Without `MarksLast` it burns a mark together with its
  // word. Without `Guarded` it takes the majority of five cells for a flag (`otp_decode`).
  parameter bit Hardened  = 1'b1,
  parameter bit MarksLast = 1'b1,
  parameter bit Guarded   = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // Another part of the storage was upset. The block goes into its error.
  input  logic                fail_i,
  output logic                error_o,

  // The array. A request stays with its row and its cells until the acknowledgement.
  output logic                array_req_o,
  output logic                array_burn_o,
  output row_t                array_row_o,
  output cells_t              array_cells_o,
  input  logic                array_ack_i,
  input  cells_t              array_cells_i,

  // A row that was read after reset, and the end of the load. `load_o` lasts one cycle a row, and
  // the following outputs describe `row_o` in that cycle. `loaded_o` is set together with the last
  // row.
  output logic                load_o,
  output logic                loaded_o,
  output row_t                row_o,
  output logic                blank_o,
  output logic                written_o,
  // The burn of the row was cut off, or the row cannot be read.
  output logic                half_o,
  output logic                corrupted_o,
  output logic                fixed_o,
  output logic [NumFlags-1:0] flags_o,
  output logic                flags_half_o,
  output logic                flags_fixed_o,

  // The code word of the row, and its correction by `otp_secded`, in the same cycle.
  output code_t               code_o,
  input  code_t               code_i,
  input  logic                code_fixed_i,
  input  logic                code_broken_i,

  // The shadow's port for writes. The row is `row_o`.
  output logic                shadow_write_o,
  output code_t               shadow_code_o,
  // The field of `row_o` is hidden, so its words have to be overwritten.
  input  logic                is_hidden_i,

  // Burns. The caller sets the word or the number of a flag with `data_i`, then the row with
  // `burn_i`, and judges the command: `refusal_i` is about `burn_row_i` and `burn_data_o` in the
  // same cycle. The data are forgotten after the burn.
  input  logic                data_i,
  input  logic [DataBits-1:0] burn_data_i,
  output logic [DataBits-1:0] burn_data_o,
  input  logic                burn_i,
  input  row_t                burn_row_i,
  // `ResultNone` lets the command continue.
  input  result_e             refusal_i,
  output logic                refuses_o,
  output logic                idle_o,
  output result_e             result_o,
  // A flag of `row_o` was burned and read back. The strobe lasts one cycle.
  output logic                flag_set_o,
  output logic [2:0]          flag_o
);
  // States; any two codes of the [8,4,4] code differ in four bits.
  typedef enum logic [7:0] {
    // Reads a row after reset. It ends with the acknowledgement of the array.
    StLoad    = 8'he1,
    // Takes the row into the shadow, for one cycle. The last row leads to `StIdle`, others to the
    // next read.
    StJudge   = 8'hd2,
    // Waits for a burn, and overwrites a hidden row in every cycle.
    StIdle    = 8'h33,
    // Reads the row that is to be burned, until the acknowledgement.
    StFetch   = 8'hb4,
    // Judges for one cycle whether the cells of the row permit this burn.
    StDecide  = 8'h55,
    // Burns the word without its mark, the mark, or a flag, until the acknowledgement.
    StBurn    = 8'h66,
    // Reads the burned row back, until the acknowledgement.
    StCheck   = 8'h87,
    // Compares it for one cycle. A word without a mark returns to `StBurn` for the mark.
    StCompare = 8'h78,
    // The block was upset. Only a reset ends this state.
    StError   = 8'h99
  } state_e;

  // The register keeps these codes: synthesis would choose some that are one bit apart.
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StLoad), .MinDistance(4)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );
  // The row of the load, of a burn, and of the overwriting, with its complement. An upset of this
  // register alone would make words of a secret look like those of a public field.
  row_t row_d, row_q;
  logic rows_differ;
  shadow_register #(.Width($bits(row_t))) u_row (
    .clk_i, .rst_ni, .write_i(1'b1), .d_i(row_d), .q_o(row_q), .differs_o(rows_differ)
  );
  // The cells that were read last.
  cells_t cells_q;
  logic [DataBits-1:0] burn_data_q;
  // The mark is burned and compared with the rest of the row in this step.
  logic marks_d, marks_q;
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
  assign is_astray  = Hardened & rows_differ;
  assign reads      = in_load | in_fetch | in_check;

  logic marked;
  otp_decode #(.Guarded(Guarded)) u_decode (
    .clk_i, .rst_ni, .cells_i (cells_q), .code_fixed_i, .code_broken_i, .blank_o, .written_o, .half_o, .corrupted_o,
    .fixed_o, .marked_o (marked), .flags_o, .flags_half_o, .flags_fixed_o
  );

  // --- the burn and its rules ---
  logic is_word, is_free, is_next, is_right, has_order;
  code_t code;
  // The cells that a burn sets.
  cells_t target, flag_cells;
  logic [NumFlags-1:0] below;
  assign is_word    = row_q >= FirstWord;
  // The word as it has to read, with its check bits, and the cells of a flag. In the first step of
  // a word the mark stays clear.
  assign code       = {check_bits(burn_data_q), burn_data_q};
  assign flag_cells = RowBits'(5'h1f) << (5 * burn_data_q[2:0]);
  assign target     = is_word ? {marks_q ? MarkBits'('1) : '0, code} : flag_cells;

  // A word may only add cells to what is there. Once its mark is begun, the row holds a complete
  // word, and the burn must be of the same word.
  assign is_free    = ((cells_q & ~{MarkBits'('1), code}) == '0) & (~marked | (cells_q[CodeBits-1:0] == code));
  // A step of the lifecycle needs the step before it, and none after scrapping. Flag 4, scrapped,
  // may be burned at any time.
  assign below      = (NumFlags'(1) << burn_data_q[2:0]) - 1'b1;
  assign has_order  = row_q == RowLifecycle & burn_data_q[2:0] != 3'd4;
  assign is_next    = ~has_order | (((flags_o & below) == below) & ~flags_o[4]);
  // The row reads as it was burned. For a flag all five cells have to be set.
  assign is_right   = is_word ? (cells_q[CodeBits-1:0] == code) & (~marks_q | (&cells_q[RowBits-1:CodeBits]))
                              : (cells_q & flag_cells) == flag_cells;

  // The block loads row by row, then waits for commands. The assignments of the error come last and
  // so have the highest priority.
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
    // In an error the row counts through the whole shadow to clear it.
    if (is_error) row_d = row_q + 1'b1;
    if (is_error | fail_i | is_astray) begin
      state_d   = StError;
      refuses_o = burn_i;
    end
  end

  // Reset begins a load. The result of a burn is kept until the next burn.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      marks_q     <= 1'b0;
      result_q    <= ResultNone;
      cells_q     <= '0;
      burn_data_q <= '0;
    end else begin
      marks_q  <= marks_d;
      result_q <= result_d;
      // Cells and data are kept no longer than they are needed, because they may belong to a
      // secret.
      if (reads & array_ack_i)        cells_q <= array_cells_i;
      else if (in_idle | is_error)    cells_q <= '0;
      if (in_idle & data_i)                          burn_data_q <= burn_data_i;
      else if ((~in_idle & state_d == StIdle) | is_error) burn_data_q <= '0;
    end
  end

  // A request stays until its acknowledgement. An error withdraws it, because no cell may be burned
  // by a block that does not work.
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

  // The shadow gets zeros in place of a word that is not written. Zero is a code word, so it
  // decodes without a fault.
  assign shadow_write_o = (((in_judge & is_word) | (in_idle & is_hidden_i)) & ~is_astray) | is_error;
  assign shadow_code_o  = in_judge & written_o ? code_i : '0;

  // An error lasts until reset.
  `ASSERT(ErrorIsTheEnd_A, is_error |=> is_error)
  // A block in its error never accesses the array, so it can burn nothing.
  `ASSERT(ErrorBurnsNothing_A, is_error |-> !array_req_o)
  // The mark is burned only after the word was read back as it should be. A torn burn is therefore
  // never taken for a word.
  `ASSERT(AMarkFollowsItsWord_A, array_burn_o && is_word && array_cells_o[RowBits-1:CodeBits] != '0 && MarksLast |->
          cells_q[CodeBits-1:0] == code)
  // A row whose mark is at least begun gets no other word: written words never change.
  `ASSERT(AWrittenWordStays_A, array_burn_o && is_word && marked |-> cells_q[CodeBits-1:0] == code)
  // A step of the lifecycle is burned only when all steps before it are set.
  `ASSERT(ALifecycleStepsForward_A, array_burn_o && row_q == RowLifecycle && burn_data_q[2:0] != 3'd4 |->
          (flags_o & below) == below)
endmodule
