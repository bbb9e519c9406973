// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

import java.io.Serializable;
import java.util.List;

/**
 * Results of the rules in one process.
 *
 * @param hits number of times that each rule fired with a block in flight
 * @param firstMs first time that the first rule fired, as {@link System#currentTimeMillis}; 0 if
 *     never
 * @param clashes READs into memory that an earlier READ might still have written
 * @param pauseMs longest time for which the process did not run
 */
public record Report(List<Integer> hits, long firstMs, int clashes, long pauseMs)
    implements Serializable {}
