// The secret of a device, as one-time storage that is closed until reset: sixteen words to read,
// and a latch.
//
// Offsets 0x00 to 0x3c are the secret. 0x40 is the latch: a write of any whole word sets its only
// bit. From then on the secret reads as zeros, which no software takes for a secret. Only a reset
// of the system opens it again. `shut_i` closes it as well, so that hardware can close what
// software has left open.
//
// Interface: AXI4-Lite by `axi_lite_registers`; an access takes one cycle, and its response follows
// in the next one. The latch is one flip-flop without redundancy.

`include "assert.svh"

module device_secret
  import hartlock_axi_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  // The words of the secret, the first one in the lower bits, and the request of hardware to close
  // it.
  input  logic [511:0] secret_i,
  input  logic         shut_i,

  // The registers, AXI4-Lite.
  input  axil_req_t   axil_i,
  output axil_resp_t   axil_o
);
  // Offset of the latch.
  localparam logic [11:0] Latch = 12'h040;

  // The latch, and the access of this cycle.
  logic        write, read, shut_q, is_word;
  logic [11:0] write_addr, read_addr;
  logic [31:0] unused_data, word;

  // Each access takes one cycle, and a write of a partial word is an error.
  axi_lite_registers u_registers (
    .clk_i,
    .rst_ni,
    .axil_i,
    .axil_o,
    .write_o      (write),
    .write_addr_o (write_addr),
    .write_data_o (unused_data),
    .write_err_i  (write_addr != Latch),
    .read_o       (read),
    .read_addr_o  (read_addr),
    .read_data_i  (word),
    .read_err_i   (~is_word && read_addr != Latch)
  );

  // A word of the secret while it is open, or the latch.
  assign is_word = read_addr < Latch && read_addr[1:0] == 2'b00;
  always_comb begin
    word = '0;
    if (is_word && !shut_q) word = secret_i[32*read_addr[5:2]+:32];
    if (read_addr == Latch) word = {31'd0, shut_q};
  end

  // Any write sets the latch, so that no value of a disturbed bus leaves it open.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) shut_q <= 1'b0;
    else         shut_q <= shut_q | shut_i | (write && write_addr == Latch);
  end

  // The latch never opens before a reset.
  `ASSERT(TheLatchStays_A, shut_q |=> shut_q)
  // Every whole word that is written to the latch closes the secret.
  `ASSERT(AWriteShuts_A, write && write_addr == Latch |=> shut_q)
  // A request of hardware closes the secret.
  `ASSERT(HardwareShuts_A, shut_i |=> shut_q)
  // A closed secret reads as zeros.
  `ASSERT(NothingShowsOnceItIsShut_A, shut_q && read && is_word |-> word == '0)
  // Other offsets show the latch and no word of the secret.
  `ASSERT(ReadsShowWordsAlone_A, read && !is_word |-> word <= 32'd1)
endmodule
