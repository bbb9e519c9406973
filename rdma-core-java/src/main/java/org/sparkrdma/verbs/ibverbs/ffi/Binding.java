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
   * To be called before anything else of this package.
   *
   * @throws EngineUnavailableException when this JVM has no binding, with the reason in a sentence
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
