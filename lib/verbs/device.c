// SPDX-License-Identifier: BSD-2-Clause
/* Boards as InfiniBand devices: finding, opening, what they can do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <endian.h>
#include <pthread.h>
#include <unistd.h>

#include "faultline/system_rows.h"
#include "verbs.h"

#define DEVICES	64

static pthread_mutex_t v_devices = PTHREAD_MUTEX_INITIALIZER;

/* ---- the list ---- */

/* emu:a is fl_a, /dev/faultline0 is fl_0: what a command line can say. */
static const char *device_short(const char *card)
{
	const char *tail = strstr(card, "/faultline");

	return strncmp(card, "emu:", 4) ? (tail ? tail + 10 : card) : card + 4;
}

static struct v_device *device_new(const char card[FL_NAME_BYTES], int index)
{
	struct v_device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->users = 1;
	d->index = index;
	d->ibv.node_type = IBV_NODE_CA;
	d->ibv.transport_type = IBV_TRANSPORT_IB;
	memcpy(d->card, card, sizeof(d->card));
	snprintf(d->ibv.name, sizeof(d->ibv.name), "fl_%.60s", device_short(card));
	snprintf(d->ibv.dev_name, sizeof(d->ibv.dev_name), "faultline%d", index);
	return d;
}

static void device_put(struct v_device *d)
{
	bool last;

	pthread_mutex_lock(&v_devices);
	last = !--d->users;
	pthread_mutex_unlock(&v_devices);
	if (last)
		free(d);
}

/* All cards, or the one that "faultline with" has chosen. */
static int device_names(char (*name)[FL_NAME_BYTES], int n)
{
	const char *one = getenv("FAULTLINE_CARD");
	int len;

	if (!one || !*one)
		return fl_list_devices(name, n);
	len = snprintf(name[0], FL_NAME_BYTES, "%s", one);
	return len < 0 || len >= FL_NAME_BYTES ? -ENAMETOOLONG : 1;
}

struct ibv_device **ibv_get_device_list(int *num)
{
	char name[DEVICES][FL_NAME_BYTES];
	int i, n = device_names(name, DEVICES);
	struct ibv_device **list;

	if (num)
		*num = 0;
	if (n < 0)
		return v_null(n);
	n = n < DEVICES ? n : DEVICES;
	list = calloc((size_t)n + 1, sizeof(struct ibv_device *));
	if (!list)
		return v_null(ENOMEM);
	for (i = 0; i < n; i++) {
		struct v_device *d = device_new(name[i], i);

		if (!d) {
			ibv_free_device_list(list);
			return v_null(ENOMEM);
		}
		list[i] = &d->ibv;
	}
	if (num)
		*num = n;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	int i;

	for (i = 0; list[i]; i++)
		device_put((struct v_device *)list[i]);
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

int ibv_get_device_index(struct ibv_device *device)
{
	return ((struct v_device *)device)->index;
}

/* Of the node's number once it is known; before, of the place in the list. */
static __be64 device_guid(uint64_t number)
{
	return htobe64(0x02464C0000000001ull + number);
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return device_guid((uint64_t)((struct v_device *)device)->index);
}

/* ---- opening ---- */

static void context_ops(struct v_context *v)
{
	struct ibv_context *c = &v->verbs.context;

	c->ops.poll_cq = v_poll_cq;
	c->ops.req_notify_cq = v_req_notify_cq;
	c->ops.post_send = v_post_send;
	c->ops.post_recv = v_post_recv;
	c->ops.post_srq_recv = v_post_srq_recv;
	v->verbs.sz = sizeof(v->verbs);
	v->verbs.query_port = v_query_port;
	v->verbs.query_device_ex = v_query_device_ex;
	v->verbs.create_cq_ex = v_create_cq_ex;
	v->verbs.create_qp_ex = v_create_qp_ex;
	v->verbs.advise_mr = v_advise_mr;
	c->abi_compat = __VERBS_ABI_IS_EXTENDED;
}

/*
 * The system that handles this program's missing pages: npf, which has all verbs, or the one
 * that the user has named. With those of datagrams there are no others.
 */
static int context_system(struct v_context *v, const char *card)
{
	static const char *const names[] = { FL_SYSTEM_NAMES };
	const char *name = getenv("FAULTLINE_SYSTEM");
	unsigned int system = FL_SYSTEM_NPF;

	if (name && *name)
		for (system = 0; system < FL_SYSTEMS; system++)
			if (!strcmp(name, names[system]))
				break;
	if (system == FL_SYSTEMS) {
		fprintf(stderr, "FAULTLINE_SYSTEM=%s: no such system; there are: "
			FL_SYSTEM_WORDS "\n", name);
		return -EINVAL;
	}
	v->connections = fl_system_rows[system].transport == FL_TRANSPORT_RC;
	v->packets = v->connections || fl_system_rows[system].transport == FL_TRANSPORT_UD;
	/* One that finds no page where it is to go is lost, unless there is a backup ring. */
	if (v->packets)
		v->ud_odp = IBV_ODP_SUPPORT_SEND;
	if (fl_system_rows[system].rw == FL_VERDICT_DIVERT)
		v->ud_odp |= IBV_ODP_SUPPORT_RECV;
	/* Boards of the emulator see of a program's memory what it has registered. */
	v->implicit = fl_system_rows[system].tables == FL_TABLES_NIC &&
		      strncmp(card, "emu:", 4);
	return fl_set_policy(v->dev, (enum fl_system)system, FL_RESOLVE_TRANSFER);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct v_device *d = (struct v_device *)device;
	struct v_context *v = calloc(1, sizeof(*v));
	struct ibv_context *c;
	int error = -ENOMEM;

	if (!v)
		return v_null(error);
	c = &v->verbs.context;
	error = fl_open(d->card, &v->dev);
	if (error) {
		fprintf(stderr, "%s: %s\n", d->ibv.name, fl_open_error());
		goto free;
	}
	error = context_system(v, d->card);
	if (!error)
		error = fl_query_device(v->dev, &v->attr);
	if (error)
		goto close;
	c->device = device;
	c->cmd_fd = -1;
	error = v_news_begin(v);
	if (error)
		goto close;
	c->num_comp_vectors = 1;
	pthread_mutex_init(&c->mutex, NULL);
	context_ops(v);
	pthread_mutex_lock(&v_devices);
	d->users++;
	pthread_mutex_unlock(&v_devices);
	return c;
close:
	fl_close(v->dev);
free:
	free(v);
	return v_null(error);
}

int ibv_close_device(struct ibv_context *c)
{
	struct v_context *v = v_context(c);
	int error;

	v_news_end(v);
	error = fl_close(v->dev);
	pthread_mutex_destroy(&c->mutex);
	device_put((struct v_device *)c->device);
	free(v);
	return v_error(error);
}

/* ---- what it can do ---- */

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *attr)
{
	const struct fl_device_attr *a = &v_context(c)->attr;

	*attr = (struct ibv_device_attr){
		.fw_ver = "1.0",
		.node_guid = device_guid(a->node),
		.sys_image_guid = device_guid(a->node),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 4096,
		.vendor_id = 0x464C,
		.vendor_part_id = 1,
		.max_qp = (int)a->max_qp,
		.device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD |
				    (v_context(c)->connections ? IBV_DEVICE_RC_RNR_NAK_GEN : 0),
		.max_qp_wr = (int)v_max_wr(v_context(c)),
		.max_sge = v_context(c)->packets ? FL_RECV_SEGMENTS : 1,
		.max_sge_rd = v_context(c)->packets ? FL_SEND_SEGMENTS : 1,
		.max_cq = (int)a->max_cq,
		.max_cqe = (int)a->max_queue,
		.max_mr = (int)a->max_mr,
		.max_pd = 16,
		.max_ah = v_context(c)->packets ? V_LID_MAX * 256 : 0,
		.max_qp_rd_atom = V_ATOMICS,
		.max_res_rd_atom = V_ATOMICS * (int)a->max_qp,
		.max_qp_init_rd_atom = V_ATOMICS,
		.atomic_cap = v_context(c)->connections ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
		.max_srq = v_context(c)->connections ? 16 : 0,
		.max_srq_wr = v_context(c)->connections ? (int)a->max_queue : 0,
		.max_srq_sge = v_context(c)->connections ? FL_RECV_SEGMENTS : 0,
		.max_pkeys = 1,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = 1,
	};
	return 0;
}

int v_query_device_ex(struct ibv_context *c, const struct ibv_query_device_ex_input *in,
		      struct ibv_device_attr_ex *attr, size_t bytes)
{
	struct ibv_device_attr_ex all = { .phys_port_cnt_ex = 1 };
	uint32_t rc = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
	const struct v_context *v = v_context(c);

	if (in && in->comp_mask)
		return EINVAL;
	if (v->connections)
		rc |= IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
		      IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;
	ibv_query_device(c, &all.orig_attr);
	all.odp_caps.general_caps = IBV_ODP_SUPPORT;
	if (v->implicit)
		all.odp_caps.general_caps |= IBV_ODP_SUPPORT_IMPLICIT;
	all.odp_caps.per_transport_caps.rc_odp_caps =
		v->connections || !v->packets ? rc : 0;
	all.odp_caps.per_transport_caps.ud_odp_caps = v->ud_odp;
	/* The program may be older than this library, or newer. */
	memset(attr, 0, bytes);
	memcpy(attr, &all, bytes < sizeof(all) ? bytes : sizeof(all));
	return 0;
}

int v_query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr,
		 size_t bytes)
{
	struct ibv_port_attr all = {
		.state = IBV_PORT_ACTIVE,
		.max_mtu = V_MTU,
		.active_mtu = V_MTU,
		.gid_tbl_len = 1,
		.max_msg_sz = V_MESSAGE_MAX,
		.pkey_tbl_len = 1,
		.lid = (uint16_t)(v_context(c)->attr.node + 1),
		.sm_lid = 1,
		.max_vl_num = 1,
		.active_width = 2,	/* 4x */
		.active_speed = 1,	/* 2.5 Gb/s each: 10 Gb/s */
		.phys_state = 5,	/* link is up */
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
	};

	if (port != V_PORT)
		return EINVAL;
	memset(attr, 0, bytes);
	memcpy(attr, &all, bytes < sizeof(all) ? bytes : sizeof(all));
	return 0;
}

/* infiniband/verbs.h has a macro of this name, which reaches v_query_port(). */
#undef ibv_query_port
int ibv_query_port(struct ibv_context *c, uint8_t port,
		   struct _compat_ibv_port_attr *attr)
{
	/* All but link_layer, flags and port_cap_flags2, which came later. */
	return v_query_port(c, port, (struct ibv_port_attr *)attr,
			    offsetof(struct ibv_port_attr, link_layer));
}

int ibv_query_gid(struct ibv_context *c, uint8_t port, int index, union ibv_gid *gid)
{
	if (port != V_PORT || index)
		return -1;
	gid->global.subnet_prefix = htobe64(0xFE80000000000000ull);
	gid->global.interface_id = device_guid(v_context(c)->attr.node);
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *c, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t bytes)
{
	struct ibv_gid_entry e = { .port_num = port, .gid_type = IBV_GID_TYPE_IB };

	if (flags)
		return EINVAL;
	if (ibv_query_gid(c, (uint8_t)port, (int)index, &e.gid))
		return ENODATA;
	memcpy(entry, &e, bytes < sizeof(e) ? bytes : sizeof(e));
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *c, struct ibv_gid_entry *entry,
			     size_t room, uint32_t flags, size_t bytes)
{
	int error = room ? _ibv_query_gid_ex(c, V_PORT, 0, entry, flags, bytes) : EINVAL;

	return error ? -error : 1;
}

/* As rdma-core's: enum ibv_gid_type_sysfs, 0 IB. */
int ibv_query_gid_type(struct ibv_context *c, uint8_t port, unsigned int index, int *type)
{
	union ibv_gid gid;

	*type = 0;
	return ibv_query_gid(c, port, (int)index, &gid);
}

int ibv_query_pkey(struct ibv_context *c, uint8_t port, int index, __be16 *key)
{
	(void)c;
	if (port != V_PORT || index)
		return -1;
	*key = htobe16(V_KEY);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *c, uint8_t port, __be16 key)
{
	(void)c;
	return port == V_PORT && key == htobe16(V_KEY) ? 0 : -1;
}

/* There is no sysfs of such a device; programs ask for what may be missing. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *to, size_t bytes)
{
	(void)dir, (void)file, (void)to, (void)bytes;
	errno = ENOENT;
	return -1;
}

const char *ibv_get_sysfs_path(void)
{
	return "/sys";
}

/* Registered memory stays the parent's; a child finds none of the card (uapi.h). */
int ibv_fork_init(void)
{
	return 0;
}

/* What drivers ask of ranges of memory, for the same reason. */
int ibv_dontfork_range(void *base, size_t bytes)
{
	(void)base, (void)bytes;
	return 0;
}

int ibv_dofork_range(void *base, size_t bytes)
{
	(void)base, (void)bytes;
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}
