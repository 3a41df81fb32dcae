/* A platform in memory: a bundle, the requirements of a device, and faults that a test asks for. */

#ifndef PLATFORM_H
#define PLATFORM_H

#include "hartlock.h"

#define MAX_ANSWERS 8

/* What may_load says of payloads of a type. */
struct answer {
    uint32_t payload_type;
    uint32_t code;
};

/* What a function of the platform does wrong. */
enum fault {
    NO_FAULT,
    READ_FAILS,
    READ_IS_SHORT,
    READ_IS_LONG,
    BUFFER_CHANGES_LATER,
    REQUIRE_FAILS,
    REQUIRE_DIFFERS,
    PLACE_DIFFERS,
    MAP_FAILS,
    MAP_MOVES_TO_METADATA,
    CALLS_BACK,
    NEVER_COMPLETES,
    KEY_IS_MISSING,
    KEY_IS_NOT_WRITTEN,
    KEY_IS_WRONG,
    UNWRAP_FAILS,
    ENGINE_ACCEPTS_ALL,
    ENGINE_REFUSES_ALL,
    ENGINE_IS_ABSENT,
};

struct device {
    const uint8_t *bundle;
    size_t bundle_size;
    struct hartlock_requirements requirements;
    struct answer answers[MAX_ANSWERS];
    uint32_t answer_count;
    enum fault fault;
    uint32_t asked;
    uint64_t now;
    uint64_t step;
    uint32_t wakes;
    /* One more for each time that a sector was read. */
    uint8_t *reads;
    /* Where payloads are, by their physical address. */
    struct {
        uint64_t address;
        uint8_t *memory;
        uint64_t size;
    } places[8];
    uint32_t place_count;
    /* Called before a read, or NULL. */
    void (*on_read)(struct device *device, uint64_t offset);
    uint32_t called_back;
    /* The block that `require` takes the requirements from, or NULL. */
    const uint8_t *handoff;
    uint32_t engine_calls;
    uint32_t unwrapped;
    void *memory;
    uint8_t *metadata;
    uint8_t *buffer;
    size_t buffer_size;
};

struct device *device_new(const uint8_t *bundle, size_t size, size_t buffer_size);
void device_free(struct device *device);
struct hartlock_platform device_platform(struct device *device);
void device_has_engine(struct hartlock_platform *platform);
void device_has_keys(struct hartlock_platform *platform);
void device_reads_by_itself(struct hartlock_platform *platform);
uint8_t *device_place(struct device *device, uint64_t address);

#endif
