// Connects one AXI4 master port to two paths into the same memory: the root of trust and the host's
// memory.
//
// While the host is in reset its caches are empty and its bus does not answer, so accesses go to
// memory directly. Once it runs, memory may be older than its caches, so accesses go through its
// coherent port. The path is selected when nothing is open, and kept until nothing is: a `valid` is
// not withdrawn (AMBA AXI §A3.2.1), and a response is expected on the path of its request only.
//
// Reads and writes may be open together, at most `MaxOpen` of each, and data may come before their
// address. Addresses and write data reach both paths unchanged; this block gates the handshakes.
// All paths are combinational. Reset forgets what is open. Nothing here is hardened.

`include "assert.svh"

module axi_switch
  import hartlock_axi_pkg::*;
#(
  // Bursts that the master opens at most, in each direction.
  parameter int unsigned MaxOpen  = 15,
  // 0 builds a variant that changes the path during a transaction, to show that the test detects it.
  parameter bit          HoldsWay = 1'b1,
  localparam int unsigned CountBits = $clog2(MaxOpen + 1)
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  // Selects the coherent path for a transfer that begins in this cycle, if nothing is open.
  input  logic      coherent_i,

  // The master.
  input  axi_req_t  axi_i,
  output axi_resp_t axi_o,
  // The direct path to memory.
  output axi_req_t  direct_axi_o,
  input  axi_resp_t direct_axi_i,
  // The coherent path, through the host's port for other masters.
  output axi_req_t  coherent_axi_o,
  input  axi_resp_t coherent_axi_i
);
  // A request waits to be taken; bursts whose addresses were taken; the path of all of them.
  logic                        waits_q, is_coherent_q;
  logic        [CountBits-1:0] reads_q, writes_q;
  // Addresses that were taken, minus bursts whose data were all taken; some data of a burst were
  // taken. The difference is negative while data are ahead of their address.
  logic signed [CountBits:0]   owed_q;
  logic                        is_within_q;
  logic is_open, is_coherent, waits, read_opens, read_ends, write_opens, write_ends, data_pass, data_end;

  // The path of the open transfers, or of a transfer that begins in this cycle.
  assign is_open     = waits_q | (reads_q != '0) | (writes_q != '0) | (owed_q != '0) | is_within_q;
  assign is_coherent = (is_open && HoldsWay) ? is_coherent_q : coherent_i;

  assign waits       = (axi_i.aw_valid & ~axi_o.aw_ready) | (axi_i.w_valid & ~axi_o.w_ready) |
                       (axi_i.ar_valid & ~axi_o.ar_ready);
  assign write_opens = axi_i.aw_valid & axi_o.aw_ready;
  assign write_ends  = axi_o.b_valid & axi_i.b_ready;
  assign data_pass   = axi_i.w_valid & axi_o.w_ready;
  assign data_end    = data_pass & axi_i.w_last;
  assign read_opens  = axi_i.ar_valid & axi_o.ar_ready;
  assign read_ends   = axi_o.r_valid & axi_i.r_ready & axi_o.r_last;

  // Requests: one of both paths gets them. Data and addresses are not gated, because without `valid` they are
  // ignored.
  always_comb begin
    direct_axi_o            = axi_i;
    direct_axi_o.aw_valid   = axi_i.aw_valid & ~is_coherent;
    direct_axi_o.w_valid    = axi_i.w_valid & ~is_coherent;
    direct_axi_o.b_ready    = axi_i.b_ready & ~is_coherent;
    direct_axi_o.ar_valid   = axi_i.ar_valid & ~is_coherent;
    direct_axi_o.r_ready    = axi_i.r_ready & ~is_coherent;

    coherent_axi_o          = axi_i;
    coherent_axi_o.aw_valid = axi_i.aw_valid & is_coherent;
    coherent_axi_o.w_valid  = axi_i.w_valid & is_coherent;
    coherent_axi_o.b_ready  = axi_i.b_ready & is_coherent;
    coherent_axi_o.ar_valid = axi_i.ar_valid & is_coherent;
    coherent_axi_o.r_ready  = axi_i.r_ready & is_coherent;
  end

  // Responses come from the same path, so a late response of the other path is not mistaken for
  // one.
  assign axi_o = is_coherent ? coherent_axi_i : direct_axi_i;

  // A burst is open from its first handshake signal to its last response. While one is open the path is constant,
  // independent of `coherent_i`.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q       <= 1'b0;
      reads_q       <= '0;
      writes_q      <= '0;
      owed_q        <= '0;
      is_within_q   <= 1'b0;
      is_coherent_q <= 1'b0;
    end else begin
      waits_q       <= waits;
      reads_q       <= reads_q + CountBits'(read_opens) - CountBits'(read_ends);
      writes_q      <= writes_q + CountBits'(write_opens) - CountBits'(write_ends);
      owed_q        <= owed_q + (CountBits+1)'(write_opens) - (CountBits+1)'(data_end);
      if (data_pass) is_within_q <= ~axi_i.w_last;
      is_coherent_q <= is_coherent;
    end
  end

  // The assertions begin with the second cycle: before reset the inputs may have any value.
  `ASSERT(OneWayAtATime_A, 1'b1 |=> !(direct_axi_o.ar_valid && coherent_axi_o.ar_valid) &&
          !(direct_axi_o.aw_valid && coherent_axi_o.aw_valid) && !(direct_axi_o.w_valid && coherent_axi_o.w_valid))
  // A response without a request would end a burst that is still open.
  `ASSERT(ResponsesAreAwaited_A, 1'b1 |=> (!write_ends || writes_q != '0) && (!read_ends || reads_q != '0))
  // The counters of open bursts do not overflow.
  `ASSERT(NoMoreThanAreCounted_A, !(32'(reads_q) == MaxOpen && read_opens) &&
          !(32'(writes_q) == MaxOpen && write_opens))
  // The path does not change while anything is open.
  `ASSERT(TheWayHolds_A, is_open && HoldsWay |-> is_coherent == is_coherent_q)
  // AMBA AXI §A3.2.1: an offered address or beat stays on its path until it is taken.
  `ASSERT(DirectAwWaitsForReady_A,
          direct_axi_o.aw_valid && !direct_axi_i.aw_ready && HoldsWay |=> direct_axi_o.aw_valid)
  `ASSERT(DirectWWaitsForReady_A,
          direct_axi_o.w_valid && !direct_axi_i.w_ready && HoldsWay |=> direct_axi_o.w_valid)
  `ASSERT(DirectArWaitsForReady_A,
          direct_axi_o.ar_valid && !direct_axi_i.ar_ready && HoldsWay |=> direct_axi_o.ar_valid)
  `ASSERT(CoherentAwWaitsForReady_A,
          coherent_axi_o.aw_valid && !coherent_axi_i.aw_ready && HoldsWay |=> coherent_axi_o.aw_valid)
  `ASSERT(CoherentWWaitsForReady_A,
          coherent_axi_o.w_valid && !coherent_axi_i.w_ready && HoldsWay |=> coherent_axi_o.w_valid)
  `ASSERT(CoherentArWaitsForReady_A,
          coherent_axi_o.ar_valid && !coherent_axi_i.ar_ready && HoldsWay |=> coherent_axi_o.ar_valid)
endmodule
