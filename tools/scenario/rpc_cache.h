/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_cache.h - what a scenario says of the library's cache of pinned regions. */
#ifndef FL_RPC_CACHE_H
#define FL_RPC_CACHE_H

#include <stdint.h>

/* Of a system that keeps what is pinned; 0: as the library has it. */
enum rpc_hook { RPC_HOOK_USUAL, RPC_HOOK_YES, RPC_HOOK_NO };
struct rpc_cache {
	uint64_t bytes;
	uint32_t hook;		/* enum rpc_hook */
};

#endif
