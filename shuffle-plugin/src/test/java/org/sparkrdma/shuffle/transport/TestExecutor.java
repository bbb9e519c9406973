// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.sparkrdma.leak.Leaks;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.UnusableChecksums;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.serve.ServerParameters;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;

/** A transport on its own device, as in an executor; closing it checks for leaks. */
final class TestExecutor implements AutoCloseable {
  private final VerbsEngine engine;
  private final Device device;
  private final PinnedBudget budget;
  private final TestOutputs outputs;
  private final UnusableChecksums unusable = new UnusableChecksums();
  private volatile byte[] tcpAnswers = {};
  private final ShuffleCounters counters = new ShuffleCounters();
  private final List<String> losses = new CopyOnWriteArrayList<>();
  private final RdmaTransport transport;
  private boolean memoryMayStay;

  /** Options of a test. */
  static final class Options {
    private final Map<String, String> engine = new HashMap<>();
    private VerbsEngine given;
    private MapOutputs outputs;
    private Path secondDirectory;
    private long incarnation;
    private int port;
    private List<NetworkAddress> addresses = List.of(NetworkAddress.ofHost(TestEngine.address()));
    private byte[] secret = {};
    private long pinnedBytes = 256L << 20;
    private long poolBytes = 64L << 20;
    private int chunkBytes = 64 << 10;
    private Duration requestTimeout = Duration.ofSeconds(5);
    private Duration connectTimeout = Duration.ofSeconds(5);
    private Duration lease = Duration.ofSeconds(30);
    private Duration idleTimeout = Duration.ofMinutes(5);
    private int maxConnections = 16;
    private OptionalInt trafficClass = OptionalInt.empty();
    private int connectionLeases = 1024;
    private boolean verify = true;
    private boolean watched = true;
    private int maxCompletionQueueDepth = Integer.MAX_VALUE;
    private final Set<Capability> absent = EnumSet.noneOf(Capability.class);
    private LongSupplier nanoClock = System::nanoTime;
    private boolean fabricTrusted = TestEngine.needsTrust();
    private ServeSettings.Mode mode = ServeSettings.Mode.AUTO;
    private Consumer<Thread> threadStart = ThreadShortageException::start;
    private Function<ServerParameters, BlockServer> servers = BlockServer::new;

    Options(long incarnation) {
      this.incarnation = incarnation;
    }

    /** Starts the threads of the transport. */
    Options starts(Consumer<Thread> threads) {
      threadStart = threads;
      return this;
    }

    /** Creates the block server. */
    Options servers(Function<ServerParameters, BlockServer> created) {
      servers = created;
      return this;
    }

    Options faults(String plan) {
      engine.put("soft.faults", plan);
      return this;
    }

    /** Sets the engine, which the executor closes. */
    Options on(VerbsEngine engineOfTest) {
      given = engineOfTest;
      return this;
    }

    /** The administrator trusts all hosts of the fabric. */
    Options trusted() {
      fabricTrusted = true;
      return this;
    }

    /** The administrator trusts no host, whatever the engine can do. */
    Options untrusted() {
      fabricTrusted = false;
      return this;
    }

    Options secret(String text) {
      return secret(text.getBytes(StandardCharsets.UTF_8));
    }

    Options secret(byte... ofApplication) {
      secret = ofApplication;
      return this;
    }

    /** Tasks leave each LOCATE to the agent, as on an engine that needs it. */
    Options agentPosts() {
      absent.add(Capability.POST_BESIDE_POLL);
      return this;
    }

    Options addresses(List<NetworkAddress> ofDevice) {
      addresses = ofDevice;
      return this;
    }

    /** Serves these map outputs and not its own. */
    Options outputs(MapOutputs served) {
      outputs = served;
      return this;
    }

    /** Sets the directory of map outputs on another disk. */
    Options secondDirectory(Path path) {
      secondDirectory = path;
      return this;
    }

    Options port(int fixed) {
      port = fixed;
      return this;
    }

    Options pinned(long limit, long pool) {
      pinnedBytes = limit;
      poolBytes = pool;
      return this;
    }

    Options requestTimeout(Duration timeout) {
      requestTimeout = timeout;
      return this;
    }

    Options connectTimeout(Duration timeout) {
      connectTimeout = timeout;
      return this;
    }

    Options idleTimeout(Duration timeout) {
      idleTimeout = timeout;
      return this;
    }

    Options mode(ServeSettings.Mode serve) {
      mode = serve;
      return this;
    }

    /** Uses the engine's own objects, for tests that inspect them. */
    Options unwatched() {
      watched = false;
      return this;
    }

    Options nanoClock(LongSupplier clock) {
      nanoClock = clock;
      return this;
    }

    Options lease(Duration length) {
      lease = length;
      return this;
    }

    Options connectionLeases(int most) {
      connectionLeases = most;
      return this;
    }

    Options verify(boolean whether) {
      verify = whether;
      return this;
    }

    /** Sets a limit as that of a device. */
    Options maxCompletionQueueDepth(int most) {
      maxCompletionQueueDepth = most;
      return this;
    }

    Options maxConnections(int most) {
      maxConnections = most;
      return this;
    }

    Options trafficClass(int value) {
      trafficClass = OptionalInt.of(value);
      return this;
    }
  }

  TestExecutor(Path directory, Options options) throws VerbsException, IOException {
    VerbsEngine loaded = options.given == null ? TestEngine.load(options.engine) : options.given;
    engine = options.watched ? WatchedEngine.watch(loaded, (object, method) -> {}) : loaded;
    device = TestEngine.open(engine);
    budget = new PinnedBudget(options.pinnedBytes, 4096);
    outputs = new TestOutputs(directory, options.secondDirectory);
    try {
      transport = openTransport(options);
    } catch (VerbsException | IOException | RuntimeException e) {
      device.close();
      engine.close();
      throw e;
    }
  }

  private RdmaTransport openTransport(Options options) throws VerbsException, IOException {
    // As executors do at the start.
    return TransportBuilder.open(
        transportSettings(options),
        serveSettings(options),
        environment(options),
        options.servers,
        options.threadStart);
  }

  /** A busy machine may stop any thread for a second. */
  private static final int WAITS_FACTOR = 20;

  private static TransportSettings transportSettings(Options options) {
    return new TransportSettings(
        128L * options.chunkBytes,
        options.chunkBytes,
        Optional.of(options.poolBytes),
        options.connectTimeout,
        options.requestTimeout,
        options.idleTimeout,
        WAITS_FACTOR,
        options.maxConnections,
        16,
        new PacketSettings(options.trafficClass, 17, 6),
        false,
        options.port,
        options.fabricTrusted);
  }

  private static ServeSettings serveSettings(Options options) {
    return new ServeSettings(
        options.mode,
        1 << 20,
        256 << 10,
        options.lease,
        options.connectionLeases,
        2 << 20,
        options.idleTimeout,
        options.verify);
  }

  /** The endpoint of an executor with these addresses, of this process or another one. */
  static Endpoint endpoint(long incarnation, List<ListenerAddress> addresses) {
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    new Random(incarnation).nextBytes(token);
    return new Endpoint(
        Long.toString(incarnation),
        "host",
        addresses,
        "soft",
        Messages.PROTOCOL,
        incarnation,
        token);
  }

  private TransportEnvironment environment(Options options) {
    return new TransportEnvironment(
        NarrowDevice.over(device, options.maxCompletionQueueDepth, options.absent),
        budget,
        options.outputs == null ? outputs : options.outputs,
        options.addresses,
        0,
        addresses -> new Identity(endpoint(options.incarnation, addresses), options.secret),
        losses::add,
        counters,
        options.nanoClock);
  }

  /** Allows a test to hold memory at close: the device then owns that memory and its domain. */
  void allowMemoryToStay() {
    memoryMayStay = true;
  }

  /** Connections of both directions that are not destroyed. */
  int connections() throws ExecutionException, InterruptedException {
    CompletableFuture<Integer> result = new CompletableFuture<>();
    transport.built().work.execute(() -> result.complete(transport.shared().work().connections()));
    return result.get();
  }

  /** Begins to fetch blocks of another executor. */
  CollectedBlocks fetch(Endpoint from, List<BlockRange> blocks) {
    CollectedBlocks collected = new CollectedBlocks(blocks, this);
    FetchHandler.fetch(transport, from, blocks, collected);
    return collected;
  }

  RdmaTransport transport() {
    return transport;
  }

  Endpoint endpoint() {
    return transport.endpoint();
  }

  /** The reason why the transport is out of service. */
  List<String> losses() {
    return losses;
  }

  TestOutputs outputs() {
    return outputs;
  }

  ShuffleCounters counters() {
    return counters;
  }

  /** Spark's client, which has the bytes of {@link #tcpAnswers}. */
  BlockStoreClient spark() {
    return new FakeSparkClient(name -> new NioManagedBuffer(ByteBuffer.wrap(tcpAnswers)));
  }

  /** Sets the bytes of each block by TCP. */
  void tcpAnswers(byte[] bytes) {
    tcpAnswers = bytes;
  }

  UnusableChecksums unusable() {
    return unusable;
  }

  long count(FallbackReason reason) {
    return counters.value(reason);
  }

  long count(Counter counter) {
    return counters.value(counter);
  }

  PinnedBudget budget() {
    return budget;
  }

  @Override
  public void close() {
    transport.close();
    if (!memoryMayStay) {
      Leaks.checkNothingOpen(device);
    }
    device.close();
    engine.close();
    budget.close();
  }
}
