// The key slot of the AES engine: eight words to write, none to read, and a lock.
//
// Offsets 0x00 to 0x1c are the key, its first byte in the lowest bits. 0x20 is the lock: a write of
// any whole word closes the slot until reset. `lock_i` closes it as well, so that hardware can
// close what software has left open. The engine is offered the key once the slot is closed and
// every word was written. So the key cannot change while an engine reads it, and a slot that was
// closed too early is empty until reset.
//
// The lock reads as bit 0 closed, bit 1 offered. A read of the key is an error, and zero. A change
// of `lifecycle_i` and `wipe_i` overwrite the key with zeros and close the slot: it is empty until
// reset.
//
// Interface: AXI4-Lite by `axi_lite_registers`; an access takes one cycle, and its response follows
// in the next one. An upset of the slot raises no alert.

`include "assert.svh"

module key_slot
  import hartlock_axi_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  // Hardware closes the slot; hardware wipes it; the lifecycle, a change of which wipes it.
  input  logic         lock_i,
  input  logic         wipe_i,
  input  logic [3:0]   lifecycle_i,

  // The registers, AXI4-Lite.
  input  axil_req_t   axil_i,
  output axil_resp_t   axil_o,

  // The engine: a word in the cycle of its index. The word means something only with `key_valid_o`.
  output logic         key_valid_o,
  input  logic [2:0]   key_index_i,
  output logic [31:0]  key_word_o
);
  // Offset of the lock.
  localparam logic [11:0] Lock = 12'h020;

  logic             write, read, is_word, is_lock, takes, wipes, closed_q, was_awake_q;
  logic [11:0]      write_addr, read_addr;
  logic [31:0]      data, word;
  // Words that were written, and the key.
  logic [7:0]       there_q;
  logic [7:0][31:0] key_q;
  logic [3:0]       lifecycle_q;

  // Each access takes one cycle, and a write of a partial word is an error.
  axi_lite_registers u_registers (
    .clk_i,
    .rst_ni,
    .axil_i,
    .axil_o,
    .write_o      (write),
    .write_addr_o (write_addr),
    .write_data_o (data),
    .write_err_i  (~is_lock && (~is_word || closed_q)),
    .read_o       (read),
    .read_addr_o  (read_addr),
    .read_data_i  (word),
    .read_err_i   (read_addr != Lock)
  );

  assign is_word = write_addr < Lock && write_addr[1:0] == 2'b00;
  assign is_lock = write_addr == Lock;
  assign takes   = write & is_word & ~closed_q;
  assign wipes   = wipe_i | (was_awake_q & (lifecycle_q != lifecycle_i));
  assign word    = read_addr == Lock ? {30'd0, key_valid_o, closed_q} : '0;

  assign key_valid_o = closed_q & (&there_q);
  assign key_word_o  = key_q[key_index_i];

  // The first lifecycle after reset is no change.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lifecycle_q <= '0;
      was_awake_q <= 1'b0;
    end else begin
      lifecycle_q <= lifecycle_i;
      was_awake_q <= 1'b1;
    end
  end

  // Any write closes the slot, so that no value of a disturbed bus leaves it open.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) closed_q <= 1'b0;
    else         closed_q <= closed_q | lock_i | wipes | (write & is_lock);
  end

  // A wipe has priority over a write of the same cycle.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      key_q   <= '0;
      there_q <= '0;
    end else if (wipes) begin
      key_q   <= '0;
      there_q <= '0;
    end else if (takes) begin
      key_q[write_addr[4:2]]   <= data;
      there_q[write_addr[4:2]] <= 1'b1;
    end
  end

  // The slot never opens before a reset.
  `ASSERT(TheLockStays_A, closed_q |=> closed_q)
  // Every whole word that is written to the lock closes the slot.
  `ASSERT(AWriteCloses_A, write && write_addr == Lock |=> closed_q)
  // A request of hardware closes the slot.
  `ASSERT(HardwareCloses_A, lock_i |=> closed_q)
  // A closed key stays as it is, or is wiped.
  `ASSERT(AClosedKeyChangesByAWipeAlone_A, closed_q && !wipes |=> $stable(key_q) && $stable(there_q))
  // After a wipe no bit of the key is left.
  `ASSERT(AWipeLeavesNothing_A, wipes |=> key_q == '0 && there_q == '0 && closed_q)
  // A key never survives a change of the lifecycle.
  `ASSERT(AChangeOfTheLifecycleWipes_A, was_awake_q && $changed(lifecycle_i) |-> wipes)
  // The engine never gets a part of a key, nor one that may change.
  `ASSERT(TheKeyIsOfferedWholeAndClosed_A, key_valid_o |-> closed_q && there_q == '1)
  // No read shows a bit of the key.
  `ASSERT(NoReadShowsTheKey_A, read |-> word <= 32'd3)
endmodule
