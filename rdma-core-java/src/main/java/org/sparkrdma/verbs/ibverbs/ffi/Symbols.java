// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import com.kenai.jffi.Library;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The functions of one library by name. The library stays loaded until the process ends. */
final class Symbols {
  /**
   * Every library that was opened. jffi 1.2 unloads one that nothing refers to, by its finalizer,
   * and callers keep addresses of functions only.
   */
  private static final Queue<Library> OPENED = new ConcurrentLinkedQueue<>();

  private final String file;
  private final Library library;
  private final Map<String, Long> known = new ConcurrentHashMap<>();

  private Symbols(String file, Library library) {
    this.file = file;
    this.library = library;
  }

  /**
   * Loads a system library.
   *
   * @throws IllegalArgumentException when there is none of that name
   */
  static Symbols open(String file) {
    Library library = Library.openLibrary(file, Library.LAZY | Library.LOCAL);
    if (library == null) {
      throw new IllegalArgumentException(Library.getLastError());
    }
    OPENED.add(library);
    return new Symbols(file, library);
  }

  /** The C library, which every process has. */
  static Symbols ofC() {
    return new Symbols("libc", Library.getDefault());
  }

  /**
   * The address of a function.
   *
   * @throws LinkageError when the library has no such function
   */
  long get(String name) {
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
  long findOrZero(String name) {
    return library.getSymbolAddress(name);
  }
}
