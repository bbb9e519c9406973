// SPDX-License-Identifier: Apache-2.0
/**
 * TeraGen, TeraSort and TeraValidate as Spark jobs on Hadoop's own TeraInputFormat and
 * TeraOutputFormat, and the counts of an application's executors that other jobs use too.
 *
 * <p>Entry: {@link org.sparkrdma.benchmarks.tera.TeraSort}. Jobs run on the driver's main thread.
 */
package org.sparkrdma.benchmarks.tera;
