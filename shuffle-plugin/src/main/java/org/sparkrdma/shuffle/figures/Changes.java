// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

import java.util.List;
import java.util.Map;

/**
 * What has changed of an application's figures, for its event log. Does not change.
 *
 * @param timeMs when it was collected, in milliseconds since 1970
 * @param notes sentences for the top of the page
 * @param figures by executor and label; values are Long or String
 * @param sparkExecutors facts of Spark's own events, by executor
 * @param stages sums of stages
 * @param totals sums of the application by label; then all others are empty
 */
public record Changes(
    long timeMs,
    List<String> notes,
    Map<String, Map<String, Object>> figures,
    Map<String, SparkExecutor> sparkExecutors,
    List<StageBytes> stages,
    Map<String, Object> totals) {}
