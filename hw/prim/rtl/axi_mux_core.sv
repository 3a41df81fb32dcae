// The core of `axi_mux`, which connects several AXI4 masters to one slave, with a signal for each
// field and with any widths, so that proofs are small.
//
// The number of a master is prefixed to its transaction ids, which routes responses and keeps ids
// of different masters distinct. Addresses pass by round-robin arbitration, and a `valid` is never
// withdrawn (AMBA AXI §A3.2.1). Write data follow the order of their addresses, whole bursts at a
// time, because AXI4 has no ids on them (§A5.4). Data are offered together with their address and
// may pass before it: the slave may wait for both (§A3.3.1).
//
// All paths are combinational, and no transfer loses a cycle. Reset forgets the arbitration; no
// transfer may be open then. Nothing here is hardened.

`include "assert.svh"

module axi_mux_core #(
  // Number of masters, and bits of their ids.
  parameter int unsigned NumMasters  = 2,
  parameter int unsigned IdBits      = 4,
  // Bits of an address channel that pass unchanged, and bits of data.
  parameter int unsigned PayloadBits = 45,
  parameter int unsigned DataBits    = 64,
  // 0 builds a variant that changes the master while the slave is not ready, to show that the test detects it.
  parameter bit          KeepsOffers = 1'b1,
  // 0 builds a variant that offers data only after their address was taken, to show that the test detects it.
  parameter bit          OffersData  = 1'b1,
  localparam int unsigned PortBits   = NumMasters > 1 ? $clog2(NumMasters) : 1,
  localparam int unsigned OutIdBits  = PortBits + IdBits,
  localparam int unsigned StrobeBits = DataBits / 8
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,

  // The masters, one element for each.
  // Write address.
  input  logic [NumMasters-1:0]                  aw_valid_i,
  output logic [NumMasters-1:0]                  aw_ready_o,
  input  logic [NumMasters-1:0][IdBits-1:0]      aw_id_i,
  input  logic [NumMasters-1:0][PayloadBits-1:0] aw_payload_i,
  // Write data.
  input  logic [NumMasters-1:0]                  w_valid_i,
  output logic [NumMasters-1:0]                  w_ready_o,
  input  logic [NumMasters-1:0][DataBits-1:0]    w_data_i,
  input  logic [NumMasters-1:0][StrobeBits-1:0]  w_strb_i,
  input  logic [NumMasters-1:0]                  w_last_i,
  // Write response.
  output logic [NumMasters-1:0]                  b_valid_o,
  input  logic [NumMasters-1:0]                  b_ready_i,
  // Read address.
  input  logic [NumMasters-1:0]                  ar_valid_i,
  output logic [NumMasters-1:0]                  ar_ready_o,
  input  logic [NumMasters-1:0][IdBits-1:0]      ar_id_i,
  input  logic [NumMasters-1:0][PayloadBits-1:0] ar_payload_i,
  // Read data and response.
  output logic [NumMasters-1:0]                  r_valid_o,
  input  logic [NumMasters-1:0]                  r_ready_i,
  // Except for their routing, responses are the slave's own signals.
  output logic [IdBits-1:0]                      b_id_o,
  output logic [IdBits-1:0]                      r_id_o,

  // The slave.
  // Write address.
  output logic                                   slave_aw_valid_o,
  input  logic                                   slave_aw_ready_i,
  output logic [OutIdBits-1:0]                   slave_aw_id_o,
  output logic [PayloadBits-1:0]                 slave_aw_payload_o,
  // Write data.
  output logic                                   slave_w_valid_o,
  input  logic                                   slave_w_ready_i,
  output logic [DataBits-1:0]                    slave_w_data_o,
  output logic [StrobeBits-1:0]                  slave_w_strb_o,
  output logic                                   slave_w_last_o,
  // Write response.
  input  logic                                   slave_b_valid_i,
  output logic                                   slave_b_ready_o,
  input  logic [OutIdBits-1:0]                   slave_b_id_i,
  // Read address.
  output logic                                   slave_ar_valid_o,
  input  logic                                   slave_ar_ready_i,
  output logic [OutIdBits-1:0]                   slave_ar_id_o,
  output logic [PayloadBits-1:0]                 slave_ar_payload_o,
  // Read data and response.
  input  logic                                   slave_r_valid_i,
  output logic                                   slave_r_ready_o,
  input  logic [OutIdBits-1:0]                   slave_r_id_i
);
  typedef logic [PortBits-1:0] port_t;

  // Round robin: the first requester after the master that was served last.
  function automatic port_t next_port(logic [NumMasters-1:0] asks, port_t last);
    port_t found = last;
    for (int unsigned distance = NumMasters; distance > 0; distance--) begin
      port_t candidate;
      candidate = port_t'((32'(last) + distance) % NumMasters);
      if (asks[candidate]) found = candidate;
    end
    return found;
  endfunction

  // --- addresses ---
  // The selected master; kept while its `valid` waits for `ready`.
  port_t aw_port, aw_port_d, aw_port_q, ar_port, ar_port_d, ar_port_q, w_port, w_port_d, w_port_q;
  logic  aw_offered_d, aw_offered_q, ar_offered_d, ar_offered_q;
  // The address of a burst has passed and its data have not all; the data have all passed and the address has not.
  logic  w_busy_d, w_busy_q, w_done_d, w_done_q;
  logic  aw_passes, w_is_open, w_ends;

  // A `valid` must not be withdrawn: the slave may have begun to decode the address.
  assign aw_port = (aw_offered_q && KeepsOffers) ? aw_port_q : next_port(aw_valid_i, aw_port_q);
  assign ar_port = (ar_offered_q && KeepsOffers) ? ar_port_q : next_port(ar_valid_i, ar_port_q);

  // The data of a burst pass before the next address.
  assign slave_aw_valid_o   = aw_valid_i[aw_port] & ~w_busy_q;
  assign slave_aw_id_o      = {aw_port, aw_id_i[aw_port]};
  assign slave_aw_payload_o = aw_payload_i[aw_port];
  assign slave_ar_valid_o   = ar_valid_i[ar_port];
  assign slave_ar_id_o      = {ar_port, ar_id_i[ar_port]};
  assign slave_ar_payload_o = ar_payload_i[ar_port];

  assign aw_passes = slave_aw_valid_o & slave_aw_ready_i;

  // --- write data ---
  // Data belong to the open burst, or to the burst whose address is offered now. No data of another
  // master can interleave. The master is constant until the last beat, because the master of an
  // offered address is.
  assign w_port          = w_busy_q ? w_port_q : aw_port;
  assign w_is_open       = w_busy_q | (slave_aw_valid_o & ~w_done_q & OffersData);
  assign slave_w_valid_o = w_is_open & w_valid_i[w_port];
  assign slave_w_data_o  = w_data_i[w_port];
  assign slave_w_strb_o  = w_strb_i[w_port];
  assign slave_w_last_o  = w_last_i[w_port];
  assign w_ends          = slave_w_valid_o & slave_w_ready_i & slave_w_last_o;

  // A burst ends with the later one of its address and its last beat.
  always_comb begin
    w_busy_d = w_busy_q & ~w_ends;
    w_done_d = w_done_q;
    if (!w_busy_q && w_ends) w_done_d = 1'b1;
    if (aw_passes) begin
      w_busy_d = ~w_done_q & ~w_ends;
      w_done_d = 1'b0;
    end
  end

  // --- responses ---
  // The upper bits of an id are the master's number; the rest is the master's own id.
  port_t b_port, r_port;
  assign {b_port, b_id_o} = slave_b_id_i;
  assign {r_port, r_id_o} = slave_r_id_i;
  assign slave_b_ready_o  = b_ready_i[b_port];
  assign slave_r_ready_o  = r_ready_i[r_port];

  // Each handshake belongs to one master: an address to the selected master, write data to the
  // master of the burst, a response to the master whose number the id has. All others see neither
  // `ready` nor `valid`. An address waits while write data of the previous burst are outstanding,
  // since data carry no id.
  always_comb begin
    aw_ready_o = '0;
    ar_ready_o = '0;
    w_ready_o  = '0;
    b_valid_o  = '0;
    r_valid_o  = '0;
    aw_ready_o[aw_port] = slave_aw_ready_i & ~w_busy_q;
    ar_ready_o[ar_port] = slave_ar_ready_i;
    w_ready_o[w_port]   = slave_w_ready_i & w_is_open;
    b_valid_o[b_port]   = slave_b_valid_i;
    r_valid_o[r_port]   = slave_r_valid_i;
  end

  // The master served last, the address that waits for `ready`, and the owner of due write data. The selection
  // is kept until the subordinate takes the address. The master selected now counts as served, also if the slave is not
  // ready yet.
  assign aw_port_d    = slave_aw_valid_o ? aw_port : aw_port_q;
  assign ar_port_d    = slave_ar_valid_o ? ar_port : ar_port_q;
  assign w_port_d     = aw_passes ? aw_port : w_port_q;
  assign aw_offered_d = slave_aw_valid_o & ~slave_aw_ready_i;
  assign ar_offered_d = slave_ar_valid_o & ~slave_ar_ready_i;
  flop_cell #(.Width(PortBits)) u_aw_port (.clk_i, .rst_ni, .d_i(aw_port_d), .q_o(aw_port_q));
  flop_cell #(.Width(PortBits)) u_ar_port (.clk_i, .rst_ni, .d_i(ar_port_d), .q_o(ar_port_q));
  flop_cell #(.Width(PortBits)) u_w_port  (.clk_i, .rst_ni, .d_i(w_port_d),  .q_o(w_port_q));
  flop_cell #(.Width(2)) u_offered (
    .clk_i, .rst_ni, .d_i({aw_offered_d, ar_offered_d}), .q_o({aw_offered_q, ar_offered_q})
  );
  flop_cell #(.Width(2)) u_data    (.clk_i, .rst_ni, .d_i({w_busy_d, w_done_d}), .q_o({w_busy_q, w_done_q}));

  // AMBA AXI §A3.2.1: an offered address or beat stays until it is taken.
  `ASSERT(AwWaitsForReady_A, slave_aw_valid_o && !slave_aw_ready_i && KeepsOffers |=>
          slave_aw_valid_o && $stable(slave_aw_id_o) && $stable(slave_aw_payload_o))
  `ASSERT(ArWaitsForReady_A, slave_ar_valid_o && !slave_ar_ready_i && KeepsOffers |=>
          slave_ar_valid_o && $stable(slave_ar_id_o) && $stable(slave_ar_payload_o))
  `ASSERT(WWaitsForReady_A, slave_w_valid_o && !slave_w_ready_i |=>
          slave_w_valid_o && $stable(slave_w_data_o) && $stable(slave_w_last_o))
  // A handshake belongs to one master only.
  `ASSERT(OneMasterAtATime_A,
          $onehot0(aw_ready_o) && $onehot0(ar_ready_o) && $onehot0(w_ready_o))
  // A response reaches one master only.
  `ASSERT(ResponsesHaveOneMaster_A, $onehot0(b_valid_o) && $onehot0(r_valid_o))
  // Data never precede the offer of their address, so the slave knows their place.
  `ASSERT(NoDataWithoutABurst_A, slave_w_valid_o |-> w_busy_q || slave_aw_valid_o)
  // A slave that waits for address and data before it takes either is not blocked (§A3.3.1).
  `ASSERT(DataDoNotWaitForTheirAddress_A, slave_aw_valid_o && w_valid_i[aw_port] && !w_done_q && OffersData |->
          slave_w_valid_o)
  // Registers have any value before the first reset, so conditions about them begin with the second cycle.
  // After the last beat no data pass until the address was taken.
  `ASSERT(NoDataPastTheirBurst_A, 1'b1 |=> !w_done_q || (!w_busy_q && !slave_w_valid_o))
  // The address of a next burst waits, so that its data cannot mix with these.
  `ASSERT(OneBurstAtATime_A, 1'b1 |=> !w_busy_q || (!slave_aw_valid_o && aw_ready_o == '0))
endmodule
