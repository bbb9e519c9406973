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
package org.sparkrdma.guest.cluster;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * What the tasks of an application report, and something to be done once when the first reader has
 * ended. Called on Spark's listener thread.
 */
final class TaskLog extends SparkListener {
  private final LongAdder remoteBytes = new LongAdder();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicReference<Runnable> atFirstReader = new AtomicReference<>();

  long remoteBytesRead() {
    return remoteBytes.sum();
  }

  int failedTasks() {
    return failed.get();
  }

  /** Once; while the readers after the first are at work. */
  void atFirstReader(Runnable action) {
    atFirstReader.set(action);
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    if (event.reason() != Success$.MODULE$) {
      failed.incrementAndGet();
    }
    if (event.taskMetrics() != null) {
      remoteBytes.add(event.taskMetrics().shuffleReadMetrics().remoteBytesRead());
    }
    if (event.taskType().equals("ResultTask")) {
      Runnable action = atFirstReader.getAndSet(null);
      if (action != null) {
        action.run();
      }
    }
  }
}
