// The boot sequencer on AXI4-Lite: its core with a register block (../doc/README.md).
//
// The register block is produced by a generator and answers every write to an external register
// with OKAY. A write that the core refuses has to be an error for the manager. So one access is
// outstanding at a time, and its response carries the refusal. A read takes two cycles from the
// cycle in which its address is taken; address and data of a write are taken together. Reset holds
// the host in reset and forgets an open access.
//
// Hardening is that of `boot_sequencer_core`. The register that keeps a refusal is not redundant;
// it only decides on a response.
//
// The origin of a write is not checked: the bus has one manager, the core of the root of trust.

`include "assert.svh"

module boot_sequencer #(
  // 0 builds a core that continues from an illegal state, to show that the test detects it.
  parameter bit Hardened = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Write address.
  input  logic        axil_awvalid_i,
  output logic        axil_awready_o,
  input  logic [11:0] axil_awaddr_i,
  input  logic [2:0]  axil_awprot_i,
  // Write data.
  input  logic        axil_wvalid_i,
  output logic        axil_wready_o,
  input  logic [31:0] axil_wdata_i,
  input  logic [3:0]  axil_wstrb_i,
  // Write response.
  output logic        axil_bvalid_o,
  input  logic        axil_bready_i,
  output logic [1:0]  axil_bresp_o,
  // Read address.
  input  logic        axil_arvalid_i,
  output logic        axil_arready_o,
  input  logic [11:0] axil_araddr_i,
  input  logic [2:0]  axil_arprot_i,
  // Read data and response.
  output logic        axil_rvalid_o,
  input  logic        axil_rready_i,
  output logic [31:0] axil_rdata_o,
  output logic [1:0]  axil_rresp_o,

  // The core of the root of trust has detected a fault of its own. This puts the host into reset.
  input  logic        fault_i,

  // Reset of the host: asserted asynchronously, released with the clock.
  output logic        host_rst_no,
  // Every fetch of the host fails while this is set.
  output logic        host_trap_o,
  // The status as in its register, and the reason, for pins and for the debugger.
  output logic [2:0]  status_o,
  output logic [31:0] reason_o
);
  // The code of an error (AMBA AXI §A3.4.4).
  localparam logic [1:0] RespSlverr = 2'b10;
  // The last address of the page has no register, so an access to it is an error.
  localparam logic [11:0] NoRegister = 12'hffc;

  boot_sequencer_regs_pkg::boot_sequencer__in_t  regs_in;
  boot_sequencer_regs_pkg::boot_sequencer__out_t regs_out;

  // One access is open at a time: a write is taken as soon as its address and its data are valid,
  // otherwise a read.
  logic busy_d, busy_q, takes_write, takes_read;
  logic write_ready, data_ready, read_ready;
  assign takes_write    = ~busy_q & axil_awvalid_i & axil_wvalid_i & write_ready & data_ready;
  assign takes_read     = ~busy_q & axil_arvalid_i & ~(axil_awvalid_i & axil_wvalid_i) & read_ready;
  assign axil_awready_o = takes_write;
  assign axil_wready_o  = takes_write;
  assign axil_arready_o = takes_read;

  // A refusal is kept until its response is taken.
  logic refuses, refused_d, refused_q;
  always_comb begin
    busy_d    = busy_q | takes_write | takes_read;
    refused_d = refused_q | refuses;
    if ((axil_bvalid_o & axil_bready_i) | (axil_rvalid_o & axil_rready_i)) begin
      busy_d    = 1'b0;
      refused_d = 1'b0;
    end
  end

  // State of the open access: `busy_q` is set until its response is taken, and `refused_q` if the
  // core refused it. The register block answers a write in the cycle after it was taken at the
  // earliest, so a refusal of that cycle is in time for the response.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q    <= 1'b0;
      refused_q <= 1'b0;
    end else begin
      busy_q    <= busy_d;
      refused_q <= refused_d;
    end
  end

  // The error of the core has priority over the OKAY of the register block.
  logic [1:0] bresp;
  assign axil_bresp_o = refused_q ? RespSlverr : bresp;

  // The register block decodes words only. An unaligned address selects no register.
  function automatic logic [11:0] register_at(logic [11:0] address);
    return address[1:0] == 2'b00 ? address : NoRegister;
  endfunction

  // Generated from data/boot_sequencer.rdl. All three registers are in the core, so every write
  // passes the checks of the core.
  boot_sequencer_regs u_regs (
    .clk            (clk_i),
    .arst_n         (rst_ni),
    .s_axil_awready (write_ready),
    .s_axil_awvalid (takes_write),
    .s_axil_awaddr  (register_at(axil_awaddr_i)),
    .s_axil_awprot  (axil_awprot_i),
    .s_axil_wready  (data_ready),
    .s_axil_wvalid  (takes_write),
    .s_axil_wdata   (axil_wdata_i),
    .s_axil_wstrb   (axil_wstrb_i),
    .s_axil_bready  (axil_bready_i),
    .s_axil_bvalid  (axil_bvalid_o),
    .s_axil_bresp   (bresp),
    .s_axil_arready (read_ready),
    .s_axil_arvalid (takes_read),
    .s_axil_araddr  (register_at(axil_araddr_i)),
    .s_axil_arprot  (axil_arprot_i),
    .s_axil_rready  (axil_rready_i),
    .s_axil_rvalid  (axil_rvalid_o),
    .s_axil_rdata   (axil_rdata_o),
    .s_axil_rresp   (axil_rresp_o),
    .hwif_in        (regs_in),
    .hwif_out       (regs_out)
  );

  // Reads of these registers are requests as well, but they are no commands.
  logic decides, explains;
  assign decides  = regs_out.decision.req & regs_out.decision.req_is_wr;
  assign explains = regs_out.reason.req & regs_out.reason.req_is_wr;

  // Both registers see the same word of the bus.
  boot_sequencer_core #(.Hardened(Hardened)) u_core (
    .clk_i,
    .rst_ni,
    .decide_i    (decides),
    .explain_i   (explains),
    .word_i      (decides ? regs_out.decision.wr_data.word : regs_out.reason.wr_data.value),
    .is_whole_i  (decides ? &regs_out.decision.wr_biten.word : &regs_out.reason.wr_biten.value),
    .fault_i,
    .refuses_o   (refuses),
    .host_rst_no,
    .host_trap_o,
    .status_o,
    .reason_o
  );

  // The register block waits for an acknowledgement of each external access. It comes in the same cycle, for refused
  // writes as well: a refused access must end, too.
  always_comb begin
    regs_in.decision.wr_ack      = decides;
    regs_in.reason.wr_ack        = explains;
    regs_in.reason.rd_ack        = regs_out.reason.req & ~regs_out.reason.req_is_wr;
    regs_in.reason.rd_data.value = reason_o;
    regs_in.status.state.next    = status_o;
  end

`ifndef SYNTHESIS
  axi_lite_checks #(.AddrBits(12)) u_checks (
    .clk_i,
    .rst_ni,
    .awvalid_i (axil_awvalid_i),
    .awready_i (axil_awready_o),
    .awaddr_i  (axil_awaddr_i),
    .wvalid_i  (axil_wvalid_i),
    .wready_i  (axil_wready_o),
    .wdata_i   (axil_wdata_i),
    .wstrb_i   (axil_wstrb_i),
    .bvalid_i  (axil_bvalid_o),
    .bready_i  (axil_bready_i),
    .bresp_i   (axil_bresp_o),
    .arvalid_i (axil_arvalid_i),
    .arready_i (axil_arready_o),
    .araddr_i  (axil_araddr_i),
    .rvalid_i  (axil_rvalid_o),
    .rready_i  (axil_rready_i),
    .rdata_i   (axil_rdata_o),
    .rresp_i   (axil_rresp_o)
  );
`endif

  // A write that the core refuses is answered with an error.
  `ASSERT(AnErrorBelongsToItsWrite_A, refuses |=> axil_bvalid_o && axil_bresp_o == RespSlverr)
  // No access is taken while another one is open, so a refusal belongs to one access.
  `ASSERT(OneAccessAtATime_A, busy_q |-> !axil_awready_o && !axil_wready_o && !axil_arready_o)
  // A response belongs to an access that was taken.
  `ASSERT(NoAnswerUnasked_A, axil_bvalid_o || axil_rvalid_o |-> busy_q)
  // A decision never uses data of another write.
  `ASSERT(AWriteIsTakenWhole_A, axil_awready_o == axil_wready_o)
  // A refusal is not reported twice.
  `ASSERT(ARefusalIsForOneAccess_A, axil_bvalid_o && axil_bready_i |=> !refused_q)
endmodule
