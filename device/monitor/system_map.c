/*
 * The call "system map" (spec/boot-flow.md §2.3): it lets devices reach the memory of the system, once.
 *
 * While a stage reads a disk, the tables of the IOMMU map the buffers of the disk alone. Linux needs its devices to reach
 * all of its memory, and S-mode reaches neither the IOMMU nor its tables. So the loader asks for this call when the
 * disk is reset and the verdict is computed.
 *
 * The call takes no argument. What it can do is fixed by the ROM, which wrote both maps: one entry of the root table is
 * changed from the first map to the second. The entry itself tells whether that was done. So a second call finds
 * nothing to change, and only a reset, after which the ROM writes all tables anew, brings the first map back.
 *
 * OpenSBI calls hartlock_system_map_init for a node of the boot device tree with the compatible string below. A board
 * without an IOMMU has no such node, and no such call.
 */

#include <sbi/riscv_asm.h>
#include <sbi/riscv_io.h>
#include <sbi/sbi_domain.h>
#include <sbi/sbi_ecall.h>
#include <sbi/sbi_ecall_interface.h>
#include <sbi/sbi_error.h>
#include <sbi_utils/fdt/fdt_driver.h>

/* Extensions of a firmware have the number of the SBI implementation in their lowest bits (SBI v2.0 §14). */
#define EXTENSION (SBI_EXT_FIRMWARE_START + SBI_OPENSBI_IMPID)
#define FUNCTION_SYSTEM_MAP 0

/* Offsets in the tables as the ROM writes them (spec/boot-flow.md §2.3). */
#define BUFFER_MAP 0x4000
#define QUEUE 0x6000
#define SYSTEM_MAP 0x7000
#define TABLES_SIZE 0x8000
#define GIGABYTE_SHIFT 30
#define POINTER_VALID 1

/* Registers of the IOMMU (RISC-V IOMMU Architecture Specification 1.0 §6). */
#define DDTP 0x10
#define CQB 0x18
#define CQH 0x20
#define CQT 0x24
#define CQCSR 0x48
#define IOMMU_SIZE 0x1000

#define DDTP_BUSY (1 << 4)
#define CQ_ENABLE 1
#define CQ_FAULTS (0xf << 8)
#define CQ_ON (1 << 16)
#define CQ_BUSY (1 << 17)
/* Size of the command queue as used in cqb: 256 commands of 16 bytes, which is one page. */
#define CQ_LOG_SIZE 7
/* Number of commands that the ROM left in the queue. They invalidate all device contexts and translations, and wait. */
#define COMMANDS 4
/* Maximum number of reads of a register. They take more than a second on any board. */
#define READS 1000000

static u64 iommu;
static u64 tables;

static volatile void *at(u64 base, unsigned long offset)
{
	return (volatile void *)(unsigned long)(base + offset);
}

/* Returns the value of a pointer in a page table to the table at this offset. */
static u64 pointer_to(unsigned long offset)
{
	return ((tables + offset) >> 12) << 10 | POINTER_VALID;
}

/* Waits until these bits of a register, or of its lower half, have this value. */
static bool has_reached(unsigned long reg, u32 bits, u32 value)
{
	for (int reads = 0; reads < READS; reads++) {
		if ((readl(at(iommu, reg)) & bits) == value)
			return true;
	}
	return false;
}

/* Invalidates everything that the IOMMU has cached of its tables. */
static bool has_forgotten(void)
{
	writel(0, at(iommu, CQCSR));
	if (!has_reached(CQCSR, CQ_BUSY | CQ_ON, 0))
		return false;
	writeq((tables + QUEUE) >> 12 << 10 | CQ_LOG_SIZE, at(iommu, CQB));
	writel(0, at(iommu, CQT));
	writel(CQ_ENABLE, at(iommu, CQCSR));
	if (!has_reached(CQCSR, CQ_BUSY | CQ_ON, CQ_ON))
		return false;
	writel(COMMANDS, at(iommu, CQT));
	if (!has_reached(CQH, ~0U, COMMANDS))
		return false;
	if (readl(at(iommu, CQCSR)) & CQ_FAULTS)
		return false;
	writel(0, at(iommu, CQCSR));
	return has_reached(CQCSR, CQ_BUSY | CQ_ON, 0);
}

static int system_map(void)
{
	volatile u64 *entry = at(tables, (tables >> GIGABYTE_SHIFT) * sizeof(u64));

	/* Only one hart gets past this line, so no two calls meet. */
	if (current_hartid() != sbi_domain_thishart_ptr()->boot_hartid)
		return SBI_EDENIED;
	if (*entry != pointer_to(BUFFER_MAP))
		return SBI_EDENIED;
	*entry = pointer_to(SYSTEM_MAP);
	mb();
	if (has_forgotten())
		return SBI_OK;
	/* It is unknown which map the IOMMU uses. Off, it blocks all devices. */
	writeq(0, at(iommu, DDTP));
	has_reached(DDTP, DDTP_BUSY, 0);
	return SBI_EFAIL;
}

static int handle(unsigned long extension, unsigned long function, struct sbi_trap_regs *regs,
		  struct sbi_ecall_return *out)
{
	return function == FUNCTION_SYSTEM_MAP ? system_map() : SBI_ENOTSUPP;
}

static struct sbi_ecall_extension system_map_extension = {
	.name = "sysmap",
	.extid_start = EXTENSION,
	.extid_end = EXTENSION,
	.handle = handle,
};

static int hartlock_system_map_init(const void *fdt, int node, const struct fdt_match *match)
{
	u64 iommu_size = 0, tables_size = 0;
	int error = fdt_get_node_addr_size(fdt, node, 0, &iommu, &iommu_size);

	if (!error)
		error = fdt_get_node_addr_size(fdt, node, 1, &tables, &tables_size);
	if (!error && (iommu_size != IOMMU_SIZE || tables_size != TABLES_SIZE))
		error = SBI_EINVAL;
	return error ? error : sbi_ecall_register_extension(&system_map_extension);
}

static const struct fdt_match hartlock_system_map_match[] = {
	{ .compatible = "hartlock,system-map" },
	{ },
};

const struct fdt_driver hartlock_system_map = {
	.match_table = hartlock_system_map_match,
	.init = hartlock_system_map_init,
};
