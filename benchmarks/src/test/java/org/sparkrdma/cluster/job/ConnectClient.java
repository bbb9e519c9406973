// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster.job;

import java.io.IOException;
import org.apache.spark.sql.SparkSession;

/** A client of Spark Connect. */
public final class ConnectClient {
  private ConnectClient() {}

  /**
   * Prints the first value of a query's answer.
   *
   * @param arguments URL of the server, and the query
   */
  public static void main(String[] arguments) throws IOException {
    try (SparkSession session =
        SparkSession.builder()
            .config("spark.api.mode", "connect")
            .remote(arguments[0])
            .getOrCreate()) {
      System.out.println(session.sql(arguments[1]).collectAsList().get(0).get(0));
    }
  }
}
