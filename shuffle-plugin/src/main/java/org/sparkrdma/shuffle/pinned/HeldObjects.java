// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.sparkrdma.shuffle.settings.ExecutorNeeds;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;

/**
 * The objects that an executor needs at least, held at the same time as a test. Confined to the
 * creating thread, which closes it.
 */
final class HeldObjects implements AutoCloseable {
  private final Deque<Runnable> ends = new ArrayDeque<>();
  private final Device device;

  HeldObjects(Device device) {
    this.device = device;
  }

  /**
   * Creates all objects, at last a queue pair.
   *
   * @param sinkBytes length of the region of receive memory
   * @param windowBytes length of the region that stands for a window
   * @throws VerbsException when the device refuses one; close this object in any case
   */
  void create(ExecutorNeeds needs, long sinkBytes, long windowBytes) throws VerbsException {
    ProtectionDomain domain = null;
    for (int i = 0; i < ExecutorNeeds.DOMAINS; i++) {
      domain = device.allocateProtectionDomain();
      ends.push(domain::close);
    }
    CompletionChannel channel = device.createCompletionChannel();
    ends.push(channel::close);
    CompletionQueue queue = device.createCompletionQueue(needs.completionQueueDepth(), channel);
    ends.push(queue::close);
    HostMemory memory = device.allocate(needs.messageBytes() + sinkBytes + windowBytes);
    ends.push(memory::close);
    for (int i = 0; i < needs.messageRegions(); i++) {
      long offset = (long) i * needs.messageRegionBytes();
      register(domain, memory, offset, needs.messageRegionBytes(), AccessFlag.LOCAL_WRITE);
    }
    register(domain, memory, needs.messageBytes(), sinkBytes, AccessFlag.LOCAL_WRITE);
    long window = needs.messageBytes() + sinkBytes;
    register(domain, memory, window, windowBytes, AccessFlag.REMOTE_READ);
    domain.testQueuePair(
        new QueuePairSettings(
            queue, queue, needs.sendDepth(), needs.receiveDepth(), 1, 0, Set.of()));
  }

  private void register(
      ProtectionDomain domain, HostMemory memory, long offset, long lengthBytes, AccessFlag access)
      throws VerbsException {
    MemoryRegion region = domain.register(memory, offset, lengthBytes, Set.of(access));
    ends.push(region::close);
  }

  /** Closes all, also when one fails; then throws the first failure. */
  @Override
  public void close() {
    RuntimeException failure = null;
    while (!ends.isEmpty()) {
      try {
        ends.pop().run();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
