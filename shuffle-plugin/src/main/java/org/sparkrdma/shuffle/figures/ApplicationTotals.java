// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * Sums over the executors of an application, for Spark's metrics system and the summary at the end.
 * Its fields about the past are JSON in the store of a History Server, so their names stay. Not
 * safe for several threads.
 */
@JsonAutoDetect(
    fieldVisibility = Visibility.ANY,
    getterVisibility = Visibility.NONE,
    isGetterVisibility = Visibility.NONE)
public final class ApplicationTotals {
  private static final double FULL = 0.95;
  private static final int MAX_REASONS = 5;

  // Names of sums that no executor reports.

  private static final String UP = "up";
  private static final String OFF = "off";
  private static final String LOCAL = "local";

  private BytesByPath bytes = BytesByPath.NONE;
  private long broadcastBytes;
  private long endedBytes;
  private long fallbackBytes;
  private final SortedMap<String, Long> fallbacks = new TreeMap<>();

  /** Executors whose RDMA is off for good, by the reason: the first reasons. */
  private final transient SortedMap<String, Long> offReasons = new TreeMap<>();

  /** Executors whose RDMA is off for another reason. */
  private transient long offOthers;

  private long quarantines;
  private long highestPinnedBytes;
  private transient long up;
  private transient long off;
  private transient long pinnedFull;
  private final transient Map<Figure, Long> present = new EnumMap<>(Figure.class);

  /** The sum of no executors. */
  ApplicationTotals() {}

  /** A copy of totals that will have more executors. */
  ApplicationTotals(ApplicationTotals ended) {
    bytes = ended.bytes;
    broadcastBytes = ended.broadcastBytes;
    endedBytes = ended.endedBytes;
    fallbackBytes = ended.fallbackBytes;
    fallbacks.putAll(ended.fallbacks);
    offReasons.putAll(ended.offReasons);
    offOthers = ended.offOthers;
    quarantines = ended.quarantines;
    highestPinnedBytes = ended.highestPinnedBytes;
  }

  /** Adds an executor, of one that was removed only what it has done. */
  public void add(ExecutorFigures executor) {
    bytes = bytes.plus(executor.bytes());
    broadcastBytes += executor.number(Figure.BROADCAST);
    endedBytes += executor.number(Figure.ENDED);
    fallbackBytes += executor.number(Figure.TCP_FALLBACK);
    executor.fallbacks().forEach((reason, blocks) -> fallbacks.merge(reason, blocks, Long::sum));
    if (executor.text(Figure.STATE).equals("off")) {
      addOff(executor.text(Figure.REASONS));
    }
    quarantines += executor.number(Figure.QUARANTINES);
    highestPinnedBytes = Math.max(highestPinnedBytes, executor.number(Figure.PINNED_HIGHEST));
    if (executor.isUp()) {
      addPresent(executor);
    } else if (!executor.isRemoved() && executor.hasReported()) {
      off++;
    }
  }

  /** Reasons may name what differs in each executor, such as addresses. */
  private void addOff(String reason) {
    if (offReasons.size() < MAX_REASONS || offReasons.containsKey(reason)) {
      offReasons.merge(reason, 1L, Long::sum);
    } else {
      offOthers++;
    }
  }

  /** What the page shows, as of one executor, for events between those with all figures. */
  public Map<String, Object> values() {
    Map<Figure, Long> sums = new EnumMap<>(present);
    sums.put(Figure.READ, bytes.read());
    sums.put(Figure.COPIED, bytes.copied());
    sums.put(Figure.TCP, bytes.tcp());
    sums.put(Figure.ENDED, endedBytes);
    sums.put(Figure.QUARANTINES, quarantines);
    sums.put(Figure.PINNED_HIGHEST, highestPinnedBytes);
    Map<String, Object> values = new LinkedHashMap<>();
    sums.forEach((figure, sum) -> values.put(figure.label(), sum));
    values.put(UP, up);
    values.put(OFF, off);
    values.put(LOCAL, bytes.local());
    fallbacks.forEach((reason, blocks) -> values.put(Figure.FALLBACK + reason, blocks));
    return values;
  }

  /**
   * Takes over {@link #values} of a later time. What has been done does not become less.
   *
   * @param running whether they also say how many executors run, and with what
   */
  void raise(ExecutorFigures later, boolean running) {
    bytes =
        new BytesByPath(
            Math.max(bytes.read(), later.number(Figure.READ)),
            Math.max(bytes.copied(), later.number(Figure.COPIED)),
            Math.max(bytes.tcp(), later.number(Figure.TCP)),
            Math.max(bytes.local(), later.number(LOCAL)));
    endedBytes = Math.max(endedBytes, later.number(Figure.ENDED));
    later.fallbacks().forEach((reason, blocks) -> fallbacks.merge(reason, blocks, Math::max));
    quarantines = Math.max(quarantines, later.number(Figure.QUARANTINES));
    highestPinnedBytes = Math.max(highestPinnedBytes, later.number(Figure.PINNED_HIGHEST));
    if (running) {
      up = later.number(UP);
      off = later.number(OFF);
      present.replaceAll((figure, sum) -> later.number(figure));
    }
  }

  private void addPresent(ExecutorFigures executor) {
    up++;
    if (executor.number(Figure.PINNED) >= FULL * executor.number(Figure.PINNED_LIMIT)) {
      pinnedFull++;
    }
    for (Figure figure : new Figure[] {Figure.PINNED, Figure.PINNED_LIMIT, Figure.CONNECTIONS}) {
      present.merge(figure, executor.number(figure), Long::sum);
    }
    for (Figure figure : new Figure[] {Figure.LATENCY_P50_US, Figure.LATENCY_P99_US}) {
      present.merge(figure, executor.number(figure), Math::max);
    }
  }

  /** By path, of all executors. */
  public BytesByPath bytes() {
    return bytes;
  }

  /** Bytes by READ that executors had written which have ended. */
  public long endedBytes() {
    return endedBytes;
  }

  /** Bytes that TCP brought although reader and peer use RDMA. */
  public long fallbackBytes() {
    return fallbackBytes;
  }

  /** Blocks that used TCP although the plug-in is on, by the label of the reason. */
  public SortedMap<String, Long> fallbacks() {
    return fallbacks;
  }

  /** Quarantines of peers. */
  public long quarantines() {
    return quarantines;
  }

  /** The most bytes that one executor has pinned at one time. */
  public long highestPinnedBytes() {
    return highestPinnedBytes;
  }

  /** Running executors whose RDMA is up. */
  public long withRdma() {
    return up;
  }

  /** Running executors that have reported another state. */
  public long withoutRdma() {
    return off;
  }

  /** Running executors that have pinned at least 95 % of what they may. */
  public long pinnedFull() {
    return pinnedFull;
  }

  /**
   * Figure of the running executors whose RDMA is up: the sum, of a latency the maximum; 0 without
   * any.
   */
  public long present(Figure figure) {
    return present.getOrDefault(figure, 0L);
  }

  /** Blocks that used TCP although the reading executor and its peer use RDMA. */
  public long fallbackBlocks() {
    return fallbacks.values().stream().mapToLong(Long::longValue).sum() - blocksWithoutRdma();
  }

  /** Blocks that used TCP because the reading executor or its peer has no RDMA. */
  public long blocksWithoutRdma() {
    return Stream.of(FallbackReason.values())
        .filter(FallbackReason::isWithoutRdma)
        .mapToLong(reason -> fallbacks.getOrDefault(reason.label(), 0L))
        .sum();
  }

  /**
   * The line that the driver logs at the end of the application. {@code highestPinnedBytes} is the
   * maximum over executors of the bytes that one has pinned at one time. Behind it, if any, are the
   * bytes that executors had written which have ended, and the first reasons why executors have
   * used no RDMA, with their number.
   */
  public String summary() {
    String ended = endedBytes == 0 ? "" : " endedBytes=" + endedBytes;
    String off = offReasons.isEmpty() ? "" : " executorsWithoutRdma=" + offReasons;
    String others = offOthers == 0 ? "" : " and " + offOthers + " others";
    return String.format(
            Locale.ROOT,
            ("readBytes=%d copiedBytes=%d tcpBytes=%d localBytes=%d broadcastBytes=%d"
                + " fallbackBlocks=%d quarantines=%d fallbacks=%s highestPinnedBytes=%d"),
            bytes.read(),
            bytes.copied(),
            bytes.tcp(),
            bytes.local(),
            broadcastBytes,
            fallbackBlocks(),
            quarantines,
            fallbacks,
            highestPinnedBytes)
        + ended
        + off
        + others;
  }
}
