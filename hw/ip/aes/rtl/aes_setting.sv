// A register of the configuration and its copy: both take the word of the bus, so that an upset is seen from the
// write on, and not only while a message uses it.

module aes_setting #(
  parameter int unsigned     Bits     = 1,
  parameter logic [Bits-1:0] Reset    = '0,
  parameter bit              Hardened = 1'b1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            write_i,
  input  logic [Bits-1:0] value_i,
  output logic [Bits-1:0] value_o,
  output logic            differs_o
);
  logic [Bits-1:0] value_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      value_q <= Reset;
    else if (write_i) value_q <= value_i;
  end
  assign value_o = value_q;

  aes_copy #(.Bits(Bits), .Reset(Reset), .Hardened(Hardened)) u_copy (
    .clk_i, .rst_ni,
    .load_i (write_i),
    .next_i (value_i),
    .value_i(value_q),
    .differs_o
  );
endmodule
