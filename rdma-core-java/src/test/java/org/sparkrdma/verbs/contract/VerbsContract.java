// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.leak.Leaks;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Base of all contract tests: an engine, two open devices and methods that connect them. Checks for
 * leaks after each test.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
public abstract class VerbsContract {
  private static final Duration TIMEOUT = Duration.ofSeconds(40);

  /** Long enough for an answer on a busy machine; less than {@link #TIMEOUT}. */
  protected static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(30);

  private static final long PAUSE_NS = 1_000_000;

  private Leaks leaks;
  private final List<Node> nodes = new ArrayList<>();
  private final List<VerbsEngine> engines = new ArrayList<>();

  /** One end, with its own device. */
  protected Node client;

  /** The other end, with its own device. */
  protected Node server;

  /** The engine that the tests run on: by default that of the suite around them. */
  protected EngineUnderTest engine() {
    return VerbsContractSuite.current();
  }

  @BeforeEach
  final void openTwoDevices() throws Exception {
    openDescriptorsThatStayOpen();
    leaks = Leaks.ofEngine(engine().mappedPath());
    VerbsEngine engine = load(Map.of());
    client = open(engine);
    server = open(engine);
  }

  @AfterEach
  final void closeAndCheckForLeaks() {
    nodes.forEach(Node::close);
    nodes.forEach(node -> Leaks.checkNothingOpen(node.device));
    engines.forEach(VerbsEngine::close);
    nodes.clear();
    client = null;
    server = null;
    if (leaks != null) {
      // Without an engine the test was skipped before it began.
      leaks.check();
      leaks.checkMappings();
    }
  }

  /**
   * The JDK keeps the socket that it opens at the first close of a channel, and librdmacm each
   * device that it has opened.
   */
  private void openDescriptorsThatStayOpen() throws IOException {
    SocketChannel.open().close();
    loadUnwatched(Map.of()).close();
  }

  /** Loads the engine with more settings; it is closed after the test. */
  protected final VerbsEngine load(Map<String, String> more) {
    VerbsEngine engine = WatchedEngine.watch(loadUnwatched(more));
    engines.add(engine);
    return engine;
  }

  private VerbsEngine loadUnwatched(Map<String, String> more) {
    Map<String, String> all = new TreeMap<>(engine().settings());
    all.putAll(more);
    Verbs.Choice choice = Verbs.choose(engine().name(), EngineSettings.of(all));
    assertThat(choice.engine()).as("engine, refused because %s", choice.reasons()).isNotNull();
    return choice.engine();
  }

  /** Opens its device, which is closed after the test. */
  protected final Node open(VerbsEngine engine) throws VerbsException {
    Node node = Node.open(engine, engine().address());
    nodes.add(node);
    return node;
  }

  /** Reopens the client's device with other settings. */
  protected final void reopenClient(Map<String, String> settings) throws VerbsException {
    replaceClient(load(settings));
  }

  /** Reopens the client's device on another engine, which is closed after the test. */
  protected final void reopenClient(VerbsEngine engine) throws VerbsException {
    engines.add(engine);
    replaceClient(engine);
  }

  private void replaceClient(VerbsEngine engine) throws VerbsException {
    nodes.remove(client);
    client.close();
    client = open(engine);
  }

  /** Reopens both devices without leak records, for tests that count the engine's allocations. */
  protected final void reopenUnwatched() throws VerbsException {
    nodes.forEach(Node::close);
    nodes.clear();
    VerbsEngine engine = loadUnwatched(Map.of());
    engines.add(engine);
    client = open(engine);
    server = open(engine);
  }

  /** Skips the test, with the reason, on a device without the capability. */
  protected final void assumeCan(Capability capability) {
    assumeTrue(
        client.device.info().can(capability), () -> "the device has no capability " + capability);
  }

  /** Skips the test, with the reason, on an engine without the deviation. */
  protected final void assumeDeviates(Deviation deviation) {
    assumeTrue(engine().deviates(deviation), () -> "the engine does not deviate: " + deviation);
  }

  /** Skips the test, with the reason, on an engine with the deviation. */
  protected final void assumeConforms(Deviation deviation) {
    assumeFalse(engine().deviates(deviation), () -> "the engine deviates: " + deviation);
  }

  /** The status of work that the peer refused. */
  protected final WorkStatus refusal() {
    return engine().deviates(Deviation.REFUSALS_ARE_FLUSHES)
        ? WorkStatus.FLUSH_ERROR
        : WorkStatus.REMOTE_ACCESS_ERROR;
  }

  /** Polls all nodes until the condition holds. */
  protected final void until(BooleanSupplier condition) {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (!condition.getAsBoolean()) {
      boolean any = false;
      for (Node node : nodes) {
        any |= node.poll();
      }
      if (!any) {
        nodes.get(0).channel.await(PAUSE_NS);
      }
      assertThat(System.nanoTime() - deadline).as("time-out").isNegative();
    }
  }

  /** Polls all nodes for a time. */
  protected final void pollFor(Duration time) {
    long start = System.nanoTime();
    until(() -> System.nanoTime() - start > time.toNanos());
  }

  /** Spins until the condition holds; the condition polls. */
  protected static void spinUntil(BooleanSupplier condition) {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
      if (System.nanoTime() - deadline >= 0) {
        fail("time-out");
      }
    }
  }

  /** Checks all bytes. AssertJ looks at each for itself, which takes a second for a mebibyte. */
  protected static void assertAll(byte[] bytes, int value) {
    byte[] expected = new byte[bytes.length];
    Arrays.fill(expected, (byte) value);
    int different = Arrays.mismatch(bytes, expected);
    if (different >= 0) {
      fail("index=" + different + " expected=" + value + " found=" + bytes[different]);
    }
  }

  /** Waits for the next event of a node and checks its type. */
  protected final ConnectionEvent event(Node node, ConnectionEvent.Type type) {
    until(() -> !node.events.isEmpty());
    ConnectionEvent event = node.events.remove();
    assertThat(event.type()).as("event with reason '%s'", event.reason()).isEqualTo(type);
    return event;
  }

  /** Waits for the next completion of a node. */
  protected final Result result(Node node) {
    until(() -> !node.results.isEmpty());
    return node.results.remove();
  }

  /** Waits for the next completion of a node, which is a success. */
  protected final Result success(Node node) {
    Result result = result(node);
    assertThat(result.status()).isEqualTo(WorkStatus.SUCCESS);
    return result;
  }

  /** Fills a block of a node with a READ, which succeeds. */
  protected final void read(Node node, QueuePair pair, Node.Block sink, MemoryRegion source) {
    pair.postSend(sink.readFrom(1, source));
    success(node);
  }

  /** Accepts the next request at a node. */
  protected final Connection accept(Node node) throws VerbsException {
    Connection asked = event(node, ConnectionEvent.Type.CONNECT_REQUEST).connection();
    asked.createQueuePair(node.domain, node.settings());
    asked.accept(parameters());
    return asked;
  }

  /** Default parameters. */
  protected static ConnectionParameters parameters() {
    return withPrivateData(new byte[0]);
  }

  /** Parameters that retry forever while the receiver is not ready. */
  protected static ConnectionParameters retriesForever() {
    return new ConnectionParameters(new byte[0], 16, 6, 7, 17, ANSWER_TIMEOUT);
  }

  /** Default parameters with private data. */
  protected static ConnectionParameters withPrivateData(byte[] privateData) {
    return new ConnectionParameters(privateData, 16, 6, 6, 17, ANSWER_TIMEOUT);
  }

  /** Resolves a connection of the client and creates its queue pair; it is not connected yet. */
  protected final Connection prepare(InetSocketAddress address) throws VerbsException {
    return prepare(address, client.settings());
  }

  /** Same as {@link #prepare(InetSocketAddress)} with other settings. */
  protected final Connection prepare(InetSocketAddress address, QueuePairSettings settings)
      throws VerbsException {
    Connection connection = client.resolve(address);
    event(client, ConnectionEvent.Type.RESOLVED);
    connection.createQueuePair(client.domain, settings);
    return connection;
  }

  /** Connects client and server. */
  protected final Pair connect() throws VerbsException {
    return connect(client.settings(), server.settings(), retriesForever());
  }

  /** Connects client and server with other settings. */
  protected final Pair connect(QueuePairSettings here, QueuePairSettings there)
      throws VerbsException {
    return connect(here, there, retriesForever());
  }

  /** Connects client and server with other settings and parameters. */
  protected final Pair connect(
      QueuePairSettings here, QueuePairSettings there, ConnectionParameters parameters)
      throws VerbsException {
    try (Listener listener = server.listen(engine())) {
      Connection asking = prepare(listener.address(), here);
      asking.connect(parameters);
      Connection asked = event(server, ConnectionEvent.Type.CONNECT_REQUEST).connection();
      asked.createQueuePair(server.domain, there);
      asked.accept(parameters);
      event(client, ConnectionEvent.Type.ESTABLISHED);
      event(server, ConnectionEvent.Type.ESTABLISHED);
      return new Pair(asking, asked);
    }
  }

  /** Two ends of a connection. */
  protected record Pair(Connection clientEnd, Connection serverEnd) {
    /** The client's queue pair. */
    public QueuePair client() {
      return clientEnd.queuePair();
    }

    /** The server's queue pair. */
    public QueuePair server() {
      return serverEnd.queuePair();
    }
  }
}
