/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * os_escape.h - for test_os_escape.c: ways out of a wall that take more than one
 * system call. Each runs in a child of the grader, in a folder with a file of others.
 * The table of all ways is rig/os_escape_table.h.
 */
#ifndef FL_RIG_OS_ESCAPE_H
#define FL_RIG_OS_ESCAPE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The address sanitizer wants more addresses than any limit leaves: not tried there. */
#if defined(__SANITIZE_ADDRESS__)
#define ROOM	0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROOM	0
#endif
#endif
#ifndef ROOM
#define ROOM	((uint64_t)1 << 30)
#endif

extern const char escape_others[];
extern const char escape_made[];
extern char escape_buffer[4096];
extern int escape_inherited[2];	/* two ends of a socket */
extern int escape_terminal;

/* Younger than Debian 12's headers. */
#define CALL_memfd_secret	447
#define CALL_cachestat		451
#define CALL_fchmodat2		452
#define CALL_setxattrat		463
#define CALL_open_tree_attr	467
#define CALL_file_setattr	469

long read_key(void);
long read_users(void);
long read_memory(void);
long read_environment(void);
long read_own_environment(void);
long read_its_file(void);
long list_folder(void);
long vm_read(void);
long vm_write(void);
long clone_alone(void);
long vfork_child(void);
long clone_users(void);
long clone_by_structure(void);
long exec_program(void);
long exec_memory(void);
long exec_memory_by_name(void);
long exec_guessing(void);
long kill_grader(void);
long tkill_grader(void);
long tgkill_grader(void);
long queue_to_grader(void);
long kill_group(void);
long open_grader(void);

/* A descriptor of the grader that it did not pass on: its standard input will do. */
long take_descriptor(void);

long attach_to_grader(void);
long be_traced(void);
long own_by_grader(void);
long own_by_structure(void);
long choose_signal(void);
long own_by_ioctl(void);
long lock_file(void);
long slow_grader(void);
long limit_grader(void);
long schedule_grader(void);
long pin_grader(void);
long move_grader(void);
long robust_of_grader(void);
long compare_files(void);

/* Without the wall there is room below the limit, so the first call succeeds. */
long raise_limit(void);

long raise_cpu_limit(void);
long fill_disk(void);
long fill_memory(void);
long abstract_socket(void);
long send_descriptor(void);
long type_into_terminal(void);
long size_of_terminal(void);
long free_room(void);
long make_ring(void);
long add_key(void);
long make_events(void);
long set_attribute_at(void);
long set_file_attributes(void);
long open_by_structure(void);
long escape_watch(void);
long start_context(void);
long lower_filter(void);
long lower_filter_by_prctl(void);
long timer_of_grader(void);

#ifdef __x86_64__
/* Number 20 of i386 is getpid, which needs no memory below 4 GB. */
long old_entry(void);
#endif

#endif
