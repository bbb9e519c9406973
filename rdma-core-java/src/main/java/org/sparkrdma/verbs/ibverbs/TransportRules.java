// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.EnumSet;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.Transport;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** Differences between InfiniBand (with RoCE) and iWARP. */
enum TransportRules {
  INFINIBAND(Transport.INFINIBAND),
  IWARP(Transport.IWARP);

  private static final int LOCAL_WRITE = 1;
  private static final int REMOTE_WRITE = 2;
  private static final int REMOTE_READ = 4;
  private static final int ON_DEMAND = 64;

  /** An optional access flag: devices that do not support it ignore it. */
  static final int RELAXED_ORDERING = 1 << 20;

  /** Reasons in a REJ message, see the InfiniBand specification, 12.6.7.2. */
  private static final int IB_NO_LISTENER = 8;

  private static final int IB_REFUSED_BY_CONSUMER = 28;

  private final Transport transport;

  TransportRules(Transport transport) {
    this.transport = transport;
  }

  static boolean isKnown(int transportType) {
    return transportType == VerbsLibrary.TRANSPORT_IB
        || transportType == VerbsLibrary.TRANSPORT_IWARP;
  }

  static TransportRules of(int transportType) {
    return transportType == VerbsLibrary.TRANSPORT_IWARP ? IWARP : INFINIBAND;
  }

  Transport transport() {
    return transport;
  }

  /** Capabilities of a device with this transport, except inline; a driver may lack some. */
  Set<Capability> capabilities() {
    var all =
        EnumSet.of(
            Capability.REJECT,
            Capability.ACCEPT_PRIVATE_DATA,
            Capability.READ_DEPTH,
            Capability.IPV6,
            Capability.FILE_REGIONS,
            Capability.TRAFFIC_CLASS);
    if (hasQueuePairAccess()) {
      all.add(Capability.QUEUE_PAIR_ACCESS);
    }
    if (this == INFINIBAND) {
      all.add(Capability.REQUEST_HAS_QUEUE_PAIR);
    }
    if (hasImmediateData()) {
      all.add(Capability.SEND_WITH_IMMEDIATE);
      all.add(Capability.WRITE_WITH_IMMEDIATE);
    }
    if (hasAckTimeout()) {
      all.add(Capability.ACK_TIMEOUT);
    }
    return all;
  }

  /**
   * Whether access can be changed on a connected queue pair: Chelsio's iWARP driver refuses with
   * EIO (cxgb4's c4iw_modify_qp takes attributes in state IDLE only), and siw ignores it.
   */
  private boolean hasQueuePairAccess() {
    return this == INFINIBAND;
  }

  boolean hasImmediateData() {
    return this == INFINIBAND;
  }

  boolean hasAckTimeout() {
    return this == INFINIBAND;
  }

  /**
   * Access flags that the device requires for a region. On iWARP the answer to a READ is a tagged
   * write into the reader's memory, so a local sink needs remote write access. The peer receives
   * its key with the request and cannot use it after the connection.
   */
  int regionAccess(Set<AccessFlag> access) {
    int bits = bits(access);
    boolean isSink = (bits & ~RELAXED_ORDERING) == LOCAL_WRITE;
    return this == IWARP && isSink ? bits | REMOTE_WRITE : bits;
  }

  static int bits(Set<AccessFlag> access) {
    int bits = 0;
    for (AccessFlag flag : access) {
      bits |=
          switch (flag) {
            case LOCAL_WRITE -> LOCAL_WRITE;
            case REMOTE_WRITE -> REMOTE_WRITE;
            case REMOTE_READ -> REMOTE_READ;
            case ON_DEMAND -> ON_DEMAND;
            case RELAXED_ORDERING -> RELAXED_ORDERING;
          };
    }
    return bits;
  }

  /** The type of a GID, from the kernel's name for it and the port's link layer. */
  GidType gidType(int kernelType, boolean ethernet) {
    if (this == IWARP) {
      return GidType.IWARP;
    }
    if (!ethernet) {
      return GidType.INFINIBAND;
    }
    return kernelType == 2 ? GidType.ROCE_V2 : GidType.ROCE_V1;
  }

  /** Whether GIDs are IP addresses: only those of RoCE are. */
  boolean hasAddressesAsGids(boolean ethernet) {
    return this == INFINIBAND && ethernet;
  }

  /** The reason for a rejection, from the event's status. */
  String rejection(int status) {
    if (status < 0) {
      return "refused: " + Libc.strerror(-status);
    }
    return switch (status) {
      case IB_NO_LISTENER -> "refused: no listener on this port";
      case IB_REFUSED_BY_CONSUMER -> "refused by the peer";
      default -> "refused: reason=" + status;
    };
  }

  /** The longest message; iWARP's drivers give no limit. */
  long maxMessageBytes(int ofPort) {
    return Math.min(Integer.toUnsignedLong(ofPort), Integer.MAX_VALUE);
  }

  /** READ may have fewer elements than other work; 0 means unknown. */
  static int maxReadSge(int maxSge, int maxSgeRead) {
    return maxSgeRead > 0 ? Math.min(maxSge, maxSgeRead) : maxSge;
  }
}
