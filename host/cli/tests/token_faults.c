// A PKCS#11 module for tests: SoftHSM with one fault, which HARTLOCK_FAULT names. HARTLOCK_MODULE is the path of SoftHSM,
// and HARTLOCK_LOGINS a file that gets one byte for each log-in.
//
// A list of functions is a version and pointers in the order of PKCS#11 2.40 §4.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long word;
typedef word (*function)();

enum { INITIALIZE = 0, GET_TOKEN_INFO = 6, LOGIN = 18, GET_ATTRIBUTE_VALUE = 24, SIGN_INIT = 42, SIGN = 43, COUNT = 68 };
enum { USER_PIN_LOCKED = 0x40000, CKA_SIGN = 0x108 };
enum {
    PIN_LOCKED = 0xa4,
    DEVICE_REMOVED = 0x32,
    SESSION_HANDLE_INVALID = 0xb3,
    MECHANISM_INVALID = 0x70,
    GENERAL_ERROR = 5,
    FUNCTION_NOT_PERMITTED = 0x68,
};

static struct {
    unsigned char version[2];
    function functions[COUNT];
} list, *real;

static int signatures;

static int is(const char *name) {
    const char *fault = getenv("HARTLOCK_FAULT");
    return fault && !strcmp(fault, name);
}

static word get_token_info(word slot, unsigned char *info) {
    word result = real->functions[GET_TOKEN_INFO](slot, info);
    // Label, manufacturer, model and serial number are before the flags.
    word *flags = (word *)(info + 32 + 32 + 16 + 16);
    if (!result && is("locked-flag")) *flags |= USER_PIN_LOCKED;
    return result;
}

static word get_attribute_value(word session, word object, word *template, word count) {
    word result = real->functions[GET_ATTRIBUTE_VALUE](session, object, template, count);
    // An attribute is its type, a pointer and a length.
    for (word at = 0; at < count && is("may-not-sign"); at++)
        if (template[3 * at] == CKA_SIGN && template[3 * at + 1]) *(unsigned char *)template[3 * at + 1] = 0;
    return result;
}

static word login(word session, word user, unsigned char *pin, word length) {
    FILE *logins = fopen(getenv("HARTLOCK_LOGINS"), "a");
    if (logins) {
        fputc('x', logins);
        fclose(logins);
    }
    if (is("locked")) return PIN_LOCKED;
    return real->functions[LOGIN](session, user, pin, length);
}

static word sign_init(word session, void *mechanism, word key) {
    if (is("no-mechanism")) return MECHANISM_INVALID;
    if (is("not-permitted")) return FUNCTION_NOT_PERMITTED;
    return real->functions[SIGN_INIT](session, mechanism, key);
}

static word sign(word session, unsigned char *data, word length, unsigned char *out, word *size) {
    if (is("removed")) return DEVICE_REMOVED;
    if (is("session-lost") && signatures > 0) return SESSION_HANDLE_INVALID;
    if (is("error")) return GENERAL_ERROR;
    unsigned char *other = malloc(length);
    memcpy(other, data, length);
    if (is("other-bytes")) other[0] ^= 1;
    word result = real->functions[SIGN](session, other, length, out, size);
    free(other);
    if (!result && out) signatures++;
    if (!result && out && is("empty")) *size = 0;
    if (!result && out && is("flipped")) out[0] ^= 1;
    return result;
}

word C_GetFunctionList(void **functions) {
    void *module = dlopen(getenv("HARTLOCK_MODULE"), RTLD_NOW);
    word (*get)(void *) = module ? (word (*)(void *))dlsym(module, "C_GetFunctionList") : NULL;
    if (!get || get(&real)) return GENERAL_ERROR;
    list = *real;
    list.functions[GET_TOKEN_INFO] = get_token_info;
    list.functions[LOGIN] = login;
    list.functions[GET_ATTRIBUTE_VALUE] = get_attribute_value;
    list.functions[SIGN_INIT] = sign_init;
    list.functions[SIGN] = sign;
    *functions = &list;
    return 0;
}
