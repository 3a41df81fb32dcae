// A wire of AXI4-Lite, for tests of the drivers at its ends (axi_lite.py) and of the observer (axi_lite_checks).
//
// A test is manager on one end and subordinate on the other. When one of them breaks a rule, the observer has to
// name the rule and the side at fault.

`include "assert.svh"

module axi_lite_wire (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Write address.
  input  logic        up_awvalid_i,
  output logic        up_awready_o,
  input  logic [31:0] up_awaddr_i,
  input  logic [2:0]  up_awprot_i,
  // Write data.
  input  logic        up_wvalid_i,
  output logic        up_wready_o,
  input  logic [31:0] up_wdata_i,
  input  logic [3:0]  up_wstrb_i,
  // Write response.
  output logic        up_bvalid_o,
  input  logic        up_bready_i,
  output logic [1:0]  up_bresp_o,
  // Read address.
  input  logic        up_arvalid_i,
  output logic        up_arready_o,
  input  logic [31:0] up_araddr_i,
  input  logic [2:0]  up_arprot_i,
  // Read data and response.
  output logic        up_rvalid_o,
  input  logic        up_rready_i,
  output logic [31:0] up_rdata_o,
  output logic [1:0]  up_rresp_o,
  // Write address.
  output logic        down_awvalid_o,
  input  logic        down_awready_i,
  output logic [31:0] down_awaddr_o,
  output logic [2:0]  down_awprot_o,
  // Write data.
  output logic        down_wvalid_o,
  input  logic        down_wready_i,
  output logic [31:0] down_wdata_o,
  output logic [3:0]  down_wstrb_o,
  // Write response.
  input  logic        down_bvalid_i,
  output logic        down_bready_o,
  input  logic [1:0]  down_bresp_i,
  // Read address.
  output logic        down_arvalid_o,
  input  logic        down_arready_i,
  output logic [31:0] down_araddr_o,
  output logic [2:0]  down_arprot_o,
  // Read data and response.
  input  logic        down_rvalid_i,
  output logic        down_rready_o,
  input  logic [31:0] down_rdata_i,
  input  logic [1:0]  down_rresp_i
);
  // The wire stores and changes nothing: one of both ends breaks every rule that is broken here.
  assign down_awvalid_o = up_awvalid_i;
  assign up_awready_o = down_awready_i;
  assign down_awaddr_o = up_awaddr_i;
  assign down_awprot_o = up_awprot_i;
  assign down_wvalid_o = up_wvalid_i;
  assign up_wready_o = down_wready_i;
  assign down_wdata_o = up_wdata_i;
  assign down_wstrb_o = up_wstrb_i;
  assign up_bvalid_o = down_bvalid_i;
  assign down_bready_o = up_bready_i;
  assign up_bresp_o = down_bresp_i;
  assign down_arvalid_o = up_arvalid_i;
  assign up_arready_o = down_arready_i;
  assign down_araddr_o = up_araddr_i;
  assign down_arprot_o = up_arprot_i;
  assign up_rvalid_o = down_rvalid_i;
  assign down_rready_o = up_rready_i;
  assign up_rdata_o = down_rdata_i;
  assign up_rresp_o = down_rresp_i;

  // The observer under test.
  axi_lite_checks u_checks (
    .clk_i,
    .rst_ni,
    .awvalid_i (up_awvalid_i),
    .awready_i (up_awready_o),
    .awaddr_i  (up_awaddr_i),
    .wvalid_i  (up_wvalid_i),
    .wready_i  (up_wready_o),
    .wdata_i   (up_wdata_i),
    .wstrb_i   (up_wstrb_i),
    .bvalid_i  (up_bvalid_o),
    .bready_i  (up_bready_i),
    .bresp_i   (up_bresp_o),
    .arvalid_i (up_arvalid_i),
    .arready_i (up_arready_o),
    .araddr_i  (up_araddr_i),
    .rvalid_i  (up_rvalid_o),
    .rready_i  (up_rready_i),
    .rdata_i   (up_rdata_o),
    .rresp_i   (up_rresp_o)
  );

  `ASSERT(NothingIsLost_A, down_awvalid_o == up_awvalid_i && up_rvalid_o == down_rvalid_i)
endmodule
