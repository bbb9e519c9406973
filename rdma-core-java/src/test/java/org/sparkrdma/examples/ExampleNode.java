// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * One end of an example: a device, one connection, and short messages over it. A receive is always
 * posted, so that the other end may send at any time. Kept simple: it allocates memory for each
 * message.
 *
 * <p>Confined to the thread that opened it, which also closes it.
 */
final class ExampleNode implements AutoCloseable {
  /** Maximum length of a message. */
  static final int MESSAGE_BYTES = 256;

  /** Maximum time to wait for an answer of the other end. */
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** Time without an answer after which a message is sent again. */
  private static final Duration AGAIN = Duration.ofSeconds(1);

  private static final Duration ANY_TIME = Duration.ofDays(365);
  private static final long RECEIVED = 1;
  private static final long DONE = 2;
  private static final int DEPTH = 8;
  private static final int POLLED_AT_ONCE = 16;
  private static final long PAUSE_NS = 1_000_000;

  private final VerbsEngine engine;
  private final Device device;
  private final ProtectionDomain domain;
  private final CompletionQueue queue;
  private final ConnectionManager manager;
  private final HostMemory messages;
  private final MemoryRegion messageRegion;
  private final WorkRequest work = new WorkRequest(1);

  /** Wakes the thread at completions of the queue and events of the manager. */
  private final CompletionChannel channel;

  /** Bytes received or read by each completed request, by its id. */
  private final Map<Long, Long> completed = new HashMap<>();

  private Connection connection;
  private ConnectionEvent event;

  private ExampleNode(VerbsEngine engine) throws VerbsException {
    this.engine = engine;
    device = engine.open(engine.devices().get(0));
    domain = device.allocateProtectionDomain();
    channel = device.createCompletionChannel();
    queue = device.createCompletionQueue(2 * DEPTH, channel);
    manager = device.createConnectionManager(channel);
    // The first half is for the message received, the second for the message sent.
    messages = device.allocate(2 * MESSAGE_BYTES);
    messageRegion =
        domain.register(messages, 0, messages.lengthBytes(), Set.of(AccessFlag.LOCAL_WRITE));
  }

  /**
   * Opens the first device of an engine.
   *
   * @param engineName such as {@code soft}, or {@code auto} for any with hardware
   * @throws IllegalStateException when there is no device, with the reasons
   */
  static ExampleNode open(String engineName) throws VerbsException {
    Verbs.Choice choice = Verbs.choose(engineName, EngineSettings.none());
    if (choice.engine() == null) {
      throw new IllegalStateException("no RDMA device: " + String.join("; ", choice.reasons()));
    }
    try {
      return new ExampleNode(choice.engine());
    } catch (VerbsException | RuntimeException e) {
      choice.engine().close();
      throw e;
    }
  }

  Device device() {
    return device;
  }

  ProtectionDomain domain() {
    return domain;
  }

  /** Listens, prints the address, and accepts the first connection. */
  void accept(InetSocketAddress address, Set<AccessFlag> ofPeer) throws VerbsException {
    System.out.println("listening at " + manager.listen(address, 1).address());
    connection = await(ConnectionEvent.Type.CONNECT_REQUEST, ANY_TIME).connection();
    createQueuePair(ofPeer);
    connection.accept(ConnectionParameters.of(new byte[0]));
    await(ConnectionEvent.Type.ESTABLISHED, TIMEOUT);
  }

  /** Connects to an end that listens. */
  void connect(InetSocketAddress address) throws VerbsException {
    connection = manager.resolve(address, null, TIMEOUT);
    await(ConnectionEvent.Type.RESOLVED, TIMEOUT);
    createQueuePair(Set.of());
    connection.connect(ConnectionParameters.of(new byte[0]));
    await(ConnectionEvent.Type.ESTABLISHED, TIMEOUT);
  }

  private void createQueuePair(Set<AccessFlag> ofPeer) throws VerbsException {
    connection.createQueuePair(
        domain, new QueuePairSettings(queue, queue, DEPTH, DEPTH, 1, ofPeer));
    postReceive();
  }

  /** Posts one more receive than there is. */
  void postReceive() {
    work.receive(RECEIVED).local(messageRegion, 0, MESSAGE_BYTES);
    if (!connection.queuePair().postReceive(work)) {
      throw new IllegalStateException("the receive queue is full");
    }
  }

  /** Sends a message and waits until it has arrived. */
  void send(ByteBuffer message) {
    int lengthBytes = message.remaining();
    messages.slice(MESSAGE_BYTES, MESSAGE_BYTES).put(message);
    post(work.send(DONE).local(messageRegion, MESSAGE_BYTES, lengthBytes));
  }

  /**
   * Sends a message, and waits for one of the other end. Linux's soft iWARP may not see the first
   * message of a connection until another comes, because it replies before its socket has a
   * callback (siw_accept in the kernel's siw_cm.c): it is sent again after a second.
   */
  ByteBuffer ask(ByteBuffer message) {
    send(message.duplicate());
    long endNs = System.nanoTime() + AGAIN.toNanos();
    while (!completed.containsKey(RECEIVED) && event == null && System.nanoTime() - endNs < 0) {
      pollOrWait(endNs + TIMEOUT.toNanos(), RECEIVED);
    }
    if (!completed.containsKey(RECEIVED) && event == null) {
      send(message);
    }
    return receive();
  }

  /** Waits for a message of the other end. */
  ByteBuffer receive() {
    int lengthBytes = (int) await(RECEIVED);
    ByteBuffer message = ByteBuffer.allocate(lengthBytes);
    message.put(messages.slice(0, lengthBytes)).flip();
    postReceive();
    return message;
  }

  /** Sends the address and key with which the other end may read or write a region. */
  void sendRegion(RemoteRegion region) {
    ByteBuffer message = ByteBuffer.allocate(3 * Long.BYTES);
    message.putLong(region.address()).putLong(region.lengthBytes()).putLong(region.remoteKey());
    send(message.flip());
  }

  /** What {@link #sendRegion} has sent. */
  static RemoteRegion region(ByteBuffer message) {
    return new RemoteRegion(message.getLong(), message.getLong(), message.getLong());
  }

  /** Reads from the other end's memory to the beginning of a region, and waits for the bytes. */
  void read(RemoteRegion from, long offset, MemoryRegion sink, int lengthBytes) {
    post(work.read(DONE, from.address() + offset, from.remoteKey()).local(sink, 0, lengthBytes));
  }

  private void post(WorkRequest request) {
    if (!connection.queuePair().postSend(request.signalled())) {
      throw new IllegalStateException("the send queue is full");
    }
    await(DONE);
  }

  /** Waits until the other end has closed the connection. */
  void awaitDisconnect() {
    await(ConnectionEvent.Type.DISCONNECTED, ANY_TIME);
  }

  @Override
  public void close() {
    if (connection != null) {
      connection.close();
    }
    engine.close();
  }

  /**
   * Waits for the next event.
   *
   * @throws IllegalStateException when it is of another type, or does not come in time
   */
  private ConnectionEvent await(ConnectionEvent.Type type, Duration limit) {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    while (event == null) {
      pollOrWait(deadlineNs, type);
    }
    ConnectionEvent taken = event;
    event = null;
    if (taken.type() != type) {
      throw new IllegalStateException(
          "unexpected event: type=" + taken.type() + " reason=" + taken.reason());
    }
    return taken;
  }

  /**
   * Waits for the completion of a request, for at most {@link #TIMEOUT}, and returns the number of
   * bytes received or read. Of two requests with the same id, the first must be awaited before the
   * second is posted.
   *
   * @throws IllegalStateException when a request fails, the connection ends, or time runs out
   */
  private long await(long requestId) {
    long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
    while (!completed.containsKey(requestId)) {
      if (event != null) {
        throw new IllegalStateException("the connection has ended: type=" + event.type());
      }
      pollOrWait(deadlineNs, requestId);
    }
    return completed.remove(requestId);
  }

  /** Polls completions and one event; waits a little when there are none. */
  private void pollOrWait(long deadlineNs, Object awaited) {
    if (System.nanoTime() - deadlineNs > 0) {
      throw new IllegalStateException("no answer in time: awaited=" + awaited);
    }
    boolean polled = queue.poll(POLLED_AT_ONCE, this::onCompletion) > 0;
    event = event == null ? manager.pollEvent() : event;
    if (polled || event != null) {
      return;
    }
    queue.arm();
    // A completion that came before arm() wakes nothing.
    if (queue.poll(POLLED_AT_ONCE, this::onCompletion) == 0) {
      channel.await(PAUSE_NS);
    }
  }

  private void onCompletion(WorkCompletion completion) {
    if (completion.succeeded()) {
      completed.put(completion.requestId(), completion.byteLength());
    } else if (completion.status() != WorkStatus.FLUSH_ERROR) {
      // Work is flushed when the connection ends; its event says so.
      throw new IllegalStateException("work request failed: status=" + completion.status());
    }
  }
}
