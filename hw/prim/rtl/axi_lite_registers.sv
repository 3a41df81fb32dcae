// Converts AXI4-Lite to plain accesses of registers, for blocks that have a handful of them.
//
// An access takes one cycle: `read_o` or `write_o` with the address, answered in the same cycle. A
// read and a write may be in the same cycle. The response follows in the next cycle and stays until
// the manager takes it; one access a cycle is possible in each direction. Reset forgets open
// responses. Nothing here is hardened.

`include "assert.svh"

module axi_lite_registers
  import hartlock_axi_pkg::*;
#(
  // 0 builds a variant that takes partial words for whole ones, to show that the test detects it.
  parameter bit          WordsOnly   = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // The registers, AXI4-Lite.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // An access, in the cycle in which it happens. With `err` it is answered with SLVERR.
  output logic        write_o,
  output logic [11:0] write_addr_o,
  output logic [31:0] write_data_o,
  input  logic        write_err_i,
  output logic        read_o,
  output logic [11:0] read_addr_o,
  input  logic [31:0] read_data_i,
  input  logic        read_err_i
);
  // The response of each direction.
  logic        b_valid_d, b_valid_q, b_err_d, b_err_q, r_valid_d, r_valid_q, r_err_d, r_err_q;
  logic [31:0] r_data_d, r_data_q;
  logic        is_whole;

  // Address and data are taken together, as soon as the previous response is taken.
  assign axil_o.aw_ready   = axil_i.aw_valid & axil_i.w_valid & (~b_valid_q | axil_i.b_ready);
  assign axil_o.w_ready    = axil_o.aw_ready;
  assign axil_o.ar_ready   = ~r_valid_q | axil_i.r_ready;

  // Registers are written as whole words: a partial command is an error.
  assign is_whole     = axil_i.w_strb == 4'hf || !WordsOnly;
  assign write_o      = axil_i.aw_valid & axil_o.aw_ready & is_whole;
  // The owner checks the address bits below a word: an illegal offset is an error.
  assign write_addr_o = axil_i.aw_addr;
  assign write_data_o = axil_i.w_data;
  assign read_o       = axil_i.ar_valid & axil_o.ar_ready;
  assign read_addr_o  = axil_i.ar_addr;

  // One response register for each direction. It fills in the cycle of an access and empties when the manager
  // takes the response; an access in that same cycle fills it again, so that none is lost. Data of a refused
  // read are cleared: a register that may not be read must not show through the bus.
  // A response stays until it is taken (AMBA AXI §A3.2.1).
  assign b_valid_d = axil_o.aw_ready | (b_valid_q & ~axil_i.b_ready);
  assign b_err_d   = axil_o.aw_ready ? write_err_i | ~is_whole : b_err_q;
  assign r_valid_d = read_o | (r_valid_q & ~axil_i.r_ready);
  assign r_err_d   = read_o ? read_err_i : r_err_q;
  assign r_data_d  = !read_o ? r_data_q : read_err_i ? '0 : read_data_i;
  flop_cell #(.Width(2)) u_write (
    .clk_i, .rst_ni, .d_i({b_valid_d, b_err_d}), .q_o({b_valid_q, b_err_q})
  );
  flop_cell #(.Width(34)) u_read (
    .clk_i, .rst_ni, .d_i({r_valid_d, r_err_d, r_data_d}), .q_o({r_valid_q, r_err_q, r_data_q})
  );

  assign axil_o.b_valid = b_valid_q;
  assign axil_o.b_resp  = b_err_q ? RespSlverr : RespOkay;
  assign axil_o.r_valid = r_valid_q;
  assign axil_o.r_data  = r_data_q;
  assign axil_o.r_resp  = r_err_q ? RespSlverr : RespOkay;

  // AMBA AXI §A3.2.1: a response stays until it is taken.
  `ASSERT(BWaitsForReady_A, axil_o.b_valid && !axil_i.b_ready |=> axil_o.b_valid && $stable(axil_o.b_resp))
  `ASSERT(RWaitsForReady_A, axil_o.r_valid && !axil_i.r_ready |=> axil_o.r_valid && $stable(axil_o.r_data))
  // No access is lost: each has a response in the next cycle.
  `ASSERT(EveryWriteIsAnswered_A, write_o |=> axil_o.b_valid)
  `ASSERT(EveryReadIsAnswered_A, read_o |=> axil_o.r_valid)
  // A block never sees a part of a word as a whole one.
  `ASSERT(OnlyWholeWordsAreWritten_A, write_o && WordsOnly |-> axil_i.w_strb == 4'hf)
  // A read that a block refuses shows none of its bits on the bus. (Registers have any value before the first reset.)
  `ASSERT(ARefusedReadShowsNothing_A,
          1'b1 |=> !(axil_o.r_valid && axil_o.r_resp != RespOkay) || axil_o.r_data == '0)
endmodule
