// SPDX-License-Identifier: Apache-2.0
/**
 * An engine that decorates the loopback engine and injects the {@link
 * org.sparkrdma.scenarios.faults.plan.Faults} of the process. The service loader finds it in a jar
 * that only the fault tests create. All objects of a connection are confined to the thread that
 * polls it.
 */
package org.sparkrdma.scenarios.faults.engine;
