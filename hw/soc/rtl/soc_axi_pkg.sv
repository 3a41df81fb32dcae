// AXI bundles of `soc_machine`: one structure for each direction of a port, so that a port is two
// names and not thirty (AMBA AXI §A2, channel signals).
//
// All ports have the width of the memory of both masters: 64 bits of data, 32 of address, and ids
// with the bit that `axi_mux` prefixes. A narrower port leaves the upper bits zero.

package soc_axi_pkg;
  // Ids of a master, and ids with the number of the master in front.
  localparam int unsigned MasterIdBits = 4;
  localparam int unsigned IdBits       = MasterIdBits + 1;

  // Signals of an address channel that a multiplexer passes on unchanged.
  typedef struct packed {
    logic [31:0] addr;
    logic [7:0]  len;
    logic [2:0]  size;
    logic [1:0]  burst;
  } payload_t;

  // From the manager: requests, and readiness for responses.
  typedef struct packed {
    // Write address, write data, and readiness for the response; the same for reads.
    logic              aw_valid;
    logic [IdBits-1:0] aw_id;
    payload_t          aw;
    logic              w_valid;
    logic [63:0]       w_data;
    logic [7:0]        w_strb;
    logic              w_last;
    logic              b_ready;
    logic              ar_valid;
    logic [IdBits-1:0] ar_id;
    payload_t          ar;
    logic              r_ready;
  } req_t;

  // From the subordinate: readiness for requests, and responses.
  typedef struct packed {
    // Readiness for each request channel, and both responses.
    logic              aw_ready;
    logic              w_ready;
    logic              b_valid;
    logic [IdBits-1:0] b_id;
    logic [1:0]        b_resp;
    logic              ar_ready;
    logic              r_valid;
    logic [IdBits-1:0] r_id;
    logic [63:0]       r_data;
    logic [1:0]        r_resp;
    logic              r_last;
  } resp_t;

  // AXI4-Lite to a page of registers (AMBA AXI §B1), from its manager and from its subordinate.
  typedef struct packed {
    logic        aw_valid;
    logic [11:0] aw_addr;
    logic        w_valid;
    logic [31:0] w_data;
    logic [3:0]  w_strb;
    logic        b_ready;
    logic        ar_valid;
    logic [11:0] ar_addr;
    logic        r_ready;
  } lite_req_t;

  typedef struct packed {
    logic        aw_ready;
    logic        w_ready;
    logic        b_valid;
    logic [1:0]  b_resp;
    logic        ar_ready;
    logic        r_valid;
    logic [31:0] r_data;
    logic [1:0]  r_resp;
  } lite_resp_t;

  // A single word: a request of `core_to_axi` (AMBA AXI §A3.4.1: INCR).
  function automatic payload_t word_at(logic [31:0] address);
    return '{addr: address, len: 8'd0, size: 3'd2, burst: 2'b01};
  endfunction

  // A burst of words of 64 bits, with one beat more than `len`.
  function automatic payload_t burst_at(logic [31:0] address, logic [7:0] len);
    return '{addr: address, len: len, size: 3'd3, burst: 2'b01};
  endfunction
endpackage
