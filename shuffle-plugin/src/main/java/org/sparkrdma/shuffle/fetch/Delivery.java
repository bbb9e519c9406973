// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;
import org.apache.spark.network.util.TransportConf;
import org.sparkrdma.shuffle.fetch.BlockVerifier.Verdict;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.TaskThreads.Task;

/**
 * Verifies blocks, writes them to disk and hands them over, on threads of its own: the agent never
 * calls Spark. Its methods are called by the agent and return at once.
 *
 * <p>An Error while a block is handled sends this block to TCP, and the next one is handled. When a
 * method throws, the agent fails, which answers all blocks.
 */
public final class Delivery {
  /** Number of empty lists that are kept. */
  private static final int MAX_LISTS = 32;

  private final Executor threads;
  private final DiskDelivery disk;
  private final boolean verify;
  private final ShuffleCounters counters;
  private final BlockAnswers answers;
  private final DeliveryLog log = new DeliveryLog();
  private final BlockEnds ends;

  /** Empty lists; guarded by itself. */
  private final ArrayDeque<List<BlockProgress>> lists = new ArrayDeque<>(MAX_LISTS);

  /**
   * @param threads verify and deliver blocks; refuse nothing until the executor stops, as {@link
   *     org.sparkrdma.shuffle.thread.TaskThreads}
   * @param diskThreads write to disk, in {@link DirectoryQueues}, so that a blocked disk delays
   *     only blocks for that disk; the same
   * @param corrupted receives the incarnation of a peer whose READ data differs from TCP
   */
  public Delivery(
      Executor threads,
      Executor diskThreads,
      TransportConf conf,
      boolean verify,
      ShuffleCounters counters,
      LongConsumer corrupted) {
    this.threads = threads;
    this.verify = verify;
    this.counters = counters;
    answers = new BlockAnswers(verify, counters, corrupted, log);
    ends = new BlockEnds(answers, log);
    disk = new DiskDelivery(diskThreads, conf, verify, answers, ends, log);
  }

  /** Queues of work that may wait for a disk. */
  public DirectoryQueues disks() {
    return disk.queues();
  }

  /** Whether blocks are verified with their checksums. */
  public boolean verifies() {
    return verify;
  }

  /** Whether the recorded checksums of a map output are known to be wrong. */
  boolean areSumsUnusable(int shuffleId, long mapId) {
    return answers.areSumsUnusable(shuffleId, mapId);
  }

  /** An empty list for {@link #deliver}, which gets it back. Any thread. */
  public List<BlockProgress> emptyList() {
    synchronized (lists) {
      List<BlockProgress> free = lists.poll();
      return free == null ? new ArrayList<>() : free;
    }
  }

  /**
   * Delivers whole blocks from memory.
   *
   * @param blocks may be empty; belongs to this object from now on
   */
  public void deliver(List<BlockProgress> blocks) {
    if (blocks.isEmpty()) {
      recycle(blocks);
    } else {
      execute(threads, new Delivered(blocks));
    }
  }

  private void recycle(List<BlockProgress> list) {
    synchronized (lists) {
      if (lists.size() < MAX_LISTS) {
        lists.push(list);
      }
    }
  }

  /** Delivers blocks once, so that a second run by mistake cannot see a list used again. */
  private final class Delivered extends Task {
    private List<BlockProgress> blocks;

    Delivered(List<BlockProgress> blocks) {
      this.blocks = blocks;
    }

    private synchronized List<BlockProgress> take() {
      List<BlockProgress> taken = blocks;
      blocks = null;
      return taken;
    }

    @Override
    public void run() {
      List<BlockProgress> taken = take();
      if (taken != null) {
        deliverAll(taken);
        taken.clear();
        recycle(taken);
      }
    }
  }

  /**
   * Writes the data of a block to its file. Delivers a whole block; requests the rest of others.
   *
   * @param rest called on a disk thread when there is more to fetch
   */
  public void writeToDisk(BlockProgress block, Consumer<BlockProgress> rest) {
    disk.write(block, rest);
  }

  /**
   * Sends blocks to TCP that have waited or been written for too long: their disk hangs, or other
   * blocks hold all disk threads. Called at ticks of the agent.
   *
   * @param limitNs for each part of a block
   */
  public void failOverdueWrites(long nowNs, long limitNs) {
    List<DiskWrites.Write> overdue = disk.takeOverdue(nowNs, limitNs);
    for (int i = 0; i < overdue.size(); i++) {
      BlockProgress block = overdue.get(i).block();
      if (overdue.get(i).giveUp()) {
        fail(block, FallbackReason.DISK, "no disk thread in time");
      } else {
        // The disk thread releases memory and file when the disk returns.
        execute(
            threads, Task.of(() -> answers.fail(block, FallbackReason.DISK, "write not in time")));
      }
    }
  }

  /** Reports that a block must use TCP. */
  public void fail(BlockProgress block, FallbackReason reason, String detail) {
    execute(
        threads,
        Task.of(
            () -> {
              ends.release(block);
              answers.fail(block, reason, detail);
            }));
    if (block.toDisk()) {
      // Its disk may hang.
      disk.execute(block, () -> ends.discard(block));
    }
  }

  /**
   * Reports that a block must use TCP. Its memory and its file stay, because READs may still write:
   * {@link #fail} releases them later.
   */
  public void failBeforeRelease(BlockProgress block, FallbackReason reason, String detail) {
    execute(threads, Task.of(() -> answers.fail(block, reason, detail)));
  }

  private static void execute(Executor on, Task work) {
    try {
      on.execute(work);
    } catch (Throwable e) {
      // The executor stops, so no thread takes the work: every block needs an answer.
      work.run();
    }
  }

  private void deliverAll(List<BlockProgress> blocks) {
    try {
      ReceiveMemory.endReservations(blocks);
    } catch (Throwable e) {
      // Each ends its own below.
      log.notTogether(blocks.get(0), e);
    }
    for (int i = 0; i < blocks.size(); i++) {
      deliverNow(blocks.get(i));
    }
  }

  private void deliverNow(BlockProgress block) {
    try {
      verifyAndHandOver(block);
    } catch (Throwable e) {
      ends.fail(block, FallbackReason.READ_ERROR, e);
      log.notDelivered(block, e);
    }
  }

  private void verifyAndHandOver(BlockProgress block) {
    Verdict verdict = Verdict.NO_SUMS;
    if (verify) {
      BlockVerifier verifier = new BlockVerifier(block.checksumKind(), block.sums());
      for (int i = 0; i < block.memory().count(); i++) {
        verifier.feed(block.memory().view(i));
      }
      verdict = verifier.verdict();
    }
    if (verdict == Verdict.MISMATCH) {
      CRC32C crc = new CRC32C();
      for (int i = 0; i < block.memory().count(); i++) {
        crc.update(block.memory().view(i));
      }
      block.releaseMemory();
      answers.suspect(block, crc.getValue());
      return;
    }
    answers.count(verdict);
    FetchedBlock buffer = block.toFetchedBlock();
    if (buffer instanceof HeapBlock) {
      counters.increment(Counter.BLOCKS_COPIED);
    }
    answers.handOver(block, buffer);
    buffer.release();
  }
}
