// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;

/** The two executors of a round, as each of its tasks sees them. */
public record RoundPeers(ExecutorAddress self, ExecutorAddress server) {
  /** Exchanges the addresses; the executor with the lower id always serves. */
  public static RoundPeers exchange(SparkEnv env, BarrierTaskContext context) {
    // Both executors must be registered before one looks up the other.
    TransferEngine.RDMA.client(env);
    ExecutorAddress self = ExecutorAddress.ofThisExecutor(env);
    List<ExecutorAddress> peers =
        Stream.of(context.allGather(self.toString())).map(ExecutorAddress::parse).toList();
    ExecutorAddress server =
        peers.stream().min(Comparator.comparing(ExecutorAddress::executorId)).orElseThrow();
    if (peers.stream().map(ExecutorAddress::executorId).distinct().count() != peers.size()) {
      throw new IllegalStateException("both tasks run in the same executor: " + self);
    }
    return new RoundPeers(self, server);
  }

  /** Whether this executor serves. */
  public boolean isServer() {
    return self.equals(server);
  }
}
