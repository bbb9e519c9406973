// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockFetch;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.Delivery;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.fetch.TestDelivery;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.shuffle.thread.SameThreadExecutor;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Release;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/**
 * An executor that reads from an honest peer, on one thread, in virtual time and without a device.
 * Map output n has one block; the map id is its index in the lengths given.
 */
final class ScriptedReader {
  static final int CHUNK_BYTES = 16 << 10;
  static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
  private static final int MESSAGE_BYTES = 16 << 10;
  private static final long BUDGET_BYTES = 64L << 20;
  private static final int MAX_CONNECTIONS = 1_001;
  private static final InetAddress LOCALHOST = InetAddress.getLoopbackAddress();
  private static final byte[] KEY = new byte[Endpoint.TOKEN_BYTES];
  private static final Endpoint SELF =
      new Endpoint("1", TestAddresses.listener("127.0.0.1", 1), "none", 1, 1, KEY);
  private static final Endpoint SERVER =
      new Endpoint("2", TestAddresses.listener("127.0.0.1", 2), "none", 1, 2, KEY);

  private final DeviceInfo info;
  private final ScriptedConnection.Memory device =
      new ScriptedConnection.Memory() {
        @Override
        public DeviceInfo info() {
          return info;
        }

        @Override
        public CompletionQueue createCompletionQueue(
            int capacity, CompletionChannel channel, int vector) {
          PolledQueue created = new PolledQueue();
          queues.add(created);
          return created;
        }
      };
  private final List<PolledQueue> queues = new ArrayList<>();
  private final ScriptedConnection.Domain domain = new ScriptedConnection.Domain();
  private final RefusingDomain sinkDomain = new RefusingDomain(domain);
  private final RefusingDomain controlDomain = new RefusingDomain(domain);
  private final PinnedBudget budget = new PinnedBudget(BUDGET_BYTES, 4096);
  private final RegisteredPool sinks;
  private final RegisteredPool controlPool = pool(controlDomain, MESSAGE_BYTES, 1, 64 << 20);
  private final ControlBuffers control = new ControlBuffers(controlPool, 2 << 20);
  private final ReceiveMemory receive;
  private final int[] lengths;
  private final ShuffleCounters counters = new ShuffleCounters();
  private final ArrayDeque<Runnable> commands = new ArrayDeque<>();
  private final ScriptedConnection wire = new ScriptedConnection();
  private final BlockServer server;
  private final CompletionQueues completions;
  private final TransportContext context;
  private final ConnectionTable table;
  private final Peers peers;
  private final PeerConnection connection;
  private final Connector connector;
  private final ConnectionTurns turns;
  private final TransportAgent agent;
  private final ArrayDeque<ScriptedConnection.Work> underWay = new ArrayDeque<>();
  private int locates;
  private int handOvers;
  private int blocksAsked;
  private int releases;
  private int idlePeers;

  /** Credits that the peer has not granted. */
  private int creditsLeft = settings(0).locatesInFlight() - TransportSettings.CREDITS_WHEN_IDLE;

  private long nextLease = 1;
  private long nowNs;

  /** Whether completions come through the first queue, which an agent polls. */
  private boolean polled;

  /** Cost of a poll of a completion queue. */
  private Runnable costOfPoll = () -> {};

  /** A completion queue, which the agent polls in {@link #iterate}. */
  final class PolledQueue extends ScriptedConnection.Queue {
    private final ArrayDeque<WorkCompletion> completions = new ArrayDeque<>();
    private long polls;

    @Override
    public int poll(int limit, CompletionHandler handler) {
      polls++;
      costOfPoll.run();
      int handled = 0;
      while (handled < limit && !completions.isEmpty()) {
        handler.onCompletion(completions.poll());
        handled++;
      }
      return handled;
    }

    /** Completes work that no connection of this executor has posted. */
    void completeStrangeWork() {
      completions.add(
          new ScriptedConnection.Work(WorkIds.sends(MAX_CONNECTIONS), Opcode.SEND, null, 0, 0, true)
              .completion(0));
    }

    boolean isEmpty() {
      return completions.isEmpty();
    }

    long polls() {
      return polls;
    }
  }

  /** Delivers at once, and counts. */
  private final class DeliveryExecutor extends SameThreadExecutor {
    @Override
    public void execute(Runnable task) {
      handOvers++;
      super.execute(task);
    }
  }

  /** A connection manager without events. */
  private static final class NoEvents implements ConnectionManager {
    @Override
    public void setTrafficClass(int trafficClass) {}

    @Override
    public Listener listen(InetSocketAddress address, int backlog) {
      throw new UnsupportedOperationException("no listener");
    }

    @Override
    public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout) {
      throw new UnsupportedOperationException("no connection");
    }

    @Override
    public ConnectionEvent pollEvent() {
      return null;
    }

    @Override
    public void close() {}
  }

  /**
   * @param poolBytes receive memory
   * @param maxCopiedBytes heap memory of copies
   * @param lengths of the peer's blocks
   */
  ScriptedReader(int poolBytes, long maxCopiedBytes, int... lengths) throws VerbsException {
    this(new ReadLimit(1L << 40), poolBytes, maxCopiedBytes, lengths);
  }

  /** On a card, whose driver pins the rings of queues; with the default settings and one block. */
  static ScriptedReader onCard() throws VerbsException {
    return new ScriptedReader(
        Transport.INFINIBAND,
        ShuffleSettings.defaults().transport(BUDGET_BYTES),
        new ReadLimit(1L << 40),
        1 << 20,
        0,
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
        0,
        lengths);
  }

  /**
   * @param reads of all connections
   */
  ScriptedReader(ReadLimit reads, int poolBytes, long maxCopiedBytes, int... lengths)
      throws VerbsException {
    this(Transport.LOOPBACK, settings(poolBytes), reads, poolBytes, maxCopiedBytes, lengths);
  }

  private ScriptedReader(
      Transport transport,
      TransportSettings settings,
      ReadLimit reads,
      int poolBytes,
      long maxCopiedBytes,
      int... lengths)
      throws VerbsException {
    this.lengths = lengths;
    info =
        new DeviceInfo(
            "none",
            "none",
            transport,
            1,
            new DeviceLimits(9, 999, 1, 1, 1 << 22, 999, 1L << 40, 1 << 30, 16, 0, 56, 1),
            EnumSet.allOf(Capability.class),
            List.of());
    sinks = pool(sinkDomain, CHUNK_BYTES, 1, poolBytes);
    receive = new ReceiveMemory(sinks, maxCopiedBytes);
    Delivery delivery = TestDelivery.on(new DeliveryExecutor(), new SameThreadExecutor(), counters);
    server = UnusedBlockServer.of(device, domain, budget, () -> nowNs);
    MemoryQueue queue =
        new MemoryQueue(receive, reads, delivery, counters::waitedForMemory, () -> nowNs);
    completions = new CompletionQueues(device, null, 0, budget, settings);
    context =
        new TransportContext(
            settings,
            info,
            SELF,
            new byte[0],
            domain,
            completions,
            receive,
            new ReadPool(),
            queue,
            reads,
            control,
            server,
            delivery,
            counters,
            commands::add,
            new Owner(),
            reason -> {},
            () -> nowNs,
            new PeerLog(() -> nowNs));
    table = new ConnectionTable(context, MAX_CONNECTIONS);
    peers = new Peers(context, table);
    Peer peer = peers.of(SERVER.incarnation());
    peer.endpoint(SERVER);
    connection = table.initiate(peer, wire);
    peer.attempt(connection);
    // No manager: it has its only connection already.
    connector =
        new Connector(context, null, table, peers, List.of(new NetworkAddress(LOCALHOST, 8)), 1);
    turns =
        new ConnectionTurns(
            context.settings(),
            table,
            peers,
            connector,
            control,
            queue,
            delivery,
            receive,
            context.nanoClock().getAsLong());
    agent =
        new TransportAgent(
            settings, null, completions, new NoEvents(), context.owner(), () -> nowNs);
    agent.init(
        table,
        peers,
        connector,
        control,
        queue,
        delivery,
        receive,
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
        MESSAGE_BYTES,
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
        1,
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

  /**
   * A task that holds its blocks until {@link #releaseAll}, and records the time of each answer.
   */
  final class Task implements FetchHandler {
    private final long number;
    private final List<ManagedBuffer> held = new ArrayList<>();
    private final List<FallbackReason> failures = new ArrayList<>();
    private long lastAnswerNs;

    Task(long number) {
      this.number = number;
    }

    /** Fetches the blocks of these map outputs. */
    Task fetch(int... maps) {
      blocks(maps).forEach(peers::fetch);
      return this;
    }

    /** Adds blocks to the connection, which does not ask for a turn. */
    Task addUnnoticed(int... maps) {
      blocks(maps).forEach(connection.fetches()::fetch);
      return this;
    }

    private List<BlockProgress> blocks(int... maps) {
      List<BlockRange> ranges = new ArrayList<>();
      for (int map : maps) {
        ranges.add(new BlockRange(0, map, 0, 1));
      }
      return new BlockFetch(SERVER, ranges, null, this, done -> {}).blocks();
    }

    @Override
    public long reader() {
      return number;
    }

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      held.add(buffer.retain());
      lastAnswerNs = nowNs;
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      failures.add(reason);
      lastAnswerNs = nowNs;
    }

    @Override
    public void onSuspect(int index, SuspectBlock suspect) {
      throw new IllegalStateException("no checksums here");
    }

    int blocksHeld() {
      return held.size();
    }

    List<FallbackReason> failures() {
      return failures;
    }

    long lastAnswerMs() {
      return TimeUnit.NANOSECONDS.toMillis(lastAnswerNs);
    }

    /** Releases the blocks that were copied to the heap. */
    void releaseCopies() {
      held.removeIf(
          block -> {
            boolean copy = TestDelivery.isCopy(block);
            if (copy) {
              block.release();
            }
            return copy;
          });
    }

    void releaseAll() {
      held.forEach(ManagedBuffer::release);
      held.clear();
    }
  }

  /** Makes the device refuse to register more receive memory. */
  void refuseMemory() {
    sinkDomain.refuse();
  }

  /** Makes the device register receive memory again. */
  void allowMemory() {
    sinkDomain.allow();
  }

  /** Registrations of receive memory that the device has refused. */
  int refusals() {
    return sinkDomain.refusals();
  }

  /** A region of this executor is closed. */
  void closeOtherRegion() {
    budget.countClosedRegion();
  }

  /** Takes all memory of control messages until the returned action releases it. */
  Runnable exhaustControlBuffers() {
    controlDomain.refuse();
    List<ControlBuffer> taken = new ArrayList<>();
    Optional<ControlBuffer> next = control.tryTake();
    while (next.isPresent()) {
      taken.add(next.get());
      next = control.tryTake();
    }
    return () -> {
      allowControlMemory();
      taken.forEach(control::release);
    };
  }

  /** Makes the device register memory of control messages again, since a region is closed. */
  void allowControlMemory() {
    controlDomain.allow();
    budget.countClosedRegion();
  }

  /** Buffers of control messages. */
  ControlBuffers control() {
    return control;
  }

  /** Initiates connections to other peers, which stay idle. */
  void connectIdle(int count) throws VerbsException {
    for (int i = 0; i < count; i++) {
      ScriptedConnection other = new ScriptedConnection();
      Peer peer = peers.of(100L + idlePeers++);
      peer.endpoint(SERVER);
      PeerConnection attempt = table.initiate(peer, other);
      peer.attempt(attempt);
      connect(attempt, other);
      attempt.onCompletion(other.sends().poll().completion(0), nowNs);
    }
  }

  /** Attempts to connect to another peer, one after the other, none of which the peer answers. */
  void failAttempts(int count, Duration apart) {
    Peer peer = peers.of(99);
    peer.endpoint(SERVER);
    for (int i = 0; i < count; i++) {
      nowNs += apart.toNanos();
      ScriptedConnection other = new ScriptedConnection();
      PeerConnection attempt = table.initiate(peer, other);
      peer.attempt(attempt);
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
    receive(message);
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

  /** Memory of control buffers that connections hold. */
  long controlBytesHeld() {
    return (long) (controlPool.chunksOut() - ControlBuffers.RESERVE) * MESSAGE_BYTES;
  }

  /** Pinned memory of all uses. */
  long pinnedBytes() {
    return budget.pinnedBytes();
  }

  /** Lists of blocks and failures that the agent has handed over. */
  int handOvers() {
    return handOvers;
  }

  /** LOCATEs that the peer has answered. */
  int locates() {
    return locates;
  }

  /** Blocks of all LOCATEs, each as often as it was asked for. */
  int blocksAsked() {
    return blocksAsked;
  }

  /** RELEASEs that the peer has answered. */
  int releases() {
    return releases;
  }

  /**
   * READs of another connection of this executor.
   *
   * @param chunk receives their data
   */
  ConnectionReads otherReads(RegisteredChunk chunk) {
    return new ConnectionReads(context, chunk, CHUNK_BYTES, reads -> {});
  }

  Task task(long number) {
    return new Task(number);
  }

  RegisteredPool sinks() {
    return sinks;
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

  /** READs that are posted and not completed. */
  int readsUnderWay() {
    return (int) underWay.stream().filter(work -> work.opcode() != Opcode.SEND).count();
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
    costOfPoll = cost;
  }

  /** One iteration of the agent while it spins, instead of {@link #turn}; returns its work. */
  int iterate(long laterNs) {
    nowNs += laterNs;
    return agent.spin();
  }

  /** The completion queues of all connections, oldest first. */
  List<PolledQueue> queues() {
    return queues;
  }

  private void deliver(WorkCompletion completion) {
    if (polled) {
      queues.get(0).completions.add(completion);
    } else {
      connection.onCompletion(completion, nowNs);
    }
  }

  private void answerMessages() {
    while (!wire.sends().isEmpty()) {
      ScriptedConnection.Work work = wire.sends().poll();
      underWay.add(work);
      if (work.opcode() == Opcode.SEND) {
        answer(work.bytes());
      }
    }
    // A queue pair completes in order, thus no SEND before a READ posted earlier.
    while (!underWay.isEmpty() && underWay.peek().opcode() == Opcode.SEND) {
      complete(underWay.poll());
    }
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
    completeReads();
  }

  /** The peer answers every request and READs complete. */
  void answerAll() {
    answerMessages();
    completeReads();
  }

  private void completeReads() {
    while (!underWay.isEmpty()) {
      complete(underWay.poll());
    }
  }

  /** Number of the peer's blocks. */
  int lengths() {
    return lengths.length;
  }

  /** The oldest READ completes, if there is one. */
  void completeOneRead() {
    boolean completed = false;
    while (!completed && !underWay.isEmpty()) {
      ScriptedConnection.Work work = underWay.poll();
      complete(work);
      completed = work.opcode() != Opcode.SEND && work.signalled();
    }
  }

  private void complete(ScriptedConnection.Work work) {
    if (work.signalled()) {
      deliver(work.completion(work.length()));
    }
  }

  void run(int milliseconds) {
    for (int i = 0; i < milliseconds; i++) {
      step();
    }
  }

  private void answer(ByteBuffer message) {
    if (message.get(0) == 7) {
      creditsLeft++;
    } else if (message.get(0) == 3) {
      releases++;
      Release release = Release.decode(message);
      int credits = release.requestsCredits() ? creditsLeft : 0;
      creditsLeft -= credits;
      receive(HostileServer.released(release.requestId(), credits));
    } else if (message.get(0) == 1) {
      locates++;
      Locate locate = Locate.decode(message);
      blocksAsked += locate.blockCount();
      receive(located(locate));
    }
  }

  private byte[] located(Locate locate) {
    ByteBuffer bytes = ByteBuffer.allocate(MESSAGE_BYTES);
    Located.Encoder encoder = new Located.Encoder().begin(bytes, locate.requestId(), 0);
    for (int i = 0; i < locate.blockCount() && encoder.roomForSums() >= 0; i++) {
      int whole = lengths[(int) locate.mapId(i)];
      long from = locate.startOffset(i);
      encoder.located(i, 0x10_0000, 3, (int) (whole - from), from, whole, 0);
    }
    byte[] message = new byte[encoder.finish(nextLease++, 60_000)];
    bytes.get(0, message);
    return message;
  }

  private void receive(byte[] message) {
    ScriptedConnection.Work posted = wire.receives().poll();
    posted.bytes().put(message);
    deliver(posted.completion(message.length));
  }

  /** Ends the connection and closes the pools. */
  void close() {
    stop(peers);
    completions.close();
    receive.closeOpenChunk();
    sinks.close();
    control.close();
    controlPool.close();
  }

  /** Answers all blocks, then ends all connections, as the agent does when it stops. */
  static void stop(Peers peers) {
    peers.stop();
    boolean ended = true;
    while (ended) {
      ended = peers.endNext();
    }
  }

  private RegisteredPool pool(
      ProtectionDomain protectionDomain, int chunkBytes, int chunks, long bytes) {
    return new RegisteredPool(
        device,
        protectionDomain,
        budget,
        Set.of(AccessFlag.LOCAL_WRITE),
        chunkBytes,
        chunks,
        bytes,
        () -> nowNs);
  }
}
