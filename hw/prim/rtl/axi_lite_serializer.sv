// This module stands in front of a generated register block and lets one access at a time through, so that the
// owner of the registers can refuse it.
//
// The register block answers every access to an external register with OKAY. An access that the owner refuses has
// to be an error for the manager. So one access is open at a time, and its response carries the refusal. A write
// is taken as soon as both its address and its data are valid, and before a read.
//
// Time: an access passes in the cycle in which it is taken, and the module adds no cycle to a response. The
// register block answers in the cycle after an access was taken at the earliest, so a refusal of that cycle is in
// time for the response.
//
// Reset forgets an open access. Nothing is hardened here: the registers only decide on responses.

`include "assert.svh"

module axi_lite_serializer
  import hartlock_axi_pkg::*;
#(
  // With 1, reads may be refused too: such a read shows zeros, and the port shows data only while they are valid,
  // because the buffer of the register block keeps the last word.
  parameter bit ReadsMayFail = 1'b0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // This is the port of the manager.
  input  axil_req_t  axil_i,
  output axil_resp_t axil_o,
  // This is the port of the register block.
  output axil_req_t  regs_o,
  input  axil_resp_t regs_i,
  // The owner refuses the open access. This comes before the response at the latest.
  input  logic       refuses_i
);
  // The last address of the page has no register, so an access to it is an error.
  localparam logic [11:0] NoRegister = 12'hffc;

  // The register block decodes words only. An unaligned address selects no register.
  function automatic logic [11:0] register_at(logic [11:0] address);
    return address[1:0] == 2'b00 ? address : NoRegister;
  endfunction

  // `busy_q` is set while an access is open, and `refused_q` if the owner has refused it.
  logic busy_d, busy_q, refused_d, refused_q, takes_write, takes_read;
  assign takes_write = ~busy_q & axil_i.aw_valid & axil_i.w_valid & regs_i.aw_ready & regs_i.w_ready;
  assign takes_read  = ~busy_q & axil_i.ar_valid & ~(axil_i.aw_valid & axil_i.w_valid) & regs_i.ar_ready;

  assign regs_o = '{
    aw_valid: takes_write, aw_addr: register_at(axil_i.aw_addr),
    w_valid:  takes_write, w_data:  axil_i.w_data, w_strb: axil_i.w_strb,
    b_ready:  axil_i.b_ready,
    ar_valid: takes_read, ar_addr: register_at(axil_i.ar_addr),
    r_ready:  axil_i.r_ready
  };

  // A refusal has priority over the OKAY of the register block.
  logic hides;
  assign hides  = ReadsMayFail & (refused_q | ~regs_i.r_valid);
  assign axil_o = '{
    aw_ready: takes_write,
    w_ready:  takes_write,
    b_valid:  regs_i.b_valid,
    b_resp:   refused_q ? RespSlverr : regs_i.b_resp,
    ar_ready: takes_read,
    r_valid:  regs_i.r_valid,
    r_data:   hides ? '0 : regs_i.r_data,
    r_resp:   ReadsMayFail && refused_q ? RespSlverr : regs_i.r_resp
  };

  // A refusal is kept until its response is taken.
  always_comb begin
    busy_d    = busy_q | takes_write | takes_read;
    refused_d = refused_q | refuses_i;
    if ((regs_i.b_valid & axil_i.b_ready) | (regs_i.r_valid & axil_i.r_ready)) begin
      busy_d    = 1'b0;
      refused_d = 1'b0;
    end
  end

  flop_cell #(.Width(1)) u_busy    (.clk_i, .rst_ni, .d_i(busy_d),    .q_o(busy_q));
  flop_cell #(.Width(1)) u_refused (.clk_i, .rst_ni, .d_i(refused_d), .q_o(refused_q));

`ifndef SYNTHESIS
  // These are the rules of AXI4-Lite at the port of the manager.
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // Every refusal is an error for the manager, and a refused read shows zeros.
  `ASSERT(ARefusalIsAnError_A, refuses_i |=> (axil_o.b_valid && axil_o.b_resp == RespSlverr) ||
          (ReadsMayFail && axil_o.r_valid && axil_o.r_resp == RespSlverr && axil_o.r_data == '0))
  // No access is taken while another one is open, so a refusal belongs to one access.
  `ASSERT(OneAccessAtATime_A, busy_q |-> !axil_o.aw_ready && !axil_o.w_ready && !axil_o.ar_ready)
  // A response belongs to an access that was taken. (Registers have any value before the first reset.)
  `ASSERT(NoAnswerUnasked_A, 1'b1 |=> !(axil_o.b_valid || axil_o.r_valid) || busy_q)
  // A write never uses data of another one.
  `ASSERT(AWriteIsTakenWhole_A, axil_o.aw_ready == axil_o.w_ready)
  // A refusal is not reported twice.
  `ASSERT(ARefusalIsForOneAccess_A, axil_o.b_valid && axil_i.b_ready |=> !refused_q)
  // A word that was read before does not stay on the bus.
  `ASSERT(NothingIsShownUnasked_A, ReadsMayFail && !axil_o.r_valid |-> axil_o.r_data == '0)
endmodule
