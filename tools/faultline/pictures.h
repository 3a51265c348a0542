/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pictures.h - writes the three pictures of a trace as DIR/NAME-KIND.dot, and as .svg
 * and .png where Graphviz is installed. Some traces have nothing for one of them: blocks go
 * through contexts of the engine, whose states can be shown, and packets do not; and a page
 * that is missed in the card's own table is not missed on a walk.
 */
#ifndef FL_PICTURES_H
#define FL_PICTURES_H

#include <stdbool.h>

#include "tools/view/view.h"

/* A folder, and those that it lies in, as mkdir -p. 0 or negative errno. */
int pictures_folder(const char *dir);
enum { PICTURE_NO_STATES = 1, PICTURE_NO_WALK = 2 };
/*
 * with_walk: there is a fault to show. *missing (may be NULL): PICTURE_NO_*, pictures that the
 * trace has nothing for, of those that were to be made; there is no file of them. 0, or 1 after
 * a message.
 */
int pictures_put(const struct view_trace *t, const char *dir,
		 const char *name, bool with_walk, unsigned int *missing);

#endif
