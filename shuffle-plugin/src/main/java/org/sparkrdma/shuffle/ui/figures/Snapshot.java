// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import java.util.List;
import java.util.Map;

/**
 * Content of the page at one time; does not change.
 *
 * @param notes sentences for the top of the page
 * @param executors by id, in the order of their start
 * @param stages in the order of their ids
 * @param points of the chart
 * @param total bytes of all executors
 */
public record Snapshot(
    List<String> notes,
    Map<String, ExecutorFigures> executors,
    List<StageBytes> stages,
    List<TimeSeries.Point> points,
    BytesByPath total) {}
