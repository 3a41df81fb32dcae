// This module is a copy of registers of control. It shows an upset of the registers or of the copy in the same
// cycle.
//
// The registers themselves are outside. `next_i` is the value that they take at the next edge, `value_i` the
// one that they have. With `load_i` low the copy keeps its value. Reset: the copy becomes `Reset`, which has to
// be the value that the registers have after a reset. An upset of one or more bits in one of the two is
// detected, but not the same upset in both.
//
// The hierarchy has to stay, because synthesis would merge registers that are equal. (An inverted copy would
// need no attribute, but one more look-up table for each bit.)

`include "assert.svh"

(* keep_hierarchy *)
module aes_copy #(
  // `Bits` is the width, and `Reset` the value after a reset. With `Hardened` = 0 there is no copy, and no
  // difference is ever reported.
  parameter int unsigned     Bits     = 1,
  parameter logic [Bits-1:0] Reset    = '0,
  parameter bit              Hardened = 1'b1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            load_i,
  // This is what the registers become.
  input  logic [Bits-1:0] next_i,
  // This is what the registers are now.
  input  logic [Bits-1:0] value_i,
  // A difference is shown in every cycle in which it exists, from the cycle of the upset on.
  output logic            differs_o
);
  if (Hardened) begin : g_copy
    logic [Bits-1:0] copy_q;
    // A reset sets the copy to the value that the registers have after a reset.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni)     copy_q <= Reset;
      else if (load_i) copy_q <= next_i;
    end
    assign differs_o = value_i != copy_q;

    // A copy that followed its registers without a load would follow an upset of them, and would never detect
    // it.
    `ASSERT(ACopyKeepsItsValue_A, !load_i |=> $stable(copy_q))
  end else begin : g_none
    logic unused;
    assign unused    = &{1'b0, clk_i, rst_ni, load_i, next_i, value_i};
    assign differs_o = 1'b0;
  end
endmodule
