// SPDX-License-Identifier: BSD-2-Clause
#include "rig/os.h"

int in_child(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		alarm(CHILD_S);
		fn();
		_exit(0);
	}
	EXPECT(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		EXPECT_EQ(errno, EINTR);
	return status;
}

uint8_t *os_rig_pages(unsigned int n, int prot)
{
	int error;
	uint8_t *at = os_reserve(NULL, n * os_page_bytes(), &error);

	if (!at || os_view(at, n * os_page_bytes(), prot, -1, 0))
		abort();
	return at;
}

atomic_uint *shared_count(void)
{
	atomic_uint *n = mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	EXPECT(n != MAP_FAILED);
	return n;
}
