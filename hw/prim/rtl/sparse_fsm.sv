// The state register of a state machine whose codes are far apart.
//
// An upset of fewer than `MinDistance` bits of the register makes a code that no state has. The machine has to treat
// every such code as an error. This module keeps the codes through synthesis, and checks in simulation what the
// machine's list of states promises.
//
// `state_t` is an enumeration that names every state, the error included. The register is in the leaf cell
// `flop_cell`. `state_o` follows `state_i` after one cycle, and is `Reset` during a reset.

`include "assert.svh"

module sparse_fsm #(
  parameter type         state_t     = logic,
  parameter state_t      Reset       = state_t'('0),
  // The number of bits in which any two codes differ at least.
  parameter int unsigned MinDistance = 3
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  state_t state_i,
  output state_t state_o
);
  localparam int unsigned Width = $bits(state_t);

  logic [Width-1:0] code;
  flop_cell #(.Width(Width), .Reset(Reset)) u_flop (.clk_i, .rst_ni, .d_i(state_i), .q_o(code));
  assign state_o = state_t'(code);

`ifndef SYNTHESIS
  // The names of an enumeration exist in simulation only.
  function automatic logic is_named(state_t state);
    state_t named;
    named = named.first();
    for (int unsigned at = 0; at < 32'(named.num()); at++) begin
      if (state == named) return 1'b1;
      named = named.next();
    end
    return 1'b0;
  endfunction

  // The smallest distance between two codes.
  function automatic int unsigned distance_of_codes();
    state_t one, other;
    int unsigned least, apart;
    least = Width;
    one   = one.first();
    for (int unsigned at = 0; at < 32'(one.num()); at++) begin
      other = one.next();
      for (int unsigned to = at + 1; to < 32'(one.num()); to++) begin
        apart = 32'($countones(one ^ other));
        if (apart < least) least = apart;
        other = other.next();
      end
      one = one.next();
    end
    return least;
  endfunction

  int unsigned distance;
  initial distance = distance_of_codes();
`endif

  // The promise about the codes holds for all of them.
  `ASSERT(CodesAreFarApart_A, distance >= MinDistance)
  // The machine goes to a state that has a name. A code that an upset made may stay, if the machine takes it for an
  // error, and leads to no other code without a name.
  `ASSERT(NextStateHasAName_A, 1'b1 |=> is_named(state_i) || state_i == state_o)
  // The machine starts in a state that has a name.
  `ASSERT(ResetStateHasAName_A, is_named(Reset))
endmodule
