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
package org.sparkrdma.verbs.engine;

import java.net.InetSocketAddress;
import org.sparkrdma.verbs.cm.Listener;

/** A listening identifier of a connection manager, whose owner owns it. */
public class EngineListener implements Listener {
  private final EngineConnectionManager manager;
  private final Object id;
  private final InetSocketAddress address;
  private volatile boolean closed;

  /**
   * Takes over the identifier.
   *
   * @param id what its manager calls it
   */
  public EngineListener(EngineConnectionManager manager, Object id, InetSocketAddress address) {
    this.manager = manager;
    this.id = id;
    this.address = address;
  }

  final Object id() {
    return id;
  }

  @Override
  public final InetSocketAddress address() {
    return address;
  }

  /** One of its requests was polled or dropped. */
  protected void onRequestPolled() {}

  protected final boolean isClosed() {
    return closed;
  }

  @Override
  public final void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    manager.onClosed(this);
  }
}
