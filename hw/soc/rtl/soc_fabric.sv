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
  axi_resp_t direct_resp, coherent_resp;

  // The path does not change while anything is open.
  axi_switch u_switch (
    .clk_i,
    .rst_ni,
    // The root of trust decides on the release itself, so nothing of it is open at that time.
    .coherent_i     (is_released_i),
    // The root of trust: its core and its DMA engine.
    .axi_i          (rot_axi_i),
    .axi_o          (rot_axi_o),
    // Directly to memory, without the host.
    .direct_axi_o   (direct_req),
    .direct_axi_i   (direct_resp),
    // Through the host's port for other masters, which sees its caches.
    .coherent_axi_o (coherent_req),
    .coherent_axi_i (coherent_resp)
  );

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
  // Accesses that the first window lets pass.
  axi_req_t  inner_req;
  axi_resp_t inner_resp;
  logic      aw_is_mailbox, ar_is_mailbox, aw_is_guard, ar_is_guard;
  assign aw_is_mailbox = mmio_axi_i.aw.addr[30:12] == MailboxPage;
  assign ar_is_mailbox = mmio_axi_i.ar.addr[30:12] == MailboxPage;
  assign aw_is_guard   = mmio_axi_i.aw.addr[30:12] == GuardPage;
  assign ar_is_guard   = mmio_axi_i.ar.addr[30:12] == GuardPage;

  // One page of the devices belongs to the mailbox; an access to it must be a word.
  axi_window u_window (
    .clk_i,
    .rst_ni,
    .aw_window_i (aw_is_mailbox),
    .ar_window_i (ar_is_mailbox),
    .axi_i       (mmio_axi_i),
    .axi_o       (mmio_axi_o),
    // Everything else goes to the second window.
    .outer_axi_o (inner_req),
    .outer_axi_i (inner_resp),
    .lite_axil_o (mailbox_axil_o),
    .lite_axil_i (mailbox_axil_i)
  );

  // The next page belongs to the guard, in the same way. All other accesses reach the bench unchanged. It answers in
  // order, and a window keeps the id.
  axi_window u_guard_window (
    .clk_i,
    .rst_ni,
    .aw_window_i (aw_is_guard),
    .ar_window_i (ar_is_guard),
    .axi_i       (inner_req),
    .axi_o       (inner_resp),
    .outer_axi_o (devices_axi_o),
    .outer_axi_i (devices_axi_i),
    .lite_axil_o (guard_req),
    .lite_axil_i (guard_resp)
  );

  // No access begins on the host's bus while the host is in reset, where nobody would answer.
  `ASSERT(NothingPassesAHostInReset_A, !is_released_i |-> !$rose(coherent_req.ar_valid) &&
          !$rose(coherent_req.aw_valid))
  // An access to the mailbox or to the guard never reaches a device of the bench.
  `ASSERT(TheMailboxIsNotTheBenchs_A, !(devices_axi_o.aw_valid && aw_is_mailbox) &&
          !(devices_axi_o.ar_valid && ar_is_mailbox))
  `ASSERT(TheGuardIsNotTheBenchs_A, !(devices_axi_o.aw_valid && aw_is_guard) &&
          !(devices_axi_o.ar_valid && ar_is_guard))
  // Only accesses to its page reach the guard.
  `ASSERT(OnlyItsPageReachesTheGuard_A, !(guard_req.aw_valid && !aw_is_guard) &&
          !(guard_req.ar_valid && !ar_is_guard))
  // Only accesses to its page reach the mailbox.
  `ASSERT(OnlyItsPageReachesTheMailbox_A, !(mailbox_axil_o.aw_valid && !aw_is_mailbox) &&
          !(mailbox_axil_o.ar_valid && !ar_is_mailbox))
endmodule
