// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

/** The kind of an entry in a port's GID table, see sysfs-class-infiniband in the kernel's ABI. */
public enum GidType {
  /** A GID of an InfiniBand port. */
  INFINIBAND,
  /** RoCE version 1: frames of Ethernet, not routed. */
  ROCE_V1,
  /** RoCE version 2: UDP over IPv4 or IPv6. */
  ROCE_V2,
  /** iWARP: made from the MAC address. */
  IWARP,
  /** An address of the loopback engine. */
  LOOPBACK
}
