// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

/** Transport of a device, as the device reports it. */
public enum TransportType {
  /** InfiniBand, and RoCE when the port's link layer is Ethernet. */
  INFINIBAND,
  /** iWARP: RDMA over TCP, RFC 5040 and RFC 5044. */
  IWARP,
  /** The loopback engine: memory of processes on one host. */
  LOOPBACK
}
