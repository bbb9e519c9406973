// SPDX-License-Identifier: Apache-2.0
/**
 * How long a job takes to recover from an executor that is killed while its blocks are read, under
 * Spark's own shuffle and under the plug-in. Entry class: {@link
 * org.sparkrdma.benchmarks.recovery.RecoveryCommand}, on the main thread.
 */
package org.sparkrdma.benchmarks.recovery;
