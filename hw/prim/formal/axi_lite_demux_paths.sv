// This is `axi_lite_demux` with a port for each handshake, for the search for paths from a ready to a valid, which finds
// ports by their names.

module axi_lite_demux_paths
  import hartlock_axi_pkg::*;
#(
  parameter int unsigned NumTargets = 2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [NumTargets-1:0] aw_select_i,
  input  logic [NumTargets-1:0] ar_select_i,

  // These ports are handshakes of the manager.
  input  logic                  aw_valid_i,
  output logic                  aw_ready_o,
  input  logic                  w_valid_i,
  output logic                  w_ready_o,
  output logic                  b_valid_o,
  input  logic                  b_ready_i,
  input  logic                  ar_valid_i,
  output logic                  ar_ready_o,
  output logic                  r_valid_o,
  input  logic                  r_ready_i,

  // These ports are handshakes of the targets.
  output logic [NumTargets-1:0] target_aw_valid_o,
  input  logic [NumTargets-1:0] target_aw_ready_i,
  output logic [NumTargets-1:0] target_w_valid_o,
  input  logic [NumTargets-1:0] target_w_ready_i,
  input  logic [NumTargets-1:0] target_b_valid_i,
  output logic [NumTargets-1:0] target_b_ready_o,
  output logic [NumTargets-1:0] target_ar_valid_o,
  input  logic [NumTargets-1:0] target_ar_ready_i,
  input  logic [NumTargets-1:0] target_r_valid_i,
  output logic [NumTargets-1:0] target_r_ready_o
);
  axil_req_t                   request;
  axil_resp_t                  response;
  axil_req_t  [NumTargets-1:0] target_request;
  axil_resp_t [NumTargets-1:0] target_response;

  assign request = '{
    aw_valid: aw_valid_i, aw_addr: '0, w_valid: w_valid_i, w_data: '0, w_strb: '0, b_ready: b_ready_i,
    ar_valid: ar_valid_i, ar_addr: '0, r_ready: r_ready_i
  };
  assign {aw_ready_o, w_ready_o, b_valid_o} = {response.aw_ready, response.w_ready, response.b_valid};
  assign {ar_ready_o, r_valid_o}            = {response.ar_ready, response.r_valid};

  for (genvar target = 0; target < NumTargets; target++) begin : gen_target
    assign target_response[target] = '{
      aw_ready: target_aw_ready_i[target], w_ready: target_w_ready_i[target],
      b_valid: target_b_valid_i[target], b_resp: '0, ar_ready: target_ar_ready_i[target],
      r_valid: target_r_valid_i[target], r_data: '0, r_resp: '0
    };
    assign target_aw_valid_o[target] = target_request[target].aw_valid;
    assign target_w_valid_o[target]  = target_request[target].w_valid;
    assign target_b_ready_o[target]  = target_request[target].b_ready;
    assign target_ar_valid_o[target] = target_request[target].ar_valid;
    assign target_r_ready_o[target]  = target_request[target].r_ready;
  end

  axi_lite_demux #(.NumTargets(NumTargets)) u_demux (
    .clk_i, .rst_ni, .aw_select_i, .ar_select_i,
    .axil_i(request), .axil_o(response), .target_o(target_request), .target_i(target_response)
  );
endmodule
