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
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import org.sparkrdma.verbs.cm.Listener;

/** A listening identifier. Of the thread that owns its connection manager. */
final class IbverbsListener implements Listener {
  private final IbverbsConnectionManager manager;
  private final long id;
  private final InetSocketAddress address;
  private boolean closed;

  /** Takes over the identifier. */
  IbverbsListener(IbverbsConnectionManager manager, long id, InetSocketAddress address) {
    this.manager = manager;
    this.id = id;
    this.address = address;
  }

  long id() {
    return id;
  }

  @Override
  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    manager.onClosed(this);
  }
}
