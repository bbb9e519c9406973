// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.util.Objects;
import java.util.Set;

/**
 * Parameters of a new queue pair, see ibv_create_qp(3).
 *
 * @param sendQueue completion queue of its sends, reads and writes
 * @param receiveQueue completion queue of its receives; may be the same
 * @param sendDepth maximum number of outstanding sends, reads and writes, at least 1
 * @param receiveDepth maximum number of outstanding receives, at least 1
 * @param maxSge maximum number of scatter/gather elements of a work request, at least 1
 * @param remoteAccess access of peers through it: {@link AccessFlag#REMOTE_READ}, {@link
 *     AccessFlag#REMOTE_WRITE}; without effect unless the device has {@link
 *     org.sparkrdma.verbs.device.Capability#QUEUE_PAIR_ACCESS}
 */
public record QueuePairSettings(
    CompletionQueue sendQueue,
    CompletionQueue receiveQueue,
    int sendDepth,
    int receiveDepth,
    int maxSge,
    Set<AccessFlag> remoteAccess) {
  /**
   * Checks the ranges.
   *
   * @param sendQueue see {@link #sendQueue()}
   * @param receiveQueue see {@link #receiveQueue()}
   * @param sendDepth see {@link #sendDepth()}
   * @param receiveDepth see {@link #receiveDepth()}
   * @param maxSge see {@link #maxSge()}
   * @param remoteAccess see {@link #remoteAccess()}
   */
  public QueuePairSettings {
    Objects.requireNonNull(sendQueue, "sendQueue");
    Objects.requireNonNull(receiveQueue, "receiveQueue");
    remoteAccess = Set.copyOf(remoteAccess);
    if (sendDepth < 1 || receiveDepth < 1 || maxSge < 1) {
      throw new IllegalArgumentException(
          "bad queue pair settings: sendDepth="
              + sendDepth
              + " receiveDepth="
              + receiveDepth
              + " maxSge="
              + maxSge);
    }
    checkRemoteAccess(remoteAccess);
  }

  /** The sizes, for messages. */
  @Override
  public String toString() {
    return "sendDepth=" + sendDepth + (" receiveDepth=" + receiveDepth) + (" maxSge=" + maxSge);
  }

  /**
   * Checks that a queue pair can give an access to peers.
   *
   * @param access to check; not null
   * @throws IllegalArgumentException when a queue pair cannot give that access to peers
   */
  public static void checkRemoteAccess(Set<AccessFlag> access) {
    for (AccessFlag flag : access) {
      if (flag != AccessFlag.REMOTE_READ && flag != AccessFlag.REMOTE_WRITE) {
        throw new IllegalArgumentException("not an access of peers: remoteAccess=" + flag);
      }
    }
  }
}
