// `axi_mux` for two masters, on bundles. Master 0 is the host, master 1 the root of trust.
//
// Data and codes of responses are those of the subordinate and reach both masters; `valid` selects
// one of them, by the leading bit of the id. Protocol, latency and reset are those of `axi_mux`.

`include "assert.svh"

module soc_mux
  import hartlock_axi_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // The masters.
  input  axi_req_t  [1:0] axi_i,
  output axi_resp_t [1:0] axi_o,
  // The subordinate.
  output axi_req_t    sub_axi_o,
  input  axi_resp_t   sub_axi_i
);
  // Separate signals are needed: in a structure, a path from a `valid` to a `ready` would be a
  // false loop for a simulator that takes a structure for one signal.
  logic [1:0] aw_ready, w_ready, b_valid, ar_ready, r_valid;
  logic [MasterIdBits-1:0] b_id, r_id;

  // The highest bit of an id is the master's number; what a master sends there is ignored.
  axi_mux #(
    .NumMasters  (2),
    .IdBits      (MasterIdBits),
    .PayloadBits ($bits(payload_t)),
    .DataBits    (64)
  ) u_mux (
    .clk_i,
    .rst_ni,
    .aw_valid_i         ({axi_i[1].aw_valid, axi_i[0].aw_valid}),
    .aw_ready_o         (aw_ready),
    .aw_id_i            ({axi_i[1].aw_id[MasterIdBits-1:0], axi_i[0].aw_id[MasterIdBits-1:0]}),
    .aw_payload_i       ({axi_i[1].aw, axi_i[0].aw}),
    .w_valid_i          ({axi_i[1].w_valid, axi_i[0].w_valid}),
    .w_ready_o          (w_ready),
    .w_data_i           ({axi_i[1].w_data, axi_i[0].w_data}),
    .w_strb_i           ({axi_i[1].w_strb, axi_i[0].w_strb}),
    .w_last_i           ({axi_i[1].w_last, axi_i[0].w_last}),
    .b_valid_o          (b_valid),
    .b_ready_i          ({axi_i[1].b_ready, axi_i[0].b_ready}),
    .ar_valid_i         ({axi_i[1].ar_valid, axi_i[0].ar_valid}),
    .ar_ready_o         (ar_ready),
    .ar_id_i            ({axi_i[1].ar_id[MasterIdBits-1:0], axi_i[0].ar_id[MasterIdBits-1:0]}),
    .ar_payload_i       ({axi_i[1].ar, axi_i[0].ar}),
    .r_valid_o          (r_valid),
    .r_ready_i          ({axi_i[1].r_ready, axi_i[0].r_ready}),
    .b_id_o             (b_id),
    .r_id_o             (r_id),
    .slave_aw_valid_o   (sub_axi_o.aw_valid),
    .slave_aw_ready_i   (sub_axi_i.aw_ready),
    .slave_aw_id_o      (sub_axi_o.aw_id),
    .slave_aw_payload_o (sub_axi_o.aw),
    .slave_w_valid_o    (sub_axi_o.w_valid),
    .slave_w_ready_i    (sub_axi_i.w_ready),
    .slave_w_data_o     (sub_axi_o.w_data),
    .slave_w_strb_o     (sub_axi_o.w_strb),
    .slave_w_last_o     (sub_axi_o.w_last),
    .slave_b_valid_i    (sub_axi_i.b_valid),
    .slave_b_ready_o    (sub_axi_o.b_ready),
    .slave_b_id_i       (sub_axi_i.b_id),
    .slave_ar_valid_o   (sub_axi_o.ar_valid),
    .slave_ar_ready_i   (sub_axi_i.ar_ready),
    .slave_ar_id_o      (sub_axi_o.ar_id),
    .slave_ar_payload_o (sub_axi_o.ar),
    .slave_r_valid_i    (sub_axi_i.r_valid),
    .slave_r_ready_o    (sub_axi_o.r_ready),
    .slave_r_id_i       (sub_axi_i.r_id)
  );

  // Responses of both masters: shared data, and handshakes of their own.
  for (genvar master = 0; master < 2; master++) begin : gen_resp
    assign axi_o[master] = '{
      aw_ready: aw_ready[master],
      w_ready:  w_ready[master],
      b_valid:  b_valid[master],
      b_id:     {1'b0, b_id},
      b_resp:   sub_axi_i.b_resp,
      ar_ready: ar_ready[master],
      r_valid:  r_valid[master],
      r_id:     {1'b0, r_id},
      r_data:   sub_axi_i.r_data,
      r_resp:   sub_axi_i.r_resp,
      r_last:   sub_axi_i.r_last
    };
  end

  // Data of a read reach the master whose number the id has.
  `ASSERT(ResponsesGoToWhoAsked_A, sub_axi_i.r_valid |-> axi_o[sub_axi_i.r_id[MasterIdBits]].r_valid)
  // A confirmation reaches the master whose number the id has.
  `ASSERT(ConfirmationsGoToWhoAsked_A, sub_axi_i.b_valid |-> axi_o[sub_axi_i.b_id[MasterIdBits]].b_valid)
  // An address of one master is taken in a cycle.
  `ASSERT(OneMasterPasses_A, !(axi_o[0].aw_ready && axi_o[1].aw_ready) &&
          !(axi_o[0].ar_ready && axi_o[1].ar_ready))
endmodule
