// Registers by which a program on the root of trust talks to the bench: console, end, marks. They
// are no part of a chip.
//
// | offset | name | access | |
// |---|---|---|---|
// | 0x0 | CONSOLE | w | a character |
// | 0x4 | EXIT | w | ends the run with this code; 0 is success |
// | 0x8 | MARK | w | a number into the trace, where it belongs |
// | 0xc | CYCLES | r | cycles since reset, lower half |
//
// Interface: AXI4-Lite by `axi_lite_registers`. An access takes one cycle, and its response follows
// in the next one. Reset clears the cycles.

`include "assert.svh"

module bench_registers
  import hartlock_axi_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  // The registers, AXI4-Lite.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // A register was written in this cycle. The bench decodes the offset.
  output logic        write_o,
  output logic [11:0] write_addr_o,
  output logic [31:0] write_data_o
);
  // Cycles since reset.
  logic [31:0] cycles_q;
  // Inputs that a page without errors and without read strobes does not use.
  logic        unused_read;
  logic [11:0] unused_read_addr;

  // Free running from reset on, so that programs can measure themselves without a counter of the core.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cycles_q <= '0;
    else         cycles_q <= cycles_q + 1'b1;
  end

  // Every write is passed to the bench, which decodes the offset; every read gets the cycles. Nothing here is an
  // error, so that a program under test cannot fail because of its own measurement.
  axil_resp_t resp;
  axi_lite_registers u_registers (
    .clk_i,
    .rst_ni,
    .axil_i       (axil_i),
    .axil_o       (resp),
    .write_o, .write_addr_o, .write_data_o,
    .write_err_i  (1'b0),
    .read_o       (unused_read),
    .read_addr_o  (unused_read_addr),
    .read_data_i  (cycles_q),
    .read_err_i   (1'b0)
  );

  always_comb begin
    axil_o        = resp;
    axil_o.b_resp = RespOkay;
    axil_o.r_resp = RespOkay;
  end
  logic unused_resp;
  assign unused_resp = ^{resp.b_resp, resp.r_resp};

  // A write has data, so the bench does not see those of an earlier one.
  `ASSERT(WritesCarryAWord_A, write_o |-> axil_i.w_valid)
  // The bench sees the offset and the data of this write.
  `ASSERT(AWriteIsItsOwn_A, write_o |-> write_addr_o == axil_i.aw_addr && write_data_o == axil_i.w_data)
  // The count of cycles has no gaps, so differences are times.
  `ASSERT(CyclesGoOn_A, 1'b1 |=> cycles_q == $past(cycles_q) + 1'b1)
endmodule
