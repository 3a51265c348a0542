/* SPDX-License-Identifier: BSD-2-Clause */
/* nospec.h - there is no kernel here whose memory a guess could show. */
#ifndef SHIM_LINUX_NOSPEC_H
#define SHIM_LINUX_NOSPEC_H

#define array_index_nospec(index, size) (index)

#endif
