// Converts AXI4-Lite to plain accesses of registers, for blocks that have a handful of them.
//
// An access takes one cycle: `read_o` or `write_o` with the address, answered in the same cycle. A
// read and a write may be in the same cycle. The response follows in the next cycle and stays until
// the manager takes it; one access a cycle is possible in each direction. Reset forgets open
// responses. Nothing here is hardened.

`include "assert.svh"

module axi_lite_registers
  import soc_pkg::*;
#(
  // Bits of an address, in bytes.
  parameter int unsigned AddressBits = 12,
  // 0 builds a variant that takes partial words for whole ones, to show that the test detects it.
  parameter bit          WordsOnly   = 1'b1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // Write address.
  input  logic                   aw_valid_i,
  output logic                   aw_ready_o,
  input  logic [AddressBits-1:0] aw_addr_i,
  // Write data.
  input  logic                   w_valid_i,
  output logic                   w_ready_o,
  input  logic [31:0]            w_data_i,
  input  logic [3:0]             w_strb_i,
  // Write response.
  output logic                   b_valid_o,
  input  logic                   b_ready_i,
  output logic [1:0]             b_resp_o,
  // Read address.
  input  logic                   ar_valid_i,
  output logic                   ar_ready_o,
  input  logic [AddressBits-1:0] ar_addr_i,
  // Read data and response.
  output logic                   r_valid_o,
  input  logic                   r_ready_i,
  output logic [31:0]            r_data_o,
  output logic [1:0]             r_resp_o,

  // An access, in the cycle in which it happens. With `err` it is answered with SLVERR.
  output logic                   write_o,
  output logic [AddressBits-1:0] write_addr_o,
  output logic [31:0]            write_data_o,
  input  logic                   write_err_i,
  output logic                   read_o,
  output logic [AddressBits-1:0] read_addr_o,
  input  logic [31:0]            read_data_i,
  input  logic                   read_err_i
);
  // The response of each direction.
  logic        b_valid_q, b_err_q, r_valid_q, r_err_q;
  logic [31:0] r_data_q;
  logic        is_whole;

  // Address and data are taken together, as soon as the previous response is taken.
  assign aw_ready_o   = aw_valid_i & w_valid_i & (~b_valid_q | b_ready_i);
  assign w_ready_o    = aw_ready_o;
  assign ar_ready_o   = ~r_valid_q | r_ready_i;

  // Registers are written as whole words: a partial command is an error.
  assign is_whole     = w_strb_i == 4'hf || !WordsOnly;
  assign write_o      = aw_valid_i & aw_ready_o & is_whole;
  // The owner checks the address bits below a word: an illegal offset is an error.
  assign write_addr_o = aw_addr_i;
  assign write_data_o = w_data_i;
  assign read_o       = ar_valid_i & ar_ready_o;
  assign read_addr_o  = ar_addr_i;

  // One response register for each direction. It fills in the cycle of an access and empties when the manager
  // takes the response; an access in that same cycle fills it again, so that none is lost. Data of a refused
  // read are cleared: a register that may not be read must not show through the bus.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
      b_err_q   <= 1'b0;
      r_valid_q <= 1'b0;
      r_err_q   <= 1'b0;
      r_data_q  <= '0;
    end else begin
      // A response stays until it is taken (AMBA AXI §A3.2.1).
      if (aw_ready_o) begin
        b_valid_q <= 1'b1;
        b_err_q   <= write_err_i | ~is_whole;
      end else if (b_ready_i) begin
        b_valid_q <= 1'b0;
      end
      if (read_o) begin
        r_valid_q <= 1'b1;
        r_err_q   <= read_err_i;
        r_data_q  <= read_err_i ? '0 : read_data_i;
      end else if (r_ready_i) begin
        r_valid_q <= 1'b0;
      end
    end
  end

  assign b_valid_o = b_valid_q;
  assign b_resp_o  = b_err_q ? RespSlverr : RespOkay;
  assign r_valid_o = r_valid_q;
  assign r_data_o  = r_data_q;
  assign r_resp_o  = r_err_q ? RespSlverr : RespOkay;

  // AMBA AXI §A3.2.1: a response stays until it is taken.
  `ASSERT(BWaitsForReady_A, b_valid_o && !b_ready_i |=> b_valid_o && $stable(b_resp_o))
  `ASSERT(RWaitsForReady_A, r_valid_o && !r_ready_i |=> r_valid_o && $stable(r_data_o))
  // No access is lost: each has a response in the next cycle.
  `ASSERT(EveryWriteIsAnswered_A, write_o |=> b_valid_o)
  `ASSERT(EveryReadIsAnswered_A, read_o |=> r_valid_o)
  // A block never sees a part of a word as a whole one.
  `ASSERT(OnlyWholeWordsAreWritten_A, write_o && WordsOnly |-> w_strb_i == 4'hf)
  // A read that a block refuses shows none of its bits on the bus.
  `ASSERT(ARefusedReadShowsNothing_A, r_valid_o && r_resp_o != RespOkay |-> r_data_o == '0)
endmodule
