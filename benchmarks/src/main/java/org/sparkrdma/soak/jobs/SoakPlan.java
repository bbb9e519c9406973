// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak.jobs;

/**
 * What the application is to do; handed to it as JSON.
 *
 * @param seconds that it begins new jobs for
 * @param seed that all jobs and their sizes come from
 * @param executors of one core each
 */
public record SoakPlan(long seconds, long seed, int executors) {}
