// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.util.function.LongSupplier;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;

/**
 * An open device, and what belongs to it while it is open.
 *
 * @param domain the one protection domain of its memory and queue pairs
 * @param budget account of all memory that is registered on it
 * @param nanoClock as {@link System#nanoTime}
 */
public record OpenDevice(
    Device device, ProtectionDomain domain, PinnedBudget budget, LongSupplier nanoClock) {}
