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

module axi_switch #(
  // Bits of a write response that pass unchanged, and of a beat that is read, without `last`.
  parameter int unsigned BBits    = 2,
  parameter int unsigned RBits    = 66,
  // Bursts that the master opens at most, in each direction.
  parameter int unsigned MaxOpen  = 15,
  // 0 builds a variant that changes the path during a transaction, to show that the test detects it.
  parameter bit          HoldsWay = 1'b1,
  localparam int unsigned CountBits = $clog2(MaxOpen + 1)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // Selects the coherent path for a transfer that begins in this cycle, if nothing is open.
  input  logic             coherent_i,

  // The master.
  // Write address.
  input  logic             aw_valid_i,
  output logic             aw_ready_o,
  // Write data.
  input  logic             w_valid_i,
  output logic             w_ready_o,
  input  logic             w_last_i,
  // Write response.
  output logic             b_valid_o,
  input  logic             b_ready_i,
  output logic [BBits-1:0] b_payload_o,
  // Read address.
  input  logic             ar_valid_i,
  output logic             ar_ready_o,
  // Read data and response.
  output logic             r_valid_o,
  input  logic             r_ready_i,
  output logic [RBits-1:0] r_payload_o,
  output logic             r_last_o,

  // The direct path to memory.
  // Write address.
  output logic             direct_aw_valid_o,
  input  logic             direct_aw_ready_i,
  // Write data.
  output logic             direct_w_valid_o,
  input  logic             direct_w_ready_i,
  // Write response.
  input  logic             direct_b_valid_i,
  output logic             direct_b_ready_o,
  input  logic [BBits-1:0] direct_b_payload_i,
  // Read address.
  output logic             direct_ar_valid_o,
  input  logic             direct_ar_ready_i,
  // Read data and response.
  input  logic             direct_r_valid_i,
  output logic             direct_r_ready_o,
  input  logic [RBits-1:0] direct_r_payload_i,
  input  logic             direct_r_last_i,

  // The coherent path, through the host's port for other masters.
  // Write address.
  output logic             coherent_aw_valid_o,
  input  logic             coherent_aw_ready_i,
  // Write data.
  output logic             coherent_w_valid_o,
  input  logic             coherent_w_ready_i,
  // Write response.
  input  logic             coherent_b_valid_i,
  output logic             coherent_b_ready_o,
  input  logic [BBits-1:0] coherent_b_payload_i,
  // Read address.
  output logic             coherent_ar_valid_o,
  input  logic             coherent_ar_ready_i,
  // Read data and response.
  input  logic             coherent_r_valid_i,
  output logic             coherent_r_ready_o,
  input  logic [RBits-1:0] coherent_r_payload_i,
  input  logic             coherent_r_last_i
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

  assign waits       = (aw_valid_i & ~aw_ready_o) | (w_valid_i & ~w_ready_o) | (ar_valid_i & ~ar_ready_o);
  assign write_opens = aw_valid_i & aw_ready_o;
  assign write_ends  = b_valid_o & b_ready_i;
  assign data_pass   = w_valid_i & w_ready_o;
  assign data_end    = data_pass & w_last_i;
  assign read_opens  = ar_valid_i & ar_ready_o;
  assign read_ends   = r_valid_o & r_ready_i & r_last_o;

  // Requests: one of both paths gets them. Data and addresses are not gated, because without `valid` they are
  // ignored.
  assign direct_aw_valid_o   = aw_valid_i & ~is_coherent;
  assign direct_w_valid_o    = w_valid_i & ~is_coherent;
  assign direct_b_ready_o    = b_ready_i & ~is_coherent;
  assign direct_ar_valid_o   = ar_valid_i & ~is_coherent;
  assign direct_r_ready_o    = r_ready_i & ~is_coherent;

  assign coherent_aw_valid_o = aw_valid_i & is_coherent;
  assign coherent_w_valid_o  = w_valid_i & is_coherent;
  assign coherent_b_ready_o  = b_ready_i & is_coherent;
  assign coherent_ar_valid_o = ar_valid_i & is_coherent;
  assign coherent_r_ready_o  = r_ready_i & is_coherent;

  // Responses come from the same path, so a late response of the other path is not mistaken for
  // one.
  assign aw_ready_o  = is_coherent ? coherent_aw_ready_i : direct_aw_ready_i;
  assign w_ready_o   = is_coherent ? coherent_w_ready_i : direct_w_ready_i;
  assign b_valid_o   = is_coherent ? coherent_b_valid_i : direct_b_valid_i;
  assign b_payload_o = is_coherent ? coherent_b_payload_i : direct_b_payload_i;
  assign ar_ready_o  = is_coherent ? coherent_ar_ready_i : direct_ar_ready_i;
  assign r_valid_o   = is_coherent ? coherent_r_valid_i : direct_r_valid_i;
  assign r_payload_o = is_coherent ? coherent_r_payload_i : direct_r_payload_i;
  assign r_last_o    = is_coherent ? coherent_r_last_i : direct_r_last_i;

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
      if (data_pass) is_within_q <= ~w_last_i;
      is_coherent_q <= is_coherent;
    end
  end

  // The assertions begin with the second cycle: before reset the inputs may have any value.
  `ASSERT(OneWayAtATime_A, 1'b1 |=> !(direct_ar_valid_o && coherent_ar_valid_o) &&
          !(direct_aw_valid_o && coherent_aw_valid_o) && !(direct_w_valid_o && coherent_w_valid_o))
  // A response without a request would end a burst that is still open.
  `ASSERT(ResponsesAreAwaited_A, 1'b1 |=> (!write_ends || writes_q != '0) && (!read_ends || reads_q != '0))
  // The counters of open bursts do not overflow.
  `ASSERT(NoMoreThanAreCounted_A, !(32'(reads_q) == MaxOpen && read_opens) &&
          !(32'(writes_q) == MaxOpen && write_opens))
  // The path does not change while anything is open.
  `ASSERT(TheWayHolds_A, is_open && HoldsWay |-> is_coherent == is_coherent_q)
  // AMBA AXI §A3.2.1: an offered address or beat stays on its path until it is taken.
  `ASSERT(DirectAwWaitsForReady_A, direct_aw_valid_o && !direct_aw_ready_i && HoldsWay |=> direct_aw_valid_o)
  `ASSERT(DirectWWaitsForReady_A, direct_w_valid_o && !direct_w_ready_i && HoldsWay |=> direct_w_valid_o)
  `ASSERT(DirectArWaitsForReady_A, direct_ar_valid_o && !direct_ar_ready_i && HoldsWay |=> direct_ar_valid_o)
  `ASSERT(CoherentAwWaitsForReady_A,
          coherent_aw_valid_o && !coherent_aw_ready_i && HoldsWay |=> coherent_aw_valid_o)
  `ASSERT(CoherentWWaitsForReady_A,
          coherent_w_valid_o && !coherent_w_ready_i && HoldsWay |=> coherent_w_valid_o)
  `ASSERT(CoherentArWaitsForReady_A,
          coherent_ar_valid_o && !coherent_ar_ready_i && HoldsWay |=> coherent_ar_valid_o)
endmodule
