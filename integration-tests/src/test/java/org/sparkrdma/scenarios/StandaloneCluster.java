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
package org.sparkrdma.scenarios;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.master.Master$;
import org.apache.spark.deploy.worker.Worker$;
import org.apache.spark.rpc.RpcEnv;
import scala.Option;

/**
 * A Master and Workers in this JVM, each Worker on a loopback address of its own: what Spark takes
 * for several hosts. {@code local-cluster} puts all on one, where nothing is run speculatively. The
 * executors have JVMs of their own. Closed by its maker, after the application.
 */
final class StandaloneCluster implements AutoCloseable {
  private static final String MASTER_HOST = "127.0.0.1";
  private static final int MEMORY_MB = 1_024;
  private static final int ANY_PORT = 0;

  private final List<RpcEnv> started = new ArrayList<>();
  private final String url;

  /** Starts it with a Worker on each of the hosts. */
  StandaloneCluster(SparkConf conf, int coresEach, String workDirectory, List<String> hosts) {
    RpcEnv master =
        Master$.MODULE$.startRpcEnvAndEndpoint(MASTER_HOST, ANY_PORT, ANY_PORT, conf)._1();
    started.add(master);
    url = "spark://" + MASTER_HOST + ":" + master.address().port();
    for (int i = 0; i < hosts.size(); i++) {
      started.add(
          Worker$.MODULE$.startRpcEnvAndEndpoint(
              hosts.get(i),
              ANY_PORT,
              ANY_PORT,
              coresEach,
              MEMORY_MB,
              new String[] {url},
              workDirectory,
              Option.apply(i + 1),
              conf,
              Option.empty()));
    }
  }

  /** For {@code spark.master}. */
  String url() {
    return url;
  }

  /** Stops the Workers before the Master, so that they do not miss it. */
  @Override
  public void close() {
    for (int i = started.size() - 1; i >= 0; i--) {
      started.get(i).shutdown();
      started.get(i).awaitTermination();
    }
    started.clear();
  }
}
