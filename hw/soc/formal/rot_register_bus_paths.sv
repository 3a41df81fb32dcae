// This is `rot_register_bus` with a port for each handshake of its blocks, for the search for paths from a ready to a
// valid, which finds ports by their names.

module rot_register_bus_paths
  import hartlock_axi_pkg::*;
#(
  parameter int unsigned NumBlocks = 2
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  // These ports are those of the core.
  input  logic                 req_i,
  output logic                 gnt_o,
  input  logic                 we_i,
  input  logic [3:0]           be_i,
  input  logic [31:0]          addr_i,
  input  logic [31:0]          wdata_i,
  output logic                 rvalid_o,
  output logic [31:0]          rdata_o,
  output logic                 err_o,

  // These ports are handshakes of the blocks.
  output logic [NumBlocks-1:0] block_aw_valid_o,
  input  logic [NumBlocks-1:0] block_aw_ready_i,
  output logic [NumBlocks-1:0] block_w_valid_o,
  input  logic [NumBlocks-1:0] block_w_ready_i,
  input  logic [NumBlocks-1:0] block_b_valid_i,
  output logic [NumBlocks-1:0] block_b_ready_o,
  output logic [NumBlocks-1:0] block_ar_valid_o,
  input  logic [NumBlocks-1:0] block_ar_ready_i,
  input  logic [NumBlocks-1:0] block_r_valid_i,
  output logic [NumBlocks-1:0] block_r_ready_o
);
  axil_req_t  [NumBlocks-1:0] request;
  axil_resp_t [NumBlocks-1:0] response;

  for (genvar block = 0; block < NumBlocks; block++) begin : gen_block
    assign response[block] = '{
      aw_ready: block_aw_ready_i[block], w_ready: block_w_ready_i[block],
      b_valid: block_b_valid_i[block], b_resp: '0, ar_ready: block_ar_ready_i[block],
      r_valid: block_r_valid_i[block], r_data: '0, r_resp: '0
    };
    assign block_aw_valid_o[block] = request[block].aw_valid;
    assign block_w_valid_o[block]  = request[block].w_valid;
    assign block_b_ready_o[block]  = request[block].b_ready;
    assign block_ar_valid_o[block] = request[block].ar_valid;
    assign block_r_ready_o[block]  = request[block].r_ready;
  end

  rot_register_bus #(.NumBlocks(NumBlocks)) u_bus (
    .clk_i, .rst_ni, .req_i, .gnt_o, .we_i, .be_i, .addr_i, .wdata_i, .rvalid_o, .rdata_o, .err_o,
    .block_o(request), .block_i(response)
  );
endmodule
