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
package org.sparkrdma.soak.jobs;

import org.apache.spark.Partitioner;

/** Keys that are the numbers of partitions; all such of one size are equal. */
final class Placed extends Partitioner {
  private static final long serialVersionUID = 1L;

  private final int partitions;

  Placed(int partitions) {
    this.partitions = partitions;
  }

  @Override
  public int numPartitions() {
    return partitions;
  }

  @Override
  public int getPartition(Object key) {
    return (Integer) key;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Placed placed && placed.partitions == partitions;
  }

  @Override
  public int hashCode() {
    return partitions;
  }
}
