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

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;

/** What is open while RDMA is up; closed by the {@link RdmaRuntime}, once, in this order. */
record RunningParts(RunningTransport transport, PinnedBudget budget, OpenedDevice device)
    implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RunningParts.class);

  /** When the transport does not close, a thread may still use the device: then that stays open. */
  @Override
  public void close() {
    if (closes("transport", transport::close)) {
      closes("budget", budget::close);
      closes("device", device::close);
    }
  }

  private static boolean closes(String name, Runnable close) {
    try {
      close.run();
      return true;
    } catch (RuntimeException e) {
      log.warn("Cannot close RDMA part={}", name, e);
      return false;
    }
  }
}
