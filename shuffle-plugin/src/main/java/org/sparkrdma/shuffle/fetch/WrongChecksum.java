// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import io.netty.util.internal.OutOfDirectMemoryError;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.CRC32C;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * What happens to a block whose checksum is wrong: the task that opens the block fetches it over
 * TCP, and waits. TCP's bytes are used, and decide who was wrong: the recorded checksum ({@link
 * UnusableChecksums}), or the READ, whose connection then ends ({@link
 * BlockTransport#onCorruptData}). Confined to the task's thread.
 */
final class WrongChecksum {
  /** Interval of checks whether a task that waits for TCP is killed. */
  private static final long KILL_CHECK_MS = 100;

  /** Pause before Spark's client is asked again after it had no direct memory. */
  private static final long OOM_PAUSE_MS = 100;

  private final FetchContext context;
  private final FetchRequest request;
  private final int index;

  private WrongChecksum(FetchRequest request, int index) {
    this.context = request.context();
    this.request = request;
    this.index = index;
  }

  /**
   * Fetches a block whose checksum is wrong over TCP, and decides who was wrong.
   *
   * @param index of the block in its request
   * @return TCP's bytes, which the caller releases
   */
  static ManagedBuffer fetchAgain(FetchedBlock block, FetchRequest request, int index) {
    return new WrongChecksum(request, index).fetchAgain(block);
  }

  private ManagedBuffer fetchAgain(FetchedBlock block) {
    request.countAsTcp(block);
    CRC32C crc = new CRC32C();
    for (int i = 0; i < block.count(); i++) {
      crc.update(block.view(i));
    }
    ManagedBuffer tcp = fetchByTcp();
    CRC32C tcpCrc = new CRC32C();
    try {
      // A stream over a Netty buffer would move its reader index.
      tcpCrc.update(tcp.nioByteBuffer().duplicate());
    } catch (IOException | RuntimeException e) {
      tcp.release();
      throw tcpFailed(e);
    }
    if (tcp.size() == block.size() && tcpCrc.getValue() == crc.getValue()) {
      context.counters().fellBack(FallbackReason.CHECKSUM_UNUSABLE);
      context.counters().increment(Counter.CHECKSUMS_UNUSABLE);
      context.unusable().add(request.ranges().shuffleId(index), request.ranges().mapId(index));
    } else {
      context.counters().fellBack(FallbackReason.CORRUPT);
      context.counters().increment(Counter.BLOCKS_CORRUPT);
      String sums =
          String.format(
              Locale.ROOT,
              "rdmaBytes=%d tcpBytes=%d rdmaCrc32c=%08x tcpCrc32c=%08x",
              block.size(),
              tcp.size(),
              crc.getValue(),
              tcpCrc.getValue());
      context.log().corrupt(request.peer(), request.name(index), sums);
      request.onCorruptData();
    }
    return tcp;
  }

  private RuntimeException tcpFailed(Throwable cause) {
    context.counters().fellBack(FallbackReason.CORRUPT);
    return request
        .task()
        .outputs()
        .fetchFailed(
            request.peer(),
            request.ranges().get(index),
            "cannot fetch block=" + request.name(index) + " by TCP after a wrong checksum",
            cause);
  }

  /** Fetches the block by Spark's client and waits for it; retains the result. */
  private ManagedBuffer fetchByTcp() {
    String[] one = {request.name(index)};
    for (int attempt = 1; true; attempt++) {
      TcpBlock block = new TcpBlock();
      try {
        TcpFetch.fetch(context, request.peer(), request.stage(), one, block, null, true, null);
        return await(block);
      } catch (ExecutionException e) {
        boolean noMemory = e.getCause() instanceof OutOfDirectMemoryError;
        if (!noMemory || attempt > context.maxOomAttempts()) {
          throw tcpFailed(e.getCause());
        }
        pause();
      }
    }
  }

  /** Waits for the block until the task is killed or its thread interrupted. */
  private ManagedBuffer await(TcpBlock block) throws ExecutionException {
    try {
      while (true) {
        request.task().throwIfKilled();
        try {
          return block.received.get(KILL_CHECK_MS, TimeUnit.MILLISECONDS).retain();
        } catch (TimeoutException e) {
          // The task may be killed.
        }
      }
    } catch (InterruptedException e) {
      throw TaskOutputs.unchecked(e);
    } finally {
      block.close();
    }
  }

  private void pause() {
    request.task().throwIfKilled();
    try {
      Thread.sleep(OOM_PAUSE_MS);
    } catch (InterruptedException e) {
      throw TaskOutputs.unchecked(e);
    }
  }

  /** What Spark's client brings to a thread that waits for it. */
  private static final class TcpBlock implements BlockFetchingListener {
    final CompletableFuture<ManagedBuffer> received = new CompletableFuture<>();

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
      // The caller releases its own reference when this returns.
      ManagedBuffer retained = buffer.retain();
      if (!received.complete(retained)) {
        retained.release();
      }
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      received.completeExceptionally(failure);
    }

    /** No thread waits any more: releases the block, now or when it comes. */
    void close() {
      if (!received.cancel(false) && !received.isCompletedExceptionally()) {
        received.join().release();
      }
    }
  }
}
