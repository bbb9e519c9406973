// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.sparkrdma.benchmarks.transfer.BlockFetcher;
import org.sparkrdma.benchmarks.transfer.BlockSum;
import org.sparkrdma.benchmarks.transfer.CounterDelta;
import org.sparkrdma.benchmarks.transfer.ExecutorAddress;
import org.sparkrdma.benchmarks.transfer.FetchPlan;
import org.sparkrdma.benchmarks.transfer.Layout;
import org.sparkrdma.benchmarks.transfer.RoundOutputs;
import org.sparkrdma.benchmarks.transfer.RoundPeers;
import org.sparkrdma.benchmarks.transfer.TransferEngine;

/**
 * One of the two tasks of a round. One executor serves all peers, the other fetches the same blocks
 * again and again by each client, opens their streams and reads no byte.
 *
 * @param peers number of transports that serve
 * @param sampleMs least duration of a fetch
 * @param last whether the server's further transports end after it
 */
record CeilingTask(Layout layout, int peers, int round, long seed, int sampleMs, boolean last)
    implements Serializable {
  List<CeilingShare> run() throws IOException, InterruptedException {
    SparkEnv env = SparkEnv.get();
    BarrierTaskContext context = BarrierTaskContext.get();
    RoundPeers ends = RoundPeers.exchange(env, context);
    return ends.isServer() ? serve(env, context) : fetch(env, context, ends.server());
  }

  private List<CeilingShare> serve(SparkEnv env, BarrierTaskContext context)
      throws IOException, InterruptedException {
    RoundOutputs outputs = new RoundOutputs(env, round, layout);
    List<CeilingShare> shares = new ArrayList<>();
    try {
      FurtherPeers.open(env, peers - 1);
      outputs.write(seed + round, new BlockSum(false));
      for (TransferEngine engine : TransferEngine.order(round)) {
        SideCost.Meter meter = SideCost.begin();
        context.barrier();
        // The other task fetches.
        context.barrier();
        shares.add(CeilingShare.served(engine, meter.end()));
      }
    } finally {
      FurtherPeers.unregisterShuffle(round);
      outputs.remove();
      if (last) {
        FurtherPeers.close();
      }
    }
    return shares;
  }

  private List<CeilingShare> fetch(SparkEnv env, BarrierTaskContext context, ExecutorAddress server)
      throws IOException, InterruptedException {
    List<ExecutorAddress> servers = FurtherPeers.with(server, peers);
    List<String[]> plan = FetchPlan.of(layout, round, peers);
    List<CeilingShare> shares = new ArrayList<>();
    for (TransferEngine engine : TransferEngine.order(round)) {
      BlockFetcher fetcher =
          new BlockFetcher(
              engine.client(env),
              engine == TransferEngine.RDMA ? servers : List.of(server),
              layout.blockBytes(),
              (blockId, in) -> {});
      context.barrier();
      CounterDelta counters = new CounterDelta(env);
      SideCost.Meter meter = SideCost.begin();
      long startNs = System.nanoTime();
      long blocks =
          fetcher.fetch(
              new TimedRequests(plan, TimeUnit.MILLISECONDS.toNanos(sampleMs), System::nanoTime));
      long ns = System.nanoTime() - startNs;
      SideCost cost = meter.end();
      shares.add(CeilingShare.fetched(engine, blocks, ns, cost, counters.now()));
      context.barrier();
    }
    return shares;
  }
}
