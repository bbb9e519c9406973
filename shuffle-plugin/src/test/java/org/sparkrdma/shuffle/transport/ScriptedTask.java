// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * A task of a {@link ScriptedReader}, which holds its blocks until {@link #releaseAll}, and records
 * the time of each answer.
 */
final class ScriptedTask implements FetchHandler {
  private final Peers peers;
  private final PeerConnection connection;
  private final LongSupplier nanoClock;
  private final List<ManagedBuffer> held = new ArrayList<>();
  private final List<FallbackReason> failures = new ArrayList<>();
  private long lastAnswerNs;

  ScriptedTask(Peers peers, PeerConnection connection, LongSupplier nanoClock) {
    this.peers = peers;
    this.connection = connection;
    this.nanoClock = nanoClock;
  }

  /** Fetches the blocks of these map outputs. */
  ScriptedTask fetch(int... maps) {
    peers.fetch(request(maps));
    return this;
  }

  /** Adds blocks to the connection, which does not ask for a turn. */
  ScriptedTask addUnnoticed(int... maps) {
    FetchRequest request = request(maps);
    for (int i = 0; i < maps.length; i++) {
      connection.fetches().fetch(new BlockProgress(request, i, false, nanoClock.getAsLong()));
    }
    return this;
  }

  private FetchRequest request(int... maps) {
    List<BlockRange> ranges = new ArrayList<>();
    for (int map : maps) {
      ranges.add(new BlockRange(0, map, 0, 1));
    }
    return FetchHandler.request(ScriptedReader.SERVER, ranges, this);
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

  int blocksHeld() {
    return held.size();
  }

  List<FallbackReason> failures() {
    return failures;
  }

  long lastAnswerMs() {
    return TimeUnit.NANOSECONDS.toMillis(lastAnswerNs);
  }

  void releaseAll() {
    held.forEach(ManagedBuffer::release);
    held.clear();
  }
}
