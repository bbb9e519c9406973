// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManagerId;

/** Id and address of an executor. */
public record Peer(String executorId, String host, int port) {
  private static final int FIELDS = 3;

  public static Peer ofThisExecutor(SparkEnv env) {
    BlockManagerId id = env.blockManager().blockManagerId();
    return new Peer(id.executorId(), id.host(), id.port());
  }

  public static Peer parse(String text) {
    String[] fields = text.split(" ", FIELDS);
    return new Peer(fields[0], fields[1], Integer.parseInt(fields[2]));
  }

  /** For {@link #parse}. */
  @Override
  public String toString() {
    return executorId + " " + host + " " + port;
  }
}
