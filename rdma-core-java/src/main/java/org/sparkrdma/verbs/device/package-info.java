// SPDX-License-Identifier: Apache-2.0
/**
 * The facts of an RDMA device: transport, limits, ports, addresses and capabilities, from
 * ibv_query_device(3), ibv_query_port(3) and sysfs-class-infiniband in the kernel's ABI.
 *
 * <p>Immutable values without native resources; entry class {@link
 * org.sparkrdma.verbs.device.DeviceInfo}.
 *
 * <p>No parameter is null, and no result, unless it says so.
 */
package org.sparkrdma.verbs.device;
