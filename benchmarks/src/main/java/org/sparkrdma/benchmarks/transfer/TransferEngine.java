// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.sparkrdma.shuffle.RdmaShuffleManager;

/** A client to compare. */
enum TransferEngine {
  /** The plug-in's client. */
  RDMA,
  /** Spark's own transfer service. */
  NETTY;

  /** The client of this executor. */
  BlockStoreClient client(SparkEnv env) {
    return this == RDMA
        ? ((RdmaShuffleManager) env.shuffleManager()).blockStoreClient()
        : env.blockManager().blockStoreClient();
  }

  /** The order in a round. It alternates, so that neither client always runs first. */
  static List<TransferEngine> order(int round) {
    return round % 2 == 0 ? List.of(RDMA, NETTY) : List.of(NETTY, RDMA);
  }

  /** The name in reports. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
