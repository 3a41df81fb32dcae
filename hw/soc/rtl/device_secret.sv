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
  import soc_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  // The words of the secret, the first one in the lower bits, and the request of hardware to close
  // it.
  input  logic [511:0] secret_i,
  input  logic         shut_i,

  // The port.
  // Write address.
  input  logic         aw_valid_i,
  output logic         aw_ready_o,
  input  logic [11:0]  aw_addr_i,
  // Write data.
  input  logic         w_valid_i,
  output logic         w_ready_o,
  input  logic [31:0]  w_data_i,
  input  logic [3:0]   w_strb_i,
  // Write response.
  output logic         b_valid_o,
  input  logic         b_ready_i,
  output logic [1:0]   b_resp_o,
  // Read address.
  input  logic         ar_valid_i,
  output logic         ar_ready_o,
  input  logic [11:0]  ar_addr_i,
  // Read data and response.
  output logic         r_valid_o,
  input  logic         r_ready_i,
  output logic [31:0]  r_data_o,
  output logic [1:0]   r_resp_o
);
  // Offset of the latch.
  localparam logic [11:0] Latch = 12'h040;

  // The latch, and the access of this cycle.
  logic        write, read, shut_q, is_word;
  logic [11:0] write_addr, read_addr;
  logic [31:0] unused_data, word;

  // Each access takes one cycle, and a write of a partial word is an error.
  axi_lite_registers #(.AddressBits(12)) u_registers (
    .clk_i,
    .rst_ni,
    .aw_valid_i, .aw_ready_o, .aw_addr_i,
    .w_valid_i, .w_ready_o, .w_data_i, .w_strb_i,
    .b_valid_o, .b_ready_i, .b_resp_o,
    .ar_valid_i, .ar_ready_o, .ar_addr_i,
    .r_valid_o, .r_ready_i, .r_data_o, .r_resp_o,
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
