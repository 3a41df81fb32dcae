// Connects several AXI4 managers to one subordinate: `axi_mux_core` on bundles.
//
// Data and codes of responses are those of the subordinate and reach all managers; `valid` selects
// one of them, by the leading bits of the id. Protocol, latency and reset are those of the core.

`include "assert.svh"

module axi_mux
  import hartlock_axi_pkg::*;
#(
  // The managers, and the bits of an id that are the manager's own; its number is above them. What a manager
  // sends in the bits above its own is ignored.
  parameter int unsigned NumManagers = 2,
  parameter int unsigned OwnIdBits   = MasterIdBits,
  localparam int unsigned PortBits   = NumManagers > 1 ? $clog2(NumManagers) : 1,
  localparam int unsigned SubIdBits  = PortBits + OwnIdBits
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  // The managers.
  input  axi_req_t [NumManagers-1:0]  axi_i,
  output axi_resp_t [NumManagers-1:0] axi_o,
  // The subordinate.
  output axi_req_t                    sub_axi_o,
  input  axi_resp_t                   sub_axi_i
);
  // Separate signals are needed: in a structure, a path from a `valid` to a `ready` would be a
  // false loop for a simulator that takes a structure for one signal.
  logic [NumManagers-1:0] aw_valid, aw_ready, w_valid, w_ready, w_last, b_valid, b_ready;
  logic [NumManagers-1:0] ar_valid, ar_ready, r_valid, r_ready;
  logic [NumManagers-1:0][OwnIdBits-1:0] aw_id, ar_id;
  payload_t [NumManagers-1:0] aw, ar;
  logic [NumManagers-1:0][63:0] w_data;
  logic [NumManagers-1:0][7:0] w_strb;
  logic [OwnIdBits-1:0] b_id, r_id;
  logic [SubIdBits-1:0] sub_aw_id, sub_ar_id;

  for (genvar m = 0; m < NumManagers; m++) begin : gen_manager
    assign aw_valid[m] = axi_i[m].aw_valid;
    assign aw_id[m]    = axi_i[m].aw_id[OwnIdBits-1:0];
    assign aw[m]       = axi_i[m].aw;
    assign w_valid[m]  = axi_i[m].w_valid;
    assign w_data[m]   = axi_i[m].w_data;
    assign w_strb[m]   = axi_i[m].w_strb;
    assign w_last[m]   = axi_i[m].w_last;
    assign b_ready[m]  = axi_i[m].b_ready;
    assign ar_valid[m] = axi_i[m].ar_valid;
    assign ar_id[m]    = axi_i[m].ar_id[OwnIdBits-1:0];
    assign ar[m]       = axi_i[m].ar;
    assign r_ready[m]  = axi_i[m].r_ready;
    // Responses of all managers: shared data, and handshakes of their own.
    assign axi_o[m] = '{
      aw_ready: aw_ready[m],
      w_ready:  w_ready[m],
      b_valid:  b_valid[m],
      b_id:     IdBits'(b_id),
      b_resp:   sub_axi_i.b_resp,
      ar_ready: ar_ready[m],
      r_valid:  r_valid[m],
      r_id:     IdBits'(r_id),
      r_data:   sub_axi_i.r_data,
      r_resp:   sub_axi_i.r_resp,
      r_last:   sub_axi_i.r_last
    };
  end

  axi_mux_core #(
    .NumMasters  (NumManagers),
    .IdBits      (OwnIdBits),
    .PayloadBits ($bits(payload_t)),
    .DataBits    (64)
  ) u_core (
    .clk_i,
    .rst_ni,
    .aw_valid_i         (aw_valid),
    .aw_ready_o         (aw_ready),
    .aw_id_i            (aw_id),
    .aw_payload_i       (aw),
    .w_valid_i          (w_valid),
    .w_ready_o          (w_ready),
    .w_data_i           (w_data),
    .w_strb_i           (w_strb),
    .w_last_i           (w_last),
    .b_valid_o          (b_valid),
    .b_ready_i          (b_ready),
    .ar_valid_i         (ar_valid),
    .ar_ready_o         (ar_ready),
    .ar_id_i            (ar_id),
    .ar_payload_i       (ar),
    .r_valid_o          (r_valid),
    .r_ready_i          (r_ready),
    .b_id_o             (b_id),
    .r_id_o             (r_id),
    // The subordinate.
    .slave_aw_valid_o   (sub_axi_o.aw_valid),
    .slave_aw_ready_i   (sub_axi_i.aw_ready),
    .slave_aw_id_o      (sub_aw_id),
    .slave_aw_payload_o (sub_axi_o.aw),
    .slave_w_valid_o    (sub_axi_o.w_valid),
    .slave_w_ready_i    (sub_axi_i.w_ready),
    .slave_w_data_o     (sub_axi_o.w_data),
    .slave_w_strb_o     (sub_axi_o.w_strb),
    .slave_w_last_o     (sub_axi_o.w_last),
    .slave_b_valid_i    (sub_axi_i.b_valid),
    .slave_b_ready_o    (sub_axi_o.b_ready),
    .slave_b_id_i       (sub_axi_i.b_id[SubIdBits-1:0]),
    .slave_ar_valid_o   (sub_axi_o.ar_valid),
    .slave_ar_ready_i   (sub_axi_i.ar_ready),
    .slave_ar_id_o      (sub_ar_id),
    .slave_ar_payload_o (sub_axi_o.ar),
    .slave_r_valid_i    (sub_axi_i.r_valid),
    .slave_r_ready_o    (sub_axi_o.r_ready),
    .slave_r_id_i       (sub_axi_i.r_id[SubIdBits-1:0])
  );
  assign sub_axi_o.aw_id = IdBits'(sub_aw_id);
  assign sub_axi_o.ar_id = IdBits'(sub_ar_id);

  // Data of a read reach the manager whose number the id has.
  `ASSERT(ResponsesGoToWhoAsked_A, sub_axi_i.r_valid |-> r_valid[sub_axi_i.r_id[SubIdBits-1:OwnIdBits]])
  // A confirmation reaches the manager whose number the id has.
  `ASSERT(ConfirmationsGoToWhoAsked_A, sub_axi_i.b_valid |-> b_valid[sub_axi_i.b_id[SubIdBits-1:OwnIdBits]])
  // An address of one manager is taken in a cycle.
  logic [NumManagers-1:0] aw_taken, ar_taken;
  for (genvar m = 0; m < NumManagers; m++) begin : gen_taken
    assign aw_taken[m] = axi_o[m].aw_ready;
    assign ar_taken[m] = axi_o[m].ar_ready;
  end
  `ASSERT(OneManagerPasses_A, $onehot0(aw_taken) && $onehot0(ar_taken))
endmodule
