// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManagerId;
import scala.collection.Iterator;

/**
 * The executors that run, with their hosts. From the block managers, because Spark's list of
 * executors has no hosts and is another class in Scala 2.12 than in 2.13. Stateless.
 */
public final class ExecutorHosts {
  private ExecutorHosts() {}

  /**
   * Hosts by executor id, as Spark names them; empty in local mode. An executor whose block manager
   * is not registered yet is missing. Called on the driver.
   */
  public static Map<String, String> ofDriver() {
    Map<String, String> hosts = new LinkedHashMap<>();
    Iterator<BlockManagerId> all =
        SparkEnv.get().blockManager().master().getMemoryStatus().keysIterator();
    while (all.hasNext()) {
      BlockManagerId manager = all.next();
      if (!manager.isDriver()) {
        hosts.put(manager.executorId(), manager.host());
      }
    }
    return hosts;
  }
}
