// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The functions of one library by name. The library stays loaded until the process ends. */
abstract class Symbols {
  private final String file;
  private final Map<String, Long> known = new ConcurrentHashMap<>();

  Symbols(String file) {
    this.file = file;
  }

  /**
   * Loads a system library.
   *
   * @throws IllegalArgumentException when there is none of that name
   */
  static Symbols open(String file) {
    return Native.binding().open(file);
  }

  /** The C library, which every process has. */
  static Symbols ofC() {
    return Native.binding().openC();
  }

  /**
   * The address of a function.
   *
   * @throws LinkageError when the library has no such function
   */
  final long get(String name) {
    Long address = known.get(name);
    if (address == null) {
      address = findOrZero(name);
      if (address == 0) {
        throw new LinkageError("function missing: library=" + file + " name=" + name);
      }
      known.put(name, address);
    }
    return address;
  }

  /** The address of a function, or 0 when the library has none of that name. */
  abstract long findOrZero(String name);
}
