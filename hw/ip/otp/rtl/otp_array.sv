// Model of a fuse macro: rows of cells that burning can only set.
//
// The model stands in for the macro of a manufacturer. As logic it is a memory, which loses its
// cells with the power, so it protects nothing. A simulation begins with the rows of the file that
// `+otp_image=` names, in hexadecimal as $readmemh reads them, and writes them to the file of
// `+otp_save=` after each cycle of a burn. Without a file all cells are clear.
//
// Interface: the requester holds `req_i` with `burn_i`, `row_i` and `cells_i` until `ack_o`, which
// lasts one cycle and brings the cells that were read. One access is served at a time. A read takes
// `ReadCycles` cycles and a burn `BurnCycles` + 1. A burn sets its cells one after the other from
// the lowest, in equal parts of this time, so a simulation that ends early leaves a torn row. Reset
// ends an access and keeps the cells.

`include "assert.svh"

module otp_array
  import otp_pkg::*;
#(
  // Cycles of a burn and of a read. The defaults are short, to keep simulations fast; a real macro
  // takes much longer for a burn.
  parameter int unsigned BurnCycles = 44,
  parameter int unsigned ReadCycles = 2
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  // The request. With `burn_i` the cells that are one in `cells_i` are set, else the row is read.
  input  logic   req_i,
  input  logic   burn_i,
  input  row_t   row_i,
  input  cells_t cells_i,
  // The acknowledgement, and the row as it was in the cycle before.
  output logic   ack_o,
  output cells_t cells_o
);
  localparam int unsigned NumRows   = 1 << $bits(row_t);
  localparam int unsigned CountBits = $clog2(BurnCycles + ReadCycles + 1);

  cells_t rows_q [NumRows];
  cells_t read_q;
  // Cycles since the access began.
  logic [CountBits-1:0] count_d, count_q;
  logic ack_d, ack_q;
  cells_t burns;

  // The cells that a burn has set by now. Cell i is due when i / RowBits of the time have passed,
  // and all cells are set at the end.
  always_comb begin
    burns = '0;
    for (int i = 0; i < RowBits; i++) begin
      burns[i] = cells_i[i] & (32'(count_q) * RowBits >= i * BurnCycles);
    end
  end

  // The access ends when its time has passed. In the cycle of the acknowledgement the request is
  // still there and must not begin a second access.
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

  // Cells keep their value through a reset, and are only ever set. Reset stops a burn between two
  // cells, as a power cut does.
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
  // The file always shows the cells as they are now, so that a simulation may be cut off at any
  // time.
  always @(negedge clk_i) if (save != "" && req_i && burn_i) $writememh(save, rows_q);
`endif

  // A request keeps its row and its cells until it is answered. A change could burn cells of a row
  // that nobody judged.
  `ASSERT(ARequestStays_A, req_i && !ack_o |=> !req_i || $stable({burn_i, row_i, cells_i}))
  // A burn never clears a cell. The lifecycle and the floor depend on this.
  `ASSERT(CellsAreOnlySet_A, req_i && burn_i |=> ($past(rows_q[row_i]) & ~rows_q[$past(row_i)]) == '0)
  // A read leaves the cells as they are, whatever the data of the request are.
  `ASSERT(AReadBurnsNothing_A, req_i && !burn_i |=> rows_q[$past(row_i)] == $past(rows_q[row_i]))
  // A burn is acknowledged when all of its cells are set, or a mark could be burned before its word.
  `ASSERT(ABurnIsComplete_A, 1'b1 |=> !(ack_o && req_i && burn_i) || (cells_i & ~rows_q[row_i]) == '0)
  // The requester judges the cells of the row that it asked for.
  `ASSERT(AReadIsOfItsRow_A, 1'b1 |=> !(ack_o && req_i && !burn_i) || cells_o == rows_q[row_i])
endmodule
