// A small state machine for the test of `sparse_fsm`: it goes from a start to an end, and to an error from every code
// that is no state.

`include "assert.svh"

module sparse_fsm_bench (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,
  input  logic end_i,
  output logic idle_o,
  output logic done_o,
  output logic error_o
);
  // Any two codes differ in three bits.
  typedef enum logic [4:0] {
    StIdle  = 5'b00111,
    StRun   = 5'b11100,
    StDone  = 5'b11011,
    StError = 5'b00000
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  if (start_i) state_d = StRun;
      StRun:   if (end_i)   state_d = StDone;
      StDone:  if (!end_i)  state_d = StIdle;
      default: state_d = StError;
    endcase
  end
  assign idle_o  = state_q == StIdle;
  assign done_o  = state_q == StDone;
  assign error_o = !(state_q inside {StIdle, StRun, StDone});

  // Only a reset ends an error.
  `ASSERT(ErrorIsForGood_A, error_o |=> error_o)
endmodule
