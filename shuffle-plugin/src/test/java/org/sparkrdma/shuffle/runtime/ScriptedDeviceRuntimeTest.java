// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.runtime.RdmaStart.DeviceStart;
import org.sparkrdma.shuffle.runtime.RdmaStart.TransportStart;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.transport.StartedTransport;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;
import org.sparkrdma.verbs.ibverbs.ScriptedHost;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import scala.Option;

/**
 * Runtimes on the ibverbs engine, loaded as its provider loads it: the start while no port is
 * ready; and of two with real transports, one reads a block of the other while the device is lost
 * and comes back, or the server is drained.
 */
@Tag("slow")
class ScriptedDeviceRuntimeTest extends RuntimeFixture {
  /** IBV_PORT_INIT: the cable is there, and no subnet manager has configured the port. */
  private static final int INIT = 2;

  private static final int EAGAIN = 11;

  /** A link-local address, which the port has before DHCP. */
  private static final byte[] LINK_LOCAL = {
    (byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
  };

  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  @TempDir private Path root;
  private ScriptedHost host;
  private static final int SHUFFLE = 0;
  private static final long MAP = 1;
  private static final int BYTES = 100_000;
  private static final List<String> DESTROYING_CALLS =
      List.of("ibv_destroy_qp", "rdma_destroy_qp", "rdma_destroy_id", "ibv_dealloc_pd");

  private final ScriptedLibrary library = DEVICE.library();
  private final byte[] content = new byte[BYTES];
  private Started reader;
  private Started server;

  @BeforeEach
  void createSystemFiles() throws IOException {
    host = new ScriptedHost(root).withDeviceFiles();
  }

  private Verbs.Choice choose() {
    try {
      return new Verbs.Choice(host.load(DEVICE.library()), List.of());
    } catch (EngineUnavailableException e) {
      return new Verbs.Choice(null, List.of("ibverbs: " + e.getMessage()), e.isTransient());
    }
  }

  @Test
  @DisplayName("no port is active at the first start, and one becomes active later")
  void shouldStartWhenAPortThatWasDownAtTheStartBecomesActive() throws Exception {
    DEVICE.library().limit("port_state", INIT);

    assertStartsWhenReady(ScriptedEngine.DEVICE + " port 1 is not active: state=INIT");
  }

  @Test
  @DisplayName("the only port has no IP address at the first start, and gets one later")
  void shouldStartWhenAnActivePortGetsItsAddress() throws Exception {
    host.withGid(LINK_LOCAL, "");

    assertStartsWhenReady(ScriptedEngine.DEVICE + " port 1 has no IP address");
  }

  private static void closeIdle(RdmaRuntime runtime) throws InterruptedException {
    IdleThreads.assertIdle();
    runtime.close();
  }

  private static TransportStart realTransports() {
    SparkEnv env = SparkEnv.get();
    return RdmaStart.transports(
        env,
        (IndexShuffleBlockResolver) env.shuffleManager().shuffleBlockResolver(),
        ShuffleSettings.defaults(),
        new ShuffleCounters(),
        new MissingLinks(),
        own -> own);
  }

  @Test
  @DisplayName("the device cannot be opened twice; librdmacm drops for ever what it cannot open")
  void shouldStartOnADeviceThatCouldNotBeOpenedAtFirst() throws Exception {
    DEVICE.library().limit("failing_opens", 2);
    assertThat(startLater(() -> null).get(0))
        .contains("until it can be started", "ibv_open_device failed: errno=5");
  }

  @ParameterizedTest(name = "ibv_open_device fails twice with errno {0} at the first start")
  @ValueSource(ints = {5, 11, 16, 19, 24})
  void shouldStartOnADeviceThatDidNotOpenAtFirst(int errno) throws Exception {
    DEVICE.library().fail("ibv_open_device", errno, 1, 2);
    assertThat(startLater(() -> null).get(0))
        .contains("until it can be started", "ibv_open_device failed: errno=" + errno)
        .matches(
            line -> line.contains("hca_handle") == (errno == EAGAIN), "names the control group");
  }

  @ParameterizedTest(name = "{0} fails for ever with errno {1} at the first start")
  @CsvSource({
    "ibv_open_device, 12, no RDMA device with reliable connections",
    "ibv_open_device, 13, no RDMA device with reliable connections",
    "ibv_get_device_list, 38, rdma_get_devices failed: errno=19",
    "ibv_reg_mr, 12, memory cannot be registered: call=ibv_reg_mr errno=12 RLIMIT_MEMLOCK=",
    "ibv_reg_mr, 14, memory cannot be registered: call=ibv_reg_mr errno=14: ",
    "ibv_create_cq, 12, memory cannot be registered: call=ibv_create_cq errno=12 RLIMIT_MEMLOCK="
  })
  void shouldStayOffWithTheReasonWhereNoDeviceCanBeUsed(String call, int errno, String reason)
      throws Exception {
    DEVICE.library().fail(call, errno, 1, ScriptedLibrary.FOR_EVER);

    assertStaysOff(reason);
  }

  @Test
  @DisplayName("the device answers 256 READs at once, of which librdmacm keeps 0")
  void shouldStayOffWithTheReasonWhereTheLibraryKeepsNoReads() throws Exception {
    DEVICE.library().limit("rd_atom", 256);

    assertStaysOff("librdmacm allows no READ on this device");
  }

  private void assertStaysOff(String reason) throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime = runtime((name, settings) -> choose(), realTransports());
      runtime.start();

      awaitState(runtime, State.OFF);
      assertThat(log.awaitWarnings(1)).singleElement().asString().contains(reason);
      assertThat(runtime.mayFetch()).isFalse();
      closeIdle(runtime);
    }
  }

  /** A reset of the device's script and the files of a usable device make the port ready. */
  private void assertStartsWhenReady(String... reasons) throws Exception {
    List<String> warnings =
        startLater(
            () -> {
              DEVICE.library().reset();
              return host.withDeviceFiles();
            });
    assertThat(warnings)
        .singleElement()
        .asString()
        .contains("until it can be started")
        .contains(reasons);
  }

  /** A start that fails, and then succeeds: the warnings of the first. */
  private List<String> startLater(Callable<?> change) throws Exception {
    firstRestart = Duration.ofMillis(1);
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime = runtime((name, settings) -> choose(), parts -> engine.transport());
      runtime.start();
      List<String> warnings = log.awaitWarnings(1);
      change.call();
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      assertThat(runtime.mayFetch()).isTrue();
      closeIdle(runtime);
      return warnings;
    }
  }

  /** A runtime, and its transport of the last start. */
  private final class Started implements TransportStart {
    private final TransportStart real;
    final RdmaRuntime runtime;
    private volatile StartedTransport transport;

    Started() {
      SparkEnv env = SparkEnv.get();
      Map<String, String> set =
          Map.of(
              // The scripted device reads the memory of this process only, not mapped files.
              "spark.shuffle.rdma.serve",
              "copy",
              // A READ that the device holds must not time out, however busy this machine is.
              "spark.shuffle.rdma.request.timeout",
              "10min");
      real =
          RdmaStart.transports(
              env, resolver(), ShuffleSettings.of(set), new ShuffleCounters(), missing, own -> own);
      runtime = runtime((name, settings) -> choose(), this);
      runtime.start();
      runtime.require(WAIT);
    }

    @Override
    public StartedTransport start(DeviceStart open) throws VerbsException {
      transport = real.start(open);
      return transport;
    }

    boolean isLost() {
      return runtime.state() != State.UP;
    }

    void awaitReturn() {
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      assertThat(runtime.mayFetch()).isTrue();
    }
  }

  /** The only answer of a block: its bytes, or the reason why it uses TCP. */
  private static final class Answer implements FetchHandler {
    private final CompletableFuture<Object> answer = new CompletableFuture<>();

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      try (InputStream in = buffer.createInputStream()) {
        answer.complete(in.readAllBytes());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      answer.complete(reason);
    }
  }

  private void startTwo() throws IOException {
    firstRestart = Duration.ofMillis(1);
    new Random(1).nextBytes(content);
    Files.write(resolver().getDataFile(SHUFFLE, MAP).toPath(), content);
    Files.write(
        resolver().getIndexFile(SHUFFLE, MAP, Option.empty()).toPath(),
        ByteBuffer.allocate(2 * Long.BYTES).putLong(0).putLong(BYTES).array());
    reader = new Started();
    server = new Started();
  }

  @AfterEach
  void closeBoth() {
    if (server != null) {
      reader.runtime.close();
      server.runtime.close();
    }
  }

  private static IndexShuffleBlockResolver resolver() {
    return (IndexShuffleBlockResolver) SparkEnv.get().shuffleManager().shuffleBlockResolver();
  }

  /** Fetches the block: its bytes, or the reason why it uses TCP. */
  private CompletableFuture<Object> fetch() {
    Answer handler = new Answer();
    FetchHandler.fetch(
        reader.transport,
        server.transport.endpoint(),
        List.of(new BlockRange(SHUFFLE, MAP, 0, 1)),
        handler);
    return handler.answer;
  }

  /** The same, until its READ is held. */
  private CompletableFuture<Object> fetchAndHold() {
    long before = library.hits();
    library.limit("held_reads", 1);
    CompletableFuture<Object> open = fetch();
    while (library.hits() == before) {
      Thread.onSpinWait();
    }
    return open;
  }

  @Test
  @DisplayName("the device is removed with READs in flight, and is there again later")
  void shouldReadBlocksAgainWhenARemovedDeviceHasReturned() throws Exception {
    startTwo();
    assertThat(fetch().join()).isEqualTo(content);
    CompletableFuture<Object> open = fetchAndHold();

    library.limit("removed", 1);
    library.killDescriptors();
    library.raiseOnConnections(ScriptedLibrary.DEVICE_REMOVAL);
    library.raiseOnListeners(ScriptedLibrary.DEVICE_REMOVAL);
    while (!reader.isLost() || !server.isLost()) {
      Thread.onSpinWait();
    }

    // After the loss of its connection it is requested once more.
    assertThat(open.join())
        .isIn(FallbackReason.LOST_PEER, FallbackReason.STOPPED, FallbackReason.CONNECT_FAILED);
    assertThat(reader.runtime.mayFetch()).isFalse();
    while (library.outstanding() > 0) {
      Thread.onSpinWait();
    }
    IdleThreads.assertIdle();

    library.reset();
    reader.awaitReturn();
    server.awaitReturn();

    assertThat(fetch().join()).isEqualTo(content);
    IdleThreads.assertIdle();
  }

  /** The address may not be there yet, or the port may be used by another process. */
  @ParameterizedTest(name = "the device fails, and {0} fails 3 times with errno {1} at the restart")
  @CsvSource({"rdma_bind_addr, 99", "rdma_bind_addr, 19", "rdma_listen, 98"})
  void shouldReadBlocksAgainWhenAnExecutorListensAgain(String call, int errno) throws Exception {
    startTwo();
    assertThat(fetch().join()).isEqualTo(content);
    long before = library.calls(call);
    library.fail(call, errno, 1, 3);

    library.raise(ScriptedLibrary.DEVICE_FATAL, 0);
    while (library.calls(call) < before + 3) {
      Thread.onSpinWait();
    }
    reader.awaitReturn();
    server.awaitReturn();

    assertThat(fetch().join()).isEqualTo(content);
    IdleThreads.assertIdle();
  }

  @Test
  void shouldCompleteTheReadsOfPeersAfterADrain() throws IOException {
    startTwo();
    assertThat(fetch().join()).isEqualTo(content);
    // Both have ended the connection of their first fetch, to themselves.
    while (library.calls("rdma_destroy_id") < 4) {
      Thread.onSpinWait();
    }
    CompletableFuture<Object> open = fetchAndHold();
    List<Long> destroyed = destroyed();

    server.runtime.drain();

    assertThat(open).as("a READ of leased memory is in flight").isNotDone();
    assertThat(destroyed()).as("calls of %s", DESTROYING_CALLS).isEqualTo(destroyed);
    library.releaseReads();
    assertThat(open.join()).as("read after the drain").isEqualTo(content);
    assertThat(fetch().join()).as("requested after the drain").isEqualTo(content);
    assertThat(destroyed()).as("calls of %s", DESTROYING_CALLS).isEqualTo(destroyed);
  }

  private List<Long> destroyed() {
    return DESTROYING_CALLS.stream().map(library::calls).toList();
  }

  /**
   * CPU use of the threads that wait for devices, peers or starts for as long as executors live.
   */
  private static final class IdleThreads {
    private static final List<String> NAMES =
        List.of("rdma-agent", "rdma-queue-pairs", "rdma-cm", "rdma-control");

    /** Maximum CPU use of all of them together, in percent of one core. */
    private static final double MAX_PERCENT = 1;

    private static final long MEASURED_MS = 100;

    /**
     * For longer than an attempt of a connection, which keeps its agent busy, outlasts its blocks.
     */
    private static final int MEASUREMENTS = 50;

    private IdleThreads() {}

    /** The lowest of a few measurements: late events and the compiler may disturb one. */
    static void assertIdle() throws InterruptedException {
      double lowest = 100;
      for (int i = 0; i < MEASUREMENTS && lowest >= MAX_PERCENT; i++) {
        long startNs = System.nanoTime();
        long startCpuNs = cpuNs();
        new CountDownLatch(1).await(MEASURED_MS, TimeUnit.MILLISECONDS);
        long cpuNs = cpuNs() - startCpuNs;
        lowest = Math.min(lowest, 100.0 * cpuNs / (System.nanoTime() - startNs));
      }
      assertThat(lowest).as("CPU use of waiting threads, in percent").isLessThan(MAX_PERCENT);
    }

    private static long cpuNs() {
      var threads = ManagementFactory.getThreadMXBean();
      return Thread.getAllStackTraces().keySet().stream()
          .filter(thread -> NAMES.stream().anyMatch(thread.getName()::startsWith))
          .mapToLong(thread -> Math.max(0, threads.getThreadCpuTime(thread.getId())))
          .sum();
    }
  }
}
