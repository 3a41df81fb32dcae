// A wire of AXI4-Lite, for tests of the drivers at its ends (axi_lite.py) and of the observer (axi_lite_checks).
//
// A test is manager on one end and subordinate on the other. When one of them breaks a rule, the observer has to
// name the rule and the side at fault.

`include "assert.svh"

module axi_lite_wire
  import hartlock_axi_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  // This end is for a manager.
  input  axil_req_t  up_i,
  output axil_resp_t up_o,
  // This end is for a subordinate.
  output axil_req_t  down_o,
  input  axil_resp_t down_i
);
  // The wire stores and changes nothing: one of both ends breaks every rule that is broken here.
  assign down_o = up_i;
  assign up_o   = down_i;

  // This is what the observer sees. A mutant changes a field of it.
  axil_req_t  req;
  axil_resp_t resp;
  always_comb begin
    req           = up_i;
    req.aw_valid  = up_i.aw_valid;
    req.aw_addr   = up_i.aw_addr;
    req.w_valid   = up_i.w_valid;
    req.ar_addr   = up_i.ar_addr;
    resp          = down_i;
    resp.b_valid  = down_i.b_valid;
    resp.b_resp   = down_i.b_resp;
    resp.r_valid  = down_i.r_valid;
    resp.r_resp   = down_i.r_resp;
  end

  // The observer under test.
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (req), .resp_i (resp));

  `ASSERT(NothingIsLost_A, down_o == up_i && up_o == down_i)
endmodule
