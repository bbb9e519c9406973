// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.OptionalInt;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Release;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.device.Transport;

/**
 * An executor that reads from an honest {@link ScriptedPeer}, on one thread, in virtual time and
 * without a device.
 */
final class ScriptedReader {
  static final int CHUNK_BYTES = ScriptedMemory.CHUNK_BYTES;
  static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
  static final int MAX_CONNECTIONS = 1_001;
  private static final InetAddress LOCALHOST = InetAddress.getLoopbackAddress();
  private static final byte[] KEY = new byte[Endpoint.TOKEN_BYTES];
  private static final Endpoint SELF =
      new Endpoint("1", TestAddresses.listener("127.0.0.1", 1), "none", 1, 1, KEY);
  static final Endpoint SERVER =
      new Endpoint("2", TestAddresses.listener("127.0.0.1", 2), "none", 1, 2, KEY);

  private final PolledDevice device;
  private final ScriptedMemory memory;
  private final ShuffleCounters counters = new ShuffleCounters();
  private final ArrayDeque<Runnable> commands = new ArrayDeque<>();
  private final ScriptedConnection wire = new ScriptedConnection();
  private final ScriptedPeer peer;
  private final BlockServer server;
  private final CompletionQueues completions;
  private final TransportContext context;
  private final ConnectionTable table;
  private final Peers peers;
  private final PeerConnection connection;
  private final Connector connector;
  private final ConnectionTurns turns;
  private final TransportAgent agent;
  private int idlePeers;
  private long nowNs;

  /** Whether completions come through the first queue, which an agent polls. */
  private boolean polled;

  /**
   * @param poolBytes receive memory
   * @param lengths of the peer's blocks
   */
  ScriptedReader(int poolBytes, int... lengths) throws VerbsException {
    this(new ReadLimit(1L << 40), poolBytes, lengths);
  }

  /** On a card, whose driver pins the rings of queues; with the default settings and one block. */
  static ScriptedReader onCard() throws VerbsException {
    return new ScriptedReader(
        Transport.INFINIBAND,
        ShuffleSettings.defaults().transport(ScriptedMemory.BUDGET_BYTES),
        new ReadLimit(1L << 40),
        1 << 20,
        1_000);
  }

  /**
   * With up to 1,001 connections, as many to a completion queue as with the default settings.
   *
   * @param lengths of the peer's blocks
   */
  static ScriptedReader ofManyConnections(int poolBytes, int... lengths) throws VerbsException {
    return new ScriptedReader(
        Transport.LOOPBACK,
        settings(poolBytes, MAX_CONNECTIONS),
        new ReadLimit(1L << 40),
        poolBytes,
        lengths);
  }

  /**
   * @param reads of all connections
   */
  ScriptedReader(ReadLimit reads, int poolBytes, int... lengths) throws VerbsException {
    this(Transport.LOOPBACK, settings(poolBytes), reads, poolBytes, lengths);
  }

  private ScriptedReader(
      Transport transport,
      TransportSettings settings,
      ReadLimit reads,
      int poolBytes,
      int... lengths)
      throws VerbsException {
    device = new PolledDevice(transport);
    memory = new ScriptedMemory(device, poolBytes, counters, () -> nowNs);
    peer =
        new ScriptedPeer(
            wire,
            settings(0).locatesInFlight() - TransportSettings.CREDITS_WHEN_IDLE,
            this::deliver,
            lengths);
    server = UnusedBlockServer.of(device, memory.domain(), memory.budget(), () -> nowNs);
    completions = new CompletionQueues(device, null, 0, memory.budget(), settings);
    context =
        new TransportContext(
            settings,
            device.info(),
            SELF,
            new byte[0],
            memory.domain(),
            completions,
            memory.receive(),
            new ReadPool(),
            reads,
            memory.control(),
            server,
            counters,
            commands::add,
            new Owner(),
            reason -> {},
            () -> nowNs,
            new PeerLog(() -> nowNs));
    table = new ConnectionTable(context, MAX_CONNECTIONS);
    peers = new Peers(context, table);
    Peer serving = peers.of(SERVER.incarnation());
    serving.endpoint(SERVER);
    connection = table.initiate(serving, wire);
    serving.attempt(connection);
    // No manager: it has its only connection already.
    connector =
        new Connector(context, null, table, peers, List.of(new NetworkAddress(LOCALHOST, 8)), 1);
    turns =
        new ConnectionTurns(
            context.settings(),
            table,
            peers,
            connector,
            memory.control(),
            memory.receive(),
            context.nanoClock().getAsLong());
    agent =
        new TransportAgent(
            settings,
            null,
            completions,
            new EventlessConnectionManager(),
            context.owner(),
            () -> nowNs);
    agent.init(
        table,
        peers,
        connector,
        server,
        memory.control(),
        memory.receive(),
        failure -> {
          throw new IllegalStateException(failure);
        });
    connect(connection, wire);
  }

  private static TransportSettings settings(long poolBytes) {
    return settings(poolBytes, 16);
  }

  private static TransportSettings settings(long poolBytes, int maxConnections) {
    return new TransportSettings(
        ScriptedMemory.MESSAGE_BYTES,
        3,
        1_000,
        1L << 40,
        CHUNK_BYTES,
        poolBytes,
        Duration.ofSeconds(5),
        REQUEST_TIMEOUT,
        Duration.ofSeconds(20),
        Duration.ofMinutes(1),
        Duration.ofSeconds(1),
        Duration.ofSeconds(1),
        maxConnections,
        16,
        true,
        Duration.ZERO,
        new PacketSettings(OptionalInt.empty(), 17, 6),
        false);
  }

  private void connect(PeerConnection attempt, ScriptedConnection ofAttempt) throws VerbsException {
    if (!attempt.prepare()) {
      throw new IllegalStateException("no control buffers");
    }
    Hello request = Hello.request(0, 2, 1, new byte[Hello.NONCE_BYTES]);
    attempt.setup().request(request, 16);
    Hello answer = request.answer(1, new byte[Hello.NONCE_BYTES]);
    ConnectionBinding binding = TestBinding.ofInitiator(device, ofAttempt);
    if (!attempt.setup().takeAnswer(answer.encodeAnswer(KEY, binding, request))) {
      throw new IllegalStateException("peer not proven");
    }
    peers.establish(attempt);
  }

  /** Initiates connections to other peers, which stay idle. */
  void connectIdle(int count) throws VerbsException {
    for (int i = 0; i < count; i++) {
      ScriptedConnection other = new ScriptedConnection();
      Peer idle = peers.of(100L + idlePeers++);
      idle.endpoint(SERVER);
      PeerConnection attempt = table.initiate(idle, other);
      idle.attempt(attempt);
      connect(attempt, other);
      attempt.onCompletion(other.sends().poll().completion(0), nowNs);
    }
  }

  /** Attempts to connect to another peer, one after the other, none of which the peer answers. */
  void failAttempts(int count, Duration apart) {
    Peer silent = peers.of(99);
    silent.endpoint(SERVER);
    for (int i = 0; i < count; i++) {
      nowNs += apart.toNanos();
      ScriptedConnection other = new ScriptedConnection();
      PeerConnection attempt = table.initiate(silent, other);
      silent.attempt(attempt);
      connector.onEvent(
          new ConnectionEvent(
              ConnectionEvent.Type.UNREACHABLE, other, null, new byte[0], "no answer"),
          nowNs);
    }
  }

  /** Answers a RELEASE of the peer, which does not take the answer. */
  void sendToSilentPeer() {
    // A closed server executes commands at once.
    server.close();
    byte[] message = new byte[Release.HEADER_BYTES];
    new Release.Encoder().begin(ByteBuffer.wrap(message), 1).finish();
    peer.send(message);
    while (!commands.isEmpty()) {
      commands.poll().run();
    }
  }

  /** Connections that this executor has not ended. */
  int connections() {
    return table.size();
  }

  /** Whether this executor has ended the connection. */
  boolean isClosed() {
    return connection.isClosed();
  }

  /**
   * READs of another connection of this executor.
   *
   * @param chunk receives their data
   */
  ConnectionReads otherReads(RegisteredChunk chunk) {
    return new ConnectionReads(context, chunk, CHUNK_BYTES, reads -> {});
  }

  ScriptedTask task() {
    return new ScriptedTask(peers, connection, () -> nowNs);
  }

  /** The peer from which it reads. */
  ScriptedPeer peer() {
    return peer;
  }

  ScriptedMemory memory() {
    return memory;
  }

  RegisteredPool sinks() {
    return memory.sinks();
  }

  ShuffleCounters counters() {
    return counters;
  }

  /** Gives the turns that are due after some time, in which the peer does nothing. */
  void giveTurns(Duration later) {
    turn(later.toNanos());
  }

  /** Time that the agent would sleep now. */
  Duration sleep() {
    return Duration.ofNanos(turns.sleepNs());
  }

  /** LOCATEs and other messages that are posted and not answered. */
  int messagesPosted() {
    return wire.sends().size();
  }

  /** One millisecond in which the peer answers every request and completes no READ. */
  void stepWithoutReads() {
    turn(1_000_000);
    answerMessages();
  }

  /** Gives the turns that are due after some time; returns the work that the agent counts. */
  int turn(long laterNs) {
    nowNs += laterNs;
    return turns.run(nowNs);
  }

  /** Completions come through the first completion queue from now on; see {@link #iterate}. */
  void usePolls(Runnable cost) {
    polled = true;
    device.setCostOfPoll(cost);
  }

  /** One iteration of the agent while it spins, instead of {@link #turn}; returns its work. */
  int iterate(long laterNs) {
    nowNs += laterNs;
    return agent.spin();
  }

  /** The completion queues of all connections, oldest first. */
  List<PolledQueue> queues() {
    return device.queues();
  }

  private void deliver(WorkCompletion completion) {
    if (polled) {
      device.queues().get(0).add(completion);
    } else {
      connection.onCompletion(completion, nowNs);
    }
  }

  private void answerMessages() {
    peer.answerMessages();
    while (!commands.isEmpty()) {
      commands.poll().run();
    }
    if (connection.broken() != null) {
      throw new IllegalStateException(connection.broken().detail());
    }
  }

  /** One millisecond in which the peer answers every request and READs complete. */
  void step() {
    stepWithoutReads();
    peer.completeReads();
  }

  /** The peer answers every request and READs complete. */
  void answerAll() {
    answerMessages();
    peer.completeReads();
  }

  void run(int milliseconds) {
    for (int i = 0; i < milliseconds; i++) {
      step();
    }
  }

  /** Ends the connection and closes the pools. */
  void close() {
    stop(peers);
    completions.close();
    memory.close();
  }

  /** Answers all blocks, then ends all connections, as the agent does when it stops. */
  static void stop(Peers peers) {
    peers.stop();
    boolean ended = true;
    while (ended) {
      ended = peers.endNext();
    }
  }
}
