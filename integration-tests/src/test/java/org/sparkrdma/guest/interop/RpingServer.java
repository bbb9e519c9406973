// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.interop;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
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
 * Serves clients of rping(1) until one has pinged and disconnects. Every message is
 *
 * <pre>
 *   0  address of the client's buffer (64 bit) | 8  remote key (32 bit) | 12  length (32 bit)
 * </pre>
 *
 * in network byte order. For each ping the client sends the address of a buffer, which this end
 * READs, and receives any message. It then sends the address of a second buffer, into which this
 * end WRITEs the same bytes, and receives a second message.
 */
public final class RpingServer implements AutoCloseable {
  private static final int PORT = 7174;
  private static final int MESSAGE_BYTES = 16;
  private static final int MAX_BYTES = 64 << 10;
  private static final int RECEIVED_AT = MAX_BYTES;
  private static final int SENT_AT = RECEIVED_AT + MESSAGE_BYTES;
  private static final int DEPTH = 8;
  private static final long RECEIVE = 1;
  private static final long OWN = 2;
  private static final long PAUSE_NS = 10_000_000;
  private static final long PATIENCE_NS = Duration.ofSeconds(30).toNanos();

  private final VerbsEngine engine;
  private final Device device;
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final ProtectionDomain domain;
  private final ConnectionManager manager;
  private final HostMemory memory;
  private final MemoryRegion region;
  private final WorkRequest work = new WorkRequest(1);
  private ConnectionEvent event;
  private QueuePair queuePair;
  private boolean received;
  private boolean done;
  private boolean disconnected;

  private RpingServer() throws VerbsException {
    Verbs.Choice choice = Verbs.choose("ibverbs", EngineSettings.none());
    if (choice.engine() == null) {
      throw new IllegalStateException("no engine: reasons=" + choice.reasons());
    }
    engine = choice.engine();
    device = engine.open(engine.devices().get(0).name());
    channel = device.createCompletionChannel();
    queue = device.createCompletionQueue(2 * DEPTH, channel);
    domain = device.allocateProtectionDomain();
    manager = device.createConnectionManager(channel);
    memory = device.allocate(SENT_AT + MESSAGE_BYTES);
    region = domain.register(memory, 0, memory.lengthBytes(), Set.of(AccessFlag.LOCAL_WRITE));
  }

  /** Argument: the address to listen on. */
  public static void main(String[] arguments) throws VerbsException {
    try (RpingServer server = new RpingServer()) {
      server.manager.listen(new InetSocketAddress(arguments[0], PORT), 1);
      System.out.println("listening");
      int pings = 0;
      while (pings == 0) {
        pings = server.serveNext();
        System.out.println("pings served: " + pings);
      }
    }
  }

  private int serveNext() throws VerbsException {
    try (Connection connection = awaitEvent(ConnectionEvent.Type.CONNECT_REQUEST).connection()) {
      disconnected = false;
      queuePair =
          connection.createQueuePair(
              domain, new QueuePairSettings(queue, queue, DEPTH, DEPTH, 1, Set.of()));
      receive();
      connection.accept(ConnectionParameters.of(new byte[0]));
      awaitEvent(ConnectionEvent.Type.ESTABLISHED);
      return serve();
    }
  }

  /** Returns the number of pings until the client disconnected. */
  private int serve() {
    int pings = 0;
    while (awaitMessage() && ping()) {
      pings++;
    }
    return pings;
  }

  /** False when the client disconnects before its end. */
  private boolean ping() {
    int lengthBytes = clientBuffer().getInt(12);
    if (lengthBytes < 1 || lengthBytes > MAX_BYTES) {
      throw new IllegalStateException("unexpected message length: lengthBytes=" + lengthBytes);
    }
    return post(
            work.read(OWN, clientBuffer().getLong(0), clientBuffer().getInt(8))
                .local(region, 0, lengthBytes))
        && answer()
        && awaitMessage()
        && post(
            work.write(OWN, clientBuffer().getLong(0), clientBuffer().getInt(8))
                .local(region, 0, lengthBytes))
        && answer();
  }

  private ByteBuffer clientBuffer() {
    return memory.slice(RECEIVED_AT, MESSAGE_BYTES).order(ByteOrder.BIG_ENDIAN);
  }

  /** Posts a receive for the client's next message and sends. */
  private boolean answer() {
    receive();
    return post(work.send(OWN).local(region, SENT_AT, MESSAGE_BYTES));
  }

  private void receive() {
    received = false;
    if (!queuePair.postReceive(work.receive(RECEIVE).local(region, RECEIVED_AT, MESSAGE_BYTES))) {
      throw new IllegalStateException("receive queue full");
    }
  }

  /** Posts work; false when it fails because the client has disconnected. */
  private boolean post(WorkRequest request) {
    done = false;
    if (!queuePair.postSend(request.signalled())) {
      throw new IllegalStateException("send queue full");
    }
    await(() -> done || disconnected);
    return done;
  }

  /** Waits for a message; false when the client has disconnected. */
  private boolean awaitMessage() {
    await(() -> received || disconnected);
    return received;
  }

  private ConnectionEvent awaitEvent(ConnectionEvent.Type type) {
    event = null;
    await(() -> event != null);
    if (event.type() != type) {
      throw new IllegalStateException("not connected: expected=" + type + " event=" + event);
    }
    return event;
  }

  private void await(BooleanSupplier condition) {
    long started = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - started > PATIENCE_NS) {
        throw new IllegalStateException("no event or completion in time");
      }
      queue.poll(DEPTH, this::onCompletion);
      ConnectionEvent next = manager.pollEvent();
      if (next != null) {
        event = next;
        disconnected |= next.type() == ConnectionEvent.Type.DISCONNECTED;
      } else if (!condition.getAsBoolean()) {
        channel.await(PAUSE_NS);
      }
    }
  }

  private void onCompletion(WorkCompletion completion) {
    if (!completion.succeeded()) {
      if (completion.status() != WorkStatus.FLUSH_ERROR) {
        throw new IllegalStateException("failed: status=" + completion.status());
      }
      // The end of the connection, which an event reports.
    } else if (completion.requestId() == OWN) {
      done = true;
    } else if (completion.byteLength() == MESSAGE_BYTES) {
      received = true;
    } else {
      throw new IllegalStateException(
          "unexpected message length: lengthBytes=" + completion.byteLength());
    }
  }

  @Override
  public void close() {
    device.close();
    engine.close();
  }
}
