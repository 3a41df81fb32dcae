// A copy of registers of control: an upset of one of both is seen in the same cycle.
//
// The hierarchy has to stay: synthesis would merge registers that are equal. (An inverted copy would need no attribute,
// but a look-up table more for each bit.) Without `load_i` the copy keeps its value.

`include "assert.svh"

(* keep_hierarchy *)
module aes_copy #(
  parameter int unsigned     Bits     = 1,
  parameter logic [Bits-1:0] Reset    = '0,
  parameter bit              Hardened = 1'b1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            load_i,
  input  logic [Bits-1:0] next_i,    // what the registers become
  input  logic [Bits-1:0] value_i,   // what they are
  output logic            differs_o  // in the cycle of the upset
);
  if (Hardened) begin : g_copy
    logic [Bits-1:0] copy_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni)     copy_q <= Reset;
      else if (load_i) copy_q <= next_i;
    end
    assign differs_o = value_i != copy_q;

    // A copy that followed its registers without a load would follow an upset of them.
    `ASSERT(ACopyKeepsItsValue_A, !load_i |=> $stable(copy_q))
  end else begin : g_none
    logic unused;
    assign unused    = &{1'b0, load_i, next_i, value_i};
    assign differs_o = 1'b0;
  end
endmodule
