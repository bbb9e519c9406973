// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.sparkrdma.faults.Comparison;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
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

  /** Time of all measurements so far; confined likewise. */
  private static long idleNs;

  /** The READs of all exchanges since the last call of {@link #takeReads}; confined likewise. */
  private static Comparison reads = Comparison.NONE;

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
  private final Queue<ConnectionEvent> events = new ArrayDeque<>();
  private final List<Connection> ends = new ArrayList<>();
  private final Set<Long> completed = new HashSet<>();
  CompletionChannel channel;
  CompletionQueue completions;
  ConnectionManager manager;
  private ProtectionDomain domain;
  private HostMemory memory;
  private MemoryRegion region;
  private Listener listener;
  private final byte[] content = new byte[BYTES];
  private String failure;
  private QueuePair queuePair;

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
    return queuePair;
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
    queuePair = initiator.createQueuePair(domain, settings());
    initiator.connect(parameters());
    ConnectionEvent request = expect(ConnectionEvent.Type.CONNECT_REQUEST);
    if (!Arrays.equals(DATA, request.privateData())) {
      throw new Failed("private data of the request");
    }
    Connection responder = request.connection();
    ends.add(responder);
    responder.createQueuePair(domain, settings());
    responder.accept(parameters());
    expect(ConnectionEvent.Type.ESTABLISHED);
    expect(ConnectionEvent.Type.ESTABLISHED);
  }

  /** Listens, and begins to resolve the listener's address. */
  Connection resolve(Duration timeout) throws VerbsException {
    prepare();
    listener = manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), DEPTH);
    Connection initiator = manager.resolve(listener.address(), null, timeout);
    ends.add(initiator);
    return initiator;
  }

  /** Listens at an address. */
  InetSocketAddress listenAt(InetAddress address) throws VerbsException {
    return listenAt(new InetSocketAddress(address, 0));
  }

  InetSocketAddress listenAt(InetSocketAddress address) throws VerbsException {
    if (manager == null) {
      prepare();
    }
    listener = manager.listen(address, DEPTH);
    return listener.address();
  }

  InetSocketAddress listenerAddress() {
    return listener.address();
  }

  /** Begins to resolve an address where nothing listens. */
  Connection resolve(InetAddress address) throws VerbsException {
    prepare();
    Connection initiator =
        manager.resolve(new InetSocketAddress(address, 4711), null, CONNECT_TIMEOUT);
    ends.add(initiator);
    return initiator;
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
    Connection initiator = manager.resolve(address, null, connectTimeout);
    expect(ConnectionEvent.Type.RESOLVED);
    initiator.createQueuePair(domain, settings());
    long before = ScriptedDeviceFixture.library.calls("rdma_connect");
    initiator.connect(parameters());
    // On iWARP another thread makes the call.
    await(() -> ScriptedDeviceFixture.library.calls("rdma_connect") > before);
    return initiator;
  }

  /** Accepts the next request, with a queue pair. */
  Connection accept() throws VerbsException, Failed {
    Connection responder = expect(ConnectionEvent.Type.CONNECT_REQUEST).connection();
    responder.createQueuePair(domain, settings());
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
    channel = device.createCompletionChannel();
    completions = device.createCompletionQueue(4 * DEPTH, channel);
    manager = device.createConnectionManager(channel);
    domain = device.allocateProtectionDomain();
    memory = device.allocate(2 * BYTES);
    new Random(BYTES).nextBytes(content);
    memory.slice(0, BYTES).put(content);
    region =
        domain.register(
            memory, 0, 2 * BYTES, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
  }

  QueuePairSettings settings() {
    return new QueuePairSettings(completions, completions, DEPTH, DEPTH, 1, remoteAccess);
  }

  private ConnectionParameters parameters() {
    return new ConnectionParameters(DATA, 16, 6, 6, 17, connectTimeout);
  }

  /** A message, then a READ, each polled after a wait on the armed queue. */
  void transfer() throws Failed {
    completed.clear();
    var receive = new WorkRequest(1).receive(1).local(region, BYTES, MESSAGE);
    await(() -> ends.get(1).queuePair().postReceive(receive));
    var send = new WorkRequest(1).send(2).local(region, 0, MESSAGE).signalled();
    await(() -> ends.get(0).queuePair().postSend(send));
    await(() -> completed.contains(1L) && completed.contains(2L));
    requireSame(MESSAGE);
    postRead();
    await(() -> completed.contains(3L));
    reads = reads.plus(Comparison.of(isSame(BYTES)));
    requireSame(BYTES);
  }

  void postRead() throws Failed {
    var read =
        new WorkRequest(1)
            .read(3, region.address(), region.remote().remoteKey())
            .local(region, BYTES, BYTES)
            .signalled();
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

  /** The READs that have completed since the last call, and whether they brought their bytes. */
  static Comparison takeReads() {
    Comparison taken = reads;
    reads = Comparison.NONE;
    return taken;
  }

  private void requireSame(int length) throws Failed {
    if (!isSame(length)) {
      throw new Failed("wrong bytes: lengthBytes=" + length);
    }
  }

  /** Compares the first bytes of the target with those of the source. */
  private boolean isSame(int length) {
    byte[] received = new byte[length];
    memory.slice(BYTES, length).get(received);
    return Arrays.equals(received, 0, length, content, 0, length);
  }

  void disconnect() throws Failed {
    ends.get(0).disconnect();
    expect(ConnectionEvent.Type.DISCONNECTED);
  }

  /** Waits for an event of this type; any other is a failure. */
  ConnectionEvent expect(ConnectionEvent.Type type) throws Failed {
    await(() -> !events.isEmpty());
    ConnectionEvent event = events.remove();
    if (event.type() != type) {
      throw new Failed(event.type() + ": " + event.reason());
    }
    return event;
  }

  /** Takes the events that were raised before; each is a failure. */
  void expectNoEvent() throws Failed {
    poll();
    if (!events.isEmpty()) {
      ConnectionEvent event = events.remove();
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
    completions.arm();
    // Takes the channel's events in each turn, also where completions come before they are awaited.
    channel.await(poll() == 0 ? maxSleepNs : 0);
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
        completions.poll(
            DEPTH,
            completion -> {
              if (completion.status() == WorkStatus.SUCCESS) {
                completed.add(completion.requestId());
              } else {
                onFailedWork(completion.status());
              }
            });
    ConnectionEvent event = manager.pollEvent();
    while (event != null) {
      events.add(event);
      found++;
      event = manager.pollEvent();
    }
    return found;
  }

  /** The connection's event has the reason, when there is one. The first failure counts. */
  private void onFailedWork(WorkStatus status) {
    if (failure != null) {
      return;
    }
    ConnectionEvent event = manager.pollEvent();
    failure =
        event == null ? "work failed: status=" + status : event.type() + ": " + event.reason();
  }

  @Override
  public void close() {
    // An emulated processor takes many times as long for each turn.
    if (manager != null && !ScriptedLibrary.isGiven()) {
      long beginNs = System.nanoTime();
      idlePercent = Math.max(idlePercent, measureIdle());
      idleNs += System.nanoTime() - beginNs;
    }
    device.close();
  }

  /** Highest CPU use of an idle exchange since the last call, in percent of one core. */
  static double takeIdlePercent() {
    double highest = idlePercent;
    idlePercent = 0;
    return highest;
  }

  /** Time that all exchanges so far have measured the CPU use of nothing, a part of no fault. */
  static long idleNs() {
    return idleNs;
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
