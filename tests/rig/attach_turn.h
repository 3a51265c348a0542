/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach_turn.h - read before all else by lib/attach and emu/serve when they are
 * compiled for test_attach_swarm: whatever waits there, starts a thread or looks at the
 * clock asks the stage (attach_stage.h), which has both sides in one program and
 * one scheduler.
 */
#ifndef FL_RIG_ATTACH_TURN_H
#define FL_RIG_ATTACH_TURN_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "lib/os/os.h"
#include "os/os_emu.h"
#include "serve/keeper.h"
#include "sim/sim.h"

uint64_t stage_now_ns(void);
void stage_yield(void);
bool stage_yield_shared(void);
bool stage_poller_yield(struct os_poller *p);
void stage_pause(void);
void stage_nap(void);
void stage_word_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns);
void stage_word_wake(_Atomic uint32_t *word);
int stage_poll(struct pollfd *fd, nfds_t n, int timeout_ms);
int stage_thread_create(pthread_t *t, const pthread_attr_t *attr,
			void *(*fn)(void *arg), void *arg);
int stage_thread_join(pthread_t t, void **result);
pthread_t stage_thread_self(void);
int stage_sigaltstack(const stack_t *set, stack_t *was);

/* In place of processes: the keepers are threads. */
int stage_keepers_begin(struct keepers *ks);
void stage_keepers_end(struct keepers *ks);
enum sim_mode stage_mode(const struct sim *sim);

#ifndef STAGE
#define sigaltstack	stage_sigaltstack
#define os_now_ns	stage_now_ns
#define os_yield	stage_yield
#define os_yield_shared	stage_yield_shared
#define os_poller_yield	stage_poller_yield
#define os_pause	stage_pause
#define os_nap		stage_nap
#define os_word_wait	stage_word_wait
#define os_word_wake	stage_word_wake
#define poll		stage_poll
#define pthread_create	stage_thread_create
#define pthread_join	stage_thread_join
#define pthread_self	stage_thread_self
#endif
/* serve.c alone: keeper.c has them, and boards in lockstep are none elsewhere. */
#ifdef STAGE_LIFE
#define keepers_begin	stage_keepers_begin
#define keepers_end	stage_keepers_end
#define sim_mode	stage_mode
#endif

#endif
