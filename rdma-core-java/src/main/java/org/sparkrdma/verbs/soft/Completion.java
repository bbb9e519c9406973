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
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.engine.CompletionView;

/**
 * An entry of a completion queue. Written by the device thread, then read by the polling thread.
 */
final class Completion {
  final CompletionView view = new CompletionView();

  /** Null when there is nothing to show. */
  SoftQueuePair queuePair;

  boolean ofSend;

  /** Position of its work in the send or receive queue. */
  long position;

  void set(SoftQueuePair owner, boolean send, long at) {
    queuePair = owner;
    ofSend = send;
    position = at;
  }
}
