// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.List;

/**
 * Input of the application, as JSON.
 *
 * @param seconds time during which it starts jobs
 * @param seed seed of all jobs and their sizes
 * @param jobs jobs to choose from
 * @param executors number of executors with one core each
 */
public record SoakPlan(long seconds, long seed, List<SoakJob> jobs, int executors) {}
