/*
 * Verifies every vector of a pack through the C library, and prints the code of each. The pack is written by
 * verif/campaigns/src/c_library.rs; numbers are little-endian.
 */

#include "platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t *take(const uint8_t **at, size_t size)
{
    const uint8_t *here = *at;

    *at += size;
    return here;
}

static uint32_t number(const uint8_t **at)
{
    uint32_t value;

    memcpy(&value, take(at, sizeof(value)), sizeof(value));
    return value;
}

static uint32_t verified(struct device *device, const struct hartlock_platform *platform)
{
    uint32_t code = hartlock_begin(device->memory, HARTLOCK_MEMORY_SIZE, platform, 0);

    if (!code)
        code = hartlock_authenticate(device->memory);
    if (!code)
        code = hartlock_load(device->memory);
    if (!code)
        code = hartlock_stop(device->memory);
    if (!code)
        code = hartlock_decide(device->memory);
    if (!code)
        code = hartlock_confirm(device->memory);
    return code;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    uint8_t *pack;
    const uint8_t *at;
    long size;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 4 || fseek(file, 0, SEEK_SET))
        return 2;
    pack = malloc((size_t)size);
    if (!pack || fread(pack, 1, (size_t)size, file) != (size_t)size)
        return 2;
    fclose(file);
    at = pack;
    for (uint32_t count = number(&at), i = 0; i < count; i++) {
        uint32_t answers = number(&at);
        const uint8_t *answer = take(&at, answers * 8);
        const uint8_t *requirements = take(&at, sizeof(struct hartlock_requirements));
        uint32_t bundle_size = number(&at);
        /* A copy of its own, so that a read past its end is found. */
        uint8_t *bundle = malloc(bundle_size + 1u);

        memcpy(bundle, take(&at, bundle_size), bundle_size);
        printf("vector %u", i);
        for (int by_itself = 0; by_itself < 2; by_itself++) {
            struct device *device = device_new(bundle, bundle_size, by_itself ? 8192 : 4096 + 512);
            struct hartlock_platform platform = device_platform(device);

            memcpy(&device->requirements, requirements, sizeof(device->requirements));
            memcpy(device->answers, answer, answers * 8);
            device->answer_count = answers;
            if (by_itself)
                device_reads_by_itself(&platform);
            printf(" %u", verified(device, &platform));
            device_free(device);
        }
        printf("\n");
        free(bundle);
    }
    free(pack);
    printf("done\n");
    return 0;
}
