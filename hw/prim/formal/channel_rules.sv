// The rules of one channel with `valid` and `ready`: a `valid` stays, with its payload, until its `ready` (AMBA AXI
// §A3.2.1). Of the block that is proven they are assertions, of its environment assumptions.

module channel_rules #(
  parameter int unsigned Bits      = 1,
  parameter bit          IsAssumed = 1'b0
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic            valid_i,
  input logic            ready_i,
  input logic [Bits-1:0] payload_i
);
  logic            waits_q;
  logic [Bits-1:0] payload_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q   <= 1'b0;
      payload_q <= '0;
    end else begin
      waits_q   <= valid_i & ~ready_i;
      payload_q <= payload_i;
    end
  end

  if (IsAssumed) begin : gen_assumed
    always_comb if (waits_q) assume (valid_i && payload_i == payload_q);
  end else begin : gen_asserted
    always_comb if (waits_q) assert (valid_i && payload_i == payload_q);
  end
endmodule
