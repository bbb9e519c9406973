// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/**
 * The completion queues of an executor. A queue pair uses one of them for its whole life. Another
 * queue is created when all are full, and an empty one is closed. The first is created at once.
 *
 * <p>A queue cannot be overrun. Its capacity is the sum of the depths of the queue pairs that it
 * has room for. The room of a destroyed queue pair is reused only after a poll has emptied the
 * queue, since completions of that queue pair stay in it until then.
 *
 * <p>A queue without a completion in {@link #IDLE_POLLS} polls is idle: {@link #pollBusy} leaves it
 * out, until {@link #poll} finds a completion or one of its connections posts requests. So the
 * queues of idle connections cost the agent little.
 *
 * <p>Drivers of hardware pin the rings of completion queues and queue pairs and charge them to
 * RLIMIT_MEMLOCK, so this class takes grants for them, counted as for mlx5: 64 bytes for a
 * completion or a receive, 256 for a send (rdma-core, mlx5 sq_overhead), and a power of two of
 * entries. The loopback engine pins nothing.
 *
 * <p>Owned by the agent; created before it starts and closed after it ended.
 */
final class CompletionQueues implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CompletionQueues.class);
  private static final int MAX_CONNECTIONS_PER_QUEUE = 64;
  private static final int ENTRY_BYTES = 64;
  private static final int SEND_ENTRY_BYTES = 256;

  /** Polls without a completion after which a queue is idle: some 300 us of an agent that spins. */
  static final int IDLE_POLLS = 1_024;

  private final Device device;
  private final CompletionChannel channel;
  private final PinnedBudget budget;

  /** The chosen completion vector, or 0 after the device refused that one. */
  private int vector;

  private final int connectionsPerQueue;
  private final int depth;
  private final long queuePairBytes;
  private final List<SharedQueue> queues = new ArrayList<>();

  /** Those of {@link #queues} that are not idle, in no order. */
  private final List<SharedQueue> busy = new ArrayList<>();

  private boolean refusalLogged;

  /**
   * Creates the first completion queue.
   *
   * @param vector completion vector of all queues
   * @throws VerbsException when the device refuses, or its ring does not fit into the budget
   */
  CompletionQueues(
      Device device,
      CompletionChannel channel,
      int vector,
      PinnedBudget budget,
      TransportSettings settings)
      throws VerbsException {
    this.device = device;
    this.channel = channel;
    this.budget = budget;
    this.vector = vector;
    this.connectionsPerQueue = connectionsPerQueue(settings, device.info().limits());
    this.depth = depth(settings, device.info().limits());
    this.queuePairBytes = queuePairBytes(settings);
    if (!tryAdd()) {
      throw new VerbsException(
          "ibv_create_cq",
          "a completion queue of " + ringBytes(depth) + " bytes does not fit into pinned.max");
    }
  }

  private static int connectionsPerQueue(TransportSettings settings, DeviceLimits limits) {
    int most = Math.min(MAX_CONNECTIONS_PER_QUEUE, settings.maxConnections());
    return Math.max(1, Math.min(most, limits.maxCompletionQueueDepth() / perConnection(settings)));
  }

  private static int perConnection(TransportSettings settings) {
    return settings.sendDepth() + settings.receiveDepth();
  }

  /** Capacity of each completion queue. */
  static int depth(TransportSettings settings, DeviceLimits limits) {
    return connectionsPerQueue(settings, limits) * perConnection(settings);
  }

  /** Bytes of the rings of one queue pair. */
  static long queuePairBytes(TransportSettings settings) {
    return SEND_ENTRY_BYTES / ENTRY_BYTES * ringBytes(settings.sendDepth())
        + ringBytes(settings.receiveDepth());
  }

  /** Bytes of a ring with at least this many entries. */
  static long ringBytes(int entries) {
    return (long) ENTRY_BYTES * (entries <= 1 ? 1 : Integer.highestOneBit(entries - 1) << 1);
  }

  /** A queue with the number of queue pairs whose completions it may hold. */
  private final class SharedQueue {
    private final CompletionQueue queue;
    private final PinnedBudget.Grant grant;
    private int connections;
    private int emptyPolls;
    private boolean idle;

    /** Queue pairs destroyed since a poll has last emptied the queue. */
    private int destroyed;

    SharedQueue(CompletionQueue queue, PinnedBudget.Grant grant) {
      this.queue = queue;
      this.grant = grant;
      busy.add(this);
    }

    int poll(int limit, CompletionHandler handler) {
      int handled = queue.poll(limit, handler);
      if (handled < limit) {
        destroyed = 0;
      }
      if (handled > 0) {
        emptyPolls = 0;
        expectCompletions();
      } else {
        emptyPolls++;
      }
      return handled;
    }

    void expectCompletions() {
      if (idle) {
        idle = false;
        emptyPolls = 0;
        busy.add(this);
      }
    }

    void makeIdle() {
      idle = true;
      busy.remove(this);
    }

    boolean isUnused() {
      return connections == 0;
    }

    void close() {
      queue.close();
      closeGrant(grant);
    }
  }

  /** A connection's room in a completion queue and the grant of its queue pair's rings. */
  final class Rings implements AutoCloseable {
    private final SharedQueue shared;
    private final PinnedBudget.Grant grant;
    private boolean closed;

    private Rings(SharedQueue shared, PinnedBudget.Grant grant) {
      this.shared = shared;
      this.grant = grant;
      shared.connections++;
    }

    CompletionQueue completionQueue() {
      return shared.queue;
    }

    /** Work of its queue pair is outstanding: the queue is busy. */
    void expectCompletions() {
      shared.expectCompletions();
    }

    /** Call this after the queue pair is closed; a second close does nothing. */
    @Override
    public void close() {
      if (!closed) {
        closeGrant(grant);
        shared.destroyed++;
        // The next poll returns its room.
        shared.expectCompletions();
        leaveQueue();
      }
    }

    /** Call this instead when the device has not created the queue pair. */
    void closeUnused() {
      if (!closed) {
        CompletionQueues.closeUnused(grant);
        leaveQueue();
      }
    }

    private void leaveQueue() {
      closed = true;
      shared.connections--;
      if (shared.isUnused() && queues.stream().filter(SharedQueue::isUnused).count() > 1) {
        // One unused queue stays, so that a queue does not come and go with one connection.
        closeIfPossible(shared);
      }
    }

    /**
     * Closes an unused queue. On iWARP the device may keep a queue pair until its connection has an
     * outcome: then the queue stays, and is used again.
     */
    private void closeIfPossible(SharedQueue unused) {
      try {
        unused.close();
        queues.remove(unused);
        busy.remove(unused);
      } catch (IllegalStateException e) {
        LOG.debug("A completion queue stays", e);
      }
    }
  }

  private boolean pins() {
    return device.info().transport() != Transport.LOOPBACK;
  }

  private static void closeGrant(PinnedBudget.Grant grant) {
    if (grant != null) {
      grant.close();
    }
  }

  /** Nothing was created with it, so the device has no more room than before. */
  private static void closeUnused(PinnedBudget.Grant grant) {
    if (grant != null) {
      grant.closeUnused();
    }
  }

  /**
   * Takes room for one more connection.
   *
   * @return empty when its rings do not fit into the budget, or the device refuses another
   *     completion queue; the connection is refused then
   */
  Optional<Rings> tryTake() {
    PinnedBudget.Grant grant = pins() ? budget.tryGrant(queuePairBytes).orElse(null) : null;
    if (grant == null && pins()) {
      budget.reportShortage(queuePairBytes);
      return Optional.empty();
    }
    Rings rings = null;
    try {
      SharedQueue shared = withRoom();
      rings = shared == null ? null : new Rings(shared, grant);
    } finally {
      // Also after an Error.
      if (rings == null) {
        closeUnused(grant);
      }
    }
    return Optional.ofNullable(rings);
  }

  /** The oldest queue with room, so that newer ones become unused; null when there is none. */
  private SharedQueue withRoom() {
    for (SharedQueue queue : queues) {
      if (queue.connections + queue.destroyed < connectionsPerQueue) {
        return queue;
      }
    }
    try {
      if (tryAdd()) {
        refusalLogged = false;
        return queues.get(queues.size() - 1);
      }
    } catch (VerbsException e) {
      if (!refusalLogged) {
        refusalLogged = true;
        LOG.warn(
            "The device refuses another completion queue; further peers use TCP until connections"
                + " end: queues={} connectionsPerQueue={} depth={}",
            queues.size(),
            connectionsPerQueue,
            depth,
            e);
      }
    }
    return null;
  }

  private boolean tryAdd() throws VerbsException {
    PinnedBudget.Grant grant = pins() ? budget.tryGrant(ringBytes(depth)).orElse(null) : null;
    if (grant == null && pins()) {
      budget.reportShortage(ringBytes(depth));
      return false;
    }
    try {
      queues.add(new SharedQueue(createQueue(), grant));
    } catch (Throwable e) {
      closeUnused(grant);
      throw e;
    }
    return true;
  }

  /** Every device has vector 0; a driver may lack the interrupts for another. */
  private CompletionQueue createQueue() throws VerbsException {
    try {
      return device.createCompletionQueue(depth, channel, vector);
    } catch (VerbsException e) {
      if (vector == 0) {
        throw e;
      }
      CompletionQueue queue = device.createCompletionQueue(depth, channel, 0);
      LOG.info("Completion vector {} is refused, 0 is used: {}", vector, e.getMessage());
      vector = 0;
      return queue;
    }
  }

  /**
   * Passes completions of all queues to the handler, at most {@code limit} of each queue. The
   * handler must not close connections.
   */
  int poll(int limit, CompletionHandler handler) {
    int handled = 0;
    for (int i = 0; i < queues.size(); i++) {
      handled += queues.get(i).poll(limit, handler);
    }
    return handled;
  }

  /** Same as {@link #poll}, without the queues that are idle. */
  int pollBusy(int limit, CompletionHandler handler) {
    int handled = 0;
    // Backwards, because a queue may become idle, and another one busy.
    for (int i = busy.size() - 1; i >= 0; i--) {
      SharedQueue queue = busy.get(i);
      handled += queue.poll(limit, handler);
      if (queue.emptyPolls >= IDLE_POLLS) {
        queue.makeIdle();
      }
    }
    return handled;
  }

  /** Arms every queue. */
  void arm() {
    for (int i = 0; i < queues.size(); i++) {
      queues.get(i).queue.arm();
    }
  }

  /** Number of completion queues. */
  int count() {
    return queues.size();
  }

  @Override
  public void close() {
    queues.forEach(SharedQueue::close);
    queues.clear();
    busy.clear();
  }
}
