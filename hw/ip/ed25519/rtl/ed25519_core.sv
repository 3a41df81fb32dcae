// This module is Ed25519 without a bus and without a hash: base-point products, S = r + k s modulo L, and
// verification (RFC 8032 §5.1). One multiplier of words, an adder, and registers of 256 bits are connected by
// microcode in a ROM. Digests of 64 bytes come from the caller, so the core serves SHA-512 and SHA3-512 alike.
//
// Protocol: inputs and commands are valid/ready handshakes, and are taken while idle. `done_o` is a pulse at
// the end of a command. What can be read is said by `out_valid_o`, `s_valid_o` and `prefix_valid_o`, and is
// zero otherwise.
//
// Time: a product takes the same cycles for every scalar: 13,001 for a public key from its command.
// `doc/README.md` lists the others.
//
// Reset: the control begins with a wipe of the registers. Hardening: see `ed25519_control`; a write outside of
// its program, and an instruction that does not exist, are errors as well. While idle the units are cleared in
// every cycle. RAM has no parity. With `Blinded` products are blinded; power and radiation are out of scope.

`include "assert.svh"

module ed25519_core
  import ed25519_pkg::*;
  import ed25519_rom_pkg::*;
#(
  // `Hardened` = 0 removes the detection of upsets.
  parameter bit Hardened = 1'b1,
  // With `Blinded` products have 64 random bits times L and a random Z, from the port for entropy.
  parameter bit Blinded = 1'b0
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  // These ports take words of inputs, the lowest first, while the core is idle.
  input  logic       in_valid_i,
  output logic       in_ready_o,
  input  number_t    in_number_i,
  input  logic [1:0] in_index_i,
  input  word_t      in_i,
  // This is a word of a scalar, with bits as RFC 8032 wants them.
  input  logic       in_clamped_i,
  // The word is not what was sent.
  input  logic       in_upset_i,

  // These ports take entropy: five words for each product.
  input  logic       ent_valid_i,
  output logic       ent_ready_o,
  input  word_t      ent_i,

  // These ports take a command, and say what came of it.
  input  logic       command_valid_i,
  output logic       command_ready_o,
  input  command_e   command_i,
  input  logic [1:0] slot_i,
  // An abort keeps the slots.
  input  logic       abort_i,
  // A wipe forgets everything.
  input  logic       wipe_i,
  output logic       idle_o,
  output logic       done_o,
  output result_e    result_o,
  output logic       error_o,

  // These ports say which slots have keys, and whether there is a nonce.
  output logic [Slots-1:0] loaded_o,
  output logic [Slots-1:0] public_o,
  output logic       nonce_valid_o,

  // This is A or R, and S. It is zero while there is none.
  input  logic [2:0] out_place_i,
  output word_t      out_o,
  output logic       out_valid_o,
  output logic       s_valid_o,
  // This is the prefix of a slot, for the side port, at the same places as A.
  output word_t      prefix_o,
  output logic       prefix_valid_o
);
  // --- control ---

  logic       clear, wiping, start, ends, sequencer_error, write_error;
  logic       s_open, digest_open, key_open, public_open;
  logic       takes_in, changes_s, seed_write, seed_is_zero;
  place_t     seed_place;
  // These words of the digest came since the last command.
  logic [7:0] fresh_q;
  // Some of them were changed to be a scalar.
  logic       clamped_q;
  place_t     wipe_place;
  logic [9:0] entry;
  logic [1:0] slot;
  check_e     check;
  logic       passed;

  // The control runs the programs of a command.
  ed25519_control #(.Hardened(Hardened), .Blinded(Blinded)) u_control (
    .clk_i, .rst_ni,
    .command_valid_i, .command_ready_o, .command_i, .slot_i, .abort_i, .wipe_i,
    .digest_whole_i  (&fresh_q),
    .digest_clamped_i(clamped_q),
    .s_changes_i     (changes_s),
    .fail_i      (sequencer_error | write_error | in_upset_i),
    .error_o, .idle_o, .done_o, .result_o, .out_valid_o, .s_valid_o, .prefix_valid_o, .nonce_valid_o,
    .loaded_o, .public_o,
    .slot_o      (slot),
    .wiping_o    (wiping),
    .wipe_place_o(wipe_place),
    .clear_o     (clear),
    .ent_valid_i, .ent_ready_o,
    .seed_write_o  (seed_write),
    .seed_place_o  (seed_place),
    .seed_is_zero_o(seed_is_zero),
    .start_o     (start),
    .entry_o     (entry),
    .end_i       (ends),
    .check_i     (check),
    .passed_i    (passed),
    .s_open_o     (s_open),
    .digest_open_o(digest_open),
    .key_open_o   (key_open),
    .public_open_o(public_open)
  );

  // A digest is for one command, because half of an old one would make another nonce.
  assign takes_in  = in_valid_i & in_ready_o;
  assign changes_s = takes_in & (in_number_i == NumberS);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q   <= '0;
      clamped_q <= 1'b0;
    end else if (clear || (command_valid_i && command_ready_o)) begin
      fresh_q   <= '0;
      clamped_q <= 1'b0;
    end else if (takes_in && in_number_i inside {NumberLow, NumberHigh}) begin
      fresh_q[{in_number_i[0], in_index_i}] <= 1'b1;
      clamped_q <= clamped_q | in_clamped_i;
    end
  end

  // --- microcode ---

  logic [9:0]   code_address, number_address;  // These belong to the two ports of the ROM.
  logic [71:0]  code;
  word_t        number;
  instruction_t instruction;
  logic         first, comb, recode, position, at_end, has_sum, has_a, has_b, in_window;
  digit_t       digit, digit_a;

  // The word of the ROM is the microinstruction of this cycle.
  assign instruction = instruction_t'(code);

  ed25519_rom #(.Blinded(Blinded)) u_rom (
    .clk_i, .rst_ni,
    .code_address_i  (code_address),
    .code_o          (code),
    .number_address_i(number_address),
    .number_o        (number)
  );

  // The sequencer says which instruction is next.
  ed25519_sequencer u_sequencer (
    .clk_i, .rst_ni,
    .clear_i      (clear),
    .start_i      (start),
    .entry_i      (entry),
    .end_o        (ends),
    .error_o      (sequencer_error),
    .address_o    (code_address),
    .control_i    (instruction.control),
    .target_i     (instruction.target),
    .stay_i       (instruction.stay),
    .first_o      (first),
    .comb_o       (comb),
    .recode_o     (recode),
    .position_o   (position),
    .at_end_i     (at_end),
    .has_sum_i    (has_sum),
    .has_a_i      (has_a),
    .has_b_i      (has_b)
  );

  // --- addresses ---

  logic [2:0] index_q;      // This is the index of the multiple of A that is written.
  number_t    mul_a, mul_b, mul_to, add_to;
  logic [9:2] rom_number;  // This is a number in the ROM.
  logic [1:0] kind;  // The kinds are y + x, y - x, 2dxy and 2z.
  logic       start_mul, start_add;

  assign start_mul = first & instruction.mul;
  assign start_add = first & (instruction.add != AddNone);

  // Registers 16 to 19 in the microcode are those of the slot.
  function automatic number_t in_slot(number_t of, logic [1:0] which);
    return (of[5:4] == 2'b01) ? {of[5:4], of[3:2] | which, of[1:0]} : of;
  endfunction

  // The negative of a point has y + x and y - x exchanged; signed operations of the adder take the sign of
  // 2dxy.
  assign kind   = instruction.mul_b[1:0] ^ {1'b0, ~instruction.mul_b[1] &
                  ((instruction.b_from == FromMultiple) ? digit_a.negative : digit.negative)};
  assign mul_a  = in_slot(instruction.mul_a, slot);
  assign mul_b  = (instruction.b_from == FromMultiple) ? {1'b1, digit_a.index[2:0], kind} : in_slot(instruction.mul_b, slot);
  assign mul_to = in_slot(instruction.mul_to, slot) | (instruction.mul_indexed ? {1'b0, index_q, 2'b00} : 6'd0);
  assign add_to = in_slot(instruction.add_to, slot) | (instruction.add_indexed ? {1'b0, index_q, 2'b00} : 6'd0);

  // Each kind of number has 32 places in the comb, and 8 in the window.
  always_comb begin
    if (instruction.b_from == FromConstant) rom_number = RomConstants[9:2] + {4'd0, instruction.mul_b[3:0]};
    else if (in_window)                     rom_number = {3'b011, kind, digit.index[2:0]};
    else                                    rom_number = {1'b0, kind, digit.index};
  end

  // This is the index of the multiple of A; a program begins with the first one.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                             index_q <= '0;
    else if (start || clear)                 index_q <= '0;
    else if (first & instruction.next_index) index_q <= index_q + 3'd1;
  end

  // --- registers ---

  logic       write;
  place_t     place;
  word_t      write_word;
  logic       result_write;
  place_t     result_place;
  word_t      result_word;
  number_t    a_q, b_q;  // These are the operands.
  logic [9:2] rom_q;
  logic       from_rom_q, from_rom_now_q;
  logic       issue;
  logic [1:0] a_index, b_index;
  word_t      file_a [256];  // This copy is for the first operand of the multiplier.
  word_t      file_b [256];  // This copy is for its second operand.
  word_t      near_a [64];  // These two copies are for the adder.
  word_t      near_b [64];
  word_t      a_word, b_word, near_a_word, near_b_word;
  logic [3:0] a_number, b_number;
  logic [1:0] add_index;

  assign in_ready_o = idle_o & ~clear;
  // S, digests and keys change only where they are made. So what is shown is what was verified, what is reduced
  // twice is one digest, and what signs is what came. An upset of an address would otherwise leave a zero as
  // the prefix of a slot.
  always_comb begin
    write_error = 1'b0;
    unique casez (result_place[7:2])
      NumberS:                 write_error = ~s_open;
      NumberLow, NumberHigh:   write_error = ~digest_open;
      6'b01_????:              write_error = (result_place[5:4] != slot) |
                                             ~(result_place[3] ? public_open & ~result_place[2] : key_open);
      default: ;
    endcase
    write_error = write_error & result_write & Hardened;
  end
  // A wipe comes first, then inputs, which come while nothing else is written.
  always_comb begin
    write      = result_write & ~clear & ~write_error;
    place      = result_place;
    write_word = result_word;
    if (wiping) begin
      write      = 1'b1;
      place      = wipe_place;
      write_word = '0;
    end else if (takes_in) begin
      write      = 1'b1;
      place      = {in_number_i, in_index_i};
      write_word = in_i;
    end else if (seed_write) begin
      // Z is made odd, so that it is not zero.
      write      = 1'b1;
      place      = seed_place;
      write_word = seed_is_zero ? '0 : (ent_i | word_t'(seed_place[3:0] == {NumberZ[1:0], 2'd0}));
    end
  end

  // These are the operands of the product that runs.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_q        <= '0;
      b_q        <= '0;
      rom_q      <= '0;
      from_rom_q <= 1'b0;
    end else if (start_mul) begin
      a_q        <= mul_a;
      b_q        <= mul_b;
      rom_q      <= rom_number;
      from_rom_q <= instruction.b_from inside {FromConstant, FromFixed};
    end
  end

  // The registers have two copies in block RAM for the two operands of the multiplier, and two more of the
  // first 16 numbers for the adder.
  always_ff @(posedge clk_i) begin
    if (write) file_a[place] <= write_word;
    a_word <= file_a[{a_q, a_index}];
  end
  always_ff @(posedge clk_i) begin
    if (write) file_b[place] <= write_word;
    b_word <= file_b[{b_q, b_index}];
  end
  always_ff @(posedge clk_i) begin
    if (write && place[7:6] == 2'b00) begin
      near_a[place[5:0]] <= write_word;
      near_b[place[5:0]] <= write_word;
    end
  end
  assign near_a_word = near_a[{a_number, add_index}];
  assign near_b_word = near_b[{b_number, add_index}];

  assign number_address = {rom_q, b_index};
  // The memories answer a cycle later.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) from_rom_now_q <= 1'b0;
    else         from_rom_now_q <= from_rom_q;
  end

  // --- units ---

  logic        mul_done, mul_all_ones, mul_take, raw_valid, add_done, add_correct, add_less, add_at_edge;
  word_t       mul_word, raw_word, add_word, out_word;
  logic [12:0] mul_carry;
  number_t     mul_result, add_result;
  place_t      raw_place;

  // While idle the units are cleared in every cycle, because an upset that stayed would change the next nonce.
  ed25519_multiplier u_multiplier (
    .clk_i, .rst_ni,
    .clear_i    (clear | idle_o),
    .start_i    (start_mul),
    .square_i   (instruction.square),
    .raw_i      (instruction.raw),
    .low_i      (instruction.low),
    .to_i       (mul_to),
    .issue_o    (issue),
    .a_index_o  (a_index),
    .b_index_o  (b_index),
    .a_i        (a_word),
    .b_i        (from_rom_now_q ? number : b_word),
    .done_o     (mul_done),
    .word_o     (mul_word),
    .carry_o    (mul_carry),
    .all_ones_o (mul_all_ones),
    .to_o       (mul_result),
    .take_i     (mul_take),
    .raw_valid_o(raw_valid),
    .raw_place_o(raw_place),
    .raw_o      (raw_word)
  );

  // The adder also makes the checks.
  ed25519_adder u_adder (
    .clk_i, .rst_ni,
    .clear_i   (clear | idle_o),
    .start_i   (start_add),
    .op_i      (instruction.add),
    .negative_i(instruction.sign_of_a ? digit_a.negative : digit.negative),
    .cond_i    (instruction.cond),
    .check_i   (instruction.check),
    .a_i       (instruction.add_a),
    .b_i       (instruction.add_b),
    .to_i      (add_to),
    .a_number_o(a_number),
    .b_number_o(b_number),
    .index_o   (add_index),
    .a_word_i  (near_a_word),
    .b_word_i  (near_b_word),
    .done_o    (add_done),
    .word_o    (add_word),
    .correct_o (add_correct),
    .less_o    (add_less),
    .at_edge_o (add_at_edge),
    .to_o      (add_result),
    .check_o   (check),
    .passed_o  (passed)
  );

  // The writer is the only way of a result to the registers.
  ed25519_writer u_writer (
    .clk_i, .rst_ni,
    .clear_i       (clear | idle_o),
    .mul_done_i    (mul_done),
    .mul_word_i    (mul_word),
    .mul_carry_i   (mul_carry),
    .mul_all_ones_i(mul_all_ones),
    .mul_to_i      (mul_result),
    .mul_take_o    (mul_take),
    .raw_valid_i   (raw_valid),
    .raw_place_i   (raw_place),
    .raw_i         (raw_word),
    .add_done_i    (add_done),
    .add_word_i    (add_word),
    .add_correct_i (add_correct),
    .add_less_i    (add_less),
    .add_at_edge_i (add_at_edge),
    .add_to_i      (add_result),
    .write_o       (result_write),
    .place_o       (result_place),
    .word_o        (result_word)
  );

  // The digits keep copies of four registers, which are also read here.
  ed25519_digits #(.Blinded(Blinded)) u_digits (
    .clk_i, .rst_ni,
    .clear_i     (clear),
    .write_i     (write & (place[7:4] == 4'b0011)),
    .place_i     (place[3:0]),
    .word_i      (write_word),
    .read_i      (idle_o),
    // Registers 15 and 13 are read, or 14 for the prefix: no register of secrets is a register of results.
    .read_place_i({~out_place_i[2] | prefix_valid_o, ~prefix_valid_o, out_place_i[1:0]}),
    .read_o      (out_word),
    .comb_i      (comb),
    .recode_i    (recode),
    .next_i      (first & instruction.next_digit),
    .position_i  (position),
    .digit_o     (digit),
    .digit_a_o   (digit_a),
    .in_window_o (in_window),
    .at_end_o    (at_end),
    .has_sum_o   (has_sum),
    .has_a_o     (has_a),
    .has_b_o     (has_b)
  );

  assign out_o    = out_word & {64{out_place_i[2] ? s_valid_o : out_valid_o}};
  assign prefix_o = out_word & {64{prefix_valid_o}};

  // Without a result every word reads as zero.
  `ASSERT(NothingIsShownUnasked_A, !s_valid_o && !out_valid_o && !prefix_valid_o |-> out_o == '0)
  // The prefix leaves by the side port only, and not to software.
  `ASSERT(ThePrefixIsNotShown_A, prefix_valid_o |-> out_o == '0)
  // Microcode writes only where its program may, so any other write is an upset.
  `ASSERT(NoProgramWritesElsewhere_A, !write_error)
  // Operands that changed under a product would make a product of two numbers that do not belong together.
  `ASSERT(OperandsStayWhileTheyAreRead_A, issue && !start_mul |=> $stable(a_q) && $stable(b_q))
endmodule
