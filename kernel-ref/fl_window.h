/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_window.h - a card whose registers are messages (faultline/window.h).
 *
 * fl_window.c is the bus: it carries one access after the other, as a board's
 * would. fl_pci.c finds the window, fl_note.c puts the driver's trace points
 * into it. fl_access.h calls the bus, and nobody else does.
 */
#ifndef FL_WINDOW_DEV_H
#define FL_WINDOW_DEV_H

#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/types.h>

#include "faultline/window.h"
#include "fl_dev.h"

/* Kernels without MSI have no such card, and boards need not carry the code. */
#ifdef CONFIG_PCI_MSI
#include <linux/jump_label.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

DECLARE_STATIC_KEY_FALSE(fl_windows);

/* NULL: the registers are there, as on a board. */
static inline struct fl_window *fl_window(struct fl_dev *dev)
{
	return static_branch_unlikely(&fl_windows) ? dev->window : NULL;
}

struct fl_window {
	struct device *dev;
	void __iomem *base;	/* BAR 2 */
	void __iomem *bell;	/* BAR 0 */
	phys_addr_t base_pa, bell_pa;
	u32 instance;		/* of the emulator that we began with */
	raw_spinlock_t lock;	/* innermost; interrupts off */
	u32 tail;		/* lock: entries ever written */
	bool dead;		/* set once, under lock: it ended, or is silent */
	int index;		/* of the card, among those with a window */
	struct work_struct died;	/* tells those who sleep */
	struct delayed_work beat;
	u32 beat_seq;		/* lock: of its last read */
	unsigned int beats_late;	/* lock: since it was due */
	struct fl_dev *card;	/* whose they are; a reference, once it is up */
	struct fl_window_smmu *smmu;	/* Linux's arm-smmu has it; or NULL */
};

/* 0, or -ENODEV after a message: this is not the emulator we know. */
int fl_window_start(struct fl_window *w);
/* From now on see that the emulator lives, also while nobody asks it. */
void fl_window_watch(struct fl_window *w);
/* Its emulator has ended, and said so, or is another one by now. */
bool fl_window_ended(struct fl_window *w);
/* Nobody accesses the card any more. */
void fl_window_stop(struct fl_window *w);
/*
 * All of these in any context; they never sleep. A write is posted. A read
 * waits for its answer, FL_WINDOW_PATIENCE_NS at most: a card that is silent
 * for so long is dead for good, and a dead card reads as ones at once.
 */
u64 fl_window_read(struct fl_window *w, u32 addr, u16 size);
void fl_window_write(struct fl_window *w, u32 addr, u16 size, u64 value);

struct fl_window_note {
	u32 event;		/* enum fl_window_driver_note */
	u32 xfer, block;
	u64 arg[4];
};

void fl_window_note(struct fl_window *w, const struct fl_window_note *note);

/* Nothing of the slot's last process is left in its doorbell page. */
void fl_window_doorbell_reset(struct fl_window *w, unsigned int slot);
/* The page, and the bell behind it. */
int fl_window_doorbell_mmap(struct fl_window *w, unsigned int slot,
			    struct vm_area_struct *vma);

/* fl_note.c */
int fl_notes_start(struct fl_window *w);
void fl_notes_stop(struct fl_window *w);

/* fl_pci.c */
int fl_pci_register(void);
void fl_pci_unregister(void);

static inline bool fl_window_dead(struct fl_window *w)
{
	return READ_ONCE(w->dead);
}

#else /* there is never a window, so none of these is called */

static inline struct fl_window *fl_window(struct fl_dev *dev)
{
	return NULL;
}

static inline u64 fl_window_read(struct fl_window *w, u32 addr, u16 size)
{
	return ~0ull;
}

static inline void fl_window_write(struct fl_window *w, u32 addr, u16 size,
				   u64 value)
{
}

static inline void fl_window_doorbell_reset(struct fl_window *w,
					    unsigned int slot)
{
}

static inline int fl_window_doorbell_mmap(struct fl_window *w,
					  unsigned int slot,
					  struct vm_area_struct *vma)
{
	return -ENXIO;
}

static inline bool fl_window_dead(struct fl_window *w)
{
	return false;
}

static inline bool fl_window_ended(struct fl_window *w)
{
	return false;
}

static inline int fl_pci_register(void)
{
	return 0;
}

static inline void fl_pci_unregister(void)
{
}
#endif

#endif
