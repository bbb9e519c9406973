// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.security.SecureRandom;
import org.sparkrdma.shuffle.wire.Hello;

/** Source of nonces. Owned by the agent. */
final class Nonces {
  private final SecureRandom random = new SecureRandom();

  byte[] next() {
    byte[] nonce = new byte[Hello.NONCE_BYTES];
    random.nextBytes(nonce);
    return nonce;
  }
}
