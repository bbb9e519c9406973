// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/**
 * An engine without memory and queue pairs, which only records, in order, the calls that its
 * channels, completion queues, connection managers, listeners and connections get. Confined to the
 * test's thread.
 */
final class RecordedDevice extends EngineDevice {
  /** Calls into the engine. */
  final List<String> calls = new ArrayList<>();

  /** Whether the engine refuses to create further objects. */
  boolean refuses;

  /** Runs before the identifier of a listener is destroyed. */
  Runnable onDestroyListener = () -> {};

  RecordedDevice() {
    super(
        new DeviceInfo(
            "recorded0",
            "recorded",
            Transport.LOOPBACK,
            1,
            new DeviceLimits(8, 8, 2, 1, 64, 8, 1 << 20, 1 << 20, 4, 16, 56, 1),
            Set.of(),
            List.of()),
        Driver.OTHER,
        0,
        device -> {});
  }

  private void checkRefusal() throws VerbsException {
    if (refuses) {
      throw new VerbsException("create", "create failed: refused by the test");
    }
  }

  @Override
  protected EngineMemory newMemory(long lengthBytes) {
    throw new UnsupportedOperationException("no memory");
  }

  @Override
  protected EngineProtectionDomain newProtectionDomain() {
    throw new UnsupportedOperationException("no protection domain");
  }

  @Override
  protected Channel newChannel() throws VerbsException {
    checkRefusal();
    return new Channel();
  }

  @Override
  protected EngineCompletionQueue newCompletionQueue(
      int capacity, EngineChannel channel, int vector) throws VerbsException {
    checkRefusal();
    return new Queue(capacity, channel);
  }

  @Override
  protected EngineConnectionManager newConnectionManager(EngineChannel channel)
      throws VerbsException {
    checkRefusal();
    return new Manager(channel);
  }

  @Override
  protected void closeDevice() {
    calls.add("close device");
  }

  /** A channel on which no thread waits. */
  final class Channel extends EngineChannel {
    private Channel() {
      super(RecordedDevice.this);
    }

    @Override
    public void await(long timeoutNs) {
      checkOpen();
      calls.add("await");
    }

    @Override
    public void wakeup() {
      calls.add("wake up");
    }

    @Override
    protected void destroy() {
      calls.add("destroy channel");
    }
  }

  /** A completion queue without completions. */
  final class Queue extends EngineCompletionQueue {
    private Queue(int capacity, EngineChannel channel) {
      super(RecordedDevice.this, capacity, channel);
    }

    @Override
    protected int take(int count) {
      return 0;
    }

    @Override
    protected EngineQueuePair.Outcome show(int index) {
      throw new UnsupportedOperationException("no completion");
    }

    @Override
    protected void requestNotification() {
      calls.add("request notification");
    }

    @Override
    protected void destroy() {
      calls.add("destroy queue");
    }
  }

  /** A connection manager whose requests and events come from the test. */
  final class Manager extends EngineConnectionManager {
    /** Events that {@link #pollEvent} takes from elsewhere, all at once. */
    final Deque<ConnectionEvent> elsewhere = new ArrayDeque<>();

    private Manager(EngineChannel channel) {
      super(RecordedDevice.this, channel);
    }

    @Override
    public Listener listen(InetSocketAddress address, int backlog) {
      checkOpen();
      checkResolved(address);
      checkBacklog(backlog);
      var listener = new RecordedListener(this, "listener " + address.getPort(), address);
      add(listener);
      return listener;
    }

    @Override
    public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout) {
      checkOpen();
      checkResolved(remote);
      var connection =
          new RecordedConnection(this, "connection " + remote.getPort(), remote, timeout);
      add(connection.id, connection);
      return connection;
    }

    /** A peer's request to a listener. */
    RecordedConnection request(Listener listener, int port) {
      var connection =
          new RecordedConnection(
              this,
              "request " + port,
              new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
              null);
      offerRequest(connection.id, connection, (EngineListener) listener, new byte[] {7});
      return connection;
    }

    @Override
    protected void takeEvents() {
      calls.add("take events");
      while (!elsewhere.isEmpty()) {
        offer(elsewhere.remove());
      }
    }

    @Override
    protected void stopEvents() {
      calls.add("stop events");
    }

    @Override
    protected void destroyListener(Object id) {
      onDestroyListener.run();
      calls.add("destroy " + id);
    }

    @Override
    protected void destroy() {
      calls.add("destroy manager");
    }
  }

  private final class RecordedListener extends EngineListener {
    private final Object id;

    RecordedListener(EngineConnectionManager manager, Object id, InetSocketAddress address) {
      super(manager, id, address);
      this.id = id;
    }

    @Override
    protected void onRequestPolled() {
      calls.add("polled from " + id);
    }
  }

  /** A connection that records its close. */
  final class RecordedConnection extends EngineConnection {
    private final Object id;

    private RecordedConnection(
        EngineConnectionManager manager, Object id, InetSocketAddress remote, Duration timeout) {
      super(manager, remote, timeout);
      this.id = id;
    }

    /** Its identifier, as its manager has it. */
    @Override
    protected Object id() {
      return id;
    }

    @Override
    protected EngineQueuePair newQueuePair(
        EngineProtectionDomain domain, int name, QueuePairSettings settings) {
      throw new UnsupportedOperationException("no queue pair");
    }

    @Override
    protected void resolveAddress(InetSocketAddress local, int timeoutMs) {
      throw new UnsupportedOperationException("not resolved");
    }

    @Override
    protected String otherDevice() {
      return null;
    }

    @Override
    protected void resolveRoute(int timeoutMs) {
      throw new UnsupportedOperationException("not resolved");
    }

    @Override
    protected InetSocketAddress sourceAddress() {
      throw new UnsupportedOperationException("not resolved");
    }

    @Override
    protected void sendRequest(ConnectionParameters parameters) {
      throw new UnsupportedOperationException("no queue pair");
    }

    @Override
    protected void sendReply(ConnectionParameters parameters) {
      throw new UnsupportedOperationException("no queue pair");
    }

    @Override
    protected void sendRejection(byte[] privateData) {
      calls.add("reject " + id);
    }

    @Override
    protected void disconnectIdentifier() {
      calls.add("disconnect " + id);
    }

    @Override
    protected void destroyQueuePair() {
      throw new UnsupportedOperationException("no queue pair");
    }

    @Override
    protected void destroyIdentifier() {
      calls.add("close " + id);
    }
  }
}
