// SPDX-License-Identifier: Apache-2.0
/**
 * Measures the time that a job takes to recover from the loss of an executor whose blocks are being
 * read, under Spark's own shuffle and under the plug-in. Entry class: {@link
 * org.sparkrdma.benchmarks.recovery.RecoveryCommand}, on the main thread.
 */
package org.sparkrdma.benchmarks.recovery;
