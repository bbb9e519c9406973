// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

import java.io.Serializable;
import java.util.List;

/**
 * What came of the rules in one process.
 *
 * @param hits times that each rule struck, each with a block under way
 * @param firstMs when the first rule did first, as {@link System#currentTimeMillis}; 0 if never
 * @param clashes READs into memory that an earlier READ might still have written
 */
public record Report(List<Integer> hits, long firstMs, int clashes) implements Serializable {}
