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
 * A Master, Workers, or both, in this JVM; each executor has its own JVM. Like {@code
 * local-cluster}, but each Worker has its own address. Closed by its creator, after the
 * application.
 */
public final class MasterAndWorkers implements AutoCloseable {
  /** For each core, so that an executor may have one. */
  private static final int MEMORY_MB = 1_024;

  private static final int ANY_PORT = 0;

  private final SparkConf conf;
  private final List<RpcEnv> started = new ArrayList<>();

  /** A cluster without Master and Workers. */
  public MasterAndWorkers(SparkConf conf) {
    this.conf = conf.clone();
  }

  /**
   * Starts a Master.
   *
   * @param port 0 selects a free port
   * @return its URL, for {@code spark.master}
   */
  public String startMaster(String host, int port) {
    RpcEnv master = Master$.MODULE$.startRpcEnvAndEndpoint(host, port, ANY_PORT, conf)._1();
    started.add(master);
    return "spark://" + host + ":" + master.address().port();
  }

  /** Starts a Worker, which retries until it reaches the Master. */
  public void startWorker(String master, String host, int cores, String workDirectory) {
    started.add(
        Worker$.MODULE$.startRpcEnvAndEndpoint(
            host,
            ANY_PORT,
            ANY_PORT,
            cores,
            MEMORY_MB * cores,
            new String[] {master},
            workDirectory,
            // Several Workers in one JVM need different names.
            Option.apply(started.size()),
            conf,
            Option.empty()));
  }

  /** Stops in reverse order, so that no Worker loses its Master. */
  @Override
  public void close() {
    for (int i = started.size() - 1; i >= 0; i--) {
      started.get(i).shutdown();
      started.get(i).awaitTermination();
    }
    started.clear();
  }
}
