/* SPDX-License-Identifier: BSD-2-Clause */
/* page.h - how large a page of the small kernel is (host.h). */
#ifndef FL_HOST_PAGE_H
#define FL_HOST_PAGE_H

/*
 * Granule of residency: what comes, goes, is pinned or closed, always as a whole.
 * A host can protect nothing smaller than its own page, which may be larger than
 * the device's (DRAM_PAGE, 4 KB: tables, tags, the protocol of lib/attach). Then
 * one page of this kernel is HOST_FRAMES pages of the device: as many frames of a
 * bank and as many descriptors, side by side and aligned. make PAGE=16384.
 */
#ifndef HOST_PAGE_SHIFT
#define HOST_PAGE_SHIFT	12
#endif
#define HOST_PAGE	(1ul << HOST_PAGE_SHIFT)
_Static_assert(HOST_PAGE_SHIFT >= 12 && HOST_PAGE_SHIFT <= 16,
	       "pages of 4, 8, 16, 32 or 64 KB");
#define HOST_VA_BITS	48

#endif
