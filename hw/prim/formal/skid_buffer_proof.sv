// Proves a register slice for all orders of words: each word leaves once, unchanged and in its turn, and a channel
// without stalls has a word in every cycle.
//
// A model keeps at most two words. It says what both sides see in every cycle.

module skid_buffer_proof #(
  localparam int unsigned Width = 2
) (
  input logic             clk_i,
  input logic             flush_i,
  input logic             in_valid_i,
  input logic [Width-1:0] in_data_i,
  input logic             out_ready_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic             in_ready, out_valid;
  logic [Width-1:0] out_data;

  skid_buffer #(.Width(Width)) u_buffer (
    .clk_i, .rst_ni, .flush_i, .in_valid_i, .in_ready_o(in_ready), .in_data_i, .out_valid_o(out_valid), .out_ready_i,
    .out_data_o(out_data)
  );

  logic [Width-1:0] first_q, second_q;
  logic [1:0]       count_q, left;
  logic             enters, leaves;
  assign enters = in_valid_i & in_ready;
  assign leaves = out_valid & out_ready_i;
  assign left   = count_q - 2'(leaves);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q  <= '0;
      first_q  <= '0;
      second_q <= '0;
    end else begin
      count_q <= flush_i ? '0 : left + 2'(enters);
      if (enters && left == 2'd0) first_q <= in_data_i;
      else if (leaves)            first_q <= second_q;
      if (enters && left == 2'd1) second_q <= in_data_i;
    end
  end

  always_comb begin
    assert (count_q <= 2'd2);
    assert (out_valid == (count_q != '0));
    assert (!out_valid || out_data == first_q);
    // The sender is stopped only while two words wait.
    assert (in_ready == (count_q != 2'd2));
    assert (count_q != 2'd2 || u_buffer.spare == second_q);
  end
endmodule
