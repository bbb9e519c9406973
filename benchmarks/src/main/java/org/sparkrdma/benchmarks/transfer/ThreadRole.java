// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

/** Role of a thread of an executor, by its name. */
enum ThreadRole {
  /** The plug-in's agent. */
  AGENT("rdma-agent"),
  /** The loopback engine's thread, in the place of a device: not part of the plug-in's cost. */
  DEVICE("soft-rdma-"),
  /** Answers LOCATEs. */
  BLOCK_SERVER("rdma-block-server"),
  /** Reads indexes and registers windows. */
  DISK("rdma-disk-"),
  /** Hands over blocks. */
  DELIVERY("rdma-delivery"),
  /** Other threads of the plug-in. */
  PLUGIN("rdma-"),
  /** Spark's task, which requests and releases blocks. */
  TASK("Executor task launch worker"),
  /** Any other Java thread. */
  OTHER("");

  private final String prefix;

  ThreadRole(String prefix) {
    this.prefix = prefix;
  }

  /**
   * Whether threads of this role work for the plug-in alone and are not in the place of a device.
   */
  boolean isOfPlugin() {
    return prefix.startsWith(PLUGIN.prefix);
  }

  static ThreadRole of(String threadName) {
    for (ThreadRole role : values()) {
      if (threadName.startsWith(role.prefix)) {
        return role;
      }
    }
    throw new IllegalStateException("no role has the empty prefix: " + threadName);
  }
}
