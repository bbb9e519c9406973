// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.serve.ServerParameters;
import org.sparkrdma.shuffle.serve.VirtualBlockServer;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.MessageType;
import org.sparkrdma.shuffle.wire.ProofKey;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/**
 * An executor in virtual time: the agent with all its parts, receive memory, control buffers and
 * the block server are those of the product with the default settings. Device, network and map
 * outputs are simulated. An iteration of the agent takes {@link #ITERATION_NS}, and {@link
 * #WORK_NS} for each thing that it does. For one thread.
 */
final class VirtualExecutor implements AutoCloseable {
  private static final long ITERATION_NS = 300;
  private static final long WORK_NS = 500;
  private static final long TICK_NS = Duration.ofMillis(5).toNanos();
  private static final long PAGE_BYTES = 4096;

  private final VirtualFabric fabric;
  private final VirtualDevice device;
  private final ShuffleCounters counters = new ShuffleCounters();
  private final PinnedBudget budget;
  private final TransportMemory memory;
  private final VirtualBlockServer server;
  private final CompletionQueues completions;
  private final TransportAgent agent;
  private final ConnectionTable table;
  private final Peers peers;
  private final InetSocketAddress address;
  private final Endpoint self;
  private final VirtualConnectionManager manager;
  private boolean scheduled;
  private boolean ticking;
  private boolean hung;
  private boolean closed;
  private long busyUntilNs;
  private long ingressFreeNs;
  private long egressFreeNs;
  private long bytesInFlight;
  private long maxBytesInFlight;
  private final Map<MessageType, Long> messages = new EnumMap<>(MessageType.class);
  private long workDone;
  private int maxDeregistrations;
  private int maxConnections;
  private int queuePairs;
  private int requests;
  private byte[] lastRequest;
  private long spentNs;

  /**
   * @param number from 0
   * @param pinnedBytes {@code pinned.max}
   * @param connections {@code connections.max}
   * @param outputFile sparse file that stands for all map outputs
   * @param partitions of each map output
   * @param blockBytes length of each partition
   */
  VirtualExecutor(
      VirtualFabric fabric,
      int number,
      long pinnedBytes,
      int connections,
      Path outputFile,
      int partitions,
      int blockBytes)
      throws VerbsException {
    this(
        fabric,
        number,
        pinnedBytes,
        Map.of("connections.max", Integer.toString(connections)),
        outputFile,
        partitions,
        blockBytes);
  }

  /**
   * The same with other settings.
   *
   * @param changed settings by their names without the prefix
   */
  VirtualExecutor(
      VirtualFabric fabric,
      int number,
      long pinnedBytes,
      Map<String, String> changed,
      Path outputFile,
      int partitions,
      int blockBytes)
      throws VerbsException {
    this.fabric = fabric;
    this.device = new VirtualDevice(fabric.hasPrivateData());
    Map<String, String> keys = new HashMap<>();
    keys.put("spark.shuffle.rdma.verify", "false");
    changed.forEach((name, value) -> keys.put("spark.shuffle.rdma." + name, value));
    ShuffleSettings settings = ShuffleSettings.of(keys);
    TransportSettings transport = settings.transport(pinnedBytes);
    budget = new PinnedBudget(pinnedBytes, PAGE_BYTES);
    address = new InetSocketAddress(addressOf(number), 1);
    fabric.add(address.getAddress(), this);
    NetworkAddress network = new NetworkAddress(address.getAddress(), 8);
    self =
        new Endpoint(
            Integer.toString(number),
            List.of(new ListenerAddress(network, 1)),
            "virtual",
            1,
            number + 1L,
            new byte[Endpoint.TOKEN_BYTES]);
    Channel channel = new Channel();
    manager = new VirtualConnectionManager(fabric, this, address);
    Owner owner = new Owner();
    completions = new CompletionQueues(device, channel, 0, budget, transport);
    memory = new TransportMemory(device, device, budget, transport, counters, fabric::nowNs);
    agent = new TransportAgent(transport, channel, completions, manager, owner, fabric::nowNs);
    server =
        new VirtualBlockServer(
            new ServerParameters(
                settings.serve(),
                new VirtualOutputs(outputFile, partitions, blockBytes),
                device,
                device,
                budget,
                counters,
                peer -> {},
                agent::execute,
                fabric::nowNs));
    ReadLimit reads = new ReadLimit(transport.readBytesInFlight());
    TransportContext context =
        new TransportContext(
            transport,
            device.info(),
            self,
            new byte[0],
            device,
            completions,
            memory.receive(),
            new ReadPool(),
            reads,
            memory.control(),
            server.server(),
            counters,
            agent::execute,
            owner,
            reason -> {},
            fabric::nowNs,
            new PeerLog(fabric::nowNs));
    table = new ConnectionTable(context, transport.maxConnections());
    peers = new Peers(context, table);
    agent.init(
        table,
        peers,
        new Connector(context, manager, table, peers, List.of(network), 16),
        server.server(),
        memory.control(),
        memory.receive(),
        cause -> {
          throw new IllegalStateException(cause);
        });
  }

  private static InetAddress addressOf(int number) {
    byte[] bytes = {10, (byte) (number >> 16), (byte) (number >> 8), (byte) number};
    try {
      return InetAddress.getByAddress(bytes);
    } catch (java.net.UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  VirtualDevice device() {
    return device;
  }

  Endpoint endpoint() {
    return self;
  }

  /** Fetches blocks of a peer; their buffers are released when they arrive. */
  void fetch(Endpoint peer, List<BlockRange> blocks, FetchHandler handler) {
    FetchRequest request = FetchHandler.request(peer, blocks, handler);
    agent.execute(() -> peers.fetch(request));
  }

  /** The agent runs as soon as it has time. */
  void wake() {
    if (!scheduled && !hung && !closed) {
      scheduled = true;
      fabric.at(busyUntilNs, this::iterate);
    }
  }

  private void iterate() {
    scheduled = false;
    if (hung || closed) {
      return;
    }
    int deregistered = device.deregistrations();
    int work = agent.doWork();
    maxDeregistrations = Math.max(maxDeregistrations, device.deregistrations() - deregistered);
    work += server.workOnDisk();
    workDone += work;
    maxConnections = Math.max(maxConnections, table.size());
    busyUntilNs = fabric.nowNs() + ITERATION_NS + work * WORK_NS + spentNs;
    spentNs = 0;
    if (work > 0 || manager.hasEvents()) {
      wake();
    } else if (!ticking) {
      ticking = true;
      fabric.after(
          TICK_NS,
          () -> {
            ticking = false;
            wake();
          });
    }
  }

  /** Its agent runs no more, as in a stopped process; its connections stay open. */
  void hang() {
    hung = true;
  }

  /** Its agent runs again, after {@link #hang}. */
  void resume() {
    hung = false;
    wake();
  }

  void onEvent(ConnectionEvent event) {
    manager.add(event);
    wake();
  }

  int nextQueuePairNumber() {
    return ++queuePairs;
  }

  /** It sends a message. */
  void countMessage(MessageType type) {
    messages.merge(type, 1L, Long::sum);
  }

  /** A call of the current iteration takes this long. */
  void spend(long durationNs) {
    spentNs += durationNs;
  }

  void onRequestSent(byte[] privateData) {
    requests++;
    lastRequest = privateData;
  }

  /** The last connection request that it has sent, as another host could have recorded it. */
  byte[] lastRequest() {
    return lastRequest;
  }

  /** Sends a recorded connection request, from the first queue pair; nothing takes the answer. */
  void replay(byte[] request, Endpoint peer) throws VerbsException {
    resolved(peer).connect(ConnectionParameters.of(request));
  }

  /** Sends a proven connection request in the name of another executor, and never confirms it. */
  void requestAs(Endpoint claimed, Endpoint peer) throws VerbsException {
    VirtualConnection connection = resolved(peer);
    Hello request =
        Hello.request(0, peer.incarnation(), claimed.incarnation(), new byte[Hello.NONCE_BYTES]);
    byte[] key = ProofKey.of(peer.token(), new byte[0]);
    connection.connect(
        ConnectionParameters.of(
            request.encodeRequest(key, TestBinding.ofInitiator(device, connection))));
  }

  private VirtualConnection resolved(Endpoint peer) throws VerbsException {
    ListenerAddress to = peer.addresses().get(0);
    VirtualConnection connection =
        new VirtualConnection(
            fabric, this, address, new InetSocketAddress(to.network().address(), to.port()), 0);
    VirtualDevice.Queue queue = new VirtualDevice.Queue(8);
    connection.createQueuePair(device, new QueuePairSettings(queue, queue, 1, 1, 1, 0, Set.of()));
    return connection;
  }

  /** All objects of its agent, its block server and its memory. */
  Set<Object> objects() throws IllegalAccessException {
    return new ObjectWalk().from(new Object[] {agent, peers, table, server, memory, completions});
  }

  /** Connection requests that it has sent. */
  int requests() {
    return requests;
  }

  /** Connections that it may use. */
  List<VirtualConnection> established() {
    return IntStream.range(0, table.size())
        .mapToObj(table::get)
        .filter(PeerConnection::isEstablished)
        .map(connection -> (VirtualConnection) connection.connection())
        .toList();
  }

  /** Connections in any state. */
  int connections() {
    return table.size();
  }

  /** A READ of this executor is posted: the time when it completes. */
  long readNs(VirtualExecutor from, long bytes) {
    bytesInFlight += bytes;
    maxBytesInFlight = Math.max(maxBytesInFlight, bytesInFlight);
    long wireNs = (long) (bytes / VirtualFabric.BYTES_PER_NS);
    long sentNs = Math.max(fabric.nowNs() + VirtualFabric.LATENCY_NS, from.egressFreeNs);
    from.egressFreeNs = sentNs + wireNs;
    ingressFreeNs = Math.max(sentNs + VirtualFabric.LATENCY_NS, ingressFreeNs) + wireNs;
    return ingressFreeNs;
  }

  void onReadDone(long bytes) {
    bytesInFlight -= bytes;
  }

  long maxBytesInFlight() {
    return maxBytesInFlight;
  }

  long messages() {
    return messages.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Numbers of the messages that it has sent. */
  Map<MessageType, Long> messagesByType() {
    return new EnumMap<>(messages);
  }

  /** Steps of its agent and its block server. */
  long work() {
    return workDone;
  }

  int maxConnections() {
    return maxConnections;
  }

  /** Queue pairs created since the start. */
  int queuePairs() {
    return queuePairs;
  }

  long count(Counter counter) {
    return counters.value(counter);
  }

  long highestPinnedBytes() {
    return budget.highestBytes();
  }

  /** Maximum number of regions that one iteration of the agent has deregistered. */
  int maxDeregistrations() {
    return maxDeregistrations;
  }

  /** Registered receive memory. */
  long receiveBytes() {
    return memory.sinks.registeredBytes();
  }

  /** Pinned for messages and rings, without data. */
  long controlBytes() {
    return (long) memory.controlPool.chunksOut() * memory.controlPool.chunkBytes();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    fabric.remove(address.getAddress());
    agent.stop();
    agent.run();
    server.server().close(Duration.ZERO, agent::drain);
    completions.close();
    agent.drainThen(memory::close);
    closed = true;
  }

  private final class Channel implements CompletionChannel {
    @Override
    public void await(long timeoutNs) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void wakeup() {
      wake();
    }

    @Override
    public void close() {}
  }
}
