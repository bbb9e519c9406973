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
package org.sparkrdma.shuffle.directory;

import java.util.List;
import java.util.Optional;

/**
 * What an executor publishes about itself: its endpoint, or that it does not use RDMA and why.
 *
 * @param executorId Spark's id of the executor
 * @param publisher random number of the process that publishes
 * @param epoch counts what this process has published; a lower one has come late and is refused
 * @param endpoint where peers connect; empty when the executor does not use RDMA, or not any more
 * @param reasons why the endpoint is empty
 */
record ExecutorRecord(
    String executorId,
    long publisher,
    long epoch,
    Optional<Endpoint> endpoint,
    List<String> reasons) {

  ExecutorRecord {
    reasons = List.copyOf(reasons);
  }

  static ExecutorRecord available(Endpoint endpoint, long publisher, long epoch) {
    return new ExecutorRecord(
        endpoint.executorId(), publisher, epoch, Optional.of(endpoint), List.of());
  }

  static ExecutorRecord unavailable(
      String executorId, List<String> reasons, long publisher, long epoch) {
    return new ExecutorRecord(executorId, publisher, epoch, Optional.empty(), reasons);
  }
}
