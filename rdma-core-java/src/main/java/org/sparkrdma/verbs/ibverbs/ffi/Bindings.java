// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * Chooses jffi as the binding. The multi-release part of the jar has another version of this class
 * for Java 22 and newer, which chooses java.lang.foreign.
 */
final class Bindings {
  private Bindings() {}

  static ForeignBinding load() throws EngineUnavailableException {
    return JffiLibrary.open();
  }
}
