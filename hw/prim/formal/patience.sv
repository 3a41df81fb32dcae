// Counts for how many cycles in a row something waits. Of an environment that is fair the wait is assumed to end within
// `Max` cycles; of the block that is proven it is asserted.

module patience #(
  parameter int unsigned Max       = 2,
  parameter bit          IsAssumed = 1'b0,
  localparam int unsigned Bits     = $clog2(Max + 1)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            waits_i
);
  // Cycles before this one.
  logic [Bits-1:0] count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)       count_q <= '0;
    else if (!waits_i) count_q <= '0;
    else               count_q <= count_q + Bits'(count_q != Bits'(Max));
  end

  if (IsAssumed) begin : gen_assumed
    always_comb assume (!waits_i || count_q < Bits'(Max));
  end else begin : gen_asserted
    always_comb assert (!waits_i || count_q < Bits'(Max));
  end
endmodule
