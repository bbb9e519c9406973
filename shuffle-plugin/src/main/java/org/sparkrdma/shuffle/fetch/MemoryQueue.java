// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.sparkrdma.shuffle.fetch.ReceiveMemory.Waiter;

/**
 * The readers whose blocks wait for {@link ReceiveMemory}, each with these blocks, and the order in
 * which a check looks at them; which of them gets memory, {@link ReceiveMemory} decides. Confined
 * to the agent.
 */
final class MemoryQueue {
  /**
   * The most blocks of a reader that a check looks at in vain: small ones may pass large ones, and
   * a check takes no longer when tens of thousands wait.
   */
  private static final int LOOK_AHEAD = 64;

  /** About the same of all readers together that are not known: each has one request. */
  private static final int UNKNOWN_LOOK_AHEAD = 16 * LOOK_AHEAD;

  /** Each has a block that waits. */
  private final Map<FetchingTask, Line> lines = new LinkedHashMap<>();

  /** Number of waits that have begun. */
  private long begun;

  /** A block that waits. */
  static final class Wait {
    final Waiter waiter;

    /** Its place in the order of all. */
    final long number;

    final long sinceNs;

    /** Bytes of others that may still get memory before it. */
    long passBytes;

    Wait(Waiter waiter, long number, long nowNs) {
      this.waiter = waiter;
      this.number = number;
      this.sinceNs = nowNs;
      this.passBytes = waiter.blockBytes();
    }
  }

  /** The waits of a reader, at least one, and how far a check has come. */
  static final class Line {
    final FetchingTask reader;

    /** In order. */
    final Map<Waiter, Wait> waits = new LinkedHashMap<>();

    /** Time since which the reader has been hungry and got nothing. */
    long hungryNs;

    /** Blocks that it had got then. */
    int delivered;

    /** Whether it was hungry when the check began. */
    boolean hungry;

    /** The wait at which the check looks. */
    Wait next;

    private Iterator<Wait> rest;

    /** Those that the check leaves waiting. */
    private int left;

    Line(FetchingTask reader, long nowNs) {
      this.reader = reader;
      this.hungryNs = nowNs;
      this.delivered = reader.delivered();
    }

    /** Waits of a reader that has blocks to open, or gets some, are not in vain. */
    void beginCheck(long nowNs) {
      int now = reader.delivered();
      hungry = reader.isHungry();
      hungryNs = hungry && now == delivered ? hungryNs : nowNs;
      delivered = now;
      rest = waits.values().iterator();
      next = rest.next();
      left = 0;
    }

    /** Goes on to the next wait, without the last one if that has ended; false without a next. */
    boolean advance(boolean ended) {
      if (ended) {
        rest.remove();
      } else {
        left++;
      }
      boolean more = left < LOOK_AHEAD && rest.hasNext();
      next = more ? rest.next() : null;
      return more;
    }
  }

  /** Whether no block waits. */
  boolean isEmpty() {
    return lines.isEmpty();
  }

  /** A block waits from now on. */
  void add(Waiter waiter, long nowNs) {
    lines
        .computeIfAbsent(waiter.reader(), reader -> new Line(reader, nowNs))
        .waits
        .put(waiter, new Wait(waiter, begun++, nowNs));
  }

  /** A block waits no longer, if it has waited. */
  void remove(Waiter waiter) {
    Line line = lines.get(waiter.reader());
    if (line != null) {
      line.waits.remove(waiter);
      removeIfEmpty(line);
    }
  }

  /** The waits of a reader may have ended. */
  void removeIfEmpty(Line line) {
    if (line.waits.isEmpty()) {
      lines.remove(line.reader);
    }
  }

  /** Nobody has waited for so long. */
  void onLate(long lateNs) {
    lines.values().forEach(line -> line.hungryNs += lateNs);
  }

  /** The readers at which a check looks; the one whose wait is next is the first. */
  PriorityQueue<Line> beginCheck(long nowNs) {
    PriorityQueue<Line> order =
        new PriorityQueue<>(lines.size(), Comparator.comparingLong(line -> line.next.number));
    int unknown = 0;
    for (Line line : lines.values()) {
      boolean known = line.reader.isKnown();
      if (known || unknown < UNKNOWN_LOOK_AHEAD) {
        unknown += known ? 0 : line.waits.size();
        line.beginCheck(nowNs);
        order.add(line);
      }
    }
    return order;
  }
}
