// SPDX-License-Identifier: Apache-2.0
/**
 * Tables, files and page of simulated shuffles with more and more executors. Entry: {@link
 * org.sparkrdma.benchmarks.growth.GrowthCommand}, which reads the results of the simulation. That
 * is among the tests of shuffle-plugin ({@code GrowthTest}), because it uses parts that are not
 * public. One thread.
 */
package org.sparkrdma.benchmarks.growth;
