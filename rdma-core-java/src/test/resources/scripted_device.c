/*
 * libibverbs and librdmacm with one device that tests script: calls fail or are slow, limits are low,
 * events arrive or are lost, the device is removed. Otherwise it works: connections, SEND and READ between
 * queue pairs of this process. Objects are counted. One lock guards everything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr

#define CALLS(X)                                                                                           \
  X(rdma_get_devices, 0) X(rdma_create_event_channel, 0) X(rdma_create_id, 0) X(rdma_bind_addr, 0)         \
  X(rdma_listen, 0) X(rdma_resolve_addr, 0) X(rdma_resolve_route, 0) X(rdma_create_qp, EIO)                \
  X(rdma_connect, EINVAL) X(rdma_accept, EINVAL) X(rdma_reject, EINVAL) X(rdma_disconnect, EINVAL)         \
  X(rdma_set_option, 0) X(ibv_query_device, EIO) X(ibv_query_port, EIO) X(ibv_alloc_pd, EIO)               \
  X(ibv_reg_mr, EIO) X(ibv_dereg_mr, EIO) X(ibv_create_comp_channel, EIO) X(ibv_create_cq, EIO)            \
  X(ibv_create_qp, EIO) X(ibv_modify_qp, EIO) X(ibv_query_qp, EIO) X(ibv_post_send, 0) X(ibv_post_recv, 0) \
  X(ibv_poll_cq, 0) X(ibv_req_notify_cq, 0) X(ibv_get_cq_event, 0) X(rdma_get_cm_event, 0)                 \
  X(ibv_get_async_event, 0) X(ibv_query_device_ex, EIO) X(ibv_destroy_qp, EIO) X(rdma_destroy_qp, EIO)     \
  X(ibv_destroy_cq, EIO) X(ibv_dealloc_pd, EIO) X(ibv_destroy_comp_channel, 0) X(rdma_destroy_id, 0)       \
  X(ibv_get_device_list, 0) X(ibv_open_device, 0)

#define IN_ENUM(name, removed) CALL_##name,
#define AS_REMOVED(name, removed) removed,
#define AS_NAME(name, ...) #name,
enum call { CALLS(IN_ENUM) CALL_COUNT };
static const char *const call_names[] = {CALLS(AS_NAME)};
/* The kernel's answers without the device: EIO to each command of ib_uverbs, EINVAL to calls of ib_uccm on
   identifiers that have lost it. 0 where no command reaches the kernel. */
static const int without_device[] = {CALLS(AS_REMOVED)};

#define KINDS(X) X(channel) X(context) X(id) X(pd) X(mr) X(comp_channel) X(cq) X(qp) X(event)
#define KIND_IN_ENUM(name) KIND_##name,
enum kind { KINDS(KIND_IN_ENUM) KIND_COUNT };

#define LIMITS(X) X(memlock) X(rd_atom) X(sge) X(infiniband) X(odp) X(ports) \
  X(unanswered) X(write_pins) X(vendor) X(failing_reads) X(port_state) X(kept_access) X(stale) X(removed) X(partition_bits) X(foreign_answers) \
  X(removal_after) X(held_reads) X(connect_event) X(address_error) X(iwarp) X(held_port) X(failing_opens) X(outcome_ms) \
  X(route_error) X(second_device) X(echoed_access)
#define LIMIT_IN_ENUM(name) LIMIT_##name,
enum limit { LIMITS(LIMIT_IN_ENUM) LIMIT_COUNT };
static const char *const limit_names[] = {LIMITS(AS_NAME)};

enum { RING = 1024, MAX_IDS = 1024, MAX_CM_EVENT = 32, MAX_CHANNELS = 64, WORK_BYTES = 64, MAX_ELEMENTS = 16 };
enum { DELAY_STEP_MS = 100 };

struct completions {
  struct ibv_cq base;
  struct ibv_wc ring[RING];
  unsigned head, tail;
  int armed;
  struct ibv_comp_channel *to;
};

struct message {
  struct message *next;
  uint32_t length;
  char bytes[];
};

struct receive {
  uint64_t id;
  struct ibv_sge sge;
};

struct held {
  struct ibv_send_wr request;
  struct ibv_sge elements[MAX_ELEMENTS];
};

struct pair {
  struct ibv_qp base;
  struct pair *peer;
  struct completions *send_cq, *recv_cq;
  struct receive receives[RING];
  unsigned head, tail;
  /* Requests that do not complete before the queue pair breaks, or the script releases them. */
  struct held held[RING];
  unsigned held_head, held_tail;
  struct message *early;
  int access, asked_access, broken;
  long charged;
};

struct identifier {
  struct rdma_cm_id base;
  struct identifier *peer;
  int listening, connected, asked, backlog;
  /* On iWARP: it requested or accepted a connection whose outcome is outstanding. */
  int waiting;
  /* Set by rdma_set_option. */
  int tos, ack_timeout;
};

struct event {
  struct rdma_cm_event base;
  struct event *next;
  char data[256];
};

struct event_channel {
  struct rdma_event_channel base;
  struct event *first;
};

struct comp_channel {
  struct ibv_comp_channel base;
  struct ibv_cq *ready[RING];
  unsigned head, tail;
  int queues;
};

static struct {
  int error, from, count, delay_ms, seen;
} script[CALL_COUNT];
static long outstanding[KIND_COUNT], limits[LIMIT_COUNT];
static long charged;
/* Number of times that the script has ended the delays of calls. */
static long ended_delays;
/* Number of times that the script changed what a caller got. */
static long hits, waits;
static long lost[MAX_CM_EVENT];
static int dead_fd = -1;
static struct identifier *ids[MAX_IDS];
static struct comp_channel *comp_channels[MAX_CHANNELS];
static struct ibv_mr *regions[RING];
static struct ibv_async_event async_events[RING];
static unsigned async_head, async_tail;
/* Objects whose destruction failed: they stay until the next reset, as otherwise until the end of the process. */
static struct {
  enum kind kind;
  void *object;
} kept[RING];
static int kept_count;
static struct ibv_qp *last_qp;
static struct ibv_cq *last_cq;
static int last_vector = -1, last_min_rnr_timer = -1;

/* Parameters of the newest connection of each end: from rdma_connect, and from rdma_accept, whose tos is the listener's. */
#define PARAMETERS(X) X(retry_count) X(rnr_retry_count) X(ack_timeout) X(tos)
#define PARAMETER_IN_ENUM(name) PARAMETER_##name,
enum parameter { PARAMETERS(PARAMETER_IN_ENUM) PARAMETER_COUNT };
static const char *const parameter_names[] = {PARAMETERS(AS_NAME)};
enum end { INITIATOR, RESPONDER, END_COUNT };
static int parameters_of[END_COUNT][PARAMETER_COUNT];
static long last_send_flags[IBV_WR_RDMA_READ + 1];
static unsigned next_number = 100;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void unlock(const int *held) { pthread_mutex_unlock(&lock); }

static int locked(void) { return pthread_mutex_lock(&lock); }

/* Has the lock until the end of the block. */
#define LOCKED int held __attribute__((cleanup(unlock), unused)) = locked()

static void hit(void) { __atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED); }

/* Waits until the delay is over or the script ends it. */
static void wait_ms(int ms, long ended_before) {
  while (ms > 0 && __atomic_load_n(&ended_delays, __ATOMIC_RELAXED) == ended_before) {
    int step = ms < DELAY_STEP_MS ? ms : DELAY_STEP_MS;
    usleep(step * 1000);
    ms -= step;
  }
}

/* Counts a call, waits as the script says; returns the error it has to fail with, or 0. */
static int enter(enum call call) {
  pthread_mutex_lock(&lock);
  long ended_before = __atomic_load_n(&ended_delays, __ATOMIC_RELAXED);
  int delay = script[call].delay_ms, seen = ++script[call].seen;
  long past = (long)seen - script[call].from;
  int error = past >= 0 && past < script[call].count ? script[call].error : 0;
  error = limits[LIMIT_removed] && without_device[call] ? without_device[call] : error;
  pthread_mutex_unlock(&lock);
  if (delay || error) {
    hit();
  }
  wait_ms(delay, ended_before);
  errno = error;
  return error;
}

static void *create(enum kind kind, size_t size) {
  __atomic_add_fetch(&outstanding[kind], 1, __ATOMIC_RELAXED);
  return calloc(1, size);
}

static void destroy(enum kind kind, void *object) {
  __atomic_sub_fetch(&outstanding[kind], 1, __ATOMIC_RELAXED);
  free(object);
}

static void keep(enum kind kind, void *object) {
  kept[kept_count].kind = kind;
  kept[kept_count++].object = object;
}

/* Counts a call that destroys an object; returns the error it has to fail with, or 0. The script's error, and EIO without the
   device, are the kernel's answer to the command. libibverbs takes EIO for success with a variable of the environment,
   whether there is a device or not (verbs_is_destroy_err in its cmd_write.h), and frees its object. With any other error it
   keeps the object. ibv_destroy_comp_channel is no command, and rdma_destroy_id one of ib_uccm. */
static int enter_destruction(enum call call, enum kind kind, void *object) {
  int error = enter(call);
  if (error == EIO && kind != KIND_comp_channel && kind != KIND_id && getenv("RDMAV_ALLOW_DISASSOC_DESTROY")) {
    error = 0;
  }
  if (error) {
    LOCKED;
    keep(kind, object);
  }
  return errno = error;
}

static void free_object(enum kind kind, void *object);

/* A call that destroys an object. */
static int end_object(enum call call, enum kind kind, void *object) {
  int error = enter_destruction(call, kind, object);
  LOCKED;
  if (!error) {
    free_object(kind, object);
  }
  return error;
}

/* The script's limit, or the device's own. */
static long limited(enum limit limit, long own) {
  if (!limits[limit]) {
    return own;
  }
  hit();
  return limits[limit];
}

/* Whether something still happens that the script wants so many times; counts it. */
static int happens(long *times) {
  if (*times <= 0) {
    return 0;
  }
  --*times;
  hit();
  return 1;
}

/* A limit that the script sets for once. */
static long take(enum limit limit) {
  long value = limited(limit, 0);
  limits[limit] = 0;
  return value;
}

/* Charges locked memory; 0 or ENOMEM. */
static int charge(long bytes) {
  if (limits[LIMIT_memlock] && charged + bytes > limits[LIMIT_memlock]) {
    hit();
    return errno = ENOMEM;
  }
  charged += bytes;
  return 0;
}

static int new_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE); }

static void add_one(int fd) {
  uint64_t one = 1;
  if (write(fd, &one, sizeof one) < 0) {
    errno = 0;
  }
}

static int take_one(int fd) {
  uint64_t one;
  return read(fd, &one, sizeof one) == sizeof one;
}

/* Completions. */

static void raise_async(enum ibv_event_type type, int port, void *element);

static void complete(struct completions *cq, struct ibv_wc wc) {
  if (cq->tail - cq->head == (unsigned)cq->base.cqe) {
    raise_async(IBV_EVENT_CQ_ERR, 0, cq);
    return;
  }
  cq->ring[cq->tail++ % RING] = wc;
  if (cq->armed && cq->to) {
    struct comp_channel *to = (struct comp_channel *)cq->to;
    cq->armed = 0;
    to->ready[to->tail++ % RING] = &cq->base;
    add_one(to->base.fd);
  }
}

static void complete_with(struct completions *cq, struct pair *of, uint64_t id, int status,
                          enum ibv_wc_opcode opcode, uint32_t length) {
  complete(cq, (struct ibv_wc){.wr_id = id,
                               .status = status,
                               .opcode = opcode,
                               .byte_len = length,
                               .qp_num = of->base.qp_num});
}

static enum ibv_wc_opcode completed_as(const struct ibv_send_wr *request) {
  return request->opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ : IBV_WC_SEND;
}

static void break_pair(struct pair *pair) {
  if (!pair || pair->broken) {
    return;
  }
  pair->broken = 1;
  while (pair->held_head != pair->held_tail) {
    struct ibv_send_wr *request = &pair->held[pair->held_head++ % RING].request;
    complete_with(pair->send_cq, pair, request->wr_id, IBV_WC_WR_FLUSH_ERR, completed_as(request), 0);
  }
  while (pair->head != pair->tail) {
    uint64_t id = pair->receives[pair->head++ % RING].id;
    complete_with(pair->recv_cq, pair, id, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, 0);
  }
}

static void deliver(struct pair *to) {
  while (to->early && to->head != to->tail && !to->broken) {
    struct message *message = to->early;
    struct receive receive = to->receives[to->head++ % RING];
    to->early = message->next;
    memcpy((void *)receive.sge.addr, message->bytes, message->length);
    complete_with(to->recv_cq, to, receive.id, IBV_WC_SUCCESS, IBV_WC_RECV, message->length);
    free(message);
  }
}

/* irdma and erdma use the first element of a READ whatever the count is. */
static int elements(const struct ibv_send_wr *request) {
  int of_first = limits[LIMIT_vendor] == 0x8086 || limits[LIMIT_vendor] == 0x1ded;
  return of_first && request->opcode == IBV_WR_RDMA_READ ? 1 : request->num_sge;
}

static uint32_t total(const struct ibv_send_wr *request) {
  uint32_t length = 0;
  for (int i = 0; i < elements(request); i++) {
    length += request->sg_list[i].length;
  }
  return length;
}

static void send_message(struct pair *to, const struct ibv_send_wr *request) {
  struct message *message = calloc(1, sizeof *message + total(request)), **last = &to->early;
  for (int i = 0; i < request->num_sge; i++) {
    memcpy(message->bytes + message->length, (void *)request->sg_list[i].addr,
           request->sg_list[i].length);
    message->length += request->sg_list[i].length;
  }
  while (*last) {
    last = &(*last)->next;
  }
  *last = message;
  deliver(to);
}

static int read_remote(struct pair *from, const struct ibv_send_wr *request) {
  const char *at = (const char *)request->wr.rdma.remote_addr;
  struct ibv_mr *mr = regions[request->wr.rdma.rkey % RING];
  uint32_t length = total(request);
  if (!(from->access & IBV_ACCESS_REMOTE_READ)
      || (length
          && (!mr || at < (char *)mr->addr || at + length > (char *)mr->addr + mr->length))) {
    return IBV_WC_REM_ACCESS_ERR;
  }
  for (int i = 0; length && i < elements(request); i++) {
    memcpy((void *)request->sg_list[i].addr, at, request->sg_list[i].length);
    at += request->sg_list[i].length;
  }
  return IBV_WC_SUCCESS;
}

/* Whether a request stays without a completion: a READ as the script says, and whatever follows it, since requests complete in
   order. */
static int is_held(struct pair *pair, const struct ibv_send_wr *request, int read) {
  if (!(read && limits[LIMIT_held_reads]) && pair->held_head == pair->held_tail) {
    return 0;
  }
  hit();
  struct held *held = &pair->held[pair->held_tail++ % RING];
  held->request = *request;
  memcpy(held->elements, request->sg_list, request->num_sge * sizeof *held->elements);
  held->request.sg_list = held->elements;
  if (!read) {
    send_message(pair->peer, request);
  }
  return 1;
}

/* Completes a request that is not held; a failure breaks the queue pair. */
static void finish(struct pair *pair, const struct ibv_send_wr *request, int status) {
  if (status != IBV_WC_SUCCESS || request->send_flags & IBV_SEND_SIGNALED) {
    complete_with(pair->send_cq, pair, request->wr_id, status, completed_as(request), total(request));
  }
  if (status != IBV_WC_SUCCESS) {
    break_pair(pair);
  }
}

/* A READ reads the memory of the peer as it is now. */
static void complete_held(struct pair *pair) {
  while (pair->held_head != pair->held_tail) {
    struct ibv_send_wr *request = &pair->held[pair->held_head++ % RING].request;
    int read = request->opcode == IBV_WR_RDMA_READ, status = IBV_WC_SUCCESS;
    if (!pair->peer || pair->peer->broken) {
      status = IBV_WC_RETRY_EXC_ERR;
    } else if (read) {
      status = read_remote(pair->peer, request);
    }
    finish(pair, request, status);
  }
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad) {
  struct pair *pair = (struct pair *)qp;
  int error = enter(CALL_ibv_post_send);
  *bad = request;
  if (error) {
    return error;
  }
  LOCKED;
  for (; request; request = request->next) {
    int read = request->opcode == IBV_WR_RDMA_READ, status = IBV_WC_SUCCESS;
    last_send_flags[request->opcode] = request->send_flags;
    if (pair->broken) {
      status = IBV_WC_WR_FLUSH_ERR;
    } else if (!pair->peer || pair->peer->broken) {
      status = IBV_WC_RETRY_EXC_ERR;
    } else if (is_held(pair, request, read)) {
      continue;
    } else if (read && happens(&limits[LIMIT_failing_reads])) {
      status = IBV_WC_REM_OP_ERR;
    } else if (read) {
      status = read_remote(pair->peer, request);
    } else {
      send_message(pair->peer, request);
    }
    finish(pair, request, status);
  }
  return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
  struct pair *pair = (struct pair *)qp;
  int error = enter(CALL_ibv_post_recv);
  *bad = request;
  if (error) {
    return error;
  }
  LOCKED;
  for (; request; request = request->next) {
    if (pair->broken) {
      complete_with(pair->recv_cq, pair, request->wr_id, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, 0);
    } else {
      struct receive *receive = &pair->receives[pair->tail++ % RING];
      receive->id = request->wr_id;
      receive->sge = request->num_sge ? request->sg_list[0] : (struct ibv_sge){0};
    }
  }
  deliver(pair);
  return 0;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc) {
  struct completions *from = (struct completions *)cq;
  if (enter(CALL_ibv_poll_cq)) {
    return -errno;
  }
  int found = 0;
  LOCKED;
  while (found < count && from->head != from->tail) {
    wc[found++] = from->ring[from->head++ % RING];
  }
  return found;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only) {
  int error = enter(CALL_ibv_req_notify_cq);
  if (!error) {
    LOCKED;
    ((struct completions *)cq)->armed = 1;
  }
  return error;
}

static struct ibv_device device = {
    .node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "scripted0"};
static int query_device_ex(struct ibv_context *of, const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attributes, size_t length) {
  if (limits[LIMIT_odp] == 0) {
    return ENOSYS;
  }
  int error = enter(CALL_ibv_query_device_ex);
  if (error) {
    return error;
  }
  attributes->odp_caps.general_caps = IBV_ODP_SUPPORT;
  attributes->odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_READ;
  return 0;
}

static struct verbs_context extended = {.query_device_ex = query_device_ex,
                                        .sz = sizeof(struct verbs_context),
                                        .context = {.device = &device,
                                                    .num_comp_vectors = 4,
                                                    .async_fd = -1,
                                                    .abi_compat = __VERBS_ABI_IS_EXTENDED,
                                                    .ops = {.poll_cq = poll_cq,
                                                            .req_notify_cq = req_notify_cq,
                                                            .post_send = post_send,
                                                            .post_recv = post_recv}}};
/* A second device that can only be listed, opened and queried; the script says whether it can. */
enum { SECOND_IS_WELL = 1, SECOND_FAILS_QUERIES, SECOND_DOES_NOT_OPEN, SECOND_HAS_NO_GUID };
static struct ibv_device second = {
    .node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "scripted1"};
static struct verbs_context second_context = {.sz = sizeof(struct verbs_context),
                                              .context = {.device = &second,
                                                          .num_comp_vectors = 4,
                                                          .async_fd = -1,
                                                          .abi_compat = __VERBS_ABI_IS_EXTENDED}};
static int dead, second_dead;
static int context_users;

static void raise_async(enum ibv_event_type type, int port, void *element) {
  struct ibv_async_event *event = &async_events[async_tail++ % RING];
  *event = (struct ibv_async_event){.event_type = type};
  if (element) {
    event->element.cq = element;
  } else {
    event->element.port_num = port;
  }
  add_one(extended.context.async_fd);
}

/* Called by the test, through the same binding as the rest. */

static int find(const char *name, const char *const *names, int count) {
  for (int i = 0; i < count; i++) {
    if (!strcmp(name, names[i])) {
      return i;
    }
  }
  abort();
}

/* From the from-th call from now on, count calls fail with this error. */
void script_fail(const char *name, int error, int from, int count) {
  int call = find(name, call_names, CALL_COUNT);
  script[call].error = error;
  script[call].from = script[call].seen + from;
  script[call].count = count;
}

void script_delay(const char *name, int ms) {
  script[find(name, call_names, CALL_COUNT)].delay_ms = ms;
}

/* Ends all delays, of calls that have not returned as well. */
void script_end_delays(void) {
  LOCKED;
  for (int call = 0; call < CALL_COUNT; call++) {
    script[call].delay_ms = 0;
  }
  __atomic_add_fetch(&ended_delays, 1, __ATOMIC_RELAXED);
}

long script_seen(const char *name) { return script[find(name, call_names, CALL_COUNT)].seen; }

static void set_transport(void) {
  device.transport_type = limits[LIMIT_iwarp] ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
}

void script_limit(const char *name, long value) {
  limits[find(name, limit_names, LIMIT_COUNT)] = value;
  set_transport();
}

/* Calls that waited for the outcome of a connection. */
long script_waits(void) { return __atomic_load_n(&waits, __ATOMIC_RELAXED); }

/* The next count events of the connection manager with this number do not arrive. */
void script_lose(int type, int count) { lost[type] = count; }

/* Raises an event of the newest queue pair or completion queue, or of a port. */
void script_async(int type, int port) {
  LOCKED;
  int of_queue = type == IBV_EVENT_CQ_ERR;
  int of_pair = type >= IBV_EVENT_QP_FATAL && type <= IBV_EVENT_PATH_MIG_ERR;
  if (type == IBV_EVENT_COMM_EST && last_qp && ((struct pair *)last_qp)->peer) {
    /* Raised in state RTR only, and librdmacm moves the queue pair to RTS before a message can arrive. */
    return;
  }
  raise_async(type, port, of_queue ? (void *)last_cq : of_pair ? (void *)last_qp : NULL);
}

/* The completion vector of the newest completion queue. */
long script_vector(void) { return last_vector; }

/* The send_flags of the newest request with this number of enum ibv_wr_opcode, up to READ. */
long script_send_flags(int opcode) { return last_send_flags[opcode]; }

/* Encoded as in ibv_modify_qp(3); -1 before it was set. */
long script_min_rnr_timer(void) { return last_min_rnr_timer; }

/* A parameter of the newest connection of an end, from 0 on. */
long script_parameter(const char *name, int end) {
  return parameters_of[end][find(name, parameter_names, PARAMETER_COUNT)];
}

static int notify(struct identifier *id, enum rdma_cm_event_type type, int status);

/* The identifiers of an event: connections, listeners, or those that wait for their outcome. */
enum group { CONNECTIONS, LISTENERS, WAITING };

static void notify_all(enum rdma_cm_event_type type, enum group group) {
  for (int i = 0; i < MAX_IDS; i++) {
    if (ids[i] && (group == WAITING ? ids[i]->waiting : ids[i]->listening == (group == LISTENERS))) {
      notify(ids[i], type, 0);
      hit();
    }
  }
}

/* Raises an event of the connection manager. */
void script_cm(int type, int group) {
  LOCKED;
  notify_all(type, group);
}

/* Ends held_reads, and completes the requests that were held. */
void script_release_reads(void) {
  LOCKED;
  limits[LIMIT_held_reads] = 0;
  for (int i = 0; i < MAX_IDS; i++) {
    if (ids[i] && ids[i]->base.qp) {
      complete_held((struct pair *)ids[i]->base.qp);
    }
  }
}

/* The descriptors of the device report an error from now on, as the kernel's do without a device. */
void script_kill_descriptors(void) {
  int ends[2];
  LOCKED;
  if (pipe2(ends, O_CLOEXEC) == 0) {
    close(ends[0]);
    dup2(ends[1], extended.context.async_fd);
    hit();
    for (int i = 0; i < MAX_CHANNELS; i++) {
      if (comp_channels[i]) {
        dup2(ends[1], comp_channels[i]->base.fd);
        hit();
      }
    }
    dead_fd = ends[1];
  }
}

/* Objects of all kinds that exist, lists of devices too, and bytes of locked memory charged for them. */
long script_outstanding(void) {
  long sum = charged + context_users;
  for (int i = 0; i < KIND_COUNT; i++) {
    sum += outstanding[i];
  }
  return sum;
}

/* Number of times that the script changed what a caller got, since the last reset: calls that failed or were slow, limits
   that were reported or refused something, events that were raised or lost, descriptors that died. */
long script_hits(void) { return __atomic_load_n(&hits, __ATOMIC_RELAXED); }

static void free_pair(struct pair *pair);
static void free_region(struct ibv_mr *mr);
static void free_queue(struct completions *cq);
static void free_channel(struct comp_channel *channel);

static void free_object(enum kind kind, void *object) {
  switch (kind) {
  case KIND_qp:
    free_pair(object);
    break;
  case KIND_mr:
    free_region(object);
    break;
  case KIND_cq:
    free_queue(object);
    break;
  case KIND_comp_channel:
    free_channel(object);
    break;
  default:
    destroy(kind, object);
  }
}

static void free_kept(void) {
  LOCKED;
  for (int i = 0; i < kept_count; i++) {
    free_object(kept[i].kind, kept[i].object);
  }
  kept_count = 0;
}

/* Forgets the script, and the objects whose destruction failed, but no others. */
void script_reset(void) {
  free_kept();
  __atomic_store_n(&hits, 0, __ATOMIC_RELAXED);
  memset(script, 0, sizeof script);
  memset(limits, 0, sizeof limits);
  set_transport();
  waits = 0;
  dead = second_dead = 0;
  memset(lost, 0, sizeof lost);
  async_head = async_tail = 0;
  last_min_rnr_timer = -1;
  memset(parameters_of, 0, sizeof parameters_of);
  if (dead_fd >= 0) {
    close(dead_fd);
    dead_fd = -1;
  }
}

/* librdmacm */

/* The device is removed right after an event of this type: the identifier of the event gets DEVICE_REMOVAL, then
   each listener. */
static void remove_after(struct identifier *id, enum rdma_cm_event_type type) {
  if (limits[LIMIT_removal_after] != (long)type || type == RDMA_CM_EVENT_ADDR_RESOLVED) {
    return;
  }
  take(LIMIT_removal_after);
  notify(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
  notify_all(RDMA_CM_EVENT_DEVICE_REMOVAL, LISTENERS);
}

/* Whether an event of this type ends the wait for the outcome of a connection. */
static int is_outcome(enum rdma_cm_event_type type) {
  return type >= RDMA_CM_EVENT_CONNECT_RESPONSE && type <= RDMA_CM_EVENT_DISCONNECTED;
}

/* As IWCM_F_CONNECT_WAIT of the kernel's iwcm.c: set by rdma_connect and rdma_accept, cleared by the outcome. */
static void await_outcome(struct identifier *id) {
  id->waiting = limits[LIMIT_iwarp] != 0;
  if (id->waiting) {
    hit();
  }
}

/* Waits as the kernel does in calls that end an iWARP connection without an outcome, at most for the time in which a device
   gives up an attempt. */
static long outcome_ms(void) { return limits[LIMIT_outcome_ms] ? limits[LIMIT_outcome_ms] : 4000; }

static void wait_for_outcome(struct identifier *id) {
  pthread_mutex_lock(&lock);
  if (id->waiting) {
    __atomic_add_fetch(&waits, 1, __ATOMIC_RELAXED);
  }
  for (int ms = 0; id->waiting && ms < outcome_ms(); ms++) {
    pthread_mutex_unlock(&lock);
    usleep(1000);
    pthread_mutex_lock(&lock);
  }
  id->waiting = 0;
  pthread_mutex_unlock(&lock);
}

static int queue_event(struct identifier *id, struct event *event) {
  struct event_channel *channel = (struct event_channel *)id->base.channel;
  struct event **last = &channel->first;
  if (happens(&lost[event->base.event])) {
    free(event);
    return 0;
  }
  if (is_outcome(event->base.event)) {
    id->waiting = 0;
  }
  while (*last) {
    last = &(*last)->next;
  }
  *last = event;
  add_one(channel->base.fd);
  remove_after(id, event->base.event);
  return 0;
}


static struct event *with_parameters(struct identifier *id, enum rdma_cm_event_type type,
                                     const void *data, int length) {
  struct event *event = calloc(1, sizeof *event);
  event->base.id = &id->base;
  event->base.event = type;
  if (length) {
    memcpy(event->data, data, length);
  }
  event->base.param.conn.private_data = length ? event->data : NULL;
  event->base.param.conn.private_data_len = length;
  return event;
}

static int notify(struct identifier *id, enum rdma_cm_event_type type, int status) {
  struct event *event = with_parameters(id, type, NULL, 0);
  event->base.status = status;
  return queue_event(id, event);
}

/* Whether a device cannot be opened; then errno is the reason. */
static int fails_to_open(struct ibv_device *of) {
  pthread_mutex_lock(&lock);
  int fails = happens(&limits[LIMIT_failing_opens]);
  pthread_mutex_unlock(&lock);
  if (of == &second && limits[LIMIT_second_device] == SECOND_DOES_NOT_OPEN) {
    hit();
    fails = 1;
  }
  errno = EIO;
  return fails || enter(CALL_ibv_open_device);
}

/* librdmacm never opens a device again that it could not open (is_device_dead in its cma.c). */
struct ibv_context **rdma_get_devices(int *count) {
  if (enter(CALL_rdma_get_devices)) {
    return NULL;
  }
  if (enter(CALL_ibv_get_device_list)) {
    errno = ENODEV;
    return NULL;
  }
  dead = dead || fails_to_open(&device);
  second_dead = second_dead || (limits[LIMIT_second_device] && fails_to_open(&second));
  LOCKED;
  if (context_users++ == 0) {
    extended.context.async_fd = new_eventfd();
  }
  struct ibv_context **list = create(KIND_context, 3 * sizeof *list);
  int found = 0;
  if (!dead) {
    list[found++] = &extended.context;
  }
  if (limits[LIMIT_second_device] && !second_dead) {
    list[found++] = &second_context.context;
  }
  return list;
}

void rdma_free_devices(struct ibv_context **list) {
  LOCKED;
  destroy(KIND_context, list);
  if (--context_users == 0) {
    close(extended.context.async_fd);
    extended.context.async_fd = -1;
  }
}

struct rdma_event_channel *rdma_create_event_channel(void) {
  if (enter(CALL_rdma_create_event_channel)) {
    return NULL;
  }
  struct event_channel *channel = create(KIND_channel, sizeof *channel);
  channel->base.fd = new_eventfd();
  return &channel->base;
}

static void forget_identifier(struct identifier *id);

/* As the kernel, ends the connections of requests that were not taken. */
void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
  struct event *event = ((struct event_channel *)channel)->first;
  while (event) {
    struct event *next = event->next;
    if (event->base.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      LOCKED;
      forget_identifier((struct identifier *)event->base.id);
    }
    free(event);
    event = next;
  }
  close(channel->fd);
  destroy(KIND_channel, channel);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event) {
  struct event_channel *from = (struct event_channel *)channel;
  if (enter(CALL_rdma_get_cm_event) || !take_one(channel->fd)) {
    return -1;
  }
  LOCKED;
  struct event *first = from->first;
  from->first = first->next;
  __atomic_add_fetch(&outstanding[KIND_event], 1, __ATOMIC_RELAXED);
  *event = &first->base;
  return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event) {
  destroy(KIND_event, event);
  return 0;
}

static struct identifier *new_identifier(struct rdma_event_channel *channel) {
  struct identifier *id = create(KIND_id, sizeof *id);
  id->base.channel = channel;
  for (int i = 0; i < MAX_IDS; i++) {
    if (!ids[i]) {
      ids[i] = id;
      return id;
    }
  }
  abort();
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *owner,
                   enum rdma_port_space space) {
  if (enter(CALL_rdma_create_id)) {
    return -1;
  }
  LOCKED;
  *id = &new_identifier(channel)->base;
  return 0;
}

static void end_connection(struct identifier *id) {
  struct identifier *peer = id->peer;
  break_pair((struct pair *)id->base.qp);
  if (peer) {
    if (id->connected) {
      notify(id, RDMA_CM_EVENT_DISCONNECTED, 0);
    }
    /* A peer that does not get the message goes on. */
    if (!id->connected || !lost[RDMA_CM_EVENT_DISCONNECTED]) {
      break_pair((struct pair *)peer->base.qp);
    }
    if (id->connected) {
      notify(peer, RDMA_CM_EVENT_DISCONNECTED, 0);
    }
    peer->peer = NULL;
    id->peer = NULL;
  }
  id->connected = 0;
}

static void unlink_identifier(struct identifier *id) {
  for (int i = 0; i < MAX_IDS; i++) {
    if (ids[i] == id) {
      ids[i] = NULL;
    }
  }
  if (id->peer) {
    id->peer->peer = NULL;
  }
}

static void forget_identifier(struct identifier *id) {
  unlink_identifier(id);
  destroy(KIND_id, id);
}

/* An identifier that is not destroyed only stays as an object: the kernel ends it with its channel. */
int rdma_destroy_id(struct rdma_cm_id *id) {
  struct identifier *gone = (struct identifier *)id;
  struct event **at = &((struct event_channel *)id->channel)->first;
  if (id->qp) {
    /* librdmacm would free it under its queue pair; it stays as an object that the test finds. */
    errno = EBUSY;
    return -1;
  }
  wait_for_outcome(gone);
  int error = enter_destruction(CALL_rdma_destroy_id, KIND_id, gone);
  LOCKED;
  if (gone->peer && !gone->connected && !gone->asked) {
    notify(gone->peer, RDMA_CM_EVENT_REJECTED, 28);
  }
  end_connection(gone);
  while (*at) {
    struct event *event = *at;
    if (event->base.id == id && take_one(id->channel->fd)) {
      *at = event->next;
      free(event);
    } else {
      at = &event->next;
    }
  }
  unlink_identifier(gone);
  if (!error) {
    destroy(KIND_id, gone);
  }
  errno = error;
  return error ? -1 : 0;
}

/* Keeps the parameters of the connection of an end. */
static void keep_parameters(enum end end, const struct identifier *id, const struct rdma_conn_param *parameters) {
  parameters_of[end][PARAMETER_retry_count] = parameters->retry_count;
  parameters_of[end][PARAMETER_rnr_retry_count] = parameters->rnr_retry_count;
  parameters_of[end][PARAMETER_ack_timeout] = id->ack_timeout;
  parameters_of[end][PARAMETER_tos] = id->tos;
}

/* In network byte order. */
static in_port_t port_of(const struct sockaddr *address) { return ((const struct sockaddr_in *)address)->sin_port; }

static void set_port(struct sockaddr *address) {
  if (!port_of(address)) {
    ((struct sockaddr_in *)address)->sin_port = htons(20000 + next_number++ % 20000);
  }
}

static void bind_to_device(struct identifier *id) {
  id->base.verbs = &extended.context;
  id->base.port_num = 1;
}

/* As cma_check_linklocal in the kernel's cma.c. */
static int lacks_scope(struct sockaddr *address) {
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
  int lacks = six->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) && !six->sin6_scope_id;
  errno = lacks ? EINVAL : 0;
  return lacks;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address) {
  if (enter(CALL_rdma_bind_addr) || lacks_scope(address)) {
    return -1;
  }
  memcpy(&id->route.addr.src_addr, address, sizeof(struct sockaddr_in6));
  set_port(&id->route.addr.src_addr);
  bind_to_device((struct identifier *)id);
  return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog) {
  if (enter(CALL_rdma_listen)) {
    return -1;
  }
  ((struct identifier *)id)->backlog = backlog;
  ((struct identifier *)id)->listening = 1;
  return 0;
}

/* Whether two IPv4 addresses are of interfaces in different partitions: the script says how many of their first bits are the
   same in one partition. */
static int are_partitioned(struct sockaddr *one, struct sockaddr *other) {
  struct sockaddr_in *from = (struct sockaddr_in *)one, *to = (struct sockaddr_in *)other;
  long bits = limits[LIMIT_partition_bits];
  return bits && from->sin_family == AF_INET && to->sin_family == AF_INET
         && (ntohl(from->sin_addr.s_addr) ^ ntohl(to->sin_addr.s_addr)) >> (32 - bits);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms) {
  struct identifier *initiator = (struct identifier *)id;
  if (enter(CALL_rdma_resolve_addr) || lacks_scope(from ? from : to)) {
    return -1;
  }
  memcpy(&id->route.addr.dst_addr, to, sizeof(struct sockaddr_in6));
  memcpy(&id->route.addr.src_addr, from ? from : to, sizeof(struct sockaddr_in6));
  ((struct sockaddr_in *)&id->route.addr.src_addr)->sin_port = 0;
  set_port(&id->route.addr.src_addr);
  bind_to_device(initiator);
  LOCKED;
  int error = happens(&limits[LIMIT_unanswered]) ? ETIMEDOUT : take(LIMIT_address_error);
  if (error) {
    notify(initiator, RDMA_CM_EVENT_ADDR_ERROR, -error);
  } else if (are_partitioned(&id->route.addr.src_addr, to) && !limits[LIMIT_foreign_answers]) {
    /* The neighbour is not asked in its own partition. */
    hit();
    notify(initiator, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
  } else {
    notify(initiator, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  }
  return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int ms) {
  if (enter(CALL_rdma_resolve_route)) {
    return -1;
  }
  LOCKED;
  int error = take(LIMIT_route_error);
  notify((struct identifier *)id, error ? RDMA_CM_EVENT_ROUTE_ERROR : RDMA_CM_EVENT_ROUTE_RESOLVED, -error);
  return 0;
}

/* Peers may read from the start, and what ibv_modify_qp removes stays: as irdma in RoCE mode, erdma, bnxt_re and ocrdma, or as
   the script says. */
static int keeps_access(void) {
  long vendor = limits[LIMIT_vendor];
  return limited(LIMIT_kept_access, vendor == 0x8086 || vendor == 0x1ded || vendor == 0x14e4 || vendor == 0x10df);
}

static struct ibv_qp *new_pair(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
  struct ibv_qp_cap *cap = &attributes->cap;
  long bytes = (long)(cap->max_send_wr + cap->max_recv_wr) * WORK_BYTES;
  long sge = limited(LIMIT_sge, 4);
  if (cap->max_send_sge > sge || cap->max_recv_sge > sge) {
    errno = EINVAL;
    return NULL;
  }
  if (charge(bytes)) {
    return NULL;
  }
  struct pair *pair = create(KIND_qp, sizeof *pair);
  pair->base.context = &extended.context;
  pair->base.pd = pd;
  pair->base.qp_num = next_number++;
  pair->send_cq = (struct completions *)attributes->send_cq;
  pair->recv_cq = (struct completions *)attributes->recv_cq;
  pair->charged = bytes;
  /* iWARP has no access of queue pairs. */
  pair->access = limits[LIMIT_iwarp] || keeps_access() ? IBV_ACCESS_REMOTE_READ : 0;
  pair->asked_access = pair->access;
  last_qp = &pair->base;
  return &pair->base;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
  if (enter(CALL_rdma_create_qp)) {
    return -1;
  }
  LOCKED;
  id->qp = new_pair(pd, attributes);
  return id->qp ? 0 : -1;
}

static void free_pair(struct pair *pair) {
  for (int i = 0; i < MAX_IDS; i++) {
    struct pair *other = ids[i] ? (struct pair *)ids[i]->base.qp : NULL;
    if (other && other->peer == pair) {
      other->peer = NULL;
    }
  }
  while (pair->early) {
    struct message *next = pair->early->next;
    free(pair->early);
    pair->early = next;
  }
  last_qp = last_qp == &pair->base ? NULL : last_qp;
  charged -= pair->charged;
  destroy(KIND_qp, pair);
}

/* Returns nothing, and forgets a queue pair that ibv_destroy_qp does not destroy. */
void rdma_destroy_qp(struct rdma_cm_id *id) {
  struct pair *pair = (struct pair *)id->qp;
  /* The kernel's iwcm.c has a reference to the queue pair until the outcome, and drivers wait for its end: c4iw_destroy_qp,
     irdma_destroy_qp, siw_destroy_qp. */
  wait_for_outcome((struct identifier *)id);
  int error = pair ? enter_destruction(CALL_rdma_destroy_qp, KIND_qp, pair) : 0;
  LOCKED;
  if (error) {
    break_pair(pair);
  } else if (pair) {
    free_pair(pair);
  }
  id->qp = NULL;
}

/* As librdmacm, which keeps eight bits of the limit and takes 255 for it. */
static int too_many_reads(const struct rdma_conn_param *parameters) {
  uint8_t most = (uint8_t)limited(LIMIT_rd_atom, 16);
  return (parameters->responder_resources != RDMA_MAX_RESP_RES && parameters->responder_resources > most)
         || (parameters->initiator_depth != RDMA_MAX_INIT_DEPTH && parameters->initiator_depth > most);
}

static struct identifier *listener_at(struct sockaddr *address) {
  for (int i = 0; i < MAX_IDS; i++) {
    struct sockaddr *own = ids[i] ? &ids[i]->base.route.addr.src_addr : NULL;
    if (own && ids[i]->listening && port_of(own) == port_of(address)) {
      return ids[i];
    }
  }
  return NULL;
}

/* Whether as many requests wait for the owner of a listener as it allows (ucma_event_handler in the kernel's ucma.c). */
static int is_backlog_full(struct identifier *listener) {
  int requests = 0;
  for (struct event *event = ((struct event_channel *)listener->base.channel)->first; event; event = event->next) {
    requests += event->base.event == RDMA_CM_EVENT_CONNECT_REQUEST && event->base.listen_id == &listener->base;
  }
  return requests >= listener->backlog;
}

/* Waits while the script holds requests to this port, as the kernel does for iwpmd; at most as long as for that. */
static void hold_request(struct sockaddr *to) {
  for (int ms = 0; limits[LIMIT_held_port] == ntohs(((struct sockaddr_in *)to)->sin_port) && ms < outcome_ms(); ms++) {
    hit();
    usleep(1000);
  }
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *parameters) {
  struct identifier *initiator = (struct identifier *)id;
  if (enter(CALL_rdma_connect)) {
    return -1;
  }
  hold_request(&id->route.addr.dst_addr);
  if (too_many_reads(parameters)) {
    errno = EINVAL;
    return -1;
  }
  LOCKED;
  struct identifier *listener = listener_at(&id->route.addr.dst_addr);
  keep_parameters(INITIATOR, initiator, parameters);
  initiator->asked = 1;
  await_outcome(initiator);
  if (happens(&limits[LIMIT_stale])) {
    /* IB_CM_REJ_STALE_CONN, from the host of the peer: the peer sees nothing. */
    notify(initiator, RDMA_CM_EVENT_REJECTED, 10);
  } else if (are_partitioned(&id->route.addr.src_addr, &id->route.addr.dst_addr)) {
    /* The peer's host has no route from there (validate_ipv4_net_dev in the kernel's cma.c). */
    hit();
    notify(initiator, RDMA_CM_EVENT_REJECTED, 28);
  } else if (limits[LIMIT_connect_event]) {
    enum rdma_cm_event_type type = take(LIMIT_connect_event);
    notify(initiator, type, type == RDMA_CM_EVENT_REJECTED ? 8 : -ETIMEDOUT);
  } else if (happens(&lost[RDMA_CM_EVENT_CONNECT_REQUEST])) {
    /* The peer does not get it. */
  } else if (listener && is_backlog_full(listener)) {
    /* InfiniBand drops it, and repeats it after seconds. */
    hit();
    if (limits[LIMIT_iwarp]) {
      notify(initiator, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
    }
  } else if (listener) {
    struct identifier *responder = new_identifier(listener->base.channel);
    responder->tos = listener->tos;
    responder->base.route.addr = id->route.addr;
    memcpy(&responder->base.route.addr.src_addr, &id->route.addr.dst_addr,
           sizeof(struct sockaddr_in6));
    memcpy(&responder->base.route.addr.dst_addr, &id->route.addr.src_addr,
           sizeof(struct sockaddr_in6));
    bind_to_device(responder);
    responder->peer = initiator;
    initiator->peer = responder;
    struct event *event = with_parameters(responder, RDMA_CM_EVENT_CONNECT_REQUEST,
                                          parameters->private_data, parameters->private_data_len);
    event->base.listen_id = &listener->base;
    event->base.param.conn.responder_resources = parameters->initiator_depth;
    event->base.param.conn.initiator_depth = parameters->responder_resources;
    event->base.param.conn.qp_num = id->qp->qp_num;
    queue_event(responder, event);
  } else {
    notify(initiator, RDMA_CM_EVENT_REJECTED, 8);
  }
  return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *parameters) {
  struct identifier *responder = (struct identifier *)id, *initiator = responder->peer;
  if (enter(CALL_rdma_accept)) {
    return -1;
  }
  if (too_many_reads(parameters)) {
    errno = EINVAL;
    return -1;
  }
  LOCKED;
  keep_parameters(RESPONDER, responder, parameters);
  responder->asked = 1;
  await_outcome(responder);
  if (initiator && initiator->base.qp) {
    ((struct pair *)id->qp)->peer = (struct pair *)initiator->base.qp;
    ((struct pair *)initiator->base.qp)->peer = (struct pair *)id->qp;
    responder->connected = initiator->connected = 1;
    notify(responder, RDMA_CM_EVENT_ESTABLISHED, 0);
    queue_event(initiator, with_parameters(initiator, RDMA_CM_EVENT_ESTABLISHED,
                                           parameters->private_data, parameters->private_data_len));
  }
  return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length) {
  struct identifier *responder = (struct identifier *)id;
  if (enter(CALL_rdma_reject)) {
    return -1;
  }
  LOCKED;
  if (responder->peer) {
    struct event *event =
        with_parameters(responder->peer, RDMA_CM_EVENT_REJECTED, data, length);
    event->base.status = 28;
    queue_event(responder->peer, event);
    responder->peer->peer = NULL;
    responder->peer = NULL;
  }
  return 0;
}

int rdma_disconnect(struct rdma_cm_id *id) {
  wait_for_outcome((struct identifier *)id);
  if (enter(CALL_rdma_disconnect)) {
    return -1;
  }
  LOCKED;
  end_connection((struct identifier *)id);
  return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t length) {
  struct identifier *of = (struct identifier *)id;
  if (enter(CALL_rdma_set_option)) {
    return -1;
  }
  if (level != RDMA_OPTION_ID || length != 1) {
    errno = EINVAL;
    return -1;
  }
  if (name == RDMA_OPTION_ID_TOS) {
    of->tos = *(uint8_t *)value;
  } else if (name == RDMA_OPTION_ID_ACK_TIMEOUT) {
    of->ack_timeout = *(uint8_t *)value;
  } else {
    errno = ENOSYS;
    return -1;
  }
  return 0;
}

/* libibverbs */

struct ibv_device **ibv_get_device_list(int *count) {
  if (enter(CALL_ibv_get_device_list)) {
    return NULL;
  }
  struct ibv_device **list = create(KIND_context, 3 * sizeof *list);
  *count = limits[LIMIT_second_device] ? 2 : 1;
  list[0] = &device;
  list[1] = limits[LIMIT_second_device] ? &second : NULL;
  return list;
}

/* Only for a moment: all other objects are on the context of librdmacm. */
struct ibv_context *ibv_open_device(struct ibv_device *of) {
  if (fails_to_open(of)) {
    return NULL;
  }
  struct ibv_context *context = create(KIND_context, sizeof *context);
  context->device = of;
  return context;
}

/* Whether a query is refused because it is one of the second device. */
static int is_refused_by_second(const struct ibv_context *of) {
  int refused = of->device == &second && limits[LIMIT_second_device] == SECOND_FAILS_QUERIES;
  if (refused) {
    hit();
  }
  return refused;
}

int ibv_close_device(struct ibv_context *context) {
  destroy(KIND_context, context);
  return 0;
}

void ibv_free_device_list(struct ibv_device **list) { destroy(KIND_context, list); }

int ibv_query_device(struct ibv_context *of, struct ibv_device_attr *attributes) {
  long reads = limited(LIMIT_rd_atom, 16);
  int error = enter(CALL_ibv_query_device);
  error = is_refused_by_second(of) ? EIO : error;
  int no_guid = of->device == &second && limits[LIMIT_second_device] == SECOND_HAS_NO_GUID;
  if (no_guid) {
    hit();
  }
  *attributes = (struct ibv_device_attr){
      .fw_ver = "1.2.3",
      .node_guid = no_guid ? 0 : htobe64(0x0102030405060708),
      .vendor_id = (uint32_t)limited(LIMIT_vendor, 0x2c9),
      .vendor_part_id = 4119,
      .max_mr_size = UINT64_MAX,
      .max_qp = 64,
      .max_qp_wr = RING,
      .max_sge = (int)limited(LIMIT_sge, 4),
      .max_cqe = RING,
      .max_mr = RING,
      .max_qp_rd_atom = reads,
      .max_qp_init_rd_atom = reads,
      .phys_port_cnt = (uint8_t)limited(LIMIT_ports, 1)};
  return error;
}

int ibv_query_port(struct ibv_context *of, uint8_t port, struct _compat_ibv_port_attr *compat) {
  struct ibv_port_attr *attributes = (struct ibv_port_attr *)compat;
  attributes->state =
      port == 1 ? (enum ibv_port_state)limited(LIMIT_port_state, IBV_PORT_ACTIVE) : IBV_PORT_ACTIVE;
  attributes->active_mtu = IBV_MTU_1024;
  attributes->max_msg_sz = 1u << 30;
  attributes->link_layer =
      limits[LIMIT_infiniband] ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  return enter(CALL_ibv_query_port);
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *of) {
  return enter(CALL_ibv_alloc_pd) ? NULL : create(KIND_pd, sizeof(struct ibv_pd));
}

int ibv_dealloc_pd(struct ibv_pd *pd) { return end_object(CALL_ibv_dealloc_pd, KIND_pd, pd); }

// Whether the mapping that has the address can be written.
static int is_writable(uintptr_t address) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  int writable = 0;
  while (maps && fgets(line, sizeof line, maps)) {
    uintptr_t begin, end;
    char permissions[5];
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, permissions) == 3 && begin <= address && address < end) {
      writable = permissions[1] == 'w';
    }
  }
  if (maps) {
    fclose(maps);
  }
  return writable;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access) {
  if (enter(CALL_ibv_reg_mr)) {
    return NULL;
  }
  if (limits[LIMIT_write_pins] && !is_writable((uintptr_t)address)) {
    errno = EFAULT;
    return NULL;
  }
  LOCKED;
  struct ibv_mr *mr = NULL;
  for (unsigned key = 1; key < RING && !mr; key++) {
    if (!regions[key]) {
      if (charge(length)) {
        break;
      }
      mr = create(KIND_mr, sizeof *mr);
      *mr = (struct ibv_mr){.pd = pd, .addr = address, .length = length, .lkey = key, .rkey = key};
      regions[key] = mr;
    }
  }
  return mr;
}

static void free_region(struct ibv_mr *mr) {
  regions[mr->rkey] = NULL;
  charged -= mr->length;
  destroy(KIND_mr, mr);
}

int ibv_dereg_mr(struct ibv_mr *mr) { return end_object(CALL_ibv_dereg_mr, KIND_mr, mr); }

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *of) {
  if (enter(CALL_ibv_create_comp_channel)) {
    return NULL;
  }
  LOCKED;
  struct comp_channel *channel = create(KIND_comp_channel, sizeof *channel);
  channel->base.context = of;
  channel->base.fd = new_eventfd();
  for (int i = 0; i < MAX_CHANNELS; i++) {
    if (!comp_channels[i]) {
      comp_channels[i] = channel;
      break;
    }
  }
  return &channel->base;
}

static void free_channel(struct comp_channel *channel) {
  for (int i = 0; i < MAX_CHANNELS; i++) {
    if (comp_channels[i] == channel) {
      comp_channels[i] = NULL;
    }
  }
  close(channel->base.fd);
  destroy(KIND_comp_channel, channel);
}

/* Closes a descriptor only, so it works without the device; but not while a completion queue refers to it. */
int ibv_destroy_comp_channel(struct ibv_comp_channel *base) {
  struct comp_channel *channel = (struct comp_channel *)base;
  int error = enter_destruction(CALL_ibv_destroy_comp_channel, KIND_comp_channel, channel);
  LOCKED;
  if (!error && channel->queues) {
    keep(KIND_comp_channel, channel);
    error = EBUSY;
  } else if (!error) {
    free_channel(channel);
  }
  return error;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *of, int count, void *owner,
                             struct ibv_comp_channel *channel, int vector) {
  if (enter(CALL_ibv_create_cq)) {
    return NULL;
  }
  if (vector < 0 || vector >= of->num_comp_vectors) {
    errno = EINVAL;
    return NULL;
  }
  last_vector = vector;
  LOCKED;
  struct completions *cq = NULL;
  if (!charge((long)count * WORK_BYTES)) {
    cq = create(KIND_cq, sizeof *cq);
    cq->base.cqe = count;
    cq->to = channel;
    if (channel) {
      ((struct comp_channel *)channel)->queues++;
    }
    last_cq = &cq->base;
  }
  return cq ? &cq->base : NULL;
}

static void free_queue(struct completions *cq) {
  last_cq = last_cq == &cq->base ? NULL : last_cq;
  charged -= (long)cq->base.cqe * WORK_BYTES;
  if (cq->to) {
    ((struct comp_channel *)cq->to)->queues--;
  }
  destroy(KIND_cq, cq);
}

int ibv_destroy_cq(struct ibv_cq *cq) { return end_object(CALL_ibv_destroy_cq, KIND_cq, cq); }

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **owner) {
  struct comp_channel *from = (struct comp_channel *)channel;
  if (enter(CALL_ibv_get_cq_event) || !take_one(channel->fd)) {
    return -1;
  }
  LOCKED;
  *cq = from->ready[from->head++ % RING];
  *owner = NULL;
  return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count) {
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
  if (enter(CALL_ibv_create_qp)) {
    return NULL;
  }
  LOCKED;
  struct ibv_qp *qp = new_pair(pd, attributes);
  return qp;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask,
                 struct ibv_qp_init_attr *initial) {
  if (mask & IBV_QP_STATE) {
    attributes->qp_state = ((struct pair *)qp)->broken ? IBV_QPS_ERR : IBV_QPS_RTS;
  }
  *initial = (struct ibv_qp_init_attr){.qp_type = IBV_QPT_RC};
  if (mask & IBV_QP_ACCESS_FLAGS) {
    struct pair *pair = (struct pair *)qp;
    attributes->qp_access_flags = limited(LIMIT_echoed_access, 0) ? pair->asked_access : pair->access;
  }
  return enter(CALL_ibv_query_qp);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask) {
  int error = enter(CALL_ibv_modify_qp);
  if (error) {
    return error;
  }
  LOCKED;
  if (mask & IBV_QP_ACCESS_FLAGS) {
    struct pair *pair = (struct pair *)qp;
    pair->asked_access = attributes->qp_access_flags;
    pair->access = pair->asked_access | (keeps_access() ? pair->access : 0);
  }
  if (mask & IBV_QP_MIN_RNR_TIMER) {
    last_min_rnr_timer = attributes->min_rnr_timer;
  }
  if (mask & IBV_QP_STATE && attributes->qp_state == IBV_QPS_ERR) {
    break_pair((struct pair *)qp);
  }
  return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp) { return end_object(CALL_ibv_destroy_qp, KIND_qp, qp); }

int ibv_get_async_event(struct ibv_context *of, struct ibv_async_event *event) {
  if (enter(CALL_ibv_get_async_event) || !take_one(of->async_fd)) {
    return -1;
  }
  LOCKED;
  *event = async_events[async_head++ % RING];
  hit();
  return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event) { (void)event; }
