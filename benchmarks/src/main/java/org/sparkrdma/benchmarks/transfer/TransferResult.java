// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;
import java.util.Map;
import org.sparkrdma.launch.MeasuredResult;

/**
 * Result of one application, as JSON.
 *
 * @param rounds figures of the measured rounds in the order of time
 * @param objection the reason why they are invalid, in one sentence; null when they are valid
 */
record TransferResult(List<Map<String, Double>> rounds, String objection)
    implements MeasuredResult {}
