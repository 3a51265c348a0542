/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pictures.h - writes the three pictures of a trace as DIR/NAME-KIND.dot, and as .svg
 * and .png where Graphviz is installed.
 */
#ifndef FL_PICTURES_H
#define FL_PICTURES_H

#include <stdbool.h>

#include "tools/view/view.h"

/* A folder, and those that it lies in, as mkdir -p. 0 or negative errno. */
int pictures_folder(const char *dir);
/* with_walk: there is a fault to show. 0, or 1 after a message. */
int pictures_put(const struct view_trace *t, const char *dir,
		 const char *name, bool with_walk);

#endif
