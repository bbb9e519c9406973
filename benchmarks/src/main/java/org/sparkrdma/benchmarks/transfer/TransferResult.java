// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;

/**
 * What one application has measured; handed over as JSON.
 *
 * @param objection why the pairs mean nothing, in one sentence; null when they do
 */
record TransferResult(List<RoundPair> pairs, String objection) {}
