// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockFetch;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.Delivery;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.serve.ServerParameters;
import org.sparkrdma.shuffle.settings.RingSizes;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/**
 * An executor's end of the RDMA shuffle: listens, connects, fetches and serves on one device.
 *
 * <p>{@link #open} builds and starts it. {@link #close} answers every open block, closes every
 * connection and frees all memory, in verbs order. The device and the budget belong to the caller.
 * Safe for any thread.
 */
public final class RdmaTransport implements BlockTransport, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaTransport.class);
  private static final int SLAB_BYTES = 4 << 20;
  private static final long STOP_SECONDS = 10;

  /** Control buffers that are registered with one call. */
  private static final int CONTROL_SLAB_BUFFERS = 8;

  /** Part of the budget that receive memory leaves to others. */
  private static final int SERVE_PART = 8;

  /** Part of the budget beyond which control buffers grow only with connections. */
  private static final int CREDITS_PART = 8;

  /** Part of the Java heap that copies of received blocks may use. */
  private static final int COPIES_PART = 8;

  private final ProtectionDomain domain;
  private final CompletionChannel channel;
  private final CompletionQueues completions;
  private final ConnectionManager manager;
  private final RegisteredPool sinks;
  private final ReceiveMemory receive;
  final RegisteredPool controlPool;
  private final ControlBuffers control;
  private final BlockServer server;
  private final ExecutorService deliveryThreads;
  private final ExecutorService diskWriteThreads;
  private final Delivery delivery;
  final TransportAgent agent;
  private final Thread agentThread;
  private final Endpoint self;
  final ConnectionTable table;
  private final Peers peers;
  private final Set<BlockFetch> open = ConcurrentHashMap.newKeySet();
  private final Consumer<String> outOfService;
  private volatile boolean closed;

  /**
   * Resources and settings of the transport.
   *
   * @param device open; closed by the caller, after the transport
   * @param budget the one account of pinned bytes
   * @param outputs the map outputs to serve
   * @param conf of Spark's shuffle transport, for blocks that go to disk
   * @param addresses of the device for listeners, the preferred one first
   * @param port of each listener; 0 selects free ports
   * @param identity creates this executor's endpoint from the listeners' addresses
   * @param secret of the application, known to both ends of a connection; empty without
   *     authentication
   * @param fabricTrusted whether the administrator trusts every host of the fabric
   * @param outOfService receives the reason when the device cannot be used any more or the agent
   *     failed, possibly more than once; runs on the agent's thread, so it must not close the
   *     transport
   * @param nanoClock as {@link System#nanoTime}
   */
  public record Environment(
      Device device,
      PinnedBudget budget,
      MapOutputs outputs,
      TransportConf conf,
      List<NetworkAddress> addresses,
      int port,
      Function<List<ListenerAddress>, Endpoint> identity,
      byte[] secret,
      boolean fabricTrusted,
      Consumer<String> outOfService,
      ShuffleCounters counters,
      LongSupplier nanoClock) {}

  /**
   * Builds and starts a transport.
   *
   * @throws VerbsException when the device or the address refuses; no resource stays open
   */
  public static RdmaTransport open(
      TransportSettings settings, ServeSettings serveSettings, Environment environment)
      throws VerbsException {
    DeviceNeeds.check(environment.device().info(), environment.fabricTrusted());
    Undo undo = new Undo();
    try {
      return new RdmaTransport(settings, serveSettings, environment, undo);
    } catch (Throwable e) {
      // An Error too, such as "unable to create native thread".
      undo.close();
      throw e;
    }
  }

  /** Sizes of the rings that a transport creates on this device. */
  public static RingSizes ringSizes(TransportSettings settings, Device device) {
    return new RingSizes(
        CompletionQueues.depth(settings, device.info().limits()),
        CompletionQueues.queuePairBytes(settings));
  }

  private RdmaTransport(
      TransportSettings settings, ServeSettings serveSettings, Environment env, Undo undo)
      throws VerbsException {
    Device device = env.device();
    DeviceLimits limits = device.info().limits();
    outOfService = env.outOfService();
    domain = undo.push(device.allocateProtectionDomain());
    channel = undo.push(device.createCompletionChannel());
    completions = undo.push(new CompletionQueues(device, channel, env.budget(), settings));
    manager = undo.push(device.createConnectionManager(channel));
    setTrafficClass(device.info(), settings);
    // Leases of slow peers leave half of the receive pool's maximum to this executor's readers.
    env.budget().reserve(receiveBytes(env.budget(), settings) / 2);
    sinks = undo.push(sinkPool(device, domain, env.budget(), settings));
    receive = new ReceiveMemory(sinks, Runtime.getRuntime().maxMemory() / COPIES_PART);
    controlPool =
        undo.push(
            new RegisteredPool(
                device,
                domain,
                env.budget(),
                Set.of(AccessFlag.LOCAL_WRITE),
                settings.messageBytes(),
                CONTROL_SLAB_BUFFERS,
                controlBytes(settings)));
    control = new ControlBuffers(controlPool, env.budget().limitBytes() / CREDITS_PART);
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
                    peer -> agent.execute(() -> leaseExpired(peer)),
                    settings.requestTimeout(),
                    env.nanoClock())));
    self = env.identity().apply(Listeners.open(manager, env.addresses(), env.port()));
    deliveryThreads =
        Executors.newFixedThreadPool(settings.deliveryThreads(), named("rdma-delivery"));
    undo.push(deliveryThreads::shutdown);
    diskWriteThreads =
        Executors.newFixedThreadPool(settings.deliveryThreads(), named("rdma-disk-write"));
    undo.push(diskWriteThreads::shutdown);
    delivery =
        new Delivery(
            deliveryThreads,
            diskWriteThreads,
            env.conf(),
            settings.verify(),
            env.counters(),
            this::corrupted);
    TransportContext context =
        new TransportContext(
            settings,
            device.info(),
            self,
            env.secret(),
            domain,
            completions,
            receive,
            control,
            server,
            delivery,
            env.counters(),
            agent::execute,
            owner,
            env.outOfService(),
            env.nanoClock());
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
        () -> {
          receive.closeOpenChunk();
          sinks.trimUnused();
          control.trimUnused();
          controlPool.trimUnused();
        },
        this::onAgentFailed);
    server.start();
    agentThread = named("rdma-agent").newThread(agent);
    agentThread.start();
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

  /** Maximum receive memory: an eighth of the budget is left to windows and control buffers. */
  private static long receiveBytes(PinnedBudget budget, TransportSettings settings) {
    return Math.min(settings.poolBytes(), budget.limitBytes() - budget.limitBytes() / SERVE_PART);
  }

  private static RegisteredPool sinkPool(
      Device device, ProtectionDomain domain, PinnedBudget budget, TransportSettings settings) {
    long poolBytes = receiveBytes(budget, settings);
    EnumSet<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
    if (device.info().transport() == Transport.IWARP) {
      // RFC 5040, section 5.2: the sink of a READ is written by the peer's RDMA READ Response.
      access.add(AccessFlag.REMOTE_WRITE);
    }
    return new RegisteredPool(
        device,
        domain,
        budget,
        access,
        settings.chunkBytes(),
        (int) Math.max(1, Math.min(SLAB_BYTES, poolBytes / 4) / settings.chunkBytes()),
        poolBytes);
  }

  /** Maximum memory of control buffers, with every connection at its limits. */
  private static long controlBytes(TransportSettings settings) {
    long buffers = settings.receiveDepth() + 2L * settings.requestsOpen() + 1;
    return (settings.maxConnections() * buffers + ControlBuffers.ANSWER_RESERVE)
        * settings.messageBytes();
  }

  private static ThreadFactory named(String name) {
    AtomicInteger count = new AtomicInteger();
    return work -> {
      Thread thread = new Thread(work, name + "-" + count.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
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
    BlockFetch fetch = new BlockFetch(peer, blocks, files, handler, open::remove);
    open.add(fetch);
    if (closed) {
      // An agent that hangs in a device call runs no command any more.
      fetch.failRest(FallbackReason.STOPPED, "executor stops");
      return;
    }
    try {
      agent.execute(() -> fetch.blocks().forEach(peers::want));
      if (!agentThread.isAlive()) {
        agent.drain();
      }
    } catch (Throwable e) {
      LOG.warn("Cannot hand a fetch to the transport agent; its blocks use TCP", e);
      fetch.failRest(FallbackReason.READ_ERROR, e.toString());
    }
  }

  /** Fails every outstanding block of every fetch. */
  private void failOpen(FallbackReason reason, String detail) {
    open.forEach(fetch -> fetch.failRest(reason, detail));
  }

  /** The agent failed. Runs on the agent's thread, which does not use the device after this. */
  private void onAgentFailed(Throwable cause) {
    failOpen(FallbackReason.STOPPED, "transport agent failed");
    outOfService.accept("the transport failed: " + cause);
  }

  /**
   * Deregisters the files of a shuffle that Spark unregistered.
   *
   * @param done runs after the deregistration
   */
  public void unregisterShuffle(int shuffleId, Runnable done) {
    server.unregisterShuffle(shuffleId, done);
  }

  /** Closes everything; outstanding blocks fail with {@link FallbackReason#STOPPED}. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    agent.stop();
    boolean ended = joinAgent();
    boolean interrupted = Thread.interrupted();
    if (!ended) {
      failOpen(FallbackReason.STOPPED, "executor stops");
      deliveryThreads.shutdown();
      throw new IllegalStateException(
          "the transport agent did not end within "
              + STOP_SECONDS
              + " s; the device's resources are left to the system");
    }
    server.close();
    agent.drain();
    deliveryThreads.shutdown();
    diskWriteThreads.shutdown();
    interrupted |= !awaitDelivery();
    manager.close();
    completions.close();
    channel.close();
    control.close();
    controlPool.close();
    receive.closeOpenChunk();
    sinks.close();
    if (sinks.chunksOut() == 0 && controlPool.chunksOut() == 0) {
      domain.close();
    } else {
      LOG.info(
          "Transport stopped while Spark still reads chunks={} of receive memory; the protection domain"
              + " stays open",
          sinks.chunksOut() + controlPool.chunksOut());
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the agent's thread; it ends soon unless a device call hangs. */
  private boolean joinAgent() {
    boolean interrupted = false;
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
    long leftNs = deadlineNs - System.nanoTime();
    while (agentThread.isAlive() && leftNs > 0) {
      try {
        TimeUnit.NANOSECONDS.timedJoin(agentThread, leftNs);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      leftNs = deadlineNs - System.nanoTime();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return !agentThread.isAlive();
  }

  private boolean awaitDelivery() {
    try {
      if (!deliveryThreads.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)
          || !diskWriteThreads.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn(
            "Delivery threads did not end within {} s after the transport stopped", STOP_SECONDS);
      }
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }
}
