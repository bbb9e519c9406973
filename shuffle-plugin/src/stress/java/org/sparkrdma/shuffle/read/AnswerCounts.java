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

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/** How often Spark's fetcher is told of each block, which is named by a number. Any thread. */
final class AnswerCounts implements BlockFetchingListener {
  private final AtomicIntegerArray answers;

  AnswerCounts(int blocks) {
    answers = new AtomicIntegerArray(blocks);
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    answers.getAndIncrement(Integer.parseInt(blockId));
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    answers.getAndIncrement(Integer.parseInt(blockId));
  }

  int of(int block) {
    return answers.get(block);
  }
}
