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

import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.spark.ContextCleaner;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TestUtils$;
import org.apache.spark.shuffle.ShuffleManager;
import org.sparkrdma.shuffle.RdmaShuffleManager;

/** What Spark's Scala sources keep to Spark, but its class files offer to Java. Stateless. */
public final class SparkInternals {
  private static final long DRAIN_MS = 60_000;
  private static final long EXECUTORS_MS = 60_000;

  private SparkInternals() {}

  /** Our counters in this JVM; empty under another shuffle manager. */
  public static Map<String, Long> counters() {
    ShuffleManager manager = SparkEnv.get().shuffleManager();
    return manager instanceof RdmaShuffleManager ours ? ours.counters() : Map.of();
  }

  /** Waits until the listeners know all that has happened. */
  public static void drainListeners(SparkContext context) throws TimeoutException {
    context.listenerBus().waitUntilEmpty(DRAIN_MS);
  }

  /** Waits until that many executors take tasks. */
  public static void awaitExecutors(SparkContext context, int executors) throws TimeoutException {
    TestUtils$.MODULE$.waitUntilExecutorsUp(context, executors, EXECUTORS_MS);
  }

  /** Removes a shuffle on all executors, as Spark does when nothing refers to it any more. */
  static void removeShuffle(SparkContext context, int shuffleId) {
    ContextCleaner cleaner = context.cleaner().get();
    cleaner.doCleanupShuffle(shuffleId, true);
  }
}
