// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.LogLimit;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.serve.VirtualBlockServer;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/**
 * An executor in virtual time: transport and block server are those of the product, but for their
 * threads. Device, network and map outputs are simulated. An iteration of the agent takes {@link
 * #ITERATION_NS}, and {@link #WORK_NS} for each thing that it does. For one thread.
 */
final class VirtualExecutor implements AutoCloseable {
  private static final long ITERATION_NS = 300;
  private static final long WORK_NS = 500;
  private static final long TICK_NS = 5 * VirtualFabric.MS;
  private static final long PAGE_BYTES = 4096;

  private final VirtualFabric fabric;
  final InetAddress address;
  final Manager manager = new Manager();
  final VirtualDevice device = new VirtualDevice(this);
  private final ShuffleCounters counters = new ShuffleCounters();
  private final PinnedBudget budget;
  private final RdmaTransport transport;
  private VirtualBlockServer server;

  /** Memory of READs that are posted. */
  final List<VirtualConnection.Sink> sinks = new ArrayList<>();

  private boolean scheduled;
  private boolean ticking;
  private boolean paused;
  private boolean hungDisk;
  private boolean hungCreation;
  private boolean closed;
  private long busyUntilNs;
  private long creatingUntilNs;
  private long ingressFreeNs;
  private long egressFreeNs;

  /** Of READs that are posted. */
  long bytesInFlight;

  long maxBytesInFlight;

  /** Most bytes that were pinned for messages and rings at a time. */
  long maxLinkBytes;

  private long maxUnaccountedBytes;

  /** Messages that have found no receive. */
  int unreceived;

  /** Steps of its agent and its block server. */
  long workDone;

  /** Bytes of its map outputs that it has copied. */
  long copiedBytes;

  /** Connection requests that it has sent. */
  int requests;

  private int queuePairNumbers;
  private int queuePairs;

  /** Map outputs whose partitions have one length. */
  private final class Outputs implements MapOutputs {
    private final long[] offsets;

    Outputs(long[] offsets) {
      this.offsets = offsets;
    }

    @Override
    public MapOutput open(int shuffleId, long mapId) {
      return new MapOutput(Path.of("/virtual/outputs.data"), offsets, null) {
        @Override
        public void read(long fileOffset, ByteBuffer target) {
          copiedBytes += target.remaining();
          target.position(target.limit());
        }
      };
    }

    @Override
    public void loadPages(MapOutput mapOutput, long fileOffset, long lengthBytes) {}

    @Override
    public List<Path> directories() {
      return List.of();
    }
  }

  /**
   * @param number from 0
   * @param settings of the plug-in by their keys
   * @param partitions of each map output
   * @param blockBytes length of each partition
   */
  VirtualExecutor(
      VirtualFabric fabric,
      int number,
      Map<String, String> settings,
      int partitions,
      int blockBytes)
      throws VerbsException {
    this.fabric = fabric;
    long[] offsets = LongStream.rangeClosed(0, partitions).map(i -> i * blockBytes).toArray();
    Map<String, String> keys = new HashMap<>(settings);
    keys.put("spark.shuffle.rdma.verify", "false");
    keys.putIfAbsent("spark.shuffle.rdma.serve", "window");
    keys.put("spark.shuffle.rdma.fabric.trusted", "true");
    ShuffleSettings all = ShuffleSettings.of(keys);
    long pinnedBytes = all.pinnedMaxBytes().orElse(1L << 30);
    budget = new PinnedBudget(pinnedBytes, PAGE_BYTES);
    try {
      address =
          InetAddress.getByAddress(
              new byte[] {10, (byte) (number >> 16), (byte) (number >> 8), (byte) number});
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
    transport =
        TransportBuilder.open(
            all.transport(),
            all.serve(),
            new TransportEnvironment(
                device,
                budget,
                new Outputs(offsets),
                List.of(new NetworkAddress(address, 8)),
                0,
                listeners ->
                    new Identity(TestExecutor.endpoint(number + 1L, listeners), new byte[0]),
                reason -> {
                  throw new IllegalStateException(reason);
                },
                counters,
                fabric::nowNs),
            parameters -> {
              server = new VirtualBlockServer(parameters);
              return server.server();
            },
            /* threadStart= */ thread -> {});
  }

  Endpoint endpoint() {
    return transport.endpoint();
  }

  RdmaTransport transport() {
    return transport;
  }

  CompletionChannel channel() {
    return new Channel();
  }

  // The agent's thread.

  /** The agent runs as soon as it has time. */
  void wake() {
    if (!scheduled && !paused && !closed) {
      scheduled = true;
      fabric.at(busyUntilNs, this::iterate);
    }
  }

  private void iterate() {
    scheduled = false;
    if (paused || closed) {
      return;
    }
    int work = transport.built().agent.doWork() + (hungDisk ? 0 : server.workOnDisk());
    createQueuePairs();
    workDone += work;
    if (work > 0) {
      maxLinkBytes = Math.max(maxLinkBytes, linkBytes());
    }
    busyUntilNs = fabric.nowNs() + ITERATION_NS + work * WORK_NS;
    if (work > 0 || !manager.events.isEmpty()) {
      wake();
    } else if (!ticking) {
      ticking = true;
      fabric.after(
          TICK_NS,
          () -> {
            ticking = false;
            wake();
          });
    }
  }

  /** The thread of queue pairs, on which one creation follows the other. */
  private void createQueuePairs() {
    Runnable next = transport.built().queuePairs.poll();
    while (next != null) {
      Runnable creation = next;
      long lengthNs = fabric.queuePairTime.applyAsLong(this);
      hungCreation |= lengthNs == VirtualFabric.LOST;
      creatingUntilNs = Math.max(creatingUntilNs, fabric.nowNs()) + lengthNs;
      if (!hungCreation) {
        fabric.at(creatingUntilNs, () -> create(creation));
      }
      next = transport.built().queuePairs.poll();
    }
  }

  private void create(Runnable creation) {
    if (!closed) {
      creation.run();
    }
  }

  /** Its agent runs no more, as in a stopped process; its connections stay open. */
  void pause() {
    paused = true;
  }

  /** Nothing is read from its disk any more. */
  void hangDisk() {
    hungDisk = true;
  }

  /** Its agent runs again, after {@link #pause}. */
  void resume() {
    paused = false;
    wake();
  }

  // The device.

  void onEvent(ConnectionEvent event) {
    if (!closed) {
      manager.events.add(event);
      wake();
    }
  }

  /** A queue pair is created or destroyed; returns the number of a new one. */
  int onQueuePair(int change) {
    queuePairs += change;
    queuePairNumbers += Math.max(0, change);
    return queuePairNumbers;
  }

  static long wholePages(long lengthBytes) {
    return (lengthBytes + PAGE_BYTES - 1) & -PAGE_BYTES;
  }

  /** So many bytes are pinned, or were until now: grants must cover them. */
  void onPinned(long pinnedBytes) {
    maxUnaccountedBytes = Math.max(maxUnaccountedBytes, pinnedBytes - budget.pinnedBytes());
  }

  /** A READ of this executor is posted: the time when it completes. */
  long readNs(VirtualExecutor from, long bytes) {
    bytesInFlight += bytes;
    maxBytesInFlight = Math.max(maxBytesInFlight, bytesInFlight);
    long wireNs = (long) (bytes / VirtualFabric.BYTES_PER_NS);
    long sentNs = Math.max(fabric.nowNs() + VirtualFabric.LATENCY_NS, from.egressFreeNs);
    from.egressFreeNs = sentNs + wireNs;
    ingressFreeNs = Math.max(sentNs + VirtualFabric.LATENCY_NS, ingressFreeNs) + wireNs;
    return ingressFreeNs;
  }

  private final class Channel implements CompletionChannel {
    @Override
    public void await(long timeoutNs) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void wakeup() {
      wake();
    }

    @Override
    public void close() {}
  }

  private final class Manager implements ConnectionManager {
    private final ArrayDeque<ConnectionEvent> events = new ArrayDeque<>();

    @Override
    public void setTrafficClass(int trafficClass) {}

    @Override
    public Listener listen(InetSocketAddress listenAddress, int backlog) {
      InetSocketAddress bound = new InetSocketAddress(listenAddress.getAddress(), 1);
      return new Listener() {
        @Override
        public InetSocketAddress address() {
          return bound;
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration limit) {
      InetSocketAddress from = new InetSocketAddress(address, 1);
      VirtualConnection connection =
          new VirtualConnection(fabric, VirtualExecutor.this, from, remote, 0);
      connection.resolve();
      return connection;
    }

    @Override
    public ConnectionEvent pollEvent() {
      ConnectionEvent event = events.poll();
      while (event != null && ((VirtualConnection) event.connection()).isClosed()) {
        event = events.poll();
      }
      return event;
    }

    @Override
    public void close() {
      events.clear();
    }
  }

  // Figures.

  long count(Counter counter) {
    return counters.value(counter);
  }

  /** Connections of both directions, in any state. */
  int connections() {
    return transport.shared().work().connections();
  }

  /** Bytes pinned for messages and rings: all but receive memory and files. */
  private long linkBytes() {
    return budget.pinnedBytes() - transport.built().receiveBytes() - device.fileBytes;
  }

  /** Number of objects of its transport; those of log lines have their own limit. */
  long objects() throws IllegalAccessException {
    return new ObjectWalk()
        .from(transport).stream()
            .filter(object -> !object.getClass().getName().startsWith(LogLimit.class.getName()))
            .count();
  }

  /**
   * Closes it. Nothing may be left; nothing was pinned without a grant, and each message has found
   * a receive.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    transport.close();
    closed = true;
    if (device.regions.size() > 0 || queuePairs > 0 || budget.pinnedBytes() > 0) {
      throw new IllegalStateException(
          "left open: regions=%d queuePairs=%d pinnedBytes=%d"
              .formatted(device.regions.size(), queuePairs, budget.pinnedBytes()));
    }
    if (maxUnaccountedBytes > 0 || unreceived > 0) {
      throw new IllegalStateException(
          "bytes pinned without a grant=%d messages without a receive=%d"
              .formatted(maxUnaccountedBytes, unreceived));
    }
  }
}
