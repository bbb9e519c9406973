// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import org.sparkrdma.verbs.spi.EngineUnavailableException;

/** The binding of this JVM, loaded once. All other classes of this package call through it. */
public final class Binding {
  private static final ForeignBinding CALLS;
  private static final EngineUnavailableException FAILURE;

  static {
    ForeignBinding loaded = null;
    EngineUnavailableException failure = null;
    try {
      loaded = Bindings.load();
    } catch (EngineUnavailableException e) {
      failure = e;
    }
    CALLS = loaded;
    FAILURE = failure;
  }

  private Binding() {}

  /**
   * Called before all other classes of this package.
   *
   * @throws EngineUnavailableException when this JVM has no binding, with the reason in one
   *     sentence
   */
  public static void check() throws EngineUnavailableException {
    if (FAILURE != null) {
      throw new EngineUnavailableException(FAILURE.getMessage(), FAILURE);
    }
  }

  /** Its name, for logs and tests. */
  public static String name() {
    return CALLS.name();
  }

  /** Callers keep it in a static final field: then the JIT compiler sees one implementation. */
  static ForeignBinding calls() {
    return CALLS;
  }
}
