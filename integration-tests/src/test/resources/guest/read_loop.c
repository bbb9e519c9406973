/*
 * The READ loop of org.sparkrdma.guest.reads.JavaReader in C, to measure that against; and the peer of both.
 *
 *   read_loop serve ADDRESS   registers memory for reading, sends clients its address, serves until it is killed
 *   read_loop read ADDRESS    connects, says "ready", then answers each line
 *                             "MODE LENGTH DEPTH BATCH COUNT" of its input with the nanoseconds it took
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <endian.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <string.h>

#include "loop.h"

enum { MEMORY_BYTES = 16 << 20, MAX_DEPTH = 64, SPINS = 100 };

/* The server's answer to a connection request. */
struct region {
  uint64_t address;
  uint32_t key;
} __attribute__((packed));

static struct rdma_cm_id *id;
static struct ibv_cq *cq;
static struct ibv_comp_channel *channel;
static char *memory;
static struct ibv_mr *mr;
static uint64_t remote;
static uint32_t key;

static char byte_at(int i) { return (char)(i * 31 + (i >> 12)); }

static struct rdma_addrinfo *resolve(const char *address, int flags) {
  struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP}, *found;
  check(rdma_getaddrinfo(address, "7471", &hints, &found) == 0, "rdma_getaddrinfo");
  return found;
}

static void create_queue_pair(int depth) {
  struct ibv_qp_init_attr attributes = {
      .send_cq = cq,
      .recv_cq = cq,
      .cap = {.max_send_wr = depth, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
      .qp_type = IBV_QPT_RC};
  check(rdma_create_qp(id, NULL, &attributes) == 0, "rdma_create_qp");
}

static void serve(const char *address) {
  struct rdma_addrinfo *at = resolve(address, RAI_PASSIVE | RAI_NUMERICHOST);
  struct rdma_cm_id *listener;
  check(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
  check(rdma_bind_addr(listener, at->ai_src_addr) == 0, "rdma_bind_addr");
  check(rdma_listen(listener, 8) == 0, "rdma_listen");
  print_line("listening");
  for (;;) {
    check(rdma_get_request(listener, &id) == 0, "rdma_get_request");
    if (!mr) {
      for (int i = 0; i < MEMORY_BYTES; i++) {
        memory[i] = byte_at(i);
      }
      mr = ibv_reg_mr(id->pd, memory, MEMORY_BYTES, IBV_ACCESS_REMOTE_READ);
      check(mr != NULL, "ibv_reg_mr");
    }
    cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
    check(cq != NULL, "ibv_create_cq");
    create_queue_pair(1);
    struct region region = {htobe64((uintptr_t)memory), htobe32(mr->rkey)};
    struct rdma_conn_param parameters = {
        .private_data = &region,
        .private_data_len = sizeof region,
        .responder_resources = id->event->param.conn.initiator_depth,
        .initiator_depth = id->event->param.conn.responder_resources};
    check(rdma_accept(id, &parameters) == 0, "rdma_accept");
  }
}

static void dial(const char *address) {
  struct rdma_addrinfo *to = resolve(address, RAI_NUMERICHOST);
  struct region region;
  struct rdma_conn_param parameters = {
      .responder_resources = 16, .initiator_depth = 16, .retry_count = 6};
  check(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
  check(rdma_resolve_addr(id, NULL, to->ai_dst_addr, 2000) == 0, "rdma_resolve_addr");
  check(rdma_resolve_route(id, 2000) == 0, "rdma_resolve_route");
  channel = ibv_create_comp_channel(id->verbs);
  check(channel != NULL, "ibv_create_comp_channel");
  cq = ibv_create_cq(id->verbs, 2 * MAX_DEPTH, NULL, channel, 0);
  check(cq != NULL, "ibv_create_cq");
  mr = ibv_reg_mr(id->pd, memory, MEMORY_BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  check(mr != NULL, "ibv_reg_mr");
  create_queue_pair(MAX_DEPTH);
  check(rdma_connect(id, &parameters) == 0, "rdma_connect");
  memcpy(&region, id->event->param.conn.private_data, sizeof region);
  remote = be64toh(region.address);
  key = be32toh(region.key);
}

/* Posts so many READs with one call; the last one is signalled. */
static void post(int length, int first, int count, uint64_t number) {
  static struct ibv_send_wr requests[MAX_DEPTH];
  static struct ibv_sge elements[MAX_DEPTH];
  struct ibv_send_wr *bad;
  for (int i = 0; i < count; i++) {
    uint64_t offset = (uint64_t)(first + i) * length;
    elements[i] = (struct ibv_sge){(uintptr_t)memory + offset, length, mr->lkey};
    requests[i] = (struct ibv_send_wr){
        .wr_id = number + i,
        .next = i == count - 1 ? NULL : &requests[i + 1],
        .sg_list = &elements[i],
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_READ,
        .send_flags = i == count - 1 ? IBV_SEND_SIGNALED : 0,
        .wr.rdma = {.remote_addr = remote + offset, .rkey = key}};
  }
  check(ibv_post_send(id->qp, requests, &bad) == 0, "ibv_post_send");
}

static int poll_once(void) {
  struct ibv_wc completions[16];
  int found = ibv_poll_cq(cq, 16, completions);
  check(found >= 0, "ibv_poll_cq");
  for (int i = 0; i < found; i++) {
    check(completions[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(completions[i].status));
  }
  return found;
}

/* Sleeps until there is an event, as one that also waits for other descriptors must. */
static void sleep_until_event(void) {
  struct pollfd set = {channel->fd, POLLIN, 0};
  struct ibv_cq *of;
  void *context;
  check(poll(&set, 1, -1) == 1, "poll");
  check(ibv_get_cq_event(channel, &of, &context) == 0, "ibv_get_cq_event");
  ibv_ack_cq_events(of, 1);
}

/* Completions, of which there is at least one: spins briefly, then sleeps. */
static int wait_spinning(void) {
  for (;;) {
    for (int spin = 0; spin < SPINS; spin++) {
      int found = poll_once();
      if (found > 0) {
        return found;
      }
    }
    check(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
    int found = poll_once();
    if (found > 0) {
      return found;
    }
    sleep_until_event();
  }
}

/* Nanoseconds for so many READs, in batches. */
static int64_t stream(int length, int depth, int batch, int count) {
  int64_t started = now();
  int posted = 0, done = 0;
  while (done < count) {
    while (posted < count && posted - done + batch <= depth) {
      post(length, posted % depth, batch, posted);
      posted += batch;
    }
    done += batch * wait_spinning();
  }
  return now() - started;
}

static int by_size(const void *a, const void *b) {
  int64_t difference = *(const int64_t *)a - *(const int64_t *)b;
  return (difference > 0) - (difference < 0);
}

/* Median nanoseconds of one READ, by polling or by events. */
static int64_t single(int length, int count, int events) {
  int64_t *took = calloc(count, sizeof *took);
  check(took != NULL, "calloc");
  for (int i = 0; i < count; i++) {
    int64_t started = now();
    if (events) {
      check(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
    }
    post(length, 0, 1, i);
    if (events) {
      sleep_until_event();
    }
    while (poll_once() == 0) {
    }
    took[i] = now() - started;
  }
  qsort(took, count, sizeof *took, by_size);
  int64_t median = took[count / 2];
  free(took);
  return median;
}

static void answer(const char *mode, int length, int depth, int batch, int count) {
  memset(memory, 0, (size_t)length * depth);
  int64_t took = strcmp(mode, "STREAM") == 0 ? stream(length, depth, batch, count)
                                             : single(length, count, strcmp(mode, "EVENTS") == 0);
  for (int i = 0; i < length * depth; i++) {
    if (memory[i] != byte_at(i)) {
      fprintf(stderr, "wrong byte: mode=%s length=%d offset=%d\n", mode, length, i);
      exit(1);
    }
  }
  print_nanoseconds(took);
}

int main(int count, char **words) {
  check(count == 3, "arguments");
  check(posix_memalign((void **)&memory, 4096, MEMORY_BYTES) == 0, "posix_memalign");
  if (strcmp(words[1], "serve") == 0) {
    serve(words[2]);
  }
  dial(words[2]);
  print_line("ready");
  char mode[16];
  int length, depth, batch, reads;
  while (scanf("%15s %d %d %d %d", mode, &length, &depth, &batch, &reads) == 5) {
    answer(mode, length, depth, batch, reads);
  }
  return 0;
}
