// Computes the message digest on the first hash core, before the lanes begin: H_msg (FIPS 205
// §11.2.1), which is MGF1-SHA-256(R || PK.seed || SHA-256(R || PK.seed || PK.root || M'), 30).
//
// Before that it computes the state of the hash function after PK.seed and its zeros, with which
// all other hashes begin. MGF1 needs one hash only, because the digest has 30 bytes.
//
// Interface: words of M' and reads have valid and ready, at most one word a cycle. `start_i` is a
// strobe. M' and the 48 bytes in front have less than 2^61 bytes, as FIPS 180-4 allows. Reset and
// `clear_i` drop the message.
//
// Hardening: any two states differ in four bits, and every other code is `error_o` until reset.

`include "assert.svh"

module slh_dsa_message
  import slh_dsa_pkg::*;
  import xmss_pkg::hash_response_t;
  import sha2_pkg::*;
#(
  // As in the hash core.
  parameter bit Overlaps = 1'b1,
  // 0 builds a block that continues from an illegal state, to show that the test detects it.
  parameter bit Hardened = 1'b1
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  // Drops the message.
  input  logic           clear_i,
  // A new message begins.
  input  logic           start_i,
  // The state does not exist. This lasts until reset.
  output logic           error_o,
  // The message has the first hash core.
  output logic           busy_o,

  // R is in the memory.
  input  logic           has_random_i,

  // Words of M', with the first byte in the upper bits. A word has eight bytes; the last one has
  // none to eight.
  input  logic           word_valid_i,
  output logic           word_ready_o,
  input  logic [63:0]    word_i,
  input  logic           word_last_i,
  input  logic [3:0]     word_bytes_i,

  // Reads of the memory. A half comes in the cycle after its grant.
  output logic           read_o,
  input  logic           read_ready_i,
  output half_t          read_at_o,
  input  logic [63:0]    read_data_i,

  // The first hash core. A state that it gives is taken at once, and no state is loaded.
  output logic           cmd_valid_o,
  output cmd_e           cmd_o,
  output logic           lane_valid_o,
  output logic [63:0]    lane_o,
  input  hash_response_t hash_i,
  // Words of the state after PK.seed leave the core.
  output logic           mid_valid_o,

  // The digest is there.
  output logic           done_o,
  // The digest. Its first word is the last element.
  output logic [7:0][31:0] digest_o
);
  // States as words of an extended Hamming code: any two differ in four bits. A state that makes
  // lanes ends with its last lane.
  typedef enum logic [7:0] {
    // Waits for a start.
    StIdle   = 8'h0f,
    // Makes the block of PK.seed and zeros.
    StSeed   = 8'h33,
    // Makes R, PK.seed and PK.root.
    StPrefix = 8'h3c,
    // Takes M', up to its last word.
    StWords  = 8'h55,
    // Makes the marker of the padding, because the last word had no room for it.
    StMarker = 8'h5a,
    // Makes zeros up to the length.
    StZeros  = 8'h66,
    // Makes the length in bits.
    StLength = 8'h69,
    // Makes R, PK.seed and the digest.
    StExpand = 8'h96,
    // Makes the counter of MGF1, and the padding.
    StCounter = 8'h99,
    // Waits for the state of the last hash.
    StSave   = 8'ha5,
    // Shows the digest until the next start.
    StDone   = 8'haa,
    // Only a reset ends this state.
    StError  = 8'hf0
  } state_e;
  state_e state_d, state_q;
  sparse_fsm #(.state_t(state_e), .Reset(StIdle), .MinDistance(4)) u_state (
    .clk_i, .rst_ni, .state_i(state_d), .state_o(state_q)
  );

  logic in_idle, in_seed, in_prefix, in_words, in_marker, in_zeros, in_length, in_expand, in_counter, in_save, in_done;
  assign in_idle    = state_q == StIdle;
  assign in_seed    = state_q == StSeed;
  assign in_prefix  = state_q == StPrefix;
  assign in_words   = state_q == StWords;
  assign in_marker  = state_q == StMarker;
  assign in_zeros   = state_q == StZeros;
  assign in_length  = state_q == StLength;
  assign in_expand  = state_q == StExpand;
  assign in_counter = state_q == StCounter;
  assign in_save    = state_q == StSave;
  assign in_done    = state_q == StDone;
  assign error_o    = ~(in_idle | in_seed | in_prefix | in_words | in_marker | in_zeros | in_length | in_expand | in_counter |
                        in_save | in_done);
  assign busy_o     = ~(in_idle | in_done | error_o);
  assign done_o     = in_done;

  // The lane of the block that is made next.
  logic [2:0]  at_q;
  // A block was not offered yet; it begins a hash.
  logic        needs_cmd_q, is_new_q;
  // A lane waits for the core; a half comes from the memory.
  logic        valid_q, fetched_q;
  logic [63:0] lane_q, lane, ended, digest;
  // The digest as halves.
  logic [3:0][63:0] halves;
  logic        is_stored, is_there, room, loads, ends_block, asks;
  // Bytes of R, key and message. A shorter count would wrap, and give a long message the padding of
  // a short one.
  logic [60:0] bytes_q;

  // In the last word the bytes after the message are replaced by the marker and zeros.
  always_comb begin
    ended = '0;
    for (int i = 0; i < 8; i++) begin
      if (4'(i) < word_bytes_i)       ended[63 - 8*i -: 8] = word_i[63 - 8*i -: 8];
      else if (4'(i) == word_bytes_i) ended[63 - 8*i -: 8] = 8'h80;
    end
  end

  assign halves = digest_o;

  // Lanes from the memory: halves of R, PK.seed and PK.root.
  assign is_stored = (in_seed & (at_q < 3'd2)) | in_prefix | (in_expand & ~at_q[2]);
  always_comb begin
    read_at_o = {9'd0, at_q[0]};
    if (in_seed || at_q[1]) read_at_o = SeedAt | {9'd0, at_q[0]};
    if (at_q[2])            read_at_o = RootAt | {9'd0, at_q[0]};
  end
  // A block is complete before the next one is offered, so that each lane belongs to its command.
  assign room       = (~valid_q | hash_i.lane_ready) & ~needs_cmd_q;
  assign read_o     = is_stored & room & ~fetched_q & (has_random_i | in_seed);
  assign is_there   = is_stored ? fetched_q : ~in_words | word_valid_i;
  assign loads      = busy_o & ~in_save & room & is_there;
  assign ends_block = loads & (at_q == 3'd7);
  assign word_ready_o = in_words & room;
  assign digest     = halves[~at_q[1:0]];

  // The lane that is made.
  always_comb begin
    lane = '0;
    unique case (state_q)
      StSeed:    if (is_stored) lane = read_data_i;
      StPrefix:  lane = read_data_i;
      StWords:   lane = ended;
      StMarker:  lane[63] = 1'b1;
      StLength:  lane = {bytes_q, 3'd0};
      StExpand:  lane = is_stored ? read_data_i : digest;
      StCounter: begin
        // The counter of MGF1 is zero. The message has 68 bytes, which are 544 bits.
        lane[31] = at_q == 3'd0;
        if (at_q == 3'd7) lane[9:0] = 10'd544;
      end
      default:   lane = '0;
    endcase
  end

  // Lanes in order. The padding (FIPS 180-4 §5.1.1) ends a block.
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle, StDone: state_d = state_q;
      StSeed:    if (ends_block) state_d = StPrefix;
      StPrefix:  if (loads && at_q == 3'd5) state_d = StWords;
      StWords:   if (loads && word_last_i) begin
        state_d = word_bytes_i[3] ? StMarker : (at_q == 3'd6) ? StLength : StZeros;
      end
      StMarker:  if (loads) state_d = (at_q == 3'd6) ? StLength : StZeros;
      StZeros:   if (loads && at_q == 3'd6) state_d = StLength;
      StLength:  if (loads) state_d = StExpand;
      StExpand:  if (ends_block) state_d = StCounter;
      StCounter: if (ends_block) state_d = StSave;
      StSave:    if (hash_i.save_valid && hash_i.save_last && ~needs_cmd_q) state_d = StDone;
      StError:   state_d = StError;
      default:   state_d = Hardened ? StError : StIdle;
    endcase
    if (start_i && !error_o) state_d = StSeed;
    if (clear_i && !error_o) state_d = StIdle;
  end

  // --- the core ---
  // A state is awaited; it is the state after PK.seed.
  logic wants_q, of_seed_q, takes_cmd;
  assign asks      = wants_q & ((is_new_q & ~Overlaps) | in_save);
  assign takes_cmd = cmd_valid_o & hash_i.cmd_ready;

  assign cmd_valid_o  = needs_cmd_q & ~valid_q;
  assign cmd_o        = asks ? CmdSave : is_new_q ? CmdFirst : CmdNext;
  assign lane_valid_o = valid_q;
  assign lane_o       = lane_q;
  assign mid_valid_o  = wants_q & of_seed_q & hash_i.save_valid;

  // The position in the message, the lane that waits, and the state from the core. Data need no
  // clear, because `done_o` says what is valid.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q        <= '0;
      needs_cmd_q <= 1'b0;
      is_new_q    <= 1'b0;
      valid_q     <= 1'b0;
      fetched_q   <= 1'b0;
      lane_q      <= '0;
      bytes_q     <= '0;
      wants_q     <= 1'b0;
      of_seed_q   <= 1'b0;
      digest_o    <= '0;
    end else begin
      if (clear_i || start_i) begin
        at_q        <= '0;
        needs_cmd_q <= start_i & ~clear_i;
        is_new_q    <= 1'b1;
        valid_q     <= 1'b0;
        fetched_q   <= 1'b0;
        bytes_q     <= 61'd48;
        wants_q     <= 1'b0;
        of_seed_q   <= 1'b0;
      end else begin
        fetched_q <= read_o & read_ready_i;
        if (hash_i.lane_ready) valid_q <= 1'b0;
        if (loads) begin
          valid_q <= 1'b1;
          lane_q  <= lane;
          at_q    <= at_q + 3'd1;
          if (in_words) bytes_q <= bytes_q + 61'(word_bytes_i);
        end
        // After a state that was asked for, the command of the block follows.
        if (takes_cmd && !(asks && !in_save)) begin
          needs_cmd_q <= 1'b0;
          is_new_q    <= 1'b0;
        end
        if (ends_block) begin
          needs_cmd_q <= 1'b1;
          is_new_q    <= in_seed | in_length;
          if (in_seed || in_length || in_counter) begin
            wants_q   <= 1'b1;
            of_seed_q <= in_seed;
          end
        end
        if (wants_q && hash_i.save_valid) begin
          if (hash_i.save_last) wants_q <= 1'b0;
          // Row 0 is H0, H1, H4, H5.
          for (int word = 0; word < 2; word++) begin
            if (hash_i.save_halves[word] && !of_seed_q) begin
              digest_o[{1'b1, ~hash_i.save_row, 1'(word)}] <= hash_i.save.low[32*word +: 32];
              digest_o[{1'b0, ~hash_i.save_row, 1'(word)}] <= hash_i.save.high[32*word +: 32];
            end
          end
        end
      end
    end
  end

  logic unused_ports;
  assign unused_ports = ^{hash_i.error, hash_i.load_next, hash_i.load_last, hash_i.load_row};

  // An error lasts until reset.
  `ASSERT(ErrorIsForGood_A, error_o && Hardened |=> error_o)
  // FIPS 180-4 §5.1.1: the length in bits is the last 64 bits of a block.
  `ASSERT(TheLengthIsAtTheEnd_A, in_length |-> at_q == 3'd7)
  // Padding inside of a message would give two messages the same digest.
  `ASSERT(OnlyTheLastWordIsShort_A, word_valid_i && !word_last_i |-> word_bytes_i == 4'd8)
  // A lane never becomes part of the block before.
  `ASSERT(ALaneBelongsToItsCommand_A, loads |-> !needs_cmd_q)
  // The state of a hash has left before the next block ends; otherwise it would be lost.
  `ASSERT(AnOldStateIsTakenFirst_A, ends_block |-> !wants_q)
  // The digest is complete when it is shown.
  `ASSERT(ADigestHasNoStateToCome_A, done_o |-> !wants_q)
  // A count that wrapped would give two messages the same end.
  `ASSERT(TheLengthDoesNotWrap_A, !start_i && !clear_i |=> bytes_q >= $past(bytes_q))
endmodule
