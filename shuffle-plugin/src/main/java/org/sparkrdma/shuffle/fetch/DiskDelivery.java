// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.util.TransportConf;
import org.sparkrdma.shuffle.fetch.BlockVerifier.Verdict;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * The part of {@link Delivery} that writes blocks to disk and hands their files over. First the
 * file is created, then each part of the block is written in the queue of the file's directory.
 * Called by any thread; works on threads for disks.
 */
final class DiskDelivery {
  private final DirectoryQueues queues;
  private final TransportConf conf;
  private final boolean verify;
  private final BlockAnswers answers;
  private final BlockEnds ends;
  private final DeliveryLog log;
  private final DiskWrites writes = new DiskWrites();

  DiskDelivery(
      Executor threads,
      TransportConf conf,
      boolean verify,
      BlockAnswers answers,
      BlockEnds ends,
      DeliveryLog log) {
    this.queues = new DirectoryQueues(threads);
    this.conf = conf;
    this.verify = verify;
    this.answers = answers;
    this.ends = ends;
    this.log = log;
  }

  DirectoryQueues queues() {
    return queues;
  }

  /** See {@link DiskWrites#takeOverdue}. */
  List<DiskWrites.Write> takeOverdue(long nowNs, long limitNs) {
    return writes.takeOverdue(nowNs, limitNs);
  }

  /** See {@link Delivery#writeToDisk}. */
  void write(BlockProgress block, Consumer<BlockProgress> rest) {
    DiskWrites.Write write = writes.add(block);
    if (block.disk().path() == null) {
      execute(block, () -> runOnce(write, () -> createFile(write, rest)));
    } else {
      execute(block, () -> runOnce(write, () -> writeNow(write, rest)));
    }
  }

  private void runOnce(DiskWrites.Write write, Runnable work) {
    if (write.begin()) {
      write.block().disk().beginWrite();
      try {
        work.run();
      } finally {
        endWrite(write.block());
      }
    }
  }

  /** The directory of the file is not known before. */
  private void createFile(DiskWrites.Write write, Consumer<BlockProgress> rest) {
    BlockProgress block = write.block();
    try {
      if (dropAnswered(block)) {
        write.end();
        return;
      }
      block.disk().create(conf);
    } catch (Throwable e) {
      write.end();
      ends.fail(block, FallbackReason.DISK, e);
      return;
    }
    if (write.pause()) {
      execute(block, () -> runOnce(write, () -> writeNow(write, rest)));
    } else {
      ends.release(block);
      ends.discard(block);
    }
  }

  private void writeNow(DiskWrites.Write write, Consumer<BlockProgress> rest) {
    try {
      writeNow(write.block(), rest);
    } finally {
      write.end();
    }
  }

  /** Runs work that may wait for the disk of a block. */
  void execute(BlockProgress block, Runnable work) {
    try {
      queues.execute(block.disk().path(), work);
    } catch (RejectedExecutionException e) {
      // The executor stops. After any other failure the caller, which may be the agent,
      // must not wait for a disk.
      work.run();
    }
  }

  private void endWrite(BlockProgress block) {
    try {
      block.disk().endWrite();
    } catch (Throwable e) {
      log.notReleased(block, e);
    }
  }

  private void writeNow(BlockProgress block, Consumer<BlockProgress> rest) {
    try {
      if (dropAnswered(block)) {
        return;
      }
      block.disk().open(block.checksumKind(), block.sums());
      block.disk().write(block.memory(), verify);
      if (dropAnswered(block)) {
        return;
      }
      block.releaseMemory();
      if (!block.isComplete()) {
        rest.accept(block);
        return;
      }
    } catch (Throwable e) {
      ends.fail(block, FallbackReason.DISK, e);
      return;
    }
    ManagedBuffer file;
    Verdict verdict;
    try {
      verdict = verify ? block.disk().verdict() : Verdict.NO_SUMS;
      file = block.disk().finish();
      if (verdict == Verdict.MISMATCH) {
        long crc = BlockSum.crc32c(file);
        answers.suspect(block, crc);
        ends.discard(block);
        return;
      }
    } catch (Throwable e) {
      ends.fail(block, FallbackReason.DISK, e);
      return;
    }
    answers.count(verdict);
    if (answers.handOver(block, file)) {
      leaveToSpark(block);
    } else {
      ends.discard(block);
    }
  }

  /** Releases what a block holds that has failed while it waited for its disk. */
  private boolean dropAnswered(BlockProgress block) {
    boolean answered = block.isAnswered();
    if (answered) {
      ends.release(block);
      ends.discard(block);
    }
    return answered;
  }

  private void leaveToSpark(BlockProgress block) {
    try {
      block.disk().leaveToSpark();
    } catch (Throwable e) {
      log.notReleased(block, e);
    }
  }
}
