// Observes a program that QEMU runs with different secrets, as verif/fault/src/timing.rs does: the addresses of its
// instructions and of the data that they access must be the same for all secrets.
//
// Arguments: the addresses of the marks `subject`, `begin` and `end` (verif/programs/timing/src/marks.S), and the path
// `out` of a file. For each computation a line is written to it:
//
//   <runs> <instructions> <accesses> same
//   <runs> <instructions> <accesses> run <number> pc <address> first <seen> other <seen>
//
// The last line has the names of all instructions that were executed in a run:
//
//   names <name> ...
//
// The declarations are those of QEMU's interface for plugins, version 4.

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { REGISTERS_UNUSED = 0, LOADS_AND_STORES = 3 };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*callback)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(uint64_t id, void (*callback)(uint64_t, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction, void (*callback)(unsigned, void *),
                                            int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
                                      void (*callback)(unsigned, uint32_t, uint64_t, void *), int flags, int access,
                                      void *data);
unsigned qemu_plugin_mem_size_shift(uint32_t access);
bool qemu_plugin_mem_is_store(uint32_t access);

EXPORT int qemu_plugin_version = 4;

// What was seen is an address of an instruction, or with bit 63 one of data: bit 62 is set for a store, and the bits
// from 56 on are the logarithm of the length.
#define DATA (UINT64_C(1) << 63)
#define STORE (UINT64_C(1) << 62)
#define LENGTH_SHIFT 56
#define END UINT64_C(0)

static uint64_t subject_mark, begin_mark, end_mark;
static FILE *out;

// What the first run of a computation did.
static uint64_t *first;
static size_t first_len, room;

static bool is_running, is_same, has_subject;
static size_t position;
static uint64_t pc, runs, instructions, accesses;
static struct {
    uint64_t run, pc, first, other;
    bool is_there;
} difference;

// The name of an instruction, and whether one was executed in a run.
struct name {
    char *text;
    bool is_used;
    struct name *next;
};
static struct name *names;

// An instruction of a block that was translated. It is needed as long as the block, whose end is not told.
struct place {
    uint64_t pc;
    struct name *name;
};

static void *allocate(size_t size) {
    void *memory = malloc(size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static struct name *name_of(const struct qemu_plugin_insn *instruction) {
    char *text = qemu_plugin_insn_disas(instruction);
    if (text == NULL) {
        abort();
    }
    text[strcspn(text, " \t")] = 0;
    for (struct name *name = names; name != NULL; name = name->next) {
        if (strcmp(name->text, text) == 0) {
            free(text);
            return name;
        }
    }
    struct name *name = allocate(sizeof *name);
    *name = (struct name){text, false, names};
    names = name;
    return name;
}

static void see(uint64_t seen) {
    if (!is_running || !is_same) {
        return;
    }
    if (runs == 0) {
        if (first_len == room) {
            room = room == 0 ? 1 << 20 : 2 * room;
            first = realloc(first, room * sizeof *first);
            if (first == NULL) {
                abort();
            }
        }
        first[first_len++] = seen;
        instructions += seen != END && !(seen & DATA);
        accesses += (seen & DATA) != 0;
    } else if (position >= first_len || first[position] != seen) {
        is_same = false;
        if (!difference.is_there) {
            difference.run = runs;
            difference.pc = pc;
            difference.first = position < first_len ? first[position] : END;
            difference.other = seen;
            difference.is_there = true;
        }
    }
    position++;
}

static void print_seen(const char *name, uint64_t seen) {
    const char *kind = seen == END ? "end" : !(seen & DATA) ? "instruction" : seen & STORE ? "store" : "load";
    uint64_t address = seen & DATA ? seen & ((UINT64_C(1) << LENGTH_SHIFT) - 1) : seen;
    fprintf(out, " %s %s:%" PRIx64, name, kind, address);
}

static void finish_subject(void) {
    if (has_subject) {
        fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64, runs, instructions, accesses);
        if (difference.is_there) {
            fprintf(out, " run %" PRIu64 " pc %" PRIx64, difference.run, difference.pc);
            print_seen("first", difference.first);
            print_seen("other", difference.other);
            fprintf(out, "\n");
        } else {
            fprintf(out, " same\n");
        }
    }
    runs = instructions = accesses = first_len = 0;
    difference.is_there = false;
}

static void on_subject(unsigned hart, void *data) {
    (void)hart, (void)data;
    finish_subject();
    has_subject = true;
}

static void on_begin(unsigned hart, void *data) {
    (void)hart, (void)data;
    is_running = is_same = true;
    position = 0;
}

static void on_end(unsigned hart, void *data) {
    (void)hart, (void)data;
    see(END);
    is_running = false;
    runs++;
}

static void on_instruction(unsigned hart, void *data) {
    (void)hart;
    const struct place *place = data;
    if (is_running) {
        see(place->pc);
        pc = place->pc;
        place->name->is_used = true;
    }
}

static void on_access(unsigned hart, uint32_t access, uint64_t address, void *data) {
    (void)hart, (void)data;
    see(DATA | (qemu_plugin_mem_is_store(access) ? STORE : 0) |
        (uint64_t)qemu_plugin_mem_size_shift(access) << LENGTH_SHIFT | address);
}

static void on_translation(uint64_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t index = 0; index < qemu_plugin_tb_n_insns(block); index++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, index);
        uint64_t address = qemu_plugin_insn_vaddr(instruction);
        void (*callback)(unsigned, void *) = address == subject_mark ? on_subject
                                             : address == begin_mark ? on_begin
                                             : address == end_mark   ? on_end
                                                                     : on_instruction;
        struct place *place = allocate(sizeof *place);
        *place = (struct place){address, name_of(instruction)};
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, REGISTERS_UNUSED, place);
        qemu_plugin_register_vcpu_mem_cb(instruction, on_access, REGISTERS_UNUSED, LOADS_AND_STORES, NULL);
    }
}

static void on_end_of_machine(uint64_t id, void *data) {
    (void)id, (void)data;
    finish_subject();
    fprintf(out, "names");
    for (const struct name *name = names; name != NULL; name = name->next) {
        if (name->is_used) {
            fprintf(out, " %s", name->text);
        }
    }
    fprintf(out, "\n");
    fclose(out);
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
    (void)info;
    for (int index = 0; index < argc; index++) {
        char *value = strchr(argv[index], '=');
        if (value == NULL) {
            return -1;
        }
        *value++ = 0;
        if (strcmp(argv[index], "out") == 0) {
            out = fopen(value, "w");
        } else if (strcmp(argv[index], "subject") == 0) {
            subject_mark = strtoull(value, NULL, 0);
        } else if (strcmp(argv[index], "begin") == 0) {
            begin_mark = strtoull(value, NULL, 0);
        } else if (strcmp(argv[index], "end") == 0) {
            end_mark = strtoull(value, NULL, 0);
        } else {
            return -1;
        }
    }
    if (out == NULL || subject_mark == 0 || begin_mark == 0 || end_mark == 0) {
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_end_of_machine, NULL);
    return 0;
}
