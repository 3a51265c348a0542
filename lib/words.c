// SPDX-License-Identifier: BSD-2-Clause
/* Numbers in words. Those of statuses come from the contract itself. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "lib_internal.h"

/* Of the groups of entries.def only ST is wanted here. */
#define EENUM(group, name, value, text) WORDS_##group(value, text)
#define WORDS_ST(value, text)                                                 \
	case value:                                                           \
		return text;
#define WORDS_OP(value, text)
#define WORDS_WQE(value, text)
#define WORDS_QP(value, text)
#define WORDS_ACC(value, text)
#define WORDS_EV(value, text)
#define WORDS_ENDED(value, text)
#define WORDS_CMD(value, text)
#define WORDS_SILENT(value, text)
#define WORDS_ABORT(value, text)
#define WORDS_FAULT(value, text)
#define WORDS_XP(value, text)
#define WORDS_BACKUP(value, text)
#define WORDS_STATE(value, text)
#define WORDS_MOD(value, text)
#define WORDS_ROW(value, text)
#define WORDS_REPORT(value, text)
#define WORDS_QUIRK(value, text)

const char *fl_status_string(int status)
{
	switch (status) {
#include "faultline/entries.def"
	}
	return "a status that the contract does not know";
}

static const struct {
	int error;
	const char *text;
} words[] = {
	{ 0, "no error" },
	{ EAGAIN, "the queue is full: take completions first" },
	{ EINVAL, "an argument makes no sense" },
	{ EBUSY, "the object is in use" },
	{ EIO, "the completion queue overflowed or is damaged" },
	{ ETIMEDOUT, "nothing came in the time that was given" },
	{ EINTR, "a signal ended the wait" },
	{ ENOENT, "no such file or object" },
	{ ENODEV, "the device is gone" },
	{ ENXIO, "no such device" },
	{ ENOMEM, "out of memory" },
	{ ENOSPC, "the card has no room for another object" },
	{ EDQUOT, "more pages pinned, or cards opened, than this user may" },
	{ EFAULT, "the address is not mapped" },
	{ EACCES, "the memory or the file does not allow it" },
	{ EISCONN, "the queue pair is connected already" },
	{ ENOTCONN, "the queue pair is not ready to send" },
	{ EHOSTUNREACH, "no such node on the fabric" },
	{ ENODATA, "the file is empty" },
	{ EPERM, "the card was opened before a fork, by the parent: open anew" },
	{ ECONNREFUSED, "no board of this name is running any more" },
	{ ENAMETOOLONG, "the name of the board is too long" },
	{ EMFILE, "the process has as many cards or files open as it may" },
	{ EOPNOTSUPP, "not with memory of this kind, or not on this machine" },
	{ ENOTSUP, "not with memory of this kind, or not on this machine" },
	{ EPROTO, "the driver gave an answer that cannot be right" },
	{ EPROTONOSUPPORT, "library and driver are of different versions" },
};

const char *fl_strerror(int error)
{
	unsigned int i;

	if (error < 0 && error != INT_MIN)	/* that has no positive */
		error = -error;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].error == error)
			return words[i].text;
	/* A number that no call of the library makes by itself. */
	return strerror(error);
}
