// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManagerId;
import org.sparkrdma.benchmarks.transfer.Round.Engine;
import org.sparkrdma.benchmarks.transfer.Round.Share;
import org.sparkrdma.benchmarks.transfer.RoundOutputs.BlockSum;
import org.sparkrdma.benchmarks.transfer.TransferPlan.Kind;
import scala.Option;

/**
 * One of the two tasks of a round. The executor with the lower id always serves, the other always
 * fetches; while it does, the server's task waits in a barrier and uses no CPU.
 *
 * <p>Each engine has map outputs of its own, written directly before. Spark checks a barrier once a
 * second only, so the tasks use as few barriers as possible and return their measurements as their
 * result.
 *
 * @param engines in the order in which they fetch
 * @param warmUp whether the round compares every byte and is not measured
 */
record RoundTask(
    Kind kind, TransferPlan.Layout layout, int round, List<Engine> engines, boolean warmUp)
    implements Serializable {
  private static final long SEED = 20_261_120;

  /** Least duration of a fetch from a device without cost. */
  private static final long CEILING_NS = TimeUnit.SECONDS.toNanos(1);

  /** The same with one engine. */
  RoundTask of(Engine engine) {
    return new RoundTask(kind, layout, round, List.of(engine), warmUp);
  }

  /** Runs the round; returns this task's measurements of each engine. */
  List<Share> run() throws IOException, InterruptedException {
    SparkEnv env = SparkEnv.get();
    BarrierTaskContext context = BarrierTaskContext.get();
    // Both executors must be registered before one looks up the other.
    Engine.RDMA.client(env);
    BlockManagerId self = env.blockManager().blockManagerId();
    String text = "%s %s %d".formatted(self.executorId(), self.host(), self.port());
    List<BlockManagerId> both =
        Stream.of(context.allGather(text))
            .map(RoundTask::address)
            .sorted(Comparator.comparing(BlockManagerId::executorId))
            .toList();
    if (both.get(0).executorId().equals(both.get(1).executorId())) {
      throw new IllegalStateException("both tasks run in the same executor: " + self);
    }
    BlockManagerId server = both.get(0);
    List<Share> shares = new ArrayList<>();
    for (Engine engine : engines) {
      int shuffleId = round * Engine.values().length + engine.ordinal();
      shares.add(
          self.executorId().equals(server.executorId())
              ? serve(env, context, engine, shuffleId)
              : fetch(env, context, engine, server, shuffleId));
    }
    return shares;
  }

  private static BlockManagerId address(String text) {
    String[] fields = text.split(" ", 3);
    return BlockManagerId.apply(fields[0], fields[1], Integer.parseInt(fields[2]), Option.empty());
  }

  /** Requests of one at a time are few, so every byte of their blocks is compared. */
  private BlockSum newSum() {
    return new BlockSum(warmUp || kind.isSingle());
  }

  private Share serve(SparkEnv env, BarrierTaskContext context, Engine engine, int shuffleId)
      throws IOException {
    RoundOutputs outputs = new RoundOutputs(env, shuffleId, layout);
    try {
      BlockSum sum = newSum();
      outputs.write(SEED + shuffleId, sum);
      // Before the other task begins: a barrier ends up to a second late here.
      Meter meter = new Meter(env);
      context.barrier();
      // The other task has fetched all blocks.
      context.barrier();
      return meter.end(engine, true, new Round.Work(0, sum.total(), List.of()));
    } finally {
      outputs.remove();
    }
  }

  private Share fetch(
      SparkEnv env, BarrierTaskContext context, Engine engine, BlockManagerId server, int shuffleId)
      throws IOException, InterruptedException {
    BlockSum sum = newSum();
    BlockFetcher.BlockReader reader =
        kind == Kind.CEILING
            ? (blockId, in) -> {}
            : (blockId, in) -> sum.addBlock(blockId, in, layout.blockBytes());
    List<String[]> requests =
        kind.isSingle()
            ? BlockFetcher.singleRequests(layout, shuffleId)
            : BlockFetcher.requests(layout, shuffleId);
    try (BlockFetcher fetcher =
        new BlockFetcher(engine.client(env), server, layout.blockBytes(), reader)) {
      context.barrier();
      Meter meter = new Meter(env);
      List<Long> requestNs = new ArrayList<>();
      long blocks = 0;
      switch (kind) {
        case THROUGHPUT -> blocks = fetcher.fetch(requests.iterator());
        case CEILING -> blocks = fetcher.fetch(repeated(requests));
        case LATENCY, FIRST -> {
          for (String[] request : requests) {
            requestNs.add(fetcher.fetchTimed(request));
            blocks += request.length;
          }
        }
      }
      Share share = meter.end(engine, false, new Round.Work(blocks, sum.total(), requestNs));
      context.barrier();
      return share;
    }
  }

  /** Repeats requests until the time of the ceiling is over, but gives at least one. */
  private static Iterator<String[]> repeated(List<String[]> requests) {
    long endNs = System.nanoTime() + CEILING_NS;
    return IntStream.iterate(0, i -> i == 0 || System.nanoTime() - endNs < 0, i -> i + 1)
        .mapToObj(i -> requests.get(i % requests.size()))
        .iterator();
  }
}
