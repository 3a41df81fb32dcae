// Operates the engine for XMSS through its registers and its stream port, as a driver in software
// would (hw/ip/xmss/doc/registers.md).
//
// The block takes what `boot_verifier_engine` gives. It waits for an idle engine, writes the
// configuration, both types, the key and the start, streams signature and message, reads the status
// until the engine is done, and keeps verdict and reason. Both types are constants here: the unit
// has compared the type of the image with its own, and the digest of the key covers it.
//
// It runs once. After that the port is quiet until reset, so that it can be given to the host.
//
// Interface: words from the unit have valid and ready and stay until they are taken. One access to
// the registers is open at a time. Stream words pass without a register, at most one a cycle. Reset
// begins anew.
//
// Hardening: any two states differ in three bits, and every other code is an error until reset. The
// verdict is 64 bits and shows in the last state only. A refused access ends in the error as well.

`include "assert.svh"

module boot_verifier_driver
  import hartlock_axi_pkg::*;
#(
  // Type of the key (RFC 8391 §5.3).
  parameter logic [31:0] Code      = 32'd1,
  // 1 has the engine compute the root twice.
  parameter bit          TwoPasses = 1'b0,
  // 0 builds a driver that continues from an illegal state, to show that the test detects it.
  parameter bit          Hardened  = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Words from `boot_verifier_engine`: key by words of 32 bits, the start, signature, message. The
  // result is valid with `done_o` until reset.
  input  logic        key_valid_i,
  output logic        key_ready_o,
  input  logic [3:0]  key_index_i,
  input  logic [31:0] key_i,
  input  logic        start_i,
  input  logic        sig_valid_i,
  output logic        sig_ready_o,
  input  logic [63:0] sig_data_i,
  input  logic        sig_last_i,
  input  logic [3:0]  sig_bytes_i,
  input  logic        msg_valid_i,
  output logic        msg_ready_o,
  input  logic [63:0] msg_data_i,
  input  logic        msg_last_i,
  input  logic [3:0]  msg_bytes_i,
  output logic        done_o,
  // The engine refused the signature because of its index.
  output logic        index_o,
  output logic [63:0] verdict_o,

  // The registers of the engine: AXI4-Lite.
  output axil_req_t   axil_o,
  input  axil_resp_t  axil_i,

  // The stream port of the engine: the signature, then the message.
  output logic        str_valid_o,
  input  logic        str_ready_i,
  output logic [63:0] str_data_o,
  output logic        str_last_o,
  output logic [3:0]  str_bytes_o,

  // No access is open, and none follows until reset.
  output logic        quiet_o,
  // The engine refused an access or has failed, or this block was upset.
  output logic        error_o
);
  // Addresses of registers, values of commands, and numbers of bits of the status
  // (hw/ip/xmss/doc/registers.md).
  localparam logic [11:0] AtControl  = 12'h008;
  localparam logic [11:0] AtCommand  = 12'h00c;
  localparam logic [11:0] AtStatus   = 12'h010;
  localparam logic [11:0] AtExpected = 12'h020;
  localparam logic [11:0] AtKeyType  = 12'h024;
  localparam logic [11:0] AtReason   = 12'h028;
  localparam logic [11:0] AtVerdict  = 12'h030;
  localparam logic [11:0] AtKey      = 12'h040;
  localparam logic [31:0] Stream     = {30'd0, TwoPasses, 1'b1};
  localparam logic [31:0] Start      = 32'd1;
  localparam int unsigned Idle       = 0;
  localparam int unsigned Done       = 2;
  localparam int unsigned Failed     = 3;
  localparam logic [3:0]  LeafIndex  = 4'd4;

  // States as words of the Hamming code [7,4,3]: any two differ in three bits. A state of an access
  // ends with the response.
  typedef enum logic [6:0] {
    // Waits for the first word of the key, which shows that the unit has begun.
    StIdle     = 7'b0110001,
    // Writes the configuration, then the type that is expected, then the type of the key.
    StControl  = 7'b1010010,
    StExpected = 7'b1100011,
    StKeyType  = 7'b1100100,
    // Waits for a word of the key, or for the start.
    StTake     = 7'b1010101,
    // Writes a word of the key.
    StKey      = 7'b0110110,
    // Writes the command to start.
    StStart    = 7'b0000111,
    // Streams signature and message. It ends with the last word of the message.
    StStream   = 7'b1111000,
    // Reads the status until the engine is idle (before the key) or done (after the stream).
    StStatus   = 7'b1001001,
    // Reads the reason, then both halves of the verdict.
    StReason   = 7'b0101010,
    StLower    = 7'b0011011,
    StUpper    = 7'b0011100,
    // Shows the result until reset. No access follows.
    StDone     = 7'b0101101,
    // Only a reset ends this state.
    StError    = 7'b1001110
  } state_e;

  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(3)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_take, in_stream, in_done, writes, reads, is_legal;
  assign in_take   = state_q == StTake;
  assign in_stream = state_q == StStream;
  assign in_done   = state_q == StDone;
  assign writes    = (state_q == StControl) | (state_q == StExpected) | (state_q == StKeyType) | (state_q == StKey) |
                     (state_q == StStart);
  assign reads     = (state_q == StStatus) | (state_q == StReason) | (state_q == StLower) | (state_q == StUpper);
  assign is_legal  = writes | reads | in_take | in_stream | in_done | (state_q == StIdle);
  assign error_o   = ~is_legal;

  // --- one access at a time ---
  // The channels of the open access whose request was not taken yet.
  logic        open_d, open_q, aw_valid_d, aw_valid_q, w_valid_d, w_valid_q, ar_valid_d, ar_valid_q;
  logic [11:0] addr;
  logic [31:0] data;
  logic        begins, ends, is_wrong;

  assign begins   = (writes | reads) & ~open_q;
  assign ends     = open_q & ((axil_i.b_valid & axil_o.b_ready) | (axil_i.r_valid & axil_o.r_ready));
  assign is_wrong = ends & (writes ? axil_i.b_resp != 2'b00 : axil_i.r_resp != 2'b00);

  // --- key and results ---
  // The unit has given the whole key.
  logic        start_d, start_q;
  logic [31:0] key_word;
  logic [3:0]  reason_q;
  logic [63:0] verdict_q;

  // A word of the key stays until the engine has answered its write.
  assign key_ready_o = (state_q == StKey) & ends;
  // Registers have bytes in the order of memory, the first byte in the lower bits.
  assign key_word    = {<<8{key_i}};

  // Address and data of the access that belongs to the state. They are stable because the state
  // stays until the access ends.
  always_comb begin
    data = Code;
    unique case (state_q)
      StControl:  {addr, data} = {AtControl, Stream};
      StExpected: addr = AtExpected;
      StKeyType:  addr = AtKeyType;
      StKey:      {addr, data} = {AtKey + {6'd0, key_index_i, 2'd0}, key_word};
      StStart:    {addr, data} = {AtCommand, Start};
      StStatus:   addr = AtStatus;
      StReason:   addr = AtReason;
      StLower:    addr = AtVerdict;
      default:    addr = AtVerdict + 12'd4;
    endcase
    open_d     = begins | (open_q & ~ends);
    aw_valid_d = (begins & writes) | (aw_valid_q & ~axil_i.aw_ready);
    w_valid_d  = (begins & writes) | (w_valid_q & ~axil_i.w_ready);
    ar_valid_d = (begins & reads) | (ar_valid_q & ~axil_i.ar_ready);
  end

  // One step follows the other. An access that the engine refuses ends the sequence, and so does an
  // engine that has failed.
  always_comb begin
    state_d = state_q;
    start_d = start_q | start_i;
    unique case (state_q)
      // An engine that is not idle would take neither key nor start: it clears itself after a
      // reset.
      StIdle:     if (key_valid_i) state_d = StStatus;
      StControl:  if (ends) state_d = StExpected;
      StExpected: if (ends) state_d = StKeyType;
      StKeyType:  if (ends) state_d = StTake;
      StTake: begin
        if (key_valid_i) state_d = StKey;
        if (start_q) state_d = StStart;
      end
      StKey:      if (ends) state_d = StTake;
      StStart:    if (ends) state_d = StStream;
      StStream:   if (msg_valid_i && msg_ready_o && msg_last_i) state_d = StStatus;
      StStatus:   if (ends) begin
        if (start_q ? axil_i.r_data[Done] : axil_i.r_data[Idle]) state_d = start_q ? StReason : StControl;
        if (axil_i.r_data[Failed]) state_d = StError;
      end
      StReason:   if (ends) state_d = StLower;
      StLower:    if (ends) state_d = StUpper;
      StUpper:    if (ends) state_d = StDone;
      StDone:     state_d = StDone;
      StError:    state_d = StError;
      default:    state_d = Hardened ? StError : StUpper;
    endcase
    if (is_wrong) state_d = StError;
  end

  // The sequence begins anew with a reset only.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q     <= 1'b0;
      aw_valid_q <= 1'b0;
      w_valid_q  <= 1'b0;
      ar_valid_q <= 1'b0;
      start_q    <= 1'b0;
    end else begin
      open_q     <= open_d;
      aw_valid_q <= aw_valid_d;
      w_valid_q  <= w_valid_d;
      ar_valid_q <= ar_valid_d;
      start_q    <= start_d;
    end
  end

  // Results of the engine. Each is read once.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reason_q  <= '0;
      verdict_q <= '0;
    end else if (ends) begin
      if (state_q == StReason) reason_q         <= axil_i.r_data[3:0];
      if (state_q == StLower)  verdict_q[31:0]  <= axil_i.r_data;
      if (state_q == StUpper)  verdict_q[63:32] <= axil_i.r_data;
    end
  end

  // A response is accepted after its request was taken, so it belongs to the open access.
  assign axil_o = '{
    aw_valid: aw_valid_q, aw_addr: addr,
    w_valid:  w_valid_q, w_data: data, w_strb: '1,
    b_ready:  open_q & writes & ~aw_valid_q & ~w_valid_q,
    ar_valid: ar_valid_q, ar_addr: addr,
    r_ready:  open_q & reads & ~ar_valid_q
  };

  // --- the stream: the signature, then the message ---
  // The signature has priority, so no word of the message overtakes it.
  assign str_valid_o = in_stream & (sig_valid_i | msg_valid_i);
  assign str_data_o  = sig_valid_i ? sig_data_i : msg_data_i;
  assign str_last_o  = sig_valid_i ? sig_last_i : msg_last_i;
  assign str_bytes_o = sig_valid_i ? sig_bytes_i : msg_bytes_i;
  assign sig_ready_o = in_stream & str_ready_i;
  assign msg_ready_o = in_stream & str_ready_i & ~sig_valid_i;

  // The verdict shows only after both halves were read.
  assign done_o    = in_done;
  assign index_o   = in_done & (reason_q == LeafIndex);
  assign verdict_o = verdict_q & {64{in_done}};
  assign quiet_o   = in_done & ~open_q;

  // AMBA AXI: an offered address, word or read must not change until it is taken.
  `ASSERT(AddressesStay_A, axil_o.aw_valid && !axil_i.aw_ready |=> axil_o.aw_valid && $stable(axil_o.aw_addr))
  `ASSERT(DataStay_A, axil_o.w_valid && !axil_i.w_ready |=> axil_o.w_valid && $stable(axil_o.w_data))
  `ASSERT(ReadsStay_A, axil_o.ar_valid && !axil_i.ar_ready |=> axil_o.ar_valid && $stable(axil_o.ar_addr))
  // An access is either a read or a write, so its response cannot be mistaken.
  `ASSERT(OneAccessAtATime_A, !(axil_o.ar_valid && (axil_o.aw_valid || axil_o.w_valid)))
  // No verdict shows before the last read: zeros mean that there is none.
  `ASSERT(NoVerdictBeforeTheEnd_A, verdict_o != '0 |-> done_o)
  // The end lasts until reset, so the engine is driven only once.
  `ASSERT(TheEndIsForGood_A, done_o && Hardened |=> done_o || error_o)
  // Once the port is quiet, nothing follows. The host may use the port from then on.
  `ASSERT(QuietStaysQuiet_A, quiet_o && Hardened |=> !axil_o.aw_valid && !axil_o.w_valid && !axil_o.ar_valid && !str_valid_o)
  // Nothing is streamed to an engine that was not started.
  `ASSERT(NothingIsStreamedBeforeTheStart_A, str_valid_o |-> start_q)
endmodule
