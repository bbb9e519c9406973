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
package org.sparkrdma.benchmarks.tera;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Sums what Spark itself says its tasks read in shuffles.
 *
 * <p>Written by Spark's listener thread, read by any.
 */
public final class ShuffleReadTotals extends SparkListener {
  private final AtomicLong remoteBytes = new AtomicLong();
  private final AtomicLong localBytes = new AtomicLong();

  /** Nothing read yet. */
  public ShuffleReadTotals() {}

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskMetrics() != null) {
      ShuffleReadMetrics read = end.taskMetrics().shuffleReadMetrics();
      remoteBytes.addAndGet(read.remoteBytesRead());
      localBytes.addAndGet(read.localBytesRead());
    }
  }

  /** From other executors. */
  public long remoteBytes() {
    return remoteBytes.get();
  }

  long localBytes() {
    return localBytes.get();
  }
}
