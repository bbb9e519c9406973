// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.environment;

/**
 * Content of the JSON file of a command that runs no jobs: its results, and what they were measured
 * on.
 *
 * @param command as the user gave it, without files
 */
public record RecordedReport<T>(String command, Environment environment, T results) {}
