// Routes one port of Ibex to several targets: memories and bridges.
//
// The port is Ibex's own (its manual calls it the memory interface): a request is held until it is
// granted, and every granted request gets one response, in the order of the grants. Targets may
// take any number of cycles, so a request to another target waits until no other target owes a
// response. This block answers a request without a target with an error, in the next cycle: an
// unmapped address must never stop the core.
//
// Address, data and byte enables bypass this block: the instantiating module knows the address map
// and selects. Grants and responses pass without a register. Reset forgets requests that are not
// answered. Nothing here is hardened.

`include "assert.svh"

module core_demux #(
  // Number of targets.
  parameter int unsigned NumTargets     = 2,
  // Maximum outstanding requests. Ibex has at most two.
  parameter int unsigned MaxOutstanding = 2,
  // 0 builds a variant in which requests overtake each other, to show that the test detects it.
  parameter bit          Ordered        = 1'b1,
  localparam int unsigned CountBits     = $clog2(MaxOutstanding + 1)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  // The port of the core.
  input  logic                        req_i,
  output logic                        gnt_o,
  // One target, or none for an error. It belongs to the request.
  input  logic [NumTargets-1:0]       select_i,
  output logic                        rvalid_o,
  output logic [31:0]                 rdata_o,
  output logic                        err_o,

  // The targets, one bit or word for each.
  output logic [NumTargets-1:0]       target_req_o,
  input  logic [NumTargets-1:0]       target_gnt_i,
  input  logic [NumTargets-1:0]       target_rvalid_i,
  input  logic [NumTargets-1:0][31:0] target_rdata_i,
  input  logic [NumTargets-1:0]       target_err_i
);
  // The target that owes responses. If it is none of the targets, this block does.
  logic [NumTargets-1:0] owner_d, owner_q;
  logic [CountBits-1:0]  count_d, count_q, left;
  logic                  error_d, error_q;
  logic                  is_free, grants;

  // A response that arrives now makes room in the same cycle, in which Ibex may send the next request.
  assign left    = count_q - CountBits'(rvalid_o);
  assign is_free = (left == '0) ||
                   ((owner_q == select_i || !Ordered) && left < CountBits'(MaxOutstanding));

  assign target_req_o = (req_i && is_free) ? select_i : '0;
  assign gnt_o        = is_free & ((select_i == '0) | (|(select_i & target_gnt_i)));
  assign grants       = req_i & gnt_o;

  // Requests that are granted and not answered, and the target that owes the answers. The owner changes only when
  // no response is due, which `is_free` ensures. A request without a target is answered in the next cycle.
  always_comb begin
    count_d = left + CountBits'(grants);
    owner_d = grants ? select_i : owner_q;
    error_d = grants & (select_i == '0);
  end

  // After reset no response is due.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q <= '0;
      count_q <= '0;
      error_q <= 1'b0;
    end else begin
      owner_q <= owner_d;
      count_q <= count_d;
      error_q <= error_d;
    end
  end

  // Only responses of the owner pass: a response of another target would be mistaken for the one of
  // the outstanding request.
  logic [NumTargets-1:0] answers;
  assign answers  = Ordered ? target_rvalid_i & owner_q : target_rvalid_i;
  assign rvalid_o = error_q | (|answers);

  // Zero if no target answers, so that an error carries no data of a target.
  always_comb begin
    rdata_o = '0;
    err_o   = error_q;
    for (int unsigned target = 0; target < NumTargets; target++) begin
      if (answers[target]) begin
        rdata_o |= target_rdata_i[target];
        err_o   |= target_err_i[target];
      end
    end
  end

  // A request never reaches two targets.
  `ASSERT(OneTargetAtATime_A, $onehot0(target_req_o))
  // A request stays at its target until it is granted.
  `ASSERT(RequestWaitsForGrant_A, target_req_o != '0 && !gnt_o |=> $stable(target_req_o))
  // The core gets no response that it did not ask for.
  `ASSERT(NoResponseWithoutRequest_A, rvalid_o && Ordered |-> count_q != '0)
  // No target answers while another one owes the responses, so their order is that of the grants.
  `ASSERT(OnlyTheOwnerAnswers_A, Ordered |-> (target_rvalid_i & ~owner_q) == '0)
  // An access to nothing ends with an error and does not hang.
  `ASSERT(AnErrorIsAnsweredAtOnce_A, grants && select_i == '0 |=> rvalid_o && err_o)
  // Without an answer of the target that was asked the core sees zeros and no data of another one.
  `ASSERT(NoDataWithoutAnAnswer_A, answers == '0 |-> rdata_o == '0)
endmodule
