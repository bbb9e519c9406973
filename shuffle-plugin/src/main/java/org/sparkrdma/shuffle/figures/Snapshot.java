// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

import java.util.List;
import java.util.Map;

/**
 * The figures of an application at one time, also as JSON in the store of a History Server. Does
 * not change.
 *
 * @param notes sentences for the top of the page
 * @param executors by id, in the order of their start
 * @param stages in the order of their ids
 * @param dropped sums of removed executors that are not among these
 * @param ended whether the application has ended
 * @param figuresMs when the figures of executors and stages were collected, in milliseconds since
 *     1970; 0 while the application runs
 * @param totalsMs likewise of the sums; 0 where they are those of the executors
 * @param later these sums
 */
public record Snapshot(
    List<String> notes,
    Map<String, ExecutorFigures> executors,
    List<StageBytes> stages,
    ApplicationTotals dropped,
    boolean ended,
    long figuresMs,
    long totalsMs,
    ExecutorFigures later) {
  /** A store of another version may lack some of it. */
  public Snapshot {
    notes = notes == null ? List.of() : notes;
    executors = executors == null ? Map.of() : executors;
    stages = stages == null ? List.of() : stages;
    dropped = dropped == null ? new ApplicationTotals() : dropped;
    later = later == null ? new ExecutorFigures() : later;
  }
}
