// This module is the AXI guard with its registers (`data/axi_guard.rdl`): four ranges of pages that firmware
// closes to the managers of a port, and then locks until reset. `axi_guard_core` has the logic and the rules of
// the port.
//
// Protocol: before the lock every request of the managers is refused. Software writes the ranges and the lock
// by AXI4-Lite; after the lock writes to ranges are ignored. `refused` reports that a read or a write was
// refused, and software clears it.
//
// Time: a request that passes takes no further cycle.
//
// Reset: the ranges are empty, the lock is open, and nothing passes. Nothing is hardened here against upsets.

`include "assert.svh"

module axi_guard
  import axi_guard_pkg::*;
  import axi_guard_regs_pkg::*;
  import hartlock_axi_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,

  // This is the AXI4-Lite port with 4 KiB of addresses. It has no protection bits: the bus in front of this
  // port decides who may write before the lock.
  input  axil_req_t         axil_i,
  output axil_resp_t        axil_o,

  // This is the port of the managers.
  input  axi_req_t          axi_i,
  output axi_resp_t         axi_o,
  // This is the port of the memory.
  output axi_req_t          mem_axi_o,
  input  axi_resp_t         mem_axi_i
);
  // These structures have the fields of the register block in the shape that the generator gives them.
  axi_guard__in_t  regs_in;
  axi_guard__out_t regs_out;

  // The register block is generated from `data/axi_guard.rdl`.
  axi_guard_regs u_regs (
    .clk_i,
    .rst_ni,
    .axil_i        (axil_i),
    .axil_o        (axil_o),
    .hwif_in       (regs_in),
    .hwif_out      (regs_out)
  );

  // A range is given by pages, and includes both of its ends.
  range_t [NumRanges-1:0] ranges;
  logic is_locked, read_refused, write_refused;
  assign is_locked = regs_out.lock.locked.value;

  // Ranges do not change after the lock. What was refused is reported until software clears it.
  always_comb begin
    for (int unsigned i = 0; i < NumRanges; i++) begin
      ranges[i] = '{first: regs_out.first[i].page.value, last: regs_out.last[i].page.value};
    end
    for (int unsigned i = 0; i < NumRanges; i++) begin
      regs_in.first[i].page.swwel = is_locked;
      regs_in.last[i].page.swwel  = is_locked;
    end
    regs_in.refused.read.hwset  = read_refused;
    regs_in.refused.write.hwset = write_refused;
  end

  // The core judges each request, and answers those that it refuses. Handshakes are signals of their own here: in a
  // structure, a path from a `valid` to a `ready` would be a false loop for a tool that takes it for one signal.
  logic aw_valid, w_valid, b_ready, ar_valid, r_ready;
  axi_guard_core #(.IdBits(IdBits)) u_core (
    .clk_i, .rst_ni,
    .locked_i       (is_locked),
    .ranges_i       (ranges),
    .read_refused_o (read_refused),
    .write_refused_o(write_refused),
    // The channels of the managers.
    .aw_valid_i (axi_i.aw_valid), .aw_ready_o (axi_o.aw_ready), .aw_id_i (axi_i.aw_id), .aw_addr_i (axi_i.aw.addr),
    .aw_len_i (axi_i.aw.len), .aw_size_i (axi_i.aw.size), .aw_burst_i (axi_i.aw.burst),
    .w_valid_i (axi_i.w_valid), .w_ready_o (axi_o.w_ready), .w_last_i (axi_i.w_last),
    .b_valid_o (axi_o.b_valid), .b_ready_i (axi_i.b_ready), .b_id_o (axi_o.b_id), .b_resp_o (axi_o.b_resp),
    .ar_valid_i (axi_i.ar_valid), .ar_ready_o (axi_o.ar_ready), .ar_id_i (axi_i.ar_id), .ar_addr_i (axi_i.ar.addr),
    .ar_len_i (axi_i.ar.len), .ar_size_i (axi_i.ar.size), .ar_burst_i (axi_i.ar.burst),
    .r_valid_o (axi_o.r_valid), .r_ready_i (axi_i.r_ready), .r_id_o (axi_o.r_id), .r_data_o (axi_o.r_data),
    .r_resp_o (axi_o.r_resp), .r_last_o (axi_o.r_last),
    // The channels of the memory.
    .mem_aw_valid_o (aw_valid), .mem_aw_ready_i (mem_axi_i.aw_ready),
    .mem_w_valid_o (w_valid), .mem_w_ready_i (mem_axi_i.w_ready),
    .mem_b_valid_i (mem_axi_i.b_valid), .mem_b_ready_o (b_ready), .mem_b_id_i (mem_axi_i.b_id),
    .mem_b_resp_i (mem_axi_i.b_resp),
    .mem_ar_valid_o (ar_valid), .mem_ar_ready_i (mem_axi_i.ar_ready),
    .mem_r_valid_i (mem_axi_i.r_valid), .mem_r_ready_o (r_ready), .mem_r_id_i (mem_axi_i.r_id),
    .mem_r_data_i (mem_axi_i.r_data), .mem_r_resp_i (mem_axi_i.r_resp), .mem_r_last_i (mem_axi_i.r_last)
  );

  // Addresses and data pass unchanged.
  always_comb begin
    mem_axi_o          = axi_i;
    mem_axi_o.aw_valid = aw_valid;
    mem_axi_o.w_valid  = w_valid;
    mem_axi_o.b_ready  = b_ready;
    mem_axi_o.ar_valid = ar_valid;
    mem_axi_o.r_ready  = r_ready;
  end

`ifndef SYNTHESIS
  // These are the rules of AXI4-Lite at the port of the registers.
  axi_lite_checks u_checks (.clk_i, .rst_ni, .req_i (axil_i), .resp_i (axil_o));
`endif

  // The names state the properties of the registers; those of the port are in the core. Here the lock stays
  // until reset, because software that could open it could let a manager into closed ranges.
  `ASSERT(ALockIsForGood_A, is_locked |=> is_locked)
  // A range that changed after the lock would open memory, or change the judgement of a request that is
  // offered.
  `ASSERT(LockedRangesStay_A, is_locked |=> $stable(ranges))
endmodule
