// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.device.TransportType;

/** The kernel's access flags, as in ibv_reg_mr(3). */
public final class RegionAccess {
  /** An optional flag: devices that do not support it ignore it. */
  public static final int RELAXED_ORDERING = 1 << 20;

  public static final int LOCAL_WRITE = 1;
  public static final int REMOTE_WRITE = 2;
  public static final int REMOTE_READ = 4;
  private static final int ON_DEMAND = 64;

  private RegionAccess() {}

  /** The bits of remote access, without those that the flags grant. */
  public static int remoteBitsWithout(Set<AccessFlag> access) {
    return (REMOTE_READ | REMOTE_WRITE) & ~bits(access);
  }

  /** The flags as bits. */
  public static int bits(Set<AccessFlag> access) {
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

  /**
   * The flags that a device requires for a region with this access. On iWARP the answer to a READ
   * is a tagged write into the reader's memory, so a local sink needs remote write access. The peer
   * receives its key with the request and cannot use it after the connection.
   */
  public static int bits(TransportType transport, Set<AccessFlag> access) {
    int bits = bits(access);
    boolean sink = (bits & ~RELAXED_ORDERING) == LOCAL_WRITE;
    return transport == TransportType.IWARP && sink ? bits | REMOTE_WRITE : bits;
  }
}
