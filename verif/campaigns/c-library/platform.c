#include "platform.h"

#include <stdlib.h>
#include <string.h>

/* Payloads of vectors that claim more memory than this were placed nowhere. */
#define LARGEST_PLACE (256u << 20)

static void *zeroed(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);

    if (!memory)
        abort();
    memset(memory, 0, size);
    return memory;
}

struct device *device_new(const uint8_t *bundle, size_t size, size_t buffer_size)
{
    struct device *device = zeroed(sizeof(*device));

    device->bundle = bundle;
    device->bundle_size = size;
    device->step = 1;
    device->reads = zeroed(size / HARTLOCK_SECTOR_SIZE + 1);
    device->memory = zeroed(HARTLOCK_MEMORY_SIZE);
    device->metadata = zeroed(HARTLOCK_METADATA_SIZE);
    device->buffer = zeroed(buffer_size);
    device->buffer_size = buffer_size;
    return device;
}

void device_free(struct device *device)
{
    for (uint32_t i = 0; i < device->place_count; i++)
        free(device->places[i].memory);
    free(device->reads);
    free(device->memory);
    free(device->metadata);
    free(device->buffer);
    free(device);
}

uint8_t *device_place(struct device *device, uint64_t address)
{
    for (uint32_t i = 0; i < device->place_count; i++)
        if (device->places[i].address == address)
            return device->places[i].memory;
    return NULL;
}

static int64_t device_read(void *context, uint32_t hart, uint64_t offset, uint8_t *into, size_t length)
{
    struct device *device = context;

    if (hart != 0 || offset % HARTLOCK_SECTOR_SIZE || offset + length > device->bundle_size)
        return -1;
    if (length % HARTLOCK_SECTOR_SIZE && offset + length != device->bundle_size)
        return -1;
    if (into < device->buffer || into + length > device->buffer + device->buffer_size)
        return -1;
    if (device->on_read)
        device->on_read(device, offset);
    for (size_t i = 0; i < length; i += HARTLOCK_SECTOR_SIZE)
        device->reads[(offset + i) / HARTLOCK_SECTOR_SIZE]++;
    if (device->fault == CALLS_BACK)
        device->called_back = hartlock_load(device->memory);
    if (device->fault == READ_FAILS)
        return -1;
    memcpy(into, device->bundle + offset, length);
    if (device->fault == READ_IS_SHORT)
        return (int64_t)length - 1;
    if (device->fault == READ_IS_LONG)
        return (int64_t)length + 1;
    return (int64_t)length;
}

static int32_t device_read_start(void *context, uint32_t hart, uint64_t offset, uint8_t *into, size_t length)
{
    return device_read(context, hart, offset, into, length) == (int64_t)length ? 0 : -1;
}

static int32_t device_read_poll(void *context, uint32_t hart)
{
    struct device *device = context;

    (void)hart;
    /* Every second question comes too early. */
    device->asked++;
    return device->fault != NEVER_COMPLETES && device->asked % 2 == 0;
}

static int32_t device_require(void *context, uint32_t hart, uint32_t nth, struct hartlock_requirements *out)
{
    struct device *device = context;

    (void)hart;
    if (device->fault == REQUIRE_FAILS)
        return -1;
    if (device->handoff)
        return hartlock_requirements_of_handoff(device->handoff, 4096, 3, 1024, out) != 0;
    *out = device->requirements;
    if (device->fault == REQUIRE_DIFFERS && nth == 1)
        out->floor++;
    return 0;
}

static uint32_t device_may_load(void *context, uint32_t hart, const struct hartlock_payload *payload)
{
    struct device *device = context;

    (void)hart;
    device->asked++;
    if (device->fault == PLACE_DIFFERS && device->asked > 3)
        return 702;
    for (uint32_t i = 0; i < device->answer_count; i++)
        if (device->answers[i].payload_type == payload->payload_type)
            return device->answers[i].code;
    return 0;
}

static uint64_t device_ticks(void *context, uint32_t hart)
{
    struct device *device = context;

    (void)hart;
    if (device->fault == BUFFER_CHANGES_LATER)
        memset(device->buffer, 0xff, device->buffer_size);
    device->now += device->step;
    return device->now;
}

static void *device_map(void *context, uint32_t hart, uint64_t address, uint64_t size)
{
    struct device *device = context;
    uint8_t *place;

    (void)hart;
    if (device->fault == MAP_FAILS)
        return NULL;
    if (device->fault == MAP_MOVES_TO_METADATA)
        return device->metadata + 64;
    place = device_place(device, address);
    if (place)
        return place;
    if (size > LARGEST_PLACE || device->place_count == 8)
        /* It is never used: the caller permits no such place. */
        return device->places;
    place = zeroed(size);
    memset(place, 0xa5, size);
    device->places[device->place_count].address = address;
    device->places[device->place_count].size = size;
    device->places[device->place_count++].memory = place;
    return place;
}

static void device_wake(void *context, uint32_t hart)
{
    struct device *device = context;

    (void)hart;
    device->wakes++;
}

struct hartlock_platform device_platform(struct device *device)
{
    struct hartlock_platform platform;

    memset(&platform, 0, sizeof(platform));
    platform.version = HARTLOCK_VERSION;
    platform.size = sizeof(platform);
    platform.context = device;
    platform.medium_size = device->bundle_size;
    platform.ticks_per_second = 1000;
    platform.buffer = device->buffer;
    platform.buffer_size = device->buffer_size;
    platform.metadata = device->metadata;
    platform.metadata_size = HARTLOCK_METADATA_SIZE;
    platform.read = device_read;
    platform.require = device_require;
    platform.may_load = device_may_load;
    platform.ticks = device_ticks;
    platform.map = device_map;
    platform.wake = device_wake;
    return platform;
}

/* An engine that takes the signature over the longest message that it was asked for. */
static uint32_t device_verify_signature(void *context, uint32_t hart, const struct hartlock_signature *signature)
{
    struct device *device = context;
    uint32_t signed_size;

    if (hart != 0 || signature->public_key_size != 32 || signature->signature_size != 64)
        abort();
    device->engine_calls++;
    /* The size of the signed region is in the header of the bundle. */
    memcpy(&signed_size, device->bundle + 16, sizeof(signed_size));
    if (device->fault == ENGINE_ACCEPTS_ALL)
        return HARTLOCK_GENUINE;
    if (device->fault == ENGINE_REFUSES_ALL)
        return HARTLOCK_NOT_GENUINE;
    if (device->fault == ENGINE_IS_ABSENT)
        return 0;
    return signature->message_size == signed_size ? HARTLOCK_GENUINE : HARTLOCK_NOT_GENUINE;
}

/* The content keys of the fake class of the test kit. */
static uint32_t device_unwrap(void *context, uint32_t hart, const struct hartlock_encryption *encryption, uint8_t *key)
{
    struct device *device = context;

    if (hart != 0 || encryption->cipher != 1)
        abort();
    device->unwrapped++;
    if (device->fault == KEY_IS_MISSING)
        return 606;
    if (device->fault == UNWRAP_FAILS)
        return 1;
    if (device->fault == KEY_IS_NOT_WRITTEN)
        return 0;
    for (uint32_t i = 0; i < HARTLOCK_KEY_SIZE; i++)
        key[i] = (uint8_t)((i * 29) ^ (0x80 | encryption->payload_type) ^ (device->fault == KEY_IS_WRONG));
    return 0;
}

void device_has_engine(struct hartlock_platform *platform)
{
    platform->verify_signature = device_verify_signature;
}

void device_has_keys(struct hartlock_platform *platform)
{
    platform->unwrap = device_unwrap;
}

/* Makes the device one that reads by itself. */
void device_reads_by_itself(struct hartlock_platform *platform)
{
    platform->read_start = device_read_start;
    platform->read_poll = device_read_poll;
}
