// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * One of the two tasks of a round. The executor with the lower id always serves, the other always
 * fetches; while it does, the server's task waits in a barrier and uses no CPU.
 *
 * <p>Each engine has map outputs of its own, written directly before. Spark checks a barrier once a
 * second only, so the tasks use as few barriers as possible and return their measurements as their
 * result.
 *
 * @param warmUp whether the round compares every byte and is not measured
 * @param seed seed of the content; the content differs between engines
 * @param cpu scope of the CPU time that each task measures
 */
record RoundTask(Layout layout, int round, boolean warmUp, long seed, CpuScope cpu)
    implements Serializable {
  /** Runs the round; returns this task's measurements of each engine. */
  List<EngineShare> run() throws IOException, InterruptedException {
    SparkEnv env = SparkEnv.get();
    BarrierTaskContext context = BarrierTaskContext.get();
    RoundPeers peers = RoundPeers.exchange(env, context);
    List<EngineShare> shares = new ArrayList<>();
    for (TransferEngine engine : TransferEngine.order(round)) {
      int shuffleId = round * TransferEngine.values().length + engine.ordinal();
      if (peers.isServer()) {
        serve(env, context, engine, shuffleId, shares);
      } else {
        shares.add(fetch(env, context, engine, peers.server(), shuffleId));
      }
    }
    return shares;
  }

  private void serve(
      SparkEnv env,
      BarrierTaskContext context,
      TransferEngine engine,
      int shuffleId,
      List<EngineShare> shares)
      throws IOException {
    CounterDelta counters = new CounterDelta(env);
    RoundOutputs outputs = new RoundOutputs(env, shuffleId, layout);
    try {
      BlockSum sum = new BlockSum(warmUp);
      outputs.write(seed + shuffleId, sum);
      // Before the other task begins: a barrier ends up to a second late here.
      CpuScope.Usage used = cpu.begin();
      context.barrier();
      // The other task has fetched all blocks.
      context.barrier();
      shares.add(new EngineShare.Served(engine, sum.total(), used.time(), counters.now()));
      if (engine == TransferEngine.RDMA) {
        // The other task waits for the map outputs of the next engine, or for this one's end.
        CopyCost copies = CopyMeasurement.of(outputs.dataFiles(), layout, new BlockSum(warmUp));
        shares.add(new EngineShare.Copied(engine, copies));
      }
    } finally {
      outputs.remove();
    }
  }

  private EngineShare fetch(
      SparkEnv env,
      BarrierTaskContext context,
      TransferEngine engine,
      ExecutorAddress server,
      int shuffleId)
      throws IOException, InterruptedException {
    BlockSum sum = new BlockSum(warmUp);
    BlockStoreClient client = engine.client(env);
    BlockFetcher fetcher = new BlockFetcher(client, server, layout.blockBytes(), sum);
    List<String[]> plan = FetchPlan.of(layout, shuffleId);
    context.barrier();
    CounterDelta counters = new CounterDelta(env);

    CpuScope.Usage used = cpu.begin();
    long startNs = System.nanoTime();
    fetcher.fetch(plan);
    long ns = System.nanoTime() - startNs;
    CpuTime cpuTime = used.time();

    Map<String, Long> grown = counters.now();
    context.barrier();
    return new EngineShare.Fetched(engine, layout.totalBytes(), ns, sum.total(), cpuTime, grown);
  }
}
