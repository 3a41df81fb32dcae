// Proof that a tag is right only if it was equal in two cycles after each other, and that a wrong one stays wrong.
//
// Comparisons, commands and their times are arbitrary; a verdict is that of all messages until the next clear.

module aes_verdict_proof (
  input logic clk_i,
  input logic rst_i,
  input logic clear_i,
  input logic valid_i,
  input logic judges_i,
  input logic equal_i
);
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  logic rst_ni;
  assign rst_ni = started_q & ~rst_i;

  logic pending, right, fails, error;
  aes_verdict dut (
    .clk_i, .rst_ni, .clear_i, .valid_i, .judges_i, .equal_i,
    .pending_o(pending), .matches_o(right), .fails_o(fails), .error_o(error)
  );

  // Whether the last two comparisons were equal, whether a tag was told to be wrong since the last clear, and the verdict of
  // the cycle before.
  logic equal_q, equal_before_q, failed_q, was_right_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {equal_q, equal_before_q, failed_q, was_right_q} <= '0;
    else begin
      equal_q        <= valid_i & judges_i & equal_i & ~clear_i;
      equal_before_q <= equal_q;
      failed_q       <= (failed_q | fails) & ~clear_i;
      was_right_q      <= right;
    end
  end

  always_comb begin
    if (rst_ni) begin
      // The claim.
      if (right && !was_right_q) assert (equal_q && equal_before_q);
      if (failed_q) assert (!right);
      assert (!error);
      // What the induction needs: the first comparison was equal, and a wrong tag ends in one state.
      if (dut.is_once) assert (equal_q && !failed_q);
      if (dut.is_none) assert (!failed_q);
      if (dut.is_right) assert (!failed_q);
    end
  end
endmodule
