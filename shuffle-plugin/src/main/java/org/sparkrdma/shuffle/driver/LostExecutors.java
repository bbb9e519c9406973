// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * Finds executors that have ended unseen: Spark's listener bus drops events when its queue is full.
 * One that Spark does not know yet, or registers again, is not lost. Confined to one thread.
 */
final class LostExecutors {
  private final Set<String> seen = new HashSet<>();

  /** Those that Spark did not know at the last look. */
  private final Set<String> missing = new HashSet<>();

  /**
   * A look, some seconds after the one before.
   *
   * @param known executors that have a block manager
   * @param published executors of the directory
   * @return those seen earlier that Spark has known at neither of two looks; each is returned once
   */
  Set<String> look(Set<String> known, Collection<String> published) {
    seen.addAll(known);
    seen.addAll(published);
    Set<String> lost = new HashSet<>(seen);
    lost.removeAll(known);
    Set<String> before = new HashSet<>(missing);
    missing.clear();
    missing.addAll(lost);
    lost.retainAll(before);
    seen.removeAll(lost);
    return lost;
  }
}
