// SPDX-License-Identifier: Apache-2.0
/**
 * The facts of an RDMA device: transport, limits, ports, addresses and capabilities, from
 * ibv_query_device(3), ibv_query_port(3) and ibv_query_gid_table(3).
 *
 * <p>Immutable values without native resources; entry class {@link
 * org.sparkrdma.verbs.device.DeviceInfo}.
 */
package org.sparkrdma.verbs.device;
