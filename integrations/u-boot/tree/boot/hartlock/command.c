// SPDX-License-Identifier: GPL-2.0-or-later
/* The command `hartlock`, for builds that have a prompt. */

#include <linux/types.h>
#include <blk.h>
#include <command.h>
#include <part.h>
#include <vsprintf.h>
#include "internal.h"

static int on_medium(int argc, char *const argv[], bool enter)
{
	struct hartlock_medium medium;
	struct disk_partition part;
	u32 reason;

	if (argc != 3)
		return CMD_RET_USAGE;
	if (blk_get_device_part_str(argv[1], argv[2], &medium.desc, &part, 1) < 0)
		return CMD_RET_FAILURE;
	medium.first = part.start;
	medium.blocks = part.size;
	reason = hartlock_run(&medium, enter);
	if (reason) {
		hartlock_refused(reason);
		return CMD_RET_FAILURE;
	}
	printf("hartlock: u-boot verified the system bundle\n");
	return CMD_RET_SUCCESS;
}

static int do_verify(struct cmd_tbl *cmd, int flag, int argc, char *const argv[])
{
	return on_medium(argc, argv, false);
}

static int do_boot(struct cmd_tbl *cmd, int flag, int argc, char *const argv[])
{
	return on_medium(argc, argv, true);
}

static int do_explain(struct cmd_tbl *cmd, int flag, int argc, char *const argv[])
{
	char text[300];
	u32 reason;

	if (argc != 2)
		return CMD_RET_USAGE;
	reason = dectoul(argv[1] + (argv[1][0] == 'E'), NULL);
	if (!hartlock_title(reason, text, sizeof(text)))
		return CMD_RET_FAILURE;
	printf("E%04u %s\n", reason, text);
	hartlock_hint(reason, text, sizeof(text));
	printf("hint: %s\n", text);
	return CMD_RET_SUCCESS;
}

U_BOOT_CMD_WITH_SUBCMDS(hartlock, "verify and boot a bundle of Hartlock",
	"verify <interface> <device[:partition]> - verify, and start nothing\n"
	"hartlock boot <interface> <device[:partition]> - verify and boot\n"
	"hartlock explain <code> - say what a refusal means",
	U_BOOT_SUBCMD_MKENT(verify, 3, 0, do_verify),
	U_BOOT_SUBCMD_MKENT(boot, 3, 0, do_boot),
	U_BOOT_SUBCMD_MKENT(explain, 2, 1, do_explain));
