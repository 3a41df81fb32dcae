// This is `axi_lite_registers` with a port for each handshake, for the search for paths from a ready to a valid, which
// finds ports by their names.

module axi_lite_registers_paths
  import hartlock_axi_pkg::*;
(
  input  logic clk_i,
  input  logic rst_ni,

  // These ports are handshakes of the manager.
  input  logic aw_valid_i,
  output logic aw_ready_o,
  input  logic w_valid_i,
  output logic w_ready_o,
  output logic b_valid_o,
  input  logic b_ready_i,
  input  logic ar_valid_i,
  output logic ar_ready_o,
  output logic r_valid_o,
  input  logic r_ready_i,

  // These ports are accesses of the registers.
  output logic write_o,
  input  logic write_err_i,
  output logic read_o,
  input  logic read_err_i
);
  axil_req_t   request;
  axil_resp_t  response;
  logic [11:0] unused_write_addr, unused_read_addr;
  logic [31:0] unused_write_data;

  assign request = '{
    aw_valid: aw_valid_i, aw_addr: '0, w_valid: w_valid_i, w_data: '0, w_strb: '1, b_ready: b_ready_i,
    ar_valid: ar_valid_i, ar_addr: '0, r_ready: r_ready_i
  };
  assign {aw_ready_o, w_ready_o, b_valid_o} = {response.aw_ready, response.w_ready, response.b_valid};
  assign {ar_ready_o, r_valid_o}            = {response.ar_ready, response.r_valid};

  axi_lite_registers u_registers (
    .clk_i, .rst_ni, .axil_i(request), .axil_o(response),
    .write_o, .write_addr_o(unused_write_addr), .write_data_o(unused_write_data), .write_err_i,
    .read_o, .read_addr_o(unused_read_addr), .read_data_i('0), .read_err_i
  );
endmodule
