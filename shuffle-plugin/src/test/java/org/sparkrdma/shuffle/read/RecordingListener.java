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
package org.sparkrdma.shuffle.read;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/** Keeps what Spark's fetcher would be told, and lets a test wait for so many answers. */
final class RecordingListener implements BlockFetchingListener {
  private final List<String> answered = new ArrayList<>();
  volatile Error thrown;
  private final Map<String, Throwable> failures = new TreeMap<>();

  @Override
  public synchronized void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    if (thrown != null) {
      throw thrown;
    }
    answered.add(blockId);
    notifyAll();
  }

  @Override
  public synchronized void onBlockFetchFailure(String blockId, Throwable failure) {
    answered.add(blockId);
    failures.put(blockId, failure);
    notifyAll();
  }

  /** Names of the blocks answered, once there are so many. */
  synchronized List<String> awaitAnswers(int count) throws InterruptedException {
    while (answered.size() < count) {
      wait();
    }
    return List.copyOf(answered);
  }

  synchronized Map<String, Throwable> failures() {
    return new TreeMap<>(failures);
  }
}
