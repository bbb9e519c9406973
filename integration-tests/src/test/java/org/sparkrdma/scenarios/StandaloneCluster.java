// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.master.Master$;
import org.apache.spark.deploy.worker.Worker$;
import org.apache.spark.rpc.RpcEnv;
import scala.Option;

/**
 * A Master, Workers, or both, in this JVM; the executors have JVMs of their own. What {@code
 * local-cluster} does on one host, but each Worker on an address of its own. Closed by its maker,
 * after the application.
 */
public final class StandaloneCluster implements AutoCloseable {
  private static final int MEMORY_MB = 1_024;
  private static final int ANY_PORT = 0;

  private final SparkConf conf;
  private final List<RpcEnv> started = new ArrayList<>();

  /** Nothing yet. */
  public StandaloneCluster(SparkConf conf) {
    this.conf = conf.clone();
  }

  /**
   * Starts a Master.
   *
   * @param port 0 takes a free one
   * @return its URL, for {@code spark.master}
   */
  public String startMaster(String host, int port) {
    RpcEnv master = Master$.MODULE$.startRpcEnvAndEndpoint(host, port, ANY_PORT, conf)._1();
    started.add(master);
    return "spark://" + host + ":" + master.address().port();
  }

  /** Starts a Worker that tries to reach the Master until it does. */
  public void startWorker(String master, String host, int cores, String workDirectory) {
    started.add(
        Worker$.MODULE$.startRpcEnvAndEndpoint(
            host,
            ANY_PORT,
            ANY_PORT,
            cores,
            MEMORY_MB,
            new String[] {master},
            workDirectory,
            // Several of a JVM need names of their own.
            Option.apply(started.size()),
            conf,
            Option.empty()));
  }

  /** Stops what was started last first, so that no Worker misses its Master. */
  @Override
  public void close() {
    for (int i = started.size() - 1; i >= 0; i--) {
      started.get(i).shutdown();
      started.get(i).awaitTermination();
    }
    started.clear();
  }
}
