/**
 * What is to go wrong, as data: a {@link org.sparkrdma.scenarios.faults.plan.Rule} says where and
 * what, {@link org.sparkrdma.scenarios.faults.plan.Faults} keeps those of a process and counts how
 * often they struck while a block was under way.
 */
package org.sparkrdma.scenarios.faults.plan;
