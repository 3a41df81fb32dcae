// A register that a netlist must not merge with an equal one, with the interface that Ibex expects.
// The output follows the input one cycle later.
module prim_flop #(
  // Bits, and their value after reset.
  parameter int               Width      = 1,
  parameter logic [Width-1:0] ResetValue = '0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);
  (* keep = "true" *) logic [Width-1:0] kept_q;

  // The reset is asynchronous, as that of every register of Ibex.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) kept_q <= ResetValue;
    else         kept_q <= d_i;
  end

  assign q_o = kept_q;
endmodule
