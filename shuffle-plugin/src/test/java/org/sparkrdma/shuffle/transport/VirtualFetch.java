// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Blocks that a simulated executor fetches; checks that each has one answer. */
final class VirtualFetch implements FetchHandler {
  private final boolean[] answers;
  private final Map<FallbackReason, Integer> failures = new EnumMap<>(FallbackReason.class);
  private final Runnable onAnswer;
  private final FetchingTask task;

  /** Blocks that are not released yet; null when each is at once. */
  private final List<ManagedBuffer> kept;

  private Consumer<LongConsumer> probe = to -> {};
  private int read;
  private int failed;

  /** Fetches one partition of the first map outputs of a server. */
  VirtualFetch(
      VirtualExecutor reader, Endpoint server, int partition, int maps, Runnable onAnswer) {
    this(reader, server, partition, maps, onAnswer, new FetchingTask(null), false);
  }

  /**
   * The same for a reader.
   *
   * @param keeps whether it keeps blocks until {@link #open}
   */
  VirtualFetch(
      VirtualExecutor reader,
      Endpoint server,
      int partition,
      int maps,
      Runnable onAnswer,
      FetchingTask task,
      boolean keeps) {
    this.answers = new boolean[maps];
    this.onAnswer = onAnswer;
    this.task = task;
    this.kept = keeps ? new ArrayList<>() : null;
    List<BlockRange> blocks =
        IntStream.range(0, maps)
            .mapToObj(map -> new BlockRange(0, map, partition, partition + 1))
            .toList();
    FetchHandler.fetch(reader.transport(), server, blocks, this);
  }

  /** One block. */
  VirtualFetch(VirtualExecutor reader, Endpoint server) {
    this(reader, server, 0, 1, () -> {});
  }

  @Override
  public void onFetched(int index, ManagedBuffer buffer) {
    read++;
    if (kept != null) {
      kept.add(buffer.retain());
    }
    onAnswer(index);
  }

  @Override
  public void onProbe(LongConsumer to) {
    probe.accept(to);
  }

  /** What gives the time of a block by TCP to whom it is asked for. */
  void setProbe(Consumer<LongConsumer> answer) {
    probe = answer;
  }

  @Override
  public FetchingTask reader() {
    return task;
  }

  /** Opens the blocks that it keeps, and releases none of them. */
  void openAll() {
    for (ManagedBuffer one : kept) {
      try {
        one.createInputStream().close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Opens and releases the first of the blocks that it has kept; returns whether there was one. */
  boolean open() {
    return !kept.isEmpty() && kept.remove(0).release() != null;
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    failed++;
    failures.merge(reason, 1, Integer::sum);
    onAnswer(index);
  }

  private void onAnswer(int index) {
    if (answers[index]) {
      throw new IllegalStateException("second answer: block=" + index);
    }
    answers[index] = true;
    onAnswer.run();
  }

  boolean isAnswered() {
    return read + failed == answers.length;
  }

  /** Whether all blocks came by READ. */
  boolean isRead() {
    return read == answers.length;
  }

  int read() {
    return read;
  }

  /** Blocks by TCP, by reason. */
  Map<FallbackReason, Integer> failures() {
    return failures;
  }
}
