// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.fetch.BlockFetch;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.fetch.TestDelivery;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * A task of a {@link ScriptedReader}, which holds its blocks until {@link #releaseAll}, and records
 * the time of each answer.
 */
final class ScriptedTask implements FetchHandler {
  private final long number;
  private final Peers peers;
  private final PeerConnection connection;
  private final LongSupplier nanoClock;
  private final List<ManagedBuffer> held = new ArrayList<>();
  private final List<FallbackReason> failures = new ArrayList<>();
  private long lastAnswerNs;

  ScriptedTask(long number, Peers peers, PeerConnection connection, LongSupplier nanoClock) {
    this.number = number;
    this.peers = peers;
    this.connection = connection;
    this.nanoClock = nanoClock;
  }

  /** Fetches the blocks of these map outputs. */
  ScriptedTask fetch(int... maps) {
    blocks(maps).forEach(peers::fetch);
    return this;
  }

  /** Adds blocks to the connection, which does not ask for a turn. */
  ScriptedTask addUnnoticed(int... maps) {
    blocks(maps).forEach(connection.fetches()::fetch);
    return this;
  }

  private List<BlockProgress> blocks(int... maps) {
    List<BlockRange> ranges = new ArrayList<>();
    for (int map : maps) {
      ranges.add(new BlockRange(0, map, 0, 1));
    }
    return new BlockFetch(ScriptedReader.SERVER, ranges, null, this, done -> {}).blocks();
  }

  @Override
  public long reader() {
    return number;
  }

  @Override
  public void onFetched(int index, ManagedBuffer buffer) {
    held.add(buffer.retain());
    lastAnswerNs = nanoClock.getAsLong();
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    failures.add(reason);
    lastAnswerNs = nanoClock.getAsLong();
  }

  @Override
  public void onSuspect(int index, SuspectBlock suspect) {
    throw new IllegalStateException("no checksums here");
  }

  int blocksHeld() {
    return held.size();
  }

  List<FallbackReason> failures() {
    return failures;
  }

  long lastAnswerMs() {
    return TimeUnit.NANOSECONDS.toMillis(lastAnswerNs);
  }

  /** Releases the blocks that were copied to the heap. */
  void releaseCopies() {
    held.removeIf(
        block -> {
          boolean copy = TestDelivery.isCopy(block);
          if (copy) {
            block.release();
          }
          return copy;
        });
  }

  void releaseAll() {
    held.forEach(ManagedBuffer::release);
    held.clear();
  }
}
