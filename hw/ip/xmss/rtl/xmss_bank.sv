// The hash cores, and the choice of the family of signatures that has them.
//
// One family has all cores. To the others no core is ever ready, and their requests are dropped.
// While any family works the owner stays. When another family gets the cores, their state and the
// block that they hold are wiped.
//
// Requests and answers pass without a register. A change of the owner takes one cycle, in which
// `changes_o` is set. Reset gives the cores to `FirstOwner`.
//
// Hardening: an upset of a core is an error for every family. The register of the owner is one-hot,
// which an assertion checks in simulation. Hardware does not detect an upset of it.

`include "assert.svh"

module xmss_bank
  import xmss_pkg::*;
#(
  // Number of cores, rounds of a compression in a cycle, and overlap of hashes (`sha2_core`).
  parameter int unsigned         Lanes          = 1,
  parameter int unsigned         RoundsPerCycle = 1,
  parameter bit                  Overlaps       = RoundsPerCycle > 1,
  // 0 builds cores that continue from an illegal state.
  parameter bit                  Hardened       = 1'b1,
  // Number of families.
  parameter int unsigned         Families       = 1,
  // The owner after reset.
  parameter logic [Families-1:0] FirstOwner     = Families'(1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // The family that shall have the cores.
  input  logic [Families-1:0] owner_i,
  // A family works, so the owner stays.
  input  logic                busy_i,
  // The owner changes in this cycle.
  output logic                changes_o,
  // Requests and answers of each family and core.
  input  hash_request_t       request_i [Families][Lanes],
  output hash_response_t      response_o [Families][Lanes]
);
  logic [Families-1:0] owner_q;
  assign changes_o = ~busy_i & (owner_i != owner_q);

  // The owner: a change takes a cycle, in which the cores are wiped.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      owner_q <= FirstOwner;
    else if (changes_o) owner_q <= owner_i;
  end

  for (genvar lane = 0; lane < Lanes; lane++) begin : g_lane
    hash_request_t  request;
    hash_response_t response;

    // Requests of all other families are zeros.
    always_comb begin
      request = '0;
      for (int family = 0; family < Families; family++) begin
        if (owner_q[family]) request |= request_i[family][lane];
      end
      if (changes_o) request.wipe = 1'b1;
    end

    xmss_hash #(
      .RoundsPerCycle(RoundsPerCycle),
      .Overlaps      (Overlaps),
      .Hardened      (Hardened)
    ) u_hash (
      .clk_i, .rst_ni,
      .wipe_i       (request.wipe),
      .error_o      (response.error),
      .cmd_valid_i  (request.cmd_valid),
      .cmd_ready_o  (response.cmd_ready),
      .cmd_i        (request.cmd),
      .lane_valid_i (request.lane_valid),
      .lane_ready_o (response.lane_ready),
      .lane_i       (request.lane),
      .load_valid_i (request.load_valid),
      .load_next_o  (response.load_next),
      .load_last_o  (response.load_last),
      .load_row_o   (response.load_row),
      .load_i       (request.load),
      .save_valid_o (response.save_valid),
      .save_ready_i (request.save_ready),
      .save_last_o  (response.save_last),
      .save_row_o   (response.save_row),
      .save_halves_o(response.save_halves),
      .save_o       (response.save)
    );

    // An upset of a core stops every family, so each one sees the error.
    for (genvar family = 0; family < Families; family++) begin : g_family
      assign response_o[family][lane] = (owner_q[family] && !changes_o) ? response : '{error: response.error, default: '0};

      // A family without the cores gets nothing from them but the error.
      `ASSERT(NoCoreIsReadyForAnotherFamily_A, !owner_q[family] |->
              response_o[family][lane] == '{error: response.error, default: '0})
    end
    // The next owner gets no state of the family before.
    `ASSERT(AChangeWipesTheCores_A, changes_o |-> request.wipe)
  end

  // Two owners would mix their requests.
  `ASSERT(OneFamilyHasTheCores_A, $onehot(owner_q))
  // Cores that change their owner within a job would show one family values of another.
  `ASSERT(TheOwnerStaysWhileAFamilyWorks_A, busy_i |=> $stable(owner_q))
endmodule
