// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockFetch;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.Delivery;
import org.sparkrdma.shuffle.fetch.DeliveryLog;
import org.sparkrdma.shuffle.fetch.FailureText;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.serve.ServerParameters;
import org.sparkrdma.shuffle.settings.ExecutorNeeds;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.shuffle.thread.TaskThreads;
import org.sparkrdma.shuffle.thread.ThreadEnd;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;

/**
 * An executor's end of the RDMA shuffle: listens, connects, fetches and serves on one device.
 *
 * <p>{@link #open} builds and starts it. {@link #close} answers every open block, closes every
 * connection and frees all memory, in verbs order. The device and the budget belong to the caller.
 * Safe for any thread.
 */
public final class RdmaTransport implements BlockTransport, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaTransport.class);

  /** Maximum wait of a close for each kind of threads. */
  private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

  /** Interval between calls of {@link #checkThreads}. */
  public static final Duration CHECK_INTERVAL = HangWatch.INTERVAL;

  private static final int CHECKS_FOR_ADDRESSES = 5;

  private static final String AGENT_HANGS = "the transport agent hangs in a call of the device";

  private final ProtectionDomain domain;
  private final CompletionChannel channel;
  private final CompletionQueues completions;
  private final ConnectionManager manager;
  final TransportMemory memory;
  private final BlockServer server;
  private final DeliveryThreads threads;
  private final Delivery delivery;
  final TransportAgent agent;
  private final Thread agentThread;
  private final Endpoint self;
  final ConnectionTable table;
  private final Peers peers;

  /** Those with open blocks; from a failure or close on all of them, until memory is released. */
  private final Set<BlockFetch> open = ConcurrentHashMap.newKeySet();

  private final Consumer<String> outOfService;
  private final DeliveryLog log = new DeliveryLog();
  private final HangWatch agentWatch;
  private final ClosingSteps closing = new ClosingSteps();
  private volatile boolean hangs;

  /** Number of calls of {@link #checkThreads}; confined to the thread that calls it. */
  private int checks;

  private volatile boolean closed;

  /**
   * Builds and starts a transport.
   *
   * @throws VerbsException when the device or the address refuses; no resource stays open
   * @throws ThreadShortageException when the system refuses a thread; no resource stays open
   */
  public static RdmaTransport open(
      TransportSettings settings, ServeSettings serveSettings, TransportEnvironment environment)
      throws VerbsException {
    DeviceNeeds.check(environment.device().info(), environment.fabricTrusted());
    TransportMemory.check(environment.budget(), settings, serveSettings);
    Undo undo = new Undo();
    try {
      return new RdmaTransport(settings, serveSettings, environment, undo);
    } catch (Throwable e) {
      // An Error too, such as "unable to create native thread".
      undo.close();
      throw e;
    }
  }

  /** Objects and memory that a transport with one connection has on this device, at least. */
  public static ExecutorNeeds needs(
      TransportSettings settings, Device device, PinnedBudget budget) {
    int depth = CompletionQueues.depth(settings, device.info().limits());
    int buffersPerRegion = TransportMemory.controlSlabBuffers(budget, settings);
    int buffers = ControlBuffers.RESERVE + ConnectionQueues.RESPONDER_BUFFERS;
    return new ExecutorNeeds(
        depth,
        settings.sendDepth(),
        settings.receiveDepth(),
        CompletionQueues.ringBytes(depth) + CompletionQueues.queuePairBytes(settings),
        (buffers + buffersPerRegion - 1) / buffersPerRegion,
        buffersPerRegion * settings.messageBytes(),
        (long) TransportMemory.sinkSlabChunks(budget, settings) * settings.chunkBytes());
  }

  private RdmaTransport(
      TransportSettings settings, ServeSettings serveSettings, TransportEnvironment env, Undo undo)
      throws VerbsException {
    Device device = env.device();
    DeviceLimits limits = device.info().limits();
    outOfService = env.outOfService();
    domain = undo.push(device.allocateProtectionDomain());
    channel = undo.push(device.createCompletionChannel());
    completions =
        undo.push(
            new CompletionQueues(device, channel, env.completionVector(), env.budget(), settings));
    manager = undo.push(device.createConnectionManager(channel));
    setTrafficClass(device.info(), settings);
    memory =
        undo.push(new TransportMemory(device, domain, env.budget(), settings, env.nanoClock()));
    Owner owner = new Owner();
    agent = new TransportAgent(settings, channel, completions, manager, owner, env.nanoClock());
    server =
        undo.push(
            new BlockServer(
                new ServerParameters(
                    serveSettings,
                    env.outputs(),
                    device,
                    domain,
                    env.budget(),
                    env.counters(),
                    this::leaseExpired,
                    agent::execute,
                    env.nanoClock())));
    self = env.identity().apply(Listeners.open(manager, env.addresses(), env.port()));
    threads = undo.push(new DeliveryThreads(settings.deliveryThreads()));
    delivery =
        new Delivery(
            threads.delivery(),
            threads.diskWrite(),
            env.conf(),
            settings.verify(),
            env.counters(),
            this::corrupted);
    ReadLimit reads = new ReadLimit(settings.readBytesInFlight());
    MemoryQueue queue =
        new MemoryQueue(
            memory.receive(), reads, delivery, env.counters()::waitedForMemory, env.nanoClock());
    TransportContext context =
        new TransportContext(
            settings,
            device.info(),
            self,
            env.secret(),
            domain,
            completions,
            memory.receive(),
            new ReadPool(),
            queue,
            reads,
            memory.control(),
            server,
            delivery,
            env.counters(),
            agent::execute,
            owner,
            env.outOfService(),
            env.nanoClock(),
            new PeerLog(env.nanoClock()));
    table = new ConnectionTable(context, settings.maxConnections());
    peers = new Peers(context, table, this::openTest);
    agent.init(
        table,
        peers,
        new Connector(
            context,
            manager,
            table,
            peers,
            env.addresses(),
            Math.min(16, limits.maxReadsInFlight())),
        server,
        memory.control(),
        queue,
        delivery,
        memory.receive(),
        this::onAgentFailed);
    agentWatch = new HangWatch(agent::allIterations, settings.requestTimeout());
    threads.start();
    server.start();
    agentThread = TaskThreads.named("rdma-agent").newThread(agent);
    ThreadShortageException.start(agentThread);
  }

  private void setTrafficClass(DeviceInfo device, TransportSettings settings) {
    settings.packets().trafficClass().ifPresent(manager::setTrafficClass);
    if (settings.packets().trafficClass().isPresent() && !device.can(Capability.TRAFFIC_CLASS)) {
      LOG.warn(
          "spark.shuffle.rdma.tos has no effect: engine {} cannot set it on device {}",
          device.engine(),
          device.name());
    }
  }

  private void corrupted(long incarnation) {
    agent.execute(() -> peers.corrupted(incarnation));
  }

  private void leaseExpired(long number) {
    PeerConnection connection = table.numbered(number);
    if (connection != null) {
      connection.markBroken(BrokenConnection.connectionLost("lease expired"));
    }
  }

  /** This executor's listener address and the token that proves membership of the application. */
  public Endpoint endpoint() {
    return self;
  }

  @Override
  public void fetch(
      Endpoint peer, List<BlockRange> blocks, DownloadFileManager files, FetchHandler handler) {
    BlockFetch fetch = new BlockFetch(peer, blocks, files, handler, this::onAllAnswered);
    open.add(fetch);
    if (closed || hangs) {
      // An agent that hangs in a device call runs no command any more.
      failRest(fetch, FallbackReason.STOPPED, hangs ? AGENT_HANGS : Peers.EXECUTOR_STOPS);
      open.remove(fetch);
      return;
    }
    try {
      agent.execute(() -> peers.fetch(fetch));
      if (!agentThread.isAlive()) {
        agent.drain();
      }
    } catch (Throwable e) {
      log.notHandedToAgent(fetch, e);
      failRest(fetch, FallbackReason.READ_ERROR, FailureText.of(e));
    }
  }

  /** Opens a fetch that tests a peer; its memory is released as that of others. */
  private BlockFetch openTest(Endpoint peer, BlockRange block) {
    BlockFetch test = BlockFetch.test(peer, block, this::onAllAnswered);
    open.add(test);
    return test;
  }

  private void onAllAnswered(BlockFetch fetch) {
    if (!closed && !agent.hasFailed()) {
      open.remove(fetch);
    }
  }

  /** Fails every outstanding block of every fetch. */
  private void failOpen(FallbackReason reason, String detail) {
    open.forEach(fetch -> failRest(fetch, reason, detail));
  }

  private void failRest(BlockFetch fetch, FallbackReason reason, String detail) {
    fetch.failRest(reason, detail, log, delivery.disks());
  }

  /**
   * The agent failed. Runs on the agent's thread, which does not use the device after this. The
   * loss is reported in any case: then this transport is closed, which answers what is left.
   */
  private void onAgentFailed(Throwable cause) {
    try {
      failOpen(FallbackReason.STOPPED, "transport agent failed");
    } finally {
      outOfService.accept(FailureText.of("the transport failed", cause));
    }
  }

  /**
   * Checks that the agent's thread goes on, and each fifth time that this host still has the
   * addresses of the listeners. If it hangs in a call of the device, the loss is reported, and
   * every block uses TCP at once: no peer would get an answer. One thread calls this, each {@link
   * #CHECK_INTERVAL}.
   */
  public void checkThreads() {
    checkAgent();
    if (++checks % CHECKS_FOR_ADDRESSES == 0) {
      manager.checkAddresses();
    }
  }

  void checkAgent() {
    if (!agentWatch.findsHang()) {
      return;
    }
    hangs = true;
    try {
      LOG.error(
          "Transport agent hangs in a call of the device; blocks use TCP: limitSeconds={}",
          agentWatch.limit().toSeconds(),
          stackOf(agentThread));
      failOpen(FallbackReason.STOPPED, AGENT_HANGS);
    } finally {
      outOfService.accept(AGENT_HANGS);
    }
  }

  private static Throwable stackOf(Thread thread) {
    Throwable stack = new Throwable("stack of " + thread.getName());
    stack.setStackTrace(thread.getStackTrace());
    return stack;
  }

  /**
   * Deregisters the files of a shuffle that Spark unregistered.
   *
   * @param done runs after the deregistration
   */
  public void unregisterShuffle(int shuffleId, Runnable done) {
    server.unregisterShuffle(shuffleId, done);
  }

  /**
   * Closes everything; outstanding blocks fail with {@link FallbackReason#STOPPED}. When the agent
   * or a disk does not return in time, this throws, and a later call goes on without another wait.
   */
  @Override
  public void close() {
    close(closed ? Duration.ZERO : STOP_LIMIT, BlockServer.CLOSE_LIMIT);
  }

  /** The same with other limits of the waits for the agent and the block server. */
  void close(Duration agentLimit, Duration serverLimit) {
    closed = true;
    closing.run(
        List.of(
            () -> endAgent(agentLimit),
            () -> endServer(serverLimit),
            this::endThreads,
            manager::close,
            completions::close,
            channel::close,
            () -> agent.drainThen(memory::close),
            this::closeDomain));
  }

  private void endAgent(Duration limit) {
    agent.stop();
    if (!ThreadEnd.await(agentThread, limit)) {
      failOpen(FallbackReason.STOPPED, Peers.EXECUTOR_STOPS);
      threads.close();
      throw new IllegalStateException("the transport agent has not ended; it may use the device");
    }
  }

  private void endServer(Duration limit) {
    if (server.close(limit, agent::drain)) {
      agent.drain();
    }
  }

  private void endThreads() {
    threads.close();
    boolean interrupted = Thread.interrupted();
    interrupted |= !threads.await(STOP_LIMIT);
    // Blocks behind a write that hangs: the agent, which sends overdue ones to TCP, has ended.
    failOpen(FallbackReason.STOPPED, Peers.EXECUTOR_STOPS);
    if (threads.haveEnded()) {
      releaseOpen();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Blocks that an Error has taken out of the agent's lists: no other thread uses them now. */
  private void releaseOpen() {
    open.forEach(fetch -> fetch.releaseMemory(log));
    open.clear();
  }

  private void closeDomain() {
    if (!server.close(Duration.ZERO, agent::drain)) {
      throw new IllegalStateException(
          "a disk or the device hangs; a thread may use registered memory");
    }
    // Requests that the server has answered since then return their buffers.
    agent.drain();
    if (memory.chunksOut() == 0) {
      domain.close();
    } else {
      LOG.info(
          "Transport stopped while Spark still reads chunks={} of receive memory; the protection domain"
              + " stays open",
          memory.chunksOut());
    }
  }
}
