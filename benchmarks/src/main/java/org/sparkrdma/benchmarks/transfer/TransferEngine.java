// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.sparkrdma.shuffle.RdmaShuffleManager;

/** The two ways that are compared. */
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

  /** Who goes first alternates, so that neither always finds the machine as the other left it. */
  static List<TransferEngine> order(int round) {
    return round % 2 == 0 ? List.of(RDMA, NETTY) : List.of(NETTY, RDMA);
  }
}
