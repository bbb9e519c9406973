// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import org.sparkrdma.verbs.VerbsException;

/**
 * No device is usable, because no selected port is ready. A port may become active later: after the
 * negotiation with its switch, a sweep of the subnet manager, or a reset. It may also get its
 * address later: from DHCP, or when its IPoIB interface comes up.
 */
public final class PortNotReadyException extends VerbsException {
  private static final long serialVersionUID = 1L;

  PortNotReadyException(String message) {
    super("open", message);
  }
}
