// The environment at a port that leads to a subordinate, which has one write and one read open at a time: what AXI lets it
// do (AMBA AXI §A3.2.1, §A3.3.1), and that it does not wait for ever.
//
// It may withhold both `ready` of a write until address and data are offered, or take either first. Then it takes something
// within `Wait` cycles, and answers as soon. What reaches it is asserted to keep the rules.

module fair_subordinate #(
  parameter int unsigned Wait     = 1,
  parameter int unsigned AwBits   = 1,
  parameter int unsigned WBits    = 1,
  parameter int unsigned ArBits   = 1,
  parameter int unsigned BBits    = 1,
  parameter int unsigned RBits    = 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              aw_valid_i,
  input  logic              aw_ready_i,
  input  logic [AwBits-1:0] aw_i,
  input  logic              w_valid_i,
  input  logic              w_ready_i,
  input  logic [WBits-1:0]  w_i,
  input  logic              w_last_i,
  input  logic              b_valid_i,
  input  logic              b_ready_i,
  input  logic [BBits-1:0]  b_i,
  input  logic              ar_valid_i,
  input  logic              ar_ready_i,
  input  logic [ArBits-1:0] ar_i,
  input  logic              r_valid_i,
  input  logic              r_ready_i,
  input  logic [RBits-1:0]  r_i,
  input  logic              r_last_i,
  // Its address was taken and its data were not all; the other way around; a response is due.
  output logic              owes_o,
  output logic              early_o,
  output logic              due_b_o,
  output logic              due_r_o
);
  logic owes_d, owes_q, early_d, early_q, due_b_d, due_b_q, due_r_d, due_r_q, beat_q;
  logic aw_passes, w_passes, b_passes, ar_passes, r_passes;
  assign aw_passes = aw_valid_i & aw_ready_i;
  assign w_passes  = w_valid_i & w_ready_i;
  assign b_passes  = b_valid_i & b_ready_i;
  assign ar_passes = ar_valid_i & ar_ready_i;
  assign r_passes  = r_valid_i & r_ready_i;

  always_comb begin
    owes_d  = owes_q;
    early_d = early_q;
    due_b_d = due_b_q & ~b_passes;
    due_r_d = (due_r_q | ar_passes) & ~(r_passes & r_last_i);
    if (aw_passes) begin
      owes_d  = ~early_q;
      early_d = 1'b0;
      if (early_q) due_b_d = 1'b1;
    end
    if (w_passes && w_last_i) begin
      if (owes_q || aw_passes) begin
        owes_d  = 1'b0;
        due_b_d = 1'b1;
      end else begin
        early_d = 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {owes_q, early_q, due_b_q, due_r_q, beat_q} <= '0;
    else begin
      {owes_q, early_q, due_b_q, due_r_q} <= {owes_d, early_d, due_b_d, due_r_d};
      if (r_passes) beat_q <= ~r_last_i;
    end
  end
  assign {owes_o, early_o, due_b_o, due_r_o} = {owes_q, early_q, due_b_q, due_r_q};

  // --- what reaches it ---
  channel_rules #(.Bits(AwBits)) u_aw (.clk_i, .rst_ni, .valid_i (aw_valid_i), .ready_i (aw_ready_i), .payload_i (aw_i));
  channel_rules #(.Bits(WBits)) u_w (.clk_i, .rst_ni, .valid_i (w_valid_i), .ready_i (w_ready_i), .payload_i (w_i));
  channel_rules #(.Bits(ArBits)) u_ar (.clk_i, .rst_ni, .valid_i (ar_valid_i), .ready_i (ar_ready_i), .payload_i (ar_i));
  always_comb begin
    // One at a time, and no data past the end of a burst.
    assert (!(aw_valid_i && (owes_q || due_b_q)));
    assert (!(w_valid_i && (early_q || due_b_q)));
    assert (!(w_valid_i && !owes_q && !aw_valid_i));
    assert (!(ar_valid_i && due_r_q));
  end

  // --- what it does ---
  channel_rules #(.Bits(BBits), .IsAssumed(1)) u_b (
    .clk_i, .rst_ni, .valid_i (b_valid_i), .ready_i (b_ready_i), .payload_i (b_i)
  );
  channel_rules #(.Bits(RBits + 1), .IsAssumed(1)) u_r (
    .clk_i, .rst_ni, .valid_i (r_valid_i), .ready_i (r_ready_i), .payload_i ({r_i, r_last_i})
  );
  always_comb begin
    if (b_valid_i) assume (due_b_q);
    if (r_valid_i) assume (due_r_q);
    // Bursts of one or two beats.
    if (r_valid_i && beat_q) assume (r_last_i);
  end
  patience #(.Max(Wait), .IsAssumed(1)) u_write (
    .clk_i, .rst_ni,
    .waits_i ((aw_valid_i || owes_q) && (w_valid_i || early_q) && !aw_passes && !w_passes)
  );
  patience #(.Max(Wait), .IsAssumed(1)) u_due_b (.clk_i, .rst_ni, .waits_i (due_b_q && !b_valid_i));
  patience #(.Max(Wait), .IsAssumed(1)) u_read (.clk_i, .rst_ni, .waits_i (ar_valid_i && !ar_ready_i));
  patience #(.Max(Wait), .IsAssumed(1)) u_due_r (.clk_i, .rst_ni, .waits_i (due_r_q && !r_valid_i));
endmodule
