// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.serve.ServerParameters;
import org.sparkrdma.shuffle.settings.ExecutorNeeds;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
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
  final TransportAgent agent;
  private final Thread agentThread;
  private final Endpoint self;
  final ConnectionTable table;
  private final Peers peers;

  /** Those with open blocks. */
  private final Set<FetchRequest> open = ConcurrentHashMap.newKeySet();

  private final Consumer<String> outOfService;
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
        undo.push(
            new TransportMemory(
                device, domain, env.budget(), settings, env.counters(), env.nanoClock()));
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
    ReadLimit reads = new ReadLimit(settings.readBytesInFlight());
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
            reads,
            memory.control(),
            server,
            env.counters(),
            agent::execute,
            owner,
            env.outOfService(),
            env.nanoClock(),
            new PeerLog(env.nanoClock()));
    table = new ConnectionTable(context, settings.maxConnections());
    peers = new Peers(context, table);
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
        memory.receive(),
        this::onAgentFailed);
    agentWatch = new HangWatch(agent::allIterations, settings.requestTimeout());
    server.start();
    agentThread = new Thread(agent, "rdma-agent");
    agentThread.setDaemon(true);
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

  @Override
  public void onCorruptData(FetchRequest request) {
    agent.execute(() -> peers.corrupted(request.endpoint().incarnation()));
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
  public void fetch(FetchRequest request) {
    request.fetchedBy(this);
    open.add(request);
    if (closed || hangs) {
      // An agent that hangs in a device call runs no command any more.
      request.failRest(FallbackReason.STOPPED, hangs ? AGENT_HANGS : Peers.EXECUTOR_STOPS);
      return;
    }
    agent.execute(() -> peers.fetch(request));
    if (!agentThread.isAlive()) {
      agent.drain();
    }
  }

  @Override
  public void onSettled(FetchRequest request) {
    open.remove(request);
  }

  /** Fails every outstanding block of every fetch. */
  private void failOpen(FallbackReason reason, String detail) {
    open.forEach(request -> request.failRest(reason, detail));
  }

  /**
   * The agent failed. Runs on the agent's thread, which does not use the device after this. The
   * loss is reported in any case: then this transport is closed, which answers what is left.
   */
  private void onAgentFailed(Throwable cause) {
    try {
      failOpen(FallbackReason.STOPPED, "transport agent failed");
    } finally {
      outOfService.accept("the transport failed: " + cause);
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
            () -> failOpen(FallbackReason.STOPPED, Peers.EXECUTOR_STOPS),
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
      throw new IllegalStateException("the transport agent has not ended; it may use the device");
    }
  }

  private void endServer(Duration limit) {
    if (server.close(limit, agent::drain)) {
      agent.drain();
    }
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
