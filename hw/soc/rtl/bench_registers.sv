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
// Interface: AXI4-Lite by `axi_lite_registers`, one address for reads and writes. An access takes
// one cycle, and its response follows in the next one. Reset clears the cycles.

`include "assert.svh"

module bench_registers (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The port.
  // Write address.
  input  logic        aw_valid_i,
  output logic        aw_ready_o,
  // Write data.
  input  logic        w_valid_i,
  output logic        w_ready_o,
  // Write response.
  output logic        b_valid_o,
  input  logic        b_ready_i,
  // Read address.
  input  logic        ar_valid_i,
  output logic        ar_ready_o,
  // Read data and response.
  output logic        r_valid_o,
  input  logic        r_ready_i,
  output logic [31:0] r_data_o,
  input  logic [11:0] addr_i,
  input  logic [31:0] w_data_i,
  input  logic [3:0]  w_strb_i,

  // A register was written in this cycle. The bench decodes the offset.
  output logic        write_o,
  output logic [11:0] write_addr_o,
  output logic [31:0] write_data_o
);
  // Cycles since reset.
  logic [31:0] cycles_q;
  // Inputs that a page without errors and without read strobes does not use.
  logic        unused_read;
  logic [1:0]  unused_b_resp, unused_r_resp;
  logic [11:0] unused_read_addr;

  // Free running from reset on, so that programs can measure themselves without a counter of the core.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cycles_q <= '0;
    else         cycles_q <= cycles_q + 1'b1;
  end

  // Every write is passed to the bench, which decodes the offset; every read gets the cycles. Nothing here is an
  // error, so that a program under test cannot fail because of its own measurement.
  axi_lite_registers u_registers (
    .clk_i,
    .rst_ni,
    .aw_valid_i, .aw_ready_o,
    .aw_addr_i    (addr_i),
    .w_valid_i, .w_ready_o, .w_data_i, .w_strb_i,
    .b_valid_o, .b_ready_i,
    .b_resp_o     (unused_b_resp),
    .ar_valid_i, .ar_ready_o,
    .ar_addr_i    (addr_i),
    .r_valid_o, .r_ready_i, .r_data_o,
    .r_resp_o     (unused_r_resp),
    .write_o, .write_addr_o, .write_data_o,
    .write_err_i  (1'b0),
    .read_o       (unused_read),
    .read_addr_o  (unused_read_addr),
    .read_data_i  (cycles_q),
    .read_err_i   (1'b0)
  );

  // A write has data, so the bench does not see those of an earlier one.
  `ASSERT(WritesCarryAWord_A, write_o |-> w_valid_i)
  // The bench sees the offset and the data of this write.
  `ASSERT(AWriteIsItsOwn_A, write_o |-> write_addr_o == addr_i && write_data_o == w_data_i)
  // The count of cycles has no gaps, so differences are times.
  `ASSERT(CyclesGoOn_A, 1'b1 |=> cycles_q == $past(cycles_q) + 1'b1)
endmodule
