// SPDX-License-Identifier: Apache-2.0
/**
 * The application of a soak: runs random jobs with known answers, one after the other, until the
 * time is over.
 *
 * <p>Entry: {@link org.sparkrdma.soak.jobs.SoakApplication}. One thread runs the jobs. Objects of
 * their tasks are serialized to executors and confined to one task there.
 */
package org.sparkrdma.soak.jobs;
