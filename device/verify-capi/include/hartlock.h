/*
 * Verification of Hartlock bundles for boot loaders (spec/c-library.md).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */


#ifndef HARTLOCK_H
#define HARTLOCK_H

/* Made by cbindgen from device/verify-capi. Do not edit. */

#include <stddef.h>
#include <stdint.h>

/*
 Functions for `attempt`, in S-mode and in M-mode of a RISC-V hart whose interrupts are off. They turn the vector unit on.
 */
#ifdef __riscv
#ifdef __cplusplus
extern "C" {
#endif
uint64_t hartlock_attempt_s(void *context, uint32_t hart, void (*function)(uint64_t argument), uint64_t argument);
uint64_t hartlock_attempt_m(void *context, uint32_t hart, void (*function)(uint64_t argument), uint64_t argument);
#ifdef __cplusplus
}
#endif
#endif


/*
 Version of the structures.
 */
#define HARTLOCK_VERSION 1

/*
 Size in bytes of the memory that the library works in.
 */
#define HARTLOCK_MEMORY_SIZE (40 * 1024)

/*
 Alignment in bytes of this memory.
 */
#define HARTLOCK_MEMORY_ALIGNMENT 64

/*
 Maximum size in bytes of what is in front of the payloads of a bundle.
 */
#define HARTLOCK_METADATA_SIZE (272 * 1024)

/*
 Smallest size in bytes of the buffer for reading.
 */
#define HARTLOCK_MIN_BUFFER_SIZE 4096

/*
 Reads begin and end at multiples of this number of bytes, or at the end of the medium.
 */
#define HARTLOCK_SECTOR_SIZE 512

/*
 Number of harts that can work on a bundle.
 */
#define HARTLOCK_MAX_HARTS 8

/*
 Number of keys that a device can trust.
 */
#define HARTLOCK_MAX_KEYS 8

/*
 The version of the boot bundle is not known (`boot_version`).
 */
#define HARTLOCK_NO_BOOT_VERSION UINT64_MAX

/*
 `hartlock_work`: there is nothing to do; wait for an interrupt and call again.
 */
#define HARTLOCK_WAIT 0

/*
 `hartlock_work`: the boot hart needs this hart no longer.
 */
#define HARTLOCK_STOPPED 1

/*
 `attempt`: the called function came back.
 */
#define HARTLOCK_RETURNED UINT64_MAX

/*
 `verify_signature`: the signature is genuine.
 */
#define HARTLOCK_GENUINE 3275539260

/*
 `verify_signature`: the signature is not genuine.
 */
#define HARTLOCK_NOT_GENUINE 2523502185

/*
 Size in bytes of a content key.
 */
#define HARTLOCK_KEY_SIZE 32

/*
 `access` of a closed range: neither loads nor stores succeed.
 */
#define HARTLOCK_CLOSED 0

/*
 `access` of a closed range: loads succeed and stores do not.
 */
#define HARTLOCK_READ_ONLY 1

/*
 Memory that is closed to the program.
 */
struct hartlock_range {
  /*
   First address.
   */
  uint64_t start;
  /*
   First address after it.
   */
  uint64_t end;
  /*
   `HARTLOCK_CLOSED` or `HARTLOCK_READ_ONLY`.
   */
  uint32_t access;
  /*
   0.
   */
  uint32_t reserved;
};

/*
 Fills `into` with `length` bytes of the medium from `offset` on; returns their number.
 */
typedef int64_t (*hartlock_read_function)(void *context,
                                          uint32_t hart,
                                          uint64_t offset,
                                          uint8_t *into,
                                          size_t length);

/*
 A public key that the device trusts (image format §2.5).
 */
struct hartlock_key {
  /*
   Number of the algorithm.
   */
  uint32_t algorithm;
  /*
   Number of its parameter set.
   */
  uint32_t parameters;
  /*
   Key id.
   */
  uint8_t key_id[48];
};

/*
 What the device requires of a bundle.
 */
struct hartlock_requirements {
  /*
   1: boot bundle, 2: system bundle.
   */
  uint32_t bundle_type;
  /*
   Number of the policy: who has to sign (image format §5.3).
   */
  uint32_t policy;
  /*
   Lifecycle state of the device.
   */
  uint32_t lifecycle;
  /*
   Bit i is set if key i is revoked.
   */
  uint32_t revoked_keys;
  /*
   Smallest security version that is accepted.
   */
  uint64_t floor;
  /*
   Security version of the boot bundle that runs, or `HARTLOCK_NO_BOOT_VERSION`.
   */
  uint64_t boot_version;
  /*
   Longest kernel command line in bytes. The kernel would cut off the rest.
   */
  uint32_t max_bootargs;
  /*
   Number of keys.
   */
  uint32_t key_count;
  /*
   Name of the board, padded with zeros.
   */
  uint8_t board[32];
  /*
   Name of the SoC, padded with zeros.
   */
  uint8_t soc[32];
  /*
   Trusted keys.
   */
  struct hartlock_key keys[HARTLOCK_MAX_KEYS];
};

/*
 Gives the requirements, which are read more than once; returns 0, or another number for a fault.
 */
typedef int32_t (*hartlock_require_function)(void *context,
                                             uint32_t hart,
                                             uint32_t reading,
                                             struct hartlock_requirements *requirements);

/*
 A payload of the bundle.
 */
struct hartlock_payload {
  /*
   Number of its type (image format §4.2).
   */
  uint32_t payload_type;
  /*
   1 for a boot bundle, 2 for a system bundle.
   */
  uint32_t bundle_type;
  /*
   Physical address of its first byte.
   */
  uint64_t address;
  /*
   Size in bytes.
   */
  uint64_t size;
  /*
   Size in bytes of the memory that belongs to it; what is behind its bytes is zero.
   */
  uint64_t memory_size;
  /*
   Physical address of its first instruction; 0 for data.
   */
  uint64_t entry;
};

/*
 Returns 0 if a payload may be at its address, else 701, 702 or 703.
 */
typedef uint32_t (*hartlock_may_load_function)(void *context,
                                               uint32_t hart,
                                               const struct hartlock_payload *payload);

/*
 Returns the time in ticks.
 */
typedef uint64_t (*hartlock_ticks_function)(void *context, uint32_t hart);

/*
 Begins to fill `into`; returns 0, or another number for a fault.
 */
typedef int32_t (*hartlock_read_start_function)(void *context,
                                                uint32_t hart,
                                                uint64_t offset,
                                                uint8_t *into,
                                                size_t length);

/*
 Returns 1 if the read is complete, 0 if not, less than 0 for a fault.
 */
typedef int32_t (*hartlock_read_poll_function)(void *context, uint32_t hart);

/*
 Returns where `size` bytes of physical memory are seen; null if nowhere.
 */
typedef void *(*hartlock_map_function)(void *context, uint32_t hart, uint64_t address, uint64_t size);

/*
 Interrupts the other harts.
 */
typedef void (*hartlock_wake_function)(void *context, uint32_t hart);

/*
 A function of the library that may trap. It uses no memory and no saved register.
 */
typedef void (*hartlock_attempted_function)(uint64_t argument);

/*
 Calls a function with an argument; returns `HARTLOCK_RETURNED`, or the cause of the trap.
 */
typedef uint64_t (*hartlock_attempt_function)(void *context,
                                              uint32_t hart,
                                              hartlock_attempted_function function,
                                              uint64_t argument);

/*
 A signature block of a key that the device trusts, and what it signs (image format §5.1).
 */
struct hartlock_signature {
  /*
   Number of the algorithm.
   */
  uint32_t algorithm;
  /*
   Number of its parameter set.
   */
  uint32_t parameters;
  /*
   The public key.
   */
  const uint8_t *public_key;
  /*
   Its size in bytes.
   */
  size_t public_key_size;
  /*
   The signed bytes.
   */
  const uint8_t *message;
  /*
   Its size in bytes.
   */
  size_t message_size;
  /*
   The signature.
   */
  const uint8_t *signature;
  /*
   Its size in bytes.
   */
  size_t signature_size;
};

/*
 Returns `HARTLOCK_GENUINE` or `HARTLOCK_NOT_GENUINE`; for any other number the library verifies the signature.
 */
typedef uint32_t (*hartlock_verify_signature_function)(void *context,
                                                       uint32_t hart,
                                                       const struct hartlock_signature *signature);

/*
 The encryption of a payload (image format §4.6).
 */
struct hartlock_encryption {
  /*
   Number of the type of the payload (image format §4.2).
   */
  uint32_t payload_type;
  /*
   1: AES-256 in counter mode.
   */
  uint32_t cipher;
  /*
   Id of the class key that wraps the content key.
   */
  uint8_t class_id[16];
  /*
   The content key, wrapped by AES-KW.
   */
  uint8_t wrapped_key[40];
};

/*
 Writes the content key of an encrypted payload, `HARTLOCK_KEY_SIZE` bytes; returns 0, or 517, 606 or 921.
 */
typedef uint32_t (*hartlock_unwrap_function)(void *context,
                                             uint32_t hart,
                                             const struct hartlock_encryption *encryption,
                                             uint8_t *key);

/*
 What the library needs of the program that it is a part of (specification §3).
 */
struct hartlock_platform {
  /*
   `HARTLOCK_VERSION`.
   */
  uint32_t version;
  /*
   `sizeof(struct hartlock_platform)`.
   */
  uint32_t size;
  /*
   Passed to every function.
   */
  void *context;
  /*
   Size in bytes of the medium.
   */
  uint64_t medium_size;
  /*
   Ticks of the clock in a second.
   */
  uint64_t ticks_per_second;
  /*
   Memory that `read` fills, at a multiple of 8. A device may write to it at any time.
   */
  uint8_t *buffer;
  /*
   Its size in bytes, at least `HARTLOCK_MIN_BUFFER_SIZE`.
   */
  size_t buffer_size;
  /*
   Memory for what is in front of the payloads, at a multiple of 8.
   */
  uint8_t *metadata;
  /*
   Its size in bytes.
   */
  size_t metadata_size;
  /*
   Memory that has to be closed to the program; null if there is none.
   */
  const struct hartlock_range *closed;
  /*
   Number of such ranges.
   */
  size_t closed_count;
  /*
   Required.
   */
  hartlock_read_function read;
  /*
   Required.
   */
  hartlock_require_function require;
  /*
   Required.
   */
  hartlock_may_load_function may_load;
  /*
   Required.
   */
  hartlock_ticks_function ticks;
  /*
   Null, or for a device that reads by itself.
   */
  hartlock_read_start_function read_start;
  /*
   Null, or for a device that reads by itself.
   */
  hartlock_read_poll_function read_poll;
  /*
   Null if physical addresses are addresses.
   */
  hartlock_map_function map;
  /*
   Null if there are no other harts.
   */
  hartlock_wake_function wake;
  /*
   Null, or `hartlock_attempt_s` or `hartlock_attempt_m`, or one of the caller.
   */
  hartlock_attempt_function attempt;
  /*
   Null, or an engine for signatures.
   */
  hartlock_verify_signature_function verify_signature;
  /*
   Null if encrypted payloads are refused.
   */
  hartlock_unwrap_function unwrap;
};

/*
 Memory that Linux must not use (boot flow §6).
 */
struct hartlock_reservation {
  /*
   Name of the node without its address: `hartlock-` and more, with a zero at the end.
   */
  uint8_t name[32];
  /*
   Its `compatible`, or nothing, with a zero at the end.
   */
  uint8_t compatible[32];
  /*
   Address of the first byte.
   */
  uint64_t address;
  /*
   Size in bytes.
   */
  uint64_t size;
};











#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the version of the library's structures.
 */
uint32_t hartlock_version(void);

/*
 Begins a boot. `memory` has `size` bytes; `hart` is the number of the calling hart. The description of the platform is
 copied.

 # Safety
 `memory` is null or points to `size` bytes that only the library uses from now on; `platform` is null or points to a
 description whose functions can be called and whose memory can be used, as the specification says.
 */
uint32_t hartlock_begin(void *memory,
                        size_t size,
                        const struct hartlock_platform *platform,
                        uint32_t hart);

/*
 Verifies what is in front of the payloads: signatures, policy, manifest, requirements, places.

 # Safety
 `memory` is null or was given to `hartlock_begin`.
 */
uint32_t hartlock_authenticate(void *memory);

/*
 Fills the requirements for a system bundle from the hand-off block of Hartlock's ROM (boot flow §3.4), for a stage that it has
 started: 4096 bytes at `block`, which this stage cannot write. `boot_hart` is the number by which the ROM knows the calling
 hart; `max_bootargs` is the longest command line of the kernel. Call it from `require`, each time.

 # Safety
 `block` is null or points to `size` bytes, `requirements` is null or can be written.
 */
uint32_t hartlock_requirements_of_handoff(const uint8_t *block,
                                          size_t size,
                                          uint64_t boot_hart,
                                          uint32_t max_bootargs,
                                          struct hartlock_requirements *requirements);

/*
 Loads the payloads and verifies them, with the harts that call `hartlock_work`.

 # Safety
 `memory` is null or was given to `hartlock_begin`.
 */
uint32_t hartlock_load(void *memory);

/*
 Lets all harts leave `hartlock_work`. They have to be woken afterwards.

 # Safety
 `memory` is null or was given to `hartlock_begin`.
 */
uint32_t hartlock_stop(void *memory);

/*
 Takes the first decision. No other hart works any more.

 # Safety
 `memory` is null or was given to `hartlock_begin`.
 */
uint32_t hartlock_decide(void *memory);

/*
 Takes the second decision, directly before the jump.

 # Safety
 `memory` is null or was given to `hartlock_begin`.
 */
uint32_t hartlock_confirm(void *memory);

/*
 Ends a boot that the caller does not want to end in a kernel. Like a refusal, it overwrites keys and plain text of
 encrypted payloads.

 # Safety
 `memory` is null or was given to `hartlock_begin`.
 */
uint32_t hartlock_abandon(void *memory);

/*
 Works for the boot hart. Returns `HARTLOCK_WAIT`, `HARTLOCK_STOPPED`, or the number of a reason.

 # Safety
 `memory` is null or was given to `hartlock_begin`; no other hart has this number.
 */
uint32_t hartlock_work(void *memory, uint32_t hart);

/*
 Tells that a hart has trapped in `hartlock_work` and is not there any more.

 # Safety
 `memory` is null or was given to `hartlock_begin`; the hart does not run code of the library.
 */
uint32_t hartlock_report_trap(void *memory, uint32_t hart);

/*
 Gives a payload of the bundle.

 # Safety
 `memory` is null or was given to `hartlock_begin`; `payload` is null or can be written.
 */
uint32_t hartlock_payload(void *memory, uint32_t payload_type, struct hartlock_payload *payload);

/*
 Gives the kernel command line, which does not end with a zero.

 # Safety
 `memory` is null or was given to `hartlock_begin`; `text` and `length` are null or can be written.
 */
uint32_t hartlock_bootargs(void *memory, const char **text, size_t *length);

/*
 Writes what happened, in one sentence with a zero at its end, as far as there is room. Returns the length of the whole
 sentence; 0 for a number that is not a reason, or whose text this build does not have.

 # Safety
 `text` is null or points to `size` bytes.
 */
size_t hartlock_title(uint32_t reason,
                      char *text,
                      size_t size);

/*
 Writes what to do about a reason, like `hartlock_title`.

 # Safety
 `text` is null or points to `size` bytes.
 */
size_t hartlock_hint(uint32_t reason, char *text, size_t size);

/*
 Writes the device tree for Linux to `out`: the signed one with the edits of boot flow §6. `harts` has a bit for each hart
 that exists. `out` is at a multiple of 8, and no payload is there. Gives the length of the tree. Whatever it refuses, also a
 parameter, ends the boot.

 # Safety
 `memory` is null or was given to `hartlock_begin`; `reservations` is null or points to `count` of them; `out` is null or
 points to `size` bytes that nobody else uses; `length` is null or can be written.
 */
uint32_t hartlock_tree(void *memory,
                       uint64_t harts,
                       const struct hartlock_reservation *reservations,
                       size_t count,
                       uint8_t *out,
                       size_t size,
                       size_t *length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HARTLOCK_H */
