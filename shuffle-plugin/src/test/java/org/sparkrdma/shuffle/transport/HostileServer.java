// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.HelloMessage;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MessageType;
import org.sparkrdma.shuffle.wire.Release;
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

/**
 * An executor of the application that answers requests as a script says; bare verbs, one thread,
 * which owns everything.
 */
final class HostileServer implements AutoCloseable {
  /** Bytes that it lets others read. */
  static final int CONTENT_BYTES = 1 << 20;

  /** Length after which these bytes repeat. */
  static final int PERIOD = 1_000;

  /** LOCATEs that a reader of {@link TestExecutor} may have open. */
  static final int MAX_LOCATES = 4;

  private static final long POLL_NS = 1_000_000;
  private static final int DEPTH = 64;
  private static final int BUFFER_BYTES = 16 << 10;
  private static final int READ_ID = 4 * DEPTH;

  private final VerbsEngine engine;
  private final Device device;
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final ProtectionDomain domain;
  private final ConnectionManager manager;
  private final HostMemory memory;
  private final MemoryRegion messages;
  private final MemoryRegion content;
  private final WorkRequest work = new WorkRequest(1);
  private final ArrayDeque<Integer> freeSends = new ArrayDeque<>();
  private final BlockingQueue<WorkStatus> reads = new LinkedBlockingQueue<>();
  private final BlockingQueue<ConnectionEvent> held = new LinkedBlockingQueue<>();
  private final Endpoint endpoint;
  private final Script script;
  private final AtomicInteger locates = new AtomicInteger();
  private final AtomicInteger connectionRequests = new AtomicInteger();
  private final AtomicInteger confirms = new AtomicInteger();
  private final Thread thread;
  private QueuePair queuePair;
  private ConnectionBinding binding;
  private Connection connection;

  /** Credits that an honest server has not granted. */
  private int creditsLeft = MAX_LOCATES - 1;

  private volatile boolean acceptsHeld;
  private volatile boolean stopping;

  /** Behaviour of the server. */
  interface Script {
    /** A LOCATE is received. */
    void onLocate(Question question);

    /** A RELEASE is received; answered as the protocol demands. */
    default void onRelease(HostileServer server, Release release) {
      int credits = release.requestsCredits() ? server.creditsLeft : 0;
      server.creditsLeft -= credits;
      server.send(released(release.requestId(), credits));
    }

    /** The answer to a connection request. */
    default byte[] answer(Hello request, ConnectionBinding binding, Endpoint self) {
      return request
          .answer(request.generation() + 1, new byte[Hello.NONCE_BYTES])
          .encodeAnswer(self.token(), binding, request);
    }

    /** Whether a connection request is accepted; else it waits for {@link HostileServer#reject}. */
    default boolean accepts() {
      return true;
    }

    /** A connection request is accepted; an honest server waits for the first message. */
    default void onAccepted(HostileServer server) {}
  }

  /**
   * A LOCATE that is to be answered.
   *
   * @param number 1 for the first of this server
   */
  record Question(HostileServer server, int number, long requestId, int blocks) {
    /** Begins a LOCATED. */
    Answer answer() {
      return new Answer(server, requestId);
    }
  }

  /** A LOCATED that is written piece by piece. */
  static final class Answer {
    private final HostileServer server;
    private final ByteBuffer bytes = ByteBuffer.allocate(BUFFER_BYTES);
    private final Located.Encoder encoder = new Located.Encoder();

    Answer(HostileServer server, long requestId) {
      this.server = server;
      encoder.begin(bytes, requestId, Located.NO_CHECKSUM);
    }

    /** A piece that can be read. */
    Answer piece(int block, long blockOffset, int lengthBytes, long blockBytes) {
      var remote = server.content.remote();
      encoder.located(
          block, remote.address(), remote.remoteKey32(), lengthBytes, blockOffset, blockBytes, 0);
      return this;
    }

    /** A piece that cannot be read. */
    Answer unreadable(int block, int lengthBytes) {
      encoder.located(block, 0x1234_0000L, 0x7eef, lengthBytes, 0, lengthBytes, 0);
      return this;
    }

    Answer byTcp(int block, Located.Kind kind) {
      encoder.byTcp(block, kind);
      return this;
    }

    void send(long leaseId) {
      send(leaseId, 60_000);
    }

    void send(long leaseId, int leaseMs) {
      byte[] message = new byte[encoder.finish(leaseId, leaseMs)];
      bytes.get(0, message);
      server.send(message);
    }
  }

  HostileServer(long incarnation, Script script) throws VerbsException {
    this(TestEngine.load(Map.of()), incarnation, script);
  }

  /** Uses another engine than {@link TestEngine}'s. */
  HostileServer(VerbsEngine bare, long incarnation, Script script) throws VerbsException {
    this.script = script;
    engine = WatchedEngine.watch(bare);
    device = TestEngine.open(engine);
    channel = device.createCompletionChannel();
    queue = device.createCompletionQueue(4 * DEPTH, channel);
    domain = device.allocateProtectionDomain();
    manager = device.createConnectionManager(channel);
    memory = device.allocate(2L * DEPTH * BUFFER_BYTES + CONTENT_BYTES);
    messages =
        domain.register(memory, 0, 2L * DEPTH * BUFFER_BYTES, Set.of(AccessFlag.LOCAL_WRITE));
    content =
        domain.register(
            memory, 2L * DEPTH * BUFFER_BYTES, CONTENT_BYTES, Set.of(AccessFlag.REMOTE_READ));
    ByteBuffer readable = memory.slice(2L * DEPTH * BUFFER_BYTES, CONTENT_BYTES);
    for (int i = 0; i < CONTENT_BYTES; i++) {
      readable.put(i, contentAt(i));
    }
    InetSocketAddress address =
        manager.listen(new InetSocketAddress(TestEngine.address(), 0), DEPTH).address();
    endpoint =
        new Endpoint(
            Long.toString(incarnation),
            TestAddresses.listener(address),
            "soft",
            Hello.PROTOCOL,
            incarnation,
            new byte[Endpoint.TOKEN_BYTES]);
    thread = new Thread(this::run, "hostile-server");
    thread.start();
  }

  /**
   * A byte of the memory that peers may read. Its content repeats after {@link #PERIOD} bytes, so
   * all pieces of that length are equal.
   */
  static byte contentAt(int index) {
    int inPeriod = index % PERIOD;
    return (byte) (inPeriod * 31 + (inPeriod >> 3));
  }

  static byte[] released(long requestId) {
    return released(requestId, 0);
  }

  static byte[] released(long requestId, int credits) {
    ByteBuffer bytes = ByteBuffer.allocate(Release.HEADER_BYTES);
    Release.encodeAnswer(bytes, requestId, credits);
    return bytes.array();
  }

  Endpoint endpoint() {
    return endpoint;
  }

  /** LOCATEs received so far; any thread. */
  int locates() {
    return locates.get();
  }

  /** Connection requests answered so far; any thread. */
  int connectionRequests() {
    return connectionRequests.get();
  }

  /** CONFIRMs received so far; any thread. */
  int confirms() {
    return confirms.get();
  }

  private void run() {
    while (!stopping) {
      ConnectionEvent event = manager.pollEvent();
      while (event != null) {
        if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
          onRequest(event);
        }
        event = manager.pollEvent();
      }
      if (acceptsHeld && !held.isEmpty()) {
        onAccept(held.remove());
      }
      if (queue.poll(DEPTH, this::onCompletion) == 0) {
        channel.await(POLL_NS);
      }
    }
  }

  private void onRequest(ConnectionEvent request) {
    if (script.accepts()) {
      onAccept(request);
    } else {
      held.add(request);
    }
  }

  private void onAccept(ConnectionEvent request) {
    connection = request.connection();
    accept(request);
  }

  /** Requests that are not accepted yet; any thread. */
  int heldRequests() {
    return held.size();
  }

  /** Accepts the requests that it holds; any thread. */
  void acceptHeld() {
    acceptsHeld = true;
  }

  /** Rejects a request that was not accepted, without a reason; waits for it. */
  void reject() throws InterruptedException {
    Connection request = held.poll(10, TimeUnit.SECONDS).connection();
    request.reject(new byte[0]);
    request.close();
  }

  private void accept(ConnectionEvent request) {
    try {
      queuePair =
          connection.createQueuePair(
              domain,
              new QueuePairSettings(
                  queue, queue, DEPTH, DEPTH, 1, 0, Set.of(AccessFlag.REMOTE_READ)));
      freeSends.clear();
      for (int i = 0; i < DEPTH; i++) {
        freeSends.add(i);
        receive(i);
      }
      binding = TestBinding.ofResponder(connection);
      boolean bySend = HelloPath.of(device.info()) == HelloPath.SEND;
      byte[] answer = bySend ? new byte[0] : answer(request.privateData());
      connection.accept(new ConnectionParameters(answer, 4, 6, 7, 17, Duration.ofSeconds(10)));
      if (!bySend) {
        script.onAccepted(this);
      }
    } catch (VerbsException e) {
      throw new IllegalStateException(e);
    }
  }

  private byte[] answer(byte[] request) {
    connectionRequests.incrementAndGet();
    return script.answer(Hello.decode(request), binding, endpoint);
  }

  /** The request came as a message; so does the answer, unless the script has none. */
  private void onHello(ByteBuffer message) {
    byte[] answer = answer(HelloMessage.decode(message));
    if (answer != null) {
      ByteBuffer out = ByteBuffer.allocate(BUFFER_BYTES);
      byte[] bytes = new byte[HelloMessage.encode(out, answer)];
      out.get(0, bytes);
      send(bytes);
    }
    script.onAccepted(this);
  }

  /** Ends the connection; on the server's thread. */
  void disconnect() {
    connection.disconnect();
  }

  private void receive(int slot) {
    work.receive(DEPTH + slot).local(messages, (long) (DEPTH + slot) * BUFFER_BYTES, BUFFER_BYTES);
    queuePair.postReceive(work);
  }

  private void onCompletion(WorkCompletion completion) {
    int slot = (int) completion.requestId();
    if (completion.queuePairNumber() != queuePair.number()) {
      return;
    }
    if (slot == READ_ID) {
      reads.add(completion.status());
    }
    if (slot == READ_ID || !completion.succeeded()) {
      return;
    }
    if (slot < DEPTH) {
      freeSends.add(slot);
      return;
    }
    ByteBuffer message =
        memory
            .slice((long) slot * BUFFER_BYTES, (int) completion.byteLength())
            .order(ByteOrder.LITTLE_ENDIAN);
    switch (MessageType.of(message)) {
      case LOCATE ->
          script.onLocate(
              new Question(
                  this,
                  locates.incrementAndGet(),
                  message.getLong(8),
                  Short.toUnsignedInt(message.getShort(4))));
      case RELEASE -> script.onRelease(this, Release.decode(message));
      case CONFIRM -> confirms.incrementAndGet();
      case HELLO -> onHello(message);
      default -> throw new IllegalStateException("the reader sends no request");
    }
    receive(slot - DEPTH);
  }

  /** Sends bytes as they are; on the server's thread. */
  void send(byte[] message) {
    Integer slot = freeSends.poll();
    if (slot == null) {
      return;
    }
    long at = (long) slot * BUFFER_BYTES;
    memory.slice(at, message.length).put(message);
    work.send(slot).local(messages, at, message.length).signalled();
    queuePair.postSend(work);
  }

  /** READs from the memory of the connected peer; on the server's thread. */
  void read(long address, int remoteKey, int lengthBytes) {
    work.read(READ_ID, address, remoteKey).local(messages, 0, lengthBytes).signalled();
    queuePair.postSend(work);
  }

  /** Result of a READ. */
  WorkStatus awaitRead() throws InterruptedException {
    return reads.poll(10, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    stopping = true;
    channel.wakeup();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    manager.close();
    List.of(content, messages).forEach(MemoryRegion::close);
    memory.close();
    device.close();
    engine.close();
  }
}
