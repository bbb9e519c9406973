// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.function.Consumer;

/**
 * Closes several objects, each of them also when another one fails, and throws the first failure at
 * the end, with the others suppressed. Confined to the thread that closes.
 */
public final class CloseFailures {
  private RuntimeException first;

  /** Runs one step; keeps its failure. */
  public void run(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      if (first == null) {
        first = e;
      } else if (first != e) {
        first.addSuppressed(e);
      }
    }
  }

  /** Closes each of these objects; they may leave the collection meanwhile. */
  public <T> void closeEach(Iterable<T> objects, Consumer<? super T> close) {
    for (T object : objects) {
      run(() -> close.accept(object));
    }
  }

  /** Throws the first failure of the steps so far, if there was one. */
  public void throwFirst() {
    if (first != null) {
      throw first;
    }
  }
}
