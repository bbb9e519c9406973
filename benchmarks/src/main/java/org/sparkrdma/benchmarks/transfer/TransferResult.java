// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;
import org.sparkrdma.launch.MeasuredResult;

/**
 * Result of one application, as JSON.
 *
 * @param objection the reason why the pairs are invalid, in one sentence; null when they are valid
 */
record TransferResult(List<RoundPair> pairs, String objection) implements MeasuredResult {}
