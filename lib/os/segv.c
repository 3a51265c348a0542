// SPDX-License-Identifier: BSD-2-Clause
/*
 * segv.c - the handler of SIGSEGV and SIGBUS. It belongs to the whole program, as
 * signal handlers do, so it is the one thing of the library that is not in an
 * object: it is installed with the first user, and what was there before gets
 * every fault that no user takes.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "os/os_internal.h"

static const int signals[2] = { SIGSEGV, SIGBUS };

static struct {
	pthread_mutex_t lock;		/* of what follows, against other adds */
	bool forks;			/* a fork takes it, too */
	unsigned int users;
	unsigned int count[OS_FAULT_USERS];
	_Atomic(os_fault_fix) fix[OS_FAULT_USERS];	/* the handler reads */
	struct {
		/*
		 * Whom we pass on to; and who had the signal first, which is
		 * another when we were left under somebody's handler and then
		 * put on top of it: from then on he may pass back to us.
		 */
		struct sigaction below, first;
		bool left;		/* that has happened once */
		atomic_bool spent;	/* the one below wanted one signal only */
	} was[2];
} fault = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Where a thread goes on when its copy has faulted, and with which mask. */
struct copy_back {
	sigjmp_buf at;
	sigset_t mask;
};

/* Of a thread: it is in a fix; the signal that it passes on right now; its copy. */
static _Thread_local struct {
	volatile sig_atomic_t fixing;
	const siginfo_t *volatile passed;
	const void *volatile passed_by;	/* on_fault's frame */
	struct copy_back *volatile copy;	/* of a copy that may fault */
} here;

/* By kill() and the like, and not by an access: then it has no address. */
static bool was_sent(const siginfo_t *si)
{
	return si->si_code <= 0 || si->si_code == SI_USER ||
	       si->si_code == SI_QUEUE;
}

/* With the mask that it would have without us. */
static void call_handler(const struct sigaction *sa, int sig, siginfo_t *si,
			 void *context, const void *frame)
{
	const siginfo_t *outer = here.passed;
	const void *outer_by = here.passed_by;
	sigset_t self;

	sigemptyset(&self);
	if (!(sa->sa_flags & SA_NODEFER))
		sigaddset(&self, sig);
	pthread_sigmask(SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask,
			NULL);
	pthread_sigmask(SIG_BLOCK, &sa->sa_mask, NULL);
	pthread_sigmask(SIG_BLOCK, &self, NULL);
	here.passed = si;
	here.passed_by = frame;
	if (sa->sa_flags & SA_SIGINFO)
		sa->sa_sigaction(sig, si, context);
	else
		sa->sa_handler(sig);
	here.passed = outer;
	here.passed_by = outer_by;
}

/* Not ours: whoever was there before us gets it. */
static void handler_pass_on(int sig, siginfo_t *si, void *context,
			    const void *frame)
{
	int i = sig == SIGBUS;
	/*
	 * A handler that got it from this one passes it back: then to the one before both.
	 * (The same frame: it jumped away, and this is another signal.)
	 */
	bool back = here.passed == si && here.passed_by != frame;
	const struct sigaction *sa = back ? &fault.was[i].first :
					    &fault.was[i].below;
	struct sigaction end;

	if (sa->sa_handler != SIG_DFL && sa->sa_handler != SIG_IGN &&
	    !((sa->sa_flags & SA_RESETHAND) &&
	      atomic_exchange(&fault.was[i].spent, true))) {
		call_handler(sa, sig, si, context, frame);
		return;
	}
	if (sa->sa_handler == SIG_IGN && was_sent(si))
		return;
	/* Return, do it again, and die with the true address. */
	memset(&end, 0, sizeof(end));
	end.sa_handler = SIG_DFL;
	sigaction(sig, &end, NULL);
	/* A signal that was sent does not recur. */
	if (was_sent(si))
		raise(sig);
}

static bool any_fixes(uintptr_t addr, int write)
{
	os_fault_fix fix;
	unsigned int i;

	for (i = 0; i < OS_FAULT_USERS; i++) {
		fix = atomic_load_explicit(&fault.fix[i], memory_order_acquire);
		if (fix && fix(addr, write))
			return true;
	}
	return false;
}

/* Back to its copy. Signals stay blocked until the thread is there. */
static void fault_of_copy(const siginfo_t *si, const void *context)
{
	if (was_sent(si) || !here.copy || !os_fault_is_copy(context))
		return;
	here.copy->mask = ((const ucontext_t *)context)->uc_sigmask;
	siglongjmp(here.copy->at, 1);
}

static void on_fault(int sig, siginfo_t *si, void *context)
{
	int saved = errno, cancel;
	bool fixed = false, nested = here.fixing;

	fault_of_copy(si, context);
	if (!was_sent(si) && !nested) {
		here.fixing = 1;
		/* No access is a point where a thread may be cancelled. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		fixed = any_fixes((uintptr_t)si->si_addr,
				  os_fault_is_write(context));
		pthread_setcancelstate(cancel, NULL);
		here.fixing = 0;
	}
	if (!fixed) {
		/* The next handler may jump away: then this thread is in no fix. */
		here.fixing = 0;
		handler_pass_on(sig, si, context, __builtin_frame_address(0));
		here.fixing = nested;
	}
	errno = saved;
}

static bool is_ours(const struct sigaction *sa)
{
	return (sa->sa_flags & SA_SIGINFO) && sa->sa_sigaction == on_fault;
}

static int handler_install(unsigned int i)
{
	struct sigaction sa, now;

	if (sigaction(signals[i], NULL, &now))
		return -errno;
	if (is_ours(&now))
		return 0;	/* who had left us below him is gone */
	fault.was[i].below = now;
	if (!fault.was[i].left)
		fault.was[i].first = now;
	atomic_store(&fault.was[i].spent, false);
	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = on_fault;
	sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	sigfillset(&sa.sa_mask);
	/*
	 * A fault of a fix comes in here once more and is passed on. Blocked, it
	 * would end the program without a word, or on some systems never.
	 */
	sigdelset(&sa.sa_mask, SIGSEGV);
	sigdelset(&sa.sa_mask, SIGBUS);
	return sigaction(signals[i], &sa, NULL) ? -errno : 0;
}

static void handler_give_back(unsigned int i)
{
	struct sigaction now, end;

	if (sigaction(signals[i], NULL, &now) || !is_ours(&now)) {
		/* Somebody has put his own on top, and may pass on to us. */
		fault.was[i].left = true;
		return;
	}
	end = fault.was[i].below;
	if (atomic_load(&fault.was[i].spent))
		end.sa_handler = SIG_DFL;
	sigaction(signals[i], &end, NULL);
}

static void handler_lock(void)
{
	pthread_mutex_lock(&fault.lock);
}

static void handler_unlock(void)
{
	pthread_mutex_unlock(&fault.lock);
}

/* Lock held. */
static int handler_add(os_fault_fix fix)
{
	unsigned int i, room = OS_FAULT_USERS;
	int err;

	/* Else a child would find it taken for ever. */
	if (!fault.forks &&
	    pthread_atfork(handler_lock, handler_unlock, handler_unlock))
		return -ENOMEM;
	fault.forks = true;
	for (i = 0; i < OS_FAULT_USERS; i++) {
		if (fault.count[i] && atomic_load(&fault.fix[i]) == fix) {
			fault.count[i]++;
			return 0;
		}
		if (!fault.count[i] && room == OS_FAULT_USERS)
			room = i;
	}
	if (room == OS_FAULT_USERS)
		return -EBUSY;
	for (i = 0; !fault.users && i < 2; i++) {
		err = handler_install(i);
		if (err) {
			while (i--)
				handler_give_back(i);
			return err;
		}
	}
	fault.users++;
	fault.count[room] = 1;
	/* Release: pairs with any_fixes(). */
	atomic_store_explicit(&fault.fix[room], fix, memory_order_release);
	return 0;
}

int os_fault_add(os_fault_fix fix)
{
	int err;

	handler_lock();
	err = handler_add(fix);
	handler_unlock();
	return err;
}

void os_fault_variables(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&here;
	*end = *start + sizeof(here);
}

bool os_fault_fixes(void)
{
	return here.fixing;
}

void os_fault_remove(os_fault_fix fix)
{
	unsigned int i;

	handler_lock();
	for (i = 0; i < OS_FAULT_USERS; i++)
		if (fault.count[i] && atomic_load(&fault.fix[i]) == fix)
			break;
	assert(i < OS_FAULT_USERS);
	if (!--fault.count[i]) {
		atomic_store(&fault.fix[i], NULL);
		if (!--fault.users) {
			handler_give_back(0);
			handler_give_back(1);
		}
	}
	handler_unlock();
}

int os_copy_caught(void *to, const void *from, size_t n)
{
	struct copy_back back, *volatile outer = here.copy;
	const int error = errno;
	int err;

	here.copy = &back;
	if (!sigsetjmp(back.at, 0)) {
		err = os_copy_watched(to, from, n);
		here.copy = outer;
		return err == -ENOTSUP ? os_copy_from(to, from, n) : err;
	}
	here.copy = outer;
	pthread_sigmask(SIG_SETMASK, &back.mask, NULL);
	errno = error;
	return -EFAULT;
}
