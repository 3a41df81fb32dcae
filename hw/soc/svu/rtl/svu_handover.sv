// The registers of the engine belong to the verification unit first, and to the host from the
// release on (AXI4-Lite, and the engine's stream port).
//
// The unit never gets them back before reset: a host that runs could otherwise find its engine in
// use, and the unit could get an engine that a host has prepared. A port that does not have the
// engine waits. The unit has no access open at the handover, which is an assertion of the module
// that contains both.
//
// All paths are combinational. The owner changes one cycle after the release. The owner is one
// flip-flop without redundancy.

`include "assert.svh"

module svu_handover
  import hartlock_axi_pkg::axil_req_t, hartlock_axi_pkg::axil_resp_t;
#(
  // 0 builds a variant that follows the release in both directions, to show that the test detects it.
  parameter bit KeepsOwner = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The host runs.
  input  logic        release_i,
  // The host has the engine.
  output logic        is_host_o,

  // The verification unit: registers and stream.
  input  axil_req_t   unit_axil_i,
  output axil_resp_t  unit_axil_o,
  input  logic        unit_valid_i,
  output logic        unit_ready_o,

  // The host: registers only.
  input  axil_req_t   host_axil_i,
  output axil_resp_t  host_axil_o,

  // The engine.
  output axil_req_t   engine_axil_o,
  input  axil_resp_t  engine_axil_i,
  output logic        engine_valid_o,
  input  logic        engine_ready_i
);
  logic host_q;

  // Once the host has the engine, it keeps it until reset.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) host_q <= 1'b0;
    else         host_q <= release_i | (host_q & KeepsOwner);
  end

  // Requests of the owner reach the engine, and its answers the owner. The other side gets nothing.
  assign is_host_o      = host_q;
  assign engine_axil_o   = host_q ? host_axil_i : unit_axil_i;
  assign host_axil_o    = host_q ? engine_axil_i : '0;
  assign unit_axil_o    = host_q ? '0 : engine_axil_i;
  assign engine_valid_o = unit_valid_i & ~host_q;
  assign unit_ready_o   = engine_ready_i & ~host_q;

  // The engine never leaves a host that runs.
  `ASSERT(TheHostKeepsIt_A, is_host_o && KeepsOwner |=> is_host_o)
  // The host cannot get the engine before the release, so it cannot prepare what a verdict comes
  // from.
  `ASSERT(TheUnitHasItFirst_A, !$past(release_i) && !$past(is_host_o) |-> !is_host_o)
  // After the handover the unit cannot disturb the host.
  `ASSERT(NothingOfTheUnitAfterIt_A, is_host_o |-> engine_axil_o == host_axil_i && !engine_valid_o)
  // Before the handover the host neither reaches the engine nor sees its answers.
  `ASSERT(NothingOfTheHostBeforeIt_A, !is_host_o |-> engine_axil_o == unit_axil_i && host_axil_o == '0)
endmodule
