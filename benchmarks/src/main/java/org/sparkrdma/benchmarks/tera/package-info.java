// SPDX-License-Identifier: Apache-2.0
/**
 * TeraGen, TeraSort and TeraValidate as Spark jobs on Hadoop's own TeraInputFormat and
 * TeraOutputFormat, with the numbers that tell how the shuffle's bytes travelled.
 *
 * <p>Entry: {@link org.sparkrdma.benchmarks.tera.TeraApplication}, submitted with spark-submit. It
 * leaves its result as a JSON file ({@link org.sparkrdma.benchmarks.tera.GeneratedInput}, {@link
 * org.sparkrdma.benchmarks.tera.SortResult}) and writes {@link org.sparkrdma.launch.ProgressLine}s
 * to standard output. Jobs run on the driver's main thread.
 */
package org.sparkrdma.benchmarks.tera;
