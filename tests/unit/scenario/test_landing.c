// SPDX-License-Identifier: BSD-2-Clause
/*
 * Accesses that cannot be repaired: those that are none of the board's end the program
 * as if nobody had a handler, by SIGBUS (a file that is shorter than what is mapped of
 * it) and by SIGSEGV. What lands is in cmd/faults.sh.
 */
#include <sys/mman.h>

#include "rig/os.h"
#include "tools/scenario/landing.h"

static void touch_beyond_file(void)
{
	int fd = os_file_unnamed(NULL);
	volatile char *mem = mmap(NULL, os_page_bytes(), PROT_READ, MAP_SHARED,
				  fd, 0);

	if (fd < 0 || mem == MAP_FAILED)
		_exit(2);
	_exit(mem[0] ? 3 : 4);
}

static void touch_nothing(void)
{
	volatile char *mem = mmap(NULL, os_page_bytes(), PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		_exit(2);
	_exit(mem[0] ? 3 : 4);
}

static void bus_error(void)
{
	landing_begin();
	touch_beyond_file();
}

static void segmentation_fault(void)
{
	landing_begin();
	touch_nothing();
}

TEST("a crash on other memory ends the program by its own signal")
{
	EXPECT_DEATH(in_child(bus_error), SIGBUS);
	EXPECT_DEATH(in_child(segmentation_fault), SIGSEGV);
}

static void in_a_try(void *arg)
{
	(void)arg;
	touch_beyond_file();
}

static void bus_error_in_try(void)
{
	uint64_t addr;

	landing_begin();
	landing_try(in_a_try, NULL, &addr);
}

TEST("so does one within what may land")
{
	EXPECT_DEATH(in_child(bus_error_in_try), SIGBUS);
}

static void on_bus(int sig)
{
	_exit(sig == SIGBUS ? 7 : 8);
}

static void handler_before(void)
{
	signal(SIGBUS, on_bus);
	landing_begin();
	touch_beyond_file();
}

static void handler_after_the_end(void)
{
	signal(SIGBUS, on_bus);
	landing_begin();
	landing_begin();
	landing_end();
	landing_end();
	touch_beyond_file();
}

TEST("a program's own handler from before gets it, during and after")
{
	EXPECT_EXIT(in_child(handler_before), 7);
	EXPECT_EXIT(in_child(handler_after_the_end), 7);
}
