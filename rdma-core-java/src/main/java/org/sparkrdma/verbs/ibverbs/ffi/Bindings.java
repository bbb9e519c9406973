// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * Chooses how C functions are called: by jffi. The multi-release part has a twin of this class for
 * Java 22 and newer, which chooses java.lang.foreign.
 */
final class Bindings {
  private Bindings() {}

  static ForeignBinding load() throws EngineUnavailableException {
    return JffiLibrary.open();
  }
}
