// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;

/**
 * TCP reaches the peer's port, but no {@code doctor --listen} or {@code perf server} of this
 * version answers there. The message goes on after the name of the port.
 */
public final class NoListenerException extends IOException {
  private static final long serialVersionUID = 1L;

  NoListenerException(String message, IOException cause) {
    super(message, cause);
  }
}
