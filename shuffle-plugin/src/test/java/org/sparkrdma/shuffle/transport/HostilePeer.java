// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.wire.Confirm;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Release;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.Transport;

/** A proven executor that then breaks the protocol; plain verbs, one connection. */
final class HostilePeer implements AutoCloseable {
  /** Same as the default of a reader. */
  private static final int TIMEOUT_MS = 30_000;

  private static final long POLL_NS = 1_000_000;
  private static final int DEPTH = 64;
  private static final int BUFFER_BYTES = 64 << 10;
  private static final long ANSWER_ID = 1L << 32;
  private static final long READ_ID = 1L << 33;

  private final VerbsEngine engine;
  private final Device device;
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final ProtectionDomain domain;
  private final ConnectionManager manager;
  private final HostMemory memory;
  private final MemoryRegion region;
  private final ByteBuffer outgoing;
  private final ByteBuffer incoming;
  private final WorkRequest work = new WorkRequest(1);
  private final List<WorkStatus> failures = new ArrayList<>();
  private final BareInitiator initiator;
  private Connection connection;
  private QueuePair queuePair;
  private Hello request;
  private ConnectionBinding binding;
  private byte[] answer;
  private int answers;
  private int sentBytes;
  private boolean wasRead;
  private boolean disconnected;

  /** Attempts of all hostile peers. Confined to the test's thread. */
  private static int attempts;

  HostilePeer() throws VerbsException {
    this(TestEngine.load(Map.of()));
  }

  /** Uses another engine than {@link TestEngine}'s. */
  HostilePeer(VerbsEngine bare) throws VerbsException {
    engine = WatchedEngine.watch(bare);
    device = TestEngine.open(engine);
    channel = device.createCompletionChannel();
    queue = device.createCompletionQueue(4 * DEPTH, channel);
    domain = device.allocateProtectionDomain();
    manager = device.createConnectionManager(channel);
    initiator = new BareInitiator(device, channel, queue, domain, manager);
    memory = device.allocate(2L * BUFFER_BYTES);
    region = domain.register(memory, 0, 2L * BUFFER_BYTES, Set.of(AccessFlag.LOCAL_WRITE));
    outgoing = memory.slice(0, BUFFER_BYTES);
    incoming = memory.slice(BUFFER_BYTES, BUFFER_BYTES);
  }

  /**
   * Number of connections, messages and READs that all hostile peers have tried since the last
   * call.
   */
  static int takeAttempts() {
    int taken = attempts;
    attempts = 0;
    return taken;
  }

  boolean isOnIwarp() {
    return device.info().transport() == Transport.IWARP;
  }

  /** Whether its queue pair has no remote access before the proof. */
  boolean isAccessWithheld() {
    return device.info().can(Capability.QUEUE_PAIR_ACCESS);
  }

  /** Whether a peer that is refused never gets a queue pair. */
  boolean isKeptOut() {
    return initiator.path() == HelloPath.PRIVATE_DATA;
  }

  /** Connects with a proof, as any executor of the application can, and confirms it. */
  void connect(Endpoint server) throws VerbsException {
    connect(server, 4711);
  }

  /** The same as the executor of that incarnation. */
  void connect(Endpoint server, long incarnation) throws VerbsException {
    connectAs(incarnation, server);
    confirm(server);
  }

  /** Connects as the executor of that incarnation, and says nothing. */
  void connectAs(long incarnation, Endpoint server) throws VerbsException {
    resolve(server);
    request = Hello.request(0, server.incarnation(), incarnation, new byte[Hello.NONCE_BYTES]);
    binding = TestBinding.ofInitiator(device, connection);
    assertThat(request(request.encodeRequest(server.token(), binding)))
        .isEqualTo(ConnectionEvent.Type.ESTABLISHED);
  }

  /** Asks for a connection with this request; how that ends. */
  ConnectionEvent.Type ask(Endpoint server, byte[] content) throws VerbsException {
    resolve(server);
    return request(content);
  }

  /** Connects its queue pair, and sends a request only where that is private data. */
  ConnectionEvent.Type connectOnly(Endpoint server, byte[] content) throws VerbsException {
    resolve(server);
    return initiator.connect(connection, content).type();
  }

  private void resolve(Endpoint server) throws VerbsException {
    attempts++;
    connection = initiator.resolve(server, DEPTH);
    queuePair = connection.queuePair();
  }

  private ConnectionEvent.Type request(byte[] content) throws VerbsException {
    ConnectionEvent event = initiator.request(connection, content);
    answer = event.privateData();
    return event.type();
  }

  /** Confirms the connection, and waits for an answer to a message without meaning. */
  void confirm(Endpoint server) {
    receiveAnswer();
    ByteBuffer target = outgoing.slice(sentBytes, BUFFER_BYTES / 2);
    send(Confirm.encode(target, server.token(), binding, request, Hello.decode(answer)));
    send(new Release.Encoder().begin(outgoing.slice(sentBytes, BUFFER_BYTES / 2), 1).finish());
    awaitAnswer();
  }

  private void receiveAnswer() {
    work.receive(ANSWER_ID).local(region, BUFFER_BYTES, BUFFER_BYTES);
    assertThat(queuePair.postReceive(work)).isTrue();
  }

  /** Returns when one more answer has come. */
  void awaitAnswer() {
    int before = answers;
    while (answers == before) {
      assertThat(failures).isEmpty();
      poll();
    }
  }

  /** Sends bytes as they are, without waiting for anything. */
  void send(byte[] message) {
    outgoing.put(sentBytes, message);
    send(message.length);
  }

  private void send(int lengthBytes) {
    attempts++;
    work.send(1).local(region, sentBytes, lengthBytes).signalled();
    assertThat(queuePair.postSend(work)).isTrue();
    // Work posted before may not have been sent yet.
    sentBytes = (sentBytes + lengthBytes) % (BUFFER_BYTES / 2);
  }

  /** Sends a RELEASE of nothing, and takes its answer whenever it comes. */
  void release() {
    receiveAnswer();
    ByteBuffer target = outgoing.slice(sentBytes, BUFFER_BYTES / 2);
    send(new Release.Encoder().begin(target, 1).finish());
  }

  /** Asks for credits; the number that the answer grants. */
  int askForCredits() {
    receiveAnswer();
    ByteBuffer target = outgoing.slice(sentBytes, BUFFER_BYTES / 2);
    Release.Encoder encoder = new Release.Encoder().begin(target, 1);
    encoder.requestCredits();
    send(encoder.finish());
    awaitAnswer();
    return Release.decodeAnswer(incoming.slice(0, Release.HEADER_BYTES)).credits();
  }

  /** Sends a LOCATE for one block, and takes its answer whenever it comes. */
  void locateAndReceive(BlockRange block) {
    receiveAnswer();
    locate(block);
  }

  /** Sends a LOCATE for one block without waiting for anything. */
  void locate(BlockRange block) {
    ByteBuffer target = outgoing.slice(sentBytes, BUFFER_BYTES / 2);
    Locate.Encoder encoder = new Locate.Encoder().begin(target, 1, TIMEOUT_MS);
    encoder.block(
        block.shuffleId(), block.mapId(), block.startReduceId(), block.endReduceId(), 0, false);
    send(encoder.finish());
  }

  /** Locates a block and keeps its lease; returns the kind of the first piece in the answer. */
  Located.Kind hoard(BlockRange block) {
    return locateAndAwait(block).kind();
  }

  /** Locates a block and waits for the answer; returns the answer at its first piece. */
  Located.Decoder locateAndAwait(BlockRange block) {
    receiveAnswer();
    locate(block);
    awaitAnswer();
    Located.Decoder answer = new Located.Decoder().begin(incoming);
    assertThat(answer.nextPiece()).isTrue();
    return answer;
  }

  /** READs what the piece names; true when the bytes came. */
  boolean read(long address, int remoteKey, int lengthBytes) {
    attempts++;
    work.read(READ_ID, address, remoteKey).local(region, BUFFER_BYTES, lengthBytes).signalled();
    if (!queuePair.postSend(work)) {
      return false;
    }
    while (!wasRead && failures.isEmpty()) {
      poll();
    }
    return wasRead;
  }

  /** Ends when the test is interrupted at its time limit. */
  private void poll() {
    if (Thread.currentThread().isInterrupted()) {
      throw new IllegalStateException("interrupted; failures=" + failures);
    }
    if (queue.poll(DEPTH, this::onCompletion) == 0) {
      channel.await(POLL_NS);
    }
    ConnectionEvent event = manager.pollEvent();
    disconnected |= event != null && event.type() == ConnectionEvent.Type.DISCONNECTED;
  }

  private void onCompletion(WorkCompletion completion) {
    if (!completion.succeeded()) {
      failures.add(completion.status());
    } else if (completion.requestId() == READ_ID) {
      wasRead = true;
    } else if (completion.requestId() == ANSWER_ID) {
      answers++;
      incoming.clear().limit((int) completion.byteLength());
    }
  }

  /** Returns when the server has ended the connection. */
  void awaitEnd() {
    while (!disconnected) {
      poll();
    }
  }

  /** Ends its connection. */
  void disconnect() {
    connection.close();
    connection = null;
  }

  @Override
  public void close() {
    if (connection != null) {
      connection.close();
    }
    region.close();
    memory.close();
    initiator.close();
    device.close();
    engine.close();
  }
}
