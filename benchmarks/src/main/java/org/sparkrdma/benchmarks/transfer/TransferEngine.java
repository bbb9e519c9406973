/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
