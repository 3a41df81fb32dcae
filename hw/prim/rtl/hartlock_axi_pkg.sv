// This package has the bundles of AXI: one structure for each direction of a port, so that a port is two names
// and not thirty (AMBA AXI, IHI 0022, chapter A2).
//
// A port of a module has the name of its bus with `_i` and `_o`. A manager drives requests (`axi_o`) and takes
// responses (`axi_i`); a subordinate takes requests (`axil_i`) and drives responses (`axil_o`). Inside of a module
// the requests of a bus end in `_req` and its responses in `_resp`.
//
// The prefix in the name of the package keeps it apart from `axi_pkg` of other projects, which some cores bring
// along.

package hartlock_axi_pkg;
  // A manager has ids of four bits. A multiplexer puts the number of the manager in front, so all ports have the
  // bit for it; where there is no multiplexer it is zero.
  localparam int unsigned MasterIdBits = 4;
  localparam int unsigned IdBits       = MasterIdBits + 1;

  // These are the codes of responses (A3.4.4). EXOKAY is missing, because no port has exclusive accesses.
  localparam logic [1:0] RespOkay   = 2'b00;
  localparam logic [1:0] RespSlverr = 2'b10;
  localparam logic [1:0] RespDecerr = 2'b11;

  // These signals of an address channel pass a multiplexer unchanged.
  typedef struct packed {
    logic [31:0] addr;
    logic [7:0]  len;
    logic [2:0]  size;
    logic [1:0]  burst;
  } payload_t;

  // AXI4 with 64 bits of data and 32 of address, from the manager: requests, and readiness for responses.
  typedef struct packed {
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
  } axi_req_t;

  // AXI4 from the subordinate: readiness for requests, and responses.
  typedef struct packed {
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
  } axi_resp_t;

  // AXI4-Lite to a page of registers (chapter B1), from the manager. There are no protection bits: each register
  // bus has one manager, and blocks of registers accept every access from it.
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
  } axil_req_t;

  // AXI4-Lite from the subordinate.
  typedef struct packed {
    logic        aw_ready;
    logic        w_ready;
    logic        b_valid;
    logic [1:0]  b_resp;
    logic        ar_ready;
    logic        r_valid;
    logic [31:0] r_data;
    logic [1:0]  r_resp;
  } axil_resp_t;

  // This is a single word, as `core_to_axi` requests it (A3.4.1: a burst of type INCR).
  function automatic payload_t word_at(logic [31:0] address);
    return '{addr: address, len: 8'd0, size: 3'd2, burst: 2'b01};
  endfunction

  // This is a burst of words of 64 bits, with one beat more than `len`.
  function automatic payload_t burst_at(logic [31:0] address, logic [7:0] len);
    return '{addr: address, len: len, size: 3'd3, burst: 2'b01};
  endfunction
endpackage
