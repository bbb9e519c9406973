// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** The counters of one executor; safe for any thread, never reset. */
public final class ShuffleCounters {
  private final Map<Counter, LongAdder> counters = new EnumMap<>(Counter.class);
  private final Map<FallbackReason, LongAdder> fallbacks = new EnumMap<>(FallbackReason.class);
  private final ReadLatency readLatency = new ReadLatency();
  private final StageReads stages = new StageReads();
  private volatile long tcpRequestNs;

  /** All at zero. */
  public ShuffleCounters() {
    for (Counter counter : Counter.values()) {
      counters.put(counter, new LongAdder());
    }
    for (FallbackReason reason : FallbackReason.values()) {
      fallbacks.put(reason, new LongAdder());
    }
  }

  /** Adds one. */
  public void increment(Counter counter) {
    counters.get(counter).increment();
  }

  /** Adds {@code amount}. */
  public void add(Counter counter, long amount) {
    counters.get(counter).add(amount);
  }

  /**
   * Latencies of READs, from the post until the agent has seen the completion; a sample of them.
   */
  public ReadLatency readLatency() {
    return readLatency;
  }

  /** Bytes that tasks received, by stage. */
  public StageReads stages() {
    return stages;
  }

  /** A request for blocks of a peer has taken so long by TCP. */
  public void onTcpRequest(long lengthNs) {
    long before = tcpRequestNs;
    // Two at a time may count as one.
    tcpRequestNs = before == 0 ? lengthNs : before + (lengthNs - before) / 4;
  }

  /** How long requests by TCP take lately; 0 before the first. */
  public long tcpRequestNs() {
    return tcpRequestNs;
  }

  /** Counts one block that used TCP for this reason. */
  public void fellBack(FallbackReason reason) {
    fallbacks.get(reason).increment();
  }

  /** Current value. */
  public long value(Counter counter) {
    return counters.get(counter).sum();
  }

  /** Current value. */
  public long value(FallbackReason reason) {
    return fallbacks.get(reason).sum();
  }

  /** Connections that are established now. */
  public long openConnections() {
    // A connection may end between the two sums.
    return Math.max(0, value(Counter.CONNECTIONS_ESTABLISHED) - value(Counter.CONNECTIONS_CLOSED));
  }

  /** All counters by label, and {@code fallback.<reason>} for each reason that occurred. */
  public Map<String, Long> snapshot() {
    Map<String, Long> all = new TreeMap<>();
    for (Counter counter : Counter.values()) {
      all.put(counter.label(), value(counter));
    }
    for (FallbackReason reason : FallbackReason.values()) {
      if (value(reason) > 0) {
        all.put("fallback." + reason.label(), value(reason));
      }
    }
    return all;
  }
}
