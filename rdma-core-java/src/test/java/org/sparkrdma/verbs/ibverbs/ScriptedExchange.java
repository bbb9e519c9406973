// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * A whole life of the engine on the scripted device, step by step on one thread: open, connect to
 * itself, a message and a READ, disconnect, close. A failure ends it, as an exception or as an
 * event whose reason it throws.
 */
final class ScriptedExchange implements AutoCloseable {
  static final int DEPTH = 8;
  private static final int BYTES = 4096;
  private static final int MESSAGE = 64;
  private static final long WAIT_NS = Duration.ofMillis(20).toNanos();

  /** Ends waits; the time-out of a connection attempt is shorter. */
  private static final long LIMIT_NS = Duration.ofSeconds(10).toNanos();

  /** Maximum CPU use of an idle exchange. */
  static final double MAX_IDLE_PERCENT = 1;

  /** Time of one sleep that nothing ends; an idle agent sleeps for 1 s. */
  private static final long IDLE_NS = Duration.ofMillis(100).toNanos();

  private static final int IDLE_MEASUREMENTS = 20;

  /** Confined to the tests' thread. */
  private static double idlePercent;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);

  /** Private data of requests and replies. */
  private static final byte[] DATA = {1, 2, 3};

  /** A failure that came as an event or a completion. */
  static final class Failed extends Exception {
    private static final long serialVersionUID = 1;

    Failed(String reason) {
      super(reason);
    }
  }

  final Device device;
  private final List<Connection> ends = new ArrayList<>();
  private final Set<Long> completed = new HashSet<>();

  /** Null before it listens or resolves. */
  Node node;

  private Node.Block block;
  private Listener listener;
  private final byte[] content = new byte[BYTES];
  private String failure;

  /** Time-out of attempts by {@link #connect} and {@link #request}. */
  Duration connectTimeout = CONNECT_TIMEOUT;

  /** Access of peers to both queue pairs. */
  Set<AccessFlag> remoteAccess = Set.of(AccessFlag.REMOTE_READ);

  /** Takes over nothing: the caller closes the engine. */
  ScriptedExchange(VerbsEngine engine) throws VerbsException {
    device = engine.open(ScriptedEngine.DEVICE);
  }

  /** That of the initiator, once connected. */
  QueuePair queuePair() {
    return initiator().queuePair();
  }

  /** Everything from the start to the end. */
  void run() throws VerbsException, Failed {
    connect();
    transfer();
    disconnect();
  }

  void connect() throws VerbsException, Failed {
    Connection initiator = resolve(CONNECT_TIMEOUT);
    expect(ConnectionEvent.Type.RESOLVED);
    initiator.createQueuePair(node.domain, settings());
    initiator.connect(parameters());
    ConnectionEvent request = expect(ConnectionEvent.Type.CONNECT_REQUEST);
    if (!Arrays.equals(DATA, request.privateData())) {
      throw new Failed("private data of the request");
    }
    ends.add(accept(request.connection()));
    expectEstablished();
  }

  /** Waits until both ends are connected. */
  void expectEstablished() throws Failed {
    expect(ConnectionEvent.Type.ESTABLISHED);
    expect(ConnectionEvent.Type.ESTABLISHED);
  }

  /** Listens, and begins to resolve the listener's address. */
  Connection resolve(Duration timeout) throws VerbsException {
    prepare();
    return resolve(listen(), timeout);
  }

  private Connection resolve(InetSocketAddress address, Duration timeout) throws VerbsException {
    Connection initiator = node.manager.resolve(address, null, timeout);
    ends.add(initiator);
    return initiator;
  }

  /** Listens at one more address. */
  InetSocketAddress listen() throws VerbsException {
    listener =
        node.manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), DEPTH);
    return listener.address();
  }

  InetSocketAddress listenerAddress() {
    return listener.address();
  }

  /** Begins to resolve an address where nothing listens. */
  Connection resolve(InetAddress address) throws VerbsException {
    prepare();
    return resolve(new InetSocketAddress(address, 4711), CONNECT_TIMEOUT);
  }

  Connection initiator() {
    return ends.get(0);
  }

  /** Requests one more connection from the listener, with a queue pair. */
  Connection request() throws VerbsException, Failed {
    return request(listener.address());
  }

  /** Requests a connection from a listener, with a queue pair. */
  Connection request(InetSocketAddress address) throws VerbsException, Failed {
    Connection initiator = node.manager.resolve(address, null, connectTimeout);
    expect(ConnectionEvent.Type.RESOLVED);
    initiator.createQueuePair(node.domain, settings());
    long before = ScriptedDeviceFixture.library.calls("rdma_connect");
    initiator.connect(parameters());
    // On iWARP another thread makes the call.
    await(() -> ScriptedDeviceFixture.library.calls("rdma_connect") > before);
    return initiator;
  }

  /** Accepts the next request, with a queue pair. */
  Connection accept() throws VerbsException, Failed {
    return accept(expect(ConnectionEvent.Type.CONNECT_REQUEST).connection());
  }

  private Connection accept(Connection responder) throws VerbsException {
    responder.createQueuePair(node.domain, settings());
    responder.accept(parameters());
    return responder;
  }

  /** Polls until the device has this number of queue pairs. */
  void awaitQueuePairs(int count) throws Failed {
    await(() -> device.openResources().queuePairs() == count);
  }

  Connection responder() {
    return ends.get(1);
  }

  private void prepare() throws VerbsException {
    node = new Node(device);
    block = node.block(2 * BYTES, 0, Node.READABLE);
    new Random(BYTES).nextBytes(content);
    block.memory().slice(0, BYTES).put(content);
  }

  QueuePairSettings settings() {
    return new QueuePairSettings(node.queue, node.queue, DEPTH, DEPTH, 1, remoteAccess);
  }

  private ConnectionParameters parameters() {
    return new ConnectionParameters(DATA, 16, 6, 6, 17, connectTimeout);
  }

  /** A message, then a READ, each polled after a wait on the armed queue. */
  void transfer() throws Failed {
    completed.clear();
    var receive = new WorkRequest(1).receive(1).local(block.region(), BYTES, MESSAGE);
    await(() -> ends.get(1).queuePair().postReceive(receive));
    var send = new WorkRequest(1).send(2).local(block.region(), 0, MESSAGE).signalled();
    await(() -> ends.get(0).queuePair().postSend(send));
    await(() -> completed.contains(1L) && completed.contains(2L));
    requireSame(MESSAGE);
    postRead();
    await(() -> completed.contains(3L));
    requireSame(BYTES);
  }

  void postRead() throws Failed {
    WorkRequest read = block.read(3, block.region(), 0, BYTES, BYTES);
    await(() -> ends.get(0).queuePair().postSend(read));
  }

  /** The first failure of work; null when there is none. */
  String failure() {
    return failure;
  }

  /** A READ without elements, and without a remote key. */
  void readNoBytes() throws Failed {
    var read = new WorkRequest(1).read(4, 0, 0).signalled();
    await(() -> ends.get(0).queuePair().postSend(read));
    await(() -> completed.contains(4L));
  }

  /** Compares the first bytes of the target with those of the source. */
  private void requireSame(int length) throws Failed {
    if (!Arrays.equals(block.bytes(BYTES, length), Arrays.copyOf(content, length))) {
      throw new Failed("wrong bytes: lengthBytes=" + length);
    }
  }

  void disconnect() throws Failed {
    ends.get(0).disconnect();
    expect(ConnectionEvent.Type.DISCONNECTED);
  }

  /** Waits for an event of this type; any other is a failure. */
  ConnectionEvent expect(ConnectionEvent.Type type) throws Failed {
    await(() -> !node.events.isEmpty());
    ConnectionEvent event = node.events.remove();
    if (event.type() != type) {
      throw new Failed(event.type() + ": " + event.reason());
    }
    return event;
  }

  /** Takes the events that were raised before; each is a failure. */
  void expectNoEvent() throws Failed {
    poll();
    if (!node.events.isEmpty()) {
      ConnectionEvent event = node.events.remove();
      throw new Failed(event.type() + ": " + event.reason());
    }
  }

  private void await(BooleanSupplier condition) throws Failed {
    long deadlineNs = System.nanoTime() + LIMIT_NS;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw new Failed("nothing happened for too long");
      }
      turn();
      if (failure != null) {
        throw new Failed(failure);
      }
    }
  }

  /** Polls everything once; sleeps when there is nothing. */
  void turn() {
    turn(WAIT_NS);
  }

  private void turn(long maxSleepNs) {
    node.queue.arm();
    // Takes the channel's events in each turn, also where completions come before they are awaited.
    node.channel.await(poll() == 0 ? maxSleepNs : 0);
  }

  /** Takes turns for a time. */
  void turnFor(Duration time) {
    long endNs = System.nanoTime() + time.toNanos();
    while (System.nanoTime() - endNs < 0) {
      turn();
    }
  }

  int poll() {
    int found =
        node.queue.poll(
            DEPTH,
            completion -> {
              if (completion.status() == WorkStatus.SUCCESS) {
                completed.add(completion.requestId());
              } else {
                onFailedWork(completion.status());
              }
            });
    ConnectionEvent event = node.manager.pollEvent();
    while (event != null) {
      node.events.add(event);
      found++;
      event = node.manager.pollEvent();
    }
    return found;
  }

  /** The connection's event has the reason, when there is one. The first failure counts. */
  private void onFailedWork(WorkStatus status) {
    if (failure != null) {
      return;
    }
    ConnectionEvent event = node.manager.pollEvent();
    failure =
        event == null ? "work failed: status=" + status : event.type() + ": " + event.reason();
  }

  @Override
  public void close() {
    // An emulated processor takes many times as long for each turn.
    if (node != null && !ScriptedLibrary.isGiven()) {
      idlePercent = Math.max(idlePercent, measureIdle());
    }
    device.close();
  }

  /** Highest CPU use of an idle exchange since the last call, in percent of one core. */
  static double takeIdlePercent() {
    double highest = idlePercent;
    idlePercent = 0;
    return highest;
  }

  /**
   * CPU use of this thread while nothing is left to do, as the agent waits. Ends with the first
   * measurement below the maximum, else with the lowest: late events, the compiler and other
   * processes may disturb some, but a descriptor that wakes the thread at once does so in all.
   */
  private double measureIdle() {
    var threads = ManagementFactory.getThreadMXBean();
    double lowest = 100;
    for (int i = 0; i < IDLE_MEASUREMENTS && lowest >= MAX_IDLE_PERCENT; i++) {
      long startNs = System.nanoTime();
      long startCpuNs = threads.getCurrentThreadCpuTime();
      try {
        while (System.nanoTime() - startNs < IDLE_NS) {
          turn(IDLE_NS);
        }
      } catch (IllegalStateException e) {
        // The device cannot be polled any more: its owner ends instead of waiting.
        return 0;
      }
      long cpuNs = threads.getCurrentThreadCpuTime() - startCpuNs;
      lowest = Math.min(lowest, 100.0 * cpuNs / (System.nanoTime() - startNs));
    }
    return lowest;
  }
}
