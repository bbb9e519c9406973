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
package org.sparkrdma.shuffle;

import java.net.InetAddress;
import java.util.function.Consumer;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;

/** Builds what serves and fetches blocks on an open device. */
@FunctionalInterface
interface TransportFactory {
  /**
   * Starts serving; on the runtime's start thread, so it may block.
   *
   * @return closed by the runtime, before the budget and the device
   * @throws VerbsException when the device refuses; everything made so far is then given back
   */
  RunningTransport start(Parts parts) throws VerbsException;

  /**
   * What it is built from; all of it belongs to the runtime.
   *
   * @param env of this executor
   * @param resolver where map outputs are found
   * @param settings of the plug-in
   * @param limit of the budget, and how it came about
   * @param machine what limits there are
   * @param budget the one account of pinned bytes
   * @param device open
   * @param address on the device, where peers connect
   * @param outOfService told why when the transport can be used no more; returns at once
   * @param counters of this executor
   */
  record Parts(
      SparkEnv env,
      IndexShuffleBlockResolver resolver,
      ShuffleSettings settings,
      PinnedLimit limit,
      MachineMemory machine,
      PinnedBudget budget,
      Device device,
      InetAddress address,
      Consumer<String> outOfService,
      ShuffleCounters counters) {}
}
