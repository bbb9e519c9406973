// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

/** An executor and the address of its Spark block server or external shuffle service. */
public record BlockManagerAddress(String executorId, String host, int port) {
  /** Requests to the same address share a connection. */
  String hostPort() {
    return host + ":" + port;
  }
}
