/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and offsets of the structs that the ibverbs engine uses. As a program it prints them, each as
 * STRUCT.FIELD VALUE. With EXPECTED, the name of a header that defines STRUCT_FIELD for each, the
 * compiler compares them: so a cross compiler needs no processor of its kind.
 */
#define _GNU_SOURCE
#include <infiniband/ib.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdio.h>

#ifdef EXPECTED
#include EXPECTED
#define VALUE(name, field, value) _Static_assert(name##_##field == (value), #name "." #field)
#else
#define VALUE(name, field, value) printf("%s.%s %zu\n", #name, #field, (size_t)(value))
#endif
/* One more level, so that the macro N is replaced by its value. */
#define NAMED_VALUE(name, field, value) VALUE(name, field, value)
#define SIZE(type, name) NAMED_VALUE(name, SIZE, sizeof(type))
#define FIELD(type, name, member, field) NAMED_VALUE(name, field, offsetof(type, member))

int main(void) {
#define T struct ibv_device
#define N IbvDevice
  FIELD(T, N, transport_type, TRANSPORT_TYPE);
  FIELD(T, N, name, NAME);
#undef T
#undef N
#define T struct ibv_context
#define N IbvContext
  FIELD(T, N, device, DEVICE);
  FIELD(T, N, ops.poll_cq, OPS_POLL_CQ);
  FIELD(T, N, ops.req_notify_cq, OPS_REQ_NOTIFY_CQ);
  FIELD(T, N, ops.post_send, OPS_POST_SEND);
  FIELD(T, N, ops.post_recv, OPS_POST_RECV);
  FIELD(T, N, async_fd, ASYNC_FD);
  FIELD(T, N, num_comp_vectors, NUM_COMP_VECTORS);
  FIELD(T, N, abi_compat, ABI_COMPAT);
#undef T
#undef N
#define T struct verbs_context
#define N VerbsContext
  NAMED_VALUE(N, QUERY_DEVICE_EX_TO_CONTEXT, offsetof(T, context) - offsetof(T, query_device_ex));
  NAMED_VALUE(N, QUERY_DEVICE_EX_TO_END, sizeof(T) - offsetof(T, query_device_ex));
  NAMED_VALUE(N, SZ_TO_CONTEXT, offsetof(T, context) - offsetof(T, sz));
#undef T
#undef N
#define T struct ibv_device_attr_ex
#define N IbvDeviceAttrEx
  SIZE(T, N);
  FIELD(T, N, odp_caps.general_caps, ODP_CAPS_GENERAL);
  FIELD(T, N, odp_caps.per_transport_caps.rc_odp_caps, ODP_CAPS_RC);
#undef T
#undef N
#define T struct ibv_device_attr
#define N IbvDeviceAttr
  SIZE(T, N);
  FIELD(T, N, node_guid, NODE_GUID);
  FIELD(T, N, max_mr_size, MAX_MR_SIZE);
  FIELD(T, N, vendor_id, VENDOR_ID);
  FIELD(T, N, vendor_part_id, VENDOR_PART_ID);
  FIELD(T, N, max_qp, MAX_QP);
  FIELD(T, N, max_qp_wr, MAX_QP_WR);
  FIELD(T, N, max_sge, MAX_SGE);
  FIELD(T, N, max_sge_rd, MAX_SGE_RD);
  FIELD(T, N, max_cqe, MAX_CQE);
  FIELD(T, N, max_mr, MAX_MR);
  FIELD(T, N, max_qp_rd_atom, MAX_QP_RD_ATOM);
  FIELD(T, N, max_qp_init_rd_atom, MAX_QP_INIT_RD_ATOM);
  FIELD(T, N, phys_port_cnt, PHYS_PORT_CNT);
#undef T
#undef N
#define T struct ibv_port_attr
#define N IbvPortAttr
  FIELD(T, N, state, STATE);
  FIELD(T, N, active_mtu, ACTIVE_MTU);
  FIELD(T, N, max_msg_sz, MAX_MSG_SZ);
  FIELD(T, N, link_layer, LINK_LAYER);
#undef T
#undef N
  FIELD(struct ibv_mr, IbvMr, lkey, LKEY);
  FIELD(struct ibv_mr, IbvMr, rkey, RKEY);
  FIELD(struct ibv_comp_channel, IbvCompChannel, fd, FD);
  FIELD(struct ibv_cq, IbvCq, cqe, CQE);
  FIELD(struct ibv_qp, IbvQp, qp_num, QP_NUM);
#define T struct ibv_qp_init_attr
#define N IbvQpInitAttr
  SIZE(T, N);
  FIELD(T, N, send_cq, SEND_CQ);
  FIELD(T, N, recv_cq, RECV_CQ);
  FIELD(T, N, cap.max_send_wr, CAP_MAX_SEND_WR);
  FIELD(T, N, cap.max_recv_wr, CAP_MAX_RECV_WR);
  FIELD(T, N, cap.max_send_sge, CAP_MAX_SEND_SGE);
  FIELD(T, N, cap.max_recv_sge, CAP_MAX_RECV_SGE);
  FIELD(T, N, qp_type, QP_TYPE);
#undef T
#undef N
#define T struct ibv_qp_attr
#define N IbvQpAttr
  SIZE(T, N);
  FIELD(T, N, qp_state, QP_STATE);
  FIELD(T, N, qp_access_flags, QP_ACCESS_FLAGS);
  FIELD(T, N, min_rnr_timer, MIN_RNR_TIMER);
#undef T
#undef N
#define T struct ibv_sge
#define N IbvSge
  SIZE(T, N);
  FIELD(T, N, addr, ADDR);
  FIELD(T, N, length, LENGTH);
  FIELD(T, N, lkey, LKEY);
#undef T
#undef N
#define T struct ibv_send_wr
#define N IbvSendWr
  SIZE(T, N);
  FIELD(T, N, wr_id, WR_ID);
  FIELD(T, N, next, NEXT);
  FIELD(T, N, sg_list, SG_LIST);
  FIELD(T, N, num_sge, NUM_SGE);
  FIELD(T, N, opcode, OPCODE);
  FIELD(T, N, send_flags, SEND_FLAGS);
  FIELD(T, N, imm_data, IMM_DATA);
  FIELD(T, N, wr.rdma.remote_addr, WR_RDMA_REMOTE_ADDR);
  FIELD(T, N, wr.rdma.rkey, WR_RDMA_RKEY);
#undef T
#undef N
#define T struct ibv_recv_wr
#define N IbvRecvWr
  SIZE(T, N);
  FIELD(T, N, wr_id, WR_ID);
  FIELD(T, N, next, NEXT);
  FIELD(T, N, sg_list, SG_LIST);
  FIELD(T, N, num_sge, NUM_SGE);
#undef T
#undef N
#define T struct ibv_wc
#define N IbvWc
  SIZE(T, N);
  FIELD(T, N, wr_id, WR_ID);
  FIELD(T, N, status, STATUS);
  FIELD(T, N, opcode, OPCODE);
  FIELD(T, N, vendor_err, VENDOR_ERR);
  FIELD(T, N, byte_len, BYTE_LEN);
  FIELD(T, N, imm_data, IMM_DATA);
  FIELD(T, N, wc_flags, WC_FLAGS);
#undef T
#undef N
#define T struct ibv_async_event
#define N IbvAsyncEvent
  SIZE(T, N);
  FIELD(T, N, element, ELEMENT);
  FIELD(T, N, event_type, EVENT_TYPE);
#undef T
#undef N
  FIELD(struct rdma_event_channel, RdmaEventChannel, fd, FD);
#define T struct rdma_cm_id
#define N RdmaCmId
  FIELD(T, N, verbs, VERBS);
  FIELD(T, N, qp, QP);
  FIELD(T, N, route.addr.src_addr, ROUTE_ADDR_SRC_ADDR);
  FIELD(T, N, route.addr.dst_addr, ROUTE_ADDR_DST_ADDR);
  FIELD(T, N, port_num, PORT_NUM);
#undef T
#undef N
#define T struct rdma_cm_event
#define N RdmaCmEvent
  FIELD(T, N, id, ID);
  FIELD(T, N, listen_id, LISTEN_ID);
  FIELD(T, N, event, EVENT);
  FIELD(T, N, status, STATUS);
  FIELD(T, N, param.conn.private_data, PARAM_CONN_PRIVATE_DATA);
  FIELD(T, N, param.conn.private_data_len, PARAM_CONN_PRIVATE_DATA_LEN);
  FIELD(T, N, param.conn.responder_resources, PARAM_CONN_RESPONDER_RESOURCES);
  FIELD(T, N, param.conn.initiator_depth, PARAM_CONN_INITIATOR_DEPTH);
  FIELD(T, N, param.conn.qp_num, PARAM_CONN_QP_NUM);
#undef T
#undef N
#define T struct rdma_conn_param
#define N RdmaConnParam
  SIZE(T, N);
  FIELD(T, N, private_data, PRIVATE_DATA);
  FIELD(T, N, private_data_len, PRIVATE_DATA_LEN);
  FIELD(T, N, responder_resources, RESPONDER_RESOURCES);
  FIELD(T, N, initiator_depth, INITIATOR_DEPTH);
  FIELD(T, N, flow_control, FLOW_CONTROL);
  FIELD(T, N, retry_count, RETRY_COUNT);
  FIELD(T, N, rnr_retry_count, RNR_RETRY_COUNT);
#undef T
#undef N
  SIZE(struct pollfd, Pollfd);
  FIELD(struct pollfd, Pollfd, fd, FD);
  FIELD(struct pollfd, Pollfd, events, EVENTS);
  FIELD(struct pollfd, Pollfd, revents, REVENTS);
  FIELD(struct sockaddr_in, SockaddrIn, sin_family, SIN_FAMILY);
  FIELD(struct sockaddr_in, SockaddrIn, sin_port, SIN_PORT);
  FIELD(struct sockaddr_in, SockaddrIn, sin_addr, SIN_ADDR);
  SIZE(struct sockaddr_in6, SockaddrIn6);
  FIELD(struct sockaddr_in6, SockaddrIn6, sin6_addr, SIN6_ADDR);
  FIELD(struct sockaddr_in6, SockaddrIn6, sin6_scope_id, SIN6_SCOPE_ID);
  return 0;
}
