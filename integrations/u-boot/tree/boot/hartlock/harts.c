// SPDX-License-Identifier: GPL-2.0-or-later
/* The other harts. They are STOPPED (SBI HSM) before and after. */

#include <linux/types.h>
#include <fdt_support.h>
#include <linux/libfdt.h>
#include <linux/sizes.h>
#include <malloc.h>
#include <memalign.h>
#include <time.h>
#include <asm/csr.h>
#include <asm/global_data.h>
#include <asm/sbi.h>
#include "internal.h"

DECLARE_GLOBAL_DATA_PTR;

#define STACK_SIZE	SZ_64K
/* Time that a hart has to start or to stop. */
#define PATIENCE_US	5000000
#define IS_STOPPED	1

/* What harts_entry.S reads. */
struct hartlock_worker {
	ulong stack;
	ulong gd;
	void *memory;
	ulong hart;
};

void hartlock_hart_entry(void);
void hartlock_hart(ulong hart, struct hartlock_worker *worker);
void hartlock_hart_trapped(struct hartlock_worker *worker);

static struct hartlock_worker workers[HARTLOCK_MAX_HARTS];

static long state(ulong hart)
{
	struct sbiret answer = sbi_ecall(SBI_EXT_HSM, SBI_EXT_HSM_HART_STATUS, hart, 0, 0, 0, 0, 0);

	return answer.error ? -1 : answer.value;
}

ulong hartlock_existing_harts(void)
{
	ulong hart, mask = 0;

	for (hart = 0; hart < BITS_PER_LONG; hart++)
		if (state(hart) >= 0)
			mask |= 1UL << hart;
	return mask;
}

/* Runs on each other hart. No function of U-Boot is safe here. */
void hartlock_hart(ulong hart, struct hartlock_worker *worker)
{
	csr_write(CSR_SIE, SIE_SSIE);
	while (hartlock_work(worker->memory, hart) == HARTLOCK_WAIT) {
		/* An interrupt that is off still ends the wait. */
		asm volatile("wfi" ::: "memory");
		csr_clear(CSR_SIP, SIE_SSIE);
	}
	sbi_ecall(SBI_EXT_HSM, SBI_EXT_HSM_HART_STOP, 0, 0, 0, 0, 0, 0);
}

/* Where a trap of another hart ends. What it held is hashed again. */
void hartlock_hart_trapped(struct hartlock_worker *worker)
{
	hartlock_report_trap(worker->memory, worker->hart);
	sbi_ecall(SBI_EXT_HSM, SBI_EXT_HSM_HART_STOP, 0, 0, 0, 0, 0, 0);
}

void hartlock_wake_harts(void *context, u32 hart)
{
	struct hartlock_boot *boot = context;

	if (boot->started)
		sbi_ecall(SBI_EXT_IPI, SBI_EXT_IPI_SEND_IPI, boot->started, 0, 0, 0, 0, 0);
}

void hartlock_start_harts(struct hartlock_boot *boot)
{
	ulong hart;

	for (hart = 0; hart < HARTLOCK_MAX_HARTS; hart++) {
		struct hartlock_worker *worker = &workers[hart];

		if (hart == gd->arch.boot_hart || state(hart) != IS_STOPPED)
			continue;
		if (!worker->stack) {
			ulong stack = (ulong)memalign(16, STACK_SIZE);

			if (!stack)
				continue;
			worker->stack = stack + STACK_SIZE;
		}
		worker->gd = (ulong)gd;
		worker->memory = boot->memory;
		worker->hart = hart;
		/* The hart sees what was written before it is started. */
		asm volatile("fence rw, rw" ::: "memory");
		if (!sbi_ecall(SBI_EXT_HSM, SBI_EXT_HSM_HART_START, hart,
			       (ulong)hartlock_hart_entry, (ulong)worker, 0, 0, 0).error)
			boot->started |= 1UL << hart;
	}
}

u32 hartlock_stop_harts(struct hartlock_boot *boot)
{
	ulong start = timer_get_us(), hart;

	hartlock_stop(boot->memory);
	for (hart = 0; hart < HARTLOCK_MAX_HARTS; hart++) {
		if (!(boot->started >> hart & 1))
			continue;
		while (state(hart) != IS_STOPPED) {
			/* Again and again: a hart may have been on its way into wfi. */
			hartlock_wake_harts(boot, gd->arch.boot_hart);
			if (timer_get_us() - start > PATIENCE_US)
				return HARTLOCK_HART_NOT_STOPPED;
		}
		boot->started &= ~(1UL << hart);
	}
	return 0;
}
