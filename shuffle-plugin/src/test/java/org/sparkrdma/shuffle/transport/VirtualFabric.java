// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.ToLongBiFunction;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/**
 * Clock, executors, network and faults of a simulation. Each executor has a link of {@link
 * #BYTES_PER_NS} in each direction to a switch that never drops and never blocks, unless a test
 * says so. For one thread.
 */
final class VirtualFabric implements AutoCloseable {
  static final long MS = 1_000_000;

  /** One way, for each message, READ request and answer. */
  static final long LATENCY_NS = 2_000;

  /** 100 Gb/s. */
  static final double BYTES_PER_NS = 12.5;

  /** Resolving an address; also a connection request or its answer in the kernels of both ends. */
  static final long SETUP_NS = 100_000;

  /** Delay of what never arrives. */
  static final long LOST = -1;

  /** Answers of the host of an address to connection requests. */
  record Rejection(ConnectionEvent.Type type, byte[] privateData) {}

  private record Event(long atNs, long order, Runnable work) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::atNs).thenComparingLong(Event::order));
  private final List<VirtualExecutor> executors = new ArrayList<>();
  private final Map<InetAddress, VirtualExecutor> byAddress = new HashMap<>();

  /** Answers of hosts to all connection requests. */
  final Map<InetAddress, Rejection> rejections = new HashMap<>();

  /** Additional time of a connection event on its way to an executor. */
  ToLongBiFunction<VirtualExecutor, ConnectionEvent.Type> eventDelay = (to, type) -> 0;

  /** Additional time of a message, by its type. What follows on its connection comes later. */
  ToLongBiFunction<VirtualExecutor, Integer> messageDelay = (from, type) -> 0;

  /** Additional time of a READ from an executor. What follows on its connection comes later. */
  ToLongFunction<VirtualExecutor> readDelay = from -> 0;

  ToLongFunction<VirtualExecutor> queuePairTime = of -> 0;
  UnaryOperator<byte[]> messageChange = message -> message;
  Runnable beforeClose = () -> {};
  private int started;
  private long nowNs;
  private long order;

  /**
   * Starts an executor whose map outputs have two partitions of one length.
   *
   * @param settings in pairs of a name without prefix and a value
   */
  VirtualExecutor start(int blockBytes, String... settings) throws VerbsException {
    return start(2, blockBytes, settings);
  }

  /** The same with another number of partitions. */
  VirtualExecutor start(int partitions, int blockBytes, String... settings) throws VerbsException {
    Map<String, String> keys = new TreeMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      keys.put("spark.shuffle.rdma." + settings[i], settings[i + 1]);
    }
    VirtualExecutor executor = new VirtualExecutor(this, started++, keys, partitions, blockBytes);
    executors.add(executor);
    byAddress.put(executor.address, executor);
    return executor;
  }

  /** All executors that were started. */
  List<VirtualExecutor> executors() {
    return executors;
  }

  /** The executor with an address; null without one that runs. */
  VirtualExecutor at(InetAddress address) {
    return byAddress.get(address);
  }

  /** An executor ends. */
  void end(VirtualExecutor executor) {
    byAddress.remove(executor.address);
    executors.remove(executor);
    executor.close();
  }

  // Time.

  long nowNs() {
    return nowNs;
  }

  /** A call that the executor of this turn makes takes so long; nothing happens meanwhile. */
  void takeTime(long lengthNs) {
    nowNs += lengthNs;
  }

  void after(long delayNs, Runnable work) {
    at(nowNs + delayNs, work);
  }

  void at(long atNs, Runnable work) {
    events.add(new Event(Math.max(nowNs, atNs), order++, work));
  }

  /** Runs until the condition holds, for at most this time; returns whether it holds. */
  boolean runUntil(BooleanSupplier done, long maxNs) {
    long limitNs = nowNs + maxNs;
    while (!done.getAsBoolean() && !events.isEmpty() && events.peek().atNs <= limitNs) {
      Event event = events.poll();
      nowNs = Math.max(nowNs, event.atNs);
      event.work.run();
    }
    if (!done.getAsBoolean()) {
      nowNs = Math.max(nowNs, limitNs);
    }
    return done.getAsBoolean();
  }

  void run(long durationNs) {
    runUntil(() -> false, durationNs);
  }

  // Faults.

  void delayEvents(ToLongBiFunction<VirtualExecutor, ConnectionEvent.Type> delay) {
    eventDelay = delay;
  }

  void delayMessages(ToLongBiFunction<VirtualExecutor, Integer> delay) {
    messageDelay = delay;
  }

  void delayReads(ToLongFunction<VirtualExecutor> delay) {
    readDelay = delay;
  }

  /** The device of an executor takes so long to create a queue pair; {@link #LOST} for ever. */
  void createQueuePairsIn(ToLongFunction<VirtualExecutor> time) {
    queuePairTime = time;
  }

  /** Changes each message on its way. */
  void changeMessages(UnaryOperator<byte[]> change) {
    messageChange = change;
  }

  /** Runs this before each end of a connection is closed with its queue pair. */
  void beforeClose(Runnable look) {
    beforeClose = look;
  }

  /** The host of an address rejects all connection requests in this way. */
  void reject(InetAddress address, ConnectionEvent.Type type, byte... privateData) {
    rejections.put(address, new Rejection(type, privateData));
  }

  void rejectNothing() {
    rejections.clear();
  }

  @Override
  public void close() {
    executors.forEach(VirtualExecutor::close);
    executors.clear();
  }
}
