// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.sparkrdma.leak.Leaks;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.transport.TestEngine;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.Capability;

/** One end of connections by plain verbs, which sends what a test says. For one thread. */
final class BareLink implements AutoCloseable {
  private static final int TIMEOUT_MS = 30_000;

  private static final long POLL_NS = 1_000_000;
  private static final int RECEIVES = 8;
  private static final int BUFFER_BYTES = MessageSlab.MESSAGE_BYTES;
  private static final long RECEIVE_ID = 1L << 40;
  private static final long READ_ID = 1L << 41;

  private final VerbsEngine engine;
  private final Device device;
  private final ProtectionDomain domain;
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final ConnectionManager manager;
  private final HostMemory memory;
  private final MemoryRegion region;
  private final Endpoint self;
  private final WorkRequest work = new WorkRequest(1);
  private final ArrayDeque<byte[]> received = new ArrayDeque<>();
  private final List<WorkStatus> readResults = new ArrayList<>();
  private Connection connection;
  private QueuePair queuePair;
  private Handshake handshake;
  private boolean ended;

  BareLink(long incarnation) throws VerbsException {
    engine = WatchedEngine.watch(TestEngine.load(Map.of()), (object, method) -> {});
    device = TestEngine.open(engine);
    domain = device.allocateProtectionDomain();
    channel = device.createCompletionChannel();
    queue = device.createCompletionQueue(256, channel);
    manager = device.createConnectionManager(channel);
    int lengthBytes = (RECEIVES + 1) * BUFFER_BYTES;
    memory = device.allocate(lengthBytes);
    region = domain.register(memory, 0, lengthBytes, Set.of(AccessFlag.LOCAL_WRITE));
    NetworkAddress address = NetworkAddress.ofHost(TestEngine.address());
    Listener listener = manager.listen(new InetSocketAddress(TestEngine.address(), 0), 8);
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    new Random(incarnation).nextBytes(token);
    List<ListenerAddress> listeners =
        List.of(new ListenerAddress(address, listener.address().getPort()));
    self =
        new Endpoint(
            Long.toString(incarnation), listeners, "soft", Messages.PROTOCOL, incarnation, token);
  }

  /** Endpoint of this end as a server. */
  Endpoint endpoint() {
    return self;
  }

  private void prepare() throws VerbsException {
    queuePair =
        connection.createQueuePair(
            domain, new QueuePairSettings(queue, queue, 16, RECEIVES, 1, 0, Set.of()));
    for (int i = 0; i < RECEIVES; i++) {
      postReceive(i);
    }
    ended = false;
    received.clear();
  }

  private void postReceive(int i) {
    work.receive(RECEIVE_ID | i).local(region, (long) (i + 1) * BUFFER_BYTES, BUFFER_BYTES);
    assertThat(queuePair.postReceive(work)).isTrue();
  }

  private static ConnectionParameters parameters() {
    return new ConnectionParameters(new byte[0], 4, 6, 7, 17, Duration.ofSeconds(10));
  }

  // As a reader.

  /** Connects its queue pair; false when the server rejects it. */
  boolean connect(Endpoint server) throws VerbsException {
    ListenerAddress to = server.addresses().get(0);
    connection =
        manager.resolve(
            new InetSocketAddress(to.network().address(), to.port()), null, Duration.ofSeconds(10));
    assertThat(nextEvent()).isEqualTo(ConnectionEvent.Type.RESOLVED);
    prepare();
    connection.connect(parameters());
    return nextEvent() == ConnectionEvent.Type.ESTABLISHED;
  }

  /** Writes a REQUEST with this secret in the name of an executor. */
  byte[] request(Endpoint server, byte[] secret, Endpoint caller) {
    handshake = Handshake.ofInitiator(server, secret, caller);
    ByteBuffer out = ByteBuffer.allocate(256);
    boolean number = device.info().can(Capability.REQUEST_HAS_QUEUE_PAIR);
    ConnectionBinding binding =
        ConnectionBinding.of(
            number ? queuePair.number() : 0, connection.localAddress(), connection.remoteAddress());
    return Arrays.copyOf(out.array(), handshake.writeRequest(out, binding));
  }

  /** Connects with a proof, as any executor of the application can. */
  void prove(Endpoint server) throws VerbsException {
    assertThat(connect(server)).isTrue();
    send(request(server, new byte[0], self));
    assertThat(handshake.takeAnswer(ByteBuffer.wrap(awaitMessage()))).isTrue();
    send(confirm());
  }

  byte[] confirm() {
    ByteBuffer out = ByteBuffer.allocate(256);
    return Arrays.copyOf(out.array(), handshake.writeConfirm(out));
  }

  /** A LOCATE of one block. */
  static byte[] locate(long id, BlockRange block) {
    ByteBuffer out = ByteBuffer.allocate(256);
    Locate.Encoder encoder = new Locate.Encoder().begin(out, id, TIMEOUT_MS);
    encoder.block(
        block.shuffleId(), block.mapId(), block.startReduceId(), block.endReduceId(), 0, false);
    return Arrays.copyOf(out.array(), encoder.finish());
  }

  /** Locates a block; returns the answer at its first piece. */
  Located.Decoder locate(BlockRange block) {
    send(locate(1, block));
    Located.Decoder located = new Located.Decoder().begin(ByteBuffer.wrap(awaitMessage()));
    assertThat(located.nextPiece()).isTrue();
    return located;
  }

  /** READs bytes of a piece; whether that succeeded. */
  boolean read(Located.Decoder piece) {
    int before = readResults.size();
    work.read(READ_ID, piece.address(), piece.remoteKey()).local(region, 0, 8).signalled();
    if (!queuePair.postSend(work)) {
      return false;
    }
    while (readResults.size() == before && !ended) {
      poll();
    }
    return readResults.size() > before && readResults.get(before) == WorkStatus.SUCCESS;
  }

  // As a server.

  /** Accepts the next connection, and proves itself. */
  void acceptAndProve() throws VerbsException {
    accept();
    handshake = Handshake.ofResponder(self, new byte[0]);
    boolean number = device.info().can(Capability.REQUEST_HAS_QUEUE_PAIR);
    ConnectionBinding binding =
        ConnectionBinding.of(
            number ? connection.requestQueuePairNumber() : 0,
            connection.remoteAddress(),
            connection.localAddress());
    assertThat(handshake.takeRequest(ByteBuffer.wrap(awaitMessage()), binding)).isNull();
    ByteBuffer out = ByteBuffer.allocate(256);
    send(Arrays.copyOf(out.array(), handshake.writeAnswer(out)));
    handshake.takeConfirm(ByteBuffer.wrap(awaitMessage()));
  }

  /** Accepts the next connection. */
  void accept() throws VerbsException {
    ConnectionEvent event = manager.pollEvent();
    while (event == null || event.type() != ConnectionEvent.Type.CONNECT_REQUEST) {
      channel.await(POLL_NS);
      event = manager.pollEvent();
    }
    connection = event.connection();
    prepare();
    connection.accept(parameters());
  }

  // Both.

  void send(byte[] message) {
    memory.slice(0, message.length).put(message);
    work.send(1).local(region, 0, message.length).signalled();
    assertThat(queuePair.postSend(work)).isTrue();
    // The buffer is used again when the message was sent.
    sent = false;
    while (!sent && !ended) {
      poll();
    }
  }

  private boolean sent;

  /** The next message that was received. */
  byte[] awaitMessage() {
    while (received.isEmpty()) {
      assertThat(ended).as("connection ended").isFalse();
      poll();
    }
    return received.poll();
  }

  /** Waits until the other end ends the connection; the test's time limit bounds it. */
  void awaitEnd() {
    while (!ended) {
      poll();
    }
  }

  private void poll() {
    ConnectionEvent event = manager.pollEvent();
    if (event != null
        && event.connection() == connection
        && event.type() == ConnectionEvent.Type.DISCONNECTED) {
      ended = true;
    }
    if (queue.poll(16, this::onCompletion) == 0 && event == null) {
      channel.await(POLL_NS);
    }
  }

  private void onCompletion(WorkCompletion completion) {
    long id = completion.requestId();
    if (id == READ_ID) {
      readResults.add(completion.status());
    }
    if (!completion.succeeded()) {
      ended |= id != READ_ID;
    } else if (id == 1) {
      sent = true;
    } else if ((id & RECEIVE_ID) != 0) {
      int i = (int) id;
      byte[] bytes = new byte[(int) completion.byteLength()];
      memory.slice((long) (i + 1) * BUFFER_BYTES, bytes.length).get(bytes);
      received.add(bytes);
      postReceive(i);
    }
  }

  private ConnectionEvent.Type nextEvent() {
    ConnectionEvent event = manager.pollEvent();
    while (event == null || event.connection() != connection) {
      channel.await(POLL_NS);
      event = manager.pollEvent();
    }
    return event.type();
  }

  /** Ends the connection. */
  void end() {
    connection.close();
    connection = null;
  }

  @Override
  public void close() {
    if (connection != null) {
      connection.close();
    }
    manager.close();
    queue.close();
    channel.close();
    region.close();
    memory.close();
    domain.close();
    Leaks.checkNothingOpen(device);
    device.close();
    engine.close();
  }
}
