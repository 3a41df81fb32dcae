/*
 * Calls the C library wrongly in every way that its specification names, and with platforms that fail. The first argument
 * is a pack with one good bundle (vectors.c).
 */

/* For signals. */
#define _POSIX_C_SOURCE 200809L

#include "platform.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int failures;

#define EXPECT(what, found, wanted)                                                              \
    do {                                                                                         \
        uint32_t found_code = (found), wanted_code = (wanted);                                   \
        if (found_code != wanted_code) {                                                         \
            printf("%s: %u, expected is %u\n", what, found_code, wanted_code);                   \
            failures++;                                                                          \
        }                                                                                        \
    } while (0)

/* A bundle, the same with encrypted payloads, and the same with a byte that was changed in the last payload of that. */
enum { PLAIN, ENCRYPTED, TAMPERED, BUNDLES };

static struct {
    const uint8_t *bytes;
    size_t size;
    struct hartlock_requirements requirements;
} bundles[BUNDLES];

#define bundle_size bundles[PLAIN].size
#define HANDOFF_SIZE 4096

/* A hand-off block of hart 3 that trusts what the plain bundle needs. */
static uint8_t handoff[HANDOFF_SIZE];

static struct device *with(int which)
{
    struct device *device = device_new(bundles[which].bytes, bundles[which].size, 64 << 10);

    device->requirements = bundles[which].requirements;
    return device;
}

static struct device *good(void)
{
    return with(PLAIN);
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

/* A description of before there were engines and keys. */
static void earlier_platforms(void)
{
    size_t first = offsetof(struct hartlock_platform, verify_signature);
    struct device *device = good();
    struct hartlock_platform platform = device_platform(device);
    uint8_t *copy = malloc(first);

    if (!copy)
        abort();
    platform.size = (uint32_t)first;
    /* Nothing behind its end is read: the copy ends there. */
    memcpy(copy, &platform, first);
    EXPECT("an earlier platform", verified(device, (const struct hartlock_platform *)(const void *)copy), 0);
    free(copy);
    device_free(device);
}

static void engines(void)
{
    static const struct {
        const char *what;
        enum fault fault;
        uint32_t calls;
        uint32_t code;
    } rows[] = {
        {"an engine", NO_FAULT, 2, 0},
        {"an engine that accepts everything", ENGINE_ACCEPTS_ALL, 1, 0},
        {"an engine that refuses everything", ENGINE_REFUSES_ALL, 2, 301},
        {"an engine that is absent", ENGINE_IS_ABSENT, 1, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct device *device = good();
        struct hartlock_platform platform = device_platform(device);

        device->fault = rows[i].fault;
        device_has_engine(&platform);
        EXPECT(rows[i].what, verified(device, &platform), rows[i].code);
        EXPECT("its calls", device->engine_calls, rows[i].calls);
        device_free(device);
    }
}

/* The requirements of a stage that our ROM has started. */
static void handoffs(void)
{
    struct hartlock_requirements found, wrong;
    struct device *device = good();
    struct hartlock_platform platform = device_platform(device);

    memset(&found, 0xff, sizeof(found));
    memset(&wrong, 0xff, sizeof(wrong));
    EXPECT("a block", hartlock_requirements_of_handoff(handoff, HANDOFF_SIZE, 3, 1024, &found), 0);
    EXPECT("its type", found.bundle_type, 2);
    EXPECT("its keys", found.key_count, bundles[PLAIN].requirements.key_count);
    EXPECT("its keys", !memcmp(found.keys, bundles[PLAIN].requirements.keys, sizeof(found.keys)), 1);
    EXPECT("its board", !memcmp(found.board, bundles[PLAIN].requirements.board, 64), 1);
    EXPECT("its floor", found.floor == 7 && found.boot_version == 9 && found.max_bootargs == 1024, 1);
    EXPECT("its revoked keys", found.revoked_keys, 0);
    EXPECT("no block", hartlock_requirements_of_handoff(NULL, HANDOFF_SIZE, 3, 1024, &wrong), 905);
    EXPECT("a short block", hartlock_requirements_of_handoff(handoff, HANDOFF_SIZE - 1, 3, 1024, &wrong), 905);
    EXPECT("another hart", hartlock_requirements_of_handoff(handoff, HANDOFF_SIZE, 0, 1024, &wrong), 912);
    EXPECT("no place", hartlock_requirements_of_handoff(handoff, HANDOFF_SIZE, 3, 1024, NULL), 1508);
    for (size_t i = 0; i < HANDOFF_SIZE; i++) {
        handoff[i] ^= 1;
        EXPECT("a changed byte", hartlock_requirements_of_handoff(handoff, HANDOFF_SIZE, 3, 1024, &wrong), 905);
        handoff[i] ^= 1;
    }
    for (size_t i = 0; i < sizeof(wrong); i++)
        EXPECT("what a refusal has written", ((const uint8_t *)&wrong)[i], 0xff);
    device->handoff = handoff;
    EXPECT("a boot by a block", verified(device, &platform), 0);
    device_free(device);
}

/* The tree for Linux: all that is refused there ends the boot. */
static void trees(void)
{
    static struct hartlock_reservation kept = {.name = "hartlock-monitor", .address = 0x80000000, .size = 0x200000};
    static struct hartlock_reservation other = {.name = "monitor", .address = 0x80000000, .size = 0x200000};
    static _Alignas(8) uint8_t tree[64 << 10];
    static const struct {
        const char *what;
        const struct hartlock_reservation *reservations;
        size_t count;
        uint8_t *out;
        size_t size;
        uint32_t code;
    } rows[] = {
        {"a tree", NULL, 0, tree, sizeof(tree), 0},
        {"a tree with a reservation", &kept, 1, tree, sizeof(tree), 0},
        {"a tree without a place", &kept, 1, NULL, sizeof(tree), 1508},
        {"a misaligned tree", &kept, 1, tree + 4, sizeof(tree) - 4, 1508},
        {"reservations that are not there", NULL, 1, tree, sizeof(tree), 1508},
        {"too many reservations", &kept, 9, tree, sizeof(tree), 1508},
        {"a reservation of another name", &other, 1, tree, sizeof(tree), 1508},
        {"a tree in 64 bytes", &kept, 1, tree, 64, 908},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct device *device = good();
        struct hartlock_platform platform = device_platform(device);
        size_t length = 0;

        EXPECT(rows[i].what, begun(device, &platform), 0);
        EXPECT("too early", hartlock_tree(device->memory, 31, NULL, 0, tree, sizeof(tree), &length), 1503);
        EXPECT(rows[i].what, hartlock_authenticate(device->memory), 0);
        EXPECT(rows[i].what, hartlock_load(device->memory), 0);
        EXPECT(rows[i].what, hartlock_decide(device->memory), 0);
        EXPECT(rows[i].what,
               hartlock_tree(device->memory, 31, rows[i].reservations, rows[i].count, rows[i].out, rows[i].size, &length),
               rows[i].code);
        EXPECT("its length", length != 0, rows[i].code == 0);
        EXPECT("the boot afterwards", hartlock_confirm(device->memory), rows[i].code ? 1503 : 0);
        device_free(device);
    }
}

/* Returns how many payloads of two devices are equal, and zero. */
static void compare(struct device *device, struct device *other, uint32_t *equal, uint32_t *zero)
{
    *equal = *zero = 0;
    for (uint32_t i = 0; i < device->place_count; i++) {
        uint8_t *mine = device->places[i].memory;
        uint8_t *place = device_place(other, device->places[i].address);
        size_t size = (size_t)device->places[i].size;
        size_t zeros = 0;

        *equal += place && !memcmp(mine, place, size);
        while (zeros < size && !mine[zeros])
            zeros++;
        *zero += zeros == size;
    }
}

/* Returns true if the memory of the library has 16 bytes of a content key. */
static uint32_t has_key(struct device *device)
{
    const uint8_t *memory = device->memory;

    for (uint8_t type = 16; type <= 18; type++) {
        uint8_t key[16];

        for (size_t i = 0; i < sizeof(key); i++)
            key[i] = (uint8_t)((i * 29) ^ (0x80 | type));
        for (size_t at = 0; at + sizeof(key) <= HARTLOCK_MEMORY_SIZE; at++)
            if (!memcmp(memory + at, key, sizeof(key)))
                return 1;
    }
    return 0;
}

/* The plain text is that of the other bundle; after a refusal nothing is left of it, nor of a key. */
static void encrypted(void)
{
    static const struct {
        const char *what;
        int bundle;
        enum fault fault;
        uint32_t code;
    } rows[] = {
        {"encrypted payloads", ENCRYPTED, NO_FAULT, 0},
        {"keys for a bundle without encryption", PLAIN, NO_FAULT, 0},
        {"no such key", ENCRYPTED, KEY_IS_MISSING, 606},
        {"keys that fail", ENCRYPTED, UNWRAP_FAILS, 921},
        {"a key that is not written", ENCRYPTED, KEY_IS_NOT_WRITTEN, 921},
        {"another key", ENCRYPTED, KEY_IS_WRONG, 0},
        {"a changed byte", TAMPERED, NO_FAULT, 801},
    };
    struct device *plain = good();
    struct hartlock_platform of_plain = device_platform(plain);

    EXPECT("the plain text", verified(plain, &of_plain), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) * 2; i++) {
        struct device *device = with(rows[i / 2].bundle);
        struct hartlock_platform platform = device_platform(device);
        uint32_t equal, zero, unwrapped = rows[i / 2].bundle == PLAIN ? 0 : 3;

        device->fault = rows[i / 2].fault;
        device_has_keys(&platform);
        if (i % 2)
            device_reads_by_itself(&platform);
        EXPECT(rows[i / 2].what, verified(device, &platform), rows[i / 2].code);
        compare(device, plain, &equal, &zero);
        EXPECT("no key is left", has_key(device), 0);
        if (rows[i / 2].code == 0) {
            EXPECT("keys", device->unwrapped, unwrapped);
            EXPECT("payloads that are the plain text", equal, device->fault == KEY_IS_WRONG ? 0 : plain->place_count);
            if (unwrapped) {
                EXPECT("abandoned", hartlock_abandon(device->memory), 0);
                EXPECT("after that", hartlock_confirm(device->memory), 1503);
                compare(device, plain, &equal, &zero);
                EXPECT("payloads that are zero", zero, plain->place_count);
            }
        } else if (rows[i / 2].code == 801) {
            EXPECT("payloads that are zero", zero, plain->place_count);
        }
        device_free(device);
    }
    device_free(plain);
    plain = with(ENCRYPTED);
    of_plain = device_platform(plain);
    EXPECT("nobody unwraps", verified(plain, &of_plain), 606);
    EXPECT("abandoned without memory", hartlock_abandon(NULL), 1501);
    device_free(plain);
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
    /* How often the hart has asked for work. */
    atomic_uint asked;
};

static void *work(void *argument)
{
    struct worker *worker = argument;

    do {
        worker->answer = hartlock_work(worker->device->memory, worker->hart);
        atomic_fetch_add(&worker->asked, 1);
    } while (worker->answer == HARTLOCK_WAIT);
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

/*
 * A hart is lost: a signal stops it while it works, and its handler does not come back before the boot hart has loaded
 * everything. Time stands still until then, and afterwards goes on with each question for it.
 */
static struct worker lost;
static uint32_t parts_before_loss;
static uint32_t reports_loss;
static atomic_int is_lost;
static atomic_int is_over;

static void lose_hart(int number)
{
    (void)number;
    atomic_store(&is_lost, 1);
    while (!atomic_load(&is_over))
        ;
}

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec time;

    if (clock_gettime(clock, &time))
        abort();
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Waits until the hart has worked for ten microseconds without asking for work again: it hashes. At most half a second. */
static void wait_for_hashing(void)
{
    uint64_t end = nanoseconds(CLOCK_MONOTONIC) + 500000000u;
    clockid_t clock;

    if (pthread_getcpuclockid(lost.thread, &clock))
        abort();
    while (nanoseconds(CLOCK_MONOTONIC) < end) {
        unsigned asked = atomic_load(&lost.asked);
        uint64_t begin = nanoseconds(clock);

        while (nanoseconds(clock) < begin + 10000 && asked == atomic_load(&lost.asked) && nanoseconds(CLOCK_MONOTONIC) < end)
            ;
        if (asked == atomic_load(&lost.asked) && nanoseconds(clock) >= begin + 10000)
            return;
    }
}

static void lose_at_read(struct device *device, uint64_t offset)
{
    /* The initramfs begins at 8192, and is read in parts of the size of the buffer. */
    if (offset < 8192 + device->buffer_size * parts_before_loss)
        return;
    device->on_read = NULL;
    wait_for_hashing();
    if (pthread_kill(lost.thread, SIGUSR1))
        abort();
    while (!atomic_load(&is_lost))
        ;
    device->step = 1;
    if (reports_loss)
        EXPECT("lost, report", hartlock_report_trap(device->memory, 1), 0);
}

/* Returns true if the hart held a block: the boot hart waited for it for five seconds. */
static int lost_round(int which, struct device *plain)
{
    struct device *device = with(which);
    struct hartlock_platform platform = device_platform(device);
    uint32_t code, equal, zero;
    int was_held;

    device_has_keys(&platform);
    device->step = 0;
    atomic_store(&is_lost, 0);
    atomic_store(&is_over, 0);
    EXPECT("lost, begin", begun(device, &platform), 0);
    EXPECT("lost, authenticate", hartlock_authenticate(device->memory), 0);
    lost.device = device;
    lost.hart = 1;
    atomic_store(&lost.asked, 0);
    if (pthread_create(&lost.thread, NULL, work, &lost))
        abort();
    while (!atomic_load(&lost.asked))
        ;
    device->on_read = lose_at_read;
    code = hartlock_load(device->memory);
    was_held = device->now > 5000;
    /* One that is lost while it decrypts leaves a payload that nobody can start. */
    if (which != ENCRYPTED || code != 913)
        EXPECT("lost, load", code, 0);
    compare(device, plain, &equal, &zero);
    if (!code)
        EXPECT("payloads that are the plain text", equal, plain->place_count);
    if (!code && !reports_loss)
        EXPECT("a hart that is lost is not stopped", hartlock_decide(device->memory), 907);
    /* The hart comes back late, and nothing of what it delivers is taken. */
    hartlock_stop(device->memory);
    atomic_store(&is_over, 1);
    pthread_join(lost.thread, NULL);
    if (!code && reports_loss) {
        EXPECT("lost, decide", hartlock_decide(device->memory), 0);
        EXPECT("lost, confirm", hartlock_confirm(device->memory), 0);
        compare(device, plain, &equal, &zero);
        EXPECT("payloads that are still the plain text", equal, plain->place_count);
    }
    device_free(device);
    return was_held;
}

static void lost_harts(void)
{
    struct sigaction action;
    struct device *plain = good();
    struct hartlock_platform of_plain = device_platform(plain);
    uint32_t held = 0;

    memset(&action, 0, sizeof(action));
    action.sa_handler = lose_hart;
    if (sigaction(SIGUSR1, &action, NULL))
        abort();
    EXPECT("the plain text", verified(plain, &of_plain), 0);
    /* Where the signal meets the hart is chance. */
    for (uint32_t round = 0; round < 60 && held < 4; round++) {
        reports_loss = 0;
        parts_before_loss = 1 + round % 4;
        held += (uint32_t)lost_round(round / 5 % 2 ? ENCRYPTED : PLAIN, plain);
    }
    EXPECT("harts that held a block", held, 4);
    for (uint32_t round = 0; round < 20; round++) {
        reports_loss = 1;
        parts_before_loss = 1 + round % 4;
        lost_round(round / 5 % 2 ? ENCRYPTED : PLAIN, plain);
    }
    device_free(plain);
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
    for (int i = 0; i < BUNDLES; i++) {
        uint32_t answers = number(&at);

        at += answers * 8;
        memcpy(&bundles[i].requirements, at, sizeof(bundles[i].requirements));
        at += sizeof(bundles[i].requirements);
        bundles[i].size = number(&at);
        bundles[i].bytes = at;
        at += bundles[i].size;
    }
    memcpy(handoff, at, HANDOFF_SIZE);
    memories();
    platforms();
    faults();
    requirement_faults();
    reads();
    texts();
    flips();
    earlier_platforms();
    engines();
    encrypted();
    handoffs();
    trees();
    harts();
    lost_harts();
    orders();
    printf("%d failures\n", failures);
    return failures != 0;
}
