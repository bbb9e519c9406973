// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import org.sparkrdma.verbs.VerbsException;

/**
 * No device is usable, because no selected port is active. A port may become active later: after
 * the negotiation with its switch, a sweep of the subnet manager, or a reset.
 */
public final class InactivePortException extends VerbsException {
  private static final long serialVersionUID = 1L;

  InactivePortException(String message) {
    super("open", message);
  }
}
