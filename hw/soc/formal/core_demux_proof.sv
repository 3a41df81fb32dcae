// Proof of `core_demux` for two targets: a request stays until its grant, each granted request is answered once, by its
// target, in order, and within a number of cycles if the targets do not wait for ever.

module core_demux_proof #(
  parameter bit          Ordered    = 1'b1,
  parameter int unsigned MaxCycles = 8
) (
  input logic             clk_i,
  input logic             req_i,
  input logic [1:0]       select_i,
  input logic [1:0]       target_gnt_i,
  input logic [1:0]       target_rvalid_i,
  input logic [1:0][31:0] target_rdata_i,
  input logic [1:0]       target_err_i
);
  localparam int unsigned TargetWait = 1;

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic        gnt, rvalid, err;
  logic [1:0]  target_req;
  logic [31:0] rdata;

  core_demux #(.NumTargets(2), .Ordered(Ordered)) dut (
    .clk_i, .rst_ni, .req_i, .gnt_o (gnt), .select_i, .rvalid_o (rvalid), .rdata_o (rdata), .err_o (err),
    .target_req_o (target_req), .target_gnt_i, .target_rvalid_i, .target_rdata_i, .target_err_i
  );

  // The core: a request stays, for one target or none.
  channel_rules #(.Bits(2), .IsAssumed(1)) u_core (
    .clk_i, .rst_ni, .valid_i (req_i), .ready_i (gnt), .payload_i (select_i)
  );
  always_comb assume ($onehot0(select_i));

  // Requests that were granted and not answered, of the core and of each target.
  logic [1:0] due_q, target_due_q [2];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) due_q <= '0;
    else         due_q <= due_q + 2'(req_i && gnt) - 2'(rvalid);
  end
  for (genvar t = 0; t < 2; t++) begin : gen_target
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) target_due_q[t] <= '0;
      else         target_due_q[t] <= target_due_q[t] + 2'(target_req[t] && target_gnt_i[t]) - 2'(target_rvalid_i[t]);
    end
    // A target answers what it granted, soon.
    always_comb if (target_rvalid_i[t]) assume (target_due_q[t] != '0);
    patience #(.Max(TargetWait), .IsAssumed(1)) u_grants (
      .clk_i, .rst_ni, .waits_i (target_req[t] && !target_gnt_i[t])
    );
    patience #(.Max(TargetWait), .IsAssumed(1)) u_answers (
      .clk_i, .rst_ni, .waits_i (target_due_q[t] != '0 && !target_rvalid_i[t])
    );
    // What reaches a target stays until its grant. An answer is the one of the target that owes one.
    channel_rules u_request (
      .clk_i, .rst_ni, .valid_i (target_req[t]), .ready_i (target_gnt_i[t]), .payload_i (1'b0)
    );
    always_comb begin
      if (target_rvalid_i[t]) assert (rvalid && rdata == target_rdata_i[t] && err == target_err_i[t]);
      if (target_req[t]) assert (req_i && select_i[t]);
      // Only one target owes answers, so that they come in order; the state of the block says which.
      assert (target_due_q[t] == ((dut.owner_q[t]) ? dut.count_q : 2'd0));
    end
  end

  patience #(.Max(MaxCycles)) u_grant (.clk_i, .rst_ni, .waits_i (req_i && !gnt));
  patience #(.Max(MaxCycles)) u_answer (.clk_i, .rst_ni, .waits_i (due_q != '0 && !rvalid));
  always_comb begin
    if (rvalid) assert (due_q != '0);
    // Without a target: an error without data, in the next cycle.
    if (dut.error_q) assert (rvalid && err && rdata == '0);
    assert (dut.count_q == due_q && due_q <= 2'd2);
    assert ($onehot0(dut.owner_q));
    assert (dut.error_q == (dut.owner_q == '0 && due_q != '0));
    if (dut.error_q) assert (due_q == 2'd1);
  end
endmodule
