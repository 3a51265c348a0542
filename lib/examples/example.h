/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * example.h - what all examples share: end main() with a sentence when a call
 * fails. What is open then goes with the process.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "faultline.h"

#define TRY(call)                                                             \
	do {                                                                  \
		int error_ = (call);                                          \
		if (error_ < 0) {                                             \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__,          \
				__LINE__, #call, fl_strerror(error_));        \
			return 1;                                             \
		}                                                             \
	} while (0)

#define CHECK(condition)                                                      \
	do {                                                                  \
		if (!(condition)) {                                           \
			fprintf(stderr, "%s:%d: it is not true that %s\n",    \
				__FILE__, __LINE__, #condition);              \
			return 1;                                             \
		}                                                             \
	} while (0)

#endif
