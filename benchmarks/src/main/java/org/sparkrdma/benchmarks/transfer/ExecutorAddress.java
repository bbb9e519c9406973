// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManagerId;

/** Id and address of an executor. */
public record ExecutorAddress(String executorId, String host, int port) {
  private static final int FIELDS = 3;

  public static ExecutorAddress ofThisExecutor(SparkEnv env) {
    BlockManagerId id = env.blockManager().blockManagerId();
    return new ExecutorAddress(id.executorId(), id.host(), id.port());
  }

  public static ExecutorAddress parse(String text) {
    String[] fields = text.split(" ", FIELDS);
    return new ExecutorAddress(fields[0], fields[1], Integer.parseInt(fields[2]));
  }

  /** The text that {@link #parse} reads. */
  @Override
  public String toString() {
    return executorId + " " + host + " " + port;
  }
}
