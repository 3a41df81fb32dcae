// The hash cores, and which family of signatures has them.
//
// One family has all of them. To the others no core is ever ready, and what they ask is dropped. While any family works the
// owner stays; when another one gets the cores, their state and the block that they hold are wiped.

`include "assert.svh"

module xmss_bank
  import xmss_pkg::*;
#(
  parameter int unsigned         Lanes          = 1,
  parameter int unsigned         RoundsPerCycle = 1,
  parameter bit                  Overlaps       = RoundsPerCycle > 1,
  parameter bit                  Hardened       = 1'b1,
  parameter int unsigned         Families       = 1,
  parameter logic [Families-1:0] FirstOwner     = Families'(1)  // after a reset
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [Families-1:0] owner_i,  // who shall have the cores
  input  logic                busy_i,   // a family works: the owner stays
  output logic                changes_o,  // in this cycle
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

    // Requests of all others are zeros.
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

    // An upset of a core stops every family.
    for (genvar family = 0; family < Families; family++) begin : g_family
      assign response_o[family][lane] = (owner_q[family] && !changes_o) ? response : '{error: response.error, default: '0};

      // Not by error: that is for all.
      `ASSERT(NoCoreIsReadyForAnotherFamily_A, !owner_q[family] |->
              response_o[family][lane] == '{error: response.error, default: '0})
    end
    `ASSERT(AChangeWipesTheCores_A, changes_o |-> request.wipe)
  end

  `ASSERT(OneFamilyHasTheCores_A, $onehot(owner_q))
  // Cores that change their owner within a job would show one family values of another.
  `ASSERT(TheOwnerStaysWhileAFamilyWorks_A, busy_i |=> $stable(owner_q))
endmodule
