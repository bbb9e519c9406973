/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and offsets of the structs that the ibverbs engine uses. EXPECTED is the name of a header that
 * defines STRUCT_FIELD for each. The compiler compares them: so a cross compiler needs no processor of its
 * kind.
 */
#define _GNU_SOURCE
#include <infiniband/ib.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>

#include EXPECTED
#define VALUE(name, field, value) _Static_assert(name##_##field == (value), #name "." #field)
#define SIZE(type, name) VALUE(name, SIZE, sizeof(type))
#define FIELD(type, name, member, field) VALUE(name, field, offsetof(type, member))

int main(void) {
  FIELD(struct ibv_device, IbvDevice, transport_type, TRANSPORT_TYPE);
  FIELD(struct ibv_device, IbvDevice, name, NAME);
  FIELD(struct ibv_context, IbvContext, device, DEVICE);
  FIELD(struct ibv_context, IbvContext, ops.poll_cq, OPS_POLL_CQ);
  FIELD(struct ibv_context, IbvContext, ops.req_notify_cq, OPS_REQ_NOTIFY_CQ);
  FIELD(struct ibv_context, IbvContext, ops.post_send, OPS_POST_SEND);
  FIELD(struct ibv_context, IbvContext, ops.post_recv, OPS_POST_RECV);
  FIELD(struct ibv_context, IbvContext, async_fd, ASYNC_FD);
  FIELD(struct ibv_context, IbvContext, num_comp_vectors, NUM_COMP_VECTORS);
  FIELD(struct ibv_context, IbvContext, abi_compat, ABI_COMPAT);
  VALUE(VerbsContext, QUERY_DEVICE_EX_TO_CONTEXT,
        offsetof(struct verbs_context, context) - offsetof(struct verbs_context, query_device_ex));
  VALUE(VerbsContext, QUERY_DEVICE_EX_TO_END,
        sizeof(struct verbs_context) - offsetof(struct verbs_context, query_device_ex));
  VALUE(VerbsContext, SZ_TO_CONTEXT,
        offsetof(struct verbs_context, context) - offsetof(struct verbs_context, sz));
  SIZE(struct ibv_device_attr_ex, IbvDeviceAttrEx);
  FIELD(struct ibv_device_attr_ex, IbvDeviceAttrEx, odp_caps.general_caps, ODP_CAPS_GENERAL);
  FIELD(struct ibv_device_attr_ex, IbvDeviceAttrEx, odp_caps.per_transport_caps.rc_odp_caps, ODP_CAPS_RC);
  SIZE(struct ibv_device_attr, IbvDeviceAttr);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, node_guid, NODE_GUID);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, max_mr_size, MAX_MR_SIZE);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, vendor_id, VENDOR_ID);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, vendor_part_id, VENDOR_PART_ID);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, max_qp, MAX_QP);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, max_qp_wr, MAX_QP_WR);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, max_sge, MAX_SGE);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, max_sge_rd, MAX_SGE_RD);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, max_cqe, MAX_CQE);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, max_mr, MAX_MR);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, max_qp_rd_atom, MAX_QP_RD_ATOM);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, max_qp_init_rd_atom, MAX_QP_INIT_RD_ATOM);
  FIELD(struct ibv_device_attr, IbvDeviceAttr, phys_port_cnt, PHYS_PORT_CNT);
  FIELD(struct ibv_port_attr, IbvPortAttr, state, STATE);
  FIELD(struct ibv_port_attr, IbvPortAttr, active_mtu, ACTIVE_MTU);
  FIELD(struct ibv_port_attr, IbvPortAttr, max_msg_sz, MAX_MSG_SZ);
  FIELD(struct ibv_port_attr, IbvPortAttr, link_layer, LINK_LAYER);
  FIELD(struct ibv_mr, IbvMr, lkey, LKEY);
  FIELD(struct ibv_mr, IbvMr, rkey, RKEY);
  FIELD(struct ibv_comp_channel, IbvCompChannel, fd, FD);
  FIELD(struct ibv_cq, IbvCq, cqe, CQE);
  FIELD(struct ibv_qp, IbvQp, qp_num, QP_NUM);
  SIZE(struct ibv_qp_init_attr, IbvQpInitAttr);
  FIELD(struct ibv_qp_init_attr, IbvQpInitAttr, send_cq, SEND_CQ);
  FIELD(struct ibv_qp_init_attr, IbvQpInitAttr, recv_cq, RECV_CQ);
  FIELD(struct ibv_qp_init_attr, IbvQpInitAttr, cap.max_send_wr, CAP_MAX_SEND_WR);
  FIELD(struct ibv_qp_init_attr, IbvQpInitAttr, cap.max_recv_wr, CAP_MAX_RECV_WR);
  FIELD(struct ibv_qp_init_attr, IbvQpInitAttr, cap.max_send_sge, CAP_MAX_SEND_SGE);
  FIELD(struct ibv_qp_init_attr, IbvQpInitAttr, cap.max_recv_sge, CAP_MAX_RECV_SGE);
  FIELD(struct ibv_qp_init_attr, IbvQpInitAttr, qp_type, QP_TYPE);
  SIZE(struct ibv_qp_attr, IbvQpAttr);
  FIELD(struct ibv_qp_attr, IbvQpAttr, qp_state, QP_STATE);
  FIELD(struct ibv_qp_attr, IbvQpAttr, qp_access_flags, QP_ACCESS_FLAGS);
  FIELD(struct ibv_qp_attr, IbvQpAttr, min_rnr_timer, MIN_RNR_TIMER);
  SIZE(struct ibv_sge, IbvSge);
  FIELD(struct ibv_sge, IbvSge, addr, ADDR);
  FIELD(struct ibv_sge, IbvSge, length, LENGTH);
  FIELD(struct ibv_sge, IbvSge, lkey, LKEY);
  SIZE(struct ibv_send_wr, IbvSendWr);
  FIELD(struct ibv_send_wr, IbvSendWr, wr_id, WR_ID);
  FIELD(struct ibv_send_wr, IbvSendWr, next, NEXT);
  FIELD(struct ibv_send_wr, IbvSendWr, sg_list, SG_LIST);
  FIELD(struct ibv_send_wr, IbvSendWr, num_sge, NUM_SGE);
  FIELD(struct ibv_send_wr, IbvSendWr, opcode, OPCODE);
  FIELD(struct ibv_send_wr, IbvSendWr, send_flags, SEND_FLAGS);
  FIELD(struct ibv_send_wr, IbvSendWr, imm_data, IMM_DATA);
  FIELD(struct ibv_send_wr, IbvSendWr, wr.rdma.remote_addr, WR_RDMA_REMOTE_ADDR);
  FIELD(struct ibv_send_wr, IbvSendWr, wr.rdma.rkey, WR_RDMA_RKEY);
  SIZE(struct ibv_recv_wr, IbvRecvWr);
  FIELD(struct ibv_recv_wr, IbvRecvWr, wr_id, WR_ID);
  FIELD(struct ibv_recv_wr, IbvRecvWr, next, NEXT);
  FIELD(struct ibv_recv_wr, IbvRecvWr, sg_list, SG_LIST);
  FIELD(struct ibv_recv_wr, IbvRecvWr, num_sge, NUM_SGE);
  SIZE(struct ibv_wc, IbvWc);
  FIELD(struct ibv_wc, IbvWc, wr_id, WR_ID);
  FIELD(struct ibv_wc, IbvWc, status, STATUS);
  FIELD(struct ibv_wc, IbvWc, opcode, OPCODE);
  FIELD(struct ibv_wc, IbvWc, vendor_err, VENDOR_ERR);
  FIELD(struct ibv_wc, IbvWc, byte_len, BYTE_LEN);
  FIELD(struct ibv_wc, IbvWc, imm_data, IMM_DATA);
  FIELD(struct ibv_wc, IbvWc, wc_flags, WC_FLAGS);
  SIZE(struct ibv_async_event, IbvAsyncEvent);
  FIELD(struct ibv_async_event, IbvAsyncEvent, element, ELEMENT);
  FIELD(struct ibv_async_event, IbvAsyncEvent, event_type, EVENT_TYPE);
  FIELD(struct rdma_event_channel, RdmaEventChannel, fd, FD);
  FIELD(struct rdma_cm_id, RdmaCmId, verbs, VERBS);
  FIELD(struct rdma_cm_id, RdmaCmId, qp, QP);
  FIELD(struct rdma_cm_id, RdmaCmId, route.addr.src_addr, ROUTE_ADDR_SRC_ADDR);
  FIELD(struct rdma_cm_id, RdmaCmId, route.addr.dst_addr, ROUTE_ADDR_DST_ADDR);
  FIELD(struct rdma_cm_id, RdmaCmId, port_num, PORT_NUM);
  FIELD(struct rdma_cm_event, RdmaCmEvent, id, ID);
  FIELD(struct rdma_cm_event, RdmaCmEvent, listen_id, LISTEN_ID);
  FIELD(struct rdma_cm_event, RdmaCmEvent, event, EVENT);
  FIELD(struct rdma_cm_event, RdmaCmEvent, status, STATUS);
  FIELD(struct rdma_cm_event, RdmaCmEvent, param.conn.private_data, PARAM_CONN_PRIVATE_DATA);
  FIELD(struct rdma_cm_event, RdmaCmEvent, param.conn.private_data_len, PARAM_CONN_PRIVATE_DATA_LEN);
  FIELD(struct rdma_cm_event, RdmaCmEvent, param.conn.responder_resources, PARAM_CONN_RESPONDER_RESOURCES);
  FIELD(struct rdma_cm_event, RdmaCmEvent, param.conn.initiator_depth, PARAM_CONN_INITIATOR_DEPTH);
  FIELD(struct rdma_cm_event, RdmaCmEvent, param.conn.qp_num, PARAM_CONN_QP_NUM);
  SIZE(struct rdma_conn_param, RdmaConnParam);
  FIELD(struct rdma_conn_param, RdmaConnParam, private_data, PRIVATE_DATA);
  FIELD(struct rdma_conn_param, RdmaConnParam, private_data_len, PRIVATE_DATA_LEN);
  FIELD(struct rdma_conn_param, RdmaConnParam, responder_resources, RESPONDER_RESOURCES);
  FIELD(struct rdma_conn_param, RdmaConnParam, initiator_depth, INITIATOR_DEPTH);
  FIELD(struct rdma_conn_param, RdmaConnParam, flow_control, FLOW_CONTROL);
  FIELD(struct rdma_conn_param, RdmaConnParam, retry_count, RETRY_COUNT);
  FIELD(struct rdma_conn_param, RdmaConnParam, rnr_retry_count, RNR_RETRY_COUNT);
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
