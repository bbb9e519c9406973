// SPDX-License-Identifier: Apache-2.0
/**
 * A job or the transfers of two commits, run in turn and compared. Each commit has a git work tree
 * of its own. Confined to the main thread.
 */
package org.sparkrdma.benchmarks.jobs.regress;
