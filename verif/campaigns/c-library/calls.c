/*
 * Calls the C library wrongly in every way that its specification names, and with platforms that fail. The first argument
 * is a pack with one good bundle (vectors.c).
 */

#include "platform.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define EXPECT(what, found, wanted)                                                              \
    do {                                                                                         \
        uint32_t found_code = (found), wanted_code = (wanted);                                   \
        if (found_code != wanted_code) {                                                         \
            printf("%s: %u, expected is %u\n", what, found_code, wanted_code);                   \
            failures++;                                                                          \
        }                                                                                        \
    } while (0)

static const uint8_t *bundle;
static size_t bundle_size;
static struct hartlock_requirements requirements;

static struct device *good(void)
{
    struct device *device = device_new(bundle, bundle_size, 64 << 10);

    device->requirements = requirements;
    return device;
}

static uint32_t begun(struct device *device, const struct hartlock_platform *platform)
{
    return hartlock_begin(device->memory, HARTLOCK_MEMORY_SIZE, platform, 0);
}

/* The calls of the boot hart, and one of another hart. */
enum call { BEGIN, AUTHENTICATE, LOAD, STOP, DECIDE, CONFIRM, PAYLOAD, BOOTARGS, WORK, CALLS };

static uint32_t call(struct device *device, const struct hartlock_platform *platform, enum call which)
{
    struct hartlock_payload payload;
    const char *text;
    size_t length;

    switch (which) {
    case BEGIN:
        return begun(device, platform);
    case AUTHENTICATE:
        return hartlock_authenticate(device->memory);
    case LOAD:
        return hartlock_load(device->memory);
    case STOP:
        return hartlock_stop(device->memory);
    case DECIDE:
        return hartlock_decide(device->memory);
    case CONFIRM:
        return hartlock_confirm(device->memory);
    case PAYLOAD:
        return hartlock_payload(device->memory, 16, &payload);
    case BOOTARGS:
        return hartlock_bootargs(device->memory, &text, &length);
    case WORK:
        return hartlock_work(device->memory, 3);
    default:
        return 0;
    }
}

/* What a boot looks like from outside. */
struct model {
    int is_prepared;
    int progress;
    int is_stopped;
    int is_working;
};

static uint32_t expected(struct model *model, enum call which)
{
    static const int needs[CALLS] = {0, 1, 2, 0, 3, 4, 4, 4, 0};

    if (which == BEGIN) {
        if (model->is_prepared && model->is_working)
            return 1503;
        memset(model, 0, sizeof(*model));
        model->is_prepared = 1;
        model->progress = 1;
        return 0;
    }
    if (!model->is_prepared)
        return 1501;
    if (which == STOP) {
        model->is_stopped = 1;
        return 0;
    }
    if (which == WORK) {
        model->is_working = !model->is_stopped;
        return model->is_stopped ? HARTLOCK_STOPPED : HARTLOCK_WAIT;
    }
    if (model->progress != needs[which])
        return 1503;
    if (which == DECIDE) {
        model->is_stopped = 1;
        if (model->is_working) {
            model->progress = 0;
            return 907;
        }
    }
    if (which < CONFIRM)
        model->progress++;
    return 0;
}

/* Every order of three calls, after every number of right calls. */
static void orders(void)
{
    static const enum call right[] = {BEGIN, AUTHENTICATE, LOAD, DECIDE};

    for (int before = 0; before <= 4; before++) {
        for (int order = 0; order < CALLS * CALLS * CALLS; order++) {
            struct device *device = good();
            struct hartlock_platform platform = device_platform(device);
            struct model model = {0, 0, 0, 0};
            int rest = order;
            char what[80];

            for (int i = 0; i < before + 3; i++) {
                enum call which = i < before ? right[i] : (enum call)(rest % CALLS);

                if (i >= before)
                    rest /= CALLS;
                snprintf(what, sizeof(what), "order %d after %d, call %d", order, before, i);
                EXPECT(what, call(device, &platform, which), expected(&model, which));
            }
            device_free(device);
        }
    }
}

static void memories(void)
{
    struct device *device = good();
    struct hartlock_platform platform = device_platform(device);
    uint8_t *memory = device->memory;

    EXPECT("no memory", hartlock_begin(NULL, HARTLOCK_MEMORY_SIZE, &platform, 0), 1501);
    EXPECT("no memory", hartlock_authenticate(NULL), 1501);
    EXPECT("no memory", hartlock_work(NULL, 1), 1501);
    EXPECT("memory that was not prepared", hartlock_load(memory), 1501);
    for (size_t size = 0; size < HARTLOCK_MEMORY_SIZE; size++)
        EXPECT("too little memory", hartlock_begin(memory, size, &platform, 0), 1501);
    for (size_t at = 1; at < HARTLOCK_MEMORY_ALIGNMENT; at++)
        EXPECT("misaligned memory", hartlock_begin(memory + at, HARTLOCK_MEMORY_SIZE, &platform, 0), 1501);
    EXPECT("hart 8", hartlock_begin(memory, HARTLOCK_MEMORY_SIZE, &platform, HARTLOCK_MAX_HARTS), 1507);
    EXPECT("a boot", begun(device, &platform), 0);
    EXPECT("work of the boot hart", hartlock_work(memory, 0), 1507);
    EXPECT("work of hart 8", hartlock_work(memory, HARTLOCK_MAX_HARTS), 1507);
    EXPECT("trap of hart 8", hartlock_report_trap(memory, HARTLOCK_MAX_HARTS), 1507);
    EXPECT("trap of hart 2", hartlock_report_trap(memory, 2), 0);
    EXPECT("work after a trap", hartlock_work(memory, 2), 1503);
    device_free(device);
}

#define REFUSED(what, change)                                                                    \
    do {                                                                                         \
        struct device *device = good();                                                          \
        struct hartlock_platform platform = device_platform(device);                             \
        change;                                                                                  \
        EXPECT(what, begun(device, &platform), 1502);                                            \
        device_free(device);                                                                     \
    } while (0)

static void platforms(void)
{
    union {
        struct hartlock_platform platform;
        uint8_t bytes[sizeof(struct hartlock_platform) + 8];
    } place;
    struct device *device = good();
    struct hartlock_range closed = {0, 4096, HARTLOCK_CLOSED, 0};

    EXPECT("no platform", hartlock_begin(device->memory, HARTLOCK_MEMORY_SIZE, NULL, 0), 1502);
    memset(&place, 0, sizeof(place));
    EXPECT("misaligned platform",
           hartlock_begin(device->memory, HARTLOCK_MEMORY_SIZE,
                          (const struct hartlock_platform *)(const void *)(place.bytes + 4), 0),
           1502);
    device_free(device);
    REFUSED("another version", platform.version++);
    REFUSED("a shorter structure", platform.size--);
    REFUSED("a longer structure", platform.size++);
    REFUSED("no read", platform.read = NULL);
    REFUSED("no require", platform.require = NULL);
    REFUSED("no may_load", platform.may_load = NULL);
    REFUSED("no ticks", platform.ticks = NULL);
    REFUSED("a clock that stands", platform.ticks_per_second = 0);
    REFUSED("no buffer", platform.buffer = NULL);
    REFUSED("a small buffer", platform.buffer_size = HARTLOCK_MIN_BUFFER_SIZE - 1);
    REFUSED("a misaligned buffer", platform.buffer++);
    REFUSED("no metadata", platform.metadata = NULL);
    REFUSED("metadata in the buffer", platform.metadata = platform.buffer + 4096);
    REFUSED("metadata in the memory", platform.metadata = (uint8_t *)device->memory + 64);
    REFUSED("a buffer in the memory", platform.buffer = device->memory);
    REFUSED("a buffer without an end", platform.buffer_size = SIZE_MAX);
    REFUSED("closed memory that nobody tries", platform.closed = &closed; platform.closed_count = 1);
    REFUSED("closed memory that is not there", platform.closed_count = 1);
}

static uint32_t verified(struct device *device, const struct hartlock_platform *platform)
{
    uint32_t code = begun(device, platform);

    if (!code)
        code = hartlock_authenticate(device->memory);
    if (!code)
        code = hartlock_load(device->memory);
    if (!code)
        code = hartlock_decide(device->memory);
    if (!code)
        code = hartlock_confirm(device->memory);
    return code;
}

static void faults(void)
{
    static const struct {
        const char *what;
        enum fault fault;
        int by_itself;
        uint32_t code;
    } rows[] = {
        {"no fault", NO_FAULT, 0, 0},
        {"no fault, by itself", NO_FAULT, 1, 0},
        {"a read that fails", READ_FAILS, 0, 901},
        {"a read that is short", READ_IS_SHORT, 0, 901},
        {"a read that is long", READ_IS_LONG, 0, 901},
        {"a read that never completes", NEVER_COMPLETES, 1, 901},
        {"a buffer that changes later", BUFFER_CHANGES_LATER, 0, 0},
        {"requirements that fail", REQUIRE_FAILS, 0, 1505},
        {"requirements that differ", REQUIRE_DIFFERS, 0, 1506},
        {"a place that is refused later", PLACE_DIFFERS, 0, 910},
        {"no map", MAP_FAILS, 0, 701},
        {"a payload over the metadata", MAP_MOVES_TO_METADATA, 0, 702},
        {"a call from inside", CALLS_BACK, 0, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct device *device = good();
        struct hartlock_platform platform = device_platform(device);
        struct hartlock_payload payload;

        device->fault = rows[i].fault;
        if (rows[i].by_itself)
            device_reads_by_itself(&platform);
        EXPECT(rows[i].what, verified(device, &platform), rows[i].code);
        if (rows[i].fault == CALLS_BACK)
            EXPECT("its code", device->called_back, 1504);
        if (rows[i].code) {
            EXPECT("a refusal is final", hartlock_confirm(device->memory), 1503);
            EXPECT("a refusal is final", hartlock_payload(device->memory, 16, &payload), 1503);
        } else {
            EXPECT("no place", hartlock_payload(device->memory, 16, NULL), 1508);
            EXPECT("no such payload", hartlock_payload(device->memory, 99, &payload), 1509);
            EXPECT("it boots nevertheless", hartlock_confirm(device->memory), 0);
        }
        device_free(device);
    }
}

#define MALFORMED(what, change)                                                                  \
    do {                                                                                         \
        struct device *device = good();                                                          \
        struct hartlock_platform platform = device_platform(device);                             \
        change;                                                                                  \
        EXPECT(what, verified(device, &platform), 1505);                                         \
        device_free(device);                                                                     \
    } while (0)

static void requirement_faults(void)
{
    MALFORMED("no type", device->requirements.bundle_type = 0);
    MALFORMED("another type", device->requirements.bundle_type = 3);
    MALFORMED("another policy", device->requirements.policy = 99);
    MALFORMED("another state", device->requirements.lifecycle = 99);
    MALFORMED("no key", device->requirements.key_count = 0);
    MALFORMED("too many keys", device->requirements.key_count = HARTLOCK_MAX_KEYS + 1);
    MALFORMED("a key twice", device->requirements.keys[1] = device->requirements.keys[0];
              device->requirements.key_count = 2);
    MALFORMED("no board", memset(device->requirements.board, 0, 32));
    MALFORMED("no SoC", memset(device->requirements.soc, 0xff, 32));
}

struct worker {
    pthread_t thread;
    struct device *device;
    uint32_t hart;
    uint32_t answer;
};

static void *work(void *argument)
{
    struct worker *worker = argument;

    do
        worker->answer = hartlock_work(worker->device->memory, worker->hart);
    while (worker->answer == HARTLOCK_WAIT);
    return NULL;
}

/* Three harts hash; their results are those of one. */
static void harts(void)
{
    for (int round = 0; round < 20; round++) {
        struct device *device = good();
        struct hartlock_platform platform = device_platform(device);
        struct worker workers[3];

        if (round % 2)
            device_reads_by_itself(&platform);
        EXPECT("harts, begin", begun(device, &platform), 0);
        for (uint32_t i = 0; i < 3; i++) {
            workers[i].device = device;
            workers[i].hart = i + 1;
            if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
                abort();
        }
        EXPECT("harts, authenticate", hartlock_authenticate(device->memory), 0);
        EXPECT("harts, load", hartlock_load(device->memory), 0);
        EXPECT("harts, stop", hartlock_stop(device->memory), 0);
        for (uint32_t i = 0; i < 3; i++) {
            pthread_join(workers[i].thread, NULL);
            EXPECT("a hart is stopped", workers[i].answer, HARTLOCK_STOPPED);
        }
        EXPECT("harts, decide", hartlock_decide(device->memory), 0);
        EXPECT("harts, confirm", hartlock_confirm(device->memory), 0);
        device_free(device);
    }
}

/* Each sector of the payloads is read once, and of the metadata at most twice. */
static void reads(void)
{
    struct device *device = good();
    struct hartlock_platform platform = device_platform(device);
    struct hartlock_payload payload;
    size_t first = 4096 / HARTLOCK_SECTOR_SIZE;
    size_t behind = 0;

    EXPECT("reads", verified(device, &platform), 0);
    for (size_t i = first; i < bundle_size / HARTLOCK_SECTOR_SIZE; i++)
        EXPECT("a sector of a payload", device->reads[i], 1);
    for (uint32_t type = 16; type <= 18; type++) {
        EXPECT("a payload", hartlock_payload(device->memory, type, &payload), 0);
        for (uint64_t i = payload.size; i < payload.memory_size; i++, behind++)
            EXPECT("a byte behind a payload", device_place(device, payload.address)[i], 0);
    }
    EXPECT("there are whole pages behind payloads", behind > 3 * 4096, 1);
    device_free(device);
}

/* The second decision depends on the verdict: of the words of the library's memory, two flipped ones make it refuse. */
static void flips(void)
{
    struct device *device = good();
    struct hartlock_platform platform = device_platform(device);
    uint64_t *memory = aligned_alloc(HARTLOCK_MEMORY_ALIGNMENT, HARTLOCK_MEMORY_SIZE);
    uint32_t refused = 0;

    if (!memory)
        abort();

    EXPECT("flips", verified(device, &platform), 0);
    for (size_t i = 0; i < HARTLOCK_MEMORY_SIZE / 8; i++) {
        memcpy(memory, device->memory, HARTLOCK_MEMORY_SIZE);
        memory[i] ^= 1u << 7;
        refused += hartlock_confirm(memory) == 910;
    }
    EXPECT("words of the verdict", refused, 2);
    free(memory);
    device_free(device);
}

static void texts(void)
{
    char text[16];
    char whole[512];
    size_t length = hartlock_title(801, NULL, 0);

    EXPECT("version", hartlock_version(), HARTLOCK_VERSION);
    EXPECT("a title", length > 16, 1);
    EXPECT("a title, cut", hartlock_title(801, text, sizeof(text)) == length, 1);
    EXPECT("it ends", (uint32_t)strlen(text), sizeof(text) - 1);
    EXPECT("a hint", hartlock_hint(1503, whole, sizeof(whole)) == strlen(whole) && strlen(whole) > 16, 1);
    EXPECT("no reason", (uint32_t)hartlock_title(9999, whole, sizeof(whole)), 0);
    EXPECT("no text", (uint32_t)strlen(whole), 0);
}

static uint32_t number(const uint8_t **at)
{
    uint32_t value;

    memcpy(&value, *at, sizeof(value));
    *at += sizeof(value);
    return value;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    static uint8_t pack[4 << 20];
    const uint8_t *at = pack + 4;

    if (!file || fread(pack, 1, sizeof(pack), file) < 8)
        return 2;
    fclose(file);
    at += number(&at) * 8;
    memcpy(&requirements, at, sizeof(requirements));
    at += sizeof(requirements);
    bundle_size = number(&at);
    bundle = at;
    memories();
    platforms();
    faults();
    requirement_faults();
    reads();
    texts();
    flips();
    harts();
    orders();
    printf("%d failures\n", failures);
    return failures != 0;
}
