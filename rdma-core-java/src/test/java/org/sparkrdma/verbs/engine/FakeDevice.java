// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.TransportType;

/**
 * An engine on the shared classes that only records, in order, their calls into the engine.
 * Confined to the test's thread.
 */
final class FakeDevice extends EngineDevice {
  private static final DeviceLimits LIMITS =
      new DeviceLimits(8, 8, 2, 1, 64, 8, 1 << 20, 1 << 20, 4, 56, 1);

  static final long FLUSH_TIMEOUT_NS = 1_000_000_000_000L;
  static final InetSocketAddress ADDRESS =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

  /** The next call into the engine that fails; null for none. */
  String failing;

  /** Calls into the engine, also those that fail. */
  final List<String> calls =
      new ArrayList<>() {
        private static final long serialVersionUID = 1;

        @Override
        public boolean add(String call) {
          super.add(call);
          if (call.equals(failing)) {
            failing = null;
            throw new IllegalStateException("refused: " + call);
          }
          return true;
        }
      };

  /** Time for which the domains that are created next wait at their close. */
  Duration closeTimeout = Duration.ofMinutes(1);

  /** Runs in the middle of each creation of a queue pair. */
  Runnable duringCreation = () -> {};

  /** Runs at the beginning of each destruction of a queue pair. */
  Runnable duringDestruction = () -> {};

  /** Runs at the beginning of each destruction of a connection's identifier. */
  Runnable duringIdentifierDestruction = () -> {};

  /** Number of allocations that are refused next. */
  int refusals;

  /** Runs in the middle of each registration. */
  Runnable duringRegistration = () -> {};

  /** Runs in the middle of each deregistration. */
  Runnable duringDeregistration = () -> {};

  /** Time at which completion queues flush, in nanoseconds. */
  LongSupplier clock = System::nanoTime;

  FakeDevice() {
    super(
        new DeviceInfo("fake0", "fake", TransportType.LOOPBACK, 1, LIMITS, Set.of(), List.of()),
        // Its unsignalled work may fail without a completion.
        KernelDriver.SIW,
        FLUSH_TIMEOUT_NS,
        device -> ((FakeDevice) device).calls.add("closed"));
  }

  @Override
  protected boolean awaitFreedMemory(int refusals) {
    calls.add("await freed memory: locked=" + Thread.holdsLock(this));
    return true;
  }

  @Override
  protected EngineMemory newMemory(long lengthBytes) throws VerbsException {
    if (refusals-- > 0) {
      throw new VerbsException("allocate", VerbsException.ENOMEM, "refused", null);
    }
    return new EngineMemory(this, 4096, lengthBytes) {
      @Override
      protected ByteBuffer sliceWhileOpen(long offset, int length) {
        return null;
      }

      @Override
      protected void free() {}

      @Override
      protected void abandon() {
        calls.add("abandon memory");
      }
    };
  }

  @Override
  protected EngineProtectionDomain newProtectionDomain() {
    return new EngineProtectionDomain(this, closeTimeout) {
      @Override
      protected EngineRegion registerMemory(
          EngineMemory memory, long offset, long lengthBytes, Set<AccessFlag> access) {
        duringRegistration.run();
        var remote = new RemoteRegion(memory.address() + offset, lengthBytes, 7);
        return new EngineRegion(this, memory, remote, 0, access) {
          @Override
          protected void deregister() {
            calls.add("deregister");
            duringDeregistration.run();
          }
        };
      }

      @Override
      protected EngineRegion registerRange(
          Path file, long offset, long lengthBytes, Set<AccessFlag> access) {
        throw new UnsupportedOperationException();
      }

      @Override
      protected void destroy() {
        calls.add("deallocate domain");
      }
    };
  }

  @Override
  protected ParkingChannel newChannel() {
    return new ParkingChannel(this);
  }

  @Override
  protected EngineCompletionQueue newCompletionQueue(
      int capacity, EngineChannel channel, int vector) {
    return new FakeQueue(this, capacity, channel);
  }

  @Override
  protected EngineConnectionManager newConnectionManager(EngineChannel channel) {
    return new FakeManager(this, channel);
  }

  @Override
  protected void closeDevice() {
    calls.add("close device");
  }

  /** A thread that runs the action, and which has ended or waits for another when this returns. */
  static Thread startUntilItWaits(Runnable action) {
    var thread = new Thread(action, "closing");
    thread.start();
    while (thread.getState() == Thread.State.RUNNABLE) {
      Thread.onSpinWait();
    }
    return thread;
  }

  /** The objects of one connected queue pair. */
  static final class Objects {
    final FakeDevice device;
    final ParkingChannel channel;
    final FakeQueue queue;
    final EngineProtectionDomain domain;
    final EngineMemory memory;
    final FakeManager manager;

    Objects() throws VerbsException {
      device = new FakeDevice();
      channel = (ParkingChannel) device.createCompletionChannel();
      queue = (FakeQueue) device.createCompletionQueue(8, channel);
      domain = (EngineProtectionDomain) device.allocateProtectionDomain();
      memory = (EngineMemory) device.allocate(4096);
      manager = (FakeManager) device.createConnectionManager(channel);
    }

    /** What another thread does; see {@link #onOtherThread}. */
    Thread other;

    /** Runs an action on another thread, which has ended or waits for this one afterwards. */
    Runnable onOtherThread(Runnable action) {
      return () -> other = startUntilItWaits(action);
    }

    QueuePairSettings settings() {
      return new QueuePairSettings(queue, queue, 4, 4, 2, Set.of());
    }

    /** A connection with a queue pair that is ready to be connected. */
    FakeConnection resolved() throws VerbsException {
      FakeConnection connection = withoutQueuePair();
      connection.createQueuePair(domain, settings());
      return connection;
    }

    /** A connection that is resolved. */
    FakeConnection withoutQueuePair() throws VerbsException {
      return manager.resolve(ADDRESS, null, Duration.ofSeconds(1)).resolved();
    }

    FakeConnection connected() throws VerbsException {
      FakeConnection connection = resolved();
      connection.connect(ConnectionParameters.of(new byte[0]));
      connection.established();
      return connection;
    }

    /** Types of the events that the owner polls now. */
    List<ConnectionEvent.Type> events() {
      List<ConnectionEvent.Type> types = new ArrayList<>();
      for (ConnectionEvent event = manager.pollEvent();
          event != null;
          event = manager.pollEvent()) {
        types.add(event.type());
      }
      return types;
    }
  }
}
