// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

/** An executor and where Spark's own block server, or its external shuffle service, answers. */
record PeerAddress(String executorId, String host, int port) {
  /** Requests to the same address share a connection. */
  String hostPort() {
    return host + ":" + port;
  }
}
