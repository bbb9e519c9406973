// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;

/**
 * One of the two tasks of a round. The executor with the lower id always serves, the other always
 * fetches; while it does, the server's task waits in a barrier and uses no CPU.
 *
 * <p>Each engine has map outputs of its own, written directly before. Spark checks a barrier once a
 * second only, so the tasks use as few barriers as possible and return their measurements as their
 * result.
 *
 * @param warmUp whether the round compares every byte and is not measured
 * @param cpu scope of the CPU time that each task measures
 */
record RoundTask(TransferKind kind, Layout layout, int round, boolean warmUp, CpuScope cpu)
    implements Serializable {
  private static final long SEED = 20_261_120;

  /** Least duration of a fetch from a device without cost. */
  private static final long CEILING_NS = TimeUnit.SECONDS.toNanos(1);

  /** Runs the round; returns this task's measurements of each engine. */
  List<Share> run() throws IOException, InterruptedException {
    SparkEnv env = SparkEnv.get();
    BarrierTaskContext context = BarrierTaskContext.get();
    Peers peers = Peers.exchange(env, context);
    List<Share> shares = new ArrayList<>();
    for (TransferEngine engine : TransferEngine.order(round)) {
      int shuffleId = round * TransferEngine.values().length + engine.ordinal();
      shares.add(
          peers.isServer()
              ? serve(env, context, engine, shuffleId)
              : fetch(env, context, engine, peers.server(), shuffleId));
    }
    return shares;
  }

  /** Requests of one at a time are few, so every byte of their blocks is compared. */
  private boolean comparesEveryByte() {
    return warmUp || kind == TransferKind.LATENCY;
  }

  private Share serve(
      SparkEnv env, BarrierTaskContext context, TransferEngine engine, int shuffleId)
      throws IOException {
    RoundOutputs outputs = new RoundOutputs(env, shuffleId, layout);
    try {
      BlockSum sum = new BlockSum(comparesEveryByte());
      outputs.write(SEED + shuffleId, sum);
      // Before the other task begins: a barrier ends up to a second late here.
      Meter meter = new Meter(env, cpu);
      context.barrier();
      // The other task has fetched all blocks.
      context.barrier();
      return meter.end(engine, true, new Share.Work(0, sum.total(), List.of()));
    } finally {
      outputs.remove();
    }
  }

  private Share fetch(
      SparkEnv env,
      BarrierTaskContext context,
      TransferEngine engine,
      Peers.Address server,
      int shuffleId)
      throws IOException, InterruptedException {
    BlockSum sum = new BlockSum(comparesEveryByte());
    BlockFetcher.BlockReader reader =
        kind == TransferKind.CEILING
            ? (blockId, in) -> {}
            : (blockId, in) -> sum.addBlock(blockId, in, layout.blockBytes());
    List<String[]> plan =
        kind == TransferKind.LATENCY
            ? FetchPlan.ofReducers(layout, shuffleId)
            : FetchPlan.of(layout, shuffleId);
    BlockFetcher fetcher =
        new BlockFetcher(engine.client(env), server, layout.blockBytes(), reader);
    context.barrier();
    Meter meter = new Meter(env, cpu);
    List<Long> requestNs = new ArrayList<>();
    long blocks = 0;
    switch (kind) {
      case THROUGHPUT -> blocks = fetcher.fetch(plan.iterator());
      case CEILING -> blocks = fetcher.fetch(new TimedRequests(plan, CEILING_NS, System::nanoTime));
      case LATENCY -> {
        try (TimedFetches requests =
            new TimedFetches(engine.client(env), server, reader, System::nanoTime)) {
          for (String[] request : plan) {
            requestNs.add(requests.fetch(request));
            blocks += request.length;
          }
        }
      }
    }
    Share share = meter.end(engine, false, new Share.Work(blocks, sum.total(), requestNs));
    context.barrier();
    return share;
  }
}
