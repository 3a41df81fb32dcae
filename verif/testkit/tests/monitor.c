/*
 * Runs the call "system map" of device/monitor/system_map.c on this machine, with a model of the IOMMU (boot flow §2.3).
 *
 * No emulator caches what the IOMMU has read of its tables, so no boot sees whether the call drops it. The model sees
 * each access to a register, and the table before it. It prints the first difference and exits with 1.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef uint32_t u32;
typedef uint64_t u64;

/* What system_map.c takes from OpenSBI. The values are those of SBI v3.0 §3, and of the implementation OpenSBI. */
#define SBI_EXT_FIRMWARE_START 0x0a000000
#define SBI_OPENSBI_IMPID 1
#define SBI_OK 0
#define SBI_EFAIL (-1)
#define SBI_ENOTSUPP (-2)
#define SBI_EINVAL (-3)
#define SBI_EDENIED (-4)

struct sbi_trap_regs;
struct sbi_ecall_return;
struct sbi_ecall_extension {
	const char *name;
	unsigned long extid_start, extid_end;
	int (*handle)(unsigned long, unsigned long, struct sbi_trap_regs *, struct sbi_ecall_return *);
};
struct fdt_match {
	const char *compatible;
};
struct fdt_driver {
	const struct fdt_match *match_table;
	int (*init)(const void *, int, const struct fdt_match *);
};
struct sbi_domain {
	u32 boot_hartid;
};

static u32 hart;
static struct sbi_domain domain;

static u32 current_hartid(void)
{
	return hart;
}

static const struct sbi_domain *sbi_domain_thishart_ptr(void)
{
	return &domain;
}

static int fdt_get_node_addr_size(const void *fdt, int node, int index, u64 *address, u64 *size)
{
	(void)fdt, (void)node, (void)index, (void)address, (void)size;
	return SBI_EINVAL;
}

static int sbi_ecall_register_extension(struct sbi_ecall_extension *extension)
{
	(void)extension;
	return SBI_EINVAL;
}

static u32 readl(const volatile void *address);
static void writel(u32 value, volatile void *address);
static void writeq(u64 value, volatile void *address);
static void mb(void);

#include "system_map.c"

/* The registers are never accessed as memory, and the tables are in the third gigabyte, as on the board. */
#define REGISTERS 0x3010000ul
#define TABLES 0x80118000ul
#define ROOT_ENTRY 2

/* What the IOMMU does wrong: nothing, no command, a fault at one, its queue stays on, or off. */
enum fault { NONE, NO_COMMAND, COMMAND_FAULT, STAYS_ON, STAYS_OFF };

static enum fault fault;
static u32 cqcsr, head;
static bool has_ordered;
/* Each write as "register=value", with an M before the first one that follows a barrier. */
static char trace[256];

static void log_write(unsigned long reg, u64 value)
{
	char text[40];

	snprintf(text, sizeof(text), "%s%lx=%llx ", has_ordered ? "M " : "", reg, (unsigned long long)value);
	has_ordered = false;
	strncat(trace, text, sizeof(trace) - strlen(trace) - 1);
}

static void mb(void)
{
	/* The new entry is there before the IOMMU is told. */
	u64 entry = *(u64 *)(TABLES + ROOT_ENTRY * sizeof(u64));

	has_ordered = entry == ((TABLES + 0x7000) >> 12 << 10 | 1);
}

static u32 readl(const volatile void *address)
{
	switch ((unsigned long)address - REGISTERS) {
	case 0x20:
		return head;
	case 0x48: {
		u32 now = cqcsr;

		/* Busy at the first read after a write. */
		cqcsr &= ~(1u << 17);
		return now;
	}
	default:
		return 0;
	}
}

static void writel(u32 value, volatile void *address)
{
	unsigned long reg = (unsigned long)address - REGISTERS;

	log_write(reg, value);
	if (reg == 0x48 && value == 1)
		cqcsr = fault == STAYS_OFF ? 1 : 1 | 1u << 16 | 1u << 17;
	else if (reg == 0x48)
		cqcsr = fault == STAYS_ON ? 1u << 16 : 1u << 17;
	else if (reg == 0x24) {
		head = fault == NO_COMMAND ? 0 : value;
		cqcsr |= fault == COMMAND_FAULT && value != 0 ? 1u << 10 : 0;
	}
}

static void writeq(u64 value, volatile void *address)
{
	log_write((unsigned long)address - REGISTERS, value);
}

static void expect(const char *what, enum fault injected, u32 on, u64 before, int result, u64 after, const char *writes)
{
	u64 *entry = (u64 *)(TABLES + ROOT_ENTRY * sizeof(u64));

	fault = injected;
	hart = on;
	domain.boot_hartid = 0;
	cqcsr = head = 0;
	has_ordered = false;
	trace[0] = '\0';
	*entry = before;
	int seen = handle(EXTENSION, FUNCTION_SYSTEM_MAP, NULL, NULL);

	if (seen != result || *entry != after || strcmp(trace, writes) != 0) {
		printf("%s: result %d, entry %llx, writes %s\n", what, seen, (unsigned long long)*entry, trace);
		exit(1);
	}
}

int main(void)
{
	const u64 buffers = (TABLES + 0x4000) >> 12 << 10 | 1, system = (TABLES + 0x7000) >> 12 << 10 | 1;
	const char *off = "M 48=0 18=20047807 24=0 48=1 24=4 10=0 ";
	void *memory = mmap((void *)TABLES, 0x8000, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (memory != (void *)TABLES)
		return 2;
	iommu = REGISTERS;
	tables = TABLES;
	expect("the call", NONE, 0, buffers, SBI_OK, system, "M 48=0 18=20047807 24=0 48=1 24=4 48=0 ");
	expect("a second call", NONE, 0, system, SBI_EDENIED, system, "");
	expect("another hart", NONE, 1, buffers, SBI_EDENIED, buffers, "");
	expect("another entry", NONE, 0, buffers ^ 1, SBI_EDENIED, buffers ^ 1, "");
	/* What the IOMMU still uses is unknown, so it is switched off. */
	expect("no command", NO_COMMAND, 0, buffers, SBI_EFAIL, system, off);
	expect("a fault", COMMAND_FAULT, 0, buffers, SBI_EFAIL, system, off);
	expect("a queue that stays on", STAYS_ON, 0, buffers, SBI_EFAIL, system, "M 48=0 10=0 ");
	expect("a queue that stays off", STAYS_OFF, 0, buffers, SBI_EFAIL, system, "M 48=0 18=20047807 24=0 48=1 10=0 ");
	if (handle(EXTENSION, 1, NULL, NULL) != SBI_ENOTSUPP)
		return 1;
	return 0;
}
