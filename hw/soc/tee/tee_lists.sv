// Lists of the DMA engine: 1 KiB of words that the host writes and the engine reads, by a port of its own.

`include "machine_assert.svh"

module tee_lists
  import soc_pkg::*;
  import tee_axi_pkg::*;
(
  input  logic                clk_i,
  input  logic                rst_ni,

  // Write address.
  input  logic                aw_valid_i,
  output logic                aw_ready_o,
  input  logic [11:0]         aw_addr_i,
  // Write data.
  input  logic                w_valid_i,
  output logic                w_ready_o,
  input  logic [31:0]         w_data_i,
  input  logic [3:0]          w_strb_i,
  // Write response.
  output logic                b_valid_o,
  input  logic                b_ready_i,
  output logic [1:0]          b_resp_o,
  // Read address.
  input  logic                ar_valid_i,
  output logic                ar_ready_o,
  input  logic [11:0]        ar_addr_i,
  // Read data and response.
  output logic                r_valid_o,
  input  logic                r_ready_i,
  output logic [31:0]         r_data_o,
  output logic [1:0]          r_resp_o,

  // The engine: a word is there in the next cycle.
  input  logic                list_req_i,
  output logic                list_gnt_o,
  input  logic [ListBits-3:0] list_word_i,
  output logic                list_rvalid_o,
  output logic [31:0]         list_rdata_o
);
  // The access of this cycle, and the answer to the engine.
  logic        write, read, list_rvalid_q;
  logic [11:0] write_addr, read_addr;
  logic [31:0] write_data, list_rdata_q;
  logic [31:0] mem [2**(ListBits-2)];

  // Accesses of one cycle; past the last word there is nothing.
  axi_lite_registers #(.AddressBits(12)) u_registers (
    .clk_i,
    .rst_ni,
    .aw_valid_i, .aw_ready_o, .aw_addr_i,
    .w_valid_i, .w_ready_o, .w_data_i, .w_strb_i,
    .b_valid_o, .b_ready_i, .b_resp_o,
    .ar_valid_i, .ar_ready_o, .ar_addr_i,
    .r_valid_o, .r_ready_i, .r_data_o, .r_resp_o,
    .write_o      (write),
    .write_addr_o (write_addr),
    .write_data_o (write_data),
    .write_err_i  (write_addr[11:ListBits] != '0),
    .read_o       (read),
    .read_addr_o  (read_addr),
    .read_data_i  (mem[read_addr[ListBits-1:2]]),
    .read_err_i   (read_addr[11:ListBits] != '0)
  );

  // The words have no reset: a list is written before it is read.
  always_ff @(posedge clk_i) begin
    if (write && write_addr[11:ListBits] == '0) mem[write_addr[ListBits-1:2]] <= write_data;
    if (list_req_i) list_rdata_q <= mem[list_word_i];
  end

  // Every request is granted at once.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) list_rvalid_q <= 1'b0;
    else         list_rvalid_q <= list_req_i;
  end
  // The engine copies a list before it carries it out, so that a later write changes nothing.
  assign list_gnt_o    = 1'b1;
  assign list_rvalid_o = list_rvalid_q;
  assign list_rdata_o  = list_rdata_q;

  `MACHINE_ASSERT(EveryRequestIsAnswered_A, list_req_i && list_gnt_o |=> list_rvalid_o)
  `MACHINE_ASSERT(NothingIsAnsweredUnasked_A, !list_req_i |=> !list_rvalid_o)
  `MACHINE_ASSERT(AReadIsAnswered_A, read |=> r_valid_o)
  `MACHINE_ASSERT(AWriteIsAnswered_A, write |=> b_valid_o)
endmodule
