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
package org.sparkrdma.cluster;

import java.nio.file.Path;

/** A program that starts a cluster and then waits for its standard input to end. */
final class ClusterInOwnJvm {
  static final String UP = "cluster is up";

  private ClusterInOwnJvm() {}

  public static void main(String[] arguments) throws Exception {
    var settings = ClusterSettings.twoWorkers(Path.of(arguments[0]), Path.of(arguments[1]));
    try (StandaloneCluster cluster = StandaloneCluster.start(settings)) {
      System.out.println(UP + " at " + cluster.masterUrl());
      while (System.in.read() >= 0) {
        // Until whoever started us is gone.
      }
    }
  }
}
