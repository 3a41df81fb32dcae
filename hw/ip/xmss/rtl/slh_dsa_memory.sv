// The memories, in block RAM: one of the signature and the key, and one of results. Each is read
// and written once a cycle.
//
// Lanes have priority, the lowest one first. A half of the signature that is not there yet is not
// read, and its lane waits: for the stream only, never for another lane. Data come in the cycle
// after their grant. Contents have neither reset nor parity.

`include "assert.svh"

module slh_dsa_memory
  import slh_dsa_pkg::*;
#(
  // Number of lanes.
  parameter int unsigned Lanes = 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // The signature: halves of the stream, and words of the key.
  // Number of halves that are there.
  input  half_t              filled_i,
  input  logic               write_i,
  input  half_t              write_at_i,
  input  logic [1:0]         write_words_i,
  input  logic [63:0]        write_data_i,

  // Reads. The first lane reads results as well, without a wait.
  input  logic [Lanes-1:0]   lane_read_i,
  output logic [Lanes-1:0]   lane_ready_o,
  input  half_t              lane_at_i [Lanes],
  input  logic               of_results_i,
  // A read for the message or the comparison, of what is known to be there.
  input  logic               read_i,
  output logic               read_ready_o,
  input  half_t              read_at_i,
  // Data of the read that was granted in the cycle before.
  output logic [63:0]        data_o,
  output logic [63:0]        results_o,

  // Results: words of a half, from lanes.
  input  logic [Lanes-1:0]   result_i,
  output logic [Lanes-1:0]   result_ready_o,
  input  logic [6:0]         result_at_i [Lanes],
  input  logic [1:0]         result_words_i [Lanes],
  input  logic [63:0]        result_data_i [Lanes]
);
  // The memories have no reset, because nothing is read that was not written after the last start.
  logic [31:0] upper [1024];
  logic [31:0] lower [1024];
  logic [31:0] result_upper [128];
  logic [31:0] result_lower [128];

  localparam int unsigned LaneBits = (Lanes > 1) ? $clog2(Lanes) : 1;
  logic [Lanes-1:0]    asks;
  logic                reads;
  half_t               at;
  logic [LaneBits-1:0] reader, writer;

  // The lowest lane that asks for a half that is there, or the other port.
  always_comb begin
    asks         = '0;
    reader       = '0;
    lane_ready_o = '0;
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      asks[lane] = lane_read_i[lane] & (lane_at_i[lane] < filled_i) & ~(of_results_i && lane == 0);
      if (asks[lane]) begin
        reader       = LaneBits'(lane);
        lane_ready_o = Lanes'(1) << lane;
      end
    end
    if (of_results_i) lane_ready_o[0] = lane_read_i[0];
    read_ready_o = asks == '0;
    reads        = read_i | ~read_ready_o;
    at           = read_ready_o ? read_at_i : lane_at_i[reader];
  end

  logic [6:0]  result_at;
  logic [1:0]  result_words;
  logic [63:0] result_data;

  // The lowest lane with a result.
  always_comb begin
    writer         = '0;
    result_ready_o = '0;
    for (int lane = Lanes - 1; lane >= 0; lane--) begin
      if (result_i[lane]) begin
        writer         = LaneBits'(lane);
        result_ready_o = Lanes'(1) << lane;
      end
    end
    result_at    = result_at_i[writer];
    result_data  = result_data_i[writer];
    result_words = (result_i == '0) ? 2'b00 : result_words_i[writer];
  end

  // Words have write enables of their own, because words of a key come one at a time.
  always_ff @(posedge clk_i) begin
    if (write_i && write_words_i[1]) upper[write_at_i] <= write_data_i[63:32];
    if (write_i && write_words_i[0]) lower[write_at_i] <= write_data_i[31:0];
    if (reads) data_o <= {upper[at], lower[at]};
  end

  // Words of results have write enables as well, because a core of one round gives one word at a
  // time.
  always_ff @(posedge clk_i) begin
    if (result_words[1]) result_upper[result_at] <= result_data[63:32];
    if (result_words[0]) result_lower[result_at] <= result_data[31:0];
    if (lane_read_i[0] && of_results_i) results_o <= {result_upper[lane_at_i[0][6:0]], result_lower[lane_at_i[0][6:0]]};
  end

  // A lane takes a grant as its own half: a grant without a request would be another lane's data.
  `ASSERT(AGrantIsOfARequest_A, ((lane_ready_o & ~lane_read_i) | (result_ready_o & ~result_i)) == '0)
  // The port of the signature has one user at a time.
  `ASSERT(OneReadAtATime_A, $onehot0({lane_ready_o & ~Lanes'(of_results_i), read_i & read_ready_o}))
  // The port of the results has one writer at a time.
  `ASSERT(OneResultAtATime_A, $onehot0(result_ready_o))
  // A half that is not there yet has the contents of an earlier signature.
  `ASSERT(OnlyWhatIsThereIsRead_A, reads && !read_ready_o |-> at < filled_i)
endmodule
