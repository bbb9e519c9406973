// SPDX-License-Identifier: Apache-2.0
/**
 * The application of a soak: random jobs whose answers are known beforehand, one after the other
 * until the time is over.
 *
 * <p>Entry: {@link org.sparkrdma.soak.jobs.SoakApplication}. One thread runs the jobs; what their
 * tasks hold moves to executors and is owned by one task there.
 */
package org.sparkrdma.soak.jobs;
