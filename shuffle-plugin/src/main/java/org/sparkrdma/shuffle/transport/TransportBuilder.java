// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.fetch.WaitBudgets;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.serve.ServerParameters;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.ThreadJoin;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Makes all that a {@link RdmaTransport} consists of, and takes it apart again, in verbs order. The
 * device and the budget belong to the caller. {@link #close} is safe for any thread.
 */
final class TransportBuilder {
  private static final Logger LOG = LoggerFactory.getLogger(TransportBuilder.class);

  /** Limit of the wait for each thread at the end. */
  static final Duration STOP_LIMIT = Duration.ofSeconds(10);

  private static final String STOPS = "the executor stops";

  /** The kernel's own limit of waiting requests (net.rdma_ucm.max_backlog). */
  private static final int BACKLOG = 1_024;

  final AgentWork work;
  final QueuePairThread queuePairs;
  final BlockServer server;
  final AgentResources shared;
  final FetchPeers peers;
  final Agent agent;
  final TransportWatchdog watchdog;

  /** By incarnation. The agent writes it. */
  final Map<Long, FetchConnection> established = new ConcurrentHashMap<>();

  private final RegisteredPool receivePool;
  private final Thread agentThread;
  private final RdmaTransport transport;

  /** Closes what was made, the last first, each within a limit; it throws to be called again. */
  private final ArrayDeque<Consumer<Duration>> made;

  /**
   * Builds and starts a transport.
   *
   * @param servers creates the block server
   * @param threadStart starts its threads
   * @throws VerbsException when the device or the address refuses; no resource stays open
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
      TransportBuilder built =
          new TransportBuilder(
              settings, fitness, shares, serveSettings, environment, servers, made);
      threadStart.accept(built.queuePairs.thread());
      made.push(built::endQueuePairs);
      threadStart.accept(built.agentThread);
      made.push(built::endAgent);
      return built.transport;
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

  private TransportBuilder(
      TransportSettings settings,
      DeviceFitness fitness,
      MemoryShares shares,
      ServeSettings serveSettings,
      TransportEnvironment env,
      Function<ServerParameters, BlockServer> servers,
      ArrayDeque<Consumer<Duration>> made)
      throws VerbsException {
    this.made = made;
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
    WaitBudget waits = WaitBudgets.ofReader(settings.waitsFactor());
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
    work = new AgentWork(channel);
    queuePairs = new QueuePairThread(this::lose);
    server =
        servers.apply(
            new ServerParameters(serveSettings, env.outputs(), on, env.counters(), work::execute));
    made.push(this::endServer);
    shared =
        new AgentResources(
            settings,
            fitness,
            shares,
            on,
            env.identity().apply(listen(manager, env.addresses(), settings.listenPort())),
            work,
            queuePairs,
            completions,
            messageBuffers,
            receiveMemory,
            // The longest READ is one chunk.
            new ReadLimit(Math.max(settings.readBytesInFlight(), shares.chunkBytes())),
            waits,
            env.counters());
    peers = new FetchPeers(shared, manager, env.addresses(), established);
    ServePeers servePeers = new ServePeers(shared, server);
    server.start();
    agent = new Agent(shared, manager, peers, servePeers, server, this::lose);
    agentThread = new Thread(agent, "rdma-agent");
    agentThread.setDaemon(true);
    watchdog = new TransportWatchdog(shared, agent, agentThread);
    transport = new RdmaTransport(this, env.onLost());
  }

  private void lose(String reason) {
    transport.lose(reason);
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

  /** Goes on with the step at which an earlier call has thrown. */
  synchronized void close(Duration limit) {
    while (!made.isEmpty()) {
      made.peek().accept(limit);
      made.pop();
    }
  }

  private void endAgent(Duration limit) {
    transport.leaveOpenToTcp(STOPS);
    agent.stop();
    if (!ThreadJoin.await(agentThread, limit)) {
      throw new IllegalStateException("the transport agent has not ended; it may use the device");
    }
    endQueuePairs(limit);
    transport.leaveOpenToTcp(STOPS);
    work.destroyAll();
    work.runCommands();
  }

  private void endQueuePairs(Duration limit) {
    if (!queuePairs.close(limit)) {
      throw new IllegalStateException("the device hangs while it creates a queue pair");
    }
  }

  private void endServer(Duration limit) {
    if (!server.close(limit, work::runCommands)) {
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

  /** Bytes of registered receive memory. Used by tests. */
  long receiveBytes() {
    return receivePool.registeredBytes();
  }
}
