// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is trusted: the node /hartlock of the control device tree. It is
 * read anew for each question. No environment and no other tree is read.
 */

#include <linux/types.h>
#include <fdt_support.h>
#include <linux/libfdt.h>
#include <asm/global_data.h>
#include "internal.h"

DECLARE_GLOBAL_DATA_PTR;

#define NODE		"hartlock"
#define KEY_ID_SIZE	48

/* Returns the only node of this name below the root, or less than 0. */
static int only_node(const void *fdt)
{
	int node, found = -1;

	fdt_for_each_subnode(node, fdt, 0) {
		const char *name = fdt_get_name(fdt, node, NULL);

		if (!name || strncmp(name, NODE, strlen(NODE)))
			continue;
		/* A second node, or one with a unit address, is a mistake. */
		if (found >= 0 || name[strlen(NODE)])
			return -1;
		found = node;
	}
	return found;
}

/* Reads a number of @cells cells. */
static bool number(const void *fdt, int node, const char *name, int cells, u64 *out)
{
	int len;
	const fdt32_t *cell = fdt_getprop(fdt, node, name, &len);

	if (!cell || len != cells * (int)sizeof(*cell))
		return false;
	*out = fdt_read_number(cell, cells);
	return true;
}

/* Reads a number of one cell that may be absent; then it stays as it is. */
static bool option(const void *fdt, int node, const char *name, u32 *out)
{
	u64 value = *out;
	bool ok = !fdt_getprop(fdt, node, name, NULL) || number(fdt, node, name, 1, &value);

	*out = value;
	return ok;
}

static bool text(const void *fdt, int node, const char *name, u8 out[32])
{
	int len;
	const char *value = fdt_getprop(fdt, node, name, &len);

	if (!value || len < 2 || len > 32 || strnlen(value, len) != len - 1)
		return false;
	memset(out, 0, 32);
	memcpy(out, value, len);
	return true;
}

static bool key(const void *fdt, int node, struct hartlock_key *out)
{
	u64 algorithm, parameters;
	int len;
	const void *id = fdt_getprop(fdt, node, "key-id", &len);

	if (!id || len != KEY_ID_SIZE || !number(fdt, node, "algorithm", 1, &algorithm) ||
	    !number(fdt, node, "parameters", 1, &parameters))
		return false;
	out->algorithm = algorithm;
	out->parameters = parameters;
	memcpy(out->key_id, id, KEY_ID_SIZE);
	return true;
}

u32 hartlock_trust(struct hartlock_requirements *out)
{
	const void *fdt = gd->fdt_blob;
	int node = only_node(fdt), child;
	u64 policy, version;

	if (node < 0)
		return HARTLOCK_TRUST;
	memset(out, 0, sizeof(*out));
	out->bundle_type = 2;
	out->lifecycle = 1;
	out->max_bootargs = 1023;
	out->boot_version = HARTLOCK_NO_BOOT_VERSION;
	if (fdt_node_check_compatible(fdt, node, "hartlock,trust-v1") ||
	    !text(fdt, node, "board", out->board) || !text(fdt, node, "soc", out->soc) ||
	    !number(fdt, node, "policy", 1, &policy) ||
	    !number(fdt, node, "security-version", 2, &version) ||
	    !option(fdt, node, "lifecycle", &out->lifecycle) ||
	    !option(fdt, node, "revoked-keys", &out->revoked_keys) ||
	    !option(fdt, node, "max-bootargs", &out->max_bootargs))
		return HARTLOCK_TRUST;
	out->policy = policy;
	out->floor = version;
	fdt_for_each_subnode(child, fdt, node) {
		if (out->key_count >= HARTLOCK_MAX_KEYS ||
		    !key(fdt, child, &out->keys[out->key_count]))
			return HARTLOCK_TRUST;
		out->key_count++;
	}
	return out->key_count ? 0 : HARTLOCK_TRUST;
}
