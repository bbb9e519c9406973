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

/** One of the cluster's processes and the file its log goes to. Safe for any thread. */
record ClusterProcess(Process process, Path log) {
  /** Asks the system: the Process learns of its end from a thread of Java's, a little later. */
  boolean isAlive() {
    return process.toHandle().isAlive();
  }
}
