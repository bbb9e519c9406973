/**
 * An engine that decorates the loopback engine and lets things go wrong as {@link
 * org.sparkrdma.scenarios.faults.plan.Faults} says. Found by the service loader in a jar that only
 * the fault tests make; everything of a connection belongs to the thread that polls it.
 */
package org.sparkrdma.scenarios.faults.engine;
