// The interconnect of host, root of trust, memory and devices of `soc_machine`.
//
// Until the boot sequencer releases the host, the root of trust accesses memory directly; from then
// on through the host's port for other masters, which is coherent with the caches. The host can
// access only the mailbox of the root of trust: a window of 4 KiB among its devices.
//
// Other masters of the host, here its storage, reach memory through `axi_guard` only. The host's
// M-mode sets and locks it, by a second window. The root of trust needs no guard: its DMA engine
// has locked windows of its own.
//
// All paths but those of the guard are combinational. Reset forgets open transfers, so all masters
// have to be reset together. The switch of the path and both windows are not redundant.

`include "assert.svh"

module soc_fabric
  import hartlock_axi_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  // The boot sequencer has released the host.
  input  logic       is_released_i,

  // Masters: the root of trust, the host's memory port, its storage, its port for devices.
  input  axi_req_t    rot_axi_i,
  output axi_resp_t   rot_axi_o,
  input  axi_req_t    host_axi_i,
  output axi_resp_t   host_axi_o,
  input  axi_req_t    storage_axi_i,
  output axi_resp_t   storage_axi_o,
  input  axi_req_t    mmio_axi_i,
  output axi_resp_t   mmio_axi_o,

  // Subordinates: memory, the host's port for other masters, devices of the bench, the mailbox.
  output axi_req_t    mem_axi_o,
  input  axi_resp_t   mem_axi_i,
  output axi_req_t    front_axi_o,
  input  axi_resp_t   front_axi_i,
  output axi_req_t    devices_axi_o,
  input  axi_resp_t   devices_axi_i,
  output axil_req_t  mailbox_axil_o,
  input  axil_resp_t mailbox_axil_i
);
  // Pages at 0x1500_0000 and 0x1500_1000, after the devices of the bench. The upper bit of an
  // address of the port is not compared.
  localparam logic [18:0] MailboxPage = 19'h1_5000;
  localparam logic [18:0] GuardPage   = 19'h1_5001;

  // --- the two paths of the root of trust to memory ---
  axi_req_t  direct_req, coherent_req;
  axi_resp_t direct_resp, coherent_resp, rot_resp;
  logic  direct_aw_valid, direct_w_valid, direct_b_ready, direct_ar_valid, direct_r_ready;
  logic  coherent_aw_valid, coherent_w_valid, coherent_b_ready, coherent_ar_valid, coherent_r_ready;

  // Parts of a response that pass unchanged.
  typedef struct packed {
    logic [IdBits-1:0] id;
    logic [1:0]        resp;
  } b_payload_t;
  typedef struct packed {
    logic [IdBits-1:0] id;
    logic [63:0]       data;
    logic [1:0]        resp;
  } r_payload_t;
  b_payload_t b_payload, direct_b, coherent_b;
  r_payload_t r_payload, direct_r, coherent_r;
  assign direct_b   = '{id: direct_resp.b_id, resp: direct_resp.b_resp};
  assign coherent_b = '{id: coherent_resp.b_id, resp: coherent_resp.b_resp};
  assign direct_r   = '{id: direct_resp.r_id, data: direct_resp.r_data, resp: direct_resp.r_resp};
  assign coherent_r = '{id: coherent_resp.r_id, data: coherent_resp.r_data, resp: coherent_resp.r_resp};

  // The path does not change while anything is open.
  axi_switch #(
    .BBits($bits(b_payload_t)),
    .RBits($bits(r_payload_t))
  ) u_switch (
    .clk_i,
    .rst_ni,
    // The root of trust decides on the release itself, so nothing of it is open at that time.
    .coherent_i           (is_released_i),
    // The root of trust: its core and its DMA engine.
    .aw_valid_i           (rot_axi_i.aw_valid),
    .aw_ready_o           (rot_resp.aw_ready),
    .w_valid_i            (rot_axi_i.w_valid),
    .w_ready_o            (rot_resp.w_ready),
    .w_last_i             (rot_axi_i.w_last),
    .b_valid_o            (rot_resp.b_valid),
    .b_ready_i            (rot_axi_i.b_ready),
    .b_payload_o          (b_payload),
    .ar_valid_i           (rot_axi_i.ar_valid),
    .ar_ready_o           (rot_resp.ar_ready),
    .r_valid_o            (rot_resp.r_valid),
    .r_ready_i            (rot_axi_i.r_ready),
    .r_payload_o          (r_payload),
    .r_last_o             (rot_resp.r_last),
    // Directly to memory, without the host.
    .direct_aw_valid_o    (direct_aw_valid),
    .direct_aw_ready_i    (direct_resp.aw_ready),
    .direct_w_valid_o     (direct_w_valid),
    .direct_w_ready_i     (direct_resp.w_ready),
    .direct_b_valid_i     (direct_resp.b_valid),
    .direct_b_ready_o     (direct_b_ready),
    .direct_b_payload_i   (direct_b),
    .direct_ar_valid_o    (direct_ar_valid),
    .direct_ar_ready_i    (direct_resp.ar_ready),
    .direct_r_valid_i     (direct_resp.r_valid),
    .direct_r_ready_o     (direct_r_ready),
    .direct_r_payload_i   (direct_r),
    .direct_r_last_i      (direct_resp.r_last),
    // Through the host's port for other masters, which sees its caches.
    .coherent_aw_valid_o  (coherent_aw_valid),
    .coherent_aw_ready_i  (coherent_resp.aw_ready),
    .coherent_w_valid_o   (coherent_w_valid),
    .coherent_w_ready_i   (coherent_resp.w_ready),
    .coherent_b_valid_i   (coherent_resp.b_valid),
    .coherent_b_ready_o   (coherent_b_ready),
    .coherent_b_payload_i (coherent_b),
    .coherent_ar_valid_o  (coherent_ar_valid),
    .coherent_ar_ready_i  (coherent_resp.ar_ready),
    .coherent_r_valid_i   (coherent_resp.r_valid),
    .coherent_r_ready_o   (coherent_r_ready),
    .coherent_r_payload_i (coherent_r),
    .coherent_r_last_i    (coherent_resp.r_last)
  );

  assign rot_resp.b_id   = b_payload.id;
  assign rot_resp.b_resp = b_payload.resp;
  assign rot_resp.r_id   = r_payload.id;
  assign rot_resp.r_data = r_payload.data;
  assign rot_resp.r_resp = r_payload.resp;
  assign rot_axi_o      = rot_resp;

  // Addresses and data reach both paths unchanged; handshakes select one of them.
  always_comb begin
    direct_req            = rot_axi_i;
    direct_req.aw_valid   = direct_aw_valid;
    direct_req.w_valid    = direct_w_valid;
    direct_req.b_ready    = direct_b_ready;
    direct_req.ar_valid   = direct_ar_valid;
    direct_req.r_ready    = direct_r_ready;
    coherent_req          = rot_axi_i;
    coherent_req.aw_valid = coherent_aw_valid;
    coherent_req.w_valid  = coherent_w_valid;
    coherent_req.b_ready  = coherent_b_ready;
    coherent_req.ar_valid = coherent_ar_valid;
    coherent_req.r_ready  = coherent_r_ready;
  end

  // Memory for host and root of trust.
  axi_mux u_memory_mux (
    .clk_i,
    .rst_ni,
    .axi_i  ({direct_req, host_axi_i}),
    .axi_o ({direct_resp, host_axi_o}),
    .sub_axi_o  (mem_axi_o),
    .sub_axi_i (mem_axi_i)
  );

  // --- the guard in front of the storage ---
  axi_req_t    guarded_req;
  axi_resp_t   guarded_resp;
  axil_req_t  guard_req;
  axil_resp_t guard_resp;

  axi_guard u_guard (
    .clk_i,
    .rst_ni,
    // The guard's registers, in a window of the host.
    .axil_i    (guard_req),
    .axil_o    (guard_resp),
    // The storage, and what the guard lets pass of it.
    .axi_i     (storage_axi_i),
    .axi_o     (storage_axi_o),
    .mem_axi_o (guarded_req),
    .mem_axi_i (guarded_resp)
  );

  // The host's port for other masters: accesses that the guard lets pass, and the root of trust.
  axi_mux u_front_mux (
    .clk_i,
    .rst_ni,
    .axi_i  ({coherent_req, guarded_req}),
    .axi_o ({coherent_resp, guarded_resp}),
    .sub_axi_o  (front_axi_o),
    .sub_axi_i (front_axi_i)
  );

  // --- devices ---
  // Accesses that the first window lets pass (`inner`), and that both let pass (`outer`).
  logic  inner_aw_valid, inner_w_valid, inner_b_ready, inner_ar_valid, inner_r_ready;
  logic  outer_aw_valid, outer_w_valid, outer_b_ready, outer_ar_valid, outer_r_ready;
  axi_resp_t inner_resp;
  logic  aw_is_mailbox, ar_is_mailbox, aw_is_guard, ar_is_guard;
  assign aw_is_mailbox = mmio_axi_i.aw.addr[30:12] == MailboxPage;
  assign ar_is_mailbox = mmio_axi_i.ar.addr[30:12] == MailboxPage;
  assign aw_is_guard   = mmio_axi_i.aw.addr[30:12] == GuardPage;
  assign ar_is_guard   = mmio_axi_i.ar.addr[30:12] == GuardPage;

  // One page of the devices belongs to the mailbox; an access to it must be a word.
  axi_window #(.IdBits(IdBits)) u_window (
    .clk_i,
    .rst_ni,
    .aw_valid_i       (mmio_axi_i.aw_valid),
    .aw_ready_o       (mmio_axi_o.aw_ready),
    .aw_window_i      (aw_is_mailbox),
    .aw_id_i          (mmio_axi_i.aw_id),
    .aw_len_i         (mmio_axi_i.aw.len),
    .aw_size_i        (mmio_axi_i.aw.size),
    .aw_addr_i        (mmio_axi_i.aw.addr[11:0]),
    .w_valid_i        (mmio_axi_i.w_valid),
    .w_ready_o        (mmio_axi_o.w_ready),
    .w_data_i         (mmio_axi_i.w_data),
    .w_strb_i         (mmio_axi_i.w_strb),
    .w_last_i         (mmio_axi_i.w_last),
    .b_valid_o        (mmio_axi_o.b_valid),
    .b_ready_i        (mmio_axi_i.b_ready),
    .b_id_o           (mmio_axi_o.b_id),
    .b_resp_o         (mmio_axi_o.b_resp),
    .ar_valid_i       (mmio_axi_i.ar_valid),
    .ar_ready_o       (mmio_axi_o.ar_ready),
    .ar_window_i      (ar_is_mailbox),
    .ar_id_i          (mmio_axi_i.ar_id),
    .ar_len_i         (mmio_axi_i.ar.len),
    .ar_size_i        (mmio_axi_i.ar.size),
    .ar_addr_i        (mmio_axi_i.ar.addr[11:0]),
    .r_valid_o        (mmio_axi_o.r_valid),
    .r_ready_i        (mmio_axi_i.r_ready),
    .r_id_o           (mmio_axi_o.r_id),
    .r_data_o         (mmio_axi_o.r_data),
    .r_resp_o         (mmio_axi_o.r_resp),
    .r_last_o         (mmio_axi_o.r_last),
    // Everything else goes to the second window.
    .outer_aw_valid_o (inner_aw_valid),
    .outer_aw_ready_i (inner_resp.aw_ready),
    .outer_w_valid_o  (inner_w_valid),
    .outer_w_ready_i  (inner_resp.w_ready),
    .outer_b_valid_i  (inner_resp.b_valid),
    .outer_b_ready_o  (inner_b_ready),
    .outer_b_resp_i   (inner_resp.b_resp),
    .outer_ar_valid_o (inner_ar_valid),
    .outer_ar_ready_i (inner_resp.ar_ready),
    .outer_r_valid_i  (inner_resp.r_valid),
    .outer_r_ready_o  (inner_r_ready),
    .outer_r_data_i   (inner_resp.r_data),
    .outer_r_resp_i   (inner_resp.r_resp),
    .outer_r_last_i   (inner_resp.r_last),
    // The mailbox.
    .lite_aw_valid_o  (mailbox_axil_o.aw_valid),
    .lite_aw_ready_i  (mailbox_axil_i.aw_ready),
    .lite_aw_addr_o   (mailbox_axil_o.aw_addr),
    .lite_w_valid_o   (mailbox_axil_o.w_valid),
    .lite_w_ready_i   (mailbox_axil_i.w_ready),
    .lite_w_data_o    (mailbox_axil_o.w_data),
    .lite_w_strb_o    (mailbox_axil_o.w_strb),
    .lite_b_valid_i   (mailbox_axil_i.b_valid),
    .lite_b_ready_o   (mailbox_axil_o.b_ready),
    .lite_b_resp_i    (mailbox_axil_i.b_resp),
    .lite_ar_valid_o  (mailbox_axil_o.ar_valid),
    .lite_ar_ready_i  (mailbox_axil_i.ar_ready),
    .lite_ar_addr_o   (mailbox_axil_o.ar_addr),
    .lite_r_valid_i   (mailbox_axil_i.r_valid),
    .lite_r_ready_o   (mailbox_axil_o.r_ready),
    .lite_r_data_i    (mailbox_axil_i.r_data),
    .lite_r_resp_i    (mailbox_axil_i.r_resp)
  );

  // The next page belongs to the guard, in the same way.
  axi_window #(.IdBits(IdBits)) u_guard_window (
    .clk_i,
    .rst_ni,
    // Accesses that the first window lets pass. Write address.
    .aw_valid_i       (inner_aw_valid),
    .aw_ready_o       (inner_resp.aw_ready),
    .aw_window_i      (aw_is_guard),
    .aw_id_i          (mmio_axi_i.aw_id),
    .aw_len_i         (mmio_axi_i.aw.len),
    .aw_size_i        (mmio_axi_i.aw.size),
    .aw_addr_i        (mmio_axi_i.aw.addr[11:0]),
    // Write data.
    .w_valid_i        (inner_w_valid),
    .w_ready_o        (inner_resp.w_ready),
    .w_data_i         (mmio_axi_i.w_data),
    .w_strb_i         (mmio_axi_i.w_strb),
    .w_last_i         (mmio_axi_i.w_last),
    .b_valid_o        (inner_resp.b_valid),
    .b_ready_i        (inner_b_ready),
    .b_id_o           (inner_resp.b_id),
    .b_resp_o         (inner_resp.b_resp),
    // Read address.
    .ar_valid_i       (inner_ar_valid),
    .ar_ready_o       (inner_resp.ar_ready),
    .ar_window_i      (ar_is_guard),
    .ar_id_i          (mmio_axi_i.ar_id),
    .ar_len_i         (mmio_axi_i.ar.len),
    .ar_size_i        (mmio_axi_i.ar.size),
    .ar_addr_i        (mmio_axi_i.ar.addr[11:0]),
    .r_valid_o        (inner_resp.r_valid),
    .r_ready_i        (inner_r_ready),
    .r_id_o           (inner_resp.r_id),
    .r_data_o         (inner_resp.r_data),
    .r_resp_o         (inner_resp.r_resp),
    .r_last_o         (inner_resp.r_last),
    // The devices of the bench.
    .outer_aw_valid_o (outer_aw_valid),
    .outer_aw_ready_i (devices_axi_i.aw_ready),
    .outer_w_valid_o  (outer_w_valid),
    .outer_w_ready_i  (devices_axi_i.w_ready),
    .outer_b_valid_i  (devices_axi_i.b_valid),
    .outer_b_ready_o  (outer_b_ready),
    .outer_b_resp_i   (devices_axi_i.b_resp),
    .outer_ar_valid_o (outer_ar_valid),
    .outer_ar_ready_i (devices_axi_i.ar_ready),
    .outer_r_valid_i  (devices_axi_i.r_valid),
    .outer_r_ready_o  (outer_r_ready),
    .outer_r_data_i   (devices_axi_i.r_data),
    .outer_r_resp_i   (devices_axi_i.r_resp),
    .outer_r_last_i   (devices_axi_i.r_last),
    // Registers of the guard.
    .lite_aw_valid_o  (guard_req.aw_valid),
    .lite_aw_ready_i  (guard_resp.aw_ready),
    .lite_aw_addr_o   (guard_req.aw_addr),
    .lite_w_valid_o   (guard_req.w_valid),
    .lite_w_ready_i   (guard_resp.w_ready),
    .lite_w_data_o    (guard_req.w_data),
    .lite_w_strb_o    (guard_req.w_strb),
    .lite_b_valid_i   (guard_resp.b_valid),
    .lite_b_ready_o   (guard_req.b_ready),
    .lite_b_resp_i    (guard_resp.b_resp),
    .lite_ar_valid_o  (guard_req.ar_valid),
    .lite_ar_ready_i  (guard_resp.ar_ready),
    .lite_ar_addr_o   (guard_req.ar_addr),
    .lite_r_valid_i   (guard_resp.r_valid),
    .lite_r_ready_o   (guard_req.r_ready),
    .lite_r_data_i    (guard_resp.r_data),
    .lite_r_resp_i    (guard_resp.r_resp)
  );

  // All other accesses reach the bench unchanged. It answers in order, and a window keeps the id.
  always_comb begin
    devices_axi_o          = mmio_axi_i;
    devices_axi_o.aw_valid = outer_aw_valid;
    devices_axi_o.w_valid  = outer_w_valid;
    devices_axi_o.b_ready  = outer_b_ready;
    devices_axi_o.ar_valid = outer_ar_valid;
    devices_axi_o.r_ready  = outer_r_ready;
  end

  // An access of the root of trust takes one of both paths.
  `ASSERT(OneWayToMemory_A, !(direct_req.ar_valid && coherent_req.ar_valid) &&
          !(direct_req.aw_valid && coherent_req.aw_valid))
  // No access begins on the host's bus while the host is in reset, where nobody would answer.
  `ASSERT(NothingPassesAHostInReset_A, !is_released_i |-> !$rose(coherent_req.ar_valid) &&
          !$rose(coherent_req.aw_valid))
  // An access to the mailbox or to the guard never reaches a device of the bench.
  `ASSERT(TheMailboxIsNotTheBenchs_A, !(outer_aw_valid && aw_is_mailbox) &&
          !(outer_ar_valid && ar_is_mailbox))
  `ASSERT(TheGuardIsNotTheBenchs_A, !(outer_aw_valid && aw_is_guard) &&
          !(outer_ar_valid && ar_is_guard))
  // Only accesses to its page reach the guard.
  `ASSERT(OnlyItsPageReachesTheGuard_A, !(guard_req.aw_valid && !aw_is_guard) &&
          !(guard_req.ar_valid && !ar_is_guard))
  // Only accesses to its page reach the mailbox.
  `ASSERT(OnlyItsPageReachesTheMailbox_A, !(mailbox_axil_o.aw_valid && !aw_is_mailbox) &&
          !(mailbox_axil_o.ar_valid && !ar_is_mailbox))
endmodule
