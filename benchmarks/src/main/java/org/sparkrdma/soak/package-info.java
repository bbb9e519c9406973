// SPDX-License-Identifier: Apache-2.0
/**
 * The command behind {@code ./dev/soak}: one long-lived application under random faults, whose
 * executors are measured from outside and must not grow.
 *
 * <p>Entry: {@link org.sparkrdma.soak.Soak}. The main thread waits for the application; one other
 * thread samples the executors and injects faults. {@link org.sparkrdma.soak.SoakApplication} runs
 * the jobs, in the driver.
 */
package org.sparkrdma.soak;
