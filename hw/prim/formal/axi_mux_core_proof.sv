// Proof of `axi_mux_core` for two masters: rules of its channels, no data of another master, and a bound of every wait.
//
// The environment is any that AXI allows and that does not wait for ever: the slave takes something of a write within
// `SlaveWait` cycles once address and data are both offered or taken, and may withhold both `ready` until then; a master
// offers data within `MasterWait` cycles of their address, and the other way around.

module axi_mux_core_proof #(
  parameter bit          KeepsOffers = 1'b1,
  parameter bit          OffersData  = 1'b1,
  // The bound.
  parameter int unsigned MaxCycles  = 20
) (
  input logic            clk_i,
  input logic [1:0]      aw_valid_i,
  input logic [1:0][0:0] aw_id_i,
  input logic [1:0][0:0] aw_payload_i,
  input logic [1:0]      w_valid_i,
  input logic [1:0][7:0] w_data_i,
  input logic [1:0][0:0] w_strb_i,
  input logic [1:0]      w_last_i,
  input logic [1:0]      b_ready_i,
  input logic [1:0]      ar_valid_i,
  input logic [1:0][0:0] ar_id_i,
  input logic [1:0][0:0] ar_payload_i,
  input logic [1:0]      r_ready_i,
  input logic            slave_aw_ready_i,
  input logic            slave_w_ready_i,
  input logic            slave_b_valid_i,
  input logic [1:0]      slave_b_id_i,
  input logic            slave_ar_ready_i,
  input logic            slave_r_valid_i,
  input logic [1:0]      slave_r_id_i
);
  localparam int unsigned SlaveWait  = 1;
  localparam int unsigned MasterWait = 1;

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic [1:0] aw_ready, w_ready, b_valid, ar_ready, r_valid;
  logic       aw_valid, w_valid, w_last, b_ready, ar_valid, r_ready;
  logic       b_id, r_id, aw_payload, w_strb, ar_payload;
  logic [1:0] aw_id, ar_id;
  logic [7:0] w_data;

  axi_mux_core #(
    .NumMasters  (2),
    .IdBits      (1),
    .PayloadBits (1),
    .DataBits    (8),
    .KeepsOffers (KeepsOffers),
    .OffersData  (OffersData)
  ) dut (
    .clk_i, .rst_ni,
    .aw_valid_i, .aw_ready_o (aw_ready), .aw_id_i, .aw_payload_i,
    .w_valid_i, .w_ready_o (w_ready), .w_data_i, .w_strb_i, .w_last_i,
    .b_valid_o (b_valid), .b_ready_i,
    .ar_valid_i, .ar_ready_o (ar_ready), .ar_id_i, .ar_payload_i,
    .r_valid_o (r_valid), .r_ready_i, .b_id_o (b_id), .r_id_o (r_id),
    .slave_aw_valid_o (aw_valid), .slave_aw_ready_i, .slave_aw_id_o (aw_id), .slave_aw_payload_o (aw_payload),
    .slave_w_valid_o (w_valid), .slave_w_ready_i, .slave_w_data_o (w_data), .slave_w_strb_o (w_strb),
    .slave_w_last_o (w_last),
    .slave_b_valid_i, .slave_b_ready_o (b_ready), .slave_b_id_i,
    .slave_ar_valid_o (ar_valid), .slave_ar_ready_i, .slave_ar_id_o (ar_id), .slave_ar_payload_o (ar_payload),
    .slave_r_valid_i, .slave_r_ready_o (r_ready), .slave_r_id_i
  );

  // --- the environment keeps the rules ---
  for (genvar m = 0; m < 2; m++) begin : gen_master
    channel_rules #(.Bits(2), .IsAssumed(1)) u_aw (
      .clk_i, .rst_ni, .valid_i (aw_valid_i[m]), .ready_i (aw_ready[m]), .payload_i ({aw_id_i[m], aw_payload_i[m]})
    );
    channel_rules #(.Bits(10), .IsAssumed(1)) u_w (
      .clk_i, .rst_ni, .valid_i (w_valid_i[m]), .ready_i (w_ready[m]),
      .payload_i ({w_data_i[m], w_strb_i[m], w_last_i[m]})
    );
    channel_rules #(.Bits(2), .IsAssumed(1)) u_ar (
      .clk_i, .rst_ni, .valid_i (ar_valid_i[m]), .ready_i (ar_ready[m]), .payload_i ({ar_id_i[m], ar_payload_i[m]})
    );
  end
  channel_rules #(.Bits(2), .IsAssumed(1)) u_b (
    .clk_i, .rst_ni, .valid_i (slave_b_valid_i), .ready_i (b_ready), .payload_i (slave_b_id_i)
  );
  channel_rules #(.Bits(2), .IsAssumed(1)) u_r (
    .clk_i, .rst_ni, .valid_i (slave_r_valid_i), .ready_i (r_ready), .payload_i (slave_r_id_i)
  );

  // --- the block keeps them ---
  channel_rules #(.Bits(3)) u_slave_aw (
    .clk_i, .rst_ni, .valid_i (aw_valid), .ready_i (slave_aw_ready_i), .payload_i ({aw_id, aw_payload})
  );
  channel_rules #(.Bits(10)) u_slave_w (
    .clk_i, .rst_ni, .valid_i (w_valid), .ready_i (slave_w_ready_i), .payload_i ({w_data, w_strb, w_last})
  );
  channel_rules #(.Bits(3)) u_slave_ar (
    .clk_i, .rst_ni, .valid_i (ar_valid), .ready_i (slave_ar_ready_i), .payload_i ({ar_id, ar_payload})
  );

  // --- what passes ---
  logic [1:0] aw_passes, w_passes, ar_passes;
  assign aw_passes = aw_valid_i & aw_ready;
  assign w_passes  = w_valid_i & w_ready;
  assign ar_passes = ar_valid_i & ar_ready;

  // Of each master: its address was taken and its data were not all, and the other way around. In a burst: beats of it.
  logic [1:0] owes_d, owes_q, early_d, early_q;
  logic [1:0] beats_q [2];
  for (genvar m = 0; m < 2; m++) begin : gen_books
    always_comb begin
      owes_d[m]  = owes_q[m];
      early_d[m] = early_q[m];
      if (aw_passes[m]) {owes_d[m], early_d[m]} = {~early_q[m], 1'b0};
      if (w_passes[m] && w_last_i[m]) {owes_d[m], early_d[m]} = {1'b0, ~(owes_q[m] | aw_passes[m])};
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        owes_q[m]  <= 1'b0;
        early_q[m] <= 1'b0;
        beats_q[m] <= '0;
      end else begin
        owes_q[m]  <= owes_d[m];
        early_q[m] <= early_d[m];
        if (w_passes[m]) beats_q[m] <= w_last_i[m] ? '0 : beats_q[m] + 1'b1;
      end
    end
    // Bursts of one or two beats.
    always_comb if (w_valid_i[m]) assume (w_last_i[m] || beats_q[m] == '0);

    // Data do not stay away from their address, nor an address from its data.
    patience #(.Max(MasterWait), .IsAssumed(1)) u_data (
      .clk_i, .rst_ni, .waits_i (((aw_valid_i[m] && !early_q[m]) || owes_q[m]) && !w_valid_i[m])
    );
    patience #(.Max(MasterWait), .IsAssumed(1)) u_address (
      .clk_i, .rst_ni, .waits_i (w_valid_i[m] && !owes_q[m] && !aw_valid_i[m])
    );
    patience #(.Max(SlaveWait), .IsAssumed(1)) u_b_taken (
      .clk_i, .rst_ni, .waits_i (b_valid[m] && !b_ready_i[m])
    );
    patience #(.Max(SlaveWait), .IsAssumed(1)) u_r_taken (
      .clk_i, .rst_ni, .waits_i (r_valid[m] && !r_ready_i[m])
    );

    // Every wait has a bound.
    patience #(.Max(MaxCycles)) u_aw_waits (.clk_i, .rst_ni, .waits_i (aw_valid_i[m] && !aw_ready[m]));
    patience #(.Max(MaxCycles)) u_w_waits (.clk_i, .rst_ni, .waits_i (w_valid_i[m] && !w_ready[m]));
    patience #(.Max(2 * SlaveWait + 1)) u_ar_waits (.clk_i, .rst_ni, .waits_i (ar_valid_i[m] && !ar_ready[m]));

    // What a master sends arrives unchanged, under its number.
    always_comb begin
      if (aw_passes[m]) assert (slave_aw_ready_i && aw_valid && aw_id == {m[0], aw_id_i[m]} && aw_payload == aw_payload_i[m]);
      if (ar_passes[m]) assert (slave_ar_ready_i && ar_valid && ar_id == {m[0], ar_id_i[m]} && ar_payload == ar_payload_i[m]);
      if (w_passes[m]) assert (slave_w_ready_i && w_valid && w_data == w_data_i[m] && w_last == w_last_i[m]);
      // Its data are those of the open burst, or of the address that is offered.
      if (w_passes[m]) assert (owes_q[m] || (owes_q == '0 && aw_valid && aw_id[1] == m[0]));
      // A response goes to the master of its id alone.
      assert (b_valid[m] == (slave_b_valid_i && slave_b_id_i[1] == m[0]));
      assert (r_valid[m] == (slave_r_valid_i && slave_r_id_i[1] == m[0]));
      if (b_valid[m]) assert (b_ready == b_ready_i[m] && b_id == slave_b_id_i[0]);
      if (r_valid[m]) assert (r_ready == r_ready_i[m] && r_id == slave_r_id_i[0]);
      // The state of the block is what the channels showed.
      assert (owes_q[m] == (dut.w_busy_q && dut.w_port_q == m[0]));
      assert (early_q[m] == (dut.w_done_q && dut.aw_port_q == m[0]));
      if (early_q[m]) assert (dut.aw_offered_q && !owes_q[0] && !owes_q[1]);
    end
  end
  always_comb begin
    // Nothing passes to the slave that no master sent.
    assert ((aw_valid && slave_aw_ready_i) == (aw_passes != '0) && aw_passes != 2'b11);
    assert ((ar_valid && slave_ar_ready_i) == (ar_passes != '0) && ar_passes != 2'b11);
    assert ((w_valid && slave_w_ready_i) == (w_passes != '0) && w_passes != 2'b11);
  end

  // The slave takes something of a write that is offered completely.
  logic is_complete;
  assign is_complete = (aw_valid || owes_q != '0) && (w_valid || early_q != '0);
  patience #(.Max(SlaveWait), .IsAssumed(1)) u_slave_write (
    .clk_i, .rst_ni, .waits_i (is_complete && aw_passes == '0 && w_passes == '0)
  );
  patience #(.Max(SlaveWait), .IsAssumed(1)) u_slave_read (
    .clk_i, .rst_ni, .waits_i (ar_valid && ar_passes == '0)
  );
endmodule
