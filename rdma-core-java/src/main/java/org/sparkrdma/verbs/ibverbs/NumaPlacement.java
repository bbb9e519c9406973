// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.MemoryPolicy;

/**
 * Makes the kernel prefer the device's NUMA node for memory of the device. Where the system refuses
 * that, memory is used as the kernel places it. Safe for any thread.
 */
final class NumaPlacement implements Libc.Placement {
  private static final Logger LOG = LoggerFactory.getLogger(NumaPlacement.class);

  private static final int EPERM = 1;

  private final String device;
  private final int node;
  private final Policy policy;
  private final Consumer<String> log;
  private final AtomicBoolean isRefused = new AtomicBoolean();

  /** Same as {@link MemoryPolicy#prefer}. */
  interface Policy {
    int prefer(int node, long address, long lengthBytes);
  }

  /**
   * @param node or {@link NumaNode#NONE}
   */
  NumaPlacement(String device, int node) {
    this(device, node, MemoryPolicy::prefer, LOG::info);
  }

  NumaPlacement(String device, int node, Policy policy, Consumer<String> log) {
    this.device = device;
    this.node = node;
    this.policy = policy;
    this.log = log;
  }

  @Override
  public boolean isWanted() {
    return node != NumaNode.NONE;
  }

  @Override
  public void place(long address, long lengthBytes) {
    if (!isWanted() || isRefused.get()) {
      return;
    }
    int errno = policy.prefer(node, address, lengthBytes);
    if (errno != 0 && isRefused.compareAndSet(false, true)) {
      log.accept(
          ("Memory of RDMA device %s is not placed on its NUMA node %d, the kernel chooses the node:"
                  + " mbind failed: errno=%d (%s)%s")
              .formatted(
                  device,
                  node,
                  errno,
                  Libc.strerror(errno),
                  errno == EPERM ? ". Containers need the capability SYS_NICE for it" : ""));
    }
  }
}
