/*
 * libibverbs and librdmacm with one device that does no work: the next poll completes all posted
 * requests. Compiled once for each of the two names. The measured cost is that of the engine alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr

enum { RING = 1024, EVENTS = 8 };

static uint64_t completed[RING];
static unsigned head, tail;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad) {
  for (; request; request = request->next) {
    if (request->send_flags & IBV_SEND_SIGNALED) {
      completed[tail++ % RING] = request->wr_id;
    }
  }
  return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
  return 0;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *completions) {
  int found = 0;
  for (; found < count && head != tail; found++) {
    completions[found].wr_id = completed[head++ % RING];
    completions[found].status = IBV_WC_SUCCESS;
  }
  return found;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only) { return 0; }

static struct ibv_device device = {
    .node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "stub0"};
static struct ibv_context context = {
    .device = &device,
    .ops = {.poll_cq = poll_cq,
            .req_notify_cq = req_notify_cq,
            .post_send = post_send,
            .post_recv = post_recv}};
static struct ibv_context *contexts[] = {&context, NULL};
static struct rdma_cm_event pending[EVENTS];
static unsigned first, last;

static int new_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE); }

static int notify(struct rdma_cm_id *id, enum rdma_cm_event_type type) {
  uint64_t one = 1;
  pending[last++ % EVENTS] = (struct rdma_cm_event){.id = id, .event = type};
  return write(id->channel->fd, &one, sizeof one) == sizeof one ? 0 : -1;
}

/* librdmacm */

struct ibv_context **rdma_get_devices(int *count) {
  context.async_fd = new_eventfd();
  return contexts;
}

void rdma_free_devices(struct ibv_context **list) { close(context.async_fd); }

struct rdma_event_channel *rdma_create_event_channel(void) {
  struct rdma_event_channel *channel = calloc(1, sizeof *channel);
  channel->fd = new_eventfd();
  return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
  close(channel->fd);
  free(channel);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event) {
  uint64_t one;
  if (read(channel->fd, &one, sizeof one) != sizeof one) {
    return -1;
  }
  *event = &pending[first++ % EVENTS];
  return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event) { return 0; }

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *owner,
                   enum rdma_port_space space) {
  *id = calloc(1, sizeof **id);
  (*id)->channel = channel;
  return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id) {
  free(id);
  return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address) { return -1; }

int rdma_listen(struct rdma_cm_id *id, int backlog) { return -1; }

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms) {
  memcpy(&id->route.addr.src_addr, to, sizeof(struct sockaddr_in));
  id->verbs = &context;
  return notify(id, RDMA_CM_EVENT_ADDR_RESOLVED);
}

int rdma_resolve_route(struct rdma_cm_id *id, int ms) {
  return notify(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
  id->qp = calloc(1, sizeof *id->qp);
  return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id) {
  free(id->qp);
  id->qp = NULL;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *parameters) {
  return notify(id, RDMA_CM_EVENT_ESTABLISHED);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *parameters) { return -1; }

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length) { return -1; }

int rdma_disconnect(struct rdma_cm_id *id) { return 0; }


int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t length) {
  return 0;
}

/* libibverbs */

struct ibv_device **ibv_get_device_list(int *count) { return NULL; }

void ibv_free_device_list(struct ibv_device **list) {}

struct ibv_context *ibv_open_device(struct ibv_device *device) { return NULL; }

int ibv_close_device(struct ibv_context *context) { return 0; }

int ibv_query_device(struct ibv_context *of, struct ibv_device_attr *attributes) {
  *attributes = (struct ibv_device_attr){.max_mr_size = UINT64_MAX,
                                         .max_qp = 16,
                                         .max_qp_wr = RING,
                                         .max_sge = 4,
                                         .max_cqe = RING,
                                         .max_mr = 16,
                                         .max_qp_rd_atom = 16,
                                         .max_qp_init_rd_atom = 16};
  return 0;
}

int ibv_query_port(struct ibv_context *of, uint8_t port, struct _compat_ibv_port_attr *attributes) {
  return EINVAL;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *of) { return calloc(1, sizeof(struct ibv_pd)); }

int ibv_dealloc_pd(struct ibv_pd *pd) {
  free(pd);
  return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access) {
  return calloc(1, sizeof(struct ibv_mr));
}

int ibv_dereg_mr(struct ibv_mr *mr) {
  free(mr);
  return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *of) {
  struct ibv_comp_channel *channel = calloc(1, sizeof *channel);
  channel->fd = new_eventfd();
  return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
  close(channel->fd);
  free(channel);
  return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *of, int count, void *owner,
                             struct ibv_comp_channel *channel, int vector) {
  struct ibv_cq *cq = calloc(1, sizeof *cq);
  cq->cqe = count;
  return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq) {
  free(cq);
  return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **owner) {
  return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count) {}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
  return calloc(1, sizeof(struct ibv_qp));
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask) { return 0; }
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask,
                 struct ibv_qp_init_attr *initial) {
  return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp) {
  free(qp);
  return 0;
}

int ibv_get_async_event(struct ibv_context *of, struct ibv_async_event *event) {
  errno = EAGAIN;
  return -1;
}

void ibv_ack_async_event(struct ibv_async_event *event) {}
