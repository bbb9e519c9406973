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
package org.sparkrdma.benchmarks.transfer;

import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManagerId;

/** An executor, as the other one must know it. */
record Peer(String executorId, String host, int port) {
  private static final int FIELDS = 3;

  static Peer ofThisExecutor(SparkEnv env) {
    BlockManagerId id = env.blockManager().blockManagerId();
    return new Peer(id.executorId(), id.host(), id.port());
  }

  static Peer parse(String text) {
    String[] fields = text.split(" ", FIELDS);
    return new Peer(fields[0], fields[1], Integer.parseInt(fields[2]));
  }

  /** For {@link #parse}. */
  @Override
  public String toString() {
    return executorId + " " + host + " " + port;
  }
}
