// SPDX-License-Identifier: Apache-2.0
/**
 * Checks of the executors that tests start: {@link org.sparkrdma.executors.ExecutorChecks} runs in
 * each, {@link org.sparkrdma.executors.LeakLog} and {@link org.sparkrdma.executors.Violations} have
 * the results. In a jar of its own, for the tests of other modules and their executors.
 */
package org.sparkrdma.executors;
