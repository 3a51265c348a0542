// SPDX-License-Identifier: BSD-2-Clause
#include "rig/lib_set.h"

static char memory[4096];

TEST("a region is registered with what was asked for")
{
	struct fl_device *dev = fake_device();
	struct fl_mr *mr;
	struct fl_pd *pd;

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	EXPECT_EQ(fl_reg_mr(pd, memory, 100, FL_LOCAL_WRITE | FL_REMOTE_READ,
			    &mr), 0);
	EXPECT_EQ(fake.reg_mr.pd, 40);
	EXPECT_EQ(fake.reg_mr.addr, (uintptr_t)memory);
	EXPECT_EQ(fake.reg_mr.length, 100);
	EXPECT_EQ(fake.reg_mr.access, FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_READ);
	EXPECT_EQ(fake.reg_mr.flags, 0);
	EXPECT_EQ(fl_mr_key(mr), 0x100);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(fl_reg_mr(pd, memory, 100, FL_REMOTE_WRITE | FL_PINNED, &mr),
		  0);
	EXPECT_EQ(fake.reg_mr.access, FL_ACC_REMOTE_WRITE);
	EXPECT_EQ(fake.reg_mr.flags, FL_MR_PINNED);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(fl_dealloc_pd(pd), 0);
	EXPECT_STR(fake.order, "MMP");
}

TEST("a domain that still has something is busy")
{
	struct fl_device *dev = fake_device();
	struct fl_pd *pd;
	struct fl_mr *mr;
	struct fl_cq *cq;
	struct fl_qp *qp;

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	EXPECT_EQ(fl_reg_mr(pd, memory, 100, 0, &mr), 0);
	EXPECT_EQ(fl_dealloc_pd(pd), -EBUSY);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(fl_create_cq(dev, 4, &cq), 0);
	EXPECT_EQ(fl_create_qp(pd, cq, 4, &qp), 0);
	EXPECT_EQ(fl_dealloc_pd(pd), -EBUSY);
	EXPECT_EQ(fl_destroy_qp(qp), 0);
	EXPECT_EQ(fl_dealloc_pd(pd), 0);
}

TEST("a domain or region that the driver will not end stays usable")
{
	struct fl_device *dev = fake_device();
	struct fl_pd *pd;
	struct fl_mr *mr;

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	EXPECT_EQ(fl_reg_mr(pd, memory, 100, 0, &mr), 0);
	fake.fail_cmd = FL_IOC_DEREG_MR;
	fake.fail_error = -EBUSY;
	EXPECT_EQ(fl_dereg_mr(mr), -EBUSY);
	EXPECT_EQ(fl_mr_key(mr), 0x100);
	fake.fail_cmd = FL_IOC_DEALLOC_PD;
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(fl_dealloc_pd(pd), -EBUSY);
	fake.fail_cmd = 0;
	EXPECT_EQ(fl_dealloc_pd(pd), 0);
}

TEST("a region that makes no sense is refused before the driver sees it")
{
	struct fl_device *dev = fake_device();
	struct fl_pd *pd;
	struct fl_mr *mr;
	unsigned int before;

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_alloc_pd(NULL, &pd), -EINVAL);
	EXPECT_EQ(fl_alloc_pd(dev, NULL), -EINVAL);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	before = fake.ioctls;
	EXPECT_EQ(fl_reg_mr(NULL, memory, 1, 0, &mr), -EINVAL);
	EXPECT_EQ(fl_reg_mr(pd, memory, 1, 0, NULL), -EINVAL);
	EXPECT_EQ(fl_reg_mr(pd, memory, 0, 0, &mr), -EINVAL);
	EXPECT_EQ(fl_reg_mr(pd, (void *)(UINTPTR_MAX - 1), 3, 0, &mr), -EINVAL);
	EXPECT_EQ(fl_reg_mr(pd, memory, 1, 16, &mr), -EINVAL);
	EXPECT_EQ(fl_reg_mr(pd, memory, 1, 0x200, &mr), -EINVAL);
	EXPECT_EQ(fl_dereg_mr(NULL), -EINVAL);
	EXPECT_EQ(fl_dealloc_pd(NULL), -EINVAL);
	EXPECT_EQ(fake.ioctls, before);
}

TEST("the driver's refusal of a domain or region leaves nothing behind")
{
	struct fl_device *dev = fake_device();
	struct fl_pd *pd;
	struct fl_mr *mr;

	fake.fail_cmd = FL_IOC_ALLOC_PD;
	fake.fail_error = -ENOSPC;
	EXPECT_EQ(fl_alloc_pd(dev, &pd), -ENOSPC);
	fake.fail_cmd = FL_IOC_REG_MR;
	fake.fail_error = -EDQUOT;
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	EXPECT_EQ(fl_reg_mr(pd, memory, 9, FL_PINNED, &mr), -EDQUOT);
	EXPECT_EQ(fl_close(dev), 0);
	fake_expect_empty();
}

TEST("fl_prefetch asks for a range of the region and for no other")
{
	struct fl_device *dev = fake_device();
	struct fl_pd *pd;
	struct fl_mr *mr;
	unsigned int before;

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	EXPECT_EQ(fl_reg_mr(pd, memory + 8, 100, 0, &mr), 0);
	EXPECT_EQ(fl_prefetch(mr, memory + 8, 100, 1), 0);
	EXPECT_EQ(fake.prefetch.key, 0x100);
	EXPECT_EQ(fake.prefetch.addr, (uintptr_t)memory + 8);
	EXPECT_EQ(fake.prefetch.length, 100);
	EXPECT_EQ(fake.prefetch.flags, FL_PREFETCH_WRITE);
	EXPECT_EQ(fl_prefetch(mr, memory + 107, 1, 0), 0);
	EXPECT_EQ(fake.prefetch.flags, 0);
	before = fake.ioctls;
	EXPECT_EQ(fl_prefetch(mr, memory + 8, 0, 0), -EINVAL);
	EXPECT_EQ(fl_prefetch(mr, memory + 7, 1, 0), -EINVAL);
	EXPECT_EQ(fl_prefetch(mr, memory + 108, 1, 0), -EINVAL);
	EXPECT_EQ(fl_prefetch(mr, memory + 200, 1, 0), -EINVAL);
	EXPECT_EQ(fl_prefetch(mr, memory + 8, 101, 0), -EINVAL);
	EXPECT_EQ(fl_prefetch(mr, memory + 9, SIZE_MAX, 0), -EINVAL);
	EXPECT_EQ(fl_prefetch(NULL, memory + 8, 1, 0), -EINVAL);
	EXPECT_EQ(fake.ioctls, before);
	fake.fail_cmd = FL_IOC_PREFETCH;
	fake.fail_error = -EFAULT;
	EXPECT_EQ(fl_prefetch(mr, memory + 8, 1, 0), -EFAULT);
}

TEST("fl_advise_mr hands on what it was asked, and the driver judges")
{
	struct fl_device *dev = fake_device();
	struct fl_pd *pd;

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	EXPECT_EQ(fl_advise_mr(pd, FL_PREFETCH_FOR_WRITE, FL_ADVICE_FLUSH, 77,
			       memory + 8, 100), 0);
	EXPECT_EQ(fake.advise.pd, pd->number);
	EXPECT_EQ(fake.advise.key, 77);
	EXPECT_EQ(fake.advise.addr, (uintptr_t)memory + 8);
	EXPECT_EQ(fake.advise.length, 100);
	EXPECT_EQ(fake.advise.advice, FL_ADVISE_PREFETCH_WRITE);
	EXPECT_EQ(fake.advise.flags, FL_ADVISE_FLUSH);
	EXPECT_EQ(fl_advise_mr(pd, FL_PREFETCH_PRESENT, 0, 78, memory, 1), 0);
	EXPECT_EQ(fake.advise.advice, FL_ADVISE_NO_FAULT);
	EXPECT_EQ(fake.advise.flags, 0);
	EXPECT_EQ(fl_advise_mr(NULL, FL_PREFETCH_FOR_READ, 0, 77, memory, 1),
		  -EINVAL);
	fake.fail_cmd = FL_IOC_ADVISE;
	fake.fail_error = -EPERM;
	EXPECT_EQ(fl_advise_mr(pd, FL_PREFETCH_FOR_READ, 0, 77, memory, 1), -EPERM);
}

TEST("an implicit region is asked for as such, and neither pinned nor cached")
{
	struct fl_device *dev = fake_device();
	struct fl_pd *pd;
	struct fl_mr *mr;

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	EXPECT_EQ(fl_reg_mr(pd, NULL, SIZE_MAX, FL_REMOTE_READ, &mr), 0);
	EXPECT_EQ(fake.reg_mr.addr, 0);
	EXPECT_EQ(fake.reg_mr.length, FL_MR_ALL);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	dev->cache.on = true;
	EXPECT_EQ(fl_reg_mr(pd, NULL, SIZE_MAX, FL_REMOTE_READ, &mr), -EINVAL);
	dev->cache.on = false;
}

TEST("fl_dma_copy says what is to be copied, and how far it came")
{
	struct fl_device *dev = fake_device();
	unsigned int before;
	size_t done = 7;

	test_cleanup(fake_close_device, dev);
	fake.dma_answer = (struct fl_dma_copy){ .done = 100 };
	EXPECT_EQ(fl_dma_copy(dev, memory + 8, memory + 200, 100, &done), 0);
	EXPECT_EQ(done, 100);
	EXPECT_EQ(fake.dma.size, sizeof(fake.dma));
	EXPECT_EQ(fake.dma.src, (uintptr_t)memory + 200);
	EXPECT_EQ(fake.dma.dst, (uintptr_t)memory + 8);
	EXPECT_EQ(fake.dma.length, 100);
	EXPECT_EQ(fake.dma.flags, 0);
	EXPECT_EQ(fl_dma_copy(dev, memory, memory, 1, NULL), 0);
	STEP("it came to a fault");
	fake.dma_answer.status = FL_DMA_DESTINATION;
	fake.dma_answer.done = 31;
	EXPECT_EQ(fl_dma_copy(dev, memory + 8, memory + 200, 100, &done), -EIO);
	EXPECT_EQ(done, 31);
	STEP("the driver refuses: done says nothing new");
	fake.fail_cmd = FL_IOC_DMA_COPY;
	fake.fail_error = -EFAULT;
	EXPECT_EQ(fl_dma_copy(dev, memory + 8, memory + 200, 5, &done), -EFAULT);
	EXPECT_EQ(done, 31);
	before = fake.ioctls;
	EXPECT_EQ(fl_dma_copy(dev, memory, memory, 0, NULL), -EINVAL);
	EXPECT_EQ(fl_dma_copy(NULL, memory, memory, 1, NULL), -EINVAL);
	EXPECT_EQ(fake.ioctls, before);
}

TEST("a region's memory is told before, and told again when it ends")
{
	static struct fake_set s;
	struct fl_mr *mr;

	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fake.imported, 1);
	EXPECT_EQ(fl_dereg_mr(s.mr), 0);
	EXPECT_EQ(fake.imported, 0);
	fake.import_error = -EOPNOTSUPP;
	EXPECT_EQ(fl_reg_mr(s.pd, s.buffer, 9, FL_LOCAL_WRITE, &mr),
		  -EOPNOTSUPP);
	EXPECT_EQ(fake.live_mr, 0);
	fake.import_error = 0;
	fake.fail_cmd = FL_IOC_REG_MR;
	fake.fail_error = -ENOSPC;
	EXPECT_EQ(fl_reg_mr(s.pd, s.buffer, 9, FL_LOCAL_WRITE, &mr), -ENOSPC);
	EXPECT_EQ(fake.imported, 0);
	EXPECT_EQ(fake.last_import[2], FL_LOCAL_WRITE);
}
