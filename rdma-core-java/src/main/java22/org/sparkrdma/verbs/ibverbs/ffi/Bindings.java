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

import java.lang.foreign.MemorySegment;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * Chooses how C functions are called on Java 22 and newer: by java.lang.foreign, or by jffi in
 * tests that ask for it.
 */
final class Bindings {
  /** Of tests only: {@code jffi} chooses it on every Java version. */
  private static final String CHOICE = "sparkrdma.binding";

  private Bindings() {}

  static ForeignBinding load() throws EngineUnavailableException {
    if (System.getProperty(CHOICE, "").equals("jffi")) {
      return JffiLibrary.open();
    }
    try {
      // Any restricted method would do: it tells whether this JVM allows them.
      MemorySegment.NULL.reinterpret(1);
      return new LinkerBinding();
    } catch (IllegalCallerException e) {
      throw new EngineUnavailableException(
          "this JVM forbids native access: start it with --enable-native-access=ALL-UNNAMED", e);
    }
  }
}
