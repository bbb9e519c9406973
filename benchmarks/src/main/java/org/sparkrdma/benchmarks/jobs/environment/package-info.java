// SPDX-License-Identifier: Apache-2.0
/**
 * Facts about the cluster, the JVMs and the plug-in's jar that a report has beside its figures.
 * Confined to the main thread.
 */
package org.sparkrdma.benchmarks.jobs.environment;
