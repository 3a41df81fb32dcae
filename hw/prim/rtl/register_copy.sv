// A copy of registers that are elsewhere. It shows an upset of the registers or of the copy in the same cycle.
//
// `next_i` is the value that the registers take at the next edge, `value_i` the one that they have. With `load_i` low
// the copy keeps its value. Reset: the copy becomes `Reset`, which has to be the value that the registers have after a
// reset. An upset of one or more bits in one of the two is detected, but not the same upset in both.
//
// A register that is written by few lines is better a `shadow_register`, which has both. The hierarchy has to stay
// here, because synthesis would merge registers that are equal. (An inverted copy would need no attribute, but one more
// look-up table for each bit.) The copy is in a leaf cell (`flop_cell`).

`include "assert.svh"

(* keep_hierarchy *)
module register_copy #(
  parameter int unsigned      Width    = 1,
  parameter logic [Width-1:0] Reset    = '0,
  // 0 builds no copy, and no difference is ever reported, so that tests can show what the copy is for.
  parameter bit               Hardened = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             load_i,
  // This is what the registers become.
  input  logic [Width-1:0] next_i,
  // This is what the registers are now.
  input  logic [Width-1:0] value_i,
  // A difference is shown in every cycle in which it exists, from the cycle of the upset on.
  output logic             differs_o
);
  if (Hardened) begin : g_copy
    logic [Width-1:0] copy_d, copy_q;
    assign copy_d = load_i ? next_i : copy_q;
    flop_cell #(.Width(Width), .Reset(Reset)) u_flop (.clk_i, .rst_ni, .d_i(copy_d), .q_o(copy_q));
    assign differs_o = value_i != copy_q;

    // A copy that followed its registers without a load would follow an upset of them, and would never detect it.
    `ASSERT(ACopyKeepsItsValue_A, !load_i |=> $stable(copy_q))
  end else begin : g_none
    logic unused;
    assign unused    = &{1'b0, clk_i, rst_ni, load_i, next_i, value_i};
    assign differs_o = 1'b0;
  end
endmodule
