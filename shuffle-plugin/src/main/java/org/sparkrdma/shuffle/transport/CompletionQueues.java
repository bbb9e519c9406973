// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.thread.HeapShortage;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;

/**
 * The completion queues of an executor, shared by many connections each. A connection takes as many
 * entries as its queue pair has work requests, so no queue overruns; entries of a destroyed queue
 * pair are free when a later poll has emptied the queue, because its completions may stay until
 * then. It takes grants for rings that are pinned. Confined to the agent; created before it starts
 * and closed after it ended.
 */
final class CompletionQueues implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CompletionQueues.class);

  private final Device device;
  private final CompletionChannel channel;
  private final PinnedBudget budget;
  private final MemoryShares shares;
  private final List<SharedQueue> queues = new ArrayList<>();

  /** The chosen completion vector, or 0 after the device refused that one. */
  private int vector;

  private boolean refusalLogged;

  /** A queue with the number of entries that connections have taken. */
  private static final class SharedQueue {
    private final CompletionQueue queue;
    private final PinnedBudget.Grant grant;
    private int taken;

    /** Entries of queue pairs destroyed since a poll has last emptied the queue. */
    private int stale;

    SharedQueue(CompletionQueue queue, PinnedBudget.Grant grant) {
      this.queue = queue;
      this.grant = grant;
    }

    void close() {
      queue.close();
      if (grant != null) {
        grant.close();
      }
    }
  }

  /** A connection's entries in a completion queue and the grant of its queue pair's rings. */
  static final class Rings {
    private final SharedQueue shared;
    private final PinnedBudget.Grant grant;
    private final int entries;

    private Rings(SharedQueue shared, PinnedBudget.Grant grant, int entries) {
      this.shared = shared;
      this.grant = grant;
      this.entries = entries;
      shared.taken += entries;
    }

    CompletionQueue completionQueue() {
      return shared.queue;
    }

    /** Once, after the queue pair is destroyed, or when it was not created. */
    void close() {
      if (grant != null) {
        grant.close();
      }
      shared.taken -= entries;
      shared.stale += entries;
    }
  }

  /**
   * Creates the first completion queue.
   *
   * @throws VerbsException when the device refuses, or its ring does not fit into the budget
   */
  CompletionQueues(OpenDevice open, CompletionChannel channel, int vector, MemoryShares shares)
      throws VerbsException {
    this.device = open.device();
    this.budget = open.budget();
    this.channel = channel;
    this.vector = vector;
    this.shares = shares;
    if (!tryAdd()) {
      throw new VerbsException(
          "ibv_create_cq",
          "a completion queue of "
              + shares.queueRingBytes()
              + " bytes does not fit into pinned.max");
    }
  }

  /**
   * Takes room for one more connection.
   *
   * @return null when its rings do not fit into the budget, or the device refuses another
   *     completion queue
   */
  Rings tryTake(int sendDepth, int receiveDepth) {
    SharedQueue shared = withRoom(sendDepth + receiveDepth);
    if (shared == null) {
      return null;
    }
    PinnedBudget.Grant grant = null;
    if (shares.pinsRings()) {
      long bytes = MemoryShares.ringBytes(sendDepth, receiveDepth);
      Optional<PinnedBudget.Grant> granted = budget.tryGrant(bytes);
      if (granted.isEmpty()) {
        budget.reportShortage(bytes);
        return null;
      }
      grant = granted.get();
    }
    return new Rings(shared, grant, sendDepth + receiveDepth);
  }

  /** The oldest queue with room, so that newer ones become unused; null when there is none. */
  private SharedQueue withRoom(int entries) {
    for (SharedQueue shared : queues) {
      if (shared.taken + shared.stale + entries <= shares.queueDepth()) {
        return shared;
      }
    }
    try {
      if (tryAdd()) {
        refusalLogged = false;
        return queues.get(queues.size() - 1);
      }
    } catch (VerbsException e) {
      logRefusal(e);
    } catch (OutOfMemoryError e) {
      if (HeapShortage.isFatal(e)) {
        throw e;
      }
      // An engine may need a thread, or memory beside the heap.
      logRefusal(e);
    }
    return null;
  }

  private void logRefusal(Throwable e) {
    if (!refusalLogged) {
      refusalLogged = true;
      LOG.warn(
          "The device refuses another completion queue; further peers use TCP until connections"
              + " end: queues={} depth={}",
          queues.size(),
          shares.queueDepth(),
          e);
    }
  }

  private boolean tryAdd() throws VerbsException {
    PinnedBudget.Grant grant = null;
    if (shares.pinsRings()) {
      grant = budget.tryGrant(shares.queueRingBytes()).orElse(null);
      if (grant == null) {
        budget.reportShortage(shares.queueRingBytes());
        return false;
      }
    }
    boolean added = false;
    try {
      queues.add(new SharedQueue(createQueue(), grant));
      added = true;
    } finally {
      if (!added && grant != null) {
        grant.close();
      }
    }
    return true;
  }

  /** Every device has vector 0; a driver may lack the interrupts for another. */
  private CompletionQueue createQueue() throws VerbsException {
    try {
      return device.createCompletionQueue(shares.queueDepth(), channel, vector);
    } catch (VerbsException e) {
      if (vector == 0) {
        throw e;
      }
      CompletionQueue queue = device.createCompletionQueue(shares.queueDepth(), channel, 0);
      LOG.info("Completion vector {} is refused, 0 is used: {}", vector, e.getMessage());
      vector = 0;
      return queue;
    }
  }

  /** Passes completions of all queues to the handler, at most {@code limit} of each queue. */
  int poll(int limit, CompletionHandler handler) {
    int handled = 0;
    for (int i = 0; i < queues.size(); i++) {
      SharedQueue shared = queues.get(i);
      int count = shared.queue.poll(limit, handler);
      if (count < limit) {
        shared.stale = 0;
      }
      handled += count;
    }
    return handled;
  }

  /** Arms every queue. */
  void arm() {
    for (int i = 0; i < queues.size(); i++) {
      queues.get(i).queue.arm();
    }
  }

  /**
   * Closes queues that no connection uses, but for one. On iWARP the device may keep a queue pair
   * until its connection has an outcome: then the queue stays, and is used again.
   */
  void trim() {
    for (int i = queues.size() - 1; i > 0; i--) {
      SharedQueue shared = queues.get(i);
      if (shared.taken == 0) {
        try {
          shared.close();
          queues.remove(i);
        } catch (IllegalStateException e) {
          LOG.debug("A completion queue stays", e);
        }
      }
    }
  }

  @Override
  public void close() {
    for (SharedQueue queue : queues) {
      queue.close();
    }
    queues.clear();
  }
}
