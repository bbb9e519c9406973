// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.Executor;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * A server in virtual time: its thread and the threads of one disk are simulated. Registering a
 * cold file, or reading its index when files are copied, takes time of the thread that does it. For
 * one thread.
 */
final class SimulatedServer implements AutoCloseable {
  static final long COLD_NS = Duration.ofMillis(430).toNanos();
  static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final long LOCATE_NS = Duration.ofNanos(10_000).toNanos();

  private record Event(long atNs, long order, boolean onDisk, Runnable work) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::atNs).thenComparingLong(Event::order));
  private final FakeDomain domain = new FakeDomain();
  private final PinnedBudget budget = new PinnedBudget(1 << 30, FakeDomain.PAGE);
  private final ShuffleCounters counters = new ShuffleCounters();
  private final FakeMapOutputs outputs;
  private final BlockServer server;
  private final SimulatedThreads diskThreads =
      new SimulatedThreads(
          DiskTurns.GROWTH * DiskServers.THREADS, (ns, event) -> add(now() + ns, true, event));
  private long serverFreeNs;
  private long nowNs;
  private long order;

  /**
   * A server that registers windows.
   *
   * @param onServersThread whether disk work is done by the server's thread
   */
  SimulatedServer(Path folder, boolean onServersThread) {
    this(folder, onServersThread, DiskServers.windows(100_000));
  }

  private SimulatedServer(Path folder, boolean onServersThread, ServeSettings settings) {
    outputs = new FakeMapOutputs(folder);
    Executor disk = onServersThread ? Runnable::run : diskThreads;
    server =
        DiskServers.of(
            outputs,
            domain,
            budget,
            counters,
            TIMEOUT,
            () -> nowNs,
            settings,
            List.of(new DiskQueue(disk, DiskServers.THREADS, () -> nowNs)));
    if (settings.mode() == ServeSettings.Mode.COPY) {
      outputs.beforeOpen(shuffleId -> readDisk(shuffleId == 2));
    } else {
      domain.beforeRegistration(
          file -> readDisk(file.getFileName().toString().contains("shuffle_2_")));
    }
  }

  /** A server that registers no file: each block is copied by a thread of the disk. */
  static SimulatedServer copying(Path folder) {
    return new SimulatedServer(folder, false, DiskServers.copies(10_000));
  }

  /** The same with few slots; disk work is done by the server's thread. */
  static SimulatedServer copyingOnServersThread(Path folder, int slots) {
    return new SimulatedServer(folder, true, DiskServers.copies(slots));
  }

  private void readDisk(boolean cold) {
    if (cold && diskThreads.isCurrent()) {
      diskThreads.pause(COLD_NS);
    } else if (cold) {
      nowNs += COLD_NS;
    }
  }

  private long now() {
    return nowNs;
  }

  /** Writes map outputs: those of shuffle 1 are on a fast file system, those of 2 on a slow one. */
  void write(int shuffleId, int mapOutputs) throws IOException {
    for (int map = 0; map < mapOutputs; map++) {
      outputs.write(shuffleId, map, new Random(map), true, 1000);
    }
  }

  private void add(long atNs, boolean onDisk, Runnable work) {
    events.add(new Event(atNs, order++, onDisk, work));
  }

  /** A LOCATE arrives at a time. */
  Call locate(long atNs, long peer, int shuffleId, long mapId) {
    Call call = new Call(peer, shuffleId, mapId, atNs);
    add(
        atNs,
        false,
        () -> {
          server.locate(call);
          server.doWork();
        });
    return call;
  }

  /** Something else happens on the server's thread. */
  void at(long atNs, Runnable work) {
    add(
        atNs,
        false,
        () -> {
          work.run();
          server.doWork();
        });
  }

  BlockServer server() {
    return server;
  }

  long count(Counter counter) {
    return counters.value(counter);
  }

  int registrations() {
    return domain.fileCalls();
  }

  /** Runs until nothing is left to do. */
  void run() {
    while (!events.isEmpty()) {
      Event event = events.poll();
      if (!event.onDisk && serverFreeNs > event.atNs) {
        events.add(new Event(serverFreeNs, event.order, false, event.work));
        continue;
      }
      nowNs = event.atNs + LOCATE_NS;
      event.work.run();
      if (!event.onDisk) {
        serverFreeNs = nowNs;
      }
    }
  }

  @Override
  public void close() {
    server.close();
    domain.close();
    budget.close();
  }

  /** A LOCATE and its answer. */
  final class Call extends TestLocateCall {
    private final long sentNs;
    private int answers;
    private int lengthBytes;
    private long answeredNs;
    private boolean closed;

    Call(long peer, int shuffleId, long mapId, long sentNs) {
      this(peer, shuffleId, mapId, 1, sentNs);
    }

    /** Requests the first block of each of several map outputs. */
    Call(long peer, int shuffleId, long firstMapId, int mapOutputs, long sentNs) {
      super(peer, ByteBuffer.allocate(100 * mapOutputs), ByteBuffer.allocate(1000 * mapOutputs));
      this.sentNs = sentNs;
      Locate.Encoder encoder = new Locate.Encoder().begin(request(), 1);
      for (int i = 0; i < mapOutputs; i++) {
        encoder.block(shuffleId, firstMapId + i, 0, 1, 0, false);
      }
      int length = encoder.finish();
      request().position(0).limit(length);
    }

    long latencyNs() {
      assertThat(answers).isEqualTo(1);
      return answeredNs - sentNs;
    }

    Located.Kind kind() {
      assertThat(kinds()).isNotEmpty();
      return kinds().get(0);
    }

    /** The kind of each piece. */
    List<Located.Kind> kinds() {
      assertThat(answers).isEqualTo(1);
      Located.Decoder in = new Located.Decoder().begin(answer().slice(0, lengthBytes));
      List<Located.Kind> kinds = new ArrayList<>();
      while (in.nextPiece()) {
        kinds.add(in.kind());
      }
      return kinds;
    }

    int answers() {
      return answers;
    }

    void closeConnection() {
      closed = true;
    }

    @Override
    public boolean isClosed() {
      return closed;
    }

    @Override
    public void answered(int newLengthBytes) {
      answers++;
      lengthBytes = newLengthBytes;
      answeredNs = nowNs;
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }
  }

  /** The latency that 99 % of the calls do not exceed. */
  static long p99Ns(List<Call> calls) {
    List<Long> latencies = new ArrayList<>(calls.stream().map(Call::latencyNs).toList());
    latencies.sort(null);
    return latencies.get(latencies.size() * 99 / 100);
  }
}
