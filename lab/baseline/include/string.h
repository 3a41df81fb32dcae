/* What BearSSL wants of a C library (C17 §7.24), which a bare hart does not have: Rust brings it. */
#ifndef BASELINE_STRING_H
#define BASELINE_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *to, int value, size_t len);
int memcmp(const void *one, const void *other, size_t len);
size_t strlen(const char *text);

#endif
