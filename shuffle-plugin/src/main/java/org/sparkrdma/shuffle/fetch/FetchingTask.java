// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.TaskContext;
import org.sparkrdma.shuffle.metrics.ShuffleCounters.StageReads;

/**
 * A reader of a task: which stage it belongs to, whether it waits for blocks, and the {@link
 * TaskOutputs} that it reads. The end of a task cancels nothing: its READs end, and {@code
 * transport.BlockFetch} returns their memory. Confined to the task's threads, but for {@link
 * #isHungry} and what it counts, where the thread is named.
 */
public final class FetchingTask {
  /** Null for readers that are no task. */
  private final TaskContext task;

  private final boolean readsBroadcast;
  private final boolean known;

  /** Blocks that were delivered by RDMA and not opened. */
  private final AtomicInteger unopened = new AtomicInteger();

  /** Blocks that were delivered by RDMA. */
  private int delivered;

  private final TaskOutputs outputs = new TaskOutputs();

  /**
   * Of one request, whose reader is not known.
   *
   * @param task null for none
   */
  public FetchingTask(TaskContext task) {
    this(task, false, false);
  }

  private FetchingTask(TaskContext task, boolean known, boolean readsBroadcast) {
    this.task = task;
    this.known = known;
    this.readsBroadcast = readsBroadcast;
  }

  /**
   * Of all requests of one reader.
   *
   * @param task null for none
   */
  public static FetchingTask ofReader(TaskContext task) {
    return new FetchingTask(task, true, false);
  }

  /** The reader of pieces of a broadcast variable, which is no task. */
  public static FetchingTask ofBroadcast() {
    return new FetchingTask(null, false, true);
  }

  /** Whether it reads pieces of a broadcast variable. */
  boolean readsBroadcast() {
    return readsBroadcast;
  }

  /** Whether all requests of the reader have this object. Safe for any thread. */
  boolean isKnown() {
    return known;
  }

  /**
   * Whether the reader has opened all that was delivered, so that its task may wait; always where
   * the reader is not known. A task that has ended waits for nothing. Safe for any thread.
   */
  boolean isHungry() {
    return !known || (unopened.get() <= 0 && !hasEnded());
  }

  private boolean hasEnded() {
    return task != null && task.isCompleted();
  }

  /** A block is delivered. The agent. */
  void onDelivered() {
    unopened.incrementAndGet();
    delivered++;
  }

  /** Number of blocks that were delivered by RDMA. The agent. */
  int delivered() {
    return delivered;
  }

  /** A delivered block is opened, or released unopened; once. Any thread. */
  void onOpened() {
    unopened.decrementAndGet();
  }

  /** The map outputs that it reads; none where the reader is not known. */
  public TaskOutputs outputs() {
    return outputs;
  }

  /** Stage of the task. */
  public int stage() {
    return task == null ? StageReads.NO_STAGE : task.stageId();
  }

  /** Throws Spark's own exception when the task was killed. */
  void throwIfKilled() {
    if (task != null) {
      task.killTaskIfInterrupted();
    }
  }
}
