// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetAddress;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/**
 * Clock, events and network of simulated executors. Each executor has a link of {@link
 * #BYTES_PER_NS} in each direction to a switch that never drops and never blocks. For one thread.
 */
final class VirtualFabric {
  /** One way, for each message, READ request and answer. */
  static final long LATENCY_NS = 2_000;

  /** 100 Gb/s. */
  static final double BYTES_PER_NS = 12.5;

  /** Resolving an address; also a connection request or its answer in the kernels of both ends. */
  static final long SETUP_NS = 100_000;

  /** The rejection that requests to an address get. */
  record Rejection(ConnectionEvent.Type type, byte[] privateData, String reason) {}

  private record Event(long atNs, long order, Runnable work) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::atNs).thenComparingLong(Event::order));
  private final Map<InetAddress, VirtualExecutor> executors = new HashMap<>();
  private final Map<InetAddress, Rejection> rejections = new HashMap<>();
  private SetupDelay requestDelay = (from, sentNs) -> 0;
  private SetupDelay answerDelay = (from, sentNs) -> 0;
  private boolean privateData = true;
  private long messageDelayNs;
  private long destroyNs;
  private long createNs;
  private long nowNs;
  private long order;

  long nowNs() {
    return nowNs;
  }

  void after(long delayNs, Runnable work) {
    at(nowNs + delayNs, work);
  }

  void at(long atNs, Runnable work) {
    events.add(new Event(Math.max(nowNs, atNs), order++, work));
  }

  /** Executors that start from now on exchange request and answer as messages. */
  void withoutPrivateData() {
    privateData = false;
  }

  boolean hasPrivateData() {
    return privateData;
  }

  void add(InetAddress address, VirtualExecutor executor) {
    executors.put(address, executor);
  }

  void remove(InetAddress address) {
    executors.remove(address);
  }

  VirtualExecutor at(InetAddress address) {
    return executors.get(address);
  }

  /**
   * Time that a message of the set-up of a connection takes in addition. One that is lost, and that
   * the kernel repeats, takes the time until it is repeated.
   */
  interface SetupDelay {
    long delayNs(VirtualExecutor from, long sentNs);
  }

  /** Delays connection requests. */
  void delayRequests(SetupDelay delay) {
    requestDelay = delay;
  }

  /** Delays answers to connection requests. */
  void delayAnswers(SetupDelay delay) {
    answerDelay = delay;
  }

  /** Delays all messages on connected queue pairs by the same time. */
  void delayMessages(long delayNs) {
    messageDelayNs = delayNs;
  }

  /** Time of a message on a connected queue pair. */
  long messageNs() {
    return LATENCY_NS + messageDelayNs;
  }

  /** Makes the end of each connection take time of its agent. */
  void slowDestroy(long durationNs) {
    destroyNs = durationNs;
  }

  long destroyNs() {
    return destroyNs;
  }

  /** Makes the creation of each queue pair take time of its agent. */
  void slowCreate(long durationNs) {
    createNs = durationNs;
  }

  long createNs() {
    return createNs;
  }

  long requestNs(VirtualExecutor from) {
    return SETUP_NS + requestDelay.delayNs(from, nowNs);
  }

  long answerNs(VirtualExecutor from) {
    return SETUP_NS + answerDelay.delayNs(from, nowNs);
  }

  /** Rejects all connection requests to an address. */
  void rejectRequests(InetAddress address, byte[] privateData) {
    rejections.put(address, new Rejection(ConnectionEvent.Type.REJECTED, privateData, ""));
  }

  /** Rejects all connection requests to an address, as a host that has a stale connection does. */
  void rejectRequestsAsStale(InetAddress address, String reason) {
    rejections.put(
        address, new Rejection(ConnectionEvent.Type.REJECTED_AS_STALE, new byte[0], reason));
  }

  /** The rejection of each request to an address; null without one. */
  Rejection rejection(InetAddress address) {
    return rejections.get(address);
  }

  /** Runs until the condition holds, at most until a time; returns whether it holds. */
  boolean runUntil(BooleanSupplier done, long limitNs) {
    while (!done.getAsBoolean() && !events.isEmpty() && nowNs < limitNs) {
      Event event = events.poll();
      nowNs = event.atNs;
      event.work.run();
    }
    return done.getAsBoolean();
  }
}
