// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
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
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Two ends send a number there and back, which grows by one on each way: a program without helpers.
 */
final class PingPong {
  private static final int TURNS = 1_000;
  private static final int RECEIVE = 0;
  private static final int SEND = 1;

  /** Completions that were not awaited yet, by the id of their request. */
  private static final int[] COMPLETED = new int[2];

  private PingPong() {}

  /** Arguments: {@code server ENGINE HOST:PORT} or {@code client ENGINE HOST:PORT}. */
  public static void main(String[] arguments) throws VerbsException {
    boolean server = arguments[0].equals("server");
    int colon = arguments[2].lastIndexOf(':');
    int port = Integer.parseInt(arguments[2].substring(colon + 1));
    InetSocketAddress address = new InetSocketAddress(arguments[2].substring(0, colon), port);
    Verbs.Choice choice = Verbs.choose(arguments[1], EngineSettings.none());
    if (choice.engine() == null) {
      throw new IllegalStateException("no RDMA device: " + choice.reasons());
    }
    try (VerbsEngine engine = choice.engine();
        Device device = engine.open(engine.devices().get(0))) {
      CompletionChannel channel = device.createCompletionChannel();
      CompletionQueue queue = device.createCompletionQueue(4, channel);
      ConnectionManager manager = device.createConnectionManager(channel);
      ProtectionDomain domain = device.allocateProtectionDomain();
      HostMemory memory = device.allocate(16); // the number received, and the one to send
      MemoryRegion region = domain.register(memory, 0, 16, Set.of(AccessFlag.LOCAL_WRITE));
      ByteBuffer numbers = memory.slice(0, 16);
      WorkRequest receive = new WorkRequest(1).receive(RECEIVE).local(region, 0, 8);
      WorkRequest send = new WorkRequest(1).send(SEND).local(region, 8, 8).signalled();
      Connection connection;
      if (server) {
        System.out.println("listening at " + manager.listen(address, 1).address());
        connection = await(manager, ConnectionEvent.Type.CONNECT_REQUEST).connection();
      } else {
        connection = manager.resolve(address, null, Duration.ofSeconds(5));
        await(manager, ConnectionEvent.Type.RESOLVED);
      }
      QueuePairSettings settings = new QueuePairSettings(queue, queue, 2, 1, 1, Set.of());
      QueuePair pair = connection.createQueuePair(domain, settings);
      requirePosted(pair.postReceive(receive)); // before the other end can send
      if (server) {
        connection.accept(ConnectionParameters.of(new byte[0]));
      } else {
        connection.connect(ConnectionParameters.of(new byte[0]));
      }
      await(manager, ConnectionEvent.Type.ESTABLISHED);
      if (!server) {
        requirePosted(pair.postSend(send));
        await(queue, SEND);
      }
      for (int turn = 0; turn < TURNS; turn++) {
        await(queue, RECEIVE);
        numbers.putLong(8, numbers.getLong(0) + 1);
        requirePosted(pair.postReceive(receive)); // before the answer to what is sent now
        requirePosted(pair.postSend(send));
        await(queue, SEND); // until then the memory is the device's
      }
      System.out.println("sent " + numbers.getLong(8));
      if (server) {
        await(manager, ConnectionEvent.Type.DISCONNECTED); // the client's last send must arrive
      }
    } // closes all that was created on the device
  }

  /** The queue is never full here: each request completes before the next is posted. */
  private static void requirePosted(boolean posted) {
    if (!posted) {
      throw new IllegalStateException("nothing was posted: the queue is full");
    }
  }

  private static void await(CompletionQueue queue, int request) {
    while (COMPLETED[request] == 0) {
      queue.poll(
          4,
          completion -> {
            if (!completion.succeeded()) {
              throw new IllegalStateException("failed: status=" + completion.status());
            }
            COMPLETED[(int) completion.requestId()]++;
          });
    }
    COMPLETED[request]--;
  }

  private static ConnectionEvent await(ConnectionManager manager, ConnectionEvent.Type wanted) {
    ConnectionEvent event = manager.pollEvent();
    while (event == null) {
      event = manager.pollEvent();
    }
    if (event.type() != wanted) {
      throw new IllegalStateException("type=" + event.type() + " reason=" + event.reason());
    }
    return event;
  }
}
