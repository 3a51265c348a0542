// SPDX-License-Identifier: BSD-2-Clause
/*
 * import_calls.c - calls by which memory that a process had before it came becomes
 * memory of the board, and goes back. The process counts pages of 4096 bytes, the
 * kernel its own, which may be larger: nothing but whole ones of these moves.
 */
#include "lib/faultline.h"
#include "serve/serve_internal.h"

static_assert(ATTACH_BATCH * sizeof(uint32_t) <= ATTACH_PAYLOAD,
	      "frame numbers of a batch");
static_assert(ATTACH_BATCH % HOST_FRAMES == 0, "a batch is whole pages");
static_assert(ATTACH_BATCH <= 64, "a bit for each page in one argument");
static_assert(ATTACH_LOOK_PAGES % HOST_FRAMES == 0, "and so is what is looked at");
static_assert(ATTACH_NO_FRAME == HOST_NO_FRAME, "one number");

/*
 * n of the protocol's pages as pages of the kernel; 0: it may not be, since the
 * kernel moves whole ones only.
 */
static uint64_t to_pages(uint64_t n)
{
	return n <= ATTACH_BATCH && n % HOST_FRAMES == 0 ? n / HOST_FRAMES : 0;
}

/* Of the protocol's pages, a bit each, to the kernel's; false: part of a page. */
static bool to_kernel_mask(uint64_t mask, uint64_t n, uint64_t *of_kernel)
{
	const uint64_t all = (1ull << HOST_FRAMES) - 1;
	uint64_t i, part;

	*of_kernel = 0;
	for (i = 0; i < n; i++) {
		part = mask >> i * HOST_FRAMES & all;
		if (part && part != all)
			return false;
		*of_kernel |= (uint64_t)(part != 0) << i;
	}
	/* None beyond the last page. */
	return n * HOST_FRAMES == 64 || !(mask >> n * HOST_FRAMES);
}

/* Frame numbers of n of the kernel's pages become the protocol's, in place. */
static void answer_frames(struct answer *a, uint64_t n)
{
	uint32_t *frame = (uint32_t *)a->payload, of_kernel;
	uint64_t i, k;

	/* From the end, so that none is overwritten before it was read. */
	for (i = n; i--;) {
		of_kernel = frame[i];
		for (k = HOST_FRAMES; k--;)
			frame[i * HOST_FRAMES + k] =
				of_kernel == HOST_NO_FRAME ? ATTACH_NO_FRAME :
				(uint32_t)(of_kernel * HOST_FRAMES + k);
	}
	a->payload_bytes = (unsigned int)(n * HOST_FRAMES * sizeof(*frame));
}

int call_import(struct client *c, const struct call *call, struct answer *a)
{
	uint64_t n = to_pages(call->arg[1]), untouched;
	int err;

	if (!n || !call->arg[2] ||
	    call->arg[2] > (FL_PROT_READ | FL_PROT_WRITE) ||
	    !to_kernel_mask(call->arg[3], n, &untouched))
		return -EINVAL;
	err = host_import(c->process, call->arg[0], n, (int)call->arg[2],
			  untouched, (uint32_t *)a->payload);
	answer_frames(a, n);
	return err;
}

int call_imported(struct client *c, const struct call *call, struct answer *a)
{
	uint64_t n = to_pages(call->arg[1]);

	(void)a;
	if (!n || call->arg[2] > 1)
		return -EINVAL;
	/* It could not be done: the pages are the process's own again. */
	if (call->arg[3])
		return host_returned(c->process, call->arg[0], n);
	return host_imported(c->process, call->arg[0], n, call->arg[2]);
}

int call_return(struct client *c, const struct call *call, struct answer *a)
{
	uint64_t n = to_pages(call->arg[1]);
	int err;

	if (!n)
		return -EINVAL;
	err = host_return(c->process, call->arg[0], n,
			  (uint32_t *)a->payload);
	answer_frames(a, n);
	return err;
}

int call_returned(struct client *c, const struct call *call, struct answer *a)
{
	uint64_t n = to_pages(call->arg[1]);

	(void)a;
	return n ? host_returned(c->process, call->arg[0], n) : -EINVAL;
}

int call_look(struct client *c, const struct call *call, struct answer *a)
{
	uint64_t n = call->arg[1], i, va = call->arg[0];
	int r = 0;

	if (!n || n > ATTACH_LOOK_PAGES || n % HOST_FRAMES)
		return -EINVAL;
	for (i = 0; i < n && r >= 0; i++) {
		/* One answer for all parts of a page. */
		if (i % HOST_FRAMES == 0)
			r = host_untouched(c->process, va + i * DRAM_PAGE);
		if (r > 0)
			a->payload[i / 8] |= (uint8_t)(1u << i % 8);
	}
	a->payload_bytes = ATTACH_PAYLOAD;
	return r < 0 ? r : 0;
}
