// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * What servers copy for tasks whose executor has little receive memory, in virtual time. Blocks are
 * located before they have memory, unless others wait for some: then servers tell their lengths,
 * and copy what has memory.
 */
@Tag("slow")
@Timeout(300)
class CopiesForReadersTest extends VirtualFixture {
  /** Copied bytes for one that a task got, by READ or TCP. */
  private static final double MOST_COPIES = 1.3;

  /** Of Spark: spark.reducer.maxSizeInFlight, and a fifth of it for a request. */
  private static final long BYTES_IN_FLIGHT = 48L << 20;

  private static final long REQUEST_BYTES = BYTES_IN_FLIGHT / 5;
  private static final long INPUT_BYTES = 96L << 20;
  private static final int MAX_BLOCKS = 4_096;

  /** A block by TCP comes so late. */
  private static final long TCP_NS = 5 * MS;

  /** Time of a task for a byte: longer than that of the network, or shorter. */
  private static final double COMPUTES = 2;

  private static final double WAITS = 0.02;

  private List<VirtualExecutor> servers;
  private VirtualExecutor reader;
  private long readBytes;
  private long tcpBytes;
  private final Map<FallbackReason, Integer> failures = new EnumMap<>(FallbackReason.class);

  static Stream<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (int poolMib : new int[] {4, 64}) {
      for (int blockKib : new int[] {64, 1_024}) {
        for (int tasks : new int[] {4, 16}) {
          for (int inputs : new int[] {1, 2}) {
            cells.add(Arguments.of(poolMib, blockKib, tasks, inputs, 4, COMPUTES));
          }
        }
        for (int servers : new int[] {1, 40}) {
          cells.add(Arguments.of(poolMib, blockKib, 4, 1, servers, COMPUTES));
          cells.add(Arguments.of(poolMib, blockKib, 4, 1, servers, WAITS));
        }
      }
    }
    return cells.stream();
  }

  /** One input of a task: fetches like Spark, and takes a block after the other. */
  private final class Input {
    private final FetchingTask task = FetchingTask.ofReader(null);
    private final int blockBytes;
    private final ArrayDeque<Request> requests = new ArrayDeque<>();
    private final ArrayDeque<Object> results = new ArrayDeque<>();
    private long inFlight;
    private int left;

    /** Blocks of one server. */
    private record Request(VirtualExecutor server, List<BlockRange> blocks) {}

    Input(int number, int blockBytes) {
      this.blockBytes = blockBytes;
      int perServer = (int) Math.min(MAX_BLOCKS, INPUT_BYTES / blockBytes) / servers.size();
      int most = (int) Math.max(1, REQUEST_BYTES / blockBytes);
      for (int from = 0; from < perServer; from += most) {
        for (int i = 0; i < servers.size(); i++) {
          List<BlockRange> blocks = new ArrayList<>();
          for (int map = from; map < Math.min(from + most, perServer); map++) {
            blocks.add(new BlockRange(0, (long) number * perServer + map, 0, 1));
          }
          left += blocks.size();
          requests.add(new Request(servers.get((i + number) % servers.size()), blocks));
        }
      }
    }

    void fetch() {
      while (!requests.isEmpty()
          && (inFlight == 0 || inFlight + bytes(requests.peek()) <= BYTES_IN_FLIGHT)) {
        Request next = requests.poll();
        inFlight += bytes(next);
        FetchHandler.fetch(
            reader.transport(), next.server.endpoint(), next.blocks, new Results(this));
      }
    }

    private long bytes(Request request) {
      return (long) request.blocks.size() * blockBytes;
    }
  }

  private final class Results implements FetchHandler {
    private final Input input;

    Results(Input input) {
      this.input = input;
    }

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      readBytes += input.blockBytes;
      input.results.add(buffer.retain());
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      tcpBytes += input.blockBytes;
      failures.merge(reason, 1, Integer::sum);
      fabric.after(TCP_NS, () -> input.results.add(reason));
    }

    @Override
    public FetchingTask reader() {
      return input.task;
    }
  }

  /** Reads one input after the other, whose first blocks it has asked for together. */
  private final class Task {
    private final ArrayDeque<Input> inputs = new ArrayDeque<>();
    private final double nsPerByte;

    Task(int number, int count, int blockBytes, double nsPerByte) {
      this.nsPerByte = nsPerByte;
      for (int i = 0; i < count; i++) {
        inputs.add(new Input(number * count + i, blockBytes));
      }
      inputs.forEach(Input::fetch);
      next();
    }

    boolean isDone() {
      return inputs.isEmpty();
    }

    private void next() {
      while (!inputs.isEmpty() && inputs.peek().left == 0) {
        inputs.poll();
      }
      if (inputs.isEmpty()) {
        return;
      }
      Input input = inputs.peek();
      Object result = input.results.poll();
      if (result == null) {
        fabric.after(MS / 20, this::next);
        return;
      }
      input.left--;
      input.inFlight -= input.blockBytes;
      input.fetch();
      open(result);
      fabric.after((long) (input.blockBytes * nsPerByte), () -> release(result));
    }

    private void open(Object result) {
      if (result instanceof ManagedBuffer buffer) {
        try {
          buffer.createInputStream().close();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }

    private void release(Object result) {
      if (result instanceof ManagedBuffer buffer) {
        buffer.release();
      }
      next();
    }
  }

  @ParameterizedTest
  @MethodSource("cells")
  void shouldHardlyCopyABlockTwice(
      int poolMib, int blockKib, int tasks, int inputs, int serverCount, double nsPerByte)
      throws Exception {
    int blockBytes = blockKib << 10;
    reader = fabric.start(1, blockBytes, "pinned.max", "281m", "pool.max", poolMib + "m");
    servers = new ArrayList<>();
    for (int i = 0; i < serverCount; i++) {
      servers.add(fabric.start(1, blockBytes, "serve", "copy"));
    }
    List<Task> all = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      all.add(new Task(i, inputs, blockBytes, nsPerByte));
    }
    boolean done = fabric.runUntil(() -> all.stream().allMatch(Task::isDone), 600_000 * MS);
    long copied = servers.stream().mapToLong(server -> server.copiedBytes).sum();
    assertThat(done).isTrue();
    assertThat(copied / (double) (readBytes + tcpBytes))
        .as("copies for a byte that tasks got, by TCP: %s", failures)
        .isLessThan(MOST_COPIES);
    if (inputs == 1 && (poolMib == 64 || (tasks == 4 && serverCount > 1))) {
      assertThat(failures).isEmpty();
    }
    assertThat(fabric.nowNs()).as("time").isLessThan(1_000 * MS);
  }
}
