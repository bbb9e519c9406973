// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManagerId;

/** The two executors of a round, as each of its tasks sees them. */
record Peers(Address self, Address server) {
  /** Id and address of an executor. */
  record Address(String executorId, String host, int port) {
    private static final int FIELDS = 3;

    static Address parse(String text) {
      String[] fields = text.split(" ", FIELDS);
      return new Address(fields[0], fields[1], Integer.parseInt(fields[2]));
    }

    /** The text that {@link #parse} reads. */
    @Override
    public String toString() {
      return executorId + " " + host + " " + port;
    }
  }

  /** Exchanges the addresses; the executor with the lower id always serves. */
  static Peers exchange(SparkEnv env, BarrierTaskContext context) {
    // Both executors must be registered before one looks up the other.
    TransferEngine.RDMA.client(env);
    BlockManagerId id = env.blockManager().blockManagerId();
    Address self = new Address(id.executorId(), id.host(), id.port());
    List<Address> peers =
        Stream.of(context.allGather(self.toString())).map(Address::parse).toList();
    Address server = peers.stream().min(Comparator.comparing(Address::executorId)).orElseThrow();
    if (peers.stream().map(Address::executorId).distinct().count() != peers.size()) {
      throw new IllegalStateException("both tasks run in the same executor: " + self);
    }
    return new Peers(self, server);
  }

  /** Whether this executor serves. */
  boolean isServer() {
    return self.equals(server);
  }
}
