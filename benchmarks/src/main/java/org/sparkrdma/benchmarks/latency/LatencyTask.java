// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.sparkrdma.benchmarks.ceiling.SideCost;
import org.sparkrdma.benchmarks.transfer.BlockSum;
import org.sparkrdma.benchmarks.transfer.CounterDelta;
import org.sparkrdma.benchmarks.transfer.ExecutorAddress;
import org.sparkrdma.benchmarks.transfer.FetchPlan;
import org.sparkrdma.benchmarks.transfer.Layout;
import org.sparkrdma.benchmarks.transfer.RoundOutputs;
import org.sparkrdma.benchmarks.transfer.RoundPeers;
import org.sparkrdma.benchmarks.transfer.SummingReader;
import org.sparkrdma.benchmarks.transfer.TransferEngine;

/**
 * One of the two tasks of a round: one executor serves, the other makes the same requests by each
 * client, one at a time.
 */
record LatencyTask(Layout layout, int round, long seed) implements Serializable {
  List<LatencyShare> run() throws IOException, InterruptedException {
    SparkEnv env = SparkEnv.get();
    BarrierTaskContext context = BarrierTaskContext.get();
    RoundPeers peers = RoundPeers.exchange(env, context);
    return peers.isServer() ? serve(env, context) : fetch(env, context, peers.server());
  }

  private List<LatencyShare> serve(SparkEnv env, BarrierTaskContext context) throws IOException {
    RoundOutputs outputs = new RoundOutputs(env, round, layout);
    List<LatencyShare> shares = new ArrayList<>();
    try {
      BlockSum sum = new BlockSum(true);
      outputs.write(seed + round, sum);
      for (TransferEngine engine : TransferEngine.order(round)) {
        CounterDelta counters = new CounterDelta(env);
        context.barrier();
        // The other task fetches.
        context.barrier();
        shares.add(new LatencyShare(engine, sum.total(), List.of(), 0, counters.now()));
      }
    } finally {
      outputs.remove();
    }
    return shares;
  }

  private List<LatencyShare> fetch(SparkEnv env, BarrierTaskContext context, ExecutorAddress server)
      throws IOException, InterruptedException {
    List<String[]> plan = FetchPlan.ofReducers(layout, round);
    List<LatencyShare> shares = new ArrayList<>();
    for (TransferEngine engine : TransferEngine.order(round)) {
      BlockSum sum = new BlockSum(true);
      TimedFetches fetches =
          new TimedFetches(
              engine.client(env),
              server,
              new SummingReader(sum, layout.blockBytes()),
              System::nanoTime);
      context.barrier();
      CounterDelta counters = new CounterDelta(env);
      SideCost.Meter meter = SideCost.begin();
      List<Long> ns = new ArrayList<>(plan.size());
      for (String[] request : plan) {
        ns.add(fetches.fetch(request));
      }
      long allocatedBytes = meter.end().fetchBytes();
      shares.add(new LatencyShare(engine, sum.total(), ns, allocatedBytes, counters.now()));
      context.barrier();
    }
    return shares;
  }
}
