// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.serve.ServerParameters;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.OwnerThread;
import org.sparkrdma.shuffle.thread.ThreadEnd;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * An executor's end of the RDMA shuffle: listens, connects, fetches and serves on one device. When
 * the device is lost, it leaves every open block to TCP at once and reports the loss to the
 * runtime, which closes this and starts another one.
 *
 * <p>{@link #open} builds and starts it. {@link #close} answers every open block, closes every
 * connection and frees all memory, in verbs order. The device and the budget belong to the caller.
 * Safe for any thread.
 */
public final class RdmaTransport implements StartedTransport {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaTransport.class);

  private static final Duration STOP_LIMIT = Duration.ofSeconds(10);
  private static final String STOPS = "the executor stops";

  /** The kernel's own limit of waiting requests (net.rdma_ucm.max_backlog). */
  private static final int BACKLOG = 1_024;

  private final Consumer<String> onLost;
  private final RegisteredPool receivePool;
  private final AgentCommands commands;
  private final QueuePairThread queuePairs;
  private final BlockServer server;
  private final ConnectionResources context;
  private final ReadPeers peers;
  private final Agent agent;
  private final Thread agentThread;
  private final TransportWatchdog watchdog;

  /** Closes what was made, the last first, each within a limit; it throws to be called again. */
  private final ArrayDeque<Consumer<Duration>> made;

  /** Requests with blocks that are not settled. */
  private final Set<FetchRequest> open = ConcurrentHashMap.newKeySet();

  /** Reason for which no block is fetched any more; null while RDMA is in use. */
  private volatile String unusable;

  /**
   * Builds and starts a transport.
   *
   * @throws VerbsException when the device or the address refuses; no resource stays open
   */
  public static RdmaTransport open(
      TransportSettings settings, ServeSettings serveSettings, TransportEnvironment environment)
      throws VerbsException {
    return open(
        settings, serveSettings, environment, BlockServer::new, ThreadShortageException::start);
  }

  /**
   * The same with another way to create the block server and to start its threads, for simulations.
   */
  static RdmaTransport open(
      TransportSettings settings,
      ServeSettings serveSettings,
      TransportEnvironment environment,
      Function<ServerParameters, BlockServer> servers,
      Consumer<Thread> threadStart)
      throws VerbsException {
    DeviceFitness fitness = new DeviceFitness(environment.device().info());
    fitness.require(settings.fabricTrusted());
    MemoryShares shares = MemoryShares.of(settings, fitness, environment.budget().limitBytes());
    shares.require(serveSettings);
    ArrayDeque<Consumer<Duration>> made = new ArrayDeque<>();
    try {
      RdmaTransport opened =
          new RdmaTransport(settings, fitness, shares, serveSettings, environment, servers, made);
      threadStart.accept(opened.queuePairs.thread());
      made.push(opened::endQueuePairs);
      threadStart.accept(opened.agentThread);
      made.push(opened::endAgent);
      return opened;
    } catch (VerbsException | RuntimeException e) {
      while (!made.isEmpty()) {
        closeQuietly(made.pop());
      }
      throw e;
    }
  }

  private static void closeQuietly(Consumer<Duration> resource) {
    try {
      resource.accept(STOP_LIMIT);
    } catch (RuntimeException e) {
      LOG.warn("Cannot close a resource after a failed start", e);
    }
  }

  private RdmaTransport(
      TransportSettings settings,
      DeviceFitness fitness,
      MemoryShares shares,
      ServeSettings serveSettings,
      TransportEnvironment env,
      Function<ServerParameters, BlockServer> servers,
      ArrayDeque<Consumer<Duration>> made)
      throws VerbsException {
    this.made = made;
    onLost = env.onLost();
    Device device = env.device();
    ProtectionDomain domain = device.allocateProtectionDomain();
    made.push(limit -> closeDomain(domain));
    OpenDevice on = new OpenDevice(device, domain, env.budget(), env.nanoClock());
    receivePool =
        new RegisteredPool(
            on,
            fitness.sinkAccess(settings.relaxedOrdering()),
            shares.chunkBytes(),
            shares.chunksPerRegion(),
            shares.receiveMaxBytes());
    made.push(limit -> receivePool.close());
    WaitBudget waits = WaitBudget.ofReader(settings.waitsFactor());
    ReceiveMemory receiveMemory =
        new ReceiveMemory(receivePool, env.counters(), waits, settings.requestTimeout().toNanos());
    made.push(limit -> receiveMemory.closeOpenChunk());
    env.budget().reserve(shares.receiveKeptBytes());
    MessageBuffers messageBuffers = new MessageBuffers(on, shares);
    made.push(limit -> messageBuffers.close());
    CompletionChannel channel = device.createCompletionChannel();
    made.push(limit -> channel.close());
    CompletionQueues completions =
        new CompletionQueues(on, channel, env.completionVector(), shares);
    made.push(limit -> completions.close());
    ConnectionManager manager = device.createConnectionManager(channel);
    made.push(limit -> manager.close());
    setTrafficClass(manager, settings.packets(), device.info());
    commands = new AgentCommands(channel);
    queuePairs = new QueuePairThread(this::lose);
    server =
        servers.apply(
            new ServerParameters(
                serveSettings, env.outputs(), on, env.counters(), commands::execute));
    made.push(this::endServer);
    context =
        new ConnectionResources(
            settings,
            fitness,
            shares,
            on,
            env.identity().apply(listen(manager, env.addresses(), settings.listenPort())),
            commands,
            queuePairs,
            completions,
            messageBuffers,
            receiveMemory,
            // The longest READ is one chunk.
            new ReadsInFlight(Math.max(settings.readBytesInFlight(), shares.chunkBytes())),
            waits,
            env.counters(),
            new Connections(new OwnerThread()));
    peers = new ReadPeers(context, manager, env.addresses());
    ServePeers servePeers = new ServePeers(context, server);
    server.start();
    agent = new Agent(context, commands, manager, peers, servePeers, server, this::lose);
    agentThread = new Thread(agent, "rdma-agent");
    agentThread.setDaemon(true);
    watchdog = new TransportWatchdog(context, agent, agentThread);
  }

  private static void setTrafficClass(
      ConnectionManager manager, PacketSettings packets, DeviceInfo device) {
    if (packets.trafficClass().isPresent()) {
      manager.setTrafficClass(packets.trafficClass().getAsInt());
      if (!device.can(Capability.TRAFFIC_CLASS)) {
        LOG.warn(
            "spark.shuffle.rdma.tos has no effect: engine {} cannot set it on device {}",
            device.engine(),
            device.name());
      }
    }
  }

  /**
   * Listens on every address. A later address that cannot be used is left out: peers then use
   * another one.
   */
  private static List<ListenerAddress> listen(
      ConnectionManager manager, List<NetworkAddress> addresses, int port) throws VerbsException {
    List<ListenerAddress> opened = new ArrayList<>();
    for (NetworkAddress network : addresses) {
      if (opened.size() == Endpoint.MAX_ADDRESSES) {
        LOG.info("Not listening on {}: the limit is {} addresses", network, opened.size());
        continue;
      }
      try {
        Listener listener = manager.listen(network.socket(port), BACKLOG);
        opened.add(new ListenerAddress(network, listener.address().getPort()));
      } catch (VerbsException e) {
        if (opened.isEmpty()) {
          throw e;
        }
        LOG.warn(
            "Cannot listen on {}: {}; peers use the addresses {}", network, e.getMessage(), opened);
      }
    }
    return opened;
  }

  @Override
  public Endpoint endpoint() {
    return context.self().endpoint();
  }

  @Override
  public void fetch(FetchRequest request) {
    open.add(request);
    if (unusable == null) {
      ReadConnection connection = peers.connectionForTasks(request.endpoint().incarnation());
      int asked =
          connection == null
              ? 0
              : connection.tryLocate(request, context.device().nanoClock().getAsLong());
      if (asked < request.ranges().size()) {
        commands.execute(() -> peers.fetch(request, asked, context.connections().nowNs()));
      }
    }
    String reason = unusable;
    if (reason != null) {
      // Perhaps lost or closed since the request was added.
      request.leaveRestToTcp(FallbackReason.STOPPED, reason);
    }
  }

  @Override
  public void onSettled(FetchRequest request) {
    open.remove(request);
  }

  private void leaveOpenToTcp(String reason) {
    unusable = reason;
    for (FetchRequest request : open) {
      request.leaveRestToTcp(FallbackReason.STOPPED, reason);
    }
  }

  /** RDMA is lost: every block uses TCP, before queue pairs are destroyed, which takes seconds. */
  private void lose(String reason) {
    leaveOpenToTcp(reason);
    onLost.accept(reason);
  }

  @Override
  public void onCorruptData(FetchRequest request) {
    commands.execute(() -> peers.onCorruptData(request.endpoint().incarnation()));
  }

  @Override
  public void unregisterShuffle(int shuffleId) {
    server.unregisterShuffle(shuffleId);
  }

  @Override
  public void check() {
    String reason = watchdog.check();
    if (reason != null && unusable == null) {
      lose(reason);
    }
  }

  /**
   * Closes everything; open blocks fail with {@link FallbackReason#STOPPED}. When the agent or a
   * disk does not return in time, this throws, and a later call goes on with that step.
   */
  @Override
  public void close() {
    close(STOP_LIMIT);
  }

  /** The same with another limit of the wait for the agent, and of that for the disks. */
  synchronized void close(Duration limit) {
    while (!made.isEmpty()) {
      made.peek().accept(limit);
      made.pop();
    }
  }

  private void endAgent(Duration limit) {
    leaveOpenToTcp(STOPS);
    agent.stop();
    if (!ThreadEnd.await(agentThread, limit)) {
      throw new IllegalStateException("the transport agent has not ended; it may use the device");
    }
    endQueuePairs(limit);
    leaveOpenToTcp(STOPS);
    context.connections().destroyAll();
    commands.run();
  }

  private void endQueuePairs(Duration limit) {
    if (!queuePairs.close(limit)) {
      throw new IllegalStateException("the device hangs while it creates a queue pair");
    }
  }

  private void endServer(Duration limit) {
    if (!server.close(limit, commands::run)) {
      throw new IllegalStateException("a disk or the device hangs; a thread may use memory");
    }
  }

  private void closeDomain(ProtectionDomain domain) {
    if (receivePool.chunksOut() == 0) {
      domain.close();
    } else {
      LOG.info(
          "Transport stopped while Spark still reads chunks={} of receive memory; the protection"
              + " domain stays open",
          receivePool.chunksOut());
    }
  }

  /** Used by tests. */
  Agent agent() {
    return agent;
  }

  /** Used by tests. */
  AgentCommands commands() {
    return commands;
  }

  /** Used by tests. */
  QueuePairThread queuePairs() {
    return queuePairs;
  }

  /** Used by tests. */
  ConnectionResources context() {
    return context;
  }

  /** Bytes of registered receive memory. Used by tests. */
  long receiveBytes() {
    return receivePool.registeredBytes();
  }
}
