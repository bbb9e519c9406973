// SPDX-License-Identifier: Apache-2.0
/**
 * Faults and network delays that a device of the loopback engine injects, for tests.
 *
 * <p>Entry classes are {@link org.sparkrdma.verbs.soft.faults.FaultPlan}, safe for any thread, and
 * {@link org.sparkrdma.verbs.soft.faults.Network}, guarded by the lock of the device.
 */
package org.sparkrdma.verbs.soft.faults;
