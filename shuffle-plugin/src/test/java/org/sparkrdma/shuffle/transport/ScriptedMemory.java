// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;

/**
 * Receive memory and control buffers of a {@link ScriptedReader}, on a device that refuses to
 * register more when a test says so.
 */
final class ScriptedMemory {
  static final int CHUNK_BYTES = 16 << 10;
  static final int MESSAGE_BYTES = 16 << 10;
  static final long BUDGET_BYTES = 64L << 20;

  private final ScriptedConnection.Domain domain = new ScriptedConnection.Domain();
  private final RefusingDomain sinkDomain = new RefusingDomain(domain);
  private final RefusingDomain controlDomain = new RefusingDomain(domain);
  private final PinnedBudget budget = new PinnedBudget(BUDGET_BYTES, 4096);
  private final RegisteredPool sinks;
  private final RegisteredPool controlPool;
  private final ControlBuffers control;
  private final ReceivePool receive;

  /**
   * @param poolBytes receive memory
   */
  ScriptedMemory(Device device, int poolBytes, ShuffleCounters counters, LongSupplier nanoClock) {
    controlPool = pool(device, controlDomain, MESSAGE_BYTES, 64 << 20, nanoClock);
    control = new ControlBuffers(controlPool, 2 << 20);
    sinks = pool(device, sinkDomain, CHUNK_BYTES, poolBytes, nanoClock);
    receive = new ReceivePool(sinks, counters);
  }

  private RegisteredPool pool(
      Device device,
      ProtectionDomain protectionDomain,
      int chunkBytes,
      long bytes,
      LongSupplier nanoClock) {
    return new RegisteredPool(
        device,
        protectionDomain,
        budget,
        Set.of(AccessFlag.LOCAL_WRITE),
        chunkBytes,
        1,
        bytes,
        nanoClock);
  }

  ScriptedConnection.Domain domain() {
    return domain;
  }

  PinnedBudget budget() {
    return budget;
  }

  RegisteredPool sinks() {
    return sinks;
  }

  ReceivePool receive() {
    return receive;
  }

  /** Buffers of control messages. */
  ControlBuffers control() {
    return control;
  }

  /** Makes the device refuse to register more receive memory. */
  void refuseMemory() {
    sinkDomain.refuse();
  }

  /** Makes the device register receive memory again. */
  void allowMemory() {
    sinkDomain.allow();
  }

  /** Registrations of receive memory that the device has refused. */
  int refusals() {
    return sinkDomain.refusals();
  }

  /** A region of this executor is closed. */
  void closeOtherRegion() {
    budget.countClosedRegion();
  }

  /** Takes all memory of control messages until the returned action releases it. */
  Runnable exhaustControlBuffers() {
    controlDomain.refuse();
    List<ControlBuffer> taken = new ArrayList<>();
    Optional<ControlBuffer> next = control.tryTake();
    while (next.isPresent()) {
      taken.add(next.get());
      next = control.tryTake();
    }
    return () -> {
      allowControlMemory();
      taken.forEach(control::release);
    };
  }

  /** Makes the device register memory of control messages again, since a region is closed. */
  void allowControlMemory() {
    controlDomain.allow();
    budget.countClosedRegion();
  }

  /** Memory of control buffers that connections hold. */
  long controlBytesHeld() {
    return (long) (controlPool.chunksOut() - ControlBuffers.RESERVE) * MESSAGE_BYTES;
  }

  /** Pinned memory of all uses. */
  long pinnedBytes() {
    return budget.pinnedBytes();
  }

  void close() {
    receive.closeOpenChunk();
    sinks.close();
    control.close();
    controlPool.close();
  }
}
