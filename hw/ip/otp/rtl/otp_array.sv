// A model of the fuse macro: rows of cells that burning can only set.
//
// It is the place of a macro of a manufacturer, and is no macro: as logic it is a memory, which forgets. A simulation
// begins with the rows of the file that `+otp_image=` names (or `Image`), in hexadecimal as $readmemh reads them, and
// writes them to the file of `+otp_save=` after each burn. Without a file all cells are clear.
//
// A request stays until it is acknowledged. A burn takes `BurnCycles`, and sets its cells one after the other from the
// lowest in equal parts of this time, so that a simulation that ends early leaves a torn row.

`include "assert.svh"

module otp_array
  import otp_pkg::*;
#(
  parameter int unsigned BurnCycles = 44,
  parameter int unsigned ReadCycles = 2
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   req_i,
  input  logic   burn_i,
  input  row_t   row_i,
  input  cells_t cells_i,
  output logic   ack_o,
  output cells_t cells_o
);
  localparam int unsigned NumRows   = 1 << $bits(row_t);
  localparam int unsigned CountBits = $clog2(BurnCycles + ReadCycles + 1);

  cells_t rows_q [NumRows];
  cells_t read_q;
  logic [CountBits-1:0] count_d, count_q;
  logic ack_d, ack_q;
  cells_t burns;

  // Cells that are burned by now: all at the end.
  always_comb begin
    burns = '0;
    for (int i = 0; i < RowBits; i++) begin
      burns[i] = cells_i[i] & (32'(count_q) * RowBits >= i * BurnCycles);
    end
  end

  // The time of an access.
  always_comb begin
    count_d = '0;
    ack_d   = 1'b0;
    if (req_i & ~ack_q) begin
      ack_d   = count_q == CountBits'(burn_i ? BurnCycles : ReadCycles - 1);
      count_d = ack_d ? '0 : count_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      ack_q   <= 1'b0;
    end else begin
      count_q <= count_d;
      ack_q   <= ack_d;
    end
  end
  assign ack_o   = ack_q;
  assign cells_o = read_q;

  // Cells keep what they are through a reset, and are only ever set.
  always_ff @(posedge clk_i) begin
    read_q <= rows_q[row_i];
    if (rst_ni && req_i && burn_i && !ack_q) rows_q[row_i] <= rows_q[row_i] | burns;
  end

`ifndef SYNTHESIS
  string image, save;
  initial begin
    for (int i = 0; i < NumRows; i++) rows_q[i] = '0;
    if ($value$plusargs("otp_image=%s", image) != 0) $readmemh(image, rows_q);
    if ($value$plusargs("otp_save=%s", save) == 0) save = "";
  end
  // The file is that of the cells after each burn.
  always @(negedge clk_i) if (save != "" && req_i && burn_i) $writememh(save, rows_q);
`endif

  `ASSERT(ARequestStays_A, req_i && !ack_o |=> !req_i || $stable({burn_i, row_i, cells_i}))
  `ASSERT(CellsAreOnlySet_A, req_i && burn_i |=> ($past(rows_q[row_i]) & ~rows_q[$past(row_i)]) == '0)
endmodule
