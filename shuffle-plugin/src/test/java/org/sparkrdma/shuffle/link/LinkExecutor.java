// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.sparkrdma.leak.Leaks;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.transport.TestEngine;
import org.sparkrdma.shuffle.transport.TestOutputs;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;

/** A transport on its own device, as in an executor; closing it checks for leaks. */
final class LinkExecutor implements AutoCloseable {
  private final VerbsEngine engine;
  private final Device device;
  private final PinnedBudget budget;
  private final TestOutputs outputs;
  private final ShuffleCounters counters = new ShuffleCounters();
  private final List<String> outOfService = new CopyOnWriteArrayList<>();
  private final RdmaTransport transport;

  /** Options of a test. */
  static final class Options {
    private final long incarnation;
    private final Map<String, String> engine = new HashMap<>();
    private byte[] secret = {};
    private byte[] token;
    private long pinnedBytes = 256L << 20;
    private long poolBytes = 64L << 20;
    private Duration requestTimeout = Duration.ofSeconds(5);
    private Duration connectTimeout = Duration.ofSeconds(5);
    private Duration lease = Duration.ofSeconds(30);
    private Duration idleTimeout = Duration.ofMinutes(5);
    private int maxConnections = 64;
    private int port;
    private boolean tasksPost;

    Options(long incarnation) {
      this.incarnation = incarnation;
      token = new byte[Endpoint.TOKEN_BYTES];
      new Random(incarnation).nextBytes(token);
    }

    Options faults(String plan) {
      engine.put("soft.faults", plan);
      return this;
    }

    Options secret(byte... ofApplication) {
      secret = ofApplication;
      return this;
    }

    Options pool(long bytes) {
      poolBytes = bytes;
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

    Options lease(Duration length) {
      lease = length;
      return this;
    }

    Options idleTimeout(Duration timeout) {
      idleTimeout = timeout;
      return this;
    }

    Options maxConnections(int most) {
      maxConnections = most;
      return this;
    }

    Options port(int fixed) {
      port = fixed;
      return this;
    }

    Options tasksPost() {
      tasksPost = true;
      return this;
    }
  }

  LinkExecutor(Path directory, Options options) throws VerbsException, IOException {
    engine = WatchedEngine.watch(TestEngine.load(options.engine), (object, method) -> {});
    device = TestEngine.open(engine);
    budget = new PinnedBudget(options.pinnedBytes, 4096);
    outputs = new TestOutputs(directory, null);
    try {
      transport =
          RdmaTransport.open(settings(options), serveSettings(options), environment(options));
    } catch (VerbsException | RuntimeException e) {
      device.close();
      engine.close();
      throw e;
    }
  }

  private static TransportSettings settings(Options options) {
    return new TransportSettings(
        8 << 10,
        2,
        64,
        8L << 20,
        64 << 10,
        options.poolBytes,
        options.connectTimeout,
        options.requestTimeout,
        options.requestTimeout,
        options.idleTimeout,
        Duration.ofMillis(200),
        Duration.ofSeconds(2),
        options.maxConnections,
        16,
        true,
        Duration.ZERO,
        new PacketSettings(OptionalInt.empty(), 17, 6),
        false);
  }

  private static ServeSettings serveSettings(Options options) {
    return new ServeSettings(
        ServeSettings.Mode.AUTO,
        1 << 20,
        256 << 10,
        16,
        options.lease,
        100,
        1024,
        options.idleTimeout,
        true);
  }

  private TransportEnvironment environment(Options options) {
    return new TransportEnvironment(
        device,
        budget,
        outputs,
        List.of(NetworkAddress.ofHost(TestEngine.address())),
        options.port,
        0,
        addresses ->
            new Endpoint(
                Long.toString(options.incarnation),
                addresses,
                "soft",
                Messages.PROTOCOL,
                options.incarnation,
                options.token),
        options.secret,
        TestEngine.needsTrust(),
        options.tasksPost,
        outOfService::add,
        counters,
        System::nanoTime);
  }

  RdmaTransport transport() {
    return transport;
  }

  Endpoint endpoint() {
    return transport.endpoint();
  }

  List<String> outOfService() {
    return outOfService;
  }

  TestOutputs outputs() {
    return outputs;
  }

  PinnedBudget budget() {
    return budget;
  }

  Device device() {
    return device;
  }

  long count(Counter counter) {
    return counters.value(counter);
  }

  /** Fetches blocks of another executor. */
  LinkBlocks fetch(Endpoint from, List<BlockRange> blocks) {
    LinkBlocks request = new LinkBlocks(from, blocks);
    transport.fetch(request);
    return request;
  }

  /** Connections of both directions that are not destroyed. */
  int connections() throws ExecutionException, InterruptedException {
    return onAgent(() -> transport.agent().connections());
  }

  /** Calls on the agent's thread. */
  <T> T onAgent(Supplier<T> call) throws ExecutionException, InterruptedException {
    CompletableFuture<T> result = new CompletableFuture<>();
    transport.agent().execute(() -> result.complete(call.get()));
    return result.get();
  }

  @Override
  public void close() {
    transport.close();
    Leaks.checkNothingOpen(device);
    device.close();
    engine.close();
    budget.close();
  }
}
