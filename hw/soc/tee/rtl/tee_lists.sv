// Lists of the DMA engine: 2 KiB of words that the host writes and the engine reads, by a port of
// its own. The lowest bit of the word after them, at offset 0x800, says that the next list
// continues the message (tee_stream.sv).
//
// Interface: AXI4-Lite by `axi_lite_registers`; an access takes one cycle, and its response follows
// in the next one. The engine has a word in the cycle after its request, and may ask in every
// cycle. Reset clears the bit and keeps the words.

`include "assert.svh"

module tee_lists
  import tee_axi_pkg::*;
  import hartlock_axi_pkg::*;
(
  input  logic                clk_i,
  input  logic                rst_ni,

  // The registers, AXI4-Lite.
  input  axil_req_t   axil_i,
  output axil_resp_t  axil_o,

  // The end of a list is kept from the hash engine.
  output logic                hold_o,

  // The engine: a word is there in the next cycle.
  input  logic                list_req_i,
  output logic                list_gnt_o,
  input  logic [ListBits-3:0] list_word_i,
  output logic                list_rvalid_o,
  output logic [31:0]         list_rdata_o
);
  // Offset of the bit.
  localparam logic [11:0] Hold = 12'h800;

  // The access of this cycle, and the answer to the engine.
  logic        write, read, list_rvalid_q, hold_q, writes_word, reads_word;
  logic [11:0] write_addr, read_addr;
  logic [31:0] write_data, list_rdata_q;
  logic [31:0] mem [2**(ListBits-2)];

  // Each access takes one cycle. An offset within a word, or past the last word and the bit, is an error.
  axi_lite_registers u_registers (
    .clk_i,
    .rst_ni,
    .axil_i,
    .axil_o,
    .write_o      (write),
    .write_addr_o (write_addr),
    .write_data_o (write_data),
    .write_err_i  (~writes_word && write_addr != Hold),
    .read_o       (read),
    .read_addr_o  (read_addr),
    .read_data_i  (reads_word ? mem[read_addr[ListBits-1:2]] : {31'd0, hold_q}),
    .read_err_i   (~reads_word && read_addr != Hold)
  );

  // `axi_lite_registers` leaves it to its owner to check the bits of the address below a word.
  assign writes_word = write_addr[11:ListBits] == '0 && write_addr[1:0] == '0;
  assign reads_word  = read_addr[11:ListBits] == '0 && read_addr[1:0] == '0;

  // The words have no reset: a list is written before it is read.
  always_ff @(posedge clk_i) begin
    if (write && writes_word) mem[write_addr[ListBits-1:2]] <= write_data;
    if (list_req_i) list_rdata_q <= mem[list_word_i];
  end

  // Every request is granted at once.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) list_rvalid_q <= 1'b0;
    else         list_rvalid_q <= list_req_i;
  end

  // Without the bit every list is a message of its own.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                          hold_q <= 1'b0;
    else if (write && write_addr == Hold) hold_q <= write_data[0];
  end
  assign hold_o = hold_q;

  // The engine copies a list before it carries it out, so a later write changes nothing.
  assign list_gnt_o    = 1'b1;
  assign list_rvalid_o = list_rvalid_q;
  assign list_rdata_o  = list_rdata_q;

  // Every request of the engine has one answer, in the next cycle.
  `ASSERT(EveryRequestIsAnswered_A, list_req_i && list_gnt_o |=> list_rvalid_o)
  `ASSERT(NothingIsAnsweredUnasked_A, !list_req_i |=> !list_rvalid_o)
  // The answer is the word that was asked for.
  `ASSERT(TheEngineGetsWhatItAsksFor_A, list_req_i |=> list_rdata_o == $past(mem[list_word_i]))
  // Only the word at 0x800 changes the bit.
  `ASSERT(ItsWordHolds_A, write && write_addr == Hold |=> hold_o == $past(write_data[0]))
  `ASSERT(WordsOfListsHoldNothing_A, write && write_addr != Hold |=> $stable(hold_o))
  // An address within a word is no second name of the word.
  `ASSERT(NoWriteWithinAWord_A, write && write_addr[1:0] != '0 |=> axil_o.b_valid && axil_o.b_resp == RespSlverr)
  `ASSERT(NoReadWithinAWord_A, read && read_addr[1:0] != '0 |=> axil_o.r_valid && axil_o.r_resp == RespSlverr)
endmodule
