// SPDX-License-Identifier: BSD-2-Clause
/* The only program of the guest: load the module, switch the machine off. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	int fd = open("/splat.ko", O_RDONLY);

	if (fd < 0 || !syscall(SYS_finit_module, fd, "", 0))
		puts("splat: the module did not do its work");
	else
		puts("splat: done");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
