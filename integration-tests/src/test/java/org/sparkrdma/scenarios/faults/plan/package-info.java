// SPDX-License-Identifier: Apache-2.0
/**
 * Faults as data: a {@link org.sparkrdma.scenarios.faults.plan.Rule} names the step and the fault.
 * {@link org.sparkrdma.scenarios.faults.plan.Faults} keeps the rules of a process and counts how
 * often they fired while a block was in flight.
 */
package org.sparkrdma.scenarios.faults.plan;
