// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.shuffle.wire.Release;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.TransportType;

/**
 * A peer by plain verbs, which sends what a test says: a reader or a server, with one connection at
 * a time. Confined to the test's thread. Waits end when the test is interrupted at its time limit.
 */
final class BarePeer implements AutoCloseable {
  /** Period of the bytes that peers may READ. */
  static final int PERIOD = 1_000;

  /** Number of those bytes. */
  static final int CONTENT_BYTES = 64 * PERIOD;

  /** The default of readers. */
  private static final int TIMEOUT_MS = 30_000;

  /** The second one when the peer has given up before it was accepted. */
  private static final Set<ConnectionEvent.Type> ENDS =
      EnumSet.of(ConnectionEvent.Type.DISCONNECTED, ConnectionEvent.Type.CONNECT_ERROR);

  private static final long POLL_NS = 1_000_000;
  private static final int RECEIVES = 8;
  private static final int SENDS = 16;

  /** Twice as long as a buffer of the plug-in. */
  private static final int BUFFER_BYTES = 2 * MemoryShares.MESSAGE_BYTES;

  private static final long RECEIVE_ID = 1L << 40;
  private static final long READ_ID = 1L << 41;

  private final VerbsEngine engine;
  private final Node node;
  private final Node.Block buffers;
  private final Node.Block readable;
  private final WorkRequest work = new WorkRequest(1);
  private final ArrayDeque<byte[]> received = new ArrayDeque<>();
  private final List<WorkStatus> readResults = new ArrayList<>();
  private Endpoint self;
  private Connection connection;
  private QueuePair queuePair;
  private Handshake handshake;

  /** Maximum number of receives of a connection; negative without limit. */
  private int receives = -1;

  private boolean ended;
  private long posted;
  private long sent;
  private int attempts;

  BarePeer(long incarnation) throws VerbsException {
    engine = WatchedEngine.watch(TestEngine.load(Map.of()), (object, method) -> {});
    node = Node.open(engine, TestEngine.address());
    buffers = node.block((RECEIVES + SENDS) * BUFFER_BYTES, 0, Node.SINK);
    readable = node.block(CONTENT_BYTES, 0, Set.of(AccessFlag.REMOTE_READ));
    readable.memory().slice(0, CONTENT_BYTES).put(content(CONTENT_BYTES));
    NetworkAddress address = NetworkAddress.ofHost(TestEngine.address());
    Listener listener = node.manager.listen(new InetSocketAddress(TestEngine.address(), 0), 8);
    int port = listener.address().getPort();
    self = TestExecutor.endpoint(incarnation, List.of(new ListenerAddress(address, port)));
  }

  /** The bytes of a block of a peer that is a server. */
  static byte[] content(int lengthBytes) {
    byte[] bytes = new byte[lengthBytes];
    for (int i = 0; i < lengthBytes; i++) {
      int inPeriod = i % PERIOD;
      bytes[i] = (byte) (inPeriod * 31 + (inPeriod >> 3));
    }
    return bytes;
  }

  /** Endpoint of this peer as a server. */
  Endpoint endpoint() {
    return self;
  }

  /** It is another executor from now on, of which no fault is remembered. */
  void become(long incarnation) {
    self = TestExecutor.endpoint(incarnation, self.addresses());
  }

  /** Posts this number of receives on later connections, and no more. */
  void receiveOnly(int count) {
    receives = count;
  }

  /** Whether a queue pair's access can be limited. */
  boolean canLimitAccess() {
    return node.device.info().can(Capability.QUEUE_PAIR_ACCESS);
  }

  /** Whether a connection request has the number of the queue pair, which proofs cover. */
  boolean requestHasQueuePair() {
    return node.device.info().can(Capability.REQUEST_HAS_QUEUE_PAIR);
  }

  /** Whether a rejection says why. */
  boolean rejectsWithReason() {
    return node.device.info().limits().maxPrivateDataBytes() > 0;
  }

  /** Whether a message without a posted receive ends the connection. */
  boolean isOnIwarp() {
    return node.device.info().transport() == TransportType.IWARP;
  }

  /** Number of connections, messages and READs so far. */
  int attempts() {
    return attempts;
  }

  private void prepare() throws VerbsException {
    queuePair =
        connection.createQueuePair(
            node.domain,
            new QueuePairSettings(
                node.queue, node.queue, SENDS, RECEIVES, 1, Set.of(AccessFlag.REMOTE_READ)));
    ended = false;
    for (int i = 0; i < RECEIVES && (receives < 0 || i < receives); i++) {
      postReceive(i);
    }
    received.clear();
    posted = 0;
    sent = 0;
    attempts++;
  }

  private void postReceive(int i) {
    work.receive(RECEIVE_ID | i)
        .local(buffers.region(), (long) (SENDS + i) * BUFFER_BYTES, BUFFER_BYTES);
    // A connection that has ended takes none.
    ended |= !queuePair.postReceive(work);
  }

  /** Posts all receives that were not posted. */
  void receiveAgain() {
    receives = -1;
    for (int i = 0; i < RECEIVES; i++) {
      postReceive(i);
    }
  }

  private static ConnectionParameters parameters() {
    return new ConnectionParameters(new byte[0], 4, 6, 7, 17, Duration.ofSeconds(10));
  }

  private ConnectionBinding initiatorBinding() {
    return ConnectionBinding.of(
        requestHasQueuePair() ? connection.queuePair().number() : 0,
        connection.localAddress(),
        connection.remoteAddress());
  }

  // As a reader.

  /** Connects its queue pair; false when the server rejects it. */
  boolean connect(Endpoint server) throws VerbsException {
    end();
    ListenerAddress to = server.addresses().get(0);
    connection =
        node.manager.resolve(
            new InetSocketAddress(to.network().address(), to.port()), null, Duration.ofSeconds(10));
    assertThat(nextEvent()).isEqualTo(ConnectionEvent.Type.RESOLVED);
    prepare();
    connection.connect(parameters());
    return nextEvent() == ConnectionEvent.Type.ESTABLISHED;
  }

  /** Writes a REQUEST without a secret. */
  byte[] request(Endpoint server) {
    return request(server, new byte[0], self);
  }

  /** Writes a REQUEST with this secret in the name of an executor. */
  byte[] request(Endpoint server, byte[] secret, Endpoint caller) {
    return request(server, secret, caller, initiatorBinding());
  }

  /** The same for another connection. */
  byte[] request(Endpoint server, byte[] secret, Endpoint caller, ConnectionBinding binding) {
    handshake = Handshake.ofInitiator(server, new Identity(caller, secret));
    ByteBuffer out = ByteBuffer.allocate(256);
    return Arrays.copyOf(out.array(), handshake.writeRequest(out, binding));
  }

  /** The binding of its connection, but from another address. */
  ConnectionBinding bindingFrom(InetSocketAddress source) {
    ConnectionBinding own = initiatorBinding();
    return new ConnectionBinding(own.queuePairNumber(), source.getAddress(), own.destination());
  }

  /** Connects and sends a valid REQUEST; returns the answer, whose proof is checked. */
  byte[] requestAndAwaitAnswer(Endpoint server, Endpoint caller) throws VerbsException {
    assertThat(connect(server)).isTrue();
    send(request(server, new byte[0], caller));
    byte[] answer = awaitMessage();
    assertThat(handshake.takeReply(ByteBuffer.wrap(answer))).isTrue();
    return answer;
  }

  /** The same in its own name. */
  byte[] requestAndAwaitAnswer(Endpoint server) throws VerbsException {
    return requestAndAwaitAnswer(server, self);
  }

  /** Connects with a proof, as any executor of the application can. */
  void prove(Endpoint server) throws VerbsException {
    requestAndAwaitAnswer(server);
    send(confirm());
  }

  byte[] confirm() {
    ByteBuffer out = ByteBuffer.allocate(256);
    return Arrays.copyOf(out.array(), handshake.writeConfirm(out));
  }

  /** A LOCATE of one block that releases leases. */
  static byte[] locate(long id, BlockRange block, long... leases) {
    ByteBuffer out = ByteBuffer.allocate(256);
    Locate.Encoder encoder = new Locate.Encoder().begin(out, id, TIMEOUT_MS, Locate.OWN);
    for (long lease : leases) {
      encoder.lease(lease);
    }
    encoder.block(
        block.shuffleId(),
        block.mapId(),
        block.startReduceId(),
        block.endReduceId(),
        0,
        false,
        false);
    return Arrays.copyOf(out.array(), encoder.finish());
  }

  /** A RELEASE. */
  static byte[] release(long... leases) {
    ByteBuffer out = ByteBuffer.allocate(256);
    ByteBuffer message = Release.begin(out, leases.length);
    for (long lease : leases) {
      message.putLong(lease);
    }
    return Arrays.copyOf(out.array(), message.position());
  }

  /** Locates a block and keeps its lease; returns the answer at its first extent. */
  Located.Decoder locate(BlockRange block) {
    send(locate(1, block));
    Located.Decoder located = new Located.Decoder().begin(ByteBuffer.wrap(awaitMessage()));
    assertThat(located.nextExtent()).isTrue();
    return located;
  }

  /** READs bytes of an extent; whether that succeeded. */
  boolean read(Located.Decoder extent) {
    attempts++;
    int before = readResults.size();
    work.read(READ_ID, extent.address(), extent.remoteKey())
        .local(buffers.region(), 0, 8)
        .signalled();
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
    send(acceptAndTakeRequest());
    handshake.takeConfirm(ByteBuffer.wrap(awaitMessage()));
  }

  /** Accepts the next connection and takes its REQUEST; returns the REPLY. */
  byte[] acceptAndTakeRequest() throws VerbsException {
    accept();
    handshake = Handshake.ofResponder(new Identity(self, new byte[0]));
    ConnectionBinding binding =
        ConnectionBinding.of(
            requestHasQueuePair() ? connection.requestQueuePairNumber() : 0,
            connection.remoteAddress(),
            connection.localAddress());
    assertThat(handshake.takeRequest(ByteBuffer.wrap(awaitMessage()), binding)).isNull();
    ByteBuffer out = ByteBuffer.allocate(256);
    return Arrays.copyOf(out.array(), handshake.writeReply(out));
  }

  /** Accepts the next connection in place of the one before. */
  void accept() throws VerbsException {
    Connection requested = nextRequest();
    while (requested == null) {
      await();
      requested = nextRequest();
    }
    end();
    connection = requested;
    prepare();
    connection.accept(parameters());
  }

  /** Rejects a connection if one is requested. */
  void rejectIfRequested(byte... privateData) {
    Connection requested = nextRequest();
    if (requested == null) {
      await();
      return;
    }
    requested.reject(privateData);
    requested.close();
    attempts++;
  }

  private Connection nextRequest() {
    ConnectionEvent event = node.manager.pollEvent();
    while (event != null && event.type() != ConnectionEvent.Type.CONNECT_REQUEST) {
      event = node.manager.pollEvent();
    }
    return event == null ? null : event.connection();
  }

  /**
   * The next LOCATE; null when the connection ends or all blocks have an answer before. A RELEASE
   * is answered.
   */
  Locate awaitLocate(CollectedBlocks wanted) {
    while (!ended && wanted.answered() < wanted.blocks().size()) {
      poll();
      byte[] message = received.poll();
      if (message != null && message[0] == Messages.LOCATE) {
        return Locate.decode(ByteBuffer.wrap(message));
      }
      if (message != null) {
        sendReleased();
      }
    }
    return null;
  }

  void sendReleased() {
    ByteBuffer out = ByteBuffer.allocate(8);
    Release.writeReleased(out);
    send(out.array());
  }

  /** Begins the answer to a request with this id. */
  Answer answer(long requestId) {
    return new Answer(requestId);
  }

  /** A LOCATED. */
  final class Answer {
    private final ByteBuffer out = ByteBuffer.allocate(BUFFER_BYTES);
    private final Located.Encoder encoder;

    private Answer(long requestId) {
      encoder = new Located.Encoder().begin(out, requestId, Located.NO_CHECKSUM);
    }

    /** Bytes of a block from an offset on. */
    Answer extent(int block, long from, int lengthBytes, long blockBytes) {
      long address = readable.region().remote().address() + Math.floorMod(from, PERIOD);
      encoder.located(
          block, address, readable.region().remote().remoteKey(), lengthBytes, from, blockBytes, 0);
      return this;
    }

    /** An extent that no READ can reach. */
    Answer unreadable(int block, int lengthBytes) {
      encoder.located(block, 4096, 1, lengthBytes, 0, lengthBytes, 0);
      return this;
    }

    /** A block is not copied. */
    Answer notCopied(int block, long blockBytes) {
      encoder.notCopied(block, blockBytes);
      return this;
    }

    /** The rest of a block must be fetched by TCP. */
    Answer byTcp(int block, Located.Kind kind) {
      encoder.byTcp(block, kind);
      return this;
    }

    /** Sends it with a lease. */
    void send(long lease) {
      send(lease, 60_000);
    }

    /** The same with the rest of the lease. */
    void send(long lease, int leaseMs) {
      BarePeer.this.send(encode(lease, leaseMs));
    }

    byte[] encode(long lease, int leaseMs) {
      return Arrays.copyOf(out.array(), encoder.finish(lease, leaseMs));
    }
  }

  // Both.

  /** Sends bytes, and waits until they are sent or the connection ends. */
  void send(byte[] message) {
    post(message);
    while (sent < posted && !ended) {
      poll();
    }
  }

  /** Sends bytes without waiting; of the last 16 messages one must have been sent. */
  void post(byte[] message) {
    attempts++;
    long at = posted % SENDS * BUFFER_BYTES;
    buffers.memory().slice(at, message.length).put(message);
    work.send(1).local(buffers.region(), at, message.length).signalled();
    if (queuePair.postSend(work)) {
      posted++;
    } else {
      ended = true;
    }
  }

  /** The next message that was received. */
  byte[] awaitMessage() {
    byte[] message = nextMessage();
    assertThat(message).as("message before the end of the connection").isNotNull();
    return message;
  }

  /** The next message that was received; null when the connection ends first. */
  byte[] nextMessage() {
    while (received.isEmpty() && !ended) {
      poll();
    }
    return received.poll();
  }

  /** Whether the other end has ended the connection, as far as this end knows. */
  boolean hasEnded() {
    poll();
    return ended;
  }

  /** Waits until the other end ends the connection. */
  void awaitEnd() {
    while (!ended) {
      poll();
    }
  }

  private void poll() {
    ConnectionEvent event = node.manager.pollEvent();
    if (event != null && event.connection() == connection && ENDS.contains(event.type())) {
      ended = true;
    }
    if (node.queue.poll(16, this::onCompletion) == 0 && event == null) {
      await();
    }
  }

  private void await() {
    if (Thread.currentThread().isInterrupted()) {
      throw new IllegalStateException("interrupted at the time limit of the test");
    }
    node.channel.await(POLL_NS);
  }

  private void onCompletion(WorkCompletion completion) {
    long id = completion.requestId();
    if (queuePair == null || completion.queuePairNumber() != queuePair.number()) {
      return;
    }
    if (id == READ_ID) {
      readResults.add(completion.status());
    } else if (!completion.succeeded()) {
      ended = true;
    } else if (id == 1) {
      sent++;
    } else {
      int i = (int) id;
      byte[] bytes = new byte[(int) completion.byteLength()];
      buffers.memory().slice((long) (SENDS + i) * BUFFER_BYTES, bytes.length).get(bytes);
      received.add(bytes);
      if (receives < 0) {
        postReceive(i);
      }
    }
  }

  private ConnectionEvent.Type nextEvent() {
    ConnectionEvent event = node.manager.pollEvent();
    while (event == null || event.connection() != connection) {
      await();
      event = node.manager.pollEvent();
    }
    return event.type();
  }

  /** Ends its connection. */
  void end() {
    if (connection != null) {
      connection.close();
      connection = null;
      queuePair = null;
      ended = true;
    }
  }

  @Override
  public void close() {
    end();
    node.close();
    engine.close();
  }
}
