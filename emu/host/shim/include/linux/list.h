/* SPDX-License-Identifier: BSD-2-Clause */
/* list.h - doubly linked lists. */
#ifndef SHIM_LINUX_LIST_H
#define SHIM_LINUX_LIST_H

#include <linux/types.h>
#include <shim/rules.h>

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l->prev = l;
}

static inline void shim_list_add_tail(struct list_head *n,
				      struct list_head *head,
				      const char *where)
{
	if (!head->prev || head->prev->next != head)
		shim_breach("list", where, "adds to a list that is broken");
	n->prev = head->prev;
	n->next = head;
	head->prev->next = n;
	head->prev = n;
}

/* Linux: CONFIG_DEBUG_LIST */
static inline void shim_list_del(struct list_head *n, const char *where)
{
	if (!n->next || n->prev->next != n || n->next->prev != n) {
		shim_breach("list", where,
			    "takes something from a list that is in none");
		return;
	}
	n->prev->next = n->next;
	n->next->prev = n->prev;
	n->next = n->prev = NULL;
}

static inline void shim_list_del_init(struct list_head *n, const char *where)
{
	shim_list_del(n, where);
	INIT_LIST_HEAD(n);
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

#define list_add_tail(n, head) shim_list_add_tail(n, head, __func__)
/* Behind the head is before what comes first. */
#define list_add(n, head) shim_list_add_tail(n, (head)->next, __func__)
#define list_del(n) shim_list_del(n, __func__)
#define list_del_init(n) shim_list_del_init(n, __func__)

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_last_entry(head, type, member)                                   \
	list_entry((head)->prev, type, member)
#define list_first_entry(head, type, member)                                  \
	list_entry((head)->next, type, member)
#define list_for_each_entry(pos, head, member)                                \
	for (pos = list_entry((head)->next, __typeof__(*pos), member);        \
	     &pos->member != (head);                                          \
	     pos = list_entry(pos->member.next, __typeof__(*pos), member))
#define list_for_each_entry_safe(pos, n, head, member)                        \
	for (pos = list_entry((head)->next, __typeof__(*pos), member),        \
	     n = list_entry(pos->member.next, __typeof__(*pos), member);      \
	     &pos->member != (head);                                          \
	     pos = n, n = list_entry(n->member.next, __typeof__(*n), member))

#endif
