// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.lang.foreign.MemorySegment;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * Chooses how C functions are called on Java 22 and newer: by java.lang.foreign, or by jffi in
 * tests that ask for it.
 */
final class Bindings {
  /** Property of tests only: the value {@code jffi} chooses jffi on every Java version. */
  private static final String CHOICE = "sparkrdma.binding";

  private Bindings() {}

  static ForeignBinding load() throws EngineUnavailableException {
    if (System.getProperty(CHOICE, "").equals("jffi")) {
      return JffiLibrary.open();
    }
    try {
      // A restricted method, to find out whether this JVM allows them.
      MemorySegment.NULL.reinterpret(1);
      return new LinkerBinding();
    } catch (IllegalCallerException e) {
      throw new EngineUnavailableException(
          "this JVM forbids native access: start it with --enable-native-access=ALL-UNNAMED", e);
    } catch (LinkageError e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new EngineUnavailableException("java.lang.foreign does not work here: " + cause, e);
    }
  }
}
