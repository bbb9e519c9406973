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
package org.sparkrdma.verbs;

/**
 * View of one completion, valid only while {@link CompletionHandler#onCompletion} runs.
 *
 * <p>Of a failed completion only {@link #requestId()}, {@link #status()}, {@link #vendorError()}
 * and {@link #queuePairNumber()} are defined, see ibv_poll_cq(3); the other methods throw {@link
 * IllegalStateException}.
 */
public interface WorkCompletion {
  /** The id of the work request. */
  long requestId();

  /** The result. */
  WorkStatus status();

  /** Whether {@link #status()} is {@link WorkStatus#SUCCESS}. */
  default boolean succeeded() {
    return status() == WorkStatus.SUCCESS;
  }

  /** The device's own error code; 0 when it has none. */
  int vendorError();

  /** {@link QueuePair#number()} of its queue pair. */
  int queuePairNumber();

  /** The operation. */
  Opcode opcode();

  /** Bytes received or read. */
  long byteLength();

  /** Whether it has immediate data. */
  boolean hasImmediate();

  /** The immediate data; 0 when there is none. */
  int immediate();
}
