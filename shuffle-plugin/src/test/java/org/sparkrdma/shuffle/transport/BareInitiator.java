// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.HelloMessage;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/**
 * The initiator's part of a connection's set-up with bare verbs, in private data or by messages as
 * the device needs it. The request may be anything. For one thread.
 */
final class BareInitiator implements AutoCloseable {
  private static final long POLL_NS = 1_000_000;
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int MAX_CONNECTIONS = 32;
  private static final int BUFFER_BYTES = 128;
  private static final long ID_BITS = 1L << 40;

  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final ProtectionDomain domain;
  private final ConnectionManager manager;
  private final HelloPath path;
  private final HostMemory memory;
  private final MemoryRegion region;
  private final Map<Long, byte[]> received = new HashMap<>();
  private int connections;

  BareInitiator(
      Device device,
      CompletionChannel channel,
      CompletionQueue queue,
      ProtectionDomain domain,
      ConnectionManager manager)
      throws VerbsException {
    this.channel = channel;
    this.queue = queue;
    this.domain = domain;
    this.manager = manager;
    path = HelloPath.of(device.info());
    int lengthBytes = 2 * MAX_CONNECTIONS * BUFFER_BYTES;
    memory = device.allocate(lengthBytes);
    region = domain.register(memory, 0, lengthBytes, Set.of(AccessFlag.LOCAL_WRITE));
  }

  HelloPath path() {
    return path;
  }

  /** A resolved connection with a queue pair. */
  Connection resolve(Endpoint server, int depth) throws VerbsException {
    Connection connection = manager.resolve(Endpoints.preferredAddress(server), null, PATIENCE);
    assertThat(nextOf(connection).type()).isEqualTo(ConnectionEvent.Type.RESOLVED);
    connection.createQueuePair(
        domain, new QueuePairSettings(queue, queue, depth, depth, 1, 0, Set.of()));
    return connection;
  }

  /** Connects the queue pair; sends a request only where that is private data. */
  ConnectionEvent connect(Connection connection, byte[] request) throws VerbsException {
    byte[] privateData = path == HelloPath.SEND ? new byte[0] : request;
    connection.connect(new ConnectionParameters(privateData, 4, 6, 7, 17, PATIENCE));
    return nextOf(connection);
  }

  /**
   * Sends the request.
   *
   * @return how that ends: ESTABLISHED with the answer, or REJECTED with the refusal, if any
   */
  ConnectionEvent request(Connection connection, byte[] request) throws VerbsException {
    long slot = connections++;
    if (path == HelloPath.SEND) {
      connection
          .queuePair()
          .postReceive(
              new WorkRequest(1)
                  .receive(ID_BITS | slot)
                  .local(region, receiveOffset(slot), BUFFER_BYTES));
    }
    ConnectionEvent event = connect(connection, request);
    if (path != HelloPath.SEND || event.type() != ConnectionEvent.Type.ESTABLISHED) {
      return event;
    }
    ByteBuffer out = memory.slice(slot * BUFFER_BYTES, BUFFER_BYTES);
    int lengthBytes = HelloMessage.encode(out, request);
    connection
        .queuePair()
        .postSend(
            new WorkRequest(1)
                .send(ID_BITS << 1)
                .local(region, slot * BUFFER_BYTES, lengthBytes)
                .signalled());
    byte[] answer = awaitAnswer(slot);
    return new ConnectionEvent(
        Hello.decodeRefusal(answer) == null
            ? ConnectionEvent.Type.ESTABLISHED
            : ConnectionEvent.Type.REJECTED,
        connection,
        null,
        answer,
        "");
  }

  private static long receiveOffset(long slot) {
    return (MAX_CONNECTIONS + slot) * BUFFER_BYTES;
  }

  private byte[] awaitAnswer(long slot) {
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    while (!received.containsKey(slot)) {
      assertThat(System.nanoTime()).as("no answer").isLessThan(deadlineNs);
      if (queue.poll(MAX_CONNECTIONS, this::onCompletion) == 0) {
        channel.await(POLL_NS);
      }
    }
    return received.get(slot);
  }

  private void onCompletion(WorkCompletion completion) {
    if (completion.succeeded() && (completion.requestId() & ID_BITS) != 0) {
      long slot = completion.requestId() & ~ID_BITS;
      ByteBuffer message = memory.slice(receiveOffset(slot), (int) completion.byteLength());
      received.put(slot, HelloMessage.decode(message));
    }
  }

  private ConnectionEvent nextOf(Connection connection) {
    while (true) {
      ConnectionEvent event = manager.pollEvent();
      if (event != null && event.connection() == connection) {
        return event;
      }
      channel.await(POLL_NS);
    }
  }

  /** Call this before the device is closed. */
  @Override
  public void close() {
    region.close();
    memory.close();
  }
}
