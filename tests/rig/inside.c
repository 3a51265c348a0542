// SPDX-License-Identifier: BSD-2-Clause
#include "rig/inside.h"

void inside_enter(struct inside *in, struct rig_node *n, enum shim_in where)
{
	static struct signal_struct no_signal;

	in->shim = shim_find(n->kernel);
	EXPECT(in->shim);
	in->dev = dev_get_drvdata(&in->shim->pdev.dev);
	in->ctx = in->dev->slot[0];
	in->task = (struct task_struct){ .mm = in->ctx ? in->ctx->mm : NULL,
					 .signal = &no_signal };
	in->before = shim_enter(in->shim, &in->task, where);
}
